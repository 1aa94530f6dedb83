//===- GroupRunner.h - runs the roles of a group as fibers ---------------===//
//
// What: runs blocks of a group on the calling thread: one after the other, or all together where
//   they meet at barriers. Every lane of every role is an instance on a fiber of its own. An
//   instance runs until a pipe or a barrier makes it wait, then the next one that can go on does,
//   in turn; so there is exactly one schedule. When nobody can, the group is dead: that is known,
//   and reported, at once.
//
//   A group ends early by telling: pipe functions return "end" to every instance, which returns.
//   Nothing is thrown through the roles' frames, which may be C or generated code.
//
// Ownership: fibers, rings and scratch, which stay for the next block: nothing is allocated unless
//   a group is larger than those before it.
//
// Threads: one at a time; one runner per worker. Internal to the runtime.
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

#include <deque>
#include <memory>
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

private:
  enum class Awaits : uint8_t { Nothing, Push, Pop, Others };
  struct Instance : CallReport {
    Instance(GroupRunner &runner, uint32_t number);
    std::string name() const;

    GroupRunner &runner;
    const uint32_t number; // its place among the instances
    Fiber fiber;
    kiln_context ctx{};
    ScratchStack allocated;
    const RoleSpec *role = nullptr;
    uint32_t roleIndex = 0;
    kiln_blocks block{};
    bool isDone = true;
    Awaits awaits = Awaits::Nothing;
    const kiln_pipe *pipe = nullptr; // to push into or to pop from
    uint64_t round = 0;              // of the barrier
    const char *barrierFile = nullptr;
    int32_t barrierLine = 0;
    int64_t sliceBegin = 0; // when it began to do what it does now; only with a timeline
  };

  Status prepare(const GroupSpec &group, uint32_t numBlocks);
  void start(const kiln_args &args, const kiln_blocks &blocks, const int64_t *grid);
  void startInstance(Instance &instance, uint32_t lane, kiln_pipe *const *pipes);
  std::optional<GroupFailure> runTogether(const GroupSpec &group, const kiln_args &args,
                                          const kiln_blocks &blocks, const int64_t *grid);
  [[noreturn]] static void runInstances(void *instance);
  /// The next instance after `self` that can go on; null when all others wait or are done.
  Instance *next(const Instance &self);
  static bool canGoOn(const Instance &instance);
  /// Waits until the pipe lets `self` go on. False: the group ends.
  bool await(Instance &self, const kiln_pipe &pipe, Awaits what);
  /// Lets others run until `self`, whose `awaits` says for what, can go on. False: the group ends.
  bool yield(Instance &self);
  /// Ends what `instance` did until now in the timeline, if there is one: it ran, or waited. From
  /// now on it does something else.
  void endSlice(Instance &instance, bool isWait) {
    if (Times) [[unlikely]]
      recordSlice(instance, isWait);
  }
  void recordSlice(Instance &instance, bool isWait);
  void fail(GroupFailure failure);
  void failRole(const Instance &instance, int32_t code);
  void failMisuse(const Instance &instance, const kiln_pipe &pipe, const char *what);
  void failDeadlock();
  static std::string describeWait(const Instance &instance);
  void checkPipesEmpty();

  // Behind kiln_pipe_functions.
  static void *beginPush(kiln_context *ctx, kiln_pipe *pipe);
  static int32_t endPush(kiln_context *ctx, kiln_pipe *pipe);
  static void *pop(kiln_context *ctx, kiln_pipe *pipe);
  static int32_t free(kiln_context *ctx, kiln_pipe *pipe);
  static Instance &caller(kiln_context *ctx);
  /// The caller, if it may use this end of the pipe; else the group ends.
  static Instance *callerAt(kiln_context *ctx, const kiln_pipe &pipe, bool isProducer);
  static const kiln_pipe_functions PipeFunctions;
  // Behind kiln_block_functions.
  static int32_t meet(kiln_context *ctx, const char *file, int32_t line);
  static void *allocate(kiln_context *ctx, uint64_t bytes);
  static void release(kiln_context *ctx);
  static const kiln_block_functions BlockFunctions;

  const GroupSpec *Group = nullptr;                 // the one prepared for
  uint32_t NumBlocks = 0;                           // that run together
  std::vector<std::unique_ptr<Instance>> Instances; // the first NumInstances take part
  uint32_t NumInstances = 0;
  std::deque<kiln_pipe> Pipes; // of the first block, of the second, ...
  std::vector<kiln_pipe *> Handles;
  std::shared_ptr<Buffer> Memory; // scratch of the instances, then the rings
  Fiber Caller;
  const kiln_args *Args = nullptr;
  const int64_t *Grid = nullptr;
  uint32_t NumDone = 0;
  uint64_t NumMeeting = 0, NumArrived = 0, Round = 0; // of the barrier
  bool IsEnding = false;
  RoleTimeline *Times = nullptr; // null: times are not recorded
  std::optional<GroupFailure> Failure;
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CPU_GROUPRUNNER_H
