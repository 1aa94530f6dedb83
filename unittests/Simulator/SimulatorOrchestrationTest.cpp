// Orchestrations in the simulator: everything they launch goes through the runtime's engine.
#include "SimulatorTesting.h"
#include "lib/Simulator/Orchestration.h"

#include <filesystem>
#include <limits>
#include <set>

using namespace kiln;
using namespace kiln::test;

namespace {

/// Element-wise kernels over 4x8 tensors.
constexpr const char *kKernels = R"mlir(
kiln.func @add(%a: !kiln.tensor<4x8xf32> in, %b: !kiln.tensor<4x8xf32> in, %out: !kiln.tensor<4x8xf32> out) incore {
  %x = tile.load %a[0, 0] : !tile.tile<4x8xf32>
  %z = tile.load %b[0, 0] : !tile.tile<4x8xf32>
  %y = tile.add %x, %z : !tile.tile<4x8xf32>
  tile.store %y, %out[0, 0]
}
kiln.func @mul(%a: !kiln.tensor<4x8xf32> in, %b: !kiln.tensor<4x8xf32> in, %out: !kiln.tensor<4x8xf32> out) incore {
  %x = tile.load %a[0, 0] : !tile.tile<4x8xf32>
  %z = tile.load %b[0, 0] : !tile.tile<4x8xf32>
  %y = tile.mul %x, %z : !tile.tile<4x8xf32>
  tile.store %y, %out[0, 0]
}
kiln.func @shift(%s: f32, %a: !kiln.tensor<4x8xf32> in, %out: !kiln.tensor<4x8xf32> out) role(aiv) {
  %x = tile.load %a[0, 0] : !tile.tile<4x8xf32>
  %y = tile.add %x, %s : !tile.tile<4x8xf32>
  tile.store %y, %out[0, 0]
}
)mlir";

Tensor numbers(double scale) {
  std::vector<double> x(32);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = scale * (static_cast<double>(i) - 16);
  return tensorOf(DType::F32, {4, 8}, x);
}

TEST(SimulatorOrchestration, VectorDag) {
  Program program(std::string(kKernels) + R"mlir(
kiln.func @main(%a: !kiln.tensor<4x8xf32> in, %b: !kiln.tensor<4x8xf32> in, %out: !kiln.tensor<4x8xf32> out) orchestration {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %c = kiln.alloc() : !kiln.tensor<4x8xf32>
  %d = kiln.alloc() : !kiln.tensor<4x8xf32>
  %e = kiln.alloc() : !kiln.tensor<4x8xf32>
  %f = kiln.alloc() : !kiln.tensor<4x8xf32>
  %t0 = kiln.submit @add(%a, %b, %c)
  %t1 = kiln.submit @shift(%one, %c, %d)
  %t2 = kiln.submit @shift(%two, %c, %e)
  %t3 = kiln.submit @mul(%d, %e, %f)
  %t4 = kiln.submit @add(%f, %c, %out)
})mlir");
  bool reordered = false;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Tensor a = numbers(1), b = numbers(0.5), out = poisoned(DType::F32, {4, 8});
    SimulationReport report;
    EXPECT_OK(program.run("main", {a, b, out}, withSeed(seed), &report));
    std::vector<double> want;
    for (int i = 0; i < 32; ++i) {
      double sum = 1.5 * (i - 16);
      want.push_back((sum + 1) * (sum + 2) + sum);
    }
    EXPECT_EQ(elementsOf(out), want);
    ASSERT_EQ(report.trace.tasks.size(), 5u);
    EXPECT_EQ(report.blocks, 5u);
    for (auto [from, to] : {std::pair{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {0, 4}})
      EXPECT_TRUE(report.trace.hasEdge(from, to, EdgeKind::Raw)) << from << " -> " << to;
    EXPECT_EQ(report.trace.edges.size(), 6u);
    EXPECT_EQ(report.trace.tasks[1].scalars[0].asDouble(), 1.0);
    EXPECT_EQ(report.trace.tasks[1].loc.str().rfind(program.lineOf("%t1 = "), 0), 0u);
    reordered |= report.trace.order != std::vector<uint64_t>{0, 1, 2, 3, 4};
    if (seed == 0) {
      EXPECT_FALSE(reordered) << "seed 0 runs in submission order";
    }
  }
  EXPECT_TRUE(reordered) << "no seed ran task 2 before task 1";
}

