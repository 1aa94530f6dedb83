/*===- kiln/cuda_c.h - launching a bundle on a GPU from C -----------------------===
 *
 * What: opens a bundle that was built for h200 and launches it on tensors that are in the GPU's
 *   memory, on a stream of the caller's: for other languages, and for benchmarks that time both
 *   sides in one process.
 *
 * Ownership: a program is the caller's to close, when nothing of it is running. Tensors and their
 *   memory stay the caller's.
 *
 * Threads: several may launch one program at once.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_CUDA_C_H
#define KILN_CUDA_C_H

#include "kiln/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_cuda_program kiln_cuda_program;

/* NULL on failure; kiln_cuda_error() says why. */
kiln_cuda_program *kiln_cuda_open(const char *bundle);
void kiln_cuda_close(kiln_cuda_program *program);

/* Launches everything on `stream` (a CUstream). Tensors and scalars in the order of the entry's
 * signature. 0, or not 0 with kiln_cuda_error(). */
int32_t kiln_cuda_launch(const kiln_cuda_program *program, const kiln_args *args, void *stream);

/* The last failure of this thread; never NULL. */
const char *kiln_cuda_error(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_CUDA_C_H */
