// Runs that end early: by a signal, or because they take too long. Each runs in a process of its
// own, as a tool does.
#include "TestSupport.h"

#include "kiln/runtime/interrupt.h"

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <thread>

using namespace kiln;
using namespace kiln::test;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

int32_t sleepForever(const kiln_args *, const kiln_blocks *, kiln_context *) {
  while (true)
    std::this_thread::sleep_for(std::chrono::seconds(1));
}
int32_t sleepALittle(const kiln_args *, const kiln_blocks *, kiln_context *) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return 0;
}

struct InterruptTest : testing::Test {
  struct End {
    int code = -1; ///< Of the process; -n: killed by signal n.
    double seconds = 0;
    std::string errors;
  };

  /// What a tool would do: submit tasks until something is wrong, then say what.
  int runTasks(const std::string &kernel, unsigned workers, uint64_t timeout = 0) {
    int count = kernel == "forever" ? 1 : 2000;
    KernelRegistry registry;
    addKernel(registry, "forever", sleepForever, {param("x", Direction::InOut, 1)});
    addKernel(registry, "little", sleepALittle, {param("x", Direction::InOut, 1)});
    EngineOptions options;
    options.workers = workers;
    auto engine = take(Engine::create(registry, options));
    Tensor x = zeros(DType::F32, {4});
    EXPECT_OK(engine->begin({"prog", "cpu", {2, dir.str()}, false}));
    Status status;
    {
      TimeLimit limit(timeout, "the run");
      for (int i = 0; i < count && status.isOk(); ++i)
        status = engine->submit(Task(kernel).addInout(x)).status();
      Status finished = engine->finish();
      if (status.isOk())
        status = finished;
    }
    std::fprintf(stderr, "%s\n", status.str().c_str());
    EXPECT_FALSE(isInterrupted() && timeout != 0) << "it is over once the limit is gone";
    return exitCodeAfterSignals(status.isOk() ? 0 : 1);
  }

  /// Runs `body` in a process, sends it `signal` (0: none) once its dump has begun, and waits.
  template <typename Body> End inProcess(int signal, Body body, int times = 1) {
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      (void)!std::freopen((dir / "errors").c_str(), "w", stderr);
      handleSignals();
      int code = body();
      std::fflush(stderr);
      _exit(code);
    }
    while (!hasTemporary())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    Clock::time_point start = Clock::now();
    for (int i = 0; i < times && signal != 0; ++i)
      kill(child, signal);
    int state = 0;
    waitpid(child, &state, 0);
    End end;
    end.code = WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
    end.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    end.errors = readText(dir / "errors");
    return end;
  }

  bool hasTemporary() {
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(dir / "tensor_dump", error))
      if (contains(entry.path().filename().string(), ".tmp"))
        return true;
    return false;
  }

  /// A dump that can be read, and nothing else.
  Json readDump() {
    EXPECT_FALSE(hasTemporary());
    EXPECT_TRUE(DumpFile::open(dir.str()));
    return Json::parse(readText(dir / "tensor_dump/tensor_dump.json"));
  }

  TempDir dir;
};

// Generous, for machines that are busy: what is meant is a second.
constexpr double soon = 5;

TEST_F(InterruptTest, SignalsStopARunAndLeaveItsDump) {
  for (unsigned workers : {1u, 3u})
    for (auto [signal, name] : {std::pair{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}}) {
      End end = inProcess(signal, [&] { return runTasks("little", workers); });
      EXPECT_EQ(end.code, 128 + signal) << end.errors;
      EXPECT_LT(end.seconds, soon);
      EXPECT_TRUE(contains(end.errors, name)) << end.errors;
      Json run = readDump()["run"];
      EXPECT_EQ(run["status"], "interrupted");
      EXPECT_TRUE(contains(run["error"], name)) << run["error"];
    }
}

TEST_F(InterruptTest, AKernelThatNeverReturnsIsNotWaitedFor) {
  for (unsigned workers : {1u, 3u}) {
    End end = inProcess(SIGTERM, [&] { return runTasks("forever", workers); });
    EXPECT_EQ(end.code, 128 + SIGTERM) << end.errors;
    EXPECT_LT(end.seconds, soon);
    EXPECT_TRUE(contains(end.errors, "still running: kernel 'forever' (task 0)")) << end.errors;
    EXPECT_TRUE(contains(end.errors, "the dump of what ran is in")) << end.errors;
    Json manifest = readDump();
    EXPECT_EQ(manifest["run"]["status"], "interrupted");
    ASSERT_EQ(manifest["entries"].size(), 1u) << "what the task that hangs was given";
    EXPECT_EQ(manifest["entries"][0]["stage"], "before_dispatch");
  }
}

TEST_F(InterruptTest, TheSameSignalTwiceIsOne) {
  End end = inProcess(SIGTERM, [&] { return runTasks("forever", 1); }, /*times=*/3);
  EXPECT_EQ(end.code, 128 + SIGTERM) << end.errors;
  EXPECT_EQ(readDump()["run"]["status"], "interrupted");
}

TEST_F(InterruptTest, TimeLimitsEndRunsThatNeverDo) {
  End end = inProcess(0, [&] { return runTasks("forever", 2, /*timeout=*/1); });
  EXPECT_EQ(end.code, 1) << end.errors;
  EXPECT_TRUE(contains(end.errors, "the run took longer than 1 s")) << end.errors;
  EXPECT_TRUE(contains(end.errors, "--timeout")) << end.errors;
  EXPECT_TRUE(contains(end.errors, "kernel 'forever' (task 0)")) << end.errors;
  EXPECT_EQ(readDump()["run"]["status"], "interrupted");
}

TEST_F(InterruptTest, WhatStopsInTimeGoesOn) {
  End end = inProcess(0, [&] { return runTasks("little", 2, /*timeout=*/1); });
  EXPECT_EQ(end.code, 1) << end.errors;
  EXPECT_TRUE(contains(end.errors, "the run took longer than 1 s")) << end.errors;
  EXPECT_TRUE(contains(end.errors, "kernel 'little', was the first that did not run"))
      << end.errors;
  EXPECT_EQ(readDump()["run"]["status"], "interrupted");
}

TEST_F(InterruptTest, LeavingsOfKilledRunsAreSwept) {
  for (int round = 0; round < 20; ++round) {
    End end = inProcess(SIGKILL, [&] { return runTasks("little", 2); });
    EXPECT_EQ(end.code, -SIGKILL);
    EXPECT_TRUE(hasTemporary()) << "nobody can help that";
  }
  KernelRegistry registry;
  addBasicKernels(registry);
  auto engine = makeEngine(registry);
  EXPECT_OK(engine->begin({"prog", "cpu", {2, dir.str()}, false}));
  EXPECT_OK(engine->finish());
  EXPECT_EQ(readDump()["run"]["status"], "ok");
}

} // namespace