TEST(SimulatorOrchestration, LoopsBranchesGetAndPredicates) {
  // Adds b to acc as often as n says; then, if flag[1] > 3 at run time, once more.
  Program program(std::string(kKernels) + R"mlir(
kiln.func @copy(%a: !kiln.tensor<4x8xf32> in, %out: !kiln.tensor<4x8xf32> out) incore {
  %x = tile.load %a[0, 0] : !tile.tile<4x8xf32>
  tile.store %x, %out[0, 0]
}
kiln.func @count(%n: !kiln.tensor<2xi32> inout) incore {
  %v = kiln.read %n[0] : i32
  %c1 = arith.constant 1 : i32
  %w = arith.addi %v, %c1 : i32
  kiln.write %w, %n[0]
}
kiln.func @step(%b: !kiln.tensor<4x8xf32> in, %acc: !kiln.tensor<4x8xf32> inout) orchestration {
  %t = kiln.alloc() : !kiln.tensor<4x8xf32>
  %t0 = kiln.submit @add(%acc, %b, %t)
  %t1 = kiln.submit @copy(%t, %acc)
}
kiln.func @main(%n: !kiln.tensor<2xi32> inout, %b: !kiln.tensor<4x8xf32> in, %acc: !kiln.tensor<4x8xf32> inout) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = kiln.submit @count(%n)
  %v = kiln.get %n[0] : i32
  %trips = arith.index_cast %v : i32 to index
  scf.for %i = %c0 to %trips step %c1 {
    kiln.call @step(%b, %acc)
  }
  %t = kiln.alloc() : !kiln.tensor<4x8xf32>
  %zero = arith.constant 0.0 : f32
  %t0 = kiln.submit @shift(%zero, %acc, %t)
  %t1 = kiln.submit @add(%t, %b, %acc) predicate(%n[1] > 3)
})mlir");
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (int64_t flag : {3, 4}) {
      Tensor n = tensorOf(DType::I32, {2}, {2, static_cast<double>(flag)}), acc = numbers(1);
      SimulationReport report;
      EXPECT_OK(program.run("main", {n, numbers(10), acc}, withSeed(seed), &report));
      EXPECT_EQ(elementsOf(acc), elementsOf(numbers(flag > 3 ? 41 : 31)));
      ASSERT_EQ(report.trace.tasks.size(), 9u) << "count, three steps of two tasks, shift, add";
      EXPECT_EQ(report.trace.tasks[8].state, flag > 3 ? TaskState::Done : TaskState::Skipped);
    }
}

TEST(SimulatorOrchestration, ManualScopesAndExplicitDependencies) {
  std::string text = std::string(kKernels) + R"mlir(
kiln.func @main(%a: !kiln.tensor<4x8xf32> in, %out: !kiln.tensor<4x8xf32> out) orchestration {
  %one = arith.constant 1.0 : f32
  %m = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %t0 = kiln.submit @shift(%one, %a, %m)
    %d = kiln.submit deps(%t0)
    %t1 = kiln.submit @shift(%one, %m, %out) DEPS
  }
})mlir";
  SimulationReport report;
  Tensor out = poisoned(DType::F32, {4, 8});
  EXPECT_OK(Program(fill(text, {{"DEPS", "deps(%d)"}}))
                .run("main", {numbers(0), out}, withSeed(3), &report));
  EXPECT_EQ(elementsOf(out), std::vector<double>(32, 2.0));
  EXPECT_TRUE(report.trace.hasEdge(0, 1, EdgeKind::Explicit));
  EXPECT_TRUE(report.trace.hasEdge(1, 2, EdgeKind::Explicit));
  EXPECT_FALSE(report.trace.hasEdge(0, 2, EdgeKind::Raw));
  EXPECT_OK(Program(fill(text, {{"DEPS", ""}, {" manual", ""}}))
                .run("main", {numbers(0), out}, {}, &report));
  EXPECT_TRUE(report.trace.hasEdge(0, 2, EdgeKind::Raw));
}

