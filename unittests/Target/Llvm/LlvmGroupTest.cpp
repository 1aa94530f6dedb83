// Native kernels that need the runtime while they run: blocks that meet, memory of run-time size,
// roles that wait for one another for ever.
#include "LlvmTesting.h"
#include "Simulator/BarrierPrograms.h"
#include "Simulator/SimulatorTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

/// A program, compiled once.
class Native : public Program {
public:
  explicit Native(std::string text)
      : Program(std::move(text)),
        Code(compileForCpu(function("main")->getParentOfType<mlir::ModuleOp>())) {
    EXPECT_TRUE(Code) << Code.status().str();
  }
  Status run(llvm::StringRef entry, std::vector<Argument> args, uint64_t seed = 0) {
    CpuRunOptions options;
    options.seed = seed;
    return runOnCpu(*Code, function(entry), args, options);
  }

private:
  Expected<CpuModule> Code;
};

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

TEST(LlvmBarrier, EveryBlockSeesWhatAllWroteBefore) {
  Native program(fill(kAllSums, {{"ROUNDS", "3"}}));
  for (int64_t blocks : {1, 2, 5, 300})
    for (uint64_t seed : {0, 1}) {
      std::vector<double> ones(blocks, 1.0);
      Tensor x = tensorOf(DType::F32, {blocks}, ones), y = poisoned(DType::F32, {blocks});
      EXPECT_OK(program.run("main", {x, y}, seed));
      auto n = static_cast<double>(blocks);
      expectNear(elementsOf(y), std::vector<double>(blocks, n * n * n), 0);
    }
  EXPECT_OK(program.run("main", {poisoned(DType::F32, {0}), poisoned(DType::F32, {0})}));
  Tensor x = tensorOf(DType::F32, {1}, {3}), y = poisoned(DType::F32, {1});
  EXPECT_OK(program.run("k", {x, y})); // one block by itself
  expectNear(elementsOf(y), {3}, 0);
}

TEST(LlvmBarrier, ABlockThatNeverComesIsNamedWithThoseThatWait) {
  Native program(kOneNeverComes);
  expectError(program.run("main", {poisoned(DType::F32, {3})}), StatusCode::Deadlock,
              {"kernel 'k'",
               "deadlock of the blocks: k (block [0, 0, 0]) waits at the barrier at " +
                   program.lineOf("the place"),
               "k (block [2, 0, 0]) waits", "; ended: k (block [1, 0, 0])"});
}

TEST(LlvmBarrier, LanesOfGroupsMeet) {
  Native program(fill(kGroup, {{"VEC", "tile.barrier"}, {"CUBE", ""}}));
  std::vector<double> values = randomElements(int64_t(3) * 32, 5),
                      want(values.begin() + 32, values.end());
  want.insert(want.end(), values.begin(), values.begin() + 32);
  Tensor x = tensorOf(DType::F32, {24, 4}, values), m = poisoned(DType::F32, {24, 4}),
         y = poisoned(DType::F32, {24, 4});
  EXPECT_OK(program.run("main", {x, m, y, index(3)}));
  expectNear(elementsOf(y), want, 0);
}

TEST(LlvmBarrier, RolesThatWaitForOneAnotherInTwoWays) {
  Native program(fill(kGroup, {{"VEC", "tile.barrier // of vec"}, {"CUBE", "tile.barrier"}}));
  Tensor x = poisoned(DType::F32, {16, 4}), m = poisoned(DType::F32, {16, 4}),
         y = poisoned(DType::F32, {16, 4});
  expectError(program.run("main", {x, m, y, index(2)}), StatusCode::Deadlock,
              {"cube (block [0, 0, 0]) waits to pop from 'to_aic' (0 of 1 slot full)",
               "vec#1 (block [1, 0, 0]) waits at the barrier at " + program.lineOf("// of vec")});
}

TEST(LlvmBarrier, AFailureNamesItsBlockAndEndsTheOthers) {
  Native program(R"mlir(
kiln.func @main(%x: !kiln.tensor<3xf32> inout) orchestration {
  %t = kiln.submit @k(%x) grid(4) sync_start
}
kiln.func @k(%x: !kiln.tensor<3xf32> inout) incore {
  %v = arith.constant 0.0 : f32
  %me = tile.block_idx 0
  tile.barrier
  kiln.write %v, %x[%me]
  tile.barrier
})mlir");
  expectError(program.run("main", {poisoned(DType::F32, {3})}), StatusCode::KernelFailed,
              {"kiln.write: element [3] is outside 'x' (f32[3])", "(block [3, 0, 0])",
               program.lineOf("kiln.write")});
}

TEST(LlvmBarrier, TooManyBlocksAtOnceAreRefused) {
  Native program(R"mlir(
kiln.func @main() orchestration { %t = kiln.submit @k() grid(1000, 1000) sync_start }
kiln.func @k() incore { tile.barrier }
)mlir");
  expectError(program.run("main", {}), StatusCode::Unsupported,
              {"1000000 of them; at most 16384 can"});
}

