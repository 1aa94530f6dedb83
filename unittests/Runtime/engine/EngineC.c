/* The engine from plain C: signatures, intermediates, dependencies, scopes, predicates, get,
 * groups, dumps and errors. Each part returns the line of the first expectation that does not hold,
 * 0 when all do. Called by EngineConcurrentTest.cpp. */
#include "kiln/runtime/engine_c.h"

#include <string.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition))                                                                              \
      return __LINE__;                                                                             \
  } while (0)

enum { count = 8 };

/* out[block] = value */
static int32_t fill(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  (void)ctx;
  for (int64_t i = blocks->begin[0]; i < blocks->end[0]; ++i)
    ((float *)args->tensors[0].data)[i] = (float)args->scalars[0];
  return 0;
}

static int32_t copy(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  (void)blocks;
  (void)ctx;
  memcpy(args->tensors[1].data, args->tensors[0].data, count * sizeof(float));
  return 0;
}

static int32_t fail(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  (void)args;
  (void)blocks;
  kiln_source where = {"kernel.c", 3, 7};
  ctx->report(ctx, "on purpose", &where);
  return KILN_FAIL;
}

/* Roles: one pushes what it reads, the other stores it negated. */
static int32_t produce(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  (void)blocks;
  for (int i = 0; i < count; ++i) {
    float *slot = (float *)ctx->pipe_functions->begin_push(ctx, ctx->pipes[0], NULL);
    if (!slot)
      return KILN_FAIL;
    *slot = ((const float *)args->tensors[0].data)[i];
    if (ctx->pipe_functions->end_push(ctx, ctx->pipes[0]))
      return KILN_FAIL;
  }
  return KILN_OK;
}
static int32_t negate(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  (void)blocks;
  for (int i = 0; i < count; ++i) {
    const float *slot = (const float *)ctx->pipe_functions->pop(ctx, ctx->pipes[0], NULL);
    if (!slot)
      return KILN_FAIL;
    ((float *)args->tensors[1].data)[i] = -*slot;
    if (ctx->pipe_functions->free(ctx, ctx->pipes[0]))
      return KILN_FAIL;
  }
  return KILN_OK;
}

/* What all parts use. */
typedef struct state {
  kiln_registry *registry;
  kiln_engine *engine;
  int32_t fill, copy, fail, group;
  float out[count];
  kiln_task_tensor middle, result; /* an intermediate, and `out` */
} state;

static int32_t fill_with(state *s, uint64_t value, uint64_t dep, uint64_t *id) {
  kiln_task_tensor target = s->middle;
  target.direction = KILN_OUT;
  const kiln_task_scalar scalar = {value, KILN_I64};
  kiln_task task = {0};
  task.func_id = s->fill;
  task.num_tensors = 1;
  task.tensors = &target;
  task.num_scalars = 1;
  task.scalars = &scalar;
  task.grid_rank = 1;
  task.grid[0] = count;
  task.num_deps = dep != UINT64_MAX;
  task.deps = &dep;
  return kiln_engine_submit(s->engine, &task, id);
}

static kiln_task copy_out(state *s, kiln_task_tensor args[2]) {
  args[0] = s->middle;
  args[1] = s->result;
  kiln_task task = {0};
  task.func_id = s->copy;
  task.num_tensors = 2;
  task.tensors = args;
  return task;
}

static int test_registry(state *s) {
  const kiln_tensor_param params[2] = {
      {"x", KILN_F32, KILN_IN, 1, {KILN_DYNAMIC_EXTENT}},
      {"y", KILN_F32, KILN_OUT, 1, {count}},
  };
  const kiln_scalar_param value = {"value", KILN_I64};
  const kiln_signature fill_signature = {&params[1], &value, 1, 1};
  const kiln_signature copy_signature = {params, NULL, 2, 0};
  s->fill = kiln_registry_add_signed(s->registry, "fill", fill, 0, 0, &fill_signature);
  s->copy = kiln_registry_add_signed(s->registry, "copy", copy, 0, 0, &copy_signature);
  s->fail = kiln_registry_add(s->registry, "fail", fail, 0, 0);
  const kiln_role roles[2] = {{"produce", produce, 0, 0, 1, 0}, {"negate", negate, 0, 0, 1, 0}};
  const kiln_pipe_spec pipe = {"p", sizeof(float), 0, 1, 2, KILN_SPLIT_NONE};
  const kiln_group group = {roles, &pipe, 2, 1};
  s->group = kiln_registry_add_group(s->registry, "group", &group, &copy_signature);
  EXPECT(s->fill >= 0 && s->copy >= 0 && s->fail >= 0 && s->group >= 0);
  EXPECT(kiln_registry_find(s->registry, "copy") == s->copy);
  EXPECT(kiln_registry_find(s->registry, "none") == -1);
  EXPECT(kiln_registry_add(s->registry, "copy", copy, 0, 0) == -1);
  EXPECT(strstr(kiln_last_error(), "'copy' is registered already"));
  EXPECT(kiln_registry_add(s->registry, NULL, copy, 0, 0) == -1);
  EXPECT(kiln_registry_add(s->registry, "null", NULL, 0, 0) == -1);
  const kiln_pipe_spec nowhere = {"p", 4, 0, 5, 2, KILN_SPLIT_NONE};
  const kiln_group bad = {roles, &nowhere, 2, 1};
  EXPECT(kiln_registry_add_group(s->registry, "bad", &bad, NULL) == -1);
  EXPECT(strstr(kiln_last_error(), "pipe 'p'"));
  const kiln_tensor_param wrong = {"x", 300, KILN_IN, 1, {1}}; /* 300 % 256 would be a type */
  const kiln_signature wrong_signature = {&wrong, NULL, 1, 0};
  EXPECT(kiln_registry_add_signed(s->registry, "wrong", copy, 0, 0, &wrong_signature) == -1);
  return 0;
}

