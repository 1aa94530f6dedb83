// Ranks as threads of one process: what collectives do, and what happens to ranks that do not
// agree.
#include "kiln/runtime/ranks.h"
#include "RankTestSupport.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/orchestration.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace kiln;
using kiln::test::filled;
using kiln::test::taskOf;

namespace {

/// Runs `body` on each rank with an engine of its own, and ends its run.
Status runRanks(int32_t ranks, bool takesTurns,
                const std::function<Status(Engine &, int32_t)> &body, uint64_t seed = 0) {
  KernelRegistry registry;
  RankHub hub({ranks, takesTurns, seed});
  return hub.runAll([&](int32_t rank, Transport &transport) -> Status {
    EngineOptions options;
    options.workers = 1;
    Expected<std::unique_ptr<Engine>> engine = Engine::create(registry, options);
    if (!engine)
      return engine.status();
    RunOptions run;
    run.ranks = &transport;
    if (Status bad = (*engine)->begin(run); !bad.isOk())
      return bad;
    Status done = body(**engine, rank);
    if (!done.isOk())
      transport.fail(done);
    Status finished = (*engine)->finish();
    return done.isOk() ? finished : done;
  });
}

class Ranks : public testing::TestWithParam<std::tuple<int32_t, bool>> {
protected:
  int32_t count() const { return std::get<0>(GetParam()); }
  Status run(const std::function<Status(Engine &, int32_t)> &body) {
    return runRanks(count(), std::get<1>(GetParam()), body);
  }
};

TEST_P(Ranks, AllReduceSumsInEveryElementType) {
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F8E5M2, DType::I8, DType::I16,
                     DType::I32, DType::I64}) {
    Status done = run([&](Engine &engine, int32_t rank) -> Status {
      Tensor x = filled({2, 3}, float(rank), type);
      Expected<TaskId> id = engine.submit(taskOf(CollectiveKind::AllReduce, {}, x));
      if (!id)
        return id.status();
      double sum = 2.0 * count() + count() * (count() - 1) / 2.0;
      double rounded = isFloat(type) ? ScalarBits::fromDouble(type, sum).asDouble() : sum;
      EXPECT_EQ(engine.get(x, {0, 2})->asDouble(), rounded) << toString(type);
      return Status::ok();
    });
    EXPECT_TRUE(done.isOk()) << done.str();
  }
}

TEST_P(Ranks, ExchangesParts) {
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    int64_t n = count();
    Tensor x = filled({2, 3}, float(100 * rank)), all = filled({2 * n, 3}, -1);
    Tensor swapped = filled({2 * n, 3}, -1), sum = filled({2, 3}, -1),
           own = filled({1}, float(rank));
    for (const CollectiveTask &task :
         {taskOf(CollectiveKind::AllGather, x, all), taskOf(CollectiveKind::AllToAll, all, swapped),
          taskOf(CollectiveKind::ReduceScatter, swapped, sum),
          taskOf(CollectiveKind::Broadcast, {}, own, n - 1)})
      if (Expected<TaskId> id = engine.submit(task); !id)
        return id.status();
    if (Status bad = engine.wait(); !bad.isOk())
      return bad;
    for (int64_t from = 0; from < n; ++from) {
      EXPECT_EQ(*all.get({2 * from + 1, 2}), 100.0 * double(from) + 5);
      EXPECT_EQ(*swapped.get({2 * from + 1, 2}), 100.0 * rank + 5);
    }
    EXPECT_EQ(*sum.get({0, 0}), 50.0 * double(n * (n - 1)));
    EXPECT_EQ(*own.get({0}), double(n - 1));
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
}

