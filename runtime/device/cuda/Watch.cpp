#include "Watch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace kiln;
using namespace kiln::cuda;
using Clock = std::chrono::steady_clock;

static constexpr auto period = std::chrono::milliseconds(50);

struct WatchedCall::Launches {
  struct One {
    Event end;
    std::string what;
    Clock::time_point when = Clock::now();
  };
  Launches(const Gpu &on, std::string called, uint64_t seconds)
      : gpu(on), program(std::move(called)), limit(seconds) {}

  const Gpu &gpu;
  std::string program;
  std::chrono::seconds limit;
  bool isComplete = false; ///< Nothing more will be launched.
  Event begin = nullptr;   ///< The stream has come to this call.
  bool hasBegun = false;
  std::vector<One> launched;
  size_t ended = 0;
  /// Since when the first that has not ended has been seen running.
  std::optional<Clock::time_point> since;

  bool isOver(Event event) const { return gpu.driver->eventQuery(event) != kNotReady; }

  /// Looks how far the GPU has come.
  void look() {
    hasBegun = hasBegun || isOver(begin);
    if (!hasBegun)
      return;
    while (ended < launched.size() && isOver(launched[ended].end)) {
      ++ended;
      since.reset();
    }
    if (ended < launched.size() && !since)
      since = Clock::now();
  }

  bool isTooLong() const { return limit.count() > 0 && since && Clock::now() - *since > limit; }

  /// "launch 2 of 3 of program 'p' on GPU 0, launched 1.3 s ago and seen running for 1.2 s: ..."
  std::string describe() const {
    auto secondsSince = [](Clock::time_point then) {
      std::chrono::duration<double> passed = Clock::now() - then;
      char text[32];
      std::snprintf(text, sizeof text, "%.1f s", passed.count());
      return std::string(text);
    };
    const One &one = launched[ended];
    return "launch " + std::to_string(ended + 1) + " of " + std::to_string(launched.size()) +
           " of program '" + program + "' on GPU " + std::to_string(gpu.number) + ", launched " +
           secondsSince(one.when) + " ago" +
           (since ? " and seen running for " + secondsSince(*since) : "") + ": " + one.what;
  }
};

namespace {

/// Advice for whoever has a kernel that does not end.
constexpr const char *advice =
    "kiln check PROG looks for pipes and barriers at which somebody waits forever; kiln run PROG "
    "-p h200 compiles kernels that end where they wait in vain, and says what for";

class Watchdog {
public:
  static Watchdog &get() {
    static auto *watchdog = new Watchdog; // never destroyed: its thread outlives main
    return *watchdog;
  }

  void add(std::shared_ptr<WatchedCall::Launches> call) {
    std::lock_guard lock(Mutex);
    Calls.push_back(std::move(call));
    Added.notify_one();
  }

  template <typename Change> void change(Change change) {
    std::lock_guard lock(Mutex);
    change();
  }

  /// Nothing more comes. What has ended by now is forgotten by now.
  void finish(const std::shared_ptr<WatchedCall::Launches> &call) {
    std::lock_guard lock(Mutex);
    call->isComplete = true;
    if (lookAt(*call))
      Calls.remove(call);
  }

  std::string describe() {
    std::unique_lock lock(Mutex, std::try_to_lock);
    if (!lock)
      return ""; // the thread looks right now, at a GPU that does not answer
    std::string text;
    for (const auto &call : Calls) {
      CurrentGpu current(call->gpu);
      call->look();
      if (call->ended < call->launched.size())
        text += (text.empty() ? "" : "\n  ") + call->describe();
    }
    return text.empty() ? text : text + "\n  " + advice;
  }

private:
  Watchdog() {
    std::thread([this] { watch(); }).detach();
  }

  [[noreturn]] void watch() {
    while (true) {
      std::unique_lock lock(Mutex);
      Added.wait(lock, [&] { return std::ranges::any_of(Calls, hasLimit); });
      Calls.remove_if([](const auto &call) { return hasLimit(call) && lookAt(*call); });
      lock.unlock();
      std::this_thread::sleep_for(period);
    }
  }

  /// Others are waited for by who launched them.
  static bool hasLimit(const std::shared_ptr<WatchedCall::Launches> &call) {
    return call->limit.count() > 0;
  }

  /// Whether all of it has ended. Ends the process if it takes too long.
  static bool lookAt(WatchedCall::Launches &call) {
    const Driver &cuda = *call.gpu.driver;
    CurrentGpu current(call.gpu);
    // Looking at an event must not spoil what another thread captures.
    int mode = kCaptureRelaxed;
    cuda.exchangeCaptureMode(&mode);
    call.look();
    if (call.isTooLong())
      endProcess(call);
    bool hasEnded = call.isComplete && call.ended == call.launched.size();
    if (hasEnded) {
      cuda.eventDestroy(call.begin);
      for (const auto &launch : call.launched)
        cuda.eventDestroy(launch.end);
    }
    cuda.exchangeCaptureMode(&mode);
    return hasEnded;
  }

