#include "kiln/runtime/compiled_orchestration.h"

#include "kiln/runtime/dump_marks.h"

#include "abi/OrchestrationTensors.h"

namespace kiln {
namespace {

using namespace orchestration_tensors;

struct Run : OrchestrationTensors {
  Run(Engine &engine, std::span<const KernelRecord *const> kernels, std::span<const Tensor> given,
      const kiln_orchestration_functions &table)
      : OrchestrationTensors(given, table), engine(engine), kernels(kernels) {}

  Engine &engine;
  std::span<const KernelRecord *const> kernels;
  DumpMarks marked;
  uint64_t number = 0; // the engine's, of the tasks submitted
  int openScopes = 0;
};

Run &runOf(kiln_orchestration *run) { return *static_cast<Run *>(run); }

int32_t alloc(kiln_orchestration *handle, const kiln_source *source, int32_t dtype, uint32_t rank,
              const int64_t *extents, kiln_handle *result) {
  Run &run = runOf(handle);
  return run.push(run.engine.alloc(static_cast<DType>(dtype), Dims(extents, rank)), source, result);
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
  Status status = run.call(entry, scalars);
  for (; run.openScopes > 0; --run.openScopes) // of an orchestration that failed
    (void)engine.endScope();
  return status;
}

} // namespace kiln
