//===- LlvmTesting.h - running textual IR as native code in tests -------------------------===//
#ifndef KILN_UNITTESTS_TARGET_LLVM_LLVMTESTING_H
#define KILN_UNITTESTS_TARGET_LLVM_LLVMTESTING_H

#include "kiln/Target/Llvm/Llvm.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Object/Archive.h"

namespace kiln::test {

/// Compiles the program of a prepared entry and runs it. Native code has no bodies that combine, so
/// those are expanded before.
inline Status compileAndRun(ir::FuncOp entry, std::span<const Argument> args,
                            const CpuRunOptions &options = {}, const CpuOptions &target = {}) {
  mlir::OwningOpRef<mlir::ModuleOp> module = entry->getParentOfType<mlir::ModuleOp>().clone();
  mlir::PassManager passes(module->getContext());
  passes.addPass(createTileExpandBodies());
  EXPECT_TRUE(mlir::succeeded(passes.run(*module)));
  Expected<CpuModule> code = compileForCpu(*module, target);
  entry = module->lookupSymbol<ir::FuncOp>(entry.getSymName());
  return code ? runOnCpu(*code, entry, args, options) : code.status();
}

/// For a CPU by name; empty: this one.
inline CpuOptions optionsFor(const std::string &cpu) {
  CpuOptions options;
  options.cpu = cpu;
  return options;
}

/// The object files of a compiled program, one for each function.
inline std::vector<std::string> objectsIn(const CpuObject &code) {
  std::vector<std::string> objects;
  auto archive =
      llvm::cantFail(llvm::object::Archive::create(llvm::MemoryBufferRef(code.bytes, "kiln")));
  llvm::Error wrong = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : archive->children(wrong))
    objects.push_back(llvm::cantFail(child.getBuffer()).str());
  llvm::cantFail(std::move(wrong));
  return objects;
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_TARGET_LLVM_LLVMTESTING_H
