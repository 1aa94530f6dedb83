//===- EngineImpl.h - the engine's state ---------------------------------===//
//
// What: everything an Engine holds, shared by the files that implement the submitter's side:
//   Engine.cpp (runs, scopes, get, wait), Submit.cpp (from a Task to a published node), Retire.cpp
//   (what happens to finished tasks). Workers see only the Scheduler, the RunContext and nodes.
//
// Ownership: the window holds unretired tasks. Buffers of failed and cancelled ones stay alive
//   until wait() has reported the failure, so that no new allocation can take the address of a
//   region that is still recorded as bad.
//
// Threads: the submitter's only, see engine.h. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_ENGINEIMPL_H
#define KILN_RUNTIME_ENGINE_ENGINEIMPL_H

#include "dump/DumpWriter.h"
#include "engine/Arena.h"
#include "engine/KernelTimes.h"
#include "engine/Scheduler.h"
#include "engine/TaskWindow.h"
#include "engine/TensorMap.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/ranks.h"

#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

namespace kiln {

struct Scope {
  uint32_t parent = 0;
  uint32_t depth = 0;
  bool isManual = false;
  bool isInsideManual = false; // itself or one around it
};

struct Engine::Impl {
  Impl(const KernelRegistry &registry, const EngineOptions &options, uint64_t seed,
       unsigned numWorkers);

  // Submit.cpp
  /// `expendable` is null, or the task itself when its tensors may be taken over.
  Expected<TaskId> submit(const Task &task, Task *expendable);
  Expected<TaskId> submit(const CollectiveTask &collective); // Collectives.cpp
  /// The ranks that take part, once all that this rank can judge is good.
  Expected<RankLine> lineOf(const CollectiveTask &task);
  Transport &ranks() const;
  const KernelRecord *kernelOf(const Task &task);
  Status verifyDeps(const Task &task) const;
  /// Waits until the window has room for it. False when it never will: a bug.
  bool makeRoom(const Task &task);
  /// Fills accesses(), but for their live regions, which are only fetched: they may be far away.
  void noteAccesses(const Task &task);
  void noteAccess(const Tensor &tensor, Direction direction, int32_t arg);
  /// Finds the live regions of the accesses and fills Producers.
  void findProducers(const Task &task);
  /// `node` is the task's, if it has not retired.
  void addProducer(uint64_t task, Node *node, EdgeKind kind, uint64_t bufferId, int32_t arg);
  Node &makeNode(const Task &task, const KernelRecord *kernel);
  /// What the kernel sees.
  static void fillArguments(Node &node, const Task &task);
  /// What only dumps and predicates need.
  static void fillDetail(Node &node, const Task &task);
  /// From now on the node keeps the memory of its tensors.
  static void holdBuffers(Node &node, const Task &task, Task *expendable);
  void recordAccesses();
  /// Joins readers of a region if there are many.
  void joinReaders(LiveRegion &region);
  /// Makes the node wait for its producers; publishes it when none is left.
  void linkAndPublish(Node &node);
  void publish(Node &node);
  NodeLoc internLoc(const SourceLoc &loc);

  // BriefTasks.cpp
  /// Whether the task is done sooner, or as soon, if the submitter runs it, and nothing holds it
  /// up.
  bool isForSubmitter(const Task &task, KernelTimes::Slot slot);
  bool hasNothingToWaitFor(const Task &task);
  /// The same as far as known: what has finished since the last retire() is looked at only where
  /// the task conflicts with it.
  bool isFree(const Task &task);
  bool isInFlight(const Use &use);
  /// Gives the workers a few microseconds to finish what the task waits for, if that may help.
  bool catchUp(const Task &task);
  TaskId runHere(const Task &task, const KernelRecord &kernel, KernelTimes::Slot slot);
  /// Task end() has failed where it was submitted: to whoever comes later it is as if a worker had
  /// run it.
  void recordFailed(const Task &task, const KernelRecord &kernel);

