//===- VerifyEachTest.cpp - a wrong pass is found and named -----------------------------===//
#include "../../lib/Driver/VerifyEach.h"

#include "SimulatorTesting.h"

#include "kiln/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace kiln;
using namespace mlir;

namespace {

const char kText[] = R"mlir(
kiln.func @first(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %s = tile.mul %t, %t : !tile.tile<4x8xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @second(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %s = tile.add %t, %t : !tile.tile<4x8xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) orchestration {
  %z = kiln.alloc() : !kiln.tensor<4x8xf32>
  %a = kiln.submit @first(%x, %z)
  %b = kiln.submit @second(%z, %y)
})mlir";

/// Rewrites `From` as `To` wherever it stands.
template <typename From, typename To>
struct Replace : PassWrapper<Replace<From, To>, OperationPass<ModuleOp>> {
  StringRef getArgument() const final { return "test-replace"; }
  void runOnOperation() override {
    this->getOperation().walk([](From op) {
      OpBuilder builder(op);
      auto to = To::create(builder, op.getLoc(), op.getType(), op.getLhs(), op.getRhs());
      op.replaceAllUsesWith(to.getResult());
      op.erase();
    });
  }
};

/// What the verifier says of the preparation, `pass` and a pass that changes nothing; skips the
/// test where there is no PyTorch.
class VerifyEach : public testing::Test {
protected:
  void verify(std::unique_ptr<Pass> pass) {
    std::vector<double> elements = test::randomElements(32, 7);
    Module = parseSourceString<ModuleOp>(kText, ParserConfig(&test::context()), "test.mlir");
    ASSERT_TRUE(Module);
    Verifier.emplace(Source{"test", *Module}, RunSettings(),
                     std::vector<Argument>{test::tensorOf(DType::F32, {4, 8}, elements),
                                           test::poisoned(DType::F32, {4, 8})});
    Status begun = Verifier->begin();
    if (begun.code() == StatusCode::NotFound)
      GTEST_SKIP() << begun.message();
    ASSERT_TRUE(begun.isOk()) << begun.str();
    PassManager passes(&test::context());
    passes.addInstrumentation(Verifier->instrumentation());
    buildPreparePipeline(passes);
    passes.addPass(std::move(pass));
    passes.addPass(createCSEPass());
    OwningOpRef<ModuleOp> copy = Module->clone();
    ASSERT_TRUE(succeeded(passes.run(*copy)));
  }

  OwningOpRef<ModuleOp> Module;
  std::optional<PassVerifier> Verifier;
};

TEST_F(VerifyEach, test_the_wrong_pass_is_named) {
  verify(std::make_unique<Replace<tile::AddOp, tile::SubOp>>());
  if (IsSkipped())
    return;
  ASSERT_TRUE(Verifier->fault());
  EXPECT_EQ(Verifier->fault()->pass, "test-replace");
  EXPECT_EQ(Verifier->fault()->functions, std::vector<std::string>{"second"});
  EXPECT_EQ(Verifier->fault()->what.rfind("'y' differs: ", 0), 0u) << Verifier->fault()->what;
  EXPECT_EQ(Verifier->fault()->task.rfind("task 1, @second: ", 0), 0u) << Verifier->fault()->task;
}

TEST_F(VerifyEach, test_the_reference_runs_only_after_changes) {
  verify(std::make_unique<Replace<tile::MinOp, tile::MaxOp>>()); // there is no minimum
  if (IsSkipped())
    return;
  EXPECT_FALSE(Verifier->fault()) << Verifier->fault()->what;
  EXPECT_EQ(Verifier->passes(), 6u);
  EXPECT_EQ(Verifier->changes(), 1u); // kiln-infer-directions writes down what it finds
}

} // namespace
