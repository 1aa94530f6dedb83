//===- RegisterKiln.h - what every tool on textual IR knows --------------------------===//
//
// The one list of the dialects of a Kiln program, and of the passes that have names. The tools
// are thin: each calls these and hands over to MLIR.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TOOLS_REGISTERKILN_H
#define KILN_LIB_TOOLS_REGISTERKILN_H

#include "kiln/Dialect/Sync/SyncDialect.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace kiln {

inline void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<ir::KilnDialect, sync::SyncDialect, tile::TileDialect, mlir::arith::ArithDialect,
                  mlir::scf::SCFDialect>();
}

inline void registerPasses() {
  mlir::registerTransformsPasses();
  registerKilnPasses();
  registerKilnPipelines();
}

} // namespace kiln

#endif // KILN_LIB_TOOLS_REGISTERKILN_H
