//===- Launch.h - one kernel, its argument block and its launch -----------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_LAUNCH_H
#define KILN_RUNTIME_DEVICE_CUDA_LAUNCH_H

#include "Driver.h"

#include "kiln/runtime/cuda_kernel.h"
#include "kiln/runtime/tensor.h"

#include <memory>
#include <span>

namespace kiln::cuda {

struct LoadedKernel {
  CudaKernel description;
  Function function = nullptr;
  int blocksPerMultiprocessor = 1;
};

/// What a kernel is given. First everything but where its tensors are, then that, which may change
/// from launch to launch.
class ArgumentBlock {
public:
  /// There are as many arguments as the kernel takes.
  ArgumentBlock(const CudaKernel &kernel, std::span<const kiln_tensor> tensors,
                std::span<const uint64_t> scalars, std::span<const int64_t, 3> blocks);
  ArgumentBlock(const ArgumentBlock &) = delete;
  ArgumentBlock &operator=(const ArgumentBlock &) = delete;

  /// Element [0, ..., 0] of a tensor; its boxes are described to the copy engine anew.
  void setData(const Driver &driver, size_t tensor, void *data);
  const kiln_tensor &tensor(size_t number) const { return Tensors[number]; }
  uint64_t scalar(size_t number) const { return Scalars[number]; }
  /// The blocks of the launch, along three axes.
  std::span<const int64_t> grid() const { return {Grid, 3}; }
  /// Whether the kernel may read what it reads ahead. True: that is not what it was told before.
  bool setMayReadAhead(bool may);
  /// The word in which blocks count, if they do.
  void setArrivals(DevicePointer word) { *Arrivals = word; }

  void *begin() { return Begin; }

private:
  struct Delete {
    void operator()(std::byte *bytes) const { operator delete[](bytes, std::align_val_t(64)); }
  };
  const CudaKernel &Kernel;
  alignas(64) std::byte Small[2048]; ///< Where it fits, nothing is allocated.
  std::unique_ptr<std::byte[], Delete> Large;
  std::byte *Begin = Small;
  TensorMap *Maps;
  kiln_tensor *Tensors;
  uint64_t *Scalars;
  int64_t *Grid;
  DevicePointer *Arrivals;
};

/// How many blocks to start for a grid of three extents. Kernels walk their blocks themselves, so
/// no more are started than run at once. 0: there is nothing to launch.
Expected<unsigned> blocksToStart(const Gpu &gpu, const LoadedKernel &kernel,
                                 std::span<const int64_t, 3> blocks);

/// Whether the blocks of a launch count in a word that is 0 when it starts: those that meet at a
/// barrier, and those that are handed out, unless each is started.
bool needsCounter(const CudaKernel &kernel, std::span<const int64_t, 3> blocks, unsigned started);

class WatchedCall;

/// Where a kernel is launched: a stream of the GPU that is the current one.
struct LaunchPlace {
  Stream stream = nullptr;
  WatchedCall *watched = nullptr; ///< Null: nobody watches.
  /// It may begin before the kernel before it in the stream has ended, where it waits for that.
  bool beginsEarly = false;
};

/// Has the driver start them.
Result startKernel(const Driver &driver, const LoadedKernel &kernel, unsigned blocks,
                   ArgumentBlock &arguments, const LaunchPlace &place);

/// Refuses another number of arguments than the kernel takes.
Status verifyCounts(const CudaKernel &kernel, size_t tensors, size_t scalars);

/// Launches `blocks`: three extents, none of which may be negative.
Status launchKernel(const Gpu &gpu, const LoadedKernel &kernel,
                    std::span<const kiln_tensor> tensors, std::span<const uint64_t> scalars,
                    std::span<const int64_t, 3> blocks, const LaunchPlace &place);

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_LAUNCH_H
