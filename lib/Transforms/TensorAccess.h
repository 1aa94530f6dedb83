//===- TensorAccess.h - what an operation does to tensors ---------------------------===//
//
// One table of the operations of a kernel that read or write global memory, for every pass that has
// to know.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_TENSORACCESS_H
#define KILN_LIB_TRANSFORMS_TENSORACCESS_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln {

struct TensorAccess {
  mlir::Operation *op;
  mlir::Value tensor; ///< The view that is accessed.
  bool reads, writes;
};

/// The accesses that `op` makes itself, not through a function it calls or launches.
llvm::SmallVector<TensorAccess, 2> tensorAccesses(mlir::Operation *op);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_TENSORACCESS_H
