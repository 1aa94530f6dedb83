//===- Scheduler.h - picks and runs ready tasks --------------------------===//
//
// What: the workers of one engine. Worker 0 is the submitting thread, which works while it waits;
//   the others are threads made once per engine. Each has a queue of ready tasks from which all
//   may take. A worker that finishes a task goes on with a successor it has made ready; the rest
//   go to its queue.
//
//   With one worker there is no queue but an explicit order: submission order, or a reproducible
//   random one among the ready tasks.
//
// Files: Scheduler.cpp (queues, threads, finishing), Execute.cpp (running one task).
//
// Ownership: workers and their scratch. Borrows the nodes it is given until they are sealed.
//
// Threads: publish(), runOne(), rest() and everything about runs by the submitter; the rest by
//   whichever worker it says. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_SCHEDULER_H
#define KILN_RUNTIME_ENGINE_SCHEDULER_H

#include "device/cpu/GroupRunner.h"
#include "dump/DumpWriter.h"
#include "engine/InlineOrder.h"
#include "engine/Node.h"
#include "engine/Parking.h"
#include "engine/ReadyQueue.h"
#include "kiln/runtime/engine.h"
#include "timeline/TimelineRecorder.h"

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace kiln {

/// The first failure since it was last taken, and the first of the run.
class FailureLatch {
public:
  void latch(TaskFailure failure, Status status);
  void startRun();
  Status current() const;
  /// The parts of current().
  std::optional<TaskFailure> parts() const;
  /// Forgets the current one; the run keeps its first.
  void clear();
  Status ofRun() const;
  /// A failure of the run that is none of a task.
  void setOfRun(Status status);

private:
  mutable std::mutex Mutex;
  Status Current, First;
  std::optional<TaskFailure> Parts;
};

/// What tasks of a run need to know of it. Written by the submitter between runs; publishing a task
/// makes it visible to whoever runs that task.
struct RunContext {
  uint64_t id = 0;
  bool recordsOrder = false;
  DumpWriter *dump = nullptr;              ///< Null: none is written.
  TimelineRecorder *timeline = nullptr;    ///< Null: times are not recorded.
  std::function<void(TaskId)> onTaskStart; ///< May be empty.
  Transport *ranks = nullptr;              ///< Never null while a run is open.
  Transport *lender = nullptr;             ///< The same, if it lends memory.
  FailureLatch failures;
  std::atomic<uint64_t> nextTicket{0};
  /// Nothing more is to run: tasks are cancelled as they become ready.
  std::atomic<bool> isAbandoned{false};
  std::atomic<uint64_t> numAbandoned{0};
};

struct Worker {
  Worker(unsigned number, uint64_t capacity) : number(number), ready(capacity) {}
  const unsigned number;
  ReadyQueue ready;
  std::shared_ptr<Buffer> scratch;
  CallReport report;
  /// It has just taken all that another queue had. Looking there again at once would cost the
  /// owner of that queue a cache miss for each task it publishes; a microsecond later there is a
  /// batch to take.
  bool letsQueuesFill = false;
  std::unique_ptr<GroupRunner> groups; // made with the first group it runs
  /// What it runs at the moment, for whoever wants to know why nothing ends; null: nothing.
  std::atomic<const KernelRecord *> running{nullptr};
  std::atomic<uint64_t> runningTask{0};
};

/// Says which kernel a worker runs, as long as it lives.
class NowRunning {
public:
  NowRunning(Worker &worker, const Node &node) : Running(worker.running) {
    worker.runningTask.store(node.index, std::memory_order_relaxed);
    Running.store(node.kernel, std::memory_order_relaxed);
  }
  ~NowRunning() { Running.store(nullptr, std::memory_order_relaxed); }
  NowRunning(const NowRunning &) = delete;
  NowRunning &operator=(const NowRunning &) = delete;

private:
  std::atomic<const KernelRecord *> &Running;
};

class Scheduler {
public:
  /// `capacity`: tasks that can exist at a time, a power of two.
  Scheduler(RunContext &run, unsigned numWorkers, uint64_t seed, uint64_t capacity);
  /// Nothing may be running or ready.
  ~Scheduler();

  bool isInline() const { return Order.has_value(); }
  unsigned numWorkers() const { return static_cast<unsigned>(Workers.size()); }
  void startRun();

  /// The task has nothing left to wait for.
  void publish(Node &node);
  /// The same of a task that the submitter is to run, because it is about to wait: nobody wakes up
  /// for it. Until then nobody else can have it, but for `offerKept`.
  void keep(Node &node);
  /// What was kept is for anybody: there is more to do than that.
  void offerKept();
  /// So much waits in the submitter's queue that no worker misses what the submitter runs itself.
  bool hasPlenty() const;
  /// Runs a plain task that has nothing to wait for, that nobody else knows of, and of which no
  /// dump and no timeline is to tell.
  void runHere(Node &node);
  /// About a hundred nanoseconds.
  static void pauseABit();
  /// Runs a ready task on the calling thread; false when there is none.
  bool runOne();
  /// Nothing to do: waits a little, or sleeps until there is something to run or `node` has
  /// finished. `idleRounds` counts calls since there was something to do.
  void rest(const Node &node, unsigned idleRounds);
  /// "kernel 'a' (task 3), kernel 'b' (task 5)": what runs at the moment, as any thread may ask.
  std::string running() const;
  /// Whether nothing happens until a collective in flight ends, as any thread may ask. What is seen
  /// for a moment may be wrong: a task between two queues is in none.
  bool isIdle() const;
  /// The submitter does nothing but wait, and what it runs meanwhile.
  void noteWaiting(bool on) { SubmitterWaits.store(on, std::memory_order_relaxed); }
  /// Tasks finished in this run; with one worker only.
  uint64_t numFinished() const { return NumFinished; }

private:
  // Scheduler.cpp
  void publishFrom(Worker &worker, Node &node);
  void noteReady(const Worker &worker, const Node &node);
  void work(Worker &worker);
  Node *findWork(Worker &worker);
  bool hasWork() const;
  /// Runs `node`, then what becomes ready by that, as long as it is one task after the other.
  void runChain(Worker &worker, Node *node);
  /// Seals the task and releases its successors, of which it returns one to run next.
  Node *finish(Worker &worker, Node &node);
  /// One producer less for each consumer in the list. Those that are ready now are published, but
  /// for one, which is kept in `next`.
  void release(Worker &worker, Edge *edge, bool isBad, Node *&next);

  // Execute.cpp
  /// Runs the task, or its share of it. True when the task is finished, with its state set.
  bool execute(Worker &worker, Node &node);
  bool executeGrid(Worker &worker, Node &node);
  /// Whether the task is to run at all; else its state is set.
  bool mayRun(Node &node);
  /// The task does not run, or not to its end, because everything is to stop.
  void latchInterruption(const Node &node);
  void runPieces(Worker &worker, Node &node);
  /// Runs blocks that meet, until others run the last of them or all have ended.
  void runTogether(Worker &worker, Node &node);
  void finishTogether(Worker &worker, Node &node);
  void cutGrid(GridLaunch &grid, const KernelRecord &kernel) const;
  /// call() for the one block of a task, timed if that is wanted.
  bool callOnce(Worker &worker, Node &node);
  /// Calls the kernel for some blocks; false when it failed, which is latched then.
  bool call(Worker &worker, const Node &node, const kiln_blocks &blocks);
  bool callGroup(Worker &worker, const Node &node, const kiln_blocks &blocks);
  void latchFailure(const Node &node, StatusCode status, TaskFailure failure);

  // Collectives.cpp
  /// Hands the task to the transport. True when it does not run at all.
  bool startCollective(Worker &worker, Node &node);
  /// Goes on where a collective has ended; false when none has.
  bool finishEnded(Worker &worker);
  void latchCollective(const Node &node, const Status &why);

  RunContext &Run;
  Parking Beds;
  std::optional<InlineOrder> Order;
  uint64_t NumFinished = 0;
  Node *Kept = nullptr;       // the submitter's
  std::deque<Worker> Workers; // [0] is the submitter
  std::vector<std::thread> Threads;
  std::atomic<bool> IsStopping{false};

  /// A collective that has ended and whose task has not been finished yet.
  struct EndedCollective {
    Node *node = nullptr;
    Status status;
    int64_t begin = 0, end = 0;
  };
  std::mutex EndedMutex;
  std::deque<EndedCollective> Ended;
  std::atomic<uint32_t> NumEnded{0}, InFlight{0};
  std::atomic<bool> SubmitterWaits{false};
};

/// The arguments of a task as the dump sees them.
DumpTask dumpTask(const Node &node);

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_SCHEDULER_H
