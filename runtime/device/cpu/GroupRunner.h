//===- GroupRunner.h - runs the roles of a group as fibers ---------------===//
//
// What: runs blocks of a group: one after the other, or all together where they meet at barriers.
//   Every lane of every role is an instance on a fiber of its own; the instances of a block are a
//   crew. An instance runs until a pipe or a barrier makes it wait, then the next one of its crew
//   that can go on does, in turn, until nobody can.
//
//   Blocks that meet run in rounds. In a round every crew is run once, by whoever claims it. Crews
//   share nothing but the barrier, and nobody waits for anybody: who ran the last crew of a round
//   sees that all have come to the barrier, and starts the next one; or that they have ended; or
//   that neither is the case: then the launch is dead, which is known, and reported, at once.
//
//   A group ends early by telling: pipe functions return "end" to every instance, which returns.
//   Nothing is thrown through the roles' frames, which may be C or generated code.
//
// Ownership: fibers, rings and scratch, which stay for the next block: nothing is allocated unless
//   a group is larger than those before it.
//
// Threads: one at a time, but for workTogether(), which any number may call between startTogether()
//   and finishTogether(). Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CPU_GROUPRUNNER_H
#define KILN_RUNTIME_DEVICE_CPU_GROUPRUNNER_H

#include "device/cpu/CallReport.h"
#include "device/cpu/Fiber.h"
#include "device/cpu/PipeRing.h"
#include "device/cpu/ScratchStack.h"
#include "kiln/runtime/tensor.h"
#include "kiln/runtime/timeline.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

/// What kernels have a pointer to.
struct kiln_pipe : kiln::PipeRing {
  using PipeRing::PipeRing;
};

namespace kiln {

/// Why a block of a group failed.
struct GroupFailure {
  StatusCode status = StatusCode::KernelFailed;
  int32_t code = KILN_FAIL; // what the role returned
  std::string message;      // says which role; empty when only the code is known
  std::string role;         // "name", or "name#lane"; empty when it is nobody's in particular
  SourceLoc loc;
  std::optional<kiln_blocks> block = std::nullopt; // none: it is not of one in particular
};

class GroupRunner {
public:
  /// Runs all roles for these blocks of `grid`, which are all of them where they meet. None: it
  /// went well.
  std::optional<GroupFailure> run(const GroupSpec &group, const kiln_args &args,
                                  const kiln_blocks &blocks, const int64_t *grid);

  /// The same in parts, for blocks that several threads run together. What the arguments point at
  /// must stay.
  void startTogether(const GroupSpec &group, const kiln_args &args, const kiln_blocks &blocks,
                     const int64_t *grid);
  /// Runs blocks until there are none to claim: others run the last of this round, and go on with
  /// the next, or all have ended. Calls `invite` when there is work for one more thread.
  template <typename Invite> void workTogether(Invite invite) {
    for (uint32_t block = claim(); block < NumBlocks; block = claim()) {
      if (block + 1 < NumBlocks)
        invite();
      runCrew(Crews[block]);
      if (NumLeft.fetch_sub(1, std::memory_order_acq_rel) == 1)
        startNextRound();
    }
  }
  /// When nobody is at work any more. None: it went well.
  std::optional<GroupFailure> finishTogether();

private:
  enum class Awaits : uint8_t { Nothing, Push, Pop, Others };
  /// The instances of a block. Belongs to the thread that runs it in this round.
  struct Crew {
    uint32_t first; // of the instances
    uint32_t numDone = 0;
    uint32_t numArrived = 0;       // at the barrier, in this round
    Fiber *caller = nullptr;       // of who runs it
    RoleTimeline *times = nullptr; // null: times are not recorded
  };
  struct Instance : CallReport {
    explicit Instance(GroupRunner &runner);
    std::string name() const;

    GroupRunner &runner;
    Fiber fiber;
    Crew *crew = nullptr;
    uint32_t place = 0; // in its crew
    kiln_context ctx{};
    ScratchStack allocated;
    const RoleSpec *role = nullptr;
    uint32_t roleIndex = 0;
    kiln_blocks block{};
    bool isDone = true;
    Awaits awaits = Awaits::Nothing;
    const kiln_pipe *pipe = nullptr; // to push into or to pop from
    uint64_t round = 0;              // of the barrier
    kiln_source waitsAt{};           // or waited last

