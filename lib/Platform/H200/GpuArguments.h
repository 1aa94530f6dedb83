//===- GpuArguments.h - arguments in the memory of a GPU ------------------------------------===//
//
// Ownership: what is placed owns its memory on the first GPU. Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_PLATFORM_H200_GPUARGUMENTS_H
#define KILN_LIB_PLATFORM_H200_GPUARGUMENTS_H

#include "kiln/Platform/PlacedArguments.h"

namespace kiln {

/// Copies them to the first GPU; `isWritten` says of each whether calls may write it. Unsupported,
/// with what is missing, where there is none.
Expected<std::unique_ptr<PlacedArguments>> placeOnGpu(std::span<const Argument> args,
                                                      const std::vector<bool> &isWritten);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_H200_GPUARGUMENTS_H
