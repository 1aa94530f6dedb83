//===- TorchTesting.h - running emitted PyTorch in tests ---------------------------------===//
#ifndef KILN_UNITTESTS_TARGET_TORCH_TORCHTESTING_H
#define KILN_UNITTESTS_TARGET_TORCH_TORCHTESTING_H

#include "kiln/Target/Torch/Torch.h"
#include "kiln/Target/Torch/TorchWorker.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace kiln::test {

/// Tests that need PyTorch. One Python process serves them all; they are skipped, and say so, where
/// no Python has torch.
class TorchRun : public testing::Test {
protected:
  void SetUp() override {
    static Expected<std::unique_ptr<TorchWorker>> started = TorchWorker::start();
    if (!started)
      GTEST_SKIP() << started.status().message();
    Worker = started->get();
  }

  TorchWorker *Worker = nullptr;
};

inline Tensor tensor(DType dtype, Dims extents) {
  Expected<Tensor> made = Tensor::empty(dtype, extents);
  EXPECT_TRUE(made.hasValue());
  EXPECT_TRUE(made->fillPoison().isOk());
  return *made;
}

inline std::string emit(const std::string &text, const TorchOptions &options = {}) {
  mlir::MLIRContext context;
  context.loadDialect<ir::KilnDialect, tile::TileDialect, mlir::arith::ArithDialect,
                      mlir::scf::SCFDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(bool(module)) << text;
  Expected<std::string> source = emitTorch(*module, options);
  EXPECT_TRUE(source.hasValue()) << source.status().str();
  return source ? *source : "";
}

inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_TARGET_TORCH_TORCHTESTING_H
