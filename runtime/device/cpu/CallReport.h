//===- CallReport.h - calling a kernel, and what it said -----------------===//
//
// What: one call of a kernel or role function through the ABI. Reports and exceptions end in a
//   CallReport.
//
// Threads: one call belongs to one thread. Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CPU_CALLREPORT_H
#define KILN_RUNTIME_DEVICE_CPU_CALLREPORT_H

#include "kiln/abi.h"
#include "kiln/runtime/status.h"

#include <string>

namespace kiln {

/// What a kernel said about its failure; behind kiln_context::runtime.
struct CallReport {
  bool isReported = false;
  std::string message;
  SourceLoc loc;
};

/// kiln_context::report of every call.
void reportFromKernel(kiln_context *ctx, const char *message, const kiln_source *where);

/// Exceptions end here: a kernel may be anybody's code. Its error code, or KILN_FAIL.
int32_t callKernel(kiln_kernel_fn function, const kiln_args &args, const kiln_blocks &blocks,
                   kiln_context &ctx);

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CPU_CALLREPORT_H
