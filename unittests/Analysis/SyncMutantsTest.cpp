// Programs compiled for a machine whose units work at the same time, with a barrier, a flag or one
// end of a flag left out: the proof misses each, and so does the simulator, which knows nothing of
// the proof, wherever a run comes by and no other core has ordered the two already.
#include "Driver.h"
#include "Simulator/SimulatorTesting.h"

#include "kiln/Analysis/SyncProof.h"
#include "kiln/Dialect/Sync/SyncDialect.h"
#include "kiln/Program/Signature.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

using namespace kiln;
using namespace kiln::test;
using namespace mlir;

namespace {

struct Subject {
  std::string program;             ///< "examples/softmax"
  std::vector<ArgSpecs> arguments; ///< Of several runs, which together take every way.
  /// Flags that the proof asks for, though tiles that go to another core and come back order the
  /// same: the proof looks at one core.
  unsigned orderedByPipes = 0;
  std::string platform = "a2a3";
};

class SyncMutants : public ::testing::TestWithParam<Subject> {
protected:
  void SetUp() override {
    context().loadDialect<sync::SyncDialect>();
    ParserConfig config(&context());
    Module = parseSourceFile<ModuleOp>(std::string(KILN_ROOT "/") + GetParam().program + ".mlir",
                                       config);
    ASSERT_TRUE(Module);
    PassManager passes(&context());
    PipelineOptions options;
    options.machine = &Target;
    buildPipeline(passes, options);
    ASSERT_TRUE(succeeded(passes.run(*Module)));
  }

  /// What the simulator finds in one of the runs; nothing if all is well. `sides`, if given, gets
  /// which ways the runs took.
  std::optional<Finding> findBySimulation(ModuleOp module, TakenSides *sides = nullptr) {
    ir::FuncOp entry = *findEntry(module, "");
    for (const ArgSpecs &specs : GetParam().arguments) {
      CheckOptions options;
      options.machine = &Target;
      options.seeds = 1;
      options.sides = sides;
      Expected<CheckReport> report =
          checkProgram(module, entry, *makeArguments(entry, specs, 1), options);
      EXPECT_TRUE(report) << report.status().str();
      if (report && !report->findings.empty())
        return report->findings.front();
    }
    return std::nullopt;
  }

  const Machine &Target = *findMachine(GetParam().platform);
  OwningOpRef<ModuleOp> Module;
};

/// Whether an operation is in a loop or a branch that no run came to: a loop over what is left of
/// whole tiles, for one, that has at most one tile to do and does it outside.
bool isReached(Operation *op, const TakenSides &sides) {
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(around);
    bool isElse = branch && branch.getElseRegion().isAncestor(op->getParentRegion());
    if (isa<scf::ForOp, scf::IfOp>(around) && !(sides.lookup(around) & (isElse ? 2 : 1)))
      return false;
  }
  return true;
}

std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op << " at " << op->getLoc();
  return text;
}

} // namespace

TEST_P(SyncMutants, AreAllFoundByProofAndSimulation) {
  TakenSides sides;
  std::optional<Finding> wrong = findBySimulation(*Module, &sides);
  ASSERT_FALSE(wrong) << wrong->location.str() << ": " << wrong->message;
  unsigned tried = 0, unreached = 0, orderedByPipes = 0;
  for (auto role : Module->getOps<ir::FuncOp>()) {
    if (role.getKind() != ir::FuncKind::Role)
      continue;
    for (const llvm::DenseSet<Operation *> &without : syncMutants(role, Target)) {
      ++tried;
      SCOPED_TRACE("@" + role.getSymName().str() + " without " +
                   (without.size() > 1 ? "all of the flag of " : "") + describe(*without.begin()));
      EXPECT_TRUE(findSyncFault(role, Target, without)) << "the proof does not miss it";
      IRMapping copies;
      OwningOpRef<ModuleOp> mutant = cast<ModuleOp>((*Module)->clone(copies));
      for (Operation *op : without)
        copies.lookup(op)->erase();
      std::optional<Finding> found = findBySimulation(*mutant);
      bool wasReached = llvm::all_of(without, [&](Operation *op) { return isReached(op, sides); });
      unreached += !wasReached;
      if (!found && wasReached && ++orderedByPipes > GetParam().orderedByPipes)
        ADD_FAILURE() << "the simulator does not miss it";
      if (found) {
        EXPECT_TRUE(found->kind == FindingKind::Race ||
                    found->message.find(kFlagIsNotSet) != std::string::npos)
            << found->message;
        EXPECT_TRUE(found->location.isKnown());
      }
    }
  }
  EXPECT_GT(tried, 0u);
  EXPECT_LT(unreached, tried / 4);
  EXPECT_EQ(orderedByPipes, GetParam().orderedByPipes);
}

static ArgSpecs same(std::initializer_list<const char *> names, const char *shape) {
  ArgSpecs specs;
  for (const char *name : names)
    specs[name] = shape;
  return specs;
}

static ArgSpecs attention(int64_t keys) {
  std::string k = "1x" + std::to_string(keys) + "x64";
  return {{"q", "1x70x64"}, {"k", k}, {"v", k}, {"o", "1x70x64"}};
}

INSTANTIATE_TEST_SUITE_P(
    Programs, SyncMutants,
    ::testing::Values(
        Subject{"examples/hello_add", {same({"a", "b", "c"}, "70x70")}},
        Subject{"examples/elementwise", {same({"x", "y"}, "70x70")}},
        Subject{"examples/softmax", {same({"x", "y"}, "17x300")}},
        Subject{"examples/layer_norm",
                {{{"x", "17x300"}, {"w", "300"}, {"b", "300"}, {"y", "17x300"}}}},
        Subject{"examples/matmul", {{{"a", "70x150"}, {"b", "150x33"}, {"c", "70x33"}}}},
        Subject{"examples/matmul_bias",
                {{{"x", "70x150"}, {"w", "150x33"}, {"b", "33"}, {"y", "70x33"}}}},
        Subject{"examples/split_k", {{{"a", "70x300"}, {"b", "300x33"}, {"c", "70x33"}}}},
        Subject{"examples/vector_dag", {same({"a", "b", "out"}, "70x70")}},
        Subject{"examples/matmul_residual_pipes", {same({"a", "b", "r", "out"}, "64x64")}},
        Subject{"examples/two_groups", {same({"a", "b", "c", "out"}, "64x64")}},
        Subject{"examples/feedback", {same({"x", "y"}, "5x64")}},
        Subject{"models/flash_attention", {attention(200)}, 1},
        Subject{"examples/matmul_residual_pipes", {same({"a", "b", "r", "out"}, "64x64")}, 0, "a5"},
        Subject{"examples/two_groups", {same({"a", "b", "c", "out"}, "64x64")}, 0, "a5"},
        Subject{"examples/feedback", {same({"x", "y"}, "5x64")}, 0, "a5"},
        Subject{"models/flash_attention", {attention(200)}, 0, "a5"}),
    [](const auto &test) {
      std::string name = test.param.program;
      return name.substr(name.find('/') + 1) + "_" + test.param.platform;
    });