  [[noreturn]] static void endProcess(const WatchedCall::Launches &call) {
    std::string seconds = std::to_string(call.limit.count());
    std::string report = "kiln: error: a kernel has not ended after " + seconds + " s\n  " +
                         call.describe() + "\n  " + advice +
                         "\n  nothing stops a kernel but the end of the process; "
                         "KILN_GPU_TIMEOUT=" +
                         seconds + " is the limit that was set\n";
    (void)!write(STDERR_FILENO, report.data(), report.size());
    _exit(1);
  }

  std::mutex Mutex;
  std::condition_variable Added;
  std::list<std::shared_ptr<WatchedCall::Launches>> Calls;
};

/// The kernel's name, what it was launched with, and its arguments by name.
std::string describe(const LoadedKernel &kernel, const Signature *signature, unsigned blocks,
                     const ArgumentBlock &arguments) {
  std::string text = "kernel '" + kernel.description.name + "', grid " +
                     toString(Dims(arguments.grid())) + " by " + std::to_string(blocks) +
                     " blocks of " + std::to_string(kernel.description.threads) + " threads";
  const char *separator = "; ";
  for (size_t i = 0; i < kernel.description.numTensors; ++i) {
    const kiln_tensor &tensor = arguments.tensor(i);
    text += separator +
            (signature && i < signature->tensors.size() ? signature->tensors[i].name + " " : "") +
            toString(static_cast<DType>(tensor.dtype)) +
            toString(Dims(tensor.extents, tensor.rank));
    separator = ", ";
  }
  for (size_t i = 0; i < kernel.description.numScalars; ++i) {
    bool isNamed = signature && i < signature->scalars.size();
    text +=
        separator + (isNamed ? signature->scalars[i].name + " " +
                                   ScalarBits{arguments.scalar(i), signature->scalars[i].type}.str()
                             : std::to_string(arguments.scalar(i)));
    separator = ", ";
  }
  return text;
}

} // namespace

WatchedCall::WatchedCall(const Gpu &gpu, const NativeInfo &info, std::string_view program,
                         Stream stream, uint64_t seconds)
    : On(gpu), Info(info), To(stream) {
  const Driver &cuda = *gpu.driver;
  int status = kNotCapturing;
  if (cuda.streamIsCapturing(stream, &status) != 0 || status != kNotCapturing)
    return;
  Event begin = nullptr;
  if (cuda.eventCreate(&begin, kEventWithoutTime) != 0 || cuda.eventRecord(begin, stream) != 0)
    return;
  Known = std::make_shared<Launches>(gpu, std::string(program.empty() ? info.entry.name : program),
                                     seconds);
  Known->begin = begin;
  Watchdog::get().add(Known);
}

WatchedCall::~WatchedCall() {
  if (Known)
    Watchdog::get().finish(Known);
}

void WatchedCall::launched(const LoadedKernel &kernel, unsigned blocks,
                           const ArgumentBlock &arguments) {
  note([&] {
    const NativeKernel *native = &Info.entry;
    if (Info.kind == NativeInfo::Kind::Orchestration) {
      auto found = std::ranges::find(Info.kernels, kernel.description.name, &NativeKernel::name);
      native = found == Info.kernels.end() ? nullptr : &*found;
    }
    const Signature *signature = native && native->signature ? &*native->signature : nullptr;
    return describe(kernel, signature, blocks, arguments);
  });
}

void WatchedCall::launched(const TaskTable &table) {
  note([&] {
    std::string names;
    for (const TaskTable::Entry &entry : table.entries())
      names += (names.empty() ? "" : ", ") + entry.kernel->description.name;
    return "the persistent kernel, " + std::to_string(table.blocks()) + " blocks, with " +
           std::to_string(table.entries().size()) + " tasks: " + names;
  });
}

void WatchedCall::note(const std::function<std::string()> &describe) {
  const Driver &cuda = *On.driver;
  Event end = nullptr;
  if (!Known || cuda.eventCreate(&end, kEventWithoutTime) != 0 || cuda.eventRecord(end, To) != 0)
    return;
  std::string what = describe();
  Watchdog::get().change([&] { Known->launched.push_back({end, std::move(what)}); });
}

WatchedRun::WatchedRun(const Gpu &gpu, const NativeInfo &info, std::string_view program,
                       Stream stream, uint64_t seconds) {
  if (seconds == 0 && !mayBeInterrupted())
    return;
  Call.emplace(gpu, info, program, stream, seconds);
  Report.emplace([](const Status &) { return Watchdog::get().describe(); });
}
