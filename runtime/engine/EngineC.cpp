// The C face of the engine: checks what C cannot, and calls the C++ one. Every function that could
// throw passes through withoutThrowing().
#include "kiln/runtime/engine_c.h"

#include "abi/CBoundary.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/ranks.h"

using namespace kiln;

// The numbers of the C interface are those of the C++ one.
static_assert(KILN_EQ == static_cast<int>(Compare::Eq) && KILN_GE == static_cast<int>(Compare::Ge));
static_assert(KILN_DYNAMIC_EXTENT == dynamicExtent);

struct kiln_registry {
  KernelRegistry kernels;
};
struct kiln_buffer {
  std::shared_ptr<Buffer> buffer;
};

namespace {

std::string &lastError() {
  static thread_local std::string text;
  return text;
}

/// Keeps the message for kiln_last_error() and returns the number of the code.
int32_t note(const Status &status) {
  if (!status.isOk())
    lastError() = status.str();
  return static_cast<int32_t>(status.code());
}

Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

/// Numbers that name no type become one that everybody refuses, not one that happens to fit a byte.
DType dtypeOf(int32_t number) {
  return static_cast<DType>(number >= 0 && number < KILN_NUM_DTYPES ? number : 255);
}

template <typename Result, typename Body> Result guarded(Result failed, Body body) noexcept {
  return withoutThrowing(failed, body, note);
}

std::string textOf(const char *text) { return text ? text : ""; }

/// Notes where a caller gave a null pointer that stands for nothing.
template <typename... T> bool areGiven(const T *...pointers) {
  bool given = ((pointers != nullptr) && ...);
  if (!given)
    note(invalid("a null pointer was given"));
  return given;
}
constexpr int32_t nullGiven = static_cast<int32_t>(StatusCode::InvalidArgument);

} // namespace

struct kiln_engine {
  std::unique_ptr<Engine> engine;
  const KernelRegistry &kernels;
  uint64_t run = 0; // of the tasks submitted last
  std::string error;

  int32_t report(const Status &status) {
    if (!status.isOk())
      error = status.str();
    return note(status);
  }
};

int32_t kiln_ranks_run(int32_t count, int32_t (*body)(int32_t, void *), void *data) {
  return guarded(internalError, [&] {
    if (!body || count < 1 || count > 1024)
      return note(invalid("ranks of one process need something to run, and are 1 to 1024"));
    RankHub hub({count});
    return note(hub.runAll([&](int32_t rank, Transport &ranks) {
      RankScope scope(ranks);
      return body(rank, data) == 0 ? Status::ok()
                                   : Status(StatusCode::KernelFailed, "it has failed");
    }));
  });
}

int32_t kiln_ranks_join(int32_t *rank, int32_t *count) {
  return guarded(internalError, [&] {
    if (!areGiven(rank, count))
      return nullGiven;
    *rank = *count = 0;
    if (!launchedRanks())
      return 0;
    Expected<Transport *> opened = openMpi();
    if (!opened)
      return note(opened.status());
    setProcessRanks(*opened);
    *rank = (*opened)->rank();
    *count = (*opened)->ranks();
    return 0;
  });
}

void kiln_ranks_leave(int32_t failed) {
  guarded(0, [&] {
    setProcessRanks(nullptr);
    closeMpi(failed != 0);
    return 0;
  });
}

const char *kiln_last_error(void) { return lastError().c_str(); }

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

kiln_registry *kiln_registry_create(void) {
  return guarded<kiln_registry *>(nullptr, [&]() -> kiln_registry * { return new kiln_registry; });
}
void kiln_registry_destroy(kiln_registry *registry) { delete registry; }

