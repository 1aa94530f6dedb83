// Tasks that are not worth handing over run in submit(): only those, only when nothing holds them
// up, and with the same effect on everybody else.
#include "TestSupport.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

/// A kernel that waits at a gate, to have something unfinished in front.
struct Gate {
  std::atomic<bool> isOpen{false};
  std::atomic<bool> isReached{false};
  ~Gate() { isOpen = true; }
};

int32_t gateKernel(const kiln_args *args, const kiln_blocks *, kiln_context *ctx) {
  auto *gate = static_cast<Gate *>(ctx->user);
  gate->isReached = true;
  for (int i = 0; i < 20000 && !gate->isOpen; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  forEach(args->tensors[0], [](float &x, int64_t, int64_t) { x = x * 2 + 1; });
  return gate->isOpen ? KILN_OK : KILN_FAIL;
}

int32_t failIfNegative(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  return elementAt(args->tensors[0], 0) < 0 ? KILN_FAIL : KILN_OK;
}

int32_t slowKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  elementAt(args->tensors[0], 0) += 1;
  return KILN_OK;
}

constexpr uint32_t always = 4'000'000'000; // nothing takes longer than four seconds

struct EngineBriefTest : ::testing::Test {
  EngineBriefTest() {
    addBasicKernels(registry);
    KernelRecord record;
    record.name = "gate";
    record.function = gateKernel;
    record.user = &gate;
    take(registry.add(record));
    addKernel(registry, "check", failIfNegative, {param("x", Direction::InOut, 1)});
    addKernel(registry, "slow", slowKernel, {param("x", Direction::InOut, 1)});
  }

  /// An engine that knows fill, copy, mix and check on tensors like `like` as brief.
  std::unique_ptr<Engine> makeEngine(const Tensor &like, uint32_t handOverNs = always) {
    EngineOptions options;
    options.workers = 2;
    options.recordTrace = false;
    options.handOverNs = handOverNs;
    auto engine = take(Engine::create(registry, options));
    Tensor a = zeros(DType::F32, like.extents()), b = zeros(DType::F32, like.extents());
    for (int i = 0; i < 40; ++i) {
      take(engine->submit(fill(a, 1)));
      take(engine->submit(copy(a, b)));
      take(engine->submit(mix(b, 1)));
      take(engine->submit(Task("check").addInout(a)));
    }
    EXPECT_OK(engine->finish());
    return engine;
  }
  /// Something that touches `x`, that a worker has begun, and that does not end by itself.
  TaskId block(Engine &engine, const Tensor &x) {
    TaskId id = take(engine.submit(Task("gate").addInout(x)));
    while (!gate.isReached)
      std::this_thread::yield();
    return id;
  }

  Gate gate;
  KernelRegistry registry;
};

float at(const Tensor &tensor, int64_t i) { return tensor.dataAs<float>()[i]; }

} // namespace

TEST_F(EngineBriefTest, ABriefTaskHasRunWhenSubmitReturns) {
  Tensor x = zeros(DType::F32, {4}), y = zeros(DType::F32, {4});
  auto engine = makeEngine(x);
  take(engine->submit(fill(x, 3)));
  EXPECT_EQ(at(x, 2), 3);
  TaskId copied = take(engine->submit(copy(x, y)));
  take(engine->submit(mix(y, 1).after(copied)));
  EXPECT_EQ(at(y, 3), 7);
  EXPECT_EQ(copied.index, 1u);
  EXPECT_EQ(engine->usage().regions, 0u);
  EXPECT_OK(engine->finish());
}

TEST_F(EngineBriefTest, ItDoesNotWhereEverythingIsHandedOver) {
  Tensor x = zeros(DType::F32, {4}), gated = zeros(DType::F32, {4});
  auto engine = makeEngine(x, 0);
  block(*engine, gated); // the only worker there is besides this thread
  take(engine->submit(fill(x, 3)));
  EXPECT_EQ(at(x, 0), 0);
  gate.isOpen = true;
  EXPECT_OK(engine->wait());
  EXPECT_EQ(at(x, 0), 3);
}

TEST_F(EngineBriefTest, ItRunsBesideUnfinishedTasksThatTouchSomethingElse) {
  Tensor all = zeros(DType::F32, {8});
  Tensor left = take(all.slice({0}, {4})), right = take(all.slice({4}, {4}));
  auto engine = makeEngine(left);
  block(*engine, left);
  for (int i = 0; i < 100; ++i)
    take(engine->submit(fill(right, static_cast<float>(i))));
  EXPECT_EQ(at(right, 1), 99);
  gate.isOpen = true;
  EXPECT_OK(engine->wait());
  EXPECT_EQ(engine->usage().tasks, 0u);
}

