#include "device/cpu/CallReport.h"

#include "abi/CBoundary.h"

#include <exception>

using namespace kiln;

void kiln::reportFromKernel(kiln_context *ctx, const char *message, const kiln_source *where) {
  auto *report = static_cast<CallReport *>(ctx->runtime);
  if (report->isReported)
    return; // the first one is the cause
  report->isReported = true;
  report->message = message ? message : "(no message)";
  report->loc = placeOf(where);
}

int32_t kiln::callKernel(kiln_kernel_fn function, const kiln_args &args, const kiln_blocks &blocks,
                         kiln_context &ctx) {
  try {
    return function(&args, &blocks, &ctx);
  } catch (const std::exception &error) {
    std::string message = std::string("threw an exception: ") + error.what();
    reportFromKernel(&ctx, message.c_str(), nullptr);
  } catch (...) {
    reportFromKernel(&ctx, "threw an exception of unknown type", nullptr);
  }
  return KILN_FAIL;
}
