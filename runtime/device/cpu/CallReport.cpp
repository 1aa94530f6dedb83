#include "device/cpu/CallReport.h"

#include <exception>

using namespace kiln;

void kiln::reportFromKernel(kiln_context *ctx, const char *message, const char *file, int line) {
  auto *report = static_cast<CallReport *>(ctx->runtime);
  if (report->isReported)
    return; // the first one is the cause
  report->isReported = true;
  report->message = message ? message : "(no message)";
  report->loc = file ? SourceLoc{file, line, 0} : SourceLoc();
}

int32_t kiln::callKernel(kiln_kernel_fn function, const kiln_args &args, const kiln_blocks &blocks,
                         kiln_context &ctx) {
  try {
    return function(&args, &blocks, &ctx);
  } catch (const std::exception &error) {
    std::string message = std::string("threw an exception: ") + error.what();
    reportFromKernel(&ctx, message.c_str(), nullptr, 0);
  } catch (...) {
    reportFromKernel(&ctx, "threw an exception of unknown type", nullptr, 0);
  }
  return KILN_FAIL;
}
