//===- CpuTesting.h - running textual IR as native code in tests -------------------------===//
#ifndef KILN_UNITTESTS_TARGET_LLVM_LLVMTESTING_H
#define KILN_UNITTESTS_TARGET_LLVM_LLVMTESTING_H

#include "kiln/Target/Llvm/Llvm.h"

namespace kiln::test {

/// Compiles the program of a prepared entry and runs it.
inline Status compileAndRun(ir::FuncOp entry, std::span<const Argument> args,
                            const CpuRunOptions &options = {}) {
  Expected<CpuModule> code = compileForCpu(entry->getParentOfType<mlir::ModuleOp>());
  return code ? runOnCpu(*code, entry, args, options) : code.status();
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_TARGET_LLVM_LLVMTESTING_H
