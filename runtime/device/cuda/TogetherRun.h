//===- TogetherRun.h - a recorded run of a persistent kernel
//------------------------------------===//
//
// The task engine runs the program, but what it calls as kernels only writes down what is to be
// launched. At the end all of it is launched together, as it is where nobody looks, and the times
// at which blocks began and ended their shares become those of the tasks in the timeline.
//
// Ownership: keeps the memory that tasks use until it has ended. Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_TOGETHERRUN_H
#define KILN_RUNTIME_DEVICE_CUDA_TOGETHERRUN_H

#include "TaskTable.h"

#include "kiln/runtime/native_program.h"
#include "kiln/runtime/timeline.h"

#include <deque>

namespace kiln::cuda {

class TogetherRun {
public:
  TogetherRun(const Gpu &gpu, const LaunchPlace &place) : On(gpu), Place(place) {}

  /// In place of the launch of a kernel, by the engine.
  Status add(const LoadedKernel &kernel, const Signature &signature, const kiln_args &args,
             std::span<const int64_t, 3> blocks);
  /// Keeps memory that some task uses.
  std::shared_ptr<Buffer> keep(std::shared_ptr<Buffer> memory);
  /// Launches everything, waits for it, and writes its times into the timeline.
  Status finish(Timeline &timeline);

private:
  struct Launch {
    Launch(const LoadedKernel &kernel, unsigned blocks, const kiln_args &args,
           std::span<const int64_t, 3> grid)
        : kernel(kernel), blocks(blocks),
          arguments(kernel.description, {args.tensors, args.num_tensors},
                    {args.scalars, args.num_scalars}, grid) {}
    const LoadedKernel &kernel;
    unsigned blocks;
    ArgumentBlock arguments;
    std::vector<bool> writes;
  };
  struct Span {
    uint64_t begin, end; ///< By the clock of the GPU.
  };
  Expected<std::vector<Span>> launch();
  Status launch(TaskTable &table, std::vector<Span> &spans);
  Expected<DevicePointer> allocate(uint64_t bytes);

  const Gpu &On;
  const LaunchPlace Place;
  std::deque<Launch> Launches;
  std::vector<std::shared_ptr<Buffer>> Memory;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_TOGETHERRUN_H
