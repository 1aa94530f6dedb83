//===- Passes.h - the compiler's passes ---------------------------------------------===//
#ifndef KILN_TRANSFORMS_PASSES_H
#define KILN_TRANSFORMS_PASSES_H

#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

#define GEN_PASS_DECL
#include "kiln/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "kiln/Transforms/Passes.h.inc"

/// The passes after which every backend can execute a program as it was written: kernels outlined,
/// results turned into parameters, directions known, frees explicit. Idempotent, so it may be
/// applied at any stage. Stops after `lastPass` if one is given; false if there is none of that
/// name. `names` gets the passes in order.
bool buildPreparePipeline(mlir::OpPassManager &pm, llvm::StringRef lastPass = {},
                          std::vector<std::string> *names = nullptr);

/// Registers `--kiln-prepare`; the passes themselves are registered by registerKilnPasses().
void registerKilnPipelines();

} // namespace kiln

#endif // KILN_TRANSFORMS_PASSES_H