/// Every block writes 100 * i + 10 * j + k into its own element, and its number into last[0].
constexpr const char *kGrid = R"mlir(
kiln.func @fill(%out: !kiln.tensor<2x3x4xi32> out, %last: !kiln.tensor<4xi32> out) incore {
  %i = tile.block_idx 0
  %j = tile.block_idx 1
  %k = tile.block_idx 2
  %ni = tile.block_count 0
  %nj = tile.block_count 1
  %nk = tile.block_count 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %a = arith.muli %i, %c10 : index
  %b = arith.addi %a, %j : index
  %c = arith.muli %b, %c10 : index
  %d = arith.addi %c, %k : index
  %v = arith.index_cast %d : index to i32
  kiln.write %v, %out[%i, %j, %k]
  kiln.write %v, %last[0]
  %vi = arith.index_cast %ni : index to i32
  %vj = arith.index_cast %nj : index to i32
  %vk = arith.index_cast %nk : index to i32
  kiln.write %vi, %last[1]
  kiln.write %vj, %last[2]
  kiln.write %vk, %last[3]
}
kiln.func @main(%m: index, %out: !kiln.tensor<2x3x4xi32> out, %last: !kiln.tensor<4xi32> out) orchestration {
  %t = kiln.submit @fill(%out, %last) grid(%m, 3, 4)
}
)mlir";

TEST(SimulatorOrchestration, EveryBlockOfAGridRunsOnceInTheOrderOfTheSeed) {
  Program program(kGrid);
  std::vector<double> want;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        want.push_back(100 * i + 10 * j + k);
  std::set<double> lasts;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    std::vector<double> previous;
    for (int repeat = 0; repeat < 2; ++repeat) {
      Tensor out = poisoned(DType::I32, {2, 3, 4}), last = poisoned(DType::I32, {4});
      SimulationReport report;
      EXPECT_OK(program.run("main", {index(2), out, last}, withSeed(seed), &report));
      EXPECT_EQ(elementsOf(out), want);
      EXPECT_EQ(report.blocks, 24u);
      std::vector<double> have = elementsOf(last);
      EXPECT_EQ((std::vector<double>{have.begin() + 1, have.end()}),
                (std::vector<double>{2, 3, 4}));
      if (repeat == 1) {
        EXPECT_EQ(have, previous) << "the same seed, another schedule";
      }
      if (seed == 0) {
        EXPECT_EQ(have[0], 123) << "seed 0 is row-major";
      }
      previous = have;
    }
    lasts.insert(previous[0]);
  }
  EXPECT_GT(lasts.size(), 3u) << "seeds do not change the order of blocks";
}

TEST(SimulatorOrchestration, TheSeedDecidesWhichLaneRunsFirst) {
  Program program(R"mlir(
kiln.func @v(%y: !kiln.tensor<1xi64> out) role(aiv) {
  %lane = tile.lane
  %v = arith.index_cast %lane : index to i64
  kiln.write %v, %y[0]
}
kiln.func @g(%y: !kiln.tensor<1xi64> out) group lanes(2) {
  kiln.call @v(%y)
})mlir");
  std::set<double> lasts;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Tensor y = poisoned(DType::I64, {1});
    EXPECT_OK(program.run("g", {y}, withSeed(seed)));
    lasts.insert(elementsOf(y)[0]);
    if (seed == 0) {
      EXPECT_EQ(lasts, std::set<double>{1}) << "seed 0 is round robin";
    }
  }
  EXPECT_EQ(lasts, (std::set<double>{0, 1}));
}

