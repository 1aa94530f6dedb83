// The proof against the simulator on random groups: what is proved runs for every n, what is
// refuted fails for some n.
#include "kiln/Analysis/PipeProof.h"
#include "PipePrograms.h"
#include "RandomGroup.h"

using namespace kiln;
using namespace kiln::test;

namespace {

bool runs(mlir::ModuleOp module, int64_t n, int64_t m, bool flag) {
  std::vector<Argument> args{index(n), index(m), ScalarBits::fromInt(DType::I1, flag),
                             poisoned(DType::I32, {2, 4, 8})};
  return simulate(module, module.lookupSymbol<ir::FuncOp>("pair"), args).isOk();
}

TEST(PipeProof, AgreesWithTheSimulatorOnRandomGroups) {
  int proved = 0, conditional = 0, refuted = 0, undecided = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::string text = RandomGroup(seed).text(), error;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    auto module = prepared(text, error);
    ASSERT_TRUE(module) << error;
    PipeProof proof = provePipes(module->lookupSymbol<ir::FuncOp>("pair"), 2);
    bool failsSomewhere = false;
    // Refuted groups may need larger values to fail.
    bool isRefuted = proof.verdict == PipeProof::Verdict::Refuted;
    for (int64_t n = 0; n <= (isRefuted ? 7 : 4) && !(isRefuted && failsSomewhere); ++n)
      for (int64_t m = 0; m <= (isRefuted ? 7 : 2); ++m)
        for (bool flag : {false, true})
          if (!runs(*module, n, m, flag)) {
            failsSomewhere = true;
            EXPECT_FALSE(proof.verdict == PipeProof::Verdict::Proved &&
                         (proof.condition.empty() || n >= 1))
                << "proved " << proof.condition << ", but fails with n = " << n << ", m = " << m;
          }
    switch (proof.verdict) {
    case PipeProof::Verdict::Proved:
      ++(proof.condition.empty() ? proved : conditional);
      break;
    case PipeProof::Verdict::Refuted:
      ++refuted;
      EXPECT_TRUE(failsSomewhere) << "refuted: " << proof.findings.front().what.text;
      break;
    case PipeProof::Verdict::Undecided:
      ++undecided;
      break;
    }
  }
  std::printf("random groups: %d proved, %d under a condition, %d refuted, %d undecided\n", proved,
              conditional, refuted, undecided);
  EXPECT_GT(proved, 100);
  EXPECT_GT(refuted, 100);
  EXPECT_LT(undecided, 60);
}

} // namespace