  // Retire.cpp
  /// Retires finished tasks from the oldest on.
  void retire();
  void retireOldest();
  /// Runs a ready task; if there is none, waits a little for task `awaited`. False when there is
  /// nothing to wait for because nobody else works.
  bool workOnce(uint64_t awaited, unsigned &idleRounds);
  /// Until task `index` has finished. False when it never will: a bug.
  bool await(uint64_t index);
  /// Until everything has retired.
  bool awaitAll();
  /// Memory for an intermediate: waits for tasks to give some back if that can help.
  Expected<Tensor> alloc(DType dtype, Dims extents);
  Expected<std::shared_ptr<Buffer>> allocFromArena(uint64_t bytes);
  /// Whether something besides unretired tasks refers to it: then waiting will not free it.
  bool isHeldByUser(const std::shared_ptr<Buffer> &buffer);
  Status arenaTooSmall(uint64_t bytes);
  bool hasFinished(uint64_t index) { return index < Window.begin() || Window[index].isSealed(); }
  /// Of a finished task.
  bool isBad(uint64_t index);
  /// Brings what trace() returns up to date.
  void refreshTrace();

  // Engine.cpp
  Status startRun(RunOptions options);
  Status drain();
  Status finishRun();
  /// Ends the run without running what is pending.
  void abandonRun();
  /// Writes the dump, if there is one; its status.
  Status closeRun();
  Timeline takeTimeline();
  Expected<ScalarBits> get(const Tensor &tensor, Dims indices);
  /// Whether order between tasks of these scopes is left to the user.
  bool isManualBetween(uint32_t a, uint32_t b) const {
    return a == b ? Scopes[a].isManual : isManualBetweenScopes(a, b);
  }
  bool isManualBetweenScopes(uint32_t a, uint32_t b) const;
  /// Tasks that have been submitted and have not finished, as far as known.
  uint64_t numPending() const {
    return Sched.isInline() ? Window.end() - Sched.numFinished() : Window.end() - Window.begin();
  }

  const KernelRegistry *Registry;                      ///< Another one only between runs.
  std::array<const KernelRecord *, 64> KnownKernels{}; // of the registry, by hash of the pointer
  KernelTimes Times;
  const EngineOptions Options;
  const uint64_t Seed;

  bool RunOpen = false;
  bool RunsBriefTasks =
      false; // on the spot: nobody wants to know about them, and there are workers
  RunOptions RunAs;
  bool RunsOne = false;               // the task is submitted by who waits for it next
  std::optional<OnInterrupt> Witness; ///< Of an open run: says what did not end.
  std::unique_ptr<DumpWriter> Dump;
  std::unique_ptr<TimelineRecorder> Recorder;
  Timeline Recorded; // of the run that was finished last
  RunContext Run;

  struct {
    uint64_t next = 0; // the first task for which that is tried again
    uint64_t interval = 64;
  } CatchUp;

  TaskWindow Window;
  SettledTasks Settled;
  TensorMap Map;
  Arena Intermediates;
  uint64_t Waited = 0; // tasks below this were covered by a wait(): their failures are settled
  std::vector<std::shared_ptr<Buffer>> BadBuffers; // of failed and cancelled tasks
  std::unordered_set<std::string> Files;           // of source locations
  const std::string *LastFile = nullptr;

  /// The collectives of each line of ranks, and messages by who else has part in them.
  struct LineState {
    uint64_t next = 0;
    std::optional<TaskId> last;
  };
  std::map<RankLine, LineState> Lines;
  std::map<std::pair<int32_t, bool>, uint64_t> Messages; // sent to, or received from

  std::vector<Scope> Scopes; // [0] is the run itself
  uint32_t CurrentScope = 0;

  // The submission in progress.
  struct PendingAccess {
    Region region;
    uint32_t hash; // of the region
    Direction direction;
    int32_t arg; // -1: the predicate
    LiveRegion *live;
  };
  void addConflicts(const PendingAccess &access, uint64_t bufferId);
  std::vector<PendingAccess> Noted; // grows to the most a task has had, and stays as it is
  size_t NumNoted = 0;              // of this one
  std::span<PendingAccess> accesses() { return {Noted.data(), NumNoted}; }
  std::vector<Node *> Producers; // not known to have finished
  bool IsDoomed = false;         // one of them had failed
  struct Conflict {
    uint64_t task;
    Node *node;
    EdgeKind kind;
  };
  std::vector<Conflict> Conflicts; // of one access; only with a trace

  std::optional<TaskFailure> Reported; // what lastFailure() returns
  Trace History;
  struct FinishedTask {
    uint64_t ticket, index;
  };
  std::vector<FinishedTask> Finished; // retired ones; only with a trace

  Scheduler Sched; // last: its threads stop before anything they use is destroyed
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_ENGINEIMPL_H
