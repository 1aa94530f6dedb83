//===- OrchestrationTensors.h - what every compiled orchestration works on ------------------===//
//
// The part of kiln/orchestration_abi.h that is the same whatever executes the tasks: tensors by
// handle, views of them, and the first failure with its place in the user's source. Whoever runs
// orchestrations derives from it and adds allocation, submission and `get`.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_ORCHESTRATIONTENSORS_H
#define KILN_RUNTIME_ABI_ORCHESTRATIONTENSORS_H

#include "kiln/orchestration_abi.h"
#include "kiln/runtime/inplace_vector.h"
#include "kiln/runtime/tensor.h"

namespace kiln {

/// What generated code sees as a kiln_orchestration.
struct OrchestrationTensors : kiln_orchestration {
  OrchestrationTensors(std::span<const Tensor> given, const kiln_orchestration_functions &table)
      : kiln_orchestration{&table, KILN_ABI_VERSION}, tensors(given.begin(), given.end()) {}

  std::vector<Tensor> tensors; // by handle
  Status failure;

  int32_t fail(const Status &status, const kiln_source *source) {
    SourceLoc loc;
    if (source && source->file)
      loc = {source->file, source->line, source->col};
    failure = status.asFaultOfProgram().withLocation(loc);
    return static_cast<int32_t>(failure.code());
  }

  /// Makes `tensor` the value of `result`.
  int32_t push(Expected<Tensor> tensor, const kiln_source *source, kiln_handle *result) {
    if (!tensor)
      return fail(tensor.status(), source);
    *result = static_cast<kiln_handle>(tensors.size());
    tensors.push_back(std::move(*tensor));
    return 0;
  }

  Dims perAxis(kiln_handle tensor, const int64_t *values) const {
    return Dims(values, static_cast<size_t>(tensors[tensor].rank()));
  }

  /// Calls the orchestration, and says what went wrong.
  Status call(kiln_orchestration_fn entry, std::span<const ScalarBits> scalars) {
    std::vector<uint64_t> slots;
    for (const ScalarBits &scalar : scalars)
      slots.push_back(scalar.bits);
    int32_t result = entry(this, slots.data());
    if (failure.isOk() && result != 0)
      return Status(StatusCode::Internal, "the orchestration returned " + std::to_string(result) +
                                              " without saying what failed");
    return failure;
  }
};

/// Functions of the table that need nothing but the tensors.
namespace orchestration_tensors {

inline OrchestrationTensors &of(kiln_orchestration *run) {
  return *static_cast<OrchestrationTensors *>(run);
}

inline int32_t slice(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                     const int64_t *offsets, const int64_t *sizes, uint32_t dropped,
                     kiln_handle *result) {
  OrchestrationTensors &run = of(handle);
  InplaceVector<int64_t, KILN_MAX_RANK> axes;
  for (int64_t axis = 0; axis < KILN_MAX_RANK; ++axis)
    if (dropped >> axis & 1)
      axes.push_back(axis);
  return run.push(run.tensors[tensor].slice(run.perAxis(tensor, offsets),
                                            run.perAxis(tensor, sizes),
                                            Dims(std::span<const int64_t>(axes))),
                  source, result);
}

inline int32_t transpose(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                         const int64_t *permutation, kiln_handle *result) {
  OrchestrationTensors &run = of(handle);
  return run.push(run.tensors[tensor].transpose(run.perAxis(tensor, permutation)), source, result);
}

inline int32_t reshape(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                       uint32_t rank, const int64_t *extents, kiln_handle *result) {
  OrchestrationTensors &run = of(handle);
  return run.push(run.tensors[tensor].reshape(Dims(extents, rank)), source, result);
}

inline int64_t dim(kiln_orchestration *handle, kiln_handle tensor, uint32_t axis) {
  return of(handle).tensors[tensor].extent(static_cast<int>(axis));
}

inline kiln_handle top(kiln_orchestration *handle) {
  return static_cast<kiln_handle>(of(handle).tensors.size());
}

inline void release(kiln_orchestration *handle, kiln_handle top) { of(handle).tensors.resize(top); }

inline int32_t fail(kiln_orchestration *handle, const kiln_source *source, const char *message) {
  return of(handle).fail(Status(StatusCode::InvalidArgument, message), source);
}

} // namespace orchestration_tensors
} // namespace kiln

#endif // KILN_RUNTIME_ABI_ORCHESTRATIONTENSORS_H
