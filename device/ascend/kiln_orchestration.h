// What the orchestrations that Kiln writes for the `simpler` runtime are written with: the names of
// kiln/runtime/orchestration.h over pto_orchestration_api.h. C++17. See docs/ascend.md.
//
// simpler orders a task behind those that wrote what it reads. That it waits for readers of what it
// overwrites, Kiln says itself: each task names all earlier ones that touch the same memory, where
// one of the two writes.
#pragma once

#include "pto_orchestration_api.h"

#include <initializer_list>
#include <string.h>
#include <vector>

namespace kiln {

enum class DType { I1, I8, I16, I32, I64, F16, BF16, F32 };

namespace orch {

using Index = int64_t;
using Tensor = ChipTensor;
using TaskId = PTO2TaskId;

struct SourceLoc {
  const char *file;
  int line, col;
};
enum class Mark : bool { No, Yes };

inline DataType dataTypeOf(DType type) {
  switch (type) {
  case DType::I1:
    return DataType::BOOL;
  case DType::I8:
    return DataType::INT8;
  case DType::I16:
    return DataType::INT16;
  case DType::I32:
    return DataType::INT32;
  case DType::I64:
    return DataType::INT64;
  case DType::F16:
    return DataType::FLOAT16;
  case DType::BF16:
    return DataType::BFLOAT16;
  case DType::F32:
    return DataType::FLOAT32;
  }
  return DataType::FLOAT32;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

inline Index trunc_div(Index a, Index b) { return a / b; }
inline Index trunc_rem(Index a, Index b) { return a % b; }
inline Index floor_div(Index a, Index b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline Index ceil_div(Index a, Index b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }
inline Index min(Index a, Index b) { return a < b ? a : b; }
inline Index max(Index a, Index b) { return a < b ? b : a; }

/// From a number up to another, in steps.
struct Range {
  Index from, to, step;
  struct Iterator {
    Index at, to, step;
    Index operator*() const { return at; }
    void operator++() { at += step; }
    bool operator!=(const Iterator &) const { return at < to; }
  };
  Iterator begin() const { return {from, to, step}; }
  Iterator end() const { return {to, to, step}; }
};
inline Range range(Index from, Index to, Index step) { return {from, to, step}; }

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

using Indices = std::initializer_list<Index>;

inline Index dim(const Tensor &tensor, int axis) { return tensor.shapes[axis]; }

inline bool isIn(Index value, Indices list) {
  for (Index other : list)
    if (other == value)
      return true;
  return false;
}

/// Whether elements follow one another, row by row; and how many there are from the first on.
inline void describe(Tensor &tensor) {
  uint64_t next = 1, last = 0;
  tensor.is_contiguous = true;
  bool isEmpty = false;
  for (uint32_t i = tensor.ndims; i-- > 0;) {
    tensor.is_contiguous &= tensor.strides[i] == next;
    isEmpty |= tensor.shapes[i] == 0;
    last += uint64_t(tensor.shapes[i] - 1) * tensor.strides[i];
    next *= tensor.shapes[i];
  }
  tensor.extent_elem_cache = isEmpty ? 0 : last + 1;
}

inline Tensor slice(const Tensor &of, Indices offsets, Indices sizes, Indices dropped = {}) {
  Tensor result = of;
  result.ndims = 0;
  const Index *offset = offsets.begin(), *size = sizes.begin();
  for (uint32_t i = 0; i < of.ndims; ++i) {
    result.start_offset += uint64_t(offset[i]) * of.strides[i];
    if (isIn(i, dropped))
      continue;
    result.shapes[result.ndims] = uint32_t(size[i]);
    result.strides[result.ndims++] = of.strides[i];
  }
  describe(result);
  return result;
}
inline Tensor transpose(const Tensor &of, Indices permutation) {
  Tensor result = of;
  uint32_t axis = 0;
  for (Index from : permutation) {
    result.shapes[axis] = of.shapes[from];
    result.strides[axis++] = of.strides[from];
  }
  describe(result);
  return result;
}
inline Tensor reshape(const Tensor &of, Indices extents) {
  if (!of.is_contiguous)
    rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "%s", "only a dense tensor is reshaped");
  Tensor result = of;
  result.ndims = uint32_t(extents.size());
  uint32_t axis = 0, stride = 1;
  for (Index extent : extents)
    result.shapes[axis++] = uint32_t(extent);
  while (axis-- > 0) {
    result.strides[axis] = stride;
    stride *= result.shapes[axis];
  }
  describe(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// What a name of a task stands for: the numbers of its kernels, -1 for none, and how many vector
/// cores a block of it has.
struct Kernel {
  const char *name;
  int32_t aic, aiv;
  int vectorCores;
};

/// One task, argument by argument in the order of its kernel's signature.
class TaskArgs {
public:
  TaskArgs() = default;
  explicit TaskArgs(const char *kernel) : Name(kernel) {}

  void add_input(const Tensor &tensor, Mark = Mark::No) {
    Args.add_input(tensor);
    note(tensor, false);
  }
  // The runtime orders writers only where they say that they also read.
  void add_output(const Tensor &tensor, Mark = Mark::No) { add_inout(tensor); }
  void add_inout(const Tensor &tensor, Mark = Mark::No) {
    Args.add_inout(tensor);
    note(tensor, true);
  }
  void add_scalar(Index value) { Args.add_scalar(value); }
  void add_scalar(int32_t value) { Args.add_scalar(value); }
  void add_scalar(float value, DType type = DType::F32) {
    if (type != DType::F32)
      rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "%s", "scalars are of 32 or 64 bits");
    Args.add_scalar(value);
  }
  void grid(Indices blocks) {
    int axis = 0;
    for (Index count : blocks)
      Grid[axis++] = count;
  }
  void after(TaskId task) { Deps.push_back(task); }
  void at(const char *file, int line, int col) { Place = {file, line, col}; }

private:
  friend class Orchestrator;
  struct Access {
    uint64_t from, to;
    bool writes;
    TaskId task;
  };
  void note(const Tensor &tensor, bool writes) {
    uint64_t size = get_element_size(tensor.dtype);
    uint64_t from = tensor.buffer.addr + tensor.start_offset * size;
    Accesses.push_back({from, from + tensor.extent_elem() * size, writes, TaskId::invalid()});
    if (tensor.ndims > 0 && tensor.strides[tensor.ndims - 1] != 1 &&
        tensor.shapes[tensor.ndims - 1] > 1)
      rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "%s",
                      "kernels need rows whose elements follow one another");
  }

  const char *Name = nullptr;
  CoreTaskArgs Args;
  Index Grid[3] = {1, 1, 1};
  std::vector<TaskId> Deps;
  std::vector<Access> Accesses;
  SourceLoc Place = {"", 0, 0};
};

class Orchestrator {
public:
  template <size_t Count>
  explicit Orchestrator(const Kernel (&kernels)[Count]) : Kernels(kernels), NumKernels(Count) {}
  Orchestrator(const Orchestrator &) = delete;
  Orchestrator &operator=(const Orchestrator &) = delete;

  Tensor alloc(DType type, Indices extents) const {
    uint32_t shape[MAX_TENSOR_DIMS], rank = 0;
    for (Index extent : extents)
      shape[rank++] = extent < 1 ? 1 : uint32_t(extent); // of nothing, the least there is
    const TensorCreateInfo info(shape, rank, dataTypeOf(type));
    const TaskOutputTensors made = alloc_tensors(info);
    return made.empty() ? Tensor() : made.get_ref(0);
  }

  TaskId submit(TaskArgs &task) {
    for (Index count : task.Grid)
      if (count <= 0)
        return TaskId::invalid(); // no block, nothing to launch
    Index blocks = task.Grid[0] * task.Grid[1] * task.Grid[2];
    if (blocks > INT16_MAX) {
      rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "%s:%d: a grid of %lld blocks; the runtime takes %d",
                      task.Place.file, task.Place.line, (long long)blocks, INT16_MAX);
      return TaskId::invalid();
    }
    task.Args.add_scalar(task.Grid[0], task.Grid[1], task.Grid[2]);
    task.Args.launch_spec.set_block_num(int16_t(blocks));
    addDependencies(task);
    task.Args.set_dependencies(task.Deps.data(), uint32_t(task.Deps.size()));
    TaskId id = launch(task);
    remember(task, id);
    return id;
  }

  template <typename T> T get(const Tensor &tensor, Indices indices) const {
    uint32_t at[MAX_TENSOR_DIMS], rank = 0;
    for (Index index : indices)
      at[rank++] = uint32_t(index);
    return get_tensor_data<T>(tensor, rank, at);
  }

  void require(bool holds, const char *message, const SourceLoc &loc) const {
    if (!holds)
      rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "%s:%d: does not hold: %s", loc.file, loc.line,
                      message);
  }
  void dump(const Tensor &) const {}

private:
  TaskId launch(TaskArgs &task) const {
    if (!task.Name)
      return rt_submit_dummy_task(task.Args).task_id();
    for (size_t i = 0; i < NumKernels; ++i) {
      const Kernel &kernel = Kernels[i];
      if (strcmp(kernel.name, task.Name))
        continue;
      MixedKernels cores;
      if (kernel.aic >= 0)
        cores.aic_kernel_id = kernel.aic;
      if (kernel.aiv >= 0)
        cores.aiv0_kernel_id = kernel.aiv;
      if (kernel.vectorCores == 2)
        cores.aiv1_kernel_id = kernel.aiv;
      return rt_submit_task(cores, task.Args).task_id();
    }
    rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "there is no kernel '%s'", task.Name);
    return TaskId::invalid();
  }

