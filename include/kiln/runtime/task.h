//===- kiln/runtime/task.h - what one submits, and what was executed -----===//
//
// What: `Task`, the builder for a submission; `TaskId`; `Predicate`; and `Trace`, the record of
//   what an engine executed with the edges that ordered it.
//
// Ownership: a Task holds its tensors (and so their buffers) until it has run. Everything here is
//   a value.
//
// Threads: a Task is built by one thread and consumed by Engine::submit on that thread.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TASK_H
#define KILN_RUNTIME_TASK_H

#include "kiln/runtime/inplace_vector.h"
#include "kiln/runtime/signature.h"
#include "kiln/runtime/status.h"
#include "kiln/runtime/tensor.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

/// A task of one run of one engine; `index` counts from 0 in submission order.
struct TaskId {
  uint64_t index = UINT64_MAX;
  uint64_t run = 0;
  friend bool operator==(const TaskId &, const TaskId &) = default;
};

enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

/// `tensor[indices] cmp constant`, evaluated at the moment the task would run. The element counts
/// as read by the task. Two integers compare as integers, anything else as doubles. NaN satisfies
/// only Ne.
struct Predicate {
  Tensor tensor;
  std::vector<int64_t> indices;
  Compare compare = Compare::Gt;
  ScalarBits constant;
};
/// Whether the element at this address compares so.
bool satisfies(DType type, const void *element, Compare compare, const ScalarBits &constant);

struct TaskTensor {
  Tensor tensor;
  Direction direction = Direction::In;
  /// The program asks for it in the argument dump.
  bool marked = false;
};

/// Blocks one launch may have: a bound that only a mistake exceeds. At a nanosecond each they would
/// take a quarter of an hour, and no arithmetic on them overflows.
inline constexpr int64_t maxBlocks = int64_t{1} << 40;

/// Whether a launch can have these blocks: no extent is negative, and their product is at most
/// maxBlocks. InvalidArgument, with the extents, if not.
Status verifyBlocks(Dims extents);

class Task {
public:
  /// A dummy: no kernel runs; it only orders others (by deps and by the tensors it names).
  Task() = default;
  explicit Task(std::string kernel) : Kernel(std::move(kernel)) {}
  /// A kernel of the engine's registry: saves the lookup by name.
  explicit Task(const KernelRecord &kernel) : Record(&kernel) {}

  // Tensors come first in the argument list and scalars after, each in order of addition, however
  // the calls are mixed.
  Task &addInput(const Tensor &tensor) { return addTensor(tensor, Direction::In); }
  Task &addOutput(const Tensor &tensor) { return addTensor(tensor, Direction::Out); }
  Task &addInout(const Tensor &tensor) { return addTensor(tensor, Direction::InOut); }
  Task &addTensor(const Tensor &tensor, Direction direction, bool marked = false) {
    Tensors.emplace_back(tensor, direction, marked);
    return *this;
  }
  Task &addTensor(Tensor &&tensor, Direction direction, bool marked = false) {
    Tensors.emplace_back(std::move(tensor), direction, marked);
    return *this;
  }
  Task &addScalar(uint64_t bits, DType type) { return addScalar(ScalarBits{bits, type}); }
  Task &addScalar(ScalarBits scalar) {
    Scalars.push_back(scalar);
    return *this;
  }
  Task &addIndex(int64_t value) { return addScalar(ScalarBits::fromInt(DType::Index, value)); }
  Task &addF32(float value) { return addScalar(ScalarBits::fromDouble(DType::F32, value)); }

