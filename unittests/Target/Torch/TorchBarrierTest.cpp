//===- TorchBarrierTest.cpp - blocks that meet, in the reference ----------------------===//
#include "Simulator/BarrierPrograms.h"
#include "Simulator/SimulatorTesting.h"
#include "TorchTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

TEST(TorchEmit, KernelsWithABarrierAreTasks) {
  std::string source = emit(fill(kAllSums, {{"ROUNDS", "3"}}));
  EXPECT_TRUE(has(source,
                  "def k_g(x, y):\n    \"\"\"Kernel, a task of the scheduler: yields at every "
                  "barrier.\n"))
      << source;
  EXPECT_TRUE(has(source, "        yield from meet_g()\n"));
  EXPECT_TRUE(has(source, "        yield _WaitBarrier()\n"));
  EXPECT_TRUE(has(source, "def k_tasks(x, y):\n"
                          "    \"\"\"The one task of a block.\"\"\"\n"
                          "    return [('k', k_g(x, y), 0)]\n"));
  EXPECT_TRUE(has(source, "def k(x, y):\n"
                          "    \"\"\"One block by itself.\"\"\"\n"
                          "    _launch_together(k_tasks, ('k',), (1,), x, y)\n"));
  EXPECT_TRUE(has(source, "    _launch_together(k_tasks, ('k',), (x.shape[0],), x, y)\n"))
      << source;
}

TEST(TorchEmit, GroupsWithABarrierGiveTheirTasksAway) {
  std::string source = emit(fill(kGroup, {{"VEC", "tile.barrier"}, {"CUBE", ""}}));
  EXPECT_TRUE(has(source,
                  "    _pipes['to_aic'] = _Pipe(slots=1, producers=2)  # aiv -> aic, 8x4xf32, "
                  "up_down\n"
                  "    return [\n"
                  "        ('cube', cube_g(y, 'to_aic'), 0),\n"
                  "        ('vec#0', vec_g(x, m, 'to_aic'), 0),\n"
                  "        ('vec#1', vec_g(x, m, 'to_aic'), 1),\n"
                  "    ]\n"))
      << source;
  EXPECT_TRUE(has(source, "    _launch_together(g_tasks, ('vec#0', 'vec#1'), (n,), x, m, y)\n"));
}

TEST_F(TorchRun, EveryBlockSeesWhatAllWroteBeforeTheBarrier) {
  std::string source = emit(fill(kAllSums, {{"ROUNDS", "3"}}));
  for (const char *entry : {"run", "k"}) {
    bool isOneBlock = std::string(entry) == "k";
    Tensor x = tensorOf(DType::F32, {5}, {1, 2, 3, 4, 5}), y = poisoned(DType::F32, {5});
    std::vector<TorchArgument> args = {x, y};
    if (isOneBlock)
      args = {*x.slice({4}, {1}), *y.slice({4}, {1})};
    Status status = Worker->run(source, entry, args);
    ASSERT_TRUE(status.isOk()) << status.str() << Worker->traceback();
    EXPECT_EQ(elementsOf(y)[4], isOneBlock ? 5 : 15 * 5 * 5);
  }
}

TEST_F(TorchRun, ABarrierThatABlockNeverReachesIsADeadlock) {
  Tensor x = poisoned(DType::F32, {3});
  std::vector<TorchArgument> args = {x};
  Status status = Worker->run(emit(kOneNeverComes), "run", args);
  EXPECT_EQ(status.code(), StatusCode::Deadlock);
  EXPECT_EQ(status.message(),
            "RuntimeError: Cross-core simulation deadlock; tasks blocked: ["
            "k of block (0, 0, 0) (lane 0) waits at a barrier for k of block (1, 0, 0), "
            "k of block (2, 0, 0) (lane 0) waits at a barrier for k of block (1, 0, 0)]");
}

TEST_F(TorchRun, LanesOfGroupsMeetAtBarriers) {
  std::vector<double> values = randomElements(96, 5), want(values.begin() + 32, values.end());
  want.insert(want.end(), values.begin(), values.begin() + 32);
  Tensor x = tensorOf(DType::F32, {24, 4}, values), m = poisoned(DType::F32, {24, 4}),
         y = poisoned(DType::F32, {24, 4});
  std::vector<TorchArgument> args = {x, m, y, index(3)};
  Status status =
      Worker->run(emit(fill(kGroup, {{"VEC", "tile.barrier"}, {"CUBE", ""}})), "run", args);
  ASSERT_TRUE(status.isOk()) << status.str() << Worker->traceback();
  expectNear(elementsOf(y), want, 0);

  std::string both = fill(kGroup, {{"VEC", "tile.barrier"}, {"CUBE", "tile.barrier"}});
  status = Worker->run(emit(both), "run", args);
  EXPECT_EQ(status.code(), StatusCode::Deadlock);
  EXPECT_TRUE(
      has(status.message(), "cube of block (0, 0, 0) (lane 0) waits to pop from pipe 'to_aic'") &&
      has(status.message(), "vec#1 of block (2, 0, 0) (lane 1) waits at a barrier for cube"))
      << status.message();

  std::string twice = fill(kGroup, {{"VEC", "tile.push %t, %up\n tile.barrier"}, {"CUBE", ""}});
  status = Worker->run(emit(twice), "run", args);
  EXPECT_TRUE(has(status.message(), "left in pipe 'to_aic'")) << status.message();
}

} // namespace
