//===- OrchestrationRun.h - what every compiled orchestration runs on ----------------------===//
//
// The core behind kiln/orchestration_abi.h, whatever executes the tasks: the table of functions,
// tensors by handle, views of them, and the first failure with its place in the user's source.
// Whoever executes tasks derives from it and says how memory is allocated, how a task is submitted
// and how an element is read.
//
// Ownership: borrows the tensors that the entry is called with, until call() returns. Threads: as
// orchestration_abi.h.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_ORCHESTRATIONRUN_H
#define KILN_RUNTIME_ABI_ORCHESTRATIONRUN_H

#include "kiln/orchestration_abi.h"
#include "kiln/runtime/ranks.h"
#include "kiln/runtime/tensor.h"

namespace kiln {

/// What generated code sees as a kiln_orchestration.
class OrchestrationRun : public kiln_orchestration {
public:
  /// `given` are the tensors the entry is called with.
  explicit OrchestrationRun(std::span<const Tensor> given);
  virtual ~OrchestrationRun() = default;
  OrchestrationRun(const OrchestrationRun &) = delete;
  OrchestrationRun &operator=(const OrchestrationRun &) = delete;

  /// Calls the orchestration, and says what went wrong.
  Status call(kiln_orchestration_fn entry, std::span<const ScalarBits> scalars);
  /// The same with numbers as they stand in kiln_args.
  Status call(kiln_orchestration_fn entry, std::span<const uint64_t> slots);

protected:
  /// A row-major intermediate.
  virtual Expected<Tensor> alloc(DType dtype, Dims extents) = 0;
  /// Launches a task; its number, by which later launches name it.
  virtual Expected<uint64_t> submit(const kiln_launch &launch) = 0;
  /// Waits for the tasks that write the element; its bits as a slot of kiln_args.
  virtual Expected<uint64_t> get(kiln_handle tensor, const int64_t *indices) = 0;
  /// Launches what several ranks do together. Unsupported unless whoever executes tasks can.
  virtual Expected<uint64_t> collect(const kiln_collective &collective);
  /// This rank's place in a group, or how many there are in it.
  virtual Expected<int64_t> rank(const kiln_rank_group &group, bool wantsCount);
  virtual void mark(const Tensor &) {}
  virtual void beginScope(bool /*isManual*/) {}
  virtual Status endScope() { return Status::ok(); }

  /// The given ones come first, then what the orchestration made.
  const Tensor &tensor(kiln_handle handle) const {
    return handle < Given.size() ? Given[handle] : Made[handle - Given.size()];
  }
  static MeshAxis groupOf(const kiln_rank_group &group) {
    return {group.axis, {group.extents, group.extents + group.rank}};
  }
  /// What `collect` is given, for run number `run`.
  CollectiveTask taskOf(const kiln_collective &given, uint64_t run) const;
  Dims perAxis(kiln_handle handle, const int64_t *values) const {
    return Dims(values, static_cast<size_t>(tensor(handle).rank()));
  }

private:
  struct Functions; // the table's

  /// The next one made.
  kiln_handle top() const { return static_cast<kiln_handle>(Given.size() + Made.size()); }
  int32_t fail(const Status &status, const kiln_source *source);
  /// Makes `tensor` the value of `result`.
  int32_t push(Expected<Tensor> tensor, const kiln_source *source, kiln_handle *result);

  std::span<const Tensor> Given;
  std::vector<Tensor> Made;
  Status Failure;
};

} // namespace kiln

#endif // KILN_RUNTIME_ABI_ORCHESTRATIONRUN_H
