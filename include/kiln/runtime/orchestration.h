//===- kiln/runtime/orchestration.h - what emitted orchestrations are written with ===//
//
// What: the engine as an orchestration sees it. `kiln emit --target orchestration` writes C++
//   against this header and nothing else; people may too. Values mean what they mean in the IR:
//   an Index does not leave its 64 bits, other integers wrap, a division by zero is a failure.
//
// Errors: what goes wrong inside is thrown as a Failure and caught by orchestrate(), which returns
//   it. Nothing is thrown across that call, so the runtime, and whoever calls an orchestration,
//   may be compiled without exceptions. This header is the only one that needs them.
//
// Ownership: an Orchestrator borrows the engine for the length of one orchestrate() call. Tensors
//   are handles: what alloc() made returns to the engine when the last handle and the last task
//   are gone.
//
// Threads: the engine's submitter (see engine.h).
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ORCHESTRATION_H
#define KILN_RUNTIME_ORCHESTRATION_H

#include "kiln/runtime/dump_marks.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/orchestration_scalars.h"
#include "kiln/runtime/ranks.h"

#include <initializer_list>
#include <span>

namespace kiln::orch {

/// The extents, indices or blocks that a braced list gives.
class Indices {
public:
  Indices(std::initializer_list<Index> list) {
    for (Index index : list)
      Values.push_back(index.value());
  }
  operator Dims() const { return Dims(std::span<const int64_t>(Values)); }

private:
  InplaceVector<int64_t, KILN_MAX_RANK> Values;
};

/// Whether the program asks for an argument in the dump, whatever is marked at run time.
enum class Mark : bool { No, Yes };

/// One task, argument by argument in the order of its kernel's signature.
class TaskArgs {
public:
  /// A dummy: no kernel runs; it only orders others.
  TaskArgs() = default;
  explicit TaskArgs(const char *kernel) : Building(kernel) {}

  void add_input(const Tensor &tensor, Mark mark = Mark::No) { add(tensor, Direction::In, mark); }
  void add_output(const Tensor &tensor, Mark mark = Mark::No) { add(tensor, Direction::Out, mark); }
  void add_inout(const Tensor &tensor, Mark mark = Mark::No) {
    add(tensor, Direction::InOut, mark);
  }
  void add_scalar(Index value) { Building.addIndex(value.value()); }
  template <Integer T> void add_scalar(T value) {
    Building.addScalar(ScalarBits::fromInt(dtypeOf<T>, value));
  }
  void add_scalar(float value, DType type = DType::F32) {
    Building.addScalar(ScalarBits::fromDouble(type, value));
  }

  void grid(const Indices &blocks) { Building.grid(blocks); }
  void after(TaskId task) { Building.after(task); }
  /// Skips the task unless `tensor[indices] compare constant` holds when it would run.
  void when(const Tensor &tensor, const Indices &indices, Compare compare, int64_t constant) {
    Dims at = indices;
    Building.when(
        {tensor, {at.begin(), at.end()}, compare, ScalarBits::fromInt(DType::I64, constant)});
  }
  void sync_start() { Building.syncStart(); }
  /// Where the user's source launches it.
  void at(const char *file, int line, int col) { Building.at(file, line, col); }

private:
  friend class Orchestrator;
  void add(const Tensor &tensor, Direction direction, Mark mark) {
    Building.addTensor(tensor, direction, mark == Mark::Yes);
  }

  Task Building;
};

/// What several ranks do together, as one task.
class CollectiveArgs {
public:
  explicit CollectiveArgs(CollectiveKind kind) { Building.kind = kind; }

  void source(const Tensor &tensor) { Building.source = tensor; }
  void target(const Tensor &tensor) { Building.target = tensor; }
  void combine(Reduction how, bool fixedOrder = false) {
    Building.how = how;
    Building.fixedOrder = fixedOrder;
  }
  /// The root, the receiver or the sender, by its place in the group.
  void peer(Index place) { Building.peer = place.value(); }
  /// The ranks along one axis of a mesh instead of all.
  void along(const Indices &mesh, uint32_t axis) {
    Dims extents = mesh;
    Building.group = {axis, {extents.begin(), extents.end()}};
  }
  void after(TaskId task) { Building.deps.push_back(task); }
  void at(const char *file, int line, int col) { Building.loc = {file, line, col}; }

private:
  friend class Orchestrator;
  CollectiveTask Building;
};

class Orchestrator {
public:
  explicit Orchestrator(Engine &engine) : Run(engine) {}
  Orchestrator(const Orchestrator &) = delete;
  Orchestrator &operator=(const Orchestrator &) = delete;

  /// An intermediate: its memory returns when the tasks that use it have retired.
  Tensor alloc(DType dtype, const Indices &extents) const {
    return check(Run.alloc(dtype, extents));
  }

  /// Launches a task; returns at once.
  TaskId submit(TaskArgs &task) const {
    if (!Marked.isEmpty())
      task.Building.markWhere([this](const Tensor &tensor) { return Marked.contains(tensor); });
    return check(Run.submit(task.Building));
  }

