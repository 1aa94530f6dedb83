// The proof against the simulator on random groups: what is proved runs for every n, what is
// refuted fails for some n.
#include "kiln/Analysis/PipeProof.h"
#include "PipePrograms.h"
#include "RandomGroup.h"

#include <climits>
#include <cstdlib>

using namespace kiln;
using namespace kiln::test;

namespace {

bool runs(mlir::ModuleOp module, int64_t n, int64_t m, bool flag) {
  std::vector<Argument> args{index(n), index(m), ScalarBits::fromInt(DType::I1, flag),
                             poisoned(DType::I32, {2, 4, 8})};
  return simulate(module, module.lookupSymbol<ir::FuncOp>("pair"), args).isOk();
}

struct Values {
  int64_t n, m;
  bool flag;
};

/// Values below these bounds with which the group does not run, if there are any.
std::optional<Values> findFailure(mlir::ModuleOp module, int64_t ns, int64_t ms) {
  for (int64_t n = 0; n < ns; ++n)
    for (int64_t m = 0; m < ms; ++m)
      for (bool flag : {false, true})
        if (!runs(module, n, m, flag))
          return Values{n, m, flag};
  return std::nullopt;
}

struct Verdicts {
  int proved = 0, refuted = 0, undecided = 0;
};

/// How many groups of each kind; KILN_RANDOM_GROUPS says how many instead.
int numGroups() {
  const char *text = std::getenv("KILN_RANDOM_GROUPS");
  long number = text ? std::strtol(text, nullptr, 10) : 0;
  return number > 0 && number <= INT_MAX ? int(number) : 150;
}

Verdicts compareWithReplay(bool isRich) {
  Verdicts verdicts;
  for (int seed = 0; seed < numGroups(); ++seed) {
    std::string text = RandomGroup(seed, /*isTraced=*/false, isRich).text(), error;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    auto module = prepared(text, error);
    EXPECT_TRUE(module) << error;
    if (!module)
      break;
    PipeProof proof = provePipes(module->lookupSymbol<ir::FuncOp>("pair"), 2);
    EXPECT_EQ(proof.condition, "") << "values are counts, and trials cover the rest";
    if (proof.verdict == PipeProof::Verdict::Undecided) {
      ++verdicts.undecided;
      continue;
    }
    bool isProved = proof.verdict == PipeProof::Verdict::Proved;
    ++(isProved ? verdicts.proved : verdicts.refuted);
    // Refuted groups may need larger values to fail.
    std::optional<Values> failure = findFailure(*module, isProved ? 8 : 20, isProved ? 5 : 20);
    if (isProved && failure)
      ADD_FAILURE() << "proved, but fails with n = " << failure->n << ", m = " << failure->m
                    << ", flag = " << failure->flag;
    if (!isProved)
      EXPECT_TRUE(failure) << "refuted: " << proof.findings.front().what.text;
  }
  std::printf("%d random groups: %d proved, %d refuted, %d undecided\n", numGroups(),
              verdicts.proved, verdicts.refuted, verdicts.undecided);
  return verdicts;
}

TEST(PipeProof, AgreesWithTheSimulatorOnRandomGroups) {
  Verdicts verdicts = compareWithReplay(/*isRich=*/false);
  EXPECT_GT(verdicts.proved, numGroups() / 6);
  EXPECT_GT(verdicts.refuted, numGroups() / 6);
  EXPECT_LT(verdicts.undecided, numGroups() / 10);
}

TEST(PipeProof, AgreesWithTheSimulatorOnGroupsWithArithmetic) {
  Verdicts verdicts = compareWithReplay(/*isRich=*/true);
  EXPECT_GT(verdicts.proved, numGroups() / 10);
  EXPECT_GT(verdicts.refuted, numGroups() / 6);
}

} // namespace
