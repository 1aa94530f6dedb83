//===- Watch.h - which kernel does not end ---------------------------------------------------===//
//
// A kernel that never ends holds up whoever waits for its stream, and nothing can stop it but the
// end of the process. Who watches has an event recorded behind each launch, so that it is known
// which one has not ended, and for how long it has been running.
//
// KILN_GPU_TIMEOUT=SECONDS has every call watched: a kernel that runs for longer ends the process,
// with what is known of it. A run of a tool is watched too; its own limit of time ends it.
//
// Threads: any. One thread of the process looks at events while there are any.
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

/// The launches of one call, in order, until all have ended.
class WatchedCall {
public:
  /// `seconds` is how long one kernel may run; 0: as long as it likes. `info` outlives this. A
  /// program without a name is called as its entry.
  WatchedCall(const Gpu &gpu, const NativeInfo &info, std::string_view program, Stream stream,
              uint64_t seconds);
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
  WatchedRun(const Gpu &gpu, const NativeInfo &info, std::string_view program, Stream stream,
             uint64_t seconds);
  /// Null where nothing could end the run.
  WatchedCall *call() { return Call ? &*Call : nullptr; }

private:
  std::optional<WatchedCall> Call;
  std::optional<OnInterrupt> Report;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_WATCH_H
