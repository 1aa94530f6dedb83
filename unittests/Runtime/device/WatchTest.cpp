// Kernels that do not end, on a driver whose counts are what the test says.
#include "TestSupport.h"

#include "device/cuda/Progress.h"

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::cuda;

namespace {

std::atomic<unsigned> begun{0}, ended{0};
std::atomic<int> looks{0};
std::atomic<bool> answers{true};
std::atomic<int> captureMode{0};

Driver fakeDriver() {
  Driver driver{};
  driver.contextGetCurrent = [](Context *context) {
    *context = nullptr; // that of the GPU
    return 0;
  };
  driver.streamCreate = [](Stream *stream, unsigned flags) {
    EXPECT_EQ(flags, 1U) << "it would wait for others";
    *stream = reinterpret_cast<Stream>(1);
    return 0;
  };
  driver.hostAllocate = [](void **memory, size_t bytes, unsigned) {
    *memory = std::calloc(1, bytes);
    return 0;
  };
  driver.copyToHost = [](void *to, DevicePointer, size_t bytes, Stream stream) {
    EXPECT_NE(stream, nullptr);
    EXPECT_EQ(captureMode, kCaptureRelaxed) << "what others capture would be spoiled";
    EXPECT_EQ(bytes, sizeof(WatchedKernel::Counts));
    *static_cast<WatchedKernel::Counts *>(to) = {begun, ended};
    ++looks;
    return 0;
  };
  driver.eventCreate = [](Event *event, unsigned flags) {
    EXPECT_EQ(flags, kEventWithoutTime);
    *event = reinterpret_cast<Event>(1);
    return 0;
  };
  driver.eventRecord = [](Event, Stream) { return 0; };
  driver.eventQuery = [](Event) { return answers ? 0 : kNotReady; };
  driver.exchangeCaptureMode = [](int *mode) {
    *mode = captureMode.exchange(*mode);
    return 0;
  };
  return driver;
}

/// Made once: the watch looks at it at any time.
const Gpu &fakeGpu() {
  static const Driver driver = fakeDriver();
  static const Gpu gpu{&driver, 0, nullptr, 132};
  return gpu;
}

void sleepFor(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

struct GpuProgress : ::testing::Test {
  GpuProgress() {
    begun = ended = 0;
    looks = 0;
    answers = true;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  static std::unique_ptr<WatchedKernel> watch() {
    return std::make_unique<WatchedKernel>(fakeGpu(), 64, 1, [] {
      return std::string("program 'twice': kernel 'scale', grid [12, 5, 1]");
    });
  }
};

TEST_F(GpuProgress, AKernelThatDoesNotEndEndsTheProcessWithWhatIsKnown) {
  EXPECT_EXIT(
      {
        auto watched = watch();
        begun = 396;
        ended = 394;
        sleepFor(20);
      },
      testing::ExitedWithCode(1),
      "a kernel has not ended after 1 s\n"
      "  program 'twice': kernel 'scale', grid \\[12, 5, 1\\]\n"
      "  2 of its roles run on GPU 0, and none has begun or ended for 1\\.[0-9] s\n"
      "  kiln check PROG .*\n"
      "  nothing stops a kernel but the end of the process; KILN_GPU_TIMEOUT=SECONDS says when "
      "that "
      "is, and 0 never; now it is 1\n");
}

TEST_F(GpuProgress, WhatMovesGoesOnForAsLongAsItLikes) {
  auto watched = watch();
  for (int step = 1; step <= 8; ++step) { // counts go round
    begun = 0xfffffffe + unsigned(step);
    sleepFor(0.15);
    ended = 0xfffffffd + unsigned(step);
    sleepFor(0.15);
  }
  EXPECT_GT(looks, 10);
  EXPECT_EQ(captureMode, 0) << "the mode is as it was";
}

TEST_F(GpuProgress, WhatHasEndedIsIdleForAsLongAsItLikes) {
  auto watched = watch();
  begun = ended = 7;
  sleepFor(2);
  EXPECT_GT(looks, 10);
}

TEST_F(GpuProgress, AGpuThatDoesNotAnswerIsNotJudged) {
  answers = false;
  begun = 3;
  auto watched = watch();
  sleepFor(2.5);
  EXPECT_GT(looks, 0);
}

TEST_F(GpuProgress, AForkLetsGoWhileTheThreadLooks) {
  answers = false; // so it looks for long
  auto watched = watch();
  while (looks == 0)
    sleepFor(0.01);
  pid_t child = fork();
  if (child == 0) {
    alarm(5);
    watched.reset();
    std::exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST_F(GpuProgress, WhatIsUnloadedIsLookedAtNoMore) {
  begun = 3;
  watch().reset();
  looks = 0;
  sleepFor(1.5);
  EXPECT_EQ(looks, 0);
}

} // namespace
