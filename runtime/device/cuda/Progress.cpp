#include "Progress.h"

#include "Watch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::cuda;
using Clock = std::chrono::steady_clock;
using Counts = WatchedKernel::Counts;

struct WatchedKernel::State {
  const Gpu &gpu;
  DevicePointer counts;
  std::chrono::seconds limit;
  std::function<std::string()> describe;
  Counts last{0, 0};
  /// Since when something has been seen running, and nothing moving.
  std::optional<Clock::time_point> since = {};
  int looks = 0; ///< Since then.

  void note(Counts now) {
    bool hasMoved = now.begun != last.begun || now.ended != last.ended;
    last = now;
    if (now.begun == now.ended) {
      since.reset();
    } else if (!since || hasMoved) {
      since = Clock::now();
      looks = 0;
    } else {
      ++looks;
    }
  }
  /// The process may have been stopped between two looks.
  bool isTooLong() const { return since && looks >= 3 && Clock::now() - *since > limit; }
};

namespace {

/// What reads counts on one GPU.
struct Reader {
  Stream stream = nullptr;
  Event done = nullptr;
  Counts *counts = nullptr; ///< In memory of the host that the copy engine writes.

  Result start(const Driver &cuda) {
    void *memory = nullptr;
    Result result = stream ? 0 : cuda.streamCreate(&stream, 1); // waits for no other
    result = result || done ? result : cuda.eventCreate(&done, kEventWithoutTime);
    result = result || counts ? result : cuda.hostAllocate(&memory, sizeof(Counts), 0);
    if (memory)
      counts = static_cast<Counts *>(memory);
    return result;
  }

  /// Nothing if the GPU does not answer soon.
  std::optional<Counts> read(const Driver &cuda, DevicePointer from) {
    if (start(cuda) != 0 || cuda.copyToHost(counts, from, sizeof(Counts), stream) != 0 ||
        cuda.eventRecord(done, stream) != 0)
      return std::nullopt;
    for (int tries = 0; tries < 1000; ++tries) {
      Result result = cuda.eventQuery(done);
      if (result == 0)
        return *counts;
      if (result != kNotReady)
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return std::nullopt;
  }
};

class ProgressWatch {
public:
  static ProgressWatch &get() {
    static auto *watch = new ProgressWatch; // never destroyed: its thread outlives main
    return *watch;
  }

  void add(std::shared_ptr<WatchedKernel::State> kernel) {
    if (isForked())
      return;
    std::lock_guard lock(Mutex);
    Kernels.push_back(std::move(kernel));
    Added.notify_one();
  }
  void remove(const std::shared_ptr<WatchedKernel::State> &kernel) {
    if (isForked())
      return;
    std::lock_guard lock(Mutex);
    Kernels.remove(kernel);
  }

private:
  ProgressWatch() {
    // Before the driver goes, which was there first.
    std::atexit([] { get().stop(); });
    std::thread([this] { watch(); }).detach();
  }
  void stop() {
    if (isForked())
      return;
    std::lock_guard lock(Mutex);
    IsOver = true;
  }

  [[noreturn]] void watch() {
    while (true) {
      std::unique_lock lock(Mutex);
      Added.wait(lock, [&] { return !Kernels.empty(); });
      auto period = std::chrono::milliseconds(5000);
      if (!IsOver)
        for (const auto &kernel : Kernels) {
          look(*kernel);
          period = std::min(period, std::chrono::milliseconds(kernel->limit) / 8);
        }
      lock.unlock();
      std::this_thread::sleep_for(period);
    }
  }

  void look(WatchedKernel::State &kernel) {
    const Driver &cuda = *kernel.gpu.driver;
    CurrentGpu current(kernel.gpu);
    // Looking must not spoil what another thread captures.
    int mode = kCaptureRelaxed;
    cuda.exchangeCaptureMode(&mode);
    if (std::optional<Counts> now = Readers[kernel.gpu.number].read(cuda, kernel.counts))
      kernel.note(*now);
    cuda.exchangeCaptureMode(&mode);
    if (kernel.isTooLong())
      endProcess(kernel);
  }

  [[noreturn]] static void endProcess(const WatchedKernel::State &kernel) {
    std::chrono::duration<double> seen = Clock::now() - *kernel.since;
    char numbers[160];
    std::snprintf(numbers, sizeof numbers,
                  "%u of its roles run on GPU %d, and none has begun or ended for %.1f s",
                  kernel.last.begun - kernel.last.ended, kernel.gpu.number, seen.count());
    std::string seconds = std::to_string(kernel.limit.count());
    std::string report = "kiln: error: a kernel has not ended after " + seconds + " s\n  " +
                         kernel.describe() + "\n  " + numbers + "\n  " + kHangAdvice +
                         "\n  nothing stops a kernel but the end of the process; "
                         "KILN_GPU_TIMEOUT=SECONDS says when that is, and 0 never; now it is " +
                         seconds + "\n";
    (void)!write(STDERR_FILENO, report.data(), report.size());
    _exit(1);
  }

  /// In a process that was forked there is no thread that watches, and no GPU either; the lock may
  /// be one that is never given back.
  bool isForked() const { return getpid() != Process; }

  const pid_t Process = getpid();
  std::mutex Mutex;
  std::condition_variable Added;
  std::list<std::shared_ptr<WatchedKernel::State>> Kernels;
  Reader Readers[kMaxGpus];
  bool IsOver = false;
};

} // namespace

WatchedKernel::WatchedKernel(const Gpu &gpu, DevicePointer counts, uint64_t seconds,
                             std::function<std::string()> describe)
    : Known(std::make_shared<State>(gpu, counts, std::chrono::seconds(seconds),
                                    std::move(describe))) {
  ProgressWatch::get().add(Known);
}

WatchedKernel::~WatchedKernel() { ProgressWatch::get().remove(Known); }
