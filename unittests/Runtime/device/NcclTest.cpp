// Ranks on GPUs, without any: a driver whose memory is the host's, and an NCCL whose ranks are
// threads. What is asked of NCCL, what comes out, and what becomes of errors.
#include "RankTestSupport.h"
#include "device/cuda/NcclRanks.h"
#include "device/cuda/StreamCollectives.h"
#include "kiln/runtime/cuda_program.h"
#include "kiln/runtime/cuda_ranks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace kiln;
using kiln::test::filled;
using kiln::test::taskOf;
using namespace kiln::cuda;

namespace {

std::atomic<bool> isStuck{false}; ///< Nothing on the stream ends.
std::atomic<int> combined{0};

/// What the kernel of the device library does.
void combineOnHost(const std::byte *arguments) {
  kiln_tensor parts, into;
  std::memcpy(&parts, arguments, sizeof parts);
  std::memcpy(&into, arguments + sizeof parts, sizeof into);
  std::vector<const void *> all;
  auto type = static_cast<DType>(parts.dtype);
  for (int64_t rank = 0; rank < parts.extents[0]; ++rank)
    all.push_back(static_cast<std::byte *>(parts.data) + rank * parts.extents[1] * sizeOf(type));
  kiln::combine(type, Reduction::Sum, all, into.data, into.extents[0]);
  ++combined;
}

Driver makeDriver() {
  Driver driver{};
  driver.deviceGetCount = [](int *count) { return *count = 1, 0; };
  driver.allocate = [](DevicePointer *memory, size_t bytes, Stream) {
    return *memory = reinterpret_cast<DevicePointer>(std::malloc(bytes)), 0;
  };
  driver.free = [](DevicePointer memory, Stream) {
    return std::free(reinterpret_cast<void *>(memory)), 0;
  };
  driver.copyOnDevice = [](DevicePointer to, DevicePointer from, size_t bytes, Stream) {
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return 0;
  };
  driver.streamSynchronize = [](Stream) { return 0; };
  driver.eventCreate = [](Event *, unsigned) { return 0; };
  driver.eventRecord = [](Event, Stream) { return 0; };
  driver.eventDestroy = [](Event) { return 0; };
  driver.eventQuery = [](Event) { return isStuck.load() ? kNotReady : 0; };
  driver.errorName = [](Result, const char **name) { return *name = "ERROR", 0; };
  driver.errorText = [](Result, const char **text) { return *text = "of the driver", 0; };
  driver.launchKernel = [](Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, Stream, void **parameters, void **) {
    return combineOnHost(static_cast<const std::byte *>(parameters[0])), 0;
  };
  return driver;
}

const Gpu &fakeGpu() {
  static Driver driver = makeDriver(); // once, whichever rank comes first
  static const Gpu gpu{&driver, 0, nullptr, 132};
  return gpu;
}

std::vector<LoadedKernel> combiningKernels() {
  std::vector<LoadedKernel> kernels;
  for (DType type : {DType::F32, DType::BF16, DType::I16}) {
    LoadedKernel kernel;
    kernel.description = {rankKernelName(type, Reduction::Sum), "k", "k.cubin", 256, 0, 2, 0, {}};
    kernels.push_back(kernel);
  }
  return kernels;
}

const Nccl &fakeNccl() {
  static Nccl nccl{};
  static const Status loaded = Nccl::load(KILN_FAKE_NCCL, nccl);
  EXPECT_TRUE(loaded.isOk()) << loaded.str();
  return nccl;
}
template <typename F> F fakeFunction(const char *name) {
  static void *library = dlopen(KILN_FAKE_NCCL, RTLD_NOW);
  return reinterpret_cast<F>(dlsym(library, name));
}
void reset(const char *fails = "", int error = 0) {
  fakeFunction<void (*)(const char *, int)>("fakeNcclReset")(fails, error);
  isStuck = false;
  combined = 0;
}
std::string calls() { return fakeFunction<const char *(*)()>("fakeNcclCalls")(); }
size_t count(const std::string &what) {
  std::string all = calls();
  size_t found = 0;
  for (size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1))
    ++found;
  return found;
}

