#include "kiln/runtime/compiled_orchestration.h"

#include "kiln/runtime/dump_marks.h"

namespace kiln {
namespace {

/// What generated code sees as a kiln_orchestration.
struct Run : kiln_orchestration {
  Run(Engine &engine, std::span<const KernelRecord *const> kernels, std::span<const Tensor> given,
      const kiln_orchestration_functions &table)
      : kiln_orchestration{&table, KILN_ABI_VERSION}, engine(engine), kernels(kernels),
        tensors(given.begin(), given.end()) {}

  Engine &engine;
  std::span<const KernelRecord *const> kernels;
  std::vector<Tensor> tensors; // by handle
  DumpMarks marked;
  uint64_t number = 0; // the engine's, of the tasks submitted
  int openScopes = 0;
  Status failure;

  int32_t fail(Status status, const kiln_source *source) {
    SourceLoc loc;
    if (source && source->file)
      loc = {source->file, source->line, source->col};
    failure = status.withLocation(loc);
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
};

Run &runOf(kiln_orchestration *run) { return *static_cast<Run *>(run); }

int32_t alloc(kiln_orchestration *handle, const kiln_source *source, int32_t dtype, uint32_t rank,
              const int64_t *extents, kiln_handle *result) {
  Run &run = runOf(handle);
  return run.push(run.engine.alloc(static_cast<DType>(dtype), Dims(extents, rank)), source, result);
}

int32_t slice(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
              const int64_t *offsets, const int64_t *sizes, uint32_t dropped, kiln_handle *result) {
  Run &run = runOf(handle);
  InplaceVector<int64_t, KILN_MAX_RANK> axes;
  for (int64_t axis = 0; axis < KILN_MAX_RANK; ++axis)
    if (dropped >> axis & 1)
      axes.push_back(axis);
  return run.push(run.tensors[tensor].slice(run.perAxis(tensor, offsets),
                                            run.perAxis(tensor, sizes),
                                            Dims(std::span<const int64_t>(axes))),
                  source, result);
}

int32_t transpose(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                  const int64_t *permutation, kiln_handle *result) {
  Run &run = runOf(handle);
  return run.push(run.tensors[tensor].transpose(run.perAxis(tensor, permutation)), source, result);
}

int32_t reshape(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                uint32_t rank, const int64_t *extents, kiln_handle *result) {
  Run &run = runOf(handle);
  return run.push(run.tensors[tensor].reshape(Dims(extents, rank)), source, result);
}

int64_t dim(kiln_orchestration *handle, kiln_handle tensor, uint32_t axis) {
  return runOf(handle).tensors[tensor].extent(static_cast<int>(axis));
}

Task taskOf(const Run &run, const kiln_launch &launch) {
  Task task = launch.kernel < 0 ? Task() : Task(*run.kernels[launch.kernel]);
  for (const kiln_launch_tensor &arg : std::span(launch.tensors, launch.num_tensors)) {
    const Tensor &tensor = run.tensors[arg.tensor];
    bool isMarked = arg.is_marked || run.marked.contains(tensor);
    task.addTensor(tensor, static_cast<Direction>(arg.direction), isMarked);
  }
  for (const kiln_launch_scalar &arg : std::span(launch.scalars, launch.num_scalars))
    task.addScalar(arg.bits, static_cast<DType>(arg.dtype));
  for (uint64_t dep : std::span(launch.deps, launch.num_deps))
    task.after({dep, run.number});
  if (const kiln_predicate *predicate = launch.predicate) {
    Dims indices = run.perAxis(predicate->tensor, predicate->indices);
    task.when({run.tensors[predicate->tensor],
               {indices.begin(), indices.end()},
               static_cast<Compare>(predicate->compare),
               ScalarBits::fromInt(DType::I64, predicate->constant)});
  }
  if (launch.grid_rank != 0)
    task.grid(Dims(launch.grid, launch.grid_rank));
  if (launch.source && launch.source->file)
    task.at(launch.source->file, launch.source->line, launch.source->col);
  return task.syncStart(launch.sync_start != 0);
}

int32_t submit(kiln_orchestration *handle, const kiln_launch *launch, uint64_t *taskId) {
  Run &run = runOf(handle);
  Expected<TaskId> id = run.engine.submit(taskOf(run, *launch));
  if (!id)
    return run.fail(id.status(), launch->source);
  run.number = id->run;
  if (taskId)
    *taskId = id->index;
  return 0;
}

int32_t get(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
            const int64_t *indices, uint64_t *bits) {
  Run &run = runOf(handle);
  Expected<ScalarBits> value = run.engine.get(run.tensors[tensor], run.perAxis(tensor, indices));
  if (!value)
    return run.fail(value.status(), source);
  *bits = value->bits;
  return 0;
}

void mark(kiln_orchestration *handle, kiln_handle tensor) {
  runOf(handle).marked.add(runOf(handle).tensors[tensor]);
}

void beginScope(kiln_orchestration *handle, int32_t isManual) {
  ++runOf(handle).openScopes;
  runOf(handle).engine.beginScope(isManual != 0);
}

int32_t endScope(kiln_orchestration *handle, const kiln_source *source) {
  --runOf(handle).openScopes;
  Status status = runOf(handle).engine.endScope();
  return status.isOk() ? 0 : runOf(handle).fail(std::move(status), source);
}

kiln_handle top(kiln_orchestration *handle) {
  return static_cast<kiln_handle>(runOf(handle).tensors.size());
}

void release(kiln_orchestration *handle, kiln_handle top) { runOf(handle).tensors.resize(top); }

int32_t fail(kiln_orchestration *handle, const kiln_source *source, const char *message) {
  return runOf(handle).fail(Status(StatusCode::InvalidArgument, message), source);
}

constexpr kiln_orchestration_functions kFunctions = {
    alloc, slice,      transpose, reshape, dim,     submit, get,
    mark,  beginScope, endScope,  top,     release, fail};

} // namespace

Status runOrchestration(Engine &engine, kiln_orchestration_fn entry,
                        std::span<const KernelRecord *const> kernels,
                        std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) {
  for (size_t i = 0; i < kernels.size(); ++i)
    if (!kernels[i])
      return Status(StatusCode::NotFound, "kernel " + std::to_string(i) + " is not registered");
  Run run(engine, kernels, tensors, kFunctions);
  std::vector<uint64_t> slots;
  for (const ScalarBits &scalar : scalars)
    slots.push_back(scalar.bits);
  int32_t result = entry(&run, slots.data());
  for (; run.openScopes > 0; --run.openScopes) // of an orchestration that failed
    (void)engine.endScope();
  if (run.failure.isOk() && result != 0)
    return Status(StatusCode::Internal, "the orchestration returned " + std::to_string(result) +
                                            " without saying what failed");
  return run.failure;
}

} // namespace kiln