  void addDependencies(TaskArgs &task) const {
    for (const TaskArgs::Access &mine : task.Accesses)
      for (const TaskArgs::Access &earlier : History)
        if ((mine.writes || earlier.writes) && mine.from < earlier.to && earlier.from < mine.to)
          addOnce(task.Deps, earlier.task);
  }
  static void addOnce(std::vector<TaskId> &list, TaskId id) {
    for (const TaskId &other : list)
      if (other.raw == id.raw)
        return;
    list.push_back(id);
  }

  /// Who overwrites all that another touched is waited for instead of that one.
  void remember(const TaskArgs &task, TaskId id) {
    if (!id.is_valid())
      return;
    for (TaskArgs::Access access : task.Accesses) {
      std::vector<TaskArgs::Access> kept;
      for (const TaskArgs::Access &earlier : History)
        if (!access.writes || earlier.from < access.from || access.to < earlier.to)
          kept.push_back(earlier);
      access.task = id;
      kept.push_back(access);
      History.swap(kept);
    }
  }

  const Kernel *Kernels;
  size_t NumKernels;
  std::vector<TaskArgs::Access> History;
};

/// From here to the end of the block. Order is inferred in every scope.
class Scope {
public:
  enum Kind : bool { Inferred, Manual };
  explicit Scope(const Orchestrator &, Kind = Inferred) {}

private:
  PTO2ScopeGuard Guard;
};

/// What an orchestration is called with: its tensors, then its scalars.
class Arguments {
public:
  explicit Arguments(const ChipTaskArgs &given) : Given(given) {}
  const Tensor &tensor(int place) const { return Given.tensor(place).ref(); }
  template <typename T> T scalar(int place) const { return from_u64<T>(Given.scalar(place)); }

private:
  const ChipTaskArgs &Given;
};

} // namespace orch
} // namespace kiln
