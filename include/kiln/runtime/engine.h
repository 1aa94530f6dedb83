//===- kiln/runtime/engine.h - the task engine ---------------------------===//
//
// What: executes task graphs. One submits tasks; the engine finds their order from the tensor
//   regions they read and write (RAW, WAR, WAW) and from explicit deps, and runs them on the CPU.
//
// Runs: a run starts with begin(), or by itself with the first submission, and ends with
//   finish(). Task indices, trace and dump belong to a run and start afresh with the next,
//   however the last one ended.
//
// Ownership: the engine borrows the registry, which must outlive its runs; pending tasks hold their
//   tensors.
//
// Threads: one thread at a time per engine, called the submitter. Several engines share nothing and
//   may be used concurrently. Kernels run on the engine's workers, concurrently with submission,
//   and on the submitter whenever it waits: in wait(), get(), finish(), alloc(), and in submit()
//   when EngineOptions::maxPending is reached or the task is not worth handing over
//   (EngineOptions::handOverNs). With a seed, or one worker, they run on the submitter only.
//
// Errors: what is wrong with a submission comes back from submit() at once and leaves the engine
//   as it was. The first failure while running is latched; nothing downstream of it runs,
//   everything else does, wait() returns it, and the engine can be used again. Once everything is
//   to stop (kiln/runtime/interrupt.h) no task starts any more, and all of this fails with
//   Interrupted.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_H
#define KILN_RUNTIME_ENGINE_H

#include "kiln/runtime/dump.h"
#include "kiln/runtime/signature.h"
#include "kiln/runtime/status.h"
#include "kiln/runtime/task.h"
#include "kiln/runtime/tensor.h"
#include "kiln/runtime/timeline.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kiln {

struct CollectiveTask; // kiln/runtime/ranks.h
class Transport;

inline constexpr unsigned maxWorkers = 1024;
/// A number of workers as `--workers` takes it: from 1 to maxWorkers. `name` is for the message.
Expected<unsigned> parseWorkers(const std::string &text, const std::string &name);

/// What EngineOptions::workers of 0 stands for: KILN_WORKERS, else the number of cores.
Expected<unsigned> defaultWorkers();

struct EngineOptions {
  /// Given (or KILN_SEED set): everything runs on the submitter, in an order that depends on
  /// nothing else. 0: submission order. Anything else: a random order among the ready tasks.
  std::optional<uint64_t> seed;
  /// Threads that run tasks, the submitter included, at most maxWorkers. 0: what KILN_WORKERS says,
  /// else as many as there are cores, which is also the most that makes sense.
  unsigned workers = 0;
  /// Tasks that may wait to run; at the limit submit() runs some first. At least 1.
  uint64_t maxPending = 1024;
  /// A task that takes fewer nanoseconds than this runs in submit() if it has nothing to wait for:
  /// handing it over would cost more. How long tasks take is measured, by kernel and size, as they
  /// run. 0: all are handed over, as they are while a trace, a dump or a timeline is written.
  uint32_t handOverNs = 200;
  /// Memory for intermediates (alloc()), used as a ring; only pages in use cost anything. 0: no
  /// limit, each from the heap.
  uint64_t arenaBytes = uint64_t{256} << 20;
  /// With arenaBytes 0: where intermediates come from instead of the heap, as where kernels run on
  /// a device that does not see the heap.
  std::function<Expected<std::shared_ptr<Buffer>>(uint64_t bytes)> allocate;
  /// Keep what trace() returns. Costs memory per task: turn off for long runs.
  bool recordTrace = true;
  /// Called before a task's predicate is read and its kernel runs, on the thread that does both.
  std::function<void(TaskId)> onTaskStart;

  /// For tests only: leaves out one kind of inferred edge, to prove that it is needed.
  struct TestOnly {
    bool noRaw = false, noWar = false, noWaw = false;
  } testOnly;
};