TEST_P(Ranks, OrchestrationsOfPeopleAskForCollectives) {
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    Tensor x = filled({4}, float(rank)), all = filled({int64_t{4} * count()}, -1);
    Signature signature{"main", "orchestration", {}, {}};
    return orch::orchestrate(engine, {}, signature, {},
                             [&](orch::Orchestrator &rt, const orch::Arguments &) {
                               EXPECT_EQ(rt.rank().value(), rank);
                               EXPECT_EQ(rt.ranks().value(), count());
                               EXPECT_EQ(rt.ranks({1, orch::any}, 0).value(), 1);
                               orch::CollectiveArgs sum(CollectiveKind::AllReduce);
                               sum.target(x);
                               sum.combine(Reduction::Max, /*fixedOrder=*/true);
                               TaskId summed = rt.submit(sum);
                               orch::CollectiveArgs gather(CollectiveKind::AllGather);
                               gather.source(x);
                               gather.target(all);
                               gather.along({orch::any, 1}, 0);
                               gather.after(summed);
                               rt.submit(gather);
                               EXPECT_EQ(rt.get<float>(all, {4 * count() - 1}), float(count() + 2));
                             });
  });
  EXPECT_TRUE(done.isOk()) << done.str();
}

TEST(RanksAlone, AnOrchestrationThatThrowsEndsTheOthers) {
  Status done = runRanks(2, false, [&](Engine &engine, int32_t rank) -> Status {
    Signature signature{"main", "orchestration", {}, {}};
    return orch::orchestrate(engine, {}, signature, {},
                             [&](orch::Orchestrator &rt, const orch::Arguments &) {
                               rt.require(rank == 0, "only the first", {"x.cpp", 3, 1});
                               orch::CollectiveArgs barrier(CollectiveKind::RankBarrier);
                               rt.submit(barrier);
                             });
  });
  EXPECT_NE(done.str().find("only the first"), std::string::npos) << done.str();
}

TEST_P(Ranks, ViewsWithGapsTravel) {
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    Tensor whole = filled({4, 6}, float(rank));
    Tensor columns = *whole.slice({0, 1}, {4, 2});
    if (Expected<TaskId> id = engine.submit(taskOf(CollectiveKind::AllReduce, {}, columns)); !id)
      return id.status();
    if (Status bad = engine.wait(); !bad.isOk())
      return bad;
    EXPECT_EQ(*whole.get({1, 1}), 7.0 * count() + count() * (count() - 1) / 2.0);
    EXPECT_EQ(*whole.get({1, 3}), 9.0 + rank); // beside the view
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
}

TEST_P(Ranks, RecvBeforeSendDoesNotWaitForIt) {
  if (count() == 1)
    return;
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    Tensor from = filled({8}, float(rank)), into = filled({8}, -1);
    int64_t next = (rank + 1) % count(), previous = (rank + count() - 1) % count();
    for (const CollectiveTask &task : {taskOf(CollectiveKind::Recv, {}, into, previous),
                                       taskOf(CollectiveKind::Send, from, {}, next)})
      if (Expected<TaskId> id = engine.submit(task); !id)
        return id.status();
    EXPECT_EQ(engine.get(into, {0})->asDouble(), double(previous));
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
}

TEST_P(Ranks, RingThroughOneBufferIsADeadlockWithEveryLine) {
  if (count() == 1)
    return;
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    Tensor x = filled({8}, float(rank));
    int64_t next = (rank + 1) % count(), previous = (rank + count() - 1) % count();
    for (const CollectiveTask &task :
         {taskOf(CollectiveKind::Send, x, {}, next), taskOf(CollectiveKind::Recv, {}, x, previous)})
      if (Expected<TaskId> id = engine.submit(task); !id)
        return id.status();
    return engine.wait();
  });
  EXPECT_EQ(done.code(), StatusCode::Deadlock);
  EXPECT_NE(done.message().find("rank 0 waits in send of f32[8] to rank 1 at ranks.mlir:15"),
            std::string::npos)
      << done.str();
}

TEST_P(Ranks, RanksThatDisagreeFailWithBothLines) {
  if (count() == 1)
    return;
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    Tensor x = filled({rank == 1 ? 7 : 8}, 0);
    Expected<TaskId> id = engine.submit(taskOf(CollectiveKind::AllReduce, {}, x));
    return id ? engine.wait() : id.status();
  });
  EXPECT_EQ(done.code(), StatusCode::KernelFailed);
  EXPECT_NE(done.message().find("f32[7] at ranks.mlir:10"), std::string::npos) << done.str();
  EXPECT_NE(done.message().find("f32[8] at ranks.mlir:10"), std::string::npos) << done.str();
}

