//===- Optimize.h - from LLVM IR to machine code ---------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_OPTIMIZE_H
#define KILN_LIB_TARGET_LLVM_OPTIMIZE_H

#include "Builder/Traits.h"

#include "kiln/Target/Llvm/Llvm.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln::llvmir {

/// Makes LLVM know this machine; at most once a process.
void initializeTarget();
Expected<std::unique_ptr<llvm::TargetMachine>> targetMachineFor(const CpuOptions &options);
/// Sets the target's layout and the attributes that make it use its widest vectors.
void prepareFor(llvm::TargetMachine &machine, llvm::Module &module);
/// The few passes that this IR, which is vectorised and in SSA form already, gains from.
void optimize(llvm::TargetMachine &machine, llvm::Module &module);
Expected<std::string> emitObjectFile(llvm::TargetMachine &machine, llvm::Module &module);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_OPTIMIZE_H