TEST(SimulatorOrchestration, AKernelMayCallHelpersAndAllocateScratch) {
  Program program(R"mlir(
kiln.func @twice(%from: !kiln.tensor<4x8xf32> in, %to: !kiln.tensor<4x8xf32> out) incore {
  %x = tile.load %from[0, 0] : !tile.tile<4x8xf32>
  %y = tile.add %x, %x : !tile.tile<4x8xf32>
  tile.store %y, %to[0, 0]
}
kiln.func @k(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out) incore {
  %scratch = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.call @twice(%x, %scratch)
  kiln.call @twice(%scratch, %y)
})mlir");
  Tensor y = poisoned(DType::F32, {4, 8});
  EXPECT_OK(program.run("k", {numbers(1), y}));
  EXPECT_EQ(elementsOf(y), elementsOf(numbers(4)));
}

TEST(SimulatorOrchestration, AnEmptyGridRunsNothing) {
  SimulationReport report;
  Tensor out = poisoned(DType::I32, {2, 3, 4});
  EXPECT_OK(Program(kGrid).run("main", {index(0), out, poisoned(DType::I32, {4})}, {}, &report));
  EXPECT_EQ(report.blocks, 0u);
  EXPECT_EQ(elementsOf(out)[0], elementsOf(poisoned(DType::I32, {1}))[0]);
}

TEST(SimulatorOrchestration, ViewsReachTheRightElements) {
  Program program(R"mlir(
kiln.func @double(%x: !kiln.tensor<?x?xf32> inout) incore {
  %t = tile.load %x[0, 0] : !tile.tile<2x2xf32>
  %y = tile.add %t, %t : !tile.tile<2x2xf32>
  tile.store %y, %x[0, 0]
}
kiln.func @row(%x: !kiln.tensor<?xf32> inout) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.load %x[0] : !tile.tile<3x1xf32>
  %y = tile.add %t, %one : !tile.tile<3x1xf32>
  tile.store %y, %x[0]
}
kiln.func @main(%x: !kiln.tensor<2x3x4xf32> inout) orchestration {
  %c1 = arith.constant 1 : index
  %n = kiln.dim %x, 1
  %m = kiln.slice %x[%c1, 0, 1] [1, %n, 2] drop [0] : !kiln.tensor<?x2xf32>
  %t = kiln.transpose %m, [1, 0] : !kiln.tensor<2x?xf32>
  %corner = kiln.slice %t[0, 1] [2, 2] : !kiln.tensor<2x2xf32>
  %t0 = kiln.submit @double(%corner)
  %flat = kiln.reshape %x[6, 4] : !kiln.tensor<6x4xf32>
  %col = kiln.slice %flat[0, 3] [3, 1] drop [1] : !kiln.tensor<3xf32>
  %t1 = kiln.submit @row(%col)
})mlir");
  std::vector<double> x(24), want;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(i);
  want = x;
  for (int r : {1, 2})
    for (int c : {1, 2})
      want[12 + r * 4 + c] *= 2;
  for (int r : {0, 1, 2})
    want[r * 4 + 3] += 1;
  Tensor tensor = tensorOf(DType::F32, {2, 3, 4}, x);
  EXPECT_OK(program.run("main", {tensor}));
  EXPECT_EQ(elementsOf(tensor), want);
}

