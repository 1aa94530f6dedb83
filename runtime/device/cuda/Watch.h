//===- Watch.h - which kernel does not end ---------------------------------------------------===//
//
// A kernel that never ends holds up whoever waits for its stream. A run of a tool has an event
// recorded behind each launch, so that where its limit of time, or a signal, ends it, the report
// says which kernel has not ended, and for how long it has been running. Calls of the JIT, and runs
// without a limit, are watched in another way (Progress.h).
//
// Threads: any.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_WATCH_H
#define KILN_RUNTIME_DEVICE_CUDA_WATCH_H

#include "TaskTable.h"

#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/native_program.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kiln::cuda {

/// Advice for whoever has a kernel that does not end.
inline constexpr const char *kHangAdvice =
    "kiln check PROG looks for pipes and barriers at which somebody waits forever; kiln run PROG "
    "-p h200 compiles kernels that end where they wait in vain, and says what for";

/// "kernel 'scale', grid [12, 5, 1] by 60 blocks of 384 threads; x bf16[300, 200], n 7"
std::string describe(const LoadedKernel &kernel, const NativeInfo &info, unsigned blocks,
                     const ArgumentBlock &arguments);

/// The launches of one call, in order, until all have ended.
class WatchedCall {
public:
  /// `info` outlives this. A program without a name is called as its entry.
  WatchedCall(const Gpu &gpu, const NativeInfo &info, std::string_view program, Stream stream);
  ~WatchedCall();
  WatchedCall(const WatchedCall &) = delete;
  WatchedCall &operator=(const WatchedCall &) = delete;

  /// A kernel was launched on the stream; `number` is the one that launches refer to.
  void launched(const LoadedKernel &kernel, unsigned blocks, const ArgumentBlock &arguments);
  /// The same of one that does several tasks.
  void launched(const TaskTable &table);

  struct Launches;

private:
  void note(const std::function<std::string()> &describe);
  const Gpu &On;
  const NativeInfo &Info;
  const Stream To;
  std::shared_ptr<Launches> Known; ///< Null where it cannot be watched: the stream is captured.
};

/// The same of a run that is waited for. Where it is interrupted, the report says what has not
/// ended.
class WatchedRun {
public:
  WatchedRun(const Gpu &gpu, const NativeInfo &info, std::string_view program, Stream stream);
  /// Null where nothing could end the run.
  WatchedCall *call() { return Call ? &*Call : nullptr; }

private:
  std::optional<WatchedCall> Call;
  std::optional<OnInterrupt> Report;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_WATCH_H
