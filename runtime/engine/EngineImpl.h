//===- EngineImpl.h - the engine's state ---------------------------------===//
//
// What: everything an Engine holds, shared by the files that implement it: Engine.cpp (runs,
//   scopes, get, wait), Submit.cpp (verification and dependencies), Execute.cpp (picking and
//   running tasks).
//
// Ownership: `Nodes` holds unfinished tasks and, until wait() has reported it, those of a
//   failure: their tensors stay alive so that no new allocation can take the address of a region
//   that is still recorded.
//
// Threads: one at a time, see engine.h. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_ENGINEIMPL_H
#define KILN_RUNTIME_ENGINE_ENGINEIMPL_H

#include "dump/DumpWriter.h"
#include "engine/TensorMap.h"
#include "kiln/runtime/engine.h"

#include <memory>
#include <vector>

namespace kiln {

/// A submitted task that has not retired.
struct Node {
  uint64_t index = 0;
  Task task;
  const KernelRecord *kernel = nullptr; // null for a dummy
  std::array<int64_t, 3> grid{1, 1, 1};
  uint32_t scope = 0;
  uint64_t unmet = 0;                  // predecessors that have not finished
  bool isDoomed = false;               // a predecessor failed or was cancelled
  uint64_t lastSuccessor = UINT64_MAX; // so that several edges between two tasks count once
  std::vector<uint64_t> successors;
};

struct Scope {
  uint32_t parent = 0;
  uint32_t depth = 0;
  bool manual = false;
};

struct Engine::Impl final : TensorMap::Oracle {
  Impl(const KernelRegistry &registry, EngineOptions options, uint64_t seed);
  ~Impl();

  // Submit.cpp
  Status verify(const Task &task, const KernelRecord *kernel) const;
  Expected<TaskId> submit(Task task);
  void link(Node &node);

  // Execute.cpp
  /// Runs one ready task. False when none is ready.
  bool runNext();
  TaskState execute(Node &node);
  TaskState runKernel(Node &node);
  void latch(TaskFailure failure, Status status);
  /// Enters a finished state, releases successors, and cancels those that can no longer run.
  void retire(uint64_t index, TaskState state);
  void makeReady(uint64_t index);

  // Engine.cpp
  Status startRun(RunOptions options);
  Status drain();
  Status finishRun();
  /// Ends the run without running what is pending.
  void abandonRun();
  /// Writes the dump, if there is one; its status.
  Status closeRun();
  Expected<ScalarBits> get(const Tensor &tensor, Dims indices);
  /// Whether order between tasks of these scopes is left to the user.
  bool isManualBetween(uint32_t a, uint32_t b) const;
  bool isInsideManual(uint32_t scope) const;
  bool isFinished(uint64_t task) const { return States[task] != TaskState::Pending; }
  bool isRetired(const Access &access) const override;

  const KernelRegistry &Registry;
  const EngineOptions Options;
  const uint64_t Seed;
  uint64_t RandomState;

  bool RunOpen = false;
  uint64_t RunId = 0;
  RunOptions Run;
  Status RunFailure; // first failure of the run; kept for the dump after wait() has reported it
  std::unique_ptr<DumpWriter> Dump;

  std::vector<TaskState> States;            // of every task of the run
  std::vector<std::unique_ptr<Node>> Nodes; // by index; null once retired
  uint64_t NumPending = 0;
  uint64_t Waited = 0; // tasks below this were covered by a wait(): their failures are settled
  std::vector<uint64_t> Ready; // seed 0: a min-heap
  TensorMap Map;

  std::vector<Scope> Scopes; // [0] is the run itself
  uint32_t CurrentScope = 0;

  Status Latched;                      // first failure since the last wait()
  std::optional<TaskFailure> Failure;  // the parts of Latched
  std::optional<TaskFailure> Reported; // what lastFailure() returns
  Trace History;

  std::shared_ptr<Buffer> Scratch;
};

/// The name of an argument for messages: from the signature if there is one.
std::string argumentName(const KernelRecord *kernel, size_t index);

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_ENGINEIMPL_H