    void setPlace(const kiln_source *where) { waitsAt = where ? *where : kiln_source{}; }
    int64_t sliceBegin = 0; // when it began to do what it does now; only with a timeline
  };

  Status prepare(const GroupSpec &group, uint32_t numBlocks);
  void start(const kiln_blocks &blocks);
  void startInstance(Instance &instance, uint32_t lane, kiln_pipe *const *pipes);
  /// A block nobody has run in this round, or one beyond the last.
  uint32_t claim() { return NextBlock.fetch_add(1, std::memory_order_acq_rel); }
  /// Runs the instances of a block until all of them wait or are done.
  void runCrew(Crew &crew);
  /// When all crews of a round have been run; claims go on afterwards, unless all is over.
  void startNextRound();
  [[noreturn]] static void runInstances(void *instance);
  /// The next instance of its crew after `place` that can go on, itself last; null when all wait or
  /// are done.
  Instance *next(const Crew &crew, uint32_t place);
  static bool canGoOn(const Instance &instance);
  /// Waits until the pipe lets `self` go on. False: the group ends.
  bool await(Instance &self, const kiln_pipe &pipe, Awaits what);
  /// Lets others run until `self`, whose `awaits` says for what, can go on. False: the group ends.
  bool yield(Instance &self);
  /// Ends what `instance` did until now in the timeline, if there is one: it ran, or waited. From
  /// now on it does something else.
  void endSlice(Instance &instance, bool isWait) {
    if (instance.crew->times) [[unlikely]]
      recordSlice(instance, isWait);
  }
  void recordSlice(Instance &instance, bool isWait);
  /// After a push or a free.
  void noteLevel(const Instance &instance, const kiln_pipe &pipe) {
    if (instance.crew->times) [[unlikely]]
      recordLevel(instance, pipe);
  }
  static void recordLevel(const Instance &instance, const kiln_pipe &pipe);
  void fail(GroupFailure failure);
  void failRole(const Instance &instance, int32_t code);
  void failMisuse(const Instance &instance, const kiln_pipe &pipe, const char *what);
  void failDeadlock();
  static std::string describeWait(const Instance &instance);
  void checkPipesEmpty();

  // Behind kiln_pipe_functions.
  static void *beginPush(kiln_context *ctx, kiln_pipe *pipe, const kiln_source *where);
  static int32_t endPush(kiln_context *ctx, kiln_pipe *pipe);
  static void *pop(kiln_context *ctx, kiln_pipe *pipe, const kiln_source *where);
  static int32_t free(kiln_context *ctx, kiln_pipe *pipe);
  static Instance &caller(kiln_context *ctx);
  /// The caller, if it may use this end of the pipe; else the group ends.
  static Instance *callerAt(kiln_context *ctx, const kiln_pipe &pipe, bool isProducer);
  static const kiln_pipe_functions PipeFunctions;
  // Behind kiln_block_functions.
  static int32_t meet(kiln_context *ctx, const kiln_source *where);
  static void *allocate(kiln_context *ctx, uint64_t bytes);
  static void release(kiln_context *ctx);
  static const kiln_block_functions BlockFunctions;

  const GroupSpec *Group = nullptr;                 // the one prepared for
  uint32_t NumBlocks = 0;                           // that run together
  std::vector<Crew> Crews;                          // one a block
  uint32_t CrewSize = 0;                            // instances of a block
  std::vector<std::unique_ptr<Instance>> Instances; // the first NumInstances take part
  uint32_t NumInstances = 0;
  std::deque<kiln_pipe> Pipes; // of the first block, of the second, ...
  std::vector<kiln_pipe *> Handles;
  std::shared_ptr<Buffer> Memory; // scratch of the instances, then the rings
  kiln_args Args{};
  int64_t Grid[KILN_MAX_GRID_DIMS] = {};
  uint64_t NumMeeting = 0, Round = 0; // of the barrier; written between rounds
  // Of this round: the next block to claim, and blocks that have not been run to their end.
  alignas(64) std::atomic<uint32_t> NextBlock{0};
  std::atomic<uint32_t> NumLeft{0};
  // Added up crew by crew: instances that are done, and that have come to the barrier.
  std::atomic<uint32_t> NumDone{0}, NumArrived{0};
  std::atomic<bool> IsEnding{false};
  std::mutex FailureMutex;
  std::optional<GroupFailure> Failure; // the first
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CPU_GROUPRUNNER_H
