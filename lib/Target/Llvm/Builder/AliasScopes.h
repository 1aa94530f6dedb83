//===- AliasScopes.h - scratch and tensors are different memory ----------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_ALIASSCOPES_H
#define KILN_LIB_TARGET_LLVM_BUILDER_ALIASSCOPES_H

#include "llvm/IR/Function.h"

namespace kiln::llvmir {

/// Marks all accesses of a function so that LLVM knows: what is reached through `scratch` is never
/// reached through a pointer that was loaded elsewhere, such as a tensor's. Nothing if it is null.
void separateScratch(llvm::Function &function, llvm::Value *scratch);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_ALIASSCOPES_H
