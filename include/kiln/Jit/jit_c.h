/*===- kiln/Jit/jit_c.h - the JIT from C ------------------------------------===
 *
 * What: compiles programs and calls them; the same JIT as kiln/Jit/Jit.h, for C and for other
 *   languages.
 *
 * Ownership: what a *_create, *_compile or *_from_* function returns belongs to the caller until
 * the matching *_destroy. A `kiln_call_arg` borrows everything it points at, for the call only. A
 * `kiln_adaptor` made from a DLPack tensor owns it and calls its deleter exactly once.
 *
 * Threads: a `kiln_jit` and a `kiln_compiled` may be used from any number of threads at once, an
 *   adaptor by one at a time while it is marked and by many while it is only passed.
 *
 * Errors: 0, or the number of a kiln::StatusCode; kiln_jit_error() then says what happened, per
 *   thread. Functions that return a pointer return NULL instead.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_JIT_JIT_C_H
#define KILN_JIT_JIT_C_H

#include "kiln/abi.h"
#include "kiln/visibility.h"

KILN_EXPORTED_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;

/*===------------------------------------------------------------------------===
 * Arguments of a call, in the order of the program's parameters
 *===------------------------------------------------------------------------===*/

enum kiln_arg_kind {
  KILN_ARG_TENSOR = 0,
  KILN_ARG_INTEGER = 1,
  KILN_ARG_REAL = 2,
  KILN_ARG_BAD = 3 /* could not be read; `value.problem` says why, and the call fails with it */
};

/* kiln_call_arg.flags. A tensor in the memory of a GPU says so with KILN_ARG_ON_GPU(number), where
 * number is that of the GPU, 0 to 62; without it, it is in the host's. */
enum kiln_arg_flags { KILN_ARG_READ_ONLY = 1u, KILN_ARG_GPU_SHIFT = 2u };
#define KILN_ARG_ON_GPU(number) ((uint8_t)(((number) + 1) << KILN_ARG_GPU_SHIFT))

typedef struct kiln_call_arg {
  void *data;             /* element [0, ..., 0] */
  const int64_t *extents; /* `rank` of them */
  const int64_t *strides; /* in elements; NULL: row-major */
  uint64_t marks;         /* 0, or what an adaptor says */
  union {
    int64_t integer;
    double real;
    const char *problem;
  } value;
  int32_t dtype; /* enum kiln_dtype; of tensors */
  uint16_t rank;
  uint8_t kind;  /* enum kiln_arg_kind */
  uint8_t flags; /* enum kiln_arg_flags */
} kiln_call_arg;
KILN_STATIC_ASSERT(sizeof(kiln_call_arg) == 48, "kiln_call_arg is passed by other languages");

/* A caller's tensor with marks that say what the compiler may rely on; see TensorAdaptor.h. */
typedef struct kiln_adaptor kiln_adaptor;
kiln_adaptor *kiln_adaptor_create(void *data, int32_t dtype, uint32_t rank, const int64_t *extents,
                                  const int64_t *strides);
/* Takes the tensor over: it is deleted with the adaptor. On failure it stays the caller's. */
kiln_adaptor *kiln_adaptor_from_dlpack(struct DLManagedTensor *tensor);
void kiln_adaptor_destroy(kiln_adaptor *adaptor);
/* leading_dim -1: found per call. Replaces all marks. */
int32_t kiln_adaptor_mark_layout_dynamic(kiln_adaptor *adaptor, int32_t leading_dim,
                                         int64_t divisibility);
/* num_dims 0: all. Adds to the marks. */
int32_t kiln_adaptor_mark_static(kiln_adaptor *adaptor, uint32_t num_dims, const int32_t *dims);
kiln_call_arg kiln_adaptor_arg(const kiln_adaptor *adaptor);

/*===------------------------------------------------------------------------===
 * Compiling and calling
 *===------------------------------------------------------------------------===*/

typedef struct kiln_jit kiln_jit;
typedef struct kiln_compiled kiln_compiled;

/* "0.1.0": of the library that is loaded. */
const char *kiln_version(void);

