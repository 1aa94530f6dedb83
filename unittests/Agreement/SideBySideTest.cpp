//===- SideBySideTest.cpp - groups whose order only a run decides, on a GPU ---------------===//
//
// Their roles are warpgroups side by side, with rings between them that threads write. On a GPU
// where there is one, or one is emulated.
//
// KILN_RANDOM_SEED and KILN_RANDOM_PROGRAMS choose other random groups; with the latter every
// topology, split and control is tried, and not a sample.
//
//===----------------------------------------------------------------------------===//
#include "Analysis/PipePrograms.h"
#include "Analysis/RandomGroup.h"
#include "HopperRun.h"
#include "SavedCases.h"

#include "kiln/Analysis/PipeProof.h"

#include <cstdlib>

using namespace kiln;
using namespace kiln::test;

namespace {

int numberFrom(const char *variable, int otherwise) {
  const char *given = std::getenv(variable);
  return given && *given ? static_cast<int>(std::strtol(given, nullptr, 10)) : otherwise;
}

TEST(SideBySide, EveryTopologySplitAndControlAgrees) {
  if (!hopperHere())
    GTEST_SKIP() << "there is no GPU";
  // Their order is known, so they would be one kernel. Compiling takes long: a sample.
  int number = 0, every = numberFrom("KILN_RANDOM_PROGRAMS", 0) ? 1 : 9;
  for (const PipeProgram &program : legalPipePrograms()) {
    if (program.topology == Topology::ThreeRoles || number++ % every != 0)
      continue;
    SCOPED_TRACE(program.name());
    std::string error;
    auto module = prepared(program.text(), error);
    ASSERT_TRUE(module) << error;
    PipeData data;
    EXPECT_OK(runOnHopper(*module, "copy", data.args(), {"kiln-merge-groups"}));
    EXPECT_EQ(elementsOf(data.y), expectedResult(program, elementsOf(data.x)));
  }
}

TEST(SideBySide, RandomGroupsWithCountsFromATileHandOverTheSameTiles) {
  const char *saved = std::getenv("KILN_SAVE_CASES");
  if (!hopperHere() && !(saved && *saved))
    GTEST_SKIP() << "there is no GPU";
  int first = numberFrom("KILN_RANDOM_SEED", 0), wanted = numberFrom("KILN_RANDOM_PROGRAMS", 8);
  for (int seed = first, done = 0; done < wanted; ++seed) {
    std::string text =
        RandomGroup(unsigned(seed), /*isTraced=*/true, /*isRich=*/true, /*readsCounts=*/true)
            .text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    std::string error;
    auto module = prepared(text, error);
    ASSERT_TRUE(module) << error;
    auto group = module->lookupSymbol<ir::FuncOp>("pair");
    if (provePipes(group, 2).verdict == PipeProof::Verdict::Refuted)
      continue;
    bool ran = false;
    for (int n : {0, 1, 5})
      for (int m : {0, 3}) {
        std::vector<double> counts(8, n % 2);
        counts[0] = n, counts[1] = m;
        auto logs = [] { return tensorOf(DType::I32, {2, 4, 8}, std::vector<double>(64, 1)); };
        Tensor given = tensorOf(DType::I32, {1, 8}, counts), simulated = logs(), here = logs();
        // Those that wait for ever, or leave something behind, are for others to find.
        std::vector<Argument> args{given, simulated};
        if (!simulate(*module, group, args).isOk())
          continue;
        if (!ran || n == 5) // the others would be the same code again
          saveCase("random group " + std::to_string(seed), text, "pair",
                   {{given, given}, {logs(), simulated}});
        ran = true;
        args[1] = here;
        if (!hopperHere())
          continue;
        EXPECT_OK(runOnHopper(*module, "pair", args));
        EXPECT_EQ(elementsOf(here), elementsOf(simulated)) << "n = " << n << ", m = " << m;
      }
    done += ran;
  }
}

} // namespace
