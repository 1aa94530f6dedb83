//===- LoopGuard.h - what is only done if a loop runs at all ----------------------------===//
//
// A pass that takes the first or last iteration out of a loop has to know that there is one.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_PIPES_LOOPGUARD_H
#define KILN_LIB_TRANSFORMS_PIPES_LOOPGUARD_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// Builds what stands for a loop with a positive constant step, knowing that it runs: `build` is
/// given the number of iterations, and gives the results. Where it may not run at all, that is
/// asked first. The loop is erased.
void replaceLoop(
    mlir::scf::ForOp loop,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &builder, mlir::Value trips)>
        build);

/// The index of the last of so many iterations.
mlir::Value lastIndexOf(mlir::scf::ForOp loop, mlir::OpBuilder &builder, mlir::Value trips);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PIPES_LOOPGUARD_H
