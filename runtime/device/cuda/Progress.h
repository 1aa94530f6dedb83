//===- Progress.h - kernels that do not end ------------------------------------------------===//
//
// A kernel that waits for ever, or loops for ever, holds up whoever waits for its stream, and
// nothing can stop it but the end of the process. Kernels that could count in memory of the GPU how
// often their roles have begun and ended (device/cuda/barrier.cuh). A thread of the process reads
// these counts now and then, through a stream of its own, so calls cost nothing more, and graphs
// are watched as all else, also those that others have captured. Where something of a kernel has
// begun and not ended, and neither count has changed for longer than KILN_GPU_TIMEOUT, the process
// ends with what is known.
//
// Threads: any.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_PROGRESS_H
#define KILN_RUNTIME_DEVICE_CUDA_PROGRESS_H

#include "Driver.h"

#include <functional>
#include <memory>
#include <string>

namespace kiln::cuda {

/// Seconds for which nothing may move, unless KILN_GPU_TIMEOUT says something else.
inline constexpr uint64_t kGpuTimeout = 60;

/// The counts of one kernel in one module, watched as long as this lives.
class WatchedKernel {
public:
  struct Counts {
    unsigned begun, ended;
  };

  /// The GPU is the current one. `describe` says which kernel it is and what it was given last; it
  /// is asked by another thread, and never again after that.
  WatchedKernel(const Gpu &gpu, DevicePointer counts, uint64_t seconds,
                std::function<std::string()> describe);
  ~WatchedKernel();
  WatchedKernel(const WatchedKernel &) = delete;
  WatchedKernel &operator=(const WatchedKernel &) = delete;

  struct State;

private:
  std::shared_ptr<State> Known;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_PROGRESS_H
