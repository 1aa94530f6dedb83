// Groups merged into one function compute what their roles compute side by side: in the simulator,
// where both are checked, and as native code.
#include "Analysis/PipePrograms.h"
#include "Analysis/RandomGroup.h"
#include "Target/Llvm/LlvmTesting.h"

#include "kiln/Analysis/PipeProof.h"

using namespace kiln;
using namespace kiln::test;

namespace {

/// The program with its groups merged where that is possible.
mlir::OwningOpRef<mlir::ModuleOp> merged(mlir::ModuleOp module) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::PassManager passes(&context());
  passes.addPass(createKilnMergeGroups());
  EXPECT_TRUE(succeeded(passes.run(*copy)));
  return copy;
}

ir::FuncOp functionOf(mlir::ModuleOp module, llvm::StringRef name) {
  return module.lookupSymbol<ir::FuncOp>(name);
}

bool isMerged(mlir::ModuleOp module, llvm::StringRef name) {
  return functionOf(module, name).getKind() == ir::FuncKind::Incore;
}

TEST(MergeGroups, EveryTopologySplitAndControlIsMergedAndRight) {
  for (const PipeProgram &program : legalPipePrograms()) {
    SCOPED_TRACE(program.name());
    std::string error;
    auto module = prepared(program.text(), error);
    ASSERT_TRUE(module) << error;
    auto one = merged(*module);
    ASSERT_TRUE(isMerged(*one, "copy"));
    PipeData simulated, native, fibers;
    EXPECT_OK(simulate(*one, functionOf(*one, "copy"), simulated.args(), withSeed(0)));
    EXPECT_EQ(elementsOf(simulated.y), expectedResult(program, elementsOf(simulated.x)));
    if (program.slots != 2)
      continue; // compiling takes longer
    EXPECT_OK(compileAndRun(functionOf(*one, "copy"), native.args()));
    EXPECT_EQ(elementsOf(native.y), expectedResult(program, elementsOf(native.x)));
    EXPECT_OK(compileAndRun(functionOf(*module, "copy"), fibers.args()));
    EXPECT_EQ(elementsOf(fibers.y), expectedResult(program, elementsOf(fibers.x)));
  }
}

//===----------------------------------------------------------------------===//
// Random groups
//===----------------------------------------------------------------------===//

/// What a traced random group leaves in its log; empty where the run failed.
struct TracedRun {
  int64_t n, m;
  bool flag;

  std::vector<double> simulated(mlir::ModuleOp module) const {
    return run([&](auto args) { return simulate(module, functionOf(module, "pair"), args); });
  }
  std::vector<double> native(const CpuModule &code, mlir::ModuleOp module) const {
    return run([&](auto args) { return runOnCpu(code, functionOf(module, "pair"), args); });
  }

private:
  template <typename Run> std::vector<double> run(Run &&runIt) const {
    Tensor log = tensorOf(DType::I32, {2, 4, 8}, std::vector<double>(64, 1));
    std::vector<Argument> args{index(n), index(m), ScalarBits::fromInt(DType::I1, flag), log};
    return runIt(std::span<const Argument>(args)).isOk() ? elementsOf(log) : std::vector<double>();
  }
};

void compareRuns(mlir::ModuleOp roles, mlir::ModuleOp one, bool asCode) {
  Expected<CpuModule> code = asCode ? compileForCpu(one) : Expected<CpuModule>(CpuModule());
  ASSERT_TRUE(code) << code.status().str();
  for (int64_t n : {-1, 0, 1, 5})
    for (int64_t m : {0, 3})
      for (bool flag : {false, true}) {
        TracedRun run{n, m, flag};
        std::vector<double> want = run.simulated(roles);
        EXPECT_FALSE(want.empty());
        EXPECT_EQ(run.simulated(one), want) << "n = " << n << ", m = " << m << ", flag " << flag;
        if (asCode)
          EXPECT_EQ(run.native(*code, one), want)
              << "native, n = " << n << ", m = " << m << ", flag " << flag;
      }
}

TEST(MergeGroups, RandomGroupsHandOverTheSameTilesInTheSameOrder) {
  int provedGroups = 0, mergedGroups = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::string text = RandomGroup(seed, /*isTraced=*/true).text(), error;
    auto module = prepared(text, error);
    ASSERT_TRUE(module) << error << text;
    PipeProof proof = provePipes(functionOf(*module, "pair"), 2);
    bool isProved = proof.verdict == PipeProof::Verdict::Proved && proof.condition.empty();
    provedGroups += isProved;
    auto one = merged(*module);
    if (!isMerged(*one, "pair"))
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    EXPECT_NE(proof.verdict, PipeProof::Verdict::Refuted);
    compareRuns(*module, *one, /*asCode=*/++mergedGroups % 16 == 0);
  }
  std::printf("random groups: %d proved, %d merged\n", provedGroups, mergedGroups);
  EXPECT_GT(mergedGroups * 10, provedGroups * 8);
}

} // namespace