/// Runs `body` on each rank, with communicators of its own.
Status runRanks(int32_t ranks, const std::function<Status(StreamCollectives &, int32_t)> &body) {
  fakeNccl();
  std::vector<LoadedKernel> kernels = combiningKernels();
  RankHub hub({ranks});
  return hub.runAll([&](int32_t rank, Transport &transport) -> Status {
    Expected<std::unique_ptr<NcclRanks>> nccl = NcclRanks::open(fakeNccl(), fakeGpu(), transport);
    if (!nccl)
      return nccl.status();
    StreamCollectives stream(fakeGpu(), {&transport, nccl->get()}, kernels, nullptr);
    Status done = stream.finish(body(stream, rank));
    Status ended = (*nccl)->synchronize(nullptr);
    return done.isOk() ? ended : done;
  });
}

class NcclOfRanks : public testing::TestWithParam<int32_t> {};

TEST_P(NcclOfRanks, EveryCollectiveDoesWhatItDoesElsewhere) {
  reset();
  int64_t n = GetParam();
  Status done = runRanks(GetParam(), [&](StreamCollectives &stream, int32_t rank) -> Status {
    Tensor x = filled({2, 3}, 100 * rank), all = filled({2 * n, 3}, -1);
    Tensor swapped = filled({2 * n, 3}, -1), sum = filled({2, 3}, -1), own = filled({1}, rank);
    Tensor total = filled({5}, rank);
    uint64_t number = 0;
    for (const CollectiveTask &task :
         {taskOf(CollectiveKind::AllGather, x, all), taskOf(CollectiveKind::AllToAll, all, swapped),
          taskOf(CollectiveKind::ReduceScatter, swapped, sum),
          taskOf(CollectiveKind::Broadcast, {}, own, n - 1),
          taskOf(CollectiveKind::AllReduce, {}, total),
          taskOf(CollectiveKind::RankBarrier, {}, {})})
      if (Status bad = stream.start(task, number++); !bad.isOk())
        return bad;
    for (int64_t from = 0; from < n; ++from) {
      EXPECT_EQ(*all.get({2 * from + 1, 2}), 100.0 * double(from) + 5);
      EXPECT_EQ(*swapped.get({2 * from + 1, 2}), 100.0 * rank + 5);
    }
    EXPECT_EQ(*sum.get({0, 0}), 50.0 * double(n * (n - 1)));
    EXPECT_EQ(*own.get({0}), double(n - 1));
    EXPECT_EQ(*total.get({4}), 4.0 * double(n) + double(n * (n - 1)) / 2);
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
  auto ranks = static_cast<size_t>(n);
  EXPECT_EQ(count("ncclAllReduce 5 type 7 op 0"), ranks);
  EXPECT_EQ(count("ncclReduceScatter 6 type 7 op 0"), ranks);
  EXPECT_EQ(count("ncclAllGather 24"), ranks);
  EXPECT_EQ(count("ncclBroadcast 4 from " + std::to_string(n - 1)), ranks);
  EXPECT_EQ(count("ncclCommInitRank"), ranks);
  EXPECT_EQ(count("ncclCommDestroy"), ranks);
  EXPECT_EQ(count("alone"), 0u); // messages are in groups
  EXPECT_EQ(combined.load(), 0);
}

TEST_P(NcclOfRanks, SumsThatNcclRoundsOtherwiseAreCombinedInOrder) {
  reset();
  int64_t n = GetParam();
  Status done = runRanks(GetParam(), [&](StreamCollectives &stream, int32_t rank) -> Status {
    Tensor fixed = filled({7}, rank), half = filled({7}, rank, DType::BF16);
    Tensor few = filled({1}, rank), parts = filled({2 * n}, rank), mine = filled({2}, -1);
    CollectiveTask inOrder = taskOf(CollectiveKind::AllReduce, {}, fixed);
    CollectiveTask scatter = taskOf(CollectiveKind::ReduceScatter, parts, mine);
    CollectiveTask one = taskOf(CollectiveKind::AllReduce, {}, few);
    inOrder.fixedOrder = scatter.fixedOrder = one.fixedOrder = true;
    uint64_t number = 0;
    for (const CollectiveTask &task :
         {inOrder, taskOf(CollectiveKind::AllReduce, {}, half), scatter, one})
      if (Status bad = stream.start(task, number++); !bad.isOk())
        return bad;
    double others = double(n * (n - 1)) / 2;
    for (int64_t i = 0; i < 7; ++i) {
      EXPECT_EQ(*fixed.get({i}), double(i * n) + others);
      EXPECT_EQ(*half.get({i}), double(i * n) + others);
    }
    EXPECT_EQ(*few.get({0}), others);
    EXPECT_EQ(*mine.get({1}), double((2 * rank + 1) * n) + others);
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
  EXPECT_EQ(count("ncclAllReduce") + count("ncclReduceScatter"), 0u);
  EXPECT_GE(combined.load(), 3 * n);
}

TEST_P(NcclOfRanks, ViewsWithGapsTravel) {
  reset();
  Status done = runRanks(GetParam(), [&](StreamCollectives &stream, int32_t rank) -> Status {
    Tensor whole = filled({4, 6}, rank);
    if (Status bad =
            stream.start(taskOf(CollectiveKind::AllReduce, {}, *whole.slice({0, 1}, {4, 2})), 0);
        !bad.isOk())
      return bad;
    EXPECT_EQ(*whole.get({1, 1}), 7.0 * GetParam() + GetParam() * (GetParam() - 1) / 2.0);
    EXPECT_EQ(*whole.get({1, 3}), 9.0 + rank); // beside the view
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
}

INSTANTIATE_TEST_SUITE_P(Counts, NcclOfRanks, testing::Values(1, 2, 3, 4));

TEST(Nccl, GroupsOfAMeshHaveCommunicatorsOfTheirOwn) {
  reset();
  Status done = runRanks(4, [&](StreamCollectives &stream, int32_t rank) -> Status {
    Tensor x = filled({1}, rank);
    CollectiveTask task = taskOf(CollectiveKind::AllReduce, {}, x);
    task.group = {1, {2, 2}};
    if (Status bad = stream.start(task, 0); !bad.isOk())
      return bad;
    EXPECT_EQ(*x.get({0}), rank < 2 ? 1.0 : 5.0);
    return stream.start(task, 1); // the same communicator
  });
  EXPECT_TRUE(done.isOk()) << done.str();
  EXPECT_EQ(count("of 4"), 4u);
  EXPECT_EQ(count("of 2"), 4u);
}

TEST(Nccl, MessagesWaitForEachOtherAndAreLaunchedTogether) {
  reset();
  Status done = runRanks(3, [&](StreamCollectives &stream, int32_t rank) -> Status {
    Tensor mine = filled({4}, 10 * rank), theirs = filled({4}, -1), apart = filled({4}, 0);
    if (Status bad = stream.start(taskOf(CollectiveKind::Send, mine, {}, (rank + 1) % 3), 0);
        !bad.isOk())
      return bad;
    // A kernel that needs neither goes ahead.
    const kiln_tensor other[] = {apart.toAbi()};
    if (Status bad = stream.before({}, other, {}); !bad.isOk())
      return bad;
    if (Status bad = stream.start(taskOf(CollectiveKind::Recv, {}, theirs, (rank + 2) % 3), 1);
        !bad.isOk())
      return bad;
    const kiln_tensor read[] = {theirs.toAbi()};
    if (Status bad = stream.before(read, {}, {}); !bad.isOk())
      return bad;
    EXPECT_EQ(*theirs.get({1}), 10.0 * ((rank + 2) % 3) + 1);
    return Status::ok();
  });
  EXPECT_TRUE(done.isOk()) << done.str();
  EXPECT_EQ(count("ncclGroupStart"), 3u); // not one for each send and each recv
  EXPECT_EQ(count("alone"), 0u);
}

TEST(Nccl, MessagesAreLaunchedForWhoWritesTheirMemoryOrComesAfterThem) {
  for (bool writes : {false, true}) {
    reset();
    Status done = runRanks(2, [&](StreamCollectives &stream, int32_t rank) -> Status {
      Tensor x = filled({4}, rank);
      CollectiveTask task = rank == 0 ? taskOf(CollectiveKind::Send, x, {}, 1)
                                      : taskOf(CollectiveKind::Recv, {}, x, 0);
      if (Status bad = stream.start(task, 7); !bad.isOk())
        return bad;
      const kiln_tensor memory[] = {x.toAbi()};
      const uint64_t deps[] = {7};
      return writes ? stream.before({}, memory, {}) : stream.before({}, {}, deps);
    });
    EXPECT_TRUE(done.isOk()) << done.str();
    EXPECT_EQ(count("ncclGroupStart"), 2u);
  }
}

TEST(Nccl, WhatCannotBeIsRefusedBeforeNcclIsAsked) {
  reset();
  Status done = runRanks(2, [&](StreamCollectives &stream, int32_t) -> Status {
    return stream.start(taskOf(CollectiveKind::Broadcast, {}, filled({1}, 0), 2), 0);
  });
  EXPECT_NE(done.str().find("the root is rank 2, but there are ranks 0 to 1"), std::string::npos)
      << done.str();
  EXPECT_EQ(count("ncclBroadcast"), 0u);
}

TEST(Nccl, RanksThatDoDifferentThingsFailWithBothLines) {
  reset();
  isStuck = true; // as a stream is on which NCCL waits
  Status done = runRanks(2, [&](StreamCollectives &stream, int32_t rank) -> Status {
    Tensor x = filled({4}, rank);
    CollectiveTask task = taskOf(CollectiveKind::AllReduce, {}, x);
    task.how = rank == 0 ? Reduction::Sum : Reduction::Prod;
    task.loc.line = rank + 1;
    if (Status bad = stream.start(task, 0); !bad.isOk())
      return bad;
    return stream.synchronize();
  });
  EXPECT_NE(done.str().find("sum, all_reduce of f32[4] at ranks.mlir:1"), std::string::npos)
      << done.str();
  EXPECT_NE(done.str().find("prod, all_reduce of f32[4] at ranks.mlir:2"), std::string::npos);
  EXPECT_EQ(count("ncclCommAbort"), 2u);
}

TEST(Nccl, AnErrorThatShowsLaterEndsTheWait) {
  reset("", /*ncclRemoteError*/ 6);
  isStuck = true;
  Status done = runRanks(
      2, [&](StreamCollectives &stream, int32_t) -> Status { return stream.synchronize(); });
  EXPECT_NE(done.str().find("NCCL, while ranks were waiting for each other: remote process exited "
                            "(no route to host)"),
            std::string::npos)
      << done.str();
  EXPECT_EQ(count("ncclCommAbort"), 2u);
  EXPECT_EQ(count("ncclCommDestroy"), 0u);
}

TEST(Nccl, ACallThatFailsNamesItselfAndItsLine) {
  reset("ncclAllReduce");
  Status done = runRanks(2, [&](StreamCollectives &stream, int32_t rank) -> Status {
    return stream.start(taskOf(CollectiveKind::AllReduce, {}, filled({4}, rank)), 0);
  });
  EXPECT_NE(done.str().find("ranks.mlir:10"), std::string::npos) << done.str();
  EXPECT_NE(done.str().find("ncclAllReduce: unhandled system error (no route to host)"),
            std::string::npos);
  EXPECT_EQ(count("ncclCommAbort"), 2u);
}

TEST(Nccl, ACommunicatorThatCannotBeMadeSaysHowToLearnMore) {
  for (const char *call : {"ncclCommInitRank", "ncclGetUniqueId"}) {
    reset(call);
    Status done = runRanks(2, [&](StreamCollectives &, int32_t) { return Status::ok(); });
    EXPECT_NE(done.str().find(call), std::string::npos) << done.str();
    EXPECT_NE(done.str().find("unhandled system error"), std::string::npos) << done.str();
  }
}

TEST(Nccl, AnOrchestrationThatFailsAbortsWhatOthersWaitFor) {
  reset();
  Status done = runRanks(2, [&](StreamCollectives &stream, int32_t rank) -> Status {
    if (rank == 1)
      return Status(StatusCode::InvalidArgument, "this rank has had enough");
    return stream.start(taskOf(CollectiveKind::RankBarrier, {}, {}), 0);
  });
  EXPECT_NE(done.str().find("this rank has had enough"), std::string::npos) << done.str();
  EXPECT_EQ(count("ncclCommAbort"), 2u);
}

TEST(Nccl, AMissingKernelIsNamed) {
  reset();
  Status done = runRanks(2, [&](StreamCollectives &stream, int32_t rank) -> Status {
    CollectiveTask task = taskOf(CollectiveKind::AllReduce, {}, filled({4}, rank));
    task.how = Reduction::Max;
    return stream.start(task, 0);
  });
  EXPECT_NE(done.str().find("no kernel 'ranks.max.f32'"), std::string::npos) << done.str();
}

TEST(Nccl, LibrariesThatAreMissingOrOldSayWhatToInstall) {
  Nccl nccl{};
  Status missing = Nccl::load("/nowhere/libnccl.so.2", nccl);
  EXPECT_EQ(missing.code(), StatusCode::NotFound);
  EXPECT_NE(missing.message().find("install NCCL 2.10 or newer"), std::string::npos);
  Status old = Nccl::load(KILN_OLD_NCCL, nccl);
  EXPECT_EQ(old.code(), StatusCode::Unsupported);
  EXPECT_NE(old.message().find("is NCCL 2.8.4, which is too old; install NCCL 2.10 or newer"),
            std::string::npos)
      << old.message();
  Status other = Nccl::load("libm.so.6", nccl);
  EXPECT_NE(other.message().find("it has no ncclGetVersion, ncclGetUniqueId"), std::string::npos)
      << other.message();
}

TEST(Nccl, WithoutOtherRanksNothingOfItIsNeeded) {
  std::vector<LoadedKernel> none;
  StreamCollectives stream(fakeGpu(), {}, none, nullptr);
  Tensor x = filled({3}, 5), y = filled({3}, -1);
  EXPECT_EQ(stream.ranks(), 1);
  EXPECT_TRUE(stream.start(taskOf(CollectiveKind::AllReduce, {}, x), 0).isOk());
  EXPECT_TRUE(stream.start(taskOf(CollectiveKind::AllGather, x, y), 1).isOk());
  EXPECT_TRUE(stream.start(taskOf(CollectiveKind::RankBarrier, {}, {}), 2).isOk());
  EXPECT_EQ(*y.get({2}), 7.0);
  EXPECT_TRUE(stream.finish(Status::ok()).isOk());
  Expected<NcclRanks *> ranks = NcclRanks::ofProcess(fakeGpu(), aloneTransport());
  ASSERT_TRUE(ranks);
  EXPECT_EQ(*ranks, nullptr);
}

TEST(Nccl, KernelsThatCombineComeBehindThoseThatAreLaunched) {
  NativeInfo info;
  info.kind = NativeInfo::Kind::Orchestration;
  CudaKernel good{rankKernelName(DType::F32, Reduction::Sum), "k", "k.cubin", 256, 0, 2, 0, {}};
  EXPECT_TRUE(verifyCudaKernels({good}, info).isOk());
  CudaKernel other = good;
  other.name = "sum";
  EXPECT_FALSE(verifyCudaKernels({other}, info).isOk());
  other = good;
  other.numTensors = 3;
  EXPECT_FALSE(verifyCudaKernels({other}, info).isOk());
  other = good;
  other.threads = 0;
  EXPECT_FALSE(verifyCudaKernels({other}, info).isOk());
}

} // namespace
