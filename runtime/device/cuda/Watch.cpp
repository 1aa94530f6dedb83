#include "Watch.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>

using namespace kiln;
using namespace kiln::cuda;
using Clock = std::chrono::steady_clock;

struct WatchedCall::Launches {
  struct One {
    Event end;
    std::string what;
    Clock::time_point when = Clock::now();
  };
  Launches(const Gpu &on, std::string called) : gpu(on), program(std::move(called)) {}

  const Gpu &gpu;
  std::string program;
  Event begin = nullptr; ///< The stream has come to this call.
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

/// The runs that have not ended.
class WatchedCalls {
public:
  static WatchedCalls &get() {
    static auto *calls = new WatchedCalls; // threads that report outlive main
    return *calls;
  }

  void add(std::shared_ptr<WatchedCall::Launches> call) {
    std::lock_guard lock(Mutex);
    Calls.push_back(std::move(call));
  }

  template <typename Change> void change(Change change) {
    std::lock_guard lock(Mutex);
    change();
  }

  /// Whoever launched has waited for all of it.
  void remove(const std::shared_ptr<WatchedCall::Launches> &call) {
    std::lock_guard lock(Mutex);
    const Driver &cuda = *call->gpu.driver;
    cuda.eventDestroy(call->begin);
    for (const auto &launch : call->launched)
      cuda.eventDestroy(launch.end);
    Calls.remove(call);
  }

  std::string describe() {
    std::unique_lock lock(Mutex, std::try_to_lock);
    if (!lock)
      return ""; // somebody looks right now, at a GPU that does not answer
    std::string text;
    for (const auto &call : Calls) {
      CurrentGpu current(call->gpu);
      call->look();
      if (call->ended < call->launched.size())
        text += (text.empty() ? "" : "\n  ") + call->describe();
    }
    return text.empty() ? text : text + "\n  " + kHangAdvice;
  }

private:
  std::mutex Mutex;
  std::list<std::shared_ptr<WatchedCall::Launches>> Calls;
};

} // namespace

std::string kiln::cuda::describe(const LoadedKernel &kernel, const NativeInfo &info,
                                 unsigned blocks, const ArgumentBlock &arguments) {
  const NativeKernel *native = &info.entry;
  if (info.kind == NativeInfo::Kind::Orchestration) {
    auto found = std::ranges::find(info.kernels, kernel.description.name, &NativeKernel::name);
    native = found == info.kernels.end() ? nullptr : &*found;
  }
  const Signature *signature = native && native->signature ? &*native->signature : nullptr;
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

WatchedCall::WatchedCall(const Gpu &gpu, const NativeInfo &info, std::string_view program,
                         Stream stream)
    : On(gpu), Info(info), To(stream) {
  const Driver &cuda = *gpu.driver;
  int status = kNotCapturing;
  if (cuda.streamIsCapturing(stream, &status) != 0 || status != kNotCapturing)
    return;
  Event begin = nullptr;
  if (cuda.eventCreate(&begin, kEventWithoutTime) != 0 || cuda.eventRecord(begin, stream) != 0)
    return;
  Known = std::make_shared<Launches>(gpu, std::string(program.empty() ? info.entry.name : program));
  Known->begin = begin;
  WatchedCalls::get().add(Known);
}

WatchedCall::~WatchedCall() {
  if (Known)
    WatchedCalls::get().remove(Known);
}

void WatchedCall::launched(const LoadedKernel &kernel, unsigned blocks,
                           const ArgumentBlock &arguments) {
  note([&] { return describe(kernel, Info, blocks, arguments); });
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
  WatchedCalls::get().change([&] { Known->launched.push_back({end, std::move(what)}); });
}

WatchedRun::WatchedRun(const Gpu &gpu, const NativeInfo &info, std::string_view program,
                       Stream stream) {
  if (!mayBeInterrupted())
    return;
  Call.emplace(gpu, info, program, stream);
  Report.emplace([](const Status &) { return WatchedCalls::get().describe(); });
}
