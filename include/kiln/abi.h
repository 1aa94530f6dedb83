/*===- kiln/abi.h - the kernel ABI ------------------------------------------===
 *
 * What: the one calling convention between the runtime and every compiled kernel, on every backend.
 *   Plain C (C11 and C++), versioned, with every size and offset asserted below, because generated
 *   code addresses these structs by byte offset.
 *
 * Ownership: the runtime owns everything a kernel is handed (arguments, ranges, context, scratch)
 *   for the duration of the call only. A kernel keeps no pointer after it returns.
 *
 * Threads: a kernel may be called from any worker thread, several at once on disjoint block ranges
 *   of one task. `kiln_context` belongs to one call; it is never shared between threads.
 *
 * A kernel runs the half-open rectangle of blocks it is given, in any order it likes, and returns
 * 0, or an error code (see KILN_FAIL below). Role functions of a group have the same form; what
 * they do with pipes is described at kiln_pipe_functions.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_ABI_H
#define KILN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KILN_STATIC_ASSERT(cond, message) static_assert(cond, message)
extern "C" {
#else
#define KILN_STATIC_ASSERT(cond, message) _Static_assert(cond, message)
#endif

/* Raised whenever a struct, an enum value or the meaning of a field changes. Bundles and cache
 * entries record it; the runtime puts it into every context so that a kernel can refuse to run. */
#define KILN_ABI_VERSION 5u

#define KILN_MAX_RANK 5
#define KILN_MAX_GRID_DIMS 3
/* Most tensors, and most scalars, one task may carry. */
#define KILN_MAX_TENSORS 255
#define KILN_MAX_SCALARS 255

/* Element types of tensors, and types of scalar arguments. KILN_INDEX is for scalars only. */
enum kiln_dtype {
  KILN_F32 = 0,
  KILN_F16 = 1,
  KILN_BF16 = 2,
  KILN_F8E4M3FN = 3,
  KILN_F8E5M2 = 4,
  KILN_I8 = 5,
  KILN_I16 = 6,
  KILN_I32 = 7,
  KILN_I64 = 8,
  KILN_I1 = 9,    /* one byte in memory, 0 or 1 */
  KILN_INDEX = 10 /* scalars only; a 64-bit signed integer */
};
#define KILN_NUM_DTYPES 11

/* What a task does with a tensor. Used in signatures and task arguments; not part of kiln_tensor.
 */
enum kiln_direction { KILN_IN = 0, KILN_OUT = 1, KILN_INOUT = 2 };

/* kiln_tensor.flags */
enum kiln_tensor_flags {
  KILN_TENSOR_READ_ONLY = 1u, /* storing through this descriptor is a bug in the kernel */
  KILN_TENSOR_BROADCAST = 2u, /* some axis of extent > 1 has stride 0; implies READ_ONLY */
  KILN_TENSOR_CONTIGUOUS = 4u /* row-major without gaps */
};

/* A strided view of global memory. `data` points at element [0, ..., 0]: any offset is applied.
 * Extents and strides count elements. Axes at and beyond `rank` have extent 1 and stride 0.
 * Strides are never negative. */
typedef struct kiln_tensor {
  void *data;
  int64_t extents[KILN_MAX_RANK];
  int64_t strides[KILN_MAX_RANK];
  int32_t dtype;  /* enum kiln_dtype */
  uint16_t rank;  /* 1 .. KILN_MAX_RANK */
  uint16_t flags; /* enum kiln_tensor_flags */
} kiln_tensor;

/* The arguments of a task: tensors in task order, then scalars, whatever the order in the source.
 * A scalar slot holds: signed integers and index sign-extended to 64 bits; i1 as 0 or 1; f32, f16,
 * bf16 and the f8 types as their own bit pattern in the low bits, upper bits zero. */
typedef struct kiln_args {
  const kiln_tensor *tensors;
  const uint64_t *scalars;
  uint32_t num_tensors;
  uint32_t num_scalars;
} kiln_args;

/* A half-open rectangle of block indices; unused grid dimensions are [0, 1). Never empty. */
typedef struct kiln_blocks {
  int64_t begin[KILN_MAX_GRID_DIMS];
  int64_t end[KILN_MAX_GRID_DIMS];
} kiln_blocks;

typedef struct kiln_context kiln_context;

