//===- Reference.h - runs the PyTorch reference ---------------------------------------------===//
//
// The reference says what a program means: every other platform is compared with it, whatever the
// program runs on.
//
// Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PLATFORM_REFERENCE_H
#define KILN_PLATFORM_REFERENCE_H

#include "kiln/Platform/Platform.h"
#include "kiln/Target/Torch/TorchWorker.h"

namespace kiln {

/// One Python with torch for all runs of this process: importing it costs a second. NotFound if
/// there is none.
Expected<std::unique_ptr<TorchWorker>> &torchWorker();

/// Runs the reference of a prepared module, with `entry` as the function to start with. NotFound if
/// no Python has torch.
Status runReference(mlir::ModuleOp module, ir::FuncOp entry, const EmitOptions &options,
                    std::span<const Argument> args);

/// The same on as many ranks as there are lists of arguments, all in one process.
Status runReferenceOfRanks(mlir::ModuleOp module, ir::FuncOp entry, const EmitOptions &options,
                           std::span<const std::vector<Argument>> args);

} // namespace kiln

#endif // KILN_PLATFORM_REFERENCE_H
