/*===- kiln/orchestration_abi.h - the ABI of compiled orchestrations ---------===
 *
 * What: how a compiled orchestration (orchestration.so of a bundle, or code in this process) talks
 * to the runtime: an entry function that is handed a run, and a table of functions it calls. Plain
 * C, addressed by byte offset by generated code, versioned with kiln/abi.h.
 *
 * Tensors are handles: numbers of a stack that the run keeps. Handles 0 .. n-1 are the tensors the
 *   entry was called with. Whatever makes a tensor pushes it; `top` and `release` bracket a block
 * of the program, at whose end its tensors are gone (tasks keep what they use).
 *
 * Errors: every function that can fail returns 0, or not 0, after which the orchestration returns
 *   that value at once. The run keeps the first failure with its place in the user's source.
 *
 * Threads: the engine's submitter only.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_ORCHESTRATION_ABI_H
#define KILN_ORCHESTRATION_ABI_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t kiln_handle;

typedef struct kiln_launch_tensor {
  kiln_handle tensor;
  uint16_t direction; /* enum kiln_direction */
  uint16_t is_marked; /* for the argument dump */
} kiln_launch_tensor;

typedef struct kiln_launch_scalar {
  uint64_t bits; /* as in kiln_args */
  int32_t dtype; /* enum kiln_dtype */
  int32_t reserved;
} kiln_launch_scalar;

enum kiln_compare { KILN_EQ = 0, KILN_NE = 1, KILN_LT = 2, KILN_LE = 3, KILN_GT = 4, KILN_GE = 5 };

/* `tensor[indices] compare constant`, tested when the task would run. */
typedef struct kiln_launch_predicate {
  const int64_t *indices; /* one for each axis */
  int64_t constant;
  kiln_handle tensor;
  int32_t compare; /* enum kiln_compare */
} kiln_launch_predicate;

typedef struct kiln_launch {
  int32_t kernel; /* its number in the list the run was given; -1: a dummy */
  uint32_t num_tensors, num_scalars, num_deps;
  const kiln_launch_tensor *tensors;
  const kiln_launch_scalar *scalars;
  const uint64_t *deps;                   /* what `submit` gave */
  const kiln_launch_predicate *predicate; /* NULL: none */
  const int64_t *grid;
  uint32_t grid_rank; /* 0: one block */
  uint32_t sync_start;
  const kiln_source *source;
} kiln_launch;

enum kiln_collective_kind {
  KILN_ALL_REDUCE = 0,
  KILN_ALL_GATHER = 1,
  KILN_REDUCE_SCATTER = 2,
  KILN_BROADCAST = 3,
  KILN_ALL_TO_ALL = 4,
  KILN_SEND = 5,
  KILN_RECV = 6,
  KILN_RANK_BARRIER = 7
};
enum kiln_reduction {
  KILN_REDUCE_SUM = 0,
  KILN_REDUCE_MAX = 1,
  KILN_REDUCE_MIN = 2,
  KILN_REDUCE_PROD = 3
};

/* The ranks that differ from this one along one axis of a mesh; of rank 0: all ranks. */
typedef struct kiln_rank_group {
  const int64_t *extents; /* one may be -1: as many as there are ranks for */
  uint32_t rank, axis;
} kiln_rank_group;

#define KILN_NO_TENSOR 0xffffffffu

typedef struct kiln_collective {
  int32_t kind;         /* enum kiln_collective_kind */
  int32_t how;          /* enum kiln_reduction */
  uint32_t fixed_order; /* combine in the order of the ranks */
  kiln_handle source;   /* KILN_NO_TENSOR: none */
  kiln_handle target;   /* the same */
  uint32_t num_deps;
  int64_t peer;         /* the root, the receiver or the sender, in the group; -1: none */
  const uint64_t *deps; /* what `submit` or `collect` gave */
  const kiln_rank_group *group;
  const kiln_source *source_loc;
} kiln_collective;

typedef struct kiln_orchestration kiln_orchestration;

