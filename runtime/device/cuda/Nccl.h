//===- Nccl.h - NCCL, opened when ranks on GPUs need it ------------------------------------===//
//
// The functions of libnccl.so.2 that the runtime calls, as NCCL's ABI has them: nothing of NCCL is
// needed to build, and what is missing to run is an error that says so. One table for the process,
// immutable once opened, any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_NCCL_H
#define KILN_RUNTIME_DEVICE_CUDA_NCCL_H

#include "Driver.h"

#include "kiln/runtime/ranks.h"

namespace kiln::cuda {

// NCCL's types, and values of its enumerations.
using NcclResult = int; // ncclResult_t; 0 is success
using NcclComm = struct ncclComm *;
inline constexpr NcclResult kNcclInProgress = 7;
struct NcclId { // ncclUniqueId
  char bytes[128];
};

/// The oldest that has everything: messages came with 2.7, bf16 with 2.10.
inline constexpr int kNcclOldest = 21000;

struct Nccl {
  NcclResult (*getVersion)(int *);
  NcclResult (*getUniqueId)(NcclId *);
  NcclResult (*commInitRank)(NcclComm *, int, NcclId, int);
  NcclResult (*commDestroy)(NcclComm);
  NcclResult (*commAbort)(NcclComm);
  NcclResult (*commGetAsyncError)(NcclComm, NcclResult *);
  const char *(*getErrorString)(NcclResult);
  NcclResult (*allReduce)(const void *, void *, size_t, int, int, NcclComm, Stream);
  NcclResult (*broadcast)(const void *, void *, size_t, int, int, NcclComm, Stream);
  NcclResult (*reduceScatter)(const void *, void *, size_t, int, int, NcclComm, Stream);
  NcclResult (*allGather)(const void *, void *, size_t, int, NcclComm, Stream);
  NcclResult (*send)(const void *, size_t, int, int, NcclComm, Stream);
  NcclResult (*recv)(void *, size_t, int, int, NcclComm, Stream);
  NcclResult (*groupStart)();
  NcclResult (*groupEnd)();
  /// Since 2.13; null before.
  const char *(*getLastError)(NcclComm);

  /// Opened on the first call: what KILN_NCCL_LIBRARY names, else libnccl.so.2. NotFound or
  /// Unsupported, with what to install, where there is none or an old one.
  static Expected<const Nccl *> open();
  /// The same of one library, each time anew.
  static Status load(const std::string &path, Nccl &nccl);

  /// The error as a Status: "ncclAllReduce: text (details)".
  Status check(NcclResult result, const char *what, NcclComm comm = nullptr) const;
};

/// NCCL's name for bytes, and for elements that it combines as the language wants it.
inline constexpr int kNcclBytes = 0; // ncclInt8
/// Only of what needsRankKernel() says no to.
int ncclType(DType type);
int ncclOperation(Reduction how);

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_NCCL_H
