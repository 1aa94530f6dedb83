/*===- kiln_mpi.h - what Kiln needs of an MPI -------------------------------===
 *
 * What: a table of functions in plain C. libkiln_mpi.so has it and is compiled with the MPI that is
 *   installed, because handles and constants differ from one MPI to another. The runtime opens that
 *   library when ranks are asked for, so everything else builds and runs without MPI.
 *
 * Errors: functions return 0, or an error of MPI that `explain` puts into words.
 *
 * Threads: one at a time; the runtime has a lock.
 *
 *===------------------------------------------------------------------------===*/
#ifndef KILN_RUNTIME_RANKS_KILN_MPI_H
#define KILN_RUNTIME_RANKS_KILN_MPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_MPI_VERSION 3u
#define KILN_MPI_ANY_RANK (-1)

typedef struct kiln_mpi_request {
  uint64_t bits; /* room for a handle of any MPI */
} kiln_mpi_request;

typedef struct kiln_mpi_line kiln_mpi_line; /* a communicator */

typedef struct kiln_mpi_functions {
  uint32_t version;
  /* Starts MPI, unless the program has; -1: this MPI does not allow threads. */
  int (*open)(int *rank, int *ranks);
  void (*explain)(int error, char *text, uint64_t size);
  /* The communicator of ranks first, first + stride, ... Called by all of them. */
  int (*make_line)(int first, int stride, int count, kiln_mpi_line **line);
  int (*send)(const void *data, uint64_t bytes, int to, int tag, kiln_mpi_line *line,
              kiln_mpi_request *request);
  /* `from` may be KILN_MPI_ANY_RANK. */
  int (*receive)(void *data, uint64_t bytes, int from, int tag, kiln_mpi_line *line,
                 kiln_mpi_request *request);
  int (*gather)(const void *mine, void *all, uint64_t bytes, kiln_mpi_line *line,
                kiln_mpi_request *request);
  int (*broadcast)(void *data, uint64_t bytes, int root, kiln_mpi_line *line,
                   kiln_mpi_request *request);
  /* In place; f32 and integers of 1 to 8 bytes only: `type` is a kiln_dtype, `how` a
   * kiln_reduction. */
  int (*reduce)(void *data, uint64_t count, int type, int how, kiln_mpi_line *line,
                kiln_mpi_request *request);
  int (*barrier)(kiln_mpi_line *line, kiln_mpi_request *request);
  /* Whether it has ended; then `bytes` is how many a receive has got. */
  int (*test)(kiln_mpi_request *request, int *has_ended, uint64_t *bytes);
  /* Ends all processes. */
  void (*abort)(int code);
  int (*close)(void);
} kiln_mpi_functions;

/* The one symbol of libkiln_mpi.so. */
const kiln_mpi_functions *kiln_mpi(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_RANKS_KILN_MPI_H */