typedef struct kiln_orchestration_functions {
  /* A row-major intermediate. */
  int32_t (*alloc)(kiln_orchestration *run, const kiln_source *source, int32_t dtype, uint32_t rank,
                   const int64_t *extents, kiln_handle *result);
  /* Axis i disappears where bit i of `dropped` is set. */
  int32_t (*slice)(kiln_orchestration *run, const kiln_source *source, kiln_handle tensor,
                   const int64_t *offsets, const int64_t *sizes, uint32_t dropped,
                   kiln_handle *result);
  int32_t (*transpose)(kiln_orchestration *run, const kiln_source *source, kiln_handle tensor,
                       const int64_t *permutation, kiln_handle *result);
  int32_t (*reshape)(kiln_orchestration *run, const kiln_source *source, kiln_handle tensor,
                     uint32_t rank, const int64_t *extents, kiln_handle *result);
  int64_t (*dim)(kiln_orchestration *run, kiln_handle tensor, uint32_t axis);
  /* Launches a task; `task` may be NULL. */
  int32_t (*submit)(kiln_orchestration *run, const kiln_launch *launch, uint64_t *task);
  /* Waits for the tasks that write the element, and reads it as a scalar slot of kiln_args. */
  int32_t (*get)(kiln_orchestration *run, const kiln_source *source, kiln_handle tensor,
                 const int64_t *indices, uint64_t *bits);
  /* Every task launched from now on with a view of this memory has it dumped. */
  void (*mark)(kiln_orchestration *run, kiln_handle tensor);
  void (*begin_scope)(kiln_orchestration *run, int32_t is_manual);
  int32_t (*end_scope)(kiln_orchestration *run, const kiln_source *source);
  kiln_handle (*top)(kiln_orchestration *run);
  void (*release)(kiln_orchestration *run, kiln_handle top);
  /* Fails with a message of the generated code; never 0. */
  int32_t (*fail)(kiln_orchestration *run, const kiln_source *source, const char *message);
  /* Launches what several ranks do together, as a task; `task` may be NULL. */
  int32_t (*collect)(kiln_orchestration *run, const kiln_collective *collective, uint64_t *task);
  /* This rank's place in a group, or the number of ranks in it. */
  int32_t (*rank)(kiln_orchestration *run, const kiln_source *source, const kiln_rank_group *group,
                  int32_t wants_count, int64_t *result);
} kiln_orchestration_functions;

struct kiln_orchestration {
  const kiln_orchestration_functions *functions;
  uint32_t abi_version; /* KILN_ABI_VERSION of the caller */
};

/* Launches everything; `scalars` are slots as in kiln_args. 0, or what a function returned. */
typedef int32_t (*kiln_orchestration_fn)(kiln_orchestration *run, const uint64_t *scalars);

/* clang-format off */
KILN_STATIC_ASSERT(sizeof(kiln_launch_tensor) == 8, "kiln_launch_tensor is addressed by offset: 8 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_launch_tensor, direction) == 4, "kiln_launch_tensor.direction moved");
KILN_STATIC_ASSERT(sizeof(kiln_launch_scalar) == 16, "kiln_launch_scalar is addressed by offset: 16 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_launch_scalar, dtype) == 8, "kiln_launch_scalar.dtype moved");
KILN_STATIC_ASSERT(sizeof(kiln_launch_predicate) == 24, "kiln_launch_predicate is addressed by byte offset: 24 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_launch_predicate, constant) == 8, "kiln_launch_predicate.constant moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch_predicate, tensor) == 16, "kiln_launch_predicate.tensor moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch_predicate, compare) == 20, "kiln_launch_predicate.compare moved");
KILN_STATIC_ASSERT(sizeof(kiln_launch) == 72, "kiln_launch is addressed by byte offset: 72 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_launch, num_tensors) == 4, "kiln_launch.num_tensors moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, num_deps) == 12, "kiln_launch.num_deps moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, tensors) == 16, "kiln_launch.tensors moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, scalars) == 24, "kiln_launch.scalars moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, deps) == 32, "kiln_launch.deps moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, predicate) == 40, "kiln_launch.predicate moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, grid) == 48, "kiln_launch.grid moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, grid_rank) == 56, "kiln_launch.grid_rank moved");
KILN_STATIC_ASSERT(offsetof(kiln_launch, source) == 64, "kiln_launch.source moved");
KILN_STATIC_ASSERT(sizeof(kiln_rank_group) == 16, "kiln_rank_group is addressed by byte offset: 16 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_rank_group, axis) == 12, "kiln_rank_group.axis moved");
KILN_STATIC_ASSERT(sizeof(kiln_collective) == 56, "kiln_collective is addressed by byte offset: 56 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_collective, source) == 12, "kiln_collective.source moved");
KILN_STATIC_ASSERT(offsetof(kiln_collective, peer) == 24, "kiln_collective.peer moved");
KILN_STATIC_ASSERT(offsetof(kiln_collective, group) == 40, "kiln_collective.group moved");
KILN_STATIC_ASSERT(sizeof(kiln_orchestration_functions) == 15 * sizeof(void *), "kiln_orchestration_functions is fifteen pointers");
/* clang-format on */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_ORCHESTRATION_ABI_H */