/* Where in the user's source. Lines and columns count from 1; `file` may be NULL, and what is not
 * known is 0. */
typedef struct kiln_source {
  const char *file; /* lives as long as the code */
  int32_t line, col;
} kiln_source;

/* Says why the kernel is about to fail. `message` is copied; `where` may be NULL. The first report
 * of a task counts. A call that reported is failed whatever it returns. */
typedef void (*kiln_report_fn)(kiln_context *ctx, const char *message, const kiln_source *where);

/*===------------------------------------------------------------------------===
 * Pipes of a group
 *
 * The roles of a group run together for one block at a time, each role in as many instances as it
 * has lanes. They exchange messages through pipes: bounded first-in-first-out rings of `slots`
 * slots in memory of the runtime, empty when a block starts. Pipe i of the group is ctx->pipes[i]
 * in every role; an instance may use only those ends that its role has.
 *
 * A message is the payload of the pipe: its tiles one after the other, each starting at a multiple
 * of 64 bytes from the first, each row-major over its *full* extents without gaps (i1: one byte an
 * element). A token has no bytes. Where the pipe is split, an instance of a role with lanes touches
 * only its own part of each tile, in place: part `lane` of the rows (up_down) or of the columns
 * (left_right; so its rows are a full row apart). Parts of a message are therefore joined and
 * divided without a copy, and every address is a constant plus a multiple of ctx->lane.
 *
 * | from -> to     | split none                     | up_down, left_right                        |
 * |----------------|--------------------------------|--------------------------------------------|
 * | one -> one     | the message                    | not allowed                                |
 * | one -> lanes   | every lane pops the same one   | lane k pops part k of it                   |
 * | lanes -> one   | not allowed                    | lane k pushes part k; pop waits for all    |
 * | lanes -> lanes | a message of its own for lane k| lane k's part: its own, too                |
 *
 * A slot is free again when every lane that pops it has freed it; with a split each lane of the
 * pushing role waits for its own part only.
 *
 * A role that waits lets others run; it never parks its thread. When all wait, or a role fails, the
 * group ends: from then on every function below says so (NULL, or not 0), at once and to everybody,
 * and the role must return, with any value. Nothing is thrown through a role and no stack is
 * abandoned.
 *===------------------------------------------------------------------------===*/
enum kiln_split { KILN_SPLIT_NONE = 0, KILN_SPLIT_UP_DOWN = 1, KILN_SPLIT_LEFT_RIGHT = 2 };

typedef struct kiln_pipe kiln_pipe; /* the runtime's own */

typedef struct kiln_pipe_functions {
  /* Waits for a free slot; where to write the message, or this lane's part of it. Its bytes are
   * whatever was there before. `where` is for reports and may be NULL. NULL: return. */
  void *(*begin_push)(kiln_context *ctx, kiln_pipe *pipe, const kiln_source *where);
  /* The message begun is complete. One may be begun at a time per pipe. Not 0: return. */
  int32_t (*end_push)(kiln_context *ctx, kiln_pipe *pipe);
  /* Waits for the next message. It may be read, and changed where no other lane pops it, until it
   * is freed. For a token the address means nothing. `where` as above. NULL: return. */
  void *(*pop)(kiln_context *ctx, kiln_pipe *pipe, const kiln_source *where);
  /* Releases the oldest message this instance has popped and not freed. Not 0: return. */
  int32_t (*free)(kiln_context *ctx, kiln_pipe *pipe);
} kiln_pipe_functions;

/*===------------------------------------------------------------------------===
 * What the blocks of a group may ask of the runtime besides pipes
 *
 * A kernel that needs none of it is registered by its function alone. One that does is registered
 * as a group of one role.
 *===------------------------------------------------------------------------===*/
typedef struct kiln_block_functions {
  /* Waits until every instance of every role with KILN_ROLE_MEETS, in all blocks of the launch, has
   * come here as often. `where` is for reports and may be NULL. Not 0: return. */
  int32_t (*meet)(kiln_context *ctx, const kiln_source *where);
  /* Memory of this instance, 64-byte aligned, not cleared, until it is released. NULL: there is no
   * memory for it; report that and return. */
  void *(*allocate)(kiln_context *ctx, uint64_t bytes);
  /* Gives back what was allocated last. What a block leaves, the runtime takes when it ends. */
  void (*release)(kiln_context *ctx);
} kiln_block_functions;

