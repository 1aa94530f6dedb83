//===- Transpose.h - rows become columns, block by block ------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_TRANSPOSE_H
#define KILN_LIB_TARGET_LLVM_BUILDER_TRANSPOSE_H

#include "Builder.h"

namespace kiln::llvmir {

/// Moves a rows x cols matrix into one with rows and columns exchanged. `load(row, col, width)`
/// makes `width` elements of a row, `store(vector, row, col)` stores part of a row of the result.
void emitTranspose(
    Builder &b, int64_t rows, int64_t cols,
    llvm::function_ref<llvm::Value *(llvm::Value *row, llvm::Value *col, unsigned width)> load,
    llvm::function_ref<void(llvm::Value *vector, llvm::Value *row, llvm::Value *col)> store);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_TRANSPOSE_H