static Expected<std::optional<Signature>> convert(const std::string &name,
                                                  const kiln_signature *from) {
  if (!from)
    return std::optional<Signature>();
  if ((from->num_tensors && !from->tensors) || (from->num_scalars && !from->scalars))
    return invalid("kernel '" + name + "': a signature without its parameters: null pointer");
  Signature signature;
  signature.name = name;
  signature.coreType = "cpu";
  for (uint32_t i = 0; i < from->num_tensors; ++i) {
    const kiln_tensor_param &param = from->tensors[i];
    std::string who = "kernel '" + name + "', argument " + std::to_string(i) + ": ";
    if (param.rank > KILN_MAX_RANK)
      return invalid(who + "rank " + std::to_string(param.rank) + " is not supported");
    if (param.direction < KILN_IN || param.direction > KILN_INOUT)
      return invalid(who + "direction " + std::to_string(param.direction) + " does not exist");
    TensorParam tensor;
    tensor.name = textOf(param.name);
    tensor.dtype = dtypeOf(param.dtype);
    tensor.direction = static_cast<Direction>(param.direction);
    tensor.extents.assign(param.extents, param.extents + param.rank);
    signature.tensors.push_back(std::move(tensor));
  }
  for (uint32_t i = 0; i < from->num_scalars; ++i)
    signature.scalars.push_back({textOf(from->scalars[i].name), dtypeOf(from->scalars[i].dtype)});
  return std::optional<Signature>(std::move(signature));
}

static int32_t add(kiln_registry *registry, KernelRecord record, const kiln_signature *from) {
  if (!registry) {
    note(invalid("null registry"));
    return -1;
  }
  Expected<std::optional<Signature>> signature = convert(record.name, from);
  if (!signature) {
    note(signature.status());
    return -1;
  }
  record.signature = std::move(*signature);
  Expected<int32_t> id = registry->kernels.add(std::move(record));
  note(id.status());
  return id ? *id : -1;
}

int32_t kiln_registry_add(kiln_registry *registry, const char *name, kiln_kernel_fn function,
                          void *user, uint64_t workspaceBytes) {
  return kiln_registry_add_signed(registry, name, function, user, workspaceBytes, nullptr);
}

int32_t kiln_registry_add_signed(kiln_registry *registry, const char *name, kiln_kernel_fn function,
                                 void *user, uint64_t workspaceBytes,
                                 const kiln_signature *signature) {
  return guarded<int32_t>(-1, [&]() -> int32_t {
    KernelRecord record;
    record.name = textOf(name);
    record.function = function;
    record.user = user;
    record.workspaceBytes = workspaceBytes;
    return add(registry, std::move(record), signature);
  });
}

int32_t kiln_registry_add_group(kiln_registry *registry, const char *name, const kiln_group *group,
                                const kiln_signature *signature) {
  return guarded<int32_t>(-1, [&]() -> int32_t {
    Expected<GroupSpec> spec = group ? GroupSpec::fromAbi(*group) : invalid("null group");
    if (!spec) {
      note(spec.status());
      return -1;
    }
    KernelRecord record;
    record.name = textOf(name);
    record.group = std::move(*spec);
    return add(registry, std::move(record), signature);
  });
}

int32_t kiln_registry_find(const kiln_registry *registry, const char *name) {
  return guarded<int32_t>(-1, [&]() -> int32_t {
    const KernelRecord *kernel = registry && name ? registry->kernels.find(name) : nullptr;
    return kernel ? kernel->funcId : -1;
  });
}

//===----------------------------------------------------------------------===//
// Engines and runs
//===----------------------------------------------------------------------===//

kiln_engine *kiln_engine_create(const kiln_registry *registry, uint32_t workers) {
  kiln_engine_options options{};
  options.workers = workers;
  return kiln_engine_create_with(registry, &options);
}

kiln_engine *kiln_engine_create_with(const kiln_registry *registry,
                                     const kiln_engine_options *from) {
  return guarded<kiln_engine *>(nullptr, [&]() -> kiln_engine * {
    if (!registry || !from) {
      note(invalid("null registry or options"));
      return nullptr;
    }
    EngineOptions options;
    options.recordTrace = false; // which C cannot ask for
    options.workers = from->workers;
    if (from->has_seed)
      options.seed = from->seed;
    if (from->max_pending)
      options.maxPending = from->max_pending;
    if (from->arena_bytes)
      options.arenaBytes = from->arena_bytes;
    Expected<std::unique_ptr<Engine>> engine = Engine::create(registry->kernels, options);
    note(engine.status());
    return engine ? new kiln_engine{std::move(*engine), registry->kernels, 0, ""} : nullptr;
  });
}