struct kiln_context {
  uint32_t abi_version;             /* KILN_ABI_VERSION of the caller */
  uint32_t lane;                    /* this instance's lane, 0 .. lanes-1 */
  uint32_t lanes;                   /* lanes of this role; 1 when the role has none */
  uint32_t num_pipes;               /* entries of `pipes` */
  int64_t grid[KILN_MAX_GRID_DIMS]; /* blocks of the whole launch; unused dimensions are 1 */
  void *scratch; /* the size the kernel declared (workspace_bytes), 64-byte aligned, not cleared */
  uint64_t scratch_bytes;  /* >= workspace_bytes; 0 with scratch NULL when none was declared */
  kiln_pipe *const *pipes; /* the group's pipes; NULL outside groups */
  void *user;              /* the pointer given when the kernel was registered */
  kiln_report_fn report;   /* never NULL */
  void *runtime;           /* the runtime's own; kernels leave it alone */
  const kiln_pipe_functions *pipe_functions;   /* NULL outside groups */
  const kiln_block_functions *block_functions; /* NULL outside groups */
};

/* Returns 0 when all blocks of `range` ran, or an error code. */
typedef int32_t (*kiln_kernel_fn)(const kiln_args *args, const kiln_blocks *range,
                                  kiln_context *ctx);

/* Error codes a kernel may return. Any other non-zero value means what the kernel says it means.
 * KILN_FAIL_ARG(i) blames argument i (task order: tensors, then scalars); the runtime names it. */
#define KILN_OK 0
#define KILN_FAIL 1
#define KILN_FAIL_ARG_BASE 0x4b10000
#define KILN_FAIL_ARG(i) (KILN_FAIL_ARG_BASE + (int32_t)(i))

/* What a group consists of, for registering one (kiln_registry_add_group, kiln::GroupSpec) and as a
 * constant in compiled bundles. */
enum kiln_role_flags {
  KILN_ROLE_MEETS = 1u /* calls kiln_block_functions.meet: all blocks of a launch run together */
};

typedef struct kiln_role {
  const char *name; /* of the member, for reports and dumps */
  /* Called once a block and lane, with the task's arguments as they are and a range of one block.
   * A compiler that passes a member only some of the group's arguments emits a function that picks
   * them. */
  kiln_kernel_fn function;
  void *user;               /* becomes kiln_context.user */
  uint64_t workspace_bytes; /* scratch of each instance */
  uint32_t lanes;           /* at least 1 */
  uint32_t flags;           /* enum kiln_role_flags */
} kiln_role;

typedef struct kiln_pipe_spec {
  const char *name;
  uint64_t payload_bytes; /* of a message, all lanes together; 0: a token */
  uint32_t from, to;      /* indices into the roles; may be equal */
  uint32_t slots;         /* at least 1 */
  uint32_t split;         /* enum kiln_split */
} kiln_pipe_spec;

typedef struct kiln_group {
  const kiln_role *roles;
  const kiln_pipe_spec *pipes;
  uint32_t num_roles, num_pipes;
} kiln_group;

