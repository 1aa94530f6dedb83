//===- ThreadsTest.cpp - many programs and many callers in one process ----------------------===//
#include "CBackend.h"

#include "native/EnginePool.h"

#include "kiln/runtime/workers.h"

#include <barrier>
#include <filesystem>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr int numCallers = 16;

auto numThreads() {
  auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// y[i] = x[i] + add, a block for each element.
int32_t addKernel(const kiln_args *args, const kiln_blocks *range, kiln_context *) {
  union {
    uint32_t bits;
    float number;
  } add = {uint32_t(args->scalars[0])};
  for (int64_t i = range->begin[0]; i < range->end[0]; ++i)
    static_cast<float *>(args->tensors[1].data)[i] =
        static_cast<const float *>(args->tensors[0].data)[i] + add.number;
  return 0;
}

/// t = x + add; y = t + add: two tasks, the second of which waits for the first.
int32_t addTwice(kiln_orchestration *run, const uint64_t *scalars) {
  const kiln_orchestration_functions &call = *run->functions;
  int64_t extent = call.dim(run, 0, 0);
  kiln_handle between;
  if (int32_t failed = call.alloc(run, nullptr, KILN_F32, 1, &extent, &between))
    return failed;
  kiln_launch_scalar add{scalars[0], KILN_F32, 0};
  for (auto [from, to] : {std::pair<kiln_handle, kiln_handle>{0, between}, {between, 1}}) {
    kiln_launch_tensor tensors[] = {{from, KILN_IN, 0}, {to, KILN_OUT, 0}};
    kiln_launch launch{};
    launch.num_tensors = 2;
    launch.num_scalars = 1;
    launch.tensors = tensors;
    launch.scalars = &add;
    launch.grid = &extent;
    launch.grid_rank = 1;
    if (int32_t failed = call.submit(run, &launch, nullptr))
      return failed;
  }
  return 0;
}

/// The two above, as if they had been loaded.
struct TestCode final : CodeImage {
  void *find(const std::string &symbol) const override {
    return symbol == "add" ? reinterpret_cast<void *>(addKernel)
                           : reinterpret_cast<void *>(addTwice);
  }
};

std::shared_ptr<const NativeProgram> loadProgram() {
  Signature signature{"add",
                      "cpu",
                      {TensorParam::dynamic("x", DType::F32, 1, Direction::In),
                       TensorParam::dynamic("y", DType::F32, 1, Direction::Out)},
                      {{"add", DType::F32}}};
  NativeInfo info;
  info.kind = NativeInfo::Kind::Orchestration;
  info.kernels = {{"add", "add", 0, signature}};
  info.entry = {"main", "main", 0, signature};
  info.parameters = {{true, 0}, {true, 1}, {false, 0}};
  return take(NativeProgram::load(std::make_shared<TestCode>(), info));
}

/// Runs a program on tensors of this size; whether the result is right.
bool isRight(const NativeProgram &program, int64_t extent, float add) {
  Tensor x = randomTensor({extent}, unsigned(extent)),
         y = take(Tensor::empty(DType::F32, {extent}));
  if (!y.fillPoison().isOk())
    return false;
  std::vector<Tensor> tensors{x, y};
  std::vector<ScalarBits> scalars{ScalarBits::fromDouble(DType::F32, add)};
  if (!program.run(tensors, scalars).isOk())
    return false;
  for (int64_t i = 0; i < extent; ++i)
    if (y.dataAs<float>()[i] != x.dataAs<float>()[i] + add + add)
      return false;
  return true;
}

/// Runs `body` with the number of each of so many threads; all begin together.
template <typename Body> void onThreads(int count, Body body) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number)
    threads.emplace_back([&, number] {
      start.arrive_and_wait();
      body(number);
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// What the pool may have started, whoever called: the share of each place, less the caller.
int64_t mostWorkers() {
  int64_t alone = take(defaultWorkers()), sum = 0;
  for (int64_t others = 0; others < alone; ++others)
    sum += alone / (others + 1) - 1;
  return sum;
}

TEST(Threads, AHundredProgramsAndManyCallersHaveBoundedThreads) {
  std::thread([] {}).join(); // with the first thread, ThreadSanitizer starts one of its own
  auto before = numThreads();
  std::vector<std::shared_ptr<const NativeProgram>> programs;
  for (int i = 0; i < 100; ++i)
    programs.push_back(loadProgram());
  EXPECT_EQ(numThreads(), before) << "to be loaded takes no thread";
  for (const auto &program : programs)
    EXPECT_TRUE(isRight(*program, 100, 1));
  auto alone = numThreads();
  EXPECT_LE(alone, before + take(defaultWorkers()) - 1);
  std::atomic<int> wrong{0};
  std::atomic<int64_t> most{0};
  onThreads(numCallers, [&](int number) {
    for (int round = 0; round < 20; ++round)
      wrong += !isRight(*programs[size_t(number * 20 + round) % programs.size()], 50 + round,
                        float(number));
    if (int64_t now = numThreads(); now > most)
      most = now;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(most, before + numCallers + mostWorkers());
  EXPECT_LE(numThreads(), before + mostWorkers()) << "after the callers are gone";
}

TEST(Threads, RunsAtTheSameTimeShareTheCores) {
  KernelRegistry registry;
  unsigned alone = take(defaultWorkers());
  std::vector<EnginePool::Lease> leases;
  for (unsigned others = 0; others < 100; ++others) { // more than there are places
    leases.push_back(take(EnginePool::get().take(registry)));
    EXPECT_EQ(leases.back()->workers(), std::max(1u, alone / (others + 1)));
  }
  leases.clear();
  EXPECT_EQ(take(EnginePool::get().take(registry))->workers(), alone);
}

TEST(Threads, AnApplicationLimitsThem) {
  KernelRegistry registry;
  EXPECT_GE(take(EnginePool::get().take(registry))->workers(),
            1u); // an engine that is there already
  for (unsigned limit : {3u, 1u, 2u}) {
    JitOptions options;
    options.workers = limit;
    EXPECT_OK(Jit(options).environment());
    EnginePool::Lease first = take(EnginePool::get().take(registry));
    EXPECT_EQ(first->workers(), limit);
    EXPECT_EQ(take(EnginePool::get().take(registry))->workers(), std::max(1u, limit / 2));
  }
  EXPECT_OK(setWorkerLimit(0));
  JitOptions tooMany;
  tooMany.workers = maxWorkers + 1;
  expectError(Jit(tooMany).environment(), StatusCode::InvalidArgument, {"at most", "1025"});
}

/// Kernels that are called directly and orchestrations, compiled while others run.
TEST(Threads, ManyCallersOfSeveralPrograms) {
  TestJit test;
  std::vector<Compiled> kernels;
  for (int i = 0; i < 3; ++i)
    kernels.push_back(test.jit.compile(
        std::make_shared<CBackend>(matmulKernel(), "program " + std::to_string(i) + "\n")));
  std::shared_ptr<const NativeProgram> tasks = loadProgram();
  std::atomic<int> wrong{0};
  onThreads(numCallers, [&](int number) {
    for (int round = 0; round < 30; ++round) {
      Operands o(1 + (number + round) % 7);
      TensorAdaptor c(o.c);
      if (round % 3 == 0)
        c.mark_static({1});
      wrong += !kernels[size_t(number + round) % 3](o.a, o.b, c).isOk() || !o.isRight();
      wrong += !isRight(*tasks, 1 + number * round, float(round));
    }
  });
  EXPECT_EQ(wrong, 0);
  test.expectCounts(6, 6);
}

} // namespace
