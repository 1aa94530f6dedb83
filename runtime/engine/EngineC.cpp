// The C face of the engine: checks what C cannot, and calls the C++ one.
#include "kiln/runtime/engine_c.h"

#include "kiln/runtime/engine.h"

using namespace kiln;

struct kiln_registry {
  KernelRegistry kernels;
};
struct kiln_buffer {
  std::shared_ptr<Buffer> buffer;
};
struct kiln_engine {
  std::unique_ptr<Engine> engine;
  const KernelRegistry &kernels;
  uint64_t run = 0; // of the tasks submitted last
  std::string error;

  int32_t report(const Status &status) {
    if (!status.isOk())
      error = status.str();
    return static_cast<int32_t>(status.code());
  }
};

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

kiln_registry *kiln_registry_create(void) { return new kiln_registry; }
void kiln_registry_destroy(kiln_registry *registry) { delete registry; }

int32_t kiln_registry_add(kiln_registry *registry, const char *name, kiln_kernel_fn function,
                          void *user, uint64_t workspaceBytes) {
  if (!registry || !name)
    return -1;
  Expected<int32_t> id =
      registry->kernels.add({name, function, std::nullopt, user, workspaceBytes, {}, -1});
  return id ? *id : -1;
}

kiln_engine *kiln_engine_create(const kiln_registry *registry, uint32_t workers) {
  if (!registry)
    return nullptr;
  EngineOptions options;
  options.workers = workers;
  options.recordTrace = false; // which C cannot ask for
  Expected<std::unique_ptr<Engine>> engine = Engine::create(registry->kernels, options);
  return engine ? new kiln_engine{std::move(*engine), registry->kernels, 0, ""} : nullptr;
}

void kiln_engine_destroy(kiln_engine *engine) { delete engine; }
const char *kiln_engine_error(const kiln_engine *engine) { return engine->error.c_str(); }

kiln_buffer *kiln_buffer_import(void *data, uint64_t bytes) {
  return new kiln_buffer{Buffer::wrap(data, bytes)};
}
void kiln_buffer_release(kiln_buffer *buffer) { delete buffer; }

kiln_buffer *kiln_engine_alloc(kiln_engine *engine, int32_t dtype, uint32_t rank,
                               const int64_t *extents, kiln_tensor *view) {
  Expected<Tensor> tensor = engine->engine->alloc(static_cast<DType>(dtype), Dims(extents, rank));
  if (!tensor) {
    engine->report(tensor.status());
    return nullptr;
  }
  *view = tensor->toAbi();
  return new kiln_buffer{tensor->buffer()};
}

static Status addTensor(Task &task, const kiln_task_tensor &arg) {
  const kiln_tensor &view = arg.view;
  if (!arg.buffer)
    return invalid("null buffer");
  if (arg.direction < KILN_IN || arg.direction > KILN_INOUT)
    return invalid("direction " + std::to_string(arg.direction) + " does not exist");
  if (view.rank > KILN_MAX_RANK)
    return invalid("rank " + std::to_string(view.rank) + " is not supported");
  const std::shared_ptr<Buffer> &buffer = arg.buffer->buffer;
  auto begin = reinterpret_cast<uintptr_t>(buffer->data());
  auto data = reinterpret_cast<uintptr_t>(view.data);
  if (data < begin)
    return invalid("the data lies outside its buffer");
  Expected<Tensor> tensor =
      Tensor::view(buffer, data - begin, static_cast<DType>(view.dtype),
                   Dims(view.extents, view.rank), Dims(view.strides, view.rank));
  if (!tensor)
    return tensor.status();
  task.addTensor(std::move(*tensor), static_cast<Direction>(arg.direction), arg.is_marked != 0);
  return Status::ok();
}

static Expected<Task> convert(const kiln_engine &engine, const kiln_task &from) {
  const KernelRecord *kernel = from.func_id < 0 ? nullptr : engine.kernels.find(from.func_id);
  if (from.func_id >= 0 && !kernel)
    return Status(StatusCode::NotFound,
                  "function id " + std::to_string(from.func_id) + " is not registered");
  Task task = kernel ? Task(*kernel) : Task();
  for (uint32_t i = 0; i < from.num_tensors; ++i)
    if (Status bad = addTensor(task, from.tensors[i]); !bad.isOk())
      return bad.withPrefix("argument " + std::to_string(i));
  for (uint32_t i = 0; i < from.num_scalars; ++i)
    task.addScalar(from.scalars[i].bits, static_cast<DType>(from.scalars[i].dtype));
  for (uint32_t i = 0; i < from.num_deps; ++i)
    task.after({from.deps[i], engine.run});
  if (from.grid_rank > KILN_MAX_GRID_DIMS)
    return invalid("a grid has at most " + std::to_string(KILN_MAX_GRID_DIMS) + " dimensions");
  if (from.grid_rank != 0)
    task.grid(Dims(from.grid, from.grid_rank));
  if (from.file)
    task.at(from.file, from.line, from.col);
  return task;
}

int32_t kiln_engine_submit(kiln_engine *engine, const kiln_task *from, uint64_t *taskId) {
  Expected<Task> task = convert(*engine, *from);
  if (!task)
    return engine->report(task.status());
  Expected<TaskId> id = engine->engine->submit(*task);
  if (!id)
    return engine->report(id.status());
  engine->run = id->run;
  if (taskId)
    *taskId = id->index;
  return 0;
}

void kiln_engine_begin_scope(kiln_engine *engine, int32_t isManual) {
  engine->engine->beginScope(isManual != 0);
}
int32_t kiln_engine_end_scope(kiln_engine *engine) {
  return engine->report(engine->engine->endScope());
}
int32_t kiln_engine_wait(kiln_engine *engine) { return engine->report(engine->engine->wait()); }
int32_t kiln_engine_finish(kiln_engine *engine) { return engine->report(engine->engine->finish()); }
