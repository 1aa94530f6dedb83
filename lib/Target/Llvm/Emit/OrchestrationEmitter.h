//===- OrchestrationEmitter.h - an orchestration as an LLVM function -------------------===//
//
// Scalars, loops and branches are lowered as in kernels; tensors are handles of the run, and every
// launch, allocation and view is a call of its table (kiln/orchestration_abi.h).
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_EMIT_ORCHESTRATIONEMITTER_H
#define KILN_LIB_TARGET_LLVM_EMIT_ORCHESTRATIONEMITTER_H

#include "KernelEmitter.h"

namespace kiln::llvmir {

class OrchestrationEmitter final : public KernelEmitter {
public:
  /// `kernels` are the names of the kernels, in the order of their numbers.
  OrchestrationEmitter(ir::FuncOp func, llvm::Module &module, llvm::StringRef symbol,
                       DebugInfo *debug, llvm::ArrayRef<std::string> kernels,
                       const MachineTraits &machine);

  void emitBlock(mlir::Block &block) override;
  Values extentsOf(mlir::Value tensor) override;

  // For the lowerings.
  /// Calls a function of the run's table, given by its offset, on the run and `args`.
  llvm::Value *callTable(size_t function, llvm::Type *result, llvm::ArrayRef<llvm::Value *> args);
  /// The same for one that can fail; returns from the orchestration if it does.
  void callChecked(size_t function, llvm::ArrayRef<llvm::Value *> args);
  llvm::Value *extentOf(mlir::Value tensor, int64_t axis);
  /// Memory of the function's frame.
  llvm::Value *slot(llvm::Type *type, uint64_t count = 1);
  /// Values of 64 bits, one after the other.
  llvm::Value *array(llvm::ArrayRef<llvm::Value *> values);
  /// The number of a kernel, or -1.
  int32_t kernelNumber(llvm::StringRef name) const;

protected:
  void emitBody() override;
  void emitFailure(mlir::Operation *op, const Message &message) override;

private:
  llvm::ArrayRef<std::string> Kernels;
};

/// Whether an orchestration may contain this operation.
bool isLoweredInOrchestrations(mlir::OperationName name);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_EMIT_ORCHESTRATIONEMITTER_H