TEST_F(EngineBriefTest, ItWaitsForUnfinishedTasksItConflictsWith) {
  Tensor all = tensorOf(DType::F32, {8}, {5});
  Tensor gated = take(all.slice({2}, {4}));
  Tensor first = take(all.slice({0}, {4})), same = take(all.slice({2}, {4}));
  Tensor x = zeros(DType::F32, {4}), y = zeros(DType::F32, {4}), z = zeros(DType::F32, {4});
  auto engine = makeEngine(x);
  TaskId blocker = block(*engine, gated);
  take(engine->submit(copy(same, x)));             // reads what it writes
  take(engine->submit(copy(first, y)));            // and what overlaps that
  take(engine->submit(fill(first, 9)));            // writes it
  take(engine->submit(fill(z, 1).after(blocker))); // waits because it says so
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(at(x, 0), 0);
  EXPECT_EQ(at(y, 3), 0);
  EXPECT_EQ(at(first, 0), 5);
  EXPECT_EQ(at(z, 0), 0);
  gate.isOpen = true;
  EXPECT_OK(engine->wait());
  EXPECT_EQ(at(x, 0), 11);
  EXPECT_EQ(at(y, 3), 11);
  EXPECT_EQ(at(y, 0), 5);
  EXPECT_EQ(at(all, 3), 9);
  EXPECT_EQ(at(all, 5), 11);
  EXPECT_EQ(at(z, 0), 1);
}

TEST_F(EngineBriefTest, ItsFailureIsLatchedAndStopsWhatComesAfterIt) {
  Tensor x = tensorOf(DType::F32, {4}, {-1}), y = zeros(DType::F32, {4});
  auto engine = makeEngine(x);
  Tensor other = zeros(DType::F32, {4});
  TaskId failed = take(engine->submit(Task("check").addInout(x).at("prog.cpp", 12)));
  take(engine->submit(copy(x, y)));
  take(engine->submit(mix(y, 1)));
  take(engine->submit(fill(other, 2)));
  take(engine->submit(mix(other, 2).after(failed)));
  Status status = engine->wait();
  expectError(status, StatusCode::KernelFailed, {"'check'", "task 0"});
  EXPECT_EQ(status.location().str(), "prog.cpp:12");
  EXPECT_EQ(at(y, 0), 0);
  EXPECT_EQ(at(other, 0), 2);
  take(engine->submit(fill(x, 3)));
  take(engine->submit(Task("check").addInout(x)));
  take(engine->submit(copy(x, y)));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(at(y, 0), 3);
  EXPECT_EQ(engine->usage().regions, 0u);
}

TEST_F(EngineBriefTest, ASlowKernelIsHandedOverHoweverOftenItRuns) {
  Tensor x = zeros(DType::F32, {1}), gated = zeros(DType::F32, {1});
  auto engine = makeEngine(x, 1000);
  for (int i = 0; i < 40; ++i)
    take(engine->submit(Task("slow").addInout(x)));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(at(x, 0), 40);
  block(*engine, gated);
  take(engine->submit(Task("slow").addInout(x)));
  EXPECT_EQ(at(x, 0), 40);
  gate.isOpen = true;
  EXPECT_OK(engine->wait());
  EXPECT_EQ(at(x, 0), 41);
}

TEST_F(EngineBriefTest, AShortTaskRunsInSubmitOnlyWherePlentyWaits) {
  constexpr int64_t count = 200;
  Tensor all = zeros(DType::F32, {count}), gated = zeros(DType::F32, {1});
  auto one = [&](int64_t i) { return take(all.slice({i}, {1})); };
  auto engine = makeEngine(gated, 100'000); // "slow" is neither brief nor long beside that
  for (int i = 0; i < 40; ++i)
    take(engine->submit(Task("slow").addInout(gated)));
  EXPECT_OK(engine->wait());
  block(*engine, gated); // the only worker there is besides this thread
  for (int64_t i = 0; i < count; ++i)
    take(engine->submit(Task("slow").addInout(one(i))));
  EXPECT_EQ(at(all, 0), 0); // the first are left to the worker
  EXPECT_EQ(at(all, 31), 0);
  EXPECT_EQ(at(all, count - 1), 1);
  take(engine->submit(Task("slow").addInout(one(0)))); // which has not run yet
  EXPECT_EQ(at(all, 0), 0);
  gate.isOpen = true;
  EXPECT_OK(engine->wait());
  EXPECT_EQ(at(all, 0), 2);
  EXPECT_EQ(at(all, 31), 1);
}

TEST_F(EngineBriefTest, WhatIsSubmittedLastIsLeftToWhoWaits) {
  Tensor first = zeros(DType::F32, {1}), last = zeros(DType::F32, {1});
  auto engine = makeEngine(first, 0);
  RunOptions options;
  options.keepsLast = true;
  EXPECT_OK(engine->begin(options));
  take(engine->submit(Task("gate").addInout(first)));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(gate.isReached); // the worker has nothing to do, and does not get it
  TaskId slow = take(engine->submit(Task("slow").addInout(last)));
  while (!gate.isReached) // now it is no longer the last
    std::this_thread::yield();
  EXPECT_EQ(take(engine->get(last, {0})).asDouble(),
            1); // whoever asks for it runs it, while the worker is busy
  gate.isOpen = true;
  take(engine->submit(Task("slow").addInout(first).after(slow)));
  EXPECT_OK(engine->finish());
  EXPECT_EQ(at(first, 0), 2);
}
