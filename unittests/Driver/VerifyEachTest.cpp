//===- VerifyEachTest.cpp - a wrong pass is found and named -----------------------------===//
#include "lib/Driver/VerifyEach.h"

#include "Simulator/SimulatorTesting.h"

#include "kiln/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace kiln;
using namespace mlir;

namespace {

/// Three tasks of three kernels; @sum and @last use the helper @twice. `y` is both read and written
/// by the last two.
const char kText[] = R"mlir(
kiln.func @twice(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %s = tile.add %t, %t : !tile.tile<4x8xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @square(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %s = tile.mul %t, %t : !tile.tile<4x8xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @sum(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  kiln.call @twice(%x, %y)
}
kiln.func @last(%y: !kiln.tensor<4x8xf32>) incore {
  kiln.call @twice(%y, %y)
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) orchestration {
  %z = kiln.alloc() : !kiln.tensor<4x8xf32>
  %a = kiln.submit @square(%x, %z)
  %b = kiln.submit @sum(%z, %y)
  %c = kiln.submit @last(%y)
  %d = kiln.submit @last(%y)
})mlir";

/// Two arguments of one task that overlap: row 1 of `y` is row 0 of `x`.
const char kOverlap[] = R"mlir(
kiln.func @shift(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
  %u = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %s = tile.add %t, %u : !tile.tile<4x8xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<5x8xf32>) orchestration {
  %a = kiln.slice %x[1, 0] [4, 8] : !kiln.tensor<4x8xf32>
  %b = kiln.slice %x[0, 0] [4, 8] : !kiln.tensor<4x8xf32>
  %t = kiln.submit @shift(%a, %b)
})mlir";

/// A task of two roles.
const char kRoles[] = R"mlir(
!p = !tile.pipe<aic -> aiv, 4x8xf32>
kiln.func @send(%x: !kiln.tensor<4x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.push %t, %p
}
kiln.func @take(%y: !kiln.tensor<4x8xf32>, %p: !p) role(aiv) {
  %t = tile.pop %p : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) group {
  %p = tile.pipe slots(1) : !p
  kiln.call @send(%x, %p)
  kiln.call @take(%y, %p)
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) orchestration {
  %t = kiln.submit @copy(%x, %y) grid(2)
})mlir";

/// Rewrites `From` as `To`, with its operands exchanged, in one function.
template <typename From, typename To>
struct Replace : PassWrapper<Replace<From, To>, OperationPass<ModuleOp>> {
  explicit Replace(std::string function) : Function(std::move(function)) {}
  StringRef getArgument() const final { return "test-replace"; }
  void runOnOperation() override {
    this->getOperation().template lookupSymbol<ir::FuncOp>(Function).walk([](From op) {
      OpBuilder builder(op);
      auto to = To::create(builder, op.getLoc(), op.getType(), op.getRhs(), op.getLhs());
      to->setAttr("test.replaced", builder.getUnitAttr()); // so that the text is another one
      op.replaceAllUsesWith(to.getResult());
      op.erase();
    });
  }
  std::string Function;
};
using Wrong = Replace<tile::AddOp, tile::SubOp>;
using Right = Replace<tile::AddOp, tile::AddOp>;

struct DropPushes : PassWrapper<DropPushes, OperationPass<ModuleOp>> {
  StringRef getArgument() const final { return "test-drop"; }
  void runOnOperation() override {
    getOperation().walk([](tile::PushOp push) { push.erase(); });
  }
};

/// Marks a function: its text changes, and nothing else.
struct Mark : PassWrapper<Mark, OperationPass<ModuleOp>> {
  explicit Mark(std::string function) : Function(std::move(function)) {}
  StringRef getArgument() const final { return "test-mark"; }
  void runOnOperation() override {
    getOperation().lookupSymbol(Function)->setAttr("test.mark", UnitAttr::get(&getContext()));
  }
  std::string Function;
};

/// What the verifier says of the preparation, some passes and one that changes nothing; skips the
/// test where there is no PyTorch.
class VerifyEach : public testing::Test {
protected:
  template <typename... Passes> void verify(std::unique_ptr<Passes>... passes) {
    std::vector<Argument> args{test::tensorOf(DType::F32, {4, 8}, test::randomElements(32, 7)),
                               test::poisoned(DType::F32, {4, 8})};
    verifyProgram(kText, std::move(args), std::move(passes)...);
  }

  template <typename... Passes>
  void verifyProgram(const char *text, std::vector<Argument> args,
                     std::unique_ptr<Passes>... passes) {
    Module = parseSourceString<ModuleOp>(text, ParserConfig(&test::context()), "test.mlir");
    ASSERT_TRUE(Module);
    Verifier.emplace(Source{"test", *Module}, Settings, std::move(args));
    Status begun = Verifier->begin();
    if (begun.code() == StatusCode::NotFound)
      GTEST_SKIP() << begun.message();
    ASSERT_TRUE(begun.isOk()) << begun.str();
    PassManager manager(&test::context());
    manager.addInstrumentation(Verifier->instrumentation());
    buildPreparePipeline(manager);
    (manager.addPass(std::move(passes)), ...);
    manager.addPass(createCSEPass());
    OwningOpRef<ModuleOp> copy = Module->clone();
    ASSERT_TRUE(succeeded(manager.run(*copy)));
  }