TEST(SimulatorOrchestration, RaggedTilesPadLoadsAndClipStores) {
  Program program(R"mlir(
kiln.func @k(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> inout, %sum: !kiln.tensor<1x4xf32> inout) incore {
  %c2 = arith.constant 2 : index
  %t = tile.load %x[%c2, 0] pad(-7.0) : !tile.tile<2x4xf32>
  tile.store %t, %y[0, 0]
  %v = tile.load %x[0, 0] pad(max) valid(1, %c2) : !tile.tile<2x4xf32>
  tile.store %v, %y[2, 0] valid(2, 3)
  %line = tile.load %x[0, 0] : !tile.tile<1x4xf32>
  tile.store %line, %sum[0, 0] valid(1, 3) atomic(add)
})mlir");
  double inf = std::numeric_limits<double>::infinity();
  Tensor x = tensorOf(DType::F32, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
         y = tensorOf(DType::F32, {4, 4}, {});
  EXPECT_OK(y.fillZero());
  Tensor sum = tensorOf(DType::F32, {1, 4}, {10, 20, 30, 40});
  EXPECT_OK(program.run("k", {x, y, sum}));
  EXPECT_EQ(elementsOf(y),
            (std::vector<double>{7, 8, 9, -7, -7, -7, -7, -7, 1, 2, inf, 0, inf, inf, inf, 0}));
  EXPECT_EQ(elementsOf(sum), (std::vector<double>{11, 22, 33, 40}));
}

TEST(SimulatorOrchestration, AGroupIsOneTaskWhoseDumpListsItsMembers) {
  Program program(R"mlir(
!down = !tile.pipe<aic -> aiv, 4x8xf32>
kiln.func @cube(%x: !kiln.tensor<4x8xf32> in, %down: !down) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.push %t, %down
}
kiln.func @vec(%s: f32, %y: !kiln.tensor<4x8xf32> out, %down: !down) role(aiv) {
  %t = tile.pop %down : !tile.tile<4x8xf32>
  %z = tile.mul %t, %s : !tile.tile<4x8xf32>
  tile.free %down
  tile.store %z, %y[0, 0]
}
kiln.func @pair(%x: !kiln.tensor<4x8xf32> in, %s: f32, %y: !kiln.tensor<4x8xf32> out) group {
  %down = tile.pipe : !down
  kiln.call @cube(%x, %down)
  kiln.call @vec(%s, %y, %down)
})mlir");
  std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "kiln-simulator-dump";
  std::filesystem::remove_all(directory);
  SimulatorOptions options;
  options.dump.level = 2;
  options.dump.directory = directory.string();
  options.program = "pair";
  Tensor x = numbers(1), y = poisoned(DType::F32, {4, 8});
  EXPECT_OK(program.run("pair", {x, ScalarBits::fromDouble(DType::F32, 2.5), y}, options));
  Expected<DumpFile> dump = DumpFile::open(directory.string());
  ASSERT_TRUE(dump) << dump.status().str();
  ASSERT_EQ(dump->entries().size(), 3u) << "x and s before, y after";
  for (const DumpEntry &entry : dump->entries())
    EXPECT_EQ(entry.kernels, (std::vector<std::string>{"cube", "vec"}));
  EXPECT_EQ(dump->entries()[0].argName, "x");
  EXPECT_EQ(dump->entries()[2].argName, "y");
  EXPECT_EQ(elementsOf(*dump->load(dump->entries()[2])), elementsOf(numbers(2.5)));
  std::filesystem::remove_all(directory);
}

TEST(SimulatorOrchestration, AFailedTaskStopsWhatDependsOnItAndIsReportedAsItWasFound) {
  std::string text = std::string(kKernels) + R"mlir(
kiln.func @bad(%x: !kiln.tensor<4x8xf32> inout) incore {
  %c4 = arith.constant 4 : index
  %v = kiln.read %x[%c4, 0] : f32
}
kiln.func @main(%a: !kiln.tensor<4x8xf32> inout, %b: !kiln.tensor<4x8xf32> out, %c: !kiln.tensor<4x8xf32> in,
                %d: !kiln.tensor<4x8xf32> out) orchestration {
  %one = arith.constant 1.0 : f32
  %t0 = kiln.submit @bad(%a) grid(2)
  %t1 = kiln.submit @shift(%one, %a, %b)
  %t2 = kiln.submit @shift(%one, %c, %d)
  GET
})mlir";
  for (const char *get : {"", "%v = kiln.get %b[0, 0] : f32"}) {
    Program program(fill(text, {{"GET", get}}));
    Tensor b = poisoned(DType::F32, {4, 8}), d = poisoned(DType::F32, {4, 8});
    SimulationReport report;
    Status status = program.run("main", {numbers(1), b, numbers(1), d}, {}, &report);
    expectError(status, StatusCode::KernelFailed,
                {"kiln.read: element [4, 0] is outside 'x' (f32[4, 8]) (in bad, block [0, 0, 0])"});
    EXPECT_EQ(status.location().str(), program.lineOf("kiln.read") + ":8");
    EXPECT_EQ(report.trace.tasks[0].state, TaskState::Failed);
    EXPECT_EQ(report.trace.tasks[1].state, TaskState::Cancelled);
    EXPECT_EQ(report.trace.tasks[2].state, TaskState::Done);
    EXPECT_TRUE(std::isnan(elementsOf(b)[0]));
    EXPECT_EQ(elementsOf(d)[0], -15);
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->kernel, "bad");
  }
}

