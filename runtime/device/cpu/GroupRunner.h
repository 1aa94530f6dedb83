//===- GroupRunner.h - runs the roles of a group as fibers ---------------===//
//
// What: runs one block of a group on the calling thread. Every lane of every role is an instance on
//   a fiber of its own. An instance runs until a pipe makes it wait, then the next one that can go
//   on does, in turn; so one block has exactly one schedule. When nobody can, the group is dead:
//   that is known, and reported, at once.
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
};

class GroupRunner {
public:
  /// Runs all roles for one block of `grid`. None: it went well.
  std::optional<GroupFailure> run(const GroupSpec &group, const kiln_args &args,
                                  const kiln_blocks &block, const int64_t *grid);

private:
  struct Instance : CallReport {
    Instance(GroupRunner &runner, uint32_t number);
    std::string name() const;

    GroupRunner &runner;
    const uint32_t number; // its place among the instances
    Fiber fiber;
    kiln_context ctx{};
    const RoleSpec *role = nullptr;
    uint32_t roleIndex = 0;
    bool isDone = true;
    const kiln_pipe *awaited = nullptr; // null: it does not wait
    bool awaitsPush = false;
    int64_t sliceBegin = 0; // when it began to do what it does now; only with a timeline
  };

  Status prepare(const GroupSpec &group);
  void start(const kiln_args &args, const kiln_blocks &block, const int64_t *grid);
  [[noreturn]] static void runInstances(void *instance);
  /// The next instance after `self` that can go on; null when all others wait or are done.
  Instance *next(const Instance &self);
  static bool canGoOn(const Instance &instance);
  /// Waits until the pipe lets `self` go on. False: the group ends.
  bool await(Instance &self, const kiln_pipe &pipe, bool isPush);
  /// Ends what `instance` did until now in the timeline, if there is one: it ran, or waited for its
  /// pipe. From now on it does something else.
  void endSlice(Instance &instance, bool isWait) {
    if (Times) [[unlikely]]
      recordSlice(instance, isWait);
  }
  void recordSlice(Instance &instance, bool isWait);
  void fail(GroupFailure failure);
  void failRole(const Instance &instance, int32_t code);
  void failMisuse(const Instance &instance, const kiln_pipe &pipe, const char *what);
  void failDeadlock();
  void checkPipesEmpty();

  // Behind kiln_pipe_functions.
  static void *beginPush(kiln_context *ctx, kiln_pipe *pipe);
  static int32_t endPush(kiln_context *ctx, kiln_pipe *pipe);
  static void *pop(kiln_context *ctx, kiln_pipe *pipe);
  static int32_t free(kiln_context *ctx, kiln_pipe *pipe);
  /// The caller, if it may use this end of the pipe; else the group ends.
  static Instance *callerAt(kiln_context *ctx, const kiln_pipe &pipe, bool isProducer);
  static const kiln_pipe_functions Functions;

  const GroupSpec *Group = nullptr;                 // the one prepared for
  std::vector<std::unique_ptr<Instance>> Instances; // the first NumInstances take part
  uint32_t NumInstances = 0;
  std::deque<kiln_pipe> Pipes;
  std::vector<kiln_pipe *> Handles;
  std::shared_ptr<Buffer> Memory; // scratch of the instances, then the rings
  Fiber Caller;
  const kiln_args *Args = nullptr;
  const kiln_blocks *Block = nullptr;
  uint32_t NumDone = 0;
  bool IsEnding = false;
  RoleTimeline *Times = nullptr; // null: times are not recorded
  std::optional<GroupFailure> Failure;
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CPU_GROUPRUNNER_H
