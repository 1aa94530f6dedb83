// Blocks that meet: what barriers order, and what is reported when somebody never comes.
#include "BarrierPrograms.h"
#include "SimulatorTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

TEST(SimulatorBarrier, EveryBlockSeesWhatAllWroteBefore) {
  Program program(fill(kAllSums, {{"ROUNDS", "3"}}));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Tensor x = tensorOf(DType::F32, {5}, {1, 2, 3, 4, 5}), y = poisoned(DType::F32, {5});
    SimulationReport report;
    EXPECT_OK(program.run("main", {x, y}, withSeed(seed), &report));
    expectNear(elementsOf(y), std::vector<double>(5, 15 * 5 * 5), 0);
    EXPECT_EQ(report.blocks, 5u);
  }
}

TEST(SimulatorBarrier, OneBlockAndNoBlock) {
  Program program(fill(kAllSums, {{"ROUNDS", "2"}}));
  Tensor x = tensorOf(DType::F32, {1}, {3}), y = poisoned(DType::F32, {1});
  EXPECT_OK(program.run("main", {x, y}));
  expectNear(elementsOf(y), {3}, 0);
  EXPECT_OK(program.run("k", {x, y}));
  EXPECT_OK(program.run("main", {poisoned(DType::F32, {0}), poisoned(DType::F32, {0})}));
}

TEST(SimulatorBarrier, ABlockThatNeverComesIsNamed) {
  Program program(kOneNeverComes);
  for (uint64_t seed : {0, 1, 2}) {
    Tensor x = poisoned(DType::F32, {3});
    expectError(program.run("main", {x}, withSeed(seed)), StatusCode::Deadlock,
                {"Cross-core simulation deadlock; waiting at a barrier: [k (block [",
                 program.lineOf("the place"), "; ended without it: [k (block [1, 0, 0])]"});
  }
}

TEST(SimulatorBarrier, LanesOfGroupsMeet) {
  Program program(fill(kGroup, {{"VEC", "tile.barrier"}, {"CUBE", ""}}));
  std::vector<double> values = randomElements(96, 5), want(values.begin() + 32, values.end());
  want.insert(want.end(), values.begin(), values.begin() + 32);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Tensor x = tensorOf(DType::F32, {24, 4}, values), m = poisoned(DType::F32, {24, 4}),
           y = poisoned(DType::F32, {24, 4});
    EXPECT_OK(program.run("main", {x, m, y, index(3)}, withSeed(seed)));
    expectNear(elementsOf(y), want, 0);
  }
}

TEST(SimulatorBarrier, RolesThatWaitForOneAnotherInTwoWays) {
  // The cube comes to its barrier only after a pop; the lanes push only after theirs.
  Program program(fill(kGroup, {{"VEC", "tile.barrier"}, {"CUBE", "tile.barrier"}}));
  Tensor x = poisoned(DType::F32, {16, 4}), m = poisoned(DType::F32, {16, 4}),
         y = poisoned(DType::F32, {16, 4});
  expectError(
      program.run("main", {x, m, y, index(2)}), StatusCode::Deadlock,
      {"waiting at a barrier: [vec#0 (block [0, 0, 0]) at test.mlir:", "vec#1 (block [1, 0, 0])",
       "; blocked elsewhere: [cube waits to pop from 'to_aic' (0 of 1 slot full)"});
}

TEST(SimulatorBarrier, DeadlocksWithoutABarrierReadAsBefore) {
  Program program(fill(kGroup, {{"VEC", "tile.barrier\n tile.barrier\n"},
                                {"CUBE", "%again = tile.pop %up : !tile.tile<8x4xf32>"}}));
  Tensor x = poisoned(DType::F32, {8, 4}), m = poisoned(DType::F32, {8, 4}),
         y = poisoned(DType::F32, {8, 4});
  expectError(program.run("main", {x, m, y, index(1)}), StatusCode::Deadlock,
              {"tasks blocked: [cube waits to pop from 'to_aic'", "vec#0, which has ended"});
}

TEST(SimulatorBarrier, FaultsCarryTheirBlock) {
  Program program(R"mlir(
kiln.func @main(%x: !kiln.tensor<3xf32> inout) orchestration {
  %t = kiln.submit @k(%x) grid(4) sync_start
}
kiln.func @k(%x: !kiln.tensor<3xf32> inout) incore {
  %v = arith.constant 0.0 : f32
  %me = tile.block_idx 0
  tile.barrier
  kiln.write %v, %x[%me]
})mlir");
  Tensor x = poisoned(DType::F32, {3});
  expectError(program.run("main", {x}), StatusCode::KernelFailed,
              {"kiln.write", "element [3] is outside 'x'", "in k, block [3, 0, 0]"});
}

TEST(SimulatorBarrier, TooManyBlocksAtOnceAreRefused) {
  Program program(R"mlir(
kiln.func @main() orchestration { %t = kiln.submit @k() grid(1000, 1000) sync_start }
kiln.func @k() incore { tile.barrier }
)mlir");
  expectError(program.run("main", {}), StatusCode::Unsupported, {"1000000 blocks"});
}

} // namespace
