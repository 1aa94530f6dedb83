#include "abi/OrchestrationRun.h"

#include "abi/CBoundary.h"

#include "kiln/runtime/inplace_vector.h"

using namespace kiln;

/// The functions that generated code calls: each finds its run and hands over to it.
struct OrchestrationRun::Functions {
  static OrchestrationRun &of(kiln_orchestration *handle) {
    return *static_cast<OrchestrationRun *>(handle);
  }

  static int32_t alloc(kiln_orchestration *handle, const kiln_source *source, int32_t dtype,
                       uint32_t rank, const int64_t *extents, kiln_handle *result) {
    OrchestrationRun &run = of(handle);
    return run.push(run.alloc(static_cast<DType>(dtype), Dims(extents, rank)), source, result);
  }

  static int32_t slice(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                       const int64_t *offsets, const int64_t *sizes, uint32_t dropped,
                       kiln_handle *result) {
    OrchestrationRun &run = of(handle);
    InplaceVector<int64_t, KILN_MAX_RANK> axes;
    for (int64_t axis = 0; axis < KILN_MAX_RANK; ++axis)
      if (dropped >> axis & 1)
        axes.push_back(axis);
    return run.push(run.tensor(tensor).slice(run.perAxis(tensor, offsets),
                                             run.perAxis(tensor, sizes),
                                             Dims(std::span<const int64_t>(axes))),
                    source, result);
  }

  static int32_t transpose(kiln_orchestration *handle, const kiln_source *source,
                           kiln_handle tensor, const int64_t *permutation, kiln_handle *result) {
    OrchestrationRun &run = of(handle);
    return run.push(run.tensor(tensor).transpose(run.perAxis(tensor, permutation)), source, result);
  }

  static int32_t reshape(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                         uint32_t rank, const int64_t *extents, kiln_handle *result) {
    OrchestrationRun &run = of(handle);
    return run.push(run.tensor(tensor).reshape(Dims(extents, rank)), source, result);
  }

  static int64_t dim(kiln_orchestration *handle, kiln_handle tensor, uint32_t axis) {
    return of(handle).tensor(tensor).extent(static_cast<int>(axis));
  }

  static int32_t submit(kiln_orchestration *handle, const kiln_launch *launch, uint64_t *task) {
    Expected<uint64_t> number = of(handle).submit(*launch);
    if (!number)
      return of(handle).fail(number.status(), launch->source);
    if (task)
      *task = *number;
    return 0;
  }

  static int32_t get(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                     const int64_t *indices, uint64_t *bits) {
    Expected<uint64_t> value = of(handle).get(tensor, indices);
    if (!value)
      return of(handle).fail(value.status(), source);
    *bits = *value;
    return 0;
  }

  static void mark(kiln_orchestration *handle, kiln_handle tensor) {
    of(handle).mark(of(handle).tensor(tensor));
  }

  static void beginScope(kiln_orchestration *handle, int32_t isManual) {
    of(handle).beginScope(isManual != 0);
  }

  static int32_t endScope(kiln_orchestration *handle, const kiln_source *source) {
    Status status = of(handle).endScope();
    return status.isOk() ? 0 : of(handle).fail(status, source);
  }

  static kiln_handle top(kiln_orchestration *handle) { return of(handle).top(); }

  static void release(kiln_orchestration *handle, kiln_handle top) {
    of(handle).Made.resize(top - of(handle).Given.size());
  }

  static int32_t fail(kiln_orchestration *handle, const kiln_source *source, const char *message) {
    return of(handle).fail(Status(StatusCode::InvalidArgument, message), source);
  }

  static int32_t collect(kiln_orchestration *handle, const kiln_collective *collective,
                         uint64_t *task) {
    Expected<uint64_t> number = of(handle).collect(*collective);
    if (!number)
      return of(handle).fail(number.status(), collective->source_loc);
    if (task)
      *task = *number;
    return 0;
  }

  static int32_t rank(kiln_orchestration *handle, const kiln_source *source,
                      const kiln_rank_group *group, int32_t wantsCount, int64_t *result) {
    Expected<int64_t> number = of(handle).rank(*group, wantsCount != 0);
    if (!number)
      return of(handle).fail(number.status(), source);
    *result = *number;
    return 0;
  }

  static const kiln_orchestration_functions table;
};

const kiln_orchestration_functions OrchestrationRun::Functions::table = {
    alloc,      slice,    transpose, reshape, dim,  submit,  get, mark,
    beginScope, endScope, top,       release, fail, collect, rank};

OrchestrationRun::OrchestrationRun(std::span<const Tensor> given)
    : kiln_orchestration{&Functions::table, KILN_ABI_VERSION}, Given(given) {}

Expected<uint64_t> OrchestrationRun::collect(const kiln_collective &) {
  return Status(StatusCode::Unsupported, "several ranks do not run on this platform yet");
}

CollectiveTask OrchestrationRun::taskOf(const kiln_collective &given, uint64_t run) const {
  CollectiveTask task;
  task.kind = static_cast<CollectiveKind>(given.kind);
  task.how = static_cast<Reduction>(given.how);
  task.fixedOrder = given.fixed_order != 0;
  task.group = groupOf(*given.group);
  task.peer = given.peer;
  if (given.source != KILN_NO_TENSOR)
    task.source = tensor(given.source);
  if (given.target != KILN_NO_TENSOR)
    task.target = tensor(given.target);
  for (uint64_t dep : std::span(given.deps, given.num_deps))
    task.deps.push_back({dep, run});
  task.loc = placeOf(given.source_loc);
  return task;
}

Expected<int64_t> OrchestrationRun::rank(const kiln_rank_group &, bool wantsCount) {
  return int64_t{wantsCount}; // rank 0 of 1
}

int32_t OrchestrationRun::fail(const Status &status, const kiln_source *source) {
  Failure = status.asFaultOfProgram().withLocation(placeOf(source));
  return static_cast<int32_t>(Failure.code());
}

int32_t OrchestrationRun::push(Expected<Tensor> tensor, const kiln_source *source,
                               kiln_handle *result) {
  if (!tensor)
    return fail(tensor.status(), source);
  *result = top();
  Made.push_back(std::move(*tensor));
  return 0;
}

Status OrchestrationRun::call(kiln_orchestration_fn entry, std::span<const ScalarBits> scalars) {
  std::vector<uint64_t> slots;
  for (const ScalarBits &scalar : scalars)
    slots.push_back(scalar.bits);
  return call(entry, std::span<const uint64_t>(slots));
}

Status OrchestrationRun::call(kiln_orchestration_fn entry, std::span<const uint64_t> slots) {
  int32_t result = entry(this, slots.data());
  if (Failure.isOk() && result != 0)
    return Status(StatusCode::Internal, "the orchestration returned " + std::to_string(result) +
                                            " without saying what failed");
  return Failure;
}