TEST(SimulatorOrchestration, WhatKernelsMarkIsMarkedInTheirTasks) {
  Program program(R"mlir(
!p = !tile.pipe<aiv -> aic, token>
kiln.func @k(%a: !kiln.tensor<4x8xf32> in, %n: index, %b: !kiln.tensor<4x8xf32> in, %c: !kiln.tensor<4x8xf32> in) incore {
  %view = kiln.slice %b[0, 0] [2, 8] : !kiln.tensor<2x8xf32>
  kiln.dump %view
  kiln.call @inner(%c)
}
kiln.func @inner(%x: !kiln.tensor<4x8xf32> in) incore { kiln.dump %x }
kiln.func @g(%a: !kiln.tensor<4x8xf32> in, %b: !kiln.tensor<4x8xf32> in) group { kiln.call @role(%b, %a) }
kiln.func @role(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> in) role(aiv) { kiln.dump %x }
)mlir");
  Tensor a = poisoned(DType::F32, {4, 8}), b = poisoned(DType::F32, {4, 8});
  auto marks = [](const Task &task) {
    std::vector<bool> marked;
    for (const TaskTensor &tensor : task.tensors())
      marked.push_back(tensor.marked);
    return marked;
  };
  ScalarBits n = ScalarBits::fromInt(DType::Index, 1);
  EXPECT_EQ(marks(simulator::makeTask(program.function("k"), {a, n, a, b})),
            (std::vector<bool>{false, true, true}));
  EXPECT_EQ(marks(simulator::makeTask(program.function("g"), {a, b})),
            (std::vector<bool>{false, true}));
  EXPECT_EQ(
      marks(simulator::makeTask(program.function("g"), {a, b},
                                [&](const Tensor &tensor) { return tensor.data() == a.data(); })),
      (std::vector<bool>{true, true}));
  EXPECT_OK(program.run("k", {a, n, a, b}));
}

TEST(SimulatorOrchestration, WhatIsNotPreparedNamesThePass) {
  Program returns(R"mlir(
kiln.func @main(%x: !kiln.tensor<4x8xf32> in) -> !kiln.tensor<4x8xf32> orchestration { kiln.return %x }
)mlir");
  Program incore(R"mlir(
kiln.func @main(%x: !kiln.tensor<4x8xf32> in) orchestration {
  %t = kiln.incore "k" {
    kiln.dump %x
  }
}
)mlir");
  Tensor x = poisoned(DType::F32, {4, 8});
  expectError(returns.run("main", {x}), StatusCode::FailedPrecondition,
              {"@main returns tensors; run kiln-results-to-out-params first"});
  expectError(
      incore.run("main", {x}), StatusCode::FailedPrecondition,
      {"kiln.incore", "is still in place; run kiln-outline first", incore.lineOf("incore")});
}

TEST(SimulatorOrchestration, TooManyBlocksAtABarrierAreRefused) {
  Program program(R"mlir(
kiln.func @meet(%x: !kiln.tensor<4x8xf32> in) incore {
  kiln.dump %x
  tile.barrier
}
kiln.func @main(%x: !kiln.tensor<4x8xf32> in) orchestration {
  %t = kiln.submit @meet(%x) grid(20000) sync_start
}
)mlir");
  expectError(program.run("main", {poisoned(DType::F32, {4, 8})}), StatusCode::Unsupported,
              {"@meet contains a barrier and runs with 20000 blocks; the simulator runs at most "
               "16384 at once",
               program.lineOf("@meet")});
}

} // namespace
