//===- Orchestrate.h - runs a compiled orchestration on a stream -----------------------------===//
//
// The functions of kiln/orchestration_abi.h with a CUDA stream behind them. Tasks are launched in
// the order in which they are submitted, so all of their dependencies hold without being looked at;
// intermediates are allocated and freed in the same order.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_ORCHESTRATE_H
#define KILN_RUNTIME_DEVICE_CUDA_ORCHESTRATE_H

#include "Launch.h"
#include "Progress.h"
#include "Replay.h"
#include "StreamCollectives.h"
#include "Watch.h"

#include "kiln/runtime/cuda_program.h"

#include <atomic>
#include <mutex>

namespace kiln {

struct CudaProgram::Loaded {
  Loaded(const cuda::Gpu &on, std::string_view name) : gpu(&on), program(name) {}
  ~Loaded();
  Loaded(const Loaded &) = delete;
  Loaded &operator=(const Loaded &) = delete;

  const cuda::Gpu *gpu;
  const std::string program; ///< Its name, for reports.
  std::vector<cuda::Module> modules;
  std::vector<cuda::LoadedKernel> kernels; ///< By the number that launches refer to.
  std::unique_ptr<cuda::Replays> replays;
  std::vector<std::unique_ptr<cuda::WatchedKernel>> watched; ///< Refer to all of the above.
};

struct CudaProgram::Place {
  cuda::LaunchPlace on;
  cuda::RankPlace ranks = {};
};

/// Kernels are loaded once on each GPU, and found without a lock from then on.
struct CudaProgram::Devices {
  const cuda::Driver *driver = nullptr;
  std::vector<CudaKernel> kernels;
  std::map<std::string, std::string> cubins;
  std::span<const NativeKernel> launched; ///< What an orchestration launches, by number.
  kiln_orchestration_fn entry = nullptr;
  const NativeInfo *info = nullptr; ///< Of the program.
  cuda::ReplayOptions may;
  uint64_t timeout = 0; ///< Seconds that a kernel may run; 0: any.
  std::mutex loading;
  std::atomic<const Loaded *> loaded[cuda::kMaxGpus] = {};

  /// Has its kernels watched, if they are to end at all.
  void watch(Loaded &loaded) const;
  /// The GPU is the current one. A program without a name is called as its entry.
  Expected<const Loaded *> on(const cuda::Gpu &gpu, std::string_view program);
};

namespace cuda {

inline DevicePointer addressOf(const void *pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

/// Memory of the GPU that is freed, in the order of the stream, when the last tensor lets go.
Expected<std::shared_ptr<Buffer>> allocateOn(const Driver &driver, Stream stream, uint64_t bytes);

/// `kernels` describes what is launched, by number. The GPU is the current one.
Status orchestrate(const CudaProgram::Loaded &program, std::span<const NativeKernel> kernels,
                   kiln_orchestration_fn entry, std::span<const Tensor> tensors,
                   std::span<const uint64_t> scalars, const LaunchPlace &place,
                   const RankPlace &ranks = {});

} // namespace cuda
} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CUDA_ORCHESTRATE_H
