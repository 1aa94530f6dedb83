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
#include "kiln/orchestration_abi.h" /* kiln_compare */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_registry kiln_registry;
typedef struct kiln_engine kiln_engine;
typedef struct kiln_buffer kiln_buffer;

/* The message of the last call of this thread that failed, whatever it was called on; "" at first.
 * Valid until the next call that fails. */
const char *kiln_last_error(void);

/* Asks every run of this process to stop (not 0), which then fails as interrupted; or lets runs
 * begin again (0). May be called in a signal handler. */
void kiln_set_interrupted(int32_t is_set);

/*===------------------------------------------------------------------------===
 * Ranks
 *===------------------------------------------------------------------------===*/

/* Calls body(rank, data) for ranks 0 to count - 1, each on a thread of its own in which every run
 * is that rank's, and waits for all. What a body returns is 0, or not 0 where it has failed, which
 * ends the runs of the others. */
int32_t kiln_ranks_run(int32_t count, int32_t (*body)(int32_t rank, void *data), void *data);
/* From now on every run of this process is that of its rank among the processes that mpirun
 * started; *rank and *count say which. *count is 0, and nothing changes, where it did not. */
int32_t kiln_ranks_join(int32_t *rank, int32_t *count);
/* At the end of a process that has joined; `failed`: and with it all others. */
void kiln_ranks_leave(int32_t failed);

/*===------------------------------------------------------------------------===
 * Kernels
 *===------------------------------------------------------------------------===*/

#define KILN_DYNAMIC_EXTENT ((int64_t)-1)

typedef struct kiln_tensor_param {
  const char *name;
  int32_t dtype;     /* enum kiln_dtype */
  int32_t direction; /* enum kiln_direction */
  uint32_t rank;
  int64_t extents[KILN_MAX_RANK]; /* KILN_DYNAMIC_EXTENT: any */
} kiln_tensor_param;

typedef struct kiln_scalar_param {
  const char *name;
  int32_t dtype; /* enum kiln_dtype */
} kiln_scalar_param;

/* What a kernel takes, in the order tasks carry it. */
typedef struct kiln_signature {
  const kiln_tensor_param *tensors;
  const kiln_scalar_param *scalars;
  uint32_t num_tensors, num_scalars;
} kiln_signature;

kiln_registry *kiln_registry_create(void);
void kiln_registry_destroy(kiln_registry *registry);
/* Adds a kernel without signature: its tasks run unchecked. These three return a function id, or -1
 * (kiln_last_error says why). */
int32_t kiln_registry_add(kiln_registry *registry, const char *name, kiln_kernel_fn function,
                          void *user, uint64_t workspace_bytes);
/* With a signature, against which tasks are checked. */
int32_t kiln_registry_add_signed(kiln_registry *registry, const char *name, kiln_kernel_fn function,
                                 void *user, uint64_t workspace_bytes,
                                 const kiln_signature *signature);
/* A group of roles that run together; see kiln/abi.h. `signature` may be NULL. */
int32_t kiln_registry_add_group(kiln_registry *registry, const char *name, const kiln_group *group,
                                const kiln_signature *signature);
/* The function id of a kernel, or -1. */
int32_t kiln_registry_find(const kiln_registry *registry, const char *name);

/*===------------------------------------------------------------------------===
 * Engines and runs
 *===------------------------------------------------------------------------===*/

/* Zero-initialise, then set what is needed: 0 is the default everywhere. */
typedef struct kiln_engine_options {
  uint32_t workers; /* 0: as many as there are cores */
  int32_t has_seed; /* 1: everything on the caller's thread, in the order `seed` picks */
  uint64_t seed;
  uint64_t max_pending;
  uint64_t arena_bytes;
} kiln_engine_options;

/* workers 0: as many as there are cores. KILN_SEED applies as ever. */
kiln_engine *kiln_engine_create(const kiln_registry *registry, uint32_t workers);
kiln_engine *kiln_engine_create_with(const kiln_registry *registry,
                                     const kiln_engine_options *options);
void kiln_engine_destroy(kiln_engine *engine);
/* The message of the last call on this engine that failed; "" at first. Valid until the next call.
 */
const char *kiln_engine_error(const kiln_engine *engine);

typedef struct kiln_run {
  const char *program;        /* for people reading the dump; may be NULL */
  int32_t dump_level;         /* 0 .. 3 */
  const char *dump_directory; /* needed unless the level is 0 */
} kiln_run;

/* Starts a run with a dump, say; without it the first submission starts a plain one. */
int32_t kiln_engine_begin(kiln_engine *engine, const kiln_run *run);
/* Runs everything submitted; the first failure since the last wait. */
int32_t kiln_engine_wait(kiln_engine *engine);
/* Waits and ends the run, writing its dump. */
int32_t kiln_engine_finish(kiln_engine *engine);

/* The parts of the failure that the last wait, get, run or finish returned. Strings are valid until
 * the next call on this engine. */
typedef struct kiln_failure {
  uint64_t task;
  const char *kernel, *argument, *message, *file; /* "" where there is none */
  int32_t line, col;
} kiln_failure;
/* 0, or 1 when there was no failure of a task. */
int32_t kiln_engine_failure(const kiln_engine *engine, kiln_failure *failure);

typedef struct kiln_usage {
  uint64_t tasks, regions, arena_bytes;
} kiln_usage;
/* What the engine holds at the moment; tasks and regions are 0 after a wait. */
void kiln_engine_usage(const kiln_engine *engine, kiln_usage *usage);

/*===------------------------------------------------------------------------===
 * Tasks
 *===------------------------------------------------------------------------===*/

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

/* The task runs only if `view[indices] compare constant` holds when it would start. */
typedef struct kiln_predicate {
  kiln_tensor view;
  kiln_buffer *buffer;
  int64_t indices[KILN_MAX_RANK];
  int32_t compare; /* enum kiln_compare */
  kiln_task_scalar constant;
} kiln_predicate;

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
  const kiln_predicate *predicate; /* NULL: it always runs */
  int32_t sync_start;              /* 1: all blocks at once */
} kiln_task;

/* `task_id` may be NULL. */
int32_t kiln_engine_submit(kiln_engine *engine, const kiln_task *task, uint64_t *task_id);
/* Submits and waits for everything. */
int32_t kiln_engine_run(kiln_engine *engine, const kiln_task *task);
void kiln_engine_begin_scope(kiln_engine *engine, int32_t is_manual);
int32_t kiln_engine_end_scope(kiln_engine *engine);
/* Waits for the tasks that write view[indices], then reads it. */
int32_t kiln_engine_get(kiln_engine *engine, const kiln_tensor *view, kiln_buffer *buffer,
                        const int64_t *indices, kiln_task_scalar *value);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_ENGINE_C_H */