/* The name of the platform that the JIT compiles for if none is named: for tensors in the memory of
 * a GPU, if `on_gpu` is not 0, else for those in the host's. NULL if there is none. */
const char *kiln_jit_platform(int32_t on_gpu);

/* What kiln_recorder_choose can choose for the compiler of a platform, one on a line with the
 * values that are worth trying: "compiler.lanes 1 2 3". Empty if there is nothing, or no such
 * platform. */
const char *kiln_jit_compiler_choices(const char *platform);

/* What is zero is as the environment says. */
typedef struct kiln_jit_options {
  /* sizeof(kiln_jit_options), so that later versions can have more. What this version does not
   * know has to be zero. */
  uint64_t size;
  const char *cache_dir; /* "": no cache on disk */
  uint64_t cache_bytes;
  int32_t check; /* not 0: validate on each call also what costs time, as KILN_CHECK=1 does */
  int32_t dump;  /* 1, 2 or 3: each call leaves a dump of this level, as KILN_DUMP says */
  /* Receives one line about each thing that did not go as it should but stops nothing; NULL:
   * standard error. May be called from any thread. */
  void (*log)(void *log_data, const char *line);
  void *log_data;
  /* Where each recorded call makes a folder of its own, PROGRAM-1, PROGRAM-2, ...; NULL: where
   * KILN_OUT says. */
  const char *out;
  int32_t timeline; /* not 0: each call leaves a timeline, as KILN_TIMELINE=1 says */
  /* Most threads that a call may run on, the caller's among them, as KILN_WORKERS says. Programs
   * share one pool of threads, so this holds for the whole process; what was said last counts. */
  int32_t workers;
} kiln_jit_options;

/* The cache is where KILN_CACHE_DIR, XDG_CACHE_HOME and KILN_CACHE say. */
kiln_jit *kiln_jit_create(void);
kiln_jit *kiln_jit_create_with(const kiln_jit_options *options);
void kiln_jit_destroy(kiln_jit *jit);
/* The message of the last call on this thread that failed; "" at first. */
const char *kiln_jit_error(void);

/* A program as text; `entry` may be NULL. Nothing is lowered before the first call. */
kiln_compiled *kiln_jit_compile(kiln_jit *jit, const char *text, uint64_t length,
                                const char *platform, const char *entry);
void kiln_compiled_destroy(kiln_compiled *compiled);
int32_t kiln_compiled_call(kiln_compiled *compiled, const kiln_call_arg *args, uint32_t num_args);
/* The same for a program that runs on a GPU, launched on `stream`, a CUstream of the GPU that the
 * tensors are on (NULL: the default one). Returns before it has run. */
int32_t kiln_compiled_call_on(kiln_compiled *compiled, const kiln_call_arg *args, uint32_t num_args,
                              void *stream);
/* Fills the cache without running. */
int32_t kiln_compiled_compile_only(kiln_compiled *compiled, const kiln_call_arg *args,
                                   uint32_t num_args);

/* A parameter of a program, in the order in which a call takes them. */
typedef struct kiln_parameter {
  const char *name;  /* lives as long as the program */
  int32_t is_scalar; /* of type `dtype`; else a tensor */
  int32_t dtype;     /* enum kiln_dtype */
  int32_t direction; /* enum kiln_direction; of tensors */
  uint32_t rank;
  int64_t extents[KILN_MAX_RANK]; /* -1: any */
} kiln_parameter;
uint32_t kiln_compiled_num_parameters(const kiln_compiled *compiled);
int32_t kiln_compiled_parameter(const kiln_compiled *compiled, uint32_t index,
                                kiln_parameter *parameter);

typedef struct kiln_jit_counters {
  uint64_t memory_hits, disk_hits, misses, compiles, call_states, evictions, bytes, graphs,
      graph_launches;
} kiln_jit_counters;
void kiln_jit_get_counters(const kiln_jit *jit, kiln_jit_counters *counters);

#ifdef __cplusplus
} /* extern "C" */
#endif
KILN_EXPORTED_END

#endif /* KILN_JIT_JIT_C_H */
