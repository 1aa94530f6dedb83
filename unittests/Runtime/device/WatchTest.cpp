// Kernels that do not end, on a driver whose events are over when the test says so.
#include "TestSupport.h"

#include "device/cuda/Watch.h"

#include <chrono>
#include <set>
#include <thread>

using namespace kiln;
using namespace kiln::cuda;

namespace {

std::atomic<int> created{0}, destroyed{0};
std::atomic<intptr_t> over{0}; ///< Events up to this one are.
std::atomic<bool> isCapturing{false};
std::atomic<int> captureMode{0};

Driver fakeDriver() {
  Driver driver{};
  driver.contextGetCurrent = [](Context *context) {
    *context = nullptr; // that of the GPU
    return 0;
  };
  driver.launchKernel = [](Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, Stream, void **, void **) { return 0; };
  driver.eventCreate = [](Event *event, unsigned flags) {
    EXPECT_EQ(flags, kEventWithoutTime);
    *event = reinterpret_cast<Event>(intptr_t(++created));
    return 0;
  };
  driver.eventDestroy = [](Event) {
    ++destroyed;
    return 0;
  };
  driver.eventRecord = [](Event, Stream) { return 0; };
  driver.eventQuery = [](Event event) {
    return reinterpret_cast<intptr_t>(event) <= over ? 0 : kNotReady;
  };
  driver.streamIsCapturing = [](Stream, int *status) {
    *status = isCapturing ? 1 : 0;
    return 0;
  };
  driver.exchangeCaptureMode = [](int *mode) {
    *mode = captureMode.exchange(*mode);
    return 0;
  };
  return driver;
}

/// Made once: the watchdog looks at it at any time.
const Gpu &fakeGpu() {
  static const Driver driver = fakeDriver();
  static const Gpu gpu{&driver, 0, nullptr, 132};
  return gpu;
}

/// A program of one kernel.
NativeInfo scaleInfo() {
  NativeInfo info;
  info.kind = NativeInfo::Kind::Orchestration;
  Signature main{"main", "mix", {}, {}}, scale{"scale", "mix", {}, {{"n", DType::Index}}};
  for (const char *name : {"x", "y"})
    scale.tensors.push_back(TensorParam::dynamic(name, DType::BF16, 2, Direction::In));
  info.entry = {"main", "main", 0, main};
  info.kernels.push_back({"scale", "scale", 0, scale});
  return info;
}

/// Launches it so often, and goes.
void launch(int count, uint64_t seconds) {
  NativeInfo info = scaleInfo();
  WatchedCall watched(fakeGpu(), info, "twice", nullptr, seconds);
  LoadedKernel kernel;
  kernel.description = {"scale", "s", "s.cubin", 384, 0, 2, 1, {}};
  kiln_tensor tensors[2] = {};
  for (kiln_tensor &tensor : tensors)
    tensor = {nullptr, {300, 200, 1, 1, 1}, {200, 1, 0, 0, 0}, KILN_BF16, 2, 0};
  const uint64_t number[] = {7};
  const int64_t grid[] = {12, 5, 1};
  for (int i = 0; i < count; ++i)
    EXPECT_TRUE(launchKernel(fakeGpu(), kernel, tensors, number, grid, {nullptr, &watched}).isOk());
}

void expectAllDestroyed() {
  for (int i = 0; i < 100 && destroyed != created; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(destroyed, created);
}

struct CudaWatch : ::testing::Test {
  CudaWatch() {
    over = created.load();
    isCapturing = false;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(CudaWatch, AKernelThatDoesNotEndEndsTheProcessWithWhatIsKnown) {
  EXPECT_EXIT(
      {
        launch(3, 1);
        over = 2; // the call has begun, and its first kernel has ended
        std::this_thread::sleep_for(std::chrono::seconds(20));
      },
      testing::ExitedWithCode(1),
      "a kernel has not ended after 1 s\n"
      "  launch 2 of 3 of program 'twice' on GPU 0, launched 1\\.[0-9] s ago and seen running for "
      "1\\.[0-9] s: kernel 'scale', "
      "grid \\[12, 5, 1\\] by 60 blocks of 384 threads; x bf16\\[300, 200\\], y bf16\\[300, "
      "200\\], n 7\n"
      "  kiln check PROG .*\n"
      "  nothing stops a kernel but the end of the process; KILN_GPU_TIMEOUT=1 is the limit");
}

TEST_F(CudaWatch, WorkOfOthersInTheStreamDoesNotCount) {
  launch(1, 1); // the stream has not come to the call
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  over = created.load();
  expectAllDestroyed();
}

TEST_F(CudaWatch, EachKernelHasTheWholeTime) {
  int before = created;
  launch(4, 1);
  for (int ended = 1; ended <= 5; ++ended) {
    over = before + ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  expectAllDestroyed();
  EXPECT_EQ(captureMode, 0) << "what others capture is left alone, and the mode as it was";
}

TEST_F(CudaWatch, WhatIsCapturedIsNotWatched) {
  isCapturing = true;
  int before = created;
  launch(2, 1);
  EXPECT_EQ(created, before);
}

} // namespace
