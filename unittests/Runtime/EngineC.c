/* The engine from plain C: two dependent tasks on an intermediate, and an error. Returns the number
 * of the first expectation that does not hold, 0 when all do. Called by EngineConcurrentTest.cpp. */
#include "kiln/runtime/engine_c.h"

#include <string.h>

static int32_t fill(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  (void)ctx;
  for (int64_t i = blocks->begin[0]; i < blocks->end[0]; ++i)
    ((float *)args->tensors[0].data)[i] = (float)args->scalars[0];
  return 0;
}

static int32_t copy(const kiln_args *args, const kiln_blocks *blocks, kiln_context *ctx) {
  (void)blocks;
  (void)ctx;
  memcpy(args->tensors[1].data, args->tensors[0].data, 8 * sizeof(float));
  return 0;
}

static int run(kiln_registry *registry, kiln_engine *engine, float *out) {
  int32_t fill_id = kiln_registry_add(registry, "fill", fill, 0, 0);
  int32_t copy_id = kiln_registry_add(registry, "copy", copy, 0, 0);
  if (fill_id < 0 || copy_id < 0 || kiln_registry_add(registry, "copy", copy, 0, 0) != -1)
    return 1;
  kiln_task_tensor args[2] = {{{0}, 0, KILN_IN, 0}, {{0}, 0, KILN_OUT, 0}};
  const int64_t extents[1] = {8};
  args[0].buffer = kiln_engine_alloc(engine, KILN_F32, 1, extents, &args[0].view);
  args[1].view = args[0].view;
  args[1].view.data = out;
  args[1].buffer = kiln_buffer_import(out, 8 * sizeof(float));
  if (!args[0].buffer || !args[1].buffer)
    return 2;

  const kiln_task_scalar seven = {7, KILN_I64};
  kiln_task_tensor target = args[0];
  target.direction = KILN_OUT;
  kiln_task first = {0};
  first.func_id = fill_id;
  first.num_tensors = 1;
  first.tensors = &target;
  first.num_scalars = 1;
  first.scalars = &seven;
  first.grid_rank = 1;
  first.grid[0] = 8;
  uint64_t id = 99;
  if (kiln_engine_submit(engine, &first, &id) != 0 || id != 0)
    return 3;
  kiln_task second = {0};
  second.func_id = copy_id;
  second.num_tensors = 2;
  second.tensors = args;
  second.num_deps = 1;
  second.deps = &id;
  if (kiln_engine_submit(engine, &second, 0) != 0)
    return 4;
  kiln_buffer_release(args[0].buffer); /* the tasks hold it */
  kiln_buffer_release(args[1].buffer);
  if (kiln_engine_wait(engine) != 0 || out[7] != 7.0f)
    return 5;

  args[0].buffer = 0;
  if (kiln_engine_submit(engine, &second, 0) == 0 ||
      !strstr(kiln_engine_error(engine), "argument 0"))
    return 6;
  if (kiln_engine_end_scope(engine) == 0)
    return 7;
  return kiln_engine_finish(engine) == 0 ? 0 : 8;
}

int kiln_test_engine_from_c(void) {
  float out[8] = {0};
  kiln_registry *registry = kiln_registry_create();
  kiln_engine *engine = kiln_engine_create(registry, 2);
  int result = engine ? run(registry, engine, out) : 9;
  kiln_engine_destroy(engine);
  kiln_registry_destroy(registry);
  return result;
}