TEST_P(Ranks, WhoFailsEndsTheOthers) {
  if (count() == 1)
    return;
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    if (rank == count() - 1)
      return Status(StatusCode::KernelFailed, "the disk is on fire");
    Tensor x = filled({8}, 0);
    Expected<TaskId> id = engine.submit(taskOf(CollectiveKind::AllReduce, {}, x));
    return id ? engine.wait() : id.status();
  });
  EXPECT_EQ(done.message(), "rank " + std::to_string(count() - 1) + ": the disk is on fire");
}

TEST_P(Ranks, WhoLeavesIsMissed) {
  if (count() == 1)
    return;
  Status done = run([&](Engine &engine, int32_t rank) -> Status {
    if (rank == 1)
      return Status::ok();
    Tensor x = filled({8}, 0);
    Expected<TaskId> id = engine.submit(taskOf(CollectiveKind::AllReduce, {}, x));
    return id ? engine.wait() : id.status();
  });
  EXPECT_EQ(done.code(), StatusCode::Deadlock);
  EXPECT_NE(done.message().find("rank 1 has ended"), std::string::npos) << done.str();
}

TEST_P(Ranks, BarrierWaitsForAll) {
  std::atomic<int> arrived{0};
  Status done = run([&](Engine &engine, int32_t) -> Status {
    ++arrived;
    Expected<TaskId> id = engine.submit(taskOf(CollectiveKind::RankBarrier, {}, {}));
    EXPECT_EQ(arrived.load(), count());
    return id.status();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
}

INSTANTIATE_TEST_SUITE_P(OfAllSizes, Ranks,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7), testing::Bool()));

TEST(MeshAxis, LinesOfAMesh) {
  MeshAxis tensor{1, {2, 4}}, data{0, {2, 4}}, rest{0, {dynamicExtent, 4}};
  EXPECT_EQ(*tensor.lineOf(6, 8), (RankLine{4, 1, 4}));
  EXPECT_EQ(*data.lineOf(6, 8), (RankLine{2, 4, 2}));
  EXPECT_EQ(*rest.lineOf(6, 12), (RankLine{2, 4, 3}));
  EXPECT_EQ(MeshAxis().lineOf(3, 5)->count, 5);
  EXPECT_EQ(data.lineOf(0, 6).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(rest.lineOf(0, 6).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ((MeshAxis{5, {2}}).lineOf(0, 2).status().code(), StatusCode::InvalidArgument);
}

TEST(MeshAxis, MeshOfSubgroups) {
  Status done = runRanks(6, false, [&](Engine &engine, int32_t rank) -> Status {
    Tensor x = filled({1}, float(rank));
    CollectiveTask task = taskOf(CollectiveKind::AllReduce, {}, x);
    task.group = {1, {2, 3}};
    Expected<TaskId> id = engine.submit(task);
    if (!id)
      return id.status();
    EXPECT_EQ(engine.get(x, {0})->asDouble(), rank < 3 ? 3 : 12);
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
}

TEST(Combine, NarrowFloatsAreRoundedOnce) {
  // 1 + eps/2 + eps/2 is more than 1 only if the sum is kept wide in between.
  uint16_t parts[3] = {encodeBF16(1), encodeBF16(1.0 / 256), encodeBF16(1.0 / 256)};
  uint16_t sum = 0;
  const void *all[] = {&parts[0], &parts[1], &parts[2]};
  combine(DType::BF16, Reduction::Sum, all, &sum, 1);
  EXPECT_EQ(decodeBF16(sum), 1 + 1.0f / 128);
}

TEST(Combine, NanWinsAndIntegersWrap) {
  float a[2] = {NAN, 1}, b[2] = {1, NAN}, most[2];
  const void *floats[] = {a, b};
  combine(DType::F32, Reduction::Max, floats, most, 2);
  EXPECT_TRUE(std::isnan(most[0]) && std::isnan(most[1]));
  int8_t c = 100, d = 100, wrapped = 0;
  const void *bytes[] = {&c, &d};
  combine(DType::I8, Reduction::Sum, bytes, &wrapped, 1);
  EXPECT_EQ(wrapped, -56);
}

} // namespace