void kiln_engine_destroy(kiln_engine *engine) { delete engine; }
const char *kiln_engine_error(const kiln_engine *engine) {
  return engine ? engine->error.c_str() : "a null pointer was given";
}

int32_t kiln_engine_begin(kiln_engine *engine, const kiln_run *run) {
  if (!areGiven(engine, run))
    return nullGiven;
  return guarded<int32_t>(internalError, [&]() -> int32_t {
    RunOptions options;
    options.program = textOf(run->program);
    options.dump.level = run->dump_level;
    options.dump.directory = textOf(run->dump_directory);
    return engine->report(engine->engine->begin(std::move(options)));
  });
}
int32_t kiln_engine_wait(kiln_engine *engine) {
  if (!areGiven(engine))
    return nullGiven;
  return guarded<int32_t>(internalError,
                          [&]() -> int32_t { return engine->report(engine->engine->wait()); });
}
int32_t kiln_engine_finish(kiln_engine *engine) {
  if (!areGiven(engine))
    return nullGiven;
  return guarded<int32_t>(internalError,
                          [&]() -> int32_t { return engine->report(engine->engine->finish()); });
}

int32_t kiln_engine_failure(const kiln_engine *engine, kiln_failure *failure) {
  if (!areGiven(engine, failure))
    return 1;
  const std::optional<TaskFailure> &last = engine->engine->lastFailure();
  if (!last)
    return 1;
  *failure = {last->task.index,      last->kernel.c_str(),   last->argument.c_str(),
              last->message.c_str(), last->loc.file.c_str(), last->loc.line,
              last->loc.col};
  return 0;
}

