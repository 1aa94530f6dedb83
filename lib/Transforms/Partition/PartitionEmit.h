//===- PartitionEmit.h - the functions a plan asks for ----------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_PARTITION_PARTITIONEMIT_H
#define KILN_LIB_TRANSFORMS_PARTITION_PARTITIONEMIT_H

#include "PartitionPlan.h"

namespace kiln {

/// The pipes of a plan: one for each crossing, then one for each token.
llvm::SmallVector<tile::PipeType> pipesOf(const PartitionPlan &plan, mlir::MLIRContext *context);

/// For each of these pipes the first that can do its work too: of the same type, for values that
/// cross in loops which follow one another, such as the two parts of a loop whose masks were
/// peeled.
llvm::SmallVector<unsigned> sharedPipes(const PartitionPlan &plan,
                                        llvm::ArrayRef<tile::PipeType> pipes);

/// Replaces `kernel` in its module by a group of the same name and parameters, and one function for
/// each role of the plan. The plan was made for `body`, a copy of the kernel.
void emitGroup(ir::FuncOp kernel, ir::FuncOp body, const PartitionPlan &plan);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PARTITION_PARTITIONEMIT_H
