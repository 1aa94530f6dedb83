//===- DebugInfo.h - kernels and user lines for debuggers and profilers ----------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_DEBUGINFO_H
#define KILN_LIB_TARGET_LLVM_BUILDER_DEBUGINFO_H

#include "mlir/IR/Location.h"
#include "llvm/IR/DIBuilder.h"

namespace kiln::llvmir {

/// One per LLVM module: a compile unit, and a subprogram for each kernel.
class DebugInfo {
public:
  explicit DebugInfo(llvm::Module &module);
  void addKernel(llvm::Function &function, llvm::StringRef name, mlir::Location loc);
  /// The user's line as a location in the kernel.
  llvm::DILocation *locate(llvm::Function &function, mlir::Location loc);
  void finish() { Builder.finalize(); }

private:
  llvm::DIFile *file(const std::string &path);
  llvm::DIBuilder Builder;
  llvm::DICompileUnit *Unit;
};

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_DEBUGINFO_H