void kiln_engine_usage(const kiln_engine *engine, kiln_usage *usage) {
  if (!areGiven(engine, usage))
    return;
  EngineUsage now = engine->engine->usage();
  *usage = {now.tasks, now.regions, now.arenaBytes};
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

kiln_buffer *kiln_buffer_import(void *data, uint64_t bytes) {
  return guarded<kiln_buffer *>(
      nullptr, [&]() -> kiln_buffer * { return new kiln_buffer{Buffer::wrap(data, bytes)}; });
}
void kiln_buffer_release(kiln_buffer *buffer) { delete buffer; }

kiln_buffer *kiln_engine_alloc(kiln_engine *engine, int32_t dtype, uint32_t rank,
                               const int64_t *extents, kiln_tensor *view) {
  if (!areGiven(engine, view) || (rank > 0 && !areGiven(extents)))
    return nullptr;
  return guarded<kiln_buffer *>(nullptr, [&]() -> kiln_buffer * {
    Expected<Tensor> tensor = engine->engine->alloc(dtypeOf(dtype), Dims(extents, rank));
    if (!tensor) {
      engine->report(tensor.status());
      return nullptr;
    }
    *view = tensor->toAbi();
    return new kiln_buffer{tensor->buffer()};
  });
}

static Expected<Tensor> convert(const kiln_tensor &view, const kiln_buffer *from) {
  if (!from)
    return invalid("null buffer");
  if (view.rank > KILN_MAX_RANK)
    return invalid("rank " + std::to_string(view.rank) + " is not supported");
  auto begin = reinterpret_cast<uintptr_t>(from->buffer->data());
  auto data = reinterpret_cast<uintptr_t>(view.data);
  if (data < begin)
    return invalid("the data lies outside its buffer");
  return Tensor::view(from->buffer, data - begin, dtypeOf(view.dtype),
                      Dims(view.extents, view.rank), Dims(view.strides, view.rank));
}

static Status addTensor(Task &task, const kiln_task_tensor &arg) {
  if (arg.direction < KILN_IN || arg.direction > KILN_INOUT)
    return invalid("direction " + std::to_string(arg.direction) + " does not exist");
  Expected<Tensor> tensor = convert(arg.view, arg.buffer);
  if (!tensor)
    return tensor.status();
  task.addTensor(std::move(*tensor), static_cast<Direction>(arg.direction), arg.is_marked != 0);
  return Status::ok();
}

static Status addPredicate(Task &task, const kiln_predicate &from) {
  if (from.compare < KILN_EQ || from.compare > KILN_GE)
    return invalid("comparison " + std::to_string(from.compare) + " does not exist");
  Expected<Tensor> tensor = convert(from.view, from.buffer);
  if (!tensor)
    return tensor.status();
  std::vector<int64_t> indices(from.indices, from.indices + tensor->rank());
  task.when({std::move(*tensor), std::move(indices), static_cast<Compare>(from.compare),
             ScalarBits{from.constant.bits, dtypeOf(from.constant.dtype)}});
  return Status::ok();
}

static Expected<Task> convert(const kiln_engine &engine, const kiln_task &from) {
  const KernelRecord *kernel = from.func_id < 0 ? nullptr : engine.kernels.find(from.func_id);
  if (from.func_id >= 0 && !kernel)
    return Status(StatusCode::NotFound,
                  "function id " + std::to_string(from.func_id) + " is not registered");
  if ((from.num_tensors && !from.tensors) || (from.num_scalars && !from.scalars) ||
      (from.num_deps && !from.deps))
    return invalid("a task without its tensors, scalars or dependencies: null pointer");
  Task task = kernel ? Task(*kernel) : Task();
  for (uint32_t i = 0; i < from.num_tensors; ++i)
    if (Status bad = addTensor(task, from.tensors[i]); !bad.isOk())
      return bad.withPrefix("argument " + std::to_string(i));
  for (uint32_t i = 0; i < from.num_scalars; ++i)
    task.addScalar(from.scalars[i].bits, dtypeOf(from.scalars[i].dtype));
  for (uint32_t i = 0; i < from.num_deps; ++i)
    task.after({from.deps[i], engine.run});
  if (from.grid_rank > KILN_MAX_GRID_DIMS)
    return invalid("a grid has at most " + std::to_string(KILN_MAX_GRID_DIMS) + " dimensions");
  if (from.grid_rank != 0)
    task.grid(Dims(from.grid, from.grid_rank));
  if (from.predicate)
    if (Status bad = addPredicate(task, *from.predicate); !bad.isOk())
      return bad.withPrefix("predicate");
  task.syncStart(from.sync_start != 0);
  if (from.file)
    task.at(from.file, from.line, from.col);
  return task;
}

int32_t kiln_engine_submit(kiln_engine *engine, const kiln_task *from, uint64_t *taskId) {
  if (!areGiven(engine, from))
    return nullGiven;
  return guarded<int32_t>(internalError, [&]() -> int32_t {
    Expected<Task> task = convert(*engine, *from);
    if (!task)
      return engine->report(task.status());
    Expected<TaskId> id = engine->engine->submit(std::move(*task));
    if (!id)
      return engine->report(id.status());
    engine->run = id->run;
    if (taskId)
      *taskId = id->index;
    return 0;
  });
}

int32_t kiln_engine_run(kiln_engine *engine, const kiln_task *from) {
  if (!areGiven(engine, from))
    return nullGiven;
  return guarded<int32_t>(internalError, [&]() -> int32_t {
    Expected<Task> task = convert(*engine, *from);
    return engine->report(task ? engine->engine->run(*task) : task.status());
  });
}

void kiln_engine_begin_scope(kiln_engine *engine, int32_t isManual) {
  if (!areGiven(engine))
    return;
  guarded(0, [&] {
    engine->engine->beginScope(isManual != 0);
    return 0;
  });
}
int32_t kiln_engine_end_scope(kiln_engine *engine) {
  if (!areGiven(engine))
    return nullGiven;
  return guarded<int32_t>(internalError,
                          [&]() -> int32_t { return engine->report(engine->engine->endScope()); });
}

int32_t kiln_engine_get(kiln_engine *engine, const kiln_tensor *view, kiln_buffer *buffer,
                        const int64_t *indices, kiln_task_scalar *value) {
  if (!areGiven(engine, view, indices, value))
    return nullGiven;
  return guarded<int32_t>(internalError, [&]() -> int32_t {
    Expected<Tensor> tensor = convert(*view, buffer);
    if (!tensor)
      return engine->report(tensor.status().withPrefix("get"));
    Expected<ScalarBits> element =
        engine->engine->get(*tensor, Dims(indices, static_cast<size_t>(tensor->rank())));
    if (!element)
      return engine->report(element.status());
    *value = {element->bits, static_cast<int32_t>(element->type)};
    return 0;
  });
}