static int test_buffers(state *s) {
  const int64_t extents[1] = {count};
  memset(&s->middle, 0, sizeof(s->middle));
  s->middle.buffer = kiln_engine_alloc(s->engine, KILN_F32, 1, extents, &s->middle.view);
  s->result = s->middle;
  s->result.view.data = s->out;
  s->result.buffer = kiln_buffer_import(s->out, sizeof(s->out));
  s->result.direction = KILN_OUT;
  EXPECT(s->middle.buffer && s->result.buffer);
  kiln_tensor ignored;
  EXPECT(!kiln_engine_alloc(s->engine, 256, 1, extents, &ignored));
  return 0;
}

static int test_order(state *s) {
  uint64_t id = 99;
  EXPECT(fill_with(s, 7, UINT64_MAX, &id) == 0 && id == 0);
  kiln_task_tensor args[2];
  kiln_task task = copy_out(s, args);
  EXPECT(kiln_engine_submit(s->engine, &task, &id) == 0 && id == 1);
  EXPECT(kiln_engine_wait(s->engine) == 0 && s->out[count - 1] == 7.0f);
  /* In a manual scope only what is said counts. */
  kiln_engine_begin_scope(s->engine, 1);
  EXPECT(fill_with(s, 8, UINT64_MAX, &id) == 0);
  EXPECT(fill_with(s, 9, id, &id) == 0);
  task.num_deps = 1;
  task.deps = &id;
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) == 0);
  EXPECT(kiln_engine_end_scope(s->engine) == 0);
  EXPECT(kiln_engine_end_scope(s->engine) != 0);
  EXPECT(kiln_engine_wait(s->engine) == 0 && s->out[0] == 9.0f);
  const uint64_t future = 1000;
  task.deps = &future;
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) != 0);
  EXPECT(strstr(kiln_engine_error(s->engine), "dependency"));
  return 0;
}

static int test_predicate_and_get(state *s) {
  EXPECT(fill_with(s, 3, UINT64_MAX, NULL) == 0);
  kiln_predicate above = {0};
  above.view = s->middle.view;
  above.buffer = s->middle.buffer;
  above.indices[0] = 2;
  above.compare = KILN_GT;
  above.constant.bits = 3;
  above.constant.dtype = KILN_I64;
  kiln_task_tensor args[2];
  kiln_task task = copy_out(s, args);
  task.predicate = &above;
  memset(s->out, 0, sizeof(s->out));
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) == 0);
  const int64_t second[1] = {1}, outside[1] = {count};
  kiln_task_scalar value = {0, -1};
  EXPECT(kiln_engine_get(s->engine, &s->middle.view, s->middle.buffer, second, &value) == 0);
  float three;
  memcpy(&three, &value.bits, sizeof(three));
  EXPECT(value.dtype == KILN_F32 && three == 3.0f);
  EXPECT(kiln_engine_get(s->engine, &s->middle.view, s->middle.buffer, outside, &value) != 0);
  EXPECT(kiln_engine_wait(s->engine) == 0 && s->out[0] == 0.0f); /* 3 > 3 does not hold */
  above.compare = KILN_GE;
  EXPECT(kiln_engine_run(s->engine, &task) == 0 && s->out[0] == 3.0f);
  above.compare = 17;
  EXPECT(kiln_engine_run(s->engine, &task) != 0);
  return 0;
}

static int test_group(state *s) {
  kiln_task_tensor args[2];
  kiln_task task = copy_out(s, args);
  task.func_id = s->group;
  EXPECT(fill_with(s, 5, UINT64_MAX, NULL) == 0);
  EXPECT(kiln_engine_run(s->engine, &task) == 0 && s->out[count - 1] == -5.0f);
  return 0;
}