/* clang-format off */
KILN_STATIC_ASSERT(sizeof(void *) == 8, "the kernel ABI is defined for 64-bit machines");
KILN_STATIC_ASSERT(sizeof(kiln_tensor) == 96, "kiln_tensor is addressed by byte offset: 96 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_tensor, data) == 0, "kiln_tensor.data moved");
KILN_STATIC_ASSERT(offsetof(kiln_tensor, extents) == 8, "kiln_tensor.extents moved");
KILN_STATIC_ASSERT(offsetof(kiln_tensor, strides) == 48, "kiln_tensor.strides moved");
KILN_STATIC_ASSERT(offsetof(kiln_tensor, dtype) == 88, "kiln_tensor.dtype moved");
KILN_STATIC_ASSERT(offsetof(kiln_tensor, rank) == 92, "kiln_tensor.rank moved");
KILN_STATIC_ASSERT(offsetof(kiln_tensor, flags) == 94, "kiln_tensor.flags moved");
KILN_STATIC_ASSERT(sizeof(kiln_args) == 24, "kiln_args is addressed by byte offset: 24 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_args, tensors) == 0, "kiln_args.tensors moved");
KILN_STATIC_ASSERT(offsetof(kiln_args, scalars) == 8, "kiln_args.scalars moved");
KILN_STATIC_ASSERT(offsetof(kiln_args, num_tensors) == 16, "kiln_args.num_tensors moved");
KILN_STATIC_ASSERT(offsetof(kiln_args, num_scalars) == 20, "kiln_args.num_scalars moved");
KILN_STATIC_ASSERT(sizeof(kiln_blocks) == 48, "kiln_blocks is addressed by byte offset: 48 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_blocks, end) == 24, "kiln_blocks.end moved");
KILN_STATIC_ASSERT(sizeof(kiln_context) == 104, "kiln_context is addressed by offset: 104 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_context, lane) == 4, "kiln_context.lane moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, lanes) == 8, "kiln_context.lanes moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, num_pipes) == 12, "kiln_context.num_pipes moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, grid) == 16, "kiln_context.grid moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, scratch) == 40, "kiln_context.scratch moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, scratch_bytes) == 48, "kiln_context.scratch_bytes moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, pipes) == 56, "kiln_context.pipes moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, user) == 64, "kiln_context.user moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, report) == 72, "kiln_context.report moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, runtime) == 80, "kiln_context.runtime moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, pipe_functions) == 88, "kiln_context.pipe_functions moved");
KILN_STATIC_ASSERT(offsetof(kiln_context, block_functions) == 96, "kiln_context.block_functions moved");
KILN_STATIC_ASSERT(sizeof(kiln_source) == 16, "kiln_source is addressed by byte offset: 16 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_source, line) == 8, "kiln_source.line moved");
KILN_STATIC_ASSERT(sizeof(kiln_block_functions) == 24, "kiln_block_functions is three pointers");
KILN_STATIC_ASSERT(offsetof(kiln_block_functions, meet) == 0, "kiln_block_functions.meet moved");
KILN_STATIC_ASSERT(offsetof(kiln_block_functions, allocate) == 8, "kiln_block_functions.allocate moved");
KILN_STATIC_ASSERT(offsetof(kiln_block_functions, release) == 16, "kiln_block_functions.release moved");
KILN_STATIC_ASSERT(sizeof(kiln_pipe_functions) == 32, "kiln_pipe_functions is four pointers");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_functions, begin_push) == 0, "kiln_pipe_functions.begin_push moved");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_functions, end_push) == 8, "kiln_pipe_functions.end_push moved");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_functions, pop) == 16, "kiln_pipe_functions.pop moved");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_functions, free) == 24, "kiln_pipe_functions.free moved");
KILN_STATIC_ASSERT(sizeof(kiln_role) == 40, "kiln_role is addressed by byte offset: 40 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_role, function) == 8, "kiln_role.function moved");
KILN_STATIC_ASSERT(offsetof(kiln_role, user) == 16, "kiln_role.user moved");
KILN_STATIC_ASSERT(offsetof(kiln_role, workspace_bytes) == 24, "kiln_role.workspace_bytes moved");
KILN_STATIC_ASSERT(offsetof(kiln_role, lanes) == 32, "kiln_role.lanes moved");
KILN_STATIC_ASSERT(offsetof(kiln_role, flags) == 36, "kiln_role.flags moved");
KILN_STATIC_ASSERT(sizeof(kiln_pipe_spec) == 32, "kiln_pipe_spec is addressed by offset: 32 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_spec, payload_bytes) == 8, "kiln_pipe_spec.payload_bytes moved");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_spec, from) == 16, "kiln_pipe_spec.from moved");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_spec, to) == 20, "kiln_pipe_spec.to moved");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_spec, slots) == 24, "kiln_pipe_spec.slots moved");
KILN_STATIC_ASSERT(offsetof(kiln_pipe_spec, split) == 28, "kiln_pipe_spec.split moved");
KILN_STATIC_ASSERT(sizeof(kiln_group) == 24, "kiln_group is addressed by byte offset: 24 bytes");
KILN_STATIC_ASSERT(offsetof(kiln_group, pipes) == 8, "kiln_group.pipes moved");
KILN_STATIC_ASSERT(offsetof(kiln_group, num_roles) == 16, "kiln_group.num_roles moved");
KILN_STATIC_ASSERT(offsetof(kiln_group, num_pipes) == 20, "kiln_group.num_pipes moved");
/* clang-format on */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_ABI_H */
