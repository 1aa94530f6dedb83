// Every combination of topology, split, slots and control: right in the simulator and in the
// reference, and proved. One process, so that all share one Python worker.
#include "PipePrograms.h"
#include "kiln/Analysis/PipeProof.h"
#include "kiln/Target/Torch/Torch.h"
#include "kiln/Target/Torch/TorchWorker.h"

using namespace kiln;
using namespace kiln::test;

namespace {

ir::FuncOp groupOf(mlir::ModuleOp module) { return module.lookupSymbol<ir::FuncOp>("copy"); }

TEST(PipeMatrix, IsRightInTheSimulatorAndProved) {
  for (const PipeProgram &program : legalPipePrograms()) {
    SCOPED_TRACE(program.name());
    std::string error;
    auto module = prepared(program.text(), error);
    ASSERT_TRUE(module) << error << program.text();
    PipeProof proof = provePipes(groupOf(*module), 2);
    EXPECT_EQ(proof.verdict, PipeProof::Verdict::Proved);
    EXPECT_EQ(proof.condition, "");
    for (uint64_t seed : {0, 1, 2}) {
      PipeData data;
      EXPECT_OK(simulate(*module, groupOf(*module), data.args(), withSeed(seed)));
      EXPECT_EQ(elementsOf(data.y), expectedResult(program, elementsOf(data.x)));
    }
  }
}

TEST(PipeMatrix, IsRightInTheReference) {
  Expected<std::unique_ptr<TorchWorker>> worker = TorchWorker::start();
  if (!worker)
    GTEST_SKIP() << worker.status().message();
  for (const PipeProgram &program : legalPipePrograms()) {
    SCOPED_TRACE(program.name());
    std::string error;
    auto module = prepared(program.text(), error);
    ASSERT_TRUE(module) << error;
    Expected<std::string> python = emitTorch(*module, {});
    ASSERT_TRUE(python.hasValue()) << python.status().str();
    PipeData data;
    EXPECT_OK((*worker)->run(*python, "run", data.args()));
    EXPECT_EQ(elementsOf(data.y), expectedResult(program, elementsOf(data.x)));
  }
}

TEST(PipeMatrix, LanesThatPushNeedASplit) {
  for (Topology topology : {Topology::ToMatrix, Topology::BothWays})
    for (Control control : kControls)
      for (int slots : {1, 2, 4}) {
        std::string error;
        EXPECT_FALSE(prepared(PipeProgram{topology, control, "none", slots, 2}.text(), error));
        EXPECT_NE(error.find("split none cannot join what 2 lanes of aiv push; split up_down "
                             "would work"),
                  std::string::npos)
            << error;
      }
}

TEST(PipeMatrix, ASplitNeedsLanesAtOneEnd) {
  for (const char *split : {"up_down", "left_right"}) {
    std::string error;
    std::string text = PipeProgram{Topology::ThreeRoles, Control::Loop, "none", 2, 2}.text();
    EXPECT_FALSE(prepared(fill(text, {{"<dma -> aic, 4x8xf32>",
                                       std::string("<dma -> aic, 4x8xf32, ") + split + ">"}}),
                          error));
    EXPECT_NE(error.find(std::string("has split ") + split + ", but neither dma nor aic has lanes"),
              std::string::npos)
        << error;
  }
}

TEST(PipeMatrix, ASplitDividesItsAxisEvenly) {
  for (auto [split, extents] :
       {std::pair("up_down", "3x8xf32"), std::pair("left_right", "4x7xf32")}) {
    std::string error;
    std::string text = PipeProgram{Topology::ToVector, Control::Loop, split, 2, 2}.text();
    EXPECT_FALSE(prepared(
        fill(text, {{"<aic -> aiv, 4x8xf32", std::string("<aic -> aiv, ") + extents}}), error));
    EXPECT_NE(error.find("cannot divide the extent"), std::string::npos) << error;
  }
}

TEST(PipeMatrix, ARoleUsesItsEndOfAPipeOnly) {
  std::string error;
  std::string text = PipeProgram{Topology::ToVector, Control::Straight, "up_down", 2, 2}.text();
  EXPECT_FALSE(prepared(fill(text, {{"<aic -> aiv", "<aiv -> aic"}}), error));
  EXPECT_NE(error.find("a function of role aic cannot push into"), std::string::npos) << error;
}

} // namespace
