/*===- kiln/runtime/engine_c.h - the task engine from C --------------------===
 *
 * What: the submit API of kiln/runtime/engine.h for C and for generated code. The same engine, the
 *   same rules; see there.
 *
 * Ownership: whatever a *_create, _import or _alloc function returns belongs to the caller until
 * the matching _destroy or _release. A buffer may be released as soon as the tasks that use it are
 *   submitted: they hold it. Memory given to kiln_buffer_import must outlive those tasks. A
 * registry outlives the engines made with it. Strings and arrays passed in are copied.
 *
 * Threads: one thread at a time per engine; see engine.h.
 *
 * Errors: 0, or the number of a kiln::StatusCode; kiln_engine_error() then says what happened.
 *   Functions that return a pointer return NULL instead.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_RUNTIME_ENGINE_C_H
#define KILN_RUNTIME_ENGINE_C_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_registry kiln_registry;
typedef struct kiln_engine kiln_engine;
typedef struct kiln_buffer kiln_buffer;

kiln_registry *kiln_registry_create(void);
void kiln_registry_destroy(kiln_registry *registry);
/* Adds a kernel without signature; its function id, or -1 when the name is empty or used. */
int32_t kiln_registry_add(kiln_registry *registry, const char *name, kiln_kernel_fn function,
                          void *user, uint64_t workspace_bytes);

/* workers 0: as many as there are cores. KILN_SEED applies as ever. */
kiln_engine *kiln_engine_create(const kiln_registry *registry, uint32_t workers);
void kiln_engine_destroy(kiln_engine *engine);
/* The message of the last call that failed; "" at first. Valid until the next call. */
const char *kiln_engine_error(const kiln_engine *engine);

kiln_buffer *kiln_buffer_import(void *data, uint64_t bytes);
/* An intermediate of the engine; `view` becomes a row-major tensor over all of it. */
kiln_buffer *kiln_engine_alloc(kiln_engine *engine, int32_t dtype, uint32_t rank,
                               const int64_t *extents, kiln_tensor *view);
void kiln_buffer_release(kiln_buffer *buffer);

typedef struct kiln_task_tensor {
  kiln_tensor view; /* data lies inside the buffer; flags are ignored */
  kiln_buffer *buffer;
  int32_t direction; /* enum kiln_direction */
  int32_t is_marked; /* for the argument dump; 0 or 1 */
} kiln_task_tensor;

typedef struct kiln_task_scalar {
  uint64_t bits;
  int32_t dtype; /* enum kiln_dtype */
} kiln_task_scalar;

/* Zero-initialise, then set what is needed. */
typedef struct kiln_task {
  int32_t func_id; /* of the registry; -1: a dummy */
  uint32_t num_tensors, num_scalars, num_deps;
  const kiln_task_tensor *tensors;
  const kiln_task_scalar *scalars;
  const uint64_t *deps; /* tasks of this run */
  uint32_t grid_rank;   /* 0: one block */
  int64_t grid[KILN_MAX_GRID_DIMS];
  const char *file; /* where the user's source launches it; may be NULL */
  int32_t line, col;
} kiln_task;

/* `task_id` may be NULL. */
int32_t kiln_engine_submit(kiln_engine *engine, const kiln_task *task, uint64_t *task_id);
void kiln_engine_begin_scope(kiln_engine *engine, int32_t is_manual);
int32_t kiln_engine_end_scope(kiln_engine *engine);
int32_t kiln_engine_wait(kiln_engine *engine);
int32_t kiln_engine_finish(kiln_engine *engine);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_ENGINE_C_H */
