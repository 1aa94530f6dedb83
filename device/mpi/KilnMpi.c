/* The MPI that is installed, behind the table of kiln_mpi.h. */
#include "ranks/kiln_mpi.h"

#include "kiln/orchestration_abi.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(kiln_mpi_request), "a handle of MPI fits a request");

struct kiln_mpi_line {
  MPI_Comm comm;
};

static MPI_Request get(const kiln_mpi_request *request) {
  MPI_Request handle;
  memcpy((void *)&handle, &request->bits, sizeof(MPI_Request));
  return handle;
}

static int put(int error, MPI_Request handle, kiln_mpi_request *request) {
  memcpy(&request->bits, (const void *)&handle, sizeof(MPI_Request));
  return error;
}

static int openMpi(int *rank, int *ranks) {
  int isOpen = 0, level = 0, error = MPI_Initialized(&isOpen);
  if (error == 0 && !isOpen)
    error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  if (error == 0 && isOpen)
    error = MPI_Query_thread(&level);
  if (error == 0 && level < MPI_THREAD_SERIALIZED)
    return -1;
  if (error == 0)
    error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (error == 0)
    error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return error ? error : MPI_Comm_size(MPI_COMM_WORLD, ranks);
}

static void explain(int error, char *text, uint64_t size) {
  char buffer[MPI_MAX_ERROR_STRING + 1] = "unknown error";
  int length = 0;
  MPI_Error_string(error, buffer, &length);
  strncpy(text, buffer, size - 1);
  text[size - 1] = 0;
}

static int makeLine(int first, int stride, int count, kiln_mpi_line **line) {
  MPI_Group world, members;
  int range[1][3] = {{first, first + (count - 1) * stride, stride}};
  kiln_mpi_line *made = malloc(sizeof *made);
  if (!made)
    return MPI_ERR_NO_MEM;
  int error = MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (error == 0)
    error = MPI_Group_range_incl(world, 1, range, &members);
  if (error == 0)
    error = MPI_Comm_create_group(MPI_COMM_WORLD, members, first * 31 + stride, &made->comm);
  if (error == 0)
    error = MPI_Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN);
  *line = made;
  return error;
}

static int sendTo(const void *data, uint64_t bytes, int to, int tag, kiln_mpi_line *line,
                  kiln_mpi_request *request) {
  MPI_Request handle;
  return put(MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, line->comm, &handle), handle, request);
}

static int receive(void *data, uint64_t bytes, int from, int tag, kiln_mpi_line *line,
                   kiln_mpi_request *request) {
  MPI_Request handle;
  if (from == KILN_MPI_ANY_RANK)
    from = MPI_ANY_SOURCE;
  return put(MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, line->comm, &handle), handle,
             request);
}

static int gather(const void *mine, void *all, uint64_t bytes, kiln_mpi_line *line,
                  kiln_mpi_request *request) {
  MPI_Request handle;
  return put(
      MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, line->comm, &handle),
      handle, request);
}

static int broadcast(void *data, uint64_t bytes, int root, kiln_mpi_line *line,
                     kiln_mpi_request *request) {
  MPI_Request handle;
  return put(MPI_Ibcast(data, (int)bytes, MPI_BYTE, root, line->comm, &handle), handle, request);
}

static MPI_Datatype typeOf(int type) {
  switch (type) {
  case KILN_F32:
    return MPI_FLOAT;
  case KILN_I8:
    return MPI_INT8_T;
  case KILN_I16:
    return MPI_INT16_T;
  case KILN_I32:
    return MPI_INT32_T;
  default:
    return MPI_INT64_T;
  }
}

static int reduce(void *data, uint64_t count, int type, int how, kiln_mpi_line *line,
                  kiln_mpi_request *request) {
  MPI_Request handle;
  MPI_Op op = how == KILN_REDUCE_SUM   ? MPI_SUM
              : how == KILN_REDUCE_MAX ? MPI_MAX
              : how == KILN_REDUCE_MIN ? MPI_MIN
                                       : MPI_PROD;
  return put(MPI_Iallreduce(MPI_IN_PLACE, data, (int)count, typeOf(type), op, line->comm, &handle),
             handle, request);
}

static int barrier(kiln_mpi_line *line, kiln_mpi_request *request) {
  MPI_Request handle;
  return put(MPI_Ibarrier(line->comm, &handle), handle, request);
}

static int test(kiln_mpi_request *request, int *hasEnded, uint64_t *bytes) {
  MPI_Request handle = get(request);
  MPI_Status status;
  int count = 0, error = MPI_Test(&handle, hasEnded, &status);
  if (error == 0 && *hasEnded)
    error = MPI_Get_count(&status, MPI_BYTE, &count);
  *bytes = count > 0 ? (uint64_t)count : 0;
  return put(error, handle, request);
}

static void abortAll(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static int closeMpi(void) {
  int isClosed = 0, error = MPI_Finalized(&isClosed);
  return error || isClosed ? error : MPI_Finalize();
}

const kiln_mpi_functions *kiln_mpi(void) {
  static const kiln_mpi_functions table = {
      KILN_MPI_VERSION, openMpi, explain, makeLine, sendTo,   receive, gather,
      broadcast,        reduce,  barrier, test,     abortAll, closeMpi};
  return &table;
}