struct RunOptions {
  /// For people reading the dump.
  std::string program;
  std::string platform = "cpu";
  DumpOptions dump;
  /// Keep what timeline() returns. Needs EngineOptions::recordTrace.
  bool recordTimeline = false;
  /// Through which this run, one rank of several, talks to the others. Null: it is the only one.
  Transport *ranks = nullptr;
  /// For who does nothing between submitting and waiting but to submit more: the task submitted
  /// last, if it is ready, is left to the wait, which runs it without waking a worker for it.
  bool keepsLast = false;
};

/// The latched failure, in parts.
struct TaskFailure {
  TaskId task;
  std::string kernel;
  std::string argument; // empty when no single argument is to blame
  std::string message;
  SourceLoc loc;
};

/// What an engine holds at the moment. All zero after wait(), but for the arena's bytes that
/// tensors still refer to.
struct EngineUsage {
  uint64_t tasks = 0;      // submitted and not retired
  uint64_t regions = 0;    // remembered for finding dependencies
  uint64_t arenaBytes = 0; // of intermediates that have not been given back
};

class Engine {
public:
  static Expected<std::unique_ptr<Engine>> create(const KernelRegistry &registry,
                                                  EngineOptions options = {});
  /// Abandons what has not run (it may refer to memory that is gone) and writes the dump. Its
  /// status is lost: call finish() to have everything run and to know.
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  /// Starts a run. FailedPrecondition while one is open; InvalidArgument for bad options.
  /// A dump that cannot be opened does not stop the run: finish() reports it.
  Status begin(RunOptions options);

  /// Verifies the task against its kernel's signature, finds its dependencies and queues it.
  Expected<TaskId> submit(const Task &task);
  /// Takes over the task's hold on its tensors, which saves touching their reference counts. For
  /// the last use of a task; if it is refused the task is unchanged.
  Expected<TaskId> submit(Task &&task);

  /// Submits what several ranks do together. As a task it is ordered like any other, and after the
  /// collective before it of the same ranks. A barrier of ranks is waited for, with all before it.
  Expected<TaskId> submit(const CollectiveTask &collective);
  /// The run's ranks.
  Transport &ranks() const;

  /// submit() and wait() in one. A task of one block that finds the engine idle runs on the
  /// calling thread, without waking a worker.
  Status run(const Task &task);

  /// An intermediate. Its memory returns when the last handle is gone and its tasks have retired.
  /// A full arena is waited for as long as tasks will free some of it. When they never will, since
  /// the oldest intermediate is held by a handle of the program or this one is larger than the
  /// arena, the answer is Deadlock or OutOfMemory at once, with a size that would do.
  Expected<Tensor> alloc(DType dtype, Dims extents);

  /// Scopes nest. In a manual one no order is inferred between two of its own tasks (two tasks
  /// whose innermost common scope it is); against all other tasks, order is inferred as ever.
  void beginScope(bool manual = false);
  Status endScope();

  /// Waits for the tasks that write this element, then reads it. If one of them failed: that
  /// failure.
  Expected<ScalarBits> get(const Tensor &tensor, Dims indices);

  /// Runs everything submitted. Returns the first failure since the last wait(), and forgets it.
  Status wait();

  /// wait(), then ends the run: unclosed scopes are an error, the dump is flushed and its manifest
  /// written. The run's failure if it has not been reported yet, else the dump's (IoError), else
  /// Ok.
  Status finish();

  /// The failure that the last wait(), get() or finish() returned, if it was one of running a task.
  const std::optional<TaskFailure> &lastFailure() const;

  /// What has been submitted and executed since the run began; kept until the next run begins.
  const Trace &trace() const;

  /// When everything happened in the last finished run, if it was recorded; kept until the next run
  /// begins.
  const Timeline &timeline() const;

  EngineUsage usage() const;

  /// The one it was created with, or bound to since.
  const KernelRegistry &registry() const;
  /// Tasks of the next runs are those of another registry, which must outlive them; the threads
  /// stay. FailedPrecondition while a run is open.
  Status rebind(const KernelRegistry &registry);

  /// 0 when there is none.
  uint64_t seed() const;
  /// Threads that run tasks, the submitter included.
  unsigned workers() const;

  struct Impl; // the engine's own files only

private:
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> P;
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_H