  /// Launches what several ranks do together; returns at once, but for a barrier.
  TaskId submit(CollectiveArgs &task) const {
    for (const Tensor *tensor : {&task.Building.source, &task.Building.target})
      task.Building.isMarked |= !tensor->isNull() && Marked.contains(*tensor);
    return check(Run.submit(task.Building));
  }

  /// This rank's place among all ranks, or along an axis of a mesh; and how many there are.
  Index rank(const Indices &mesh = {}, uint32_t axis = 0) const {
    return lineOf(mesh, axis).placeOf(Run.ranks().rank());
  }
  Index ranks(const Indices &mesh = {}, uint32_t axis = 0) const {
    return lineOf(mesh, axis).count;
  }

  /// Waits for the tasks that write this element and reads it.
  template <typename T> T get(const Tensor &tensor, const Indices &indices) const {
    ScalarBits value = check(Run.get(tensor, indices));
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(value.asDouble());
    else
      return static_cast<T>(value.asInt());
  }

  /// Ends the orchestration unless its arguments are as it requires.
  void require(bool holds, const char *message, const SourceLoc &loc) const {
    if (!holds)
      throw Failure{
          Status(StatusCode::InvalidArgument, std::string("does not hold: ") + message, loc)};
  }

  /// Every task launched from now on with a view of this memory has it dumped.
  void dump(const Tensor &tensor) { Marked.add(tensor); }

private:
  friend class Scope;

  RankLine lineOf(const Indices &mesh, uint32_t axis) const {
    Dims extents = mesh;
    return check(MeshAxis{axis, {extents.begin(), extents.end()}}.lineOf(Run.ranks().rank(),
                                                                         Run.ranks().ranks()));
  }

  Engine &Run;
  DumpMarks Marked;
};

/// From here to the end of the block. In a manual one no order is inferred among its own tasks.
class Scope {
public:
  enum Kind : bool { Inferred, Manual };
  explicit Scope(const Orchestrator &rt, Kind kind = Inferred) : Run(rt.Run) {
    Run.beginScope(kind == Manual);
  }
  ~Scope() { (void)Run.endScope(); } // fails only where nothing was begun
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  Engine &Run;
};

// Views, by reference.
inline Index dim(const Tensor &tensor, int axis) { return tensor.extent(axis); }
inline Tensor slice(const Tensor &tensor, const Indices &offsets, const Indices &sizes,
                    const Indices &dropped = {}) {
  return check(tensor.slice(offsets, sizes, dropped));
}
inline Tensor transpose(const Tensor &tensor, const Indices &permutation) {
  return check(tensor.transpose(permutation));
}
inline Tensor reshape(const Tensor &tensor, const Indices &extents) {
  return check(tensor.reshape(extents));
}

// The parameters of a signature. `any` is an extent that is known only at run time.
inline constexpr int64_t any = dynamicExtent;
inline TensorParam input(const char *name, DType dtype, Dims extents) {
  return {name, dtype, Direction::In, {extents.begin(), extents.end()}, false, false};
}
inline TensorParam output(const char *name, DType dtype, Dims extents) {
  return {name, dtype, Direction::Out, {extents.begin(), extents.end()}, false, false};
}
inline TensorParam inout(const char *name, DType dtype, Dims extents) {
  return {name, dtype, Direction::InOut, {extents.begin(), extents.end()}, false, false};
}

/// What an orchestration is called with: its tensors, then its scalars, as a task carries them.
struct Arguments {
  std::span<const Tensor> tensors;
  std::span<const ScalarBits> scalars;

  const Tensor &tensor(size_t index) const { return tensors[index]; }
  template <typename T> T scalar(size_t index) const {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(scalars[index].asDouble());
    else
      return static_cast<T>(scalars[index].asInt());
  }
};

/// The entry of an emitted file. Launches everything; Engine::wait() or finish() waits for it.
using Entry = void(Engine &engine, const Arguments &args, Status &status);

/// Runs `body(Orchestrator &, const Arguments &)` once the arguments and the registered kernels are
/// what it was written for.
template <typename Body>
Status orchestrate(Engine &engine, const Arguments &args, const Signature &signature,
                   std::span<const Signature> kernels, Body body) {
  if (Status bad = signature.verifyArguments(args.tensors, args.scalars); !bad.isOk())
    return bad;
  for (const Signature &kernel : kernels)
    if (Status bad = engine.registry().verify(kernel); !bad.isOk())
      return bad;
  try {
    Orchestrator rt(engine);
    body(rt, args);
  } catch (const Failure &failure) {
    Status why = failure.status.asFaultOfProgram();
    engine.ranks().fail(why); // nobody is to wait for what this rank will not come to
    return why;
  }
  return Status::ok();
}

} // namespace kiln::orch

#endif // KILN_RUNTIME_ORCHESTRATION_H
