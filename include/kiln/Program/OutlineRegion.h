//===- OutlineRegion.h - turn a region into a function ------------------------------===//
//
// Shared by kiln-outline and by the front end, which traces the roles of a group in place.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_OUTLINEREGION_H
#define KILN_PROGRAM_OUTLINEREGION_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln {

struct OutlinedRegion {
  ir::FuncOp func;
  llvm::SmallVector<mlir::Value> args; ///< What to pass, in parameter order.
};

/// Moves the one block of `region` into a new function before the function around it. What the
/// block uses from outside becomes a parameter, in order of first use; constants and extents of
/// tensors that are passed anyway are recomputed inside. The name is made unique.
OutlinedRegion outlineRegion(mlir::Region &region, llvm::StringRef name, ir::FuncKind kind,
                             llvm::StringRef role);

/// The name a parameter, an alloc or a pipe was given; empty if it has none.
llvm::StringRef givenName(mlir::Value value);

} // namespace kiln

#endif // KILN_PROGRAM_OUTLINEREGION_H