//===----------------------------------------------------------------------===//
// Memory of run-time size
//===----------------------------------------------------------------------===//

const char *const kAllocates = R"mlir(
kiln.func @main(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<?x8xf32> out, %n: index, %m: index) orchestration {
  %t = kiln.submit @k(%x, %y, %n, %m) grid(3)
}
kiln.func @k(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<?x8xf32> out, %n: index, %m: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %b = tile.block_idx 0
  %row = arith.muli %b, %c4 : index
  %first = kiln.alloc(%n, %m) : !kiln.tensor<?x?xf32> // the first
  %a = tile.load %x[%row, 0] : !tile.tile<4x8xf32>
  tile.store %a, %first[0, 0]
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %a) -> (!tile.tile<4x8xf32>) {
    %inner = kiln.alloc(%n) : !kiln.tensor<?x8xf32>
    tile.store %s, %inner[0, 0]
    %p = tile.load %inner[0, 0] : !tile.tile<4x8xf32>
    %q = tile.load %first[0, 0] : !tile.tile<4x8xf32>
    %r = tile.add %p, %q : !tile.tile<4x8xf32>
    scf.yield %r : !tile.tile<4x8xf32>
  }
  tile.store %sum, %y[%row, 0]
}
)mlir";

TEST(LlvmAlloc, TensorsOfRunTimeShapeLiveToTheEndOfTheirBlock) {
  Native program(kAllocates);
  std::vector<double> values = randomElements(96, 3), want;
  for (double value : values)
    want.push_back(static_cast<float>(value) * 5);
  for (int64_t rows : {4, 5, 3000}) {
    Tensor x = tensorOf(DType::F32, {12, 8}, values), y = poisoned(DType::F32, {12, 8});
    EXPECT_OK(program.run("main", {x, y, index(rows), index(8)}));
    expectNear(elementsOf(y), want, 1e-6);
  }
}

TEST(LlvmAlloc, WhatCannotBeAllocatedIsAnErrorWithItsLine) {
  Native program(kAllocates);
  Tensor x = poisoned(DType::F32, {12, 8}), y = poisoned(DType::F32, {12, 8});
  struct Case {
    int64_t n, m;
    const char *message;
  };
  for (const Case &test : {Case{-1, 8, "one of the extents [-1, 8] is negative"},
                           Case{int64_t(1) << 40, int64_t(1) << 40, "no memory"},
                           Case{int64_t(1) << 30, int64_t(1) << 30, "no memory"}})
    expectError(program.run("main", {x, y, index(test.n), index(test.m)}), StatusCode::KernelFailed,
                {"kiln.alloc: ", test.message, program.lineOf("the first")});
}

//===----------------------------------------------------------------------===//
// Deadlocks of groups
//===----------------------------------------------------------------------===//

TEST(LlvmGroups, ADeadlockSaysWhoWaitsForWhatOnWhichPipe) {
  Native program(R"mlir(
!up = !tile.pipe<aiv -> aic, 8x4xf32, up_down>
!down = !tile.pipe<aic -> aiv, 8x4xf32, up_down>
kiln.func @main(%x: !kiln.tensor<8x4xf32> inout) orchestration {
  %t = kiln.submit @g(%x) grid(2)
}
kiln.func @g(%x: !kiln.tensor<8x4xf32> inout) group lanes(2) {
  %up = tile.pipe slots(2) : !up
  %down = tile.pipe slots(3) : !down
  kiln.call @cube(%up, %down)
  kiln.call @vec(%x, %up, %down)
}
kiln.func @cube(%up: !up, %down: !down) role(aic) {
  %a = tile.pop %up : !tile.tile<8x4xf32>
  %b = tile.pop %up : !tile.tile<8x4xf32>
  %c = tile.pop %up : !tile.tile<8x4xf32>
  tile.push %a, %down
  tile.free %up
  tile.free %up
  tile.free %up
}
kiln.func @vec(%x: !kiln.tensor<8x4xf32> inout, %up: !up, %down: !down) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<4x4xf32>
  tile.push %a, %up
  tile.push %a, %up
  %b = tile.pop %down : !tile.tile<4x4xf32>
  tile.push %a, %up
  tile.free %down
  tile.store %b, %x[0, 0]
})mlir");
  // Both blocks fail, on two workers; which one is told first is open.
  expectError(program.run("main", {tensorOf(DType::F32, {8, 4}, randomElements(32, 1))}),
              StatusCode::Deadlock,
              {"kernel 'g'", "deadlock in the group: ",
               "cube waits to pop from 'to_aic' (2 of 2 slots popped and not freed)",
               "vec#0 waits to pop from 'to_aiv' (0 of 3 slots full)",
               "vec#1 waits to pop from 'to_aiv' (0 of 3 slots full)", "(block ["});
}

} // namespace