  void expectFault(const std::string &function, const std::string &task) {
    ASSERT_TRUE(Verifier->fault());
    EXPECT_EQ(Verifier->fault()->pass, "test-replace");
    EXPECT_EQ(Verifier->fault()->functions, std::vector<std::string>{function});
    EXPECT_EQ(Verifier->fault()->what.rfind("'y' differs: ", 0), 0u) << Verifier->fault()->what;
    EXPECT_EQ(Verifier->fault()->task.rfind(task, 0), 0u) << Verifier->fault()->task;
  }

  RunSettings Settings;
  OwningOpRef<ModuleOp> Module;
  std::optional<PassVerifier> Verifier;
};

// kiln-infer-directions changes all functions, so there is one whole run in each of these tests.

TEST_F(VerifyEach, AWrongKernelIsNamedWithItsFirstTask) {
  verify(std::make_unique<Replace<tile::MulOp, tile::AddOp>>("square"));
  if (IsSkipped())
    return;
  expectFault("square", "task 0, @square");
  EXPECT_EQ(Verifier->wholeRuns(), 1u);
  EXPECT_EQ(Verifier->tasksRerun(), 1u);
}

TEST_F(VerifyEach, AWrongHelperIsFoundInTheFirstTaskThatCallsIt) {
  verify(std::make_unique<Wrong>("twice"));
  if (IsSkipped())
    return;
  expectFault("twice", "task 1, @sum");
  EXPECT_EQ(Verifier->tasksRerun(), 1u);
}

TEST_F(VerifyEach, OnlyTasksOfChangedFunctionsRunAgain) {
  verify(std::make_unique<Mark>("square"), std::make_unique<Mark>("last"));
  if (IsSkipped())
    return;
  EXPECT_FALSE(Verifier->fault()) << Verifier->fault()->what;
  EXPECT_EQ(Verifier->passes(), 8u);
  EXPECT_EQ(Verifier->changes(), 3u);
  EXPECT_EQ(Verifier->wholeRuns(), 1u);
  EXPECT_EQ(Verifier->tasksRerun(), 3u); // one of @square, two of @last
}

TEST_F(VerifyEach, TasksInPlaceStartFromWhatTheyFound) {
  verify(std::make_unique<Right>("twice"), std::make_unique<Mark>("twice"));
  if (IsSkipped())
    return;
  EXPECT_FALSE(Verifier->fault()) << Verifier->fault()->what;
  EXPECT_EQ(Verifier->tasksRerun(), 6u); // @sum and twice @last, after each of both passes
}

TEST_F(VerifyEach, ArgumentsThatOverlapStillDo) {
  std::vector<Argument> args{test::tensorOf(DType::F32, {5, 8}, test::randomElements(40, 3))};
  verifyProgram(kOverlap, std::move(args), std::make_unique<Right>("shift"));
  if (IsSkipped())
    return;
  EXPECT_FALSE(Verifier->fault()) << Verifier->fault()->what;
  EXPECT_EQ(Verifier->tasksRerun(), 1u);
}

TEST_F(VerifyEach, ATaskThatFailsIsNamedWithHowItFails) {
  std::vector<Argument> args{test::tensorOf(DType::F32, {4, 8}, test::randomElements(32, 7)),
                             test::poisoned(DType::F32, {4, 8})};
  verifyProgram(kRoles, std::move(args), std::make_unique<Mark>("take"),
                std::make_unique<DropPushes>());
  if (IsSkipped())
    return;
  ASSERT_TRUE(Verifier->fault());
  EXPECT_EQ(Verifier->fault()->pass, "test-drop");
  EXPECT_EQ(Verifier->fault()->functions, std::vector<std::string>{"send"});
  EXPECT_EQ(Verifier->fault()->task, "task 0, @copy");
  EXPECT_NE(Verifier->fault()->what.find("deadlock"), std::string::npos) << Verifier->fault()->what;
}

TEST_F(VerifyEach, AChangedOrchestrationRunsWholeAndIsRecordedAnew) {
  verify(std::make_unique<Mark>("main"), std::make_unique<Mark>("sum"),
         std::make_unique<Wrong>("twice"));
  if (IsSkipped())
    return;
  expectFault("twice", "task 1, @sum");
  EXPECT_EQ(Verifier->wholeRuns(), 2u);
  EXPECT_EQ(Verifier->tasksRerun(), 2u); // @sum after its mark, and until the first difference
}

TEST_F(VerifyEach, WithoutMemoryForTasksEverythingRunsAgain) {
  Settings.verifyMemory = 0;
  verify(std::make_unique<Mark>("square"), std::make_unique<Wrong>("twice"));
  if (IsSkipped())
    return;
  expectFault("twice", "task 1, @sum");
  EXPECT_TRUE(Verifier->isOverLimit());
  EXPECT_EQ(Verifier->wholeRuns(), 3u);
  EXPECT_EQ(Verifier->tasksRerun(), 0u);
}

TEST_F(VerifyEach, TheReferenceRunsOnlyAfterChanges) {
  verify(std::make_unique<Replace<tile::MinOp, tile::MaxOp>>("square")); // there is no minimum
  if (IsSkipped())
    return;
  EXPECT_FALSE(Verifier->fault()) << Verifier->fault()->what;
  EXPECT_EQ(Verifier->passes(), 7u);
  EXPECT_EQ(Verifier->changes(), 1u); // kiln-infer-directions writes down what it finds
}

} // namespace