static int test_errors(state *s) {
  kiln_failure failure;
  kiln_task task = {0};
  task.func_id = s->fail;
  task.file = "program.c";
  task.line = 12;
  EXPECT(kiln_engine_run(s->engine, &task) != 0);
  EXPECT(strstr(kiln_engine_error(s->engine), "kernel 'fail'"));
  EXPECT(kiln_engine_failure(s->engine, &failure) == 0);
  EXPECT(!strcmp(failure.kernel, "fail") && !strcmp(failure.message, "on purpose"));
  EXPECT(!strcmp(failure.file, "kernel.c") && failure.line == 3 && failure.col == 7);
  EXPECT(kiln_engine_wait(s->engine) == 0); /* it lives on */
  EXPECT(kiln_engine_failure(s->engine, &failure) == 1);
  kiln_task_tensor args[2];
  task = copy_out(s, args);
  args[1].buffer = NULL;
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) != 0);
  EXPECT(strstr(kiln_engine_error(s->engine), "argument 1"));
  args[1] = s->result;
  args[1].direction = 9;
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) != 0);
  args[1].direction = KILN_INOUT; /* not what the signature says */
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) != 0);
  EXPECT(strstr(kiln_engine_error(s->engine), "argument 'y'"));
  task.tensors = NULL;
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) != 0);
  task = copy_out(s, args);
  task.func_id = 1234;
  EXPECT(kiln_engine_submit(s->engine, &task, NULL) != 0);
  kiln_usage usage;
  kiln_engine_usage(s->engine, &usage);
  EXPECT(usage.tasks == 0 && usage.regions == 0);
  return 0;
}

static int test_dump(state *s, const char *directory) {
  EXPECT(kiln_engine_finish(s->engine) == 0);
  kiln_run run = {"from_c", 2, directory};
  EXPECT(kiln_engine_begin(s->engine, &run) == 0);
  EXPECT(kiln_engine_begin(s->engine, &run) != 0); /* one is open */
  EXPECT(fill_with(s, 1, UINT64_MAX, NULL) == 0);
  EXPECT(kiln_engine_finish(s->engine) == 0);
  run.dump_level = 7;
  EXPECT(kiln_engine_begin(s->engine, &run) != 0);
  return 0;
}

static int test_null(state *s) {
  kiln_run *no_run = NULL;
  EXPECT(kiln_engine_begin(NULL, NULL) != 0 && kiln_engine_begin(s->engine, no_run) != 0);
  EXPECT(strstr(kiln_last_error(), "null pointer"));
  EXPECT(kiln_engine_submit(NULL, NULL, NULL) != 0);
  EXPECT(kiln_engine_submit(s->engine, NULL, NULL) != 0);
  EXPECT(kiln_engine_run(NULL, NULL) != 0 && kiln_engine_run(s->engine, NULL) != 0);
  EXPECT(kiln_engine_wait(NULL) != 0 && kiln_engine_finish(NULL) != 0);
  EXPECT(kiln_engine_end_scope(NULL) != 0);
  EXPECT(kiln_engine_get(s->engine, NULL, NULL, NULL, NULL) != 0);
  EXPECT(!kiln_engine_alloc(NULL, 0, 0, NULL, NULL));
  EXPECT(!kiln_engine_alloc(s->engine, 0, 2, NULL, NULL));
  EXPECT(kiln_engine_failure(NULL, NULL) == 1);
  EXPECT(strstr(kiln_engine_error(NULL), "null pointer"));
  kiln_engine_begin_scope(NULL, 0);
  kiln_engine_usage(s->engine, NULL);
  return 0;
}

static int test_all(state *s, const char *directory) {
  int line = 0;
  if ((line = test_registry(s)))
    return line;
  s->engine = kiln_engine_create(s->registry, 2);
  EXPECT(s->engine);
  if ((line = test_buffers(s)) || (line = test_order(s)) || (line = test_predicate_and_get(s)) ||
      (line = test_group(s)) || (line = test_errors(s)) || (line = test_null(s)) ||
      (line = test_dump(s, directory)))
    return line;
  kiln_buffer_release(s->middle.buffer);
  kiln_buffer_release(s->result.buffer);
  kiln_engine_options options = {0};
  options.has_seed = 1;
  options.max_pending = UINT64_MAX;
  EXPECT(!kiln_engine_create_with(s->registry, &options));
  EXPECT(strstr(kiln_last_error(), "maxPending"));
  return 0;
}

int kiln_test_engine_from_c(const char *directory) {
  state s;
  memset(&s, 0, sizeof(s));
  s.registry = kiln_registry_create();
  int line = test_all(&s, directory);
  kiln_engine_destroy(s.engine);
  kiln_registry_destroy(s.registry);
  return line;
}
