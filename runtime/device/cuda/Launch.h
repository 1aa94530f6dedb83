//===- Launch.h - one kernel, its argument block and its launch -----------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_LAUNCH_H
#define KILN_RUNTIME_DEVICE_CUDA_LAUNCH_H

#include "Driver.h"

#include "kiln/runtime/cuda_kernel.h"
#include "kiln/runtime/tensor.h"

#include <span>

namespace kiln::cuda {

struct LoadedKernel {
  CudaKernel description;
  Function function = nullptr;
  int blocksPerMultiprocessor = 1;
};

/// Launches `blocks` (three extents; none may be negative) on `stream`, a stream of this GPU, which
/// is the current one. Kernels walk their blocks themselves: no more are started than run at once.
Status launchKernel(const Gpu &gpu, const LoadedKernel &kernel,
                    std::span<const kiln_tensor> tensors, std::span<const uint64_t> scalars,
                    std::span<const int64_t, 3> blocks, Stream stream);

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_LAUNCH_H
