//===- TorchTasks.h - the PyTorch reference, task by task ---------------------------------===//
#ifndef KILN_LIB_PLATFORM_TORCH_TORCHTASKS_H
#define KILN_LIB_PLATFORM_TORCH_TORCHTASKS_H

#include "kiln/Platform/Platform.h"

namespace kiln {

/// Runs the reference, each task by itself and with a dump of its arguments.
Status runReferenceByTask(const Platform &platform, const RunRequest &request);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_TORCH_TORCHTASKS_H