  /// 1 to 3 dimensions; default one block. Any 0: nothing runs. Negative, or more than `maxBlocks`
  /// in all: submit fails.
  Task &grid(Dims dims) {
    GridRank = std::min(dims.size(), Grid.size());
    std::copy_n(dims.begin(), GridRank, Grid.begin());
    return *this;
  }
  /// Runs after `task`, besides what the tensors imply.
  Task &after(TaskId task) {
    Deps.push_back(task);
    return *this;
  }
  Task &when(Predicate predicate) {
    Pred = std::move(predicate);
    return *this;
  }
  /// All blocks at once (kernels with a grid barrier).
  Task &syncStart(bool on = true) {
    Sync = on;
    return *this;
  }
  /// Asks for the tensors that `isWanted` accepts in the argument dump, besides those marked
  /// already.
  template <typename Wanted> Task &markWhere(Wanted isWanted) {
    for (TaskTensor &arg : Tensors)
      arg.marked |= isWanted(std::as_const(arg.tensor));
    return *this;
  }
  /// Where the user's source launches this task.
  Task &at(std::string file, int32_t line, int32_t col = 0) {
    Loc = {std::move(file), line, col};
    return *this;
  }
  Task &at(SourceLoc loc) {
    Loc = std::move(loc);
    return *this;
  }

  /// The hold on the memory of a tensor, which is null afterwards.
  std::shared_ptr<Buffer> releaseBuffer(size_t tensor) {
    return std::move(Tensors[tensor].tensor).releaseBuffer();
  }

  const std::string &kernel() const { return Record ? Record->name : Kernel; }
  /// Null when the kernel was given by name.
  const KernelRecord *kernelRecord() const { return Record; }
  bool isDummy() const { return !Record && Kernel.empty(); }
  std::span<const TaskTensor> tensors() const { return Tensors; }
  std::span<const ScalarBits> scalars() const { return Scalars; }
  Dims gridDims() const { return Dims(Grid.data(), GridRank); }
  bool hasSeveralBlocks() const {
    return std::ranges::any_of(gridDims(), [](int64_t extent) { return extent != 1; });
  }
  std::span<const TaskId> deps() const { return Deps; }
  const std::optional<Predicate> &predicate() const { return Pred; }
  bool isSyncStart() const { return Sync; }
  const SourceLoc &location() const { return Loc; }

private:
  std::string Kernel;
  const KernelRecord *Record = nullptr;
  InplaceVector<TaskTensor, 4> Tensors;
  InplaceVector<ScalarBits, 4> Scalars;
  std::array<int64_t, KILN_MAX_GRID_DIMS + 1> Grid{1}; // one too many is for submit() to refuse
  size_t GridRank = 1;
  InplaceVector<TaskId, 2> Deps;
  std::optional<Predicate> Pred;
  bool Sync = false;
  SourceLoc Loc;
};

enum class EdgeKind : uint8_t { Raw, War, Waw, Explicit };
/// "raw", "war", "waw", "explicit"
const char *toString(EdgeKind kind);

enum class TaskState : uint8_t {
  Pending,   // not run yet
  Done,      // ran, or had nothing to run (dummy, empty grid)
  Skipped,   // its predicate was false
  Failed,    // its kernel failed
  Cancelled, // downstream of a failed task
};
const char *toString(TaskState state);

struct TraceEdge {
  uint64_t from = 0; // task indices
  uint64_t to = 0;
  EdgeKind kind = EdgeKind::Raw;
  uint64_t bufferId = 0; // 0 for explicit edges
  int32_t arg = -1;      // argument of `to` (task order); -1: explicit, or `to`'s predicate
};

struct TraceTensor {
  Direction direction = Direction::In;
  DType dtype = DType::F32;
  std::vector<int64_t> extents, strides;
  uint64_t bufferId = 0;
  uint64_t byteOffset = 0;
};

struct TraceTask {
  uint64_t index = 0;
  std::string kernel; // empty for a dummy
  TaskState state = TaskState::Pending;
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<TraceTensor> tensors;
  std::vector<ScalarBits> scalars;
  SourceLoc loc;
  uint32_t scope = 0; // scopes are numbered as they begin; 0: the run itself
};

struct Trace {
  std::vector<TraceTask> tasks; // by index, i.e. in submission order
  std::vector<uint64_t> order;  // task indices in the order they were finished
  std::vector<TraceEdge> edges; // by `to`, then by argument

  bool hasEdge(uint64_t from, uint64_t to, EdgeKind kind) const;
};

} // namespace kiln

#endif // KILN_RUNTIME_TASK_H
