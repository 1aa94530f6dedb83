//===- Plan.h - what a program launches, written down ----------------------------------------===//
//
// An orchestration that reads no data decides everything by the extents and strides of its tensors
// and by its numbers. Run once for them, it leaves a plan: its kernels in order, with all that they
// are given but for where tensors are. What it allocates lies in one workspace, where memory that
// it let go is used again.
//
// Ownership: borrows the kernels. Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_PLAN_H
#define KILN_RUNTIME_DEVICE_CUDA_PLAN_H

#include "Launch.h"

#include "kiln/orchestration_abi.h"
#include "kiln/runtime/native_program.h"

#include <deque>
#include <vector>

namespace kiln::cuda {

/// What is to be planned.
struct PlannedProgram {
  const Gpu &gpu;
  std::span<const LoadedKernel> loaded;  ///< By the number that launches refer to.
  std::span<const NativeKernel> kernels; ///< The same.
  kiln_orchestration_fn entry = nullptr; ///< Null: the first kernel itself, as one block.
};

class Plan {
public:
  /// Where a tensor is: bytes behind the beginning of an argument, or of the workspace.
  struct Place {
    uint32_t base; ///< The number of an argument, or how many there are: the workspace.
    uint64_t offset;
  };
  struct Launch {
    Launch(const LoadedKernel &kernel, std::span<const kiln_tensor> tensors,
           std::span<const uint64_t> scalars, std::span<const int64_t, 3> grid, unsigned started)
        : kernel(kernel), blocks(started), counts(needsCounter(kernel.description, grid, started)),
          arguments(kernel.description, tensors, scalars, grid) {}
    const LoadedKernel &kernel;
    unsigned blocks; ///< To be started.
    bool counts;     ///< They count in a word of the workspace.
    ArgumentBlock arguments;
    std::vector<Place> places; ///< Of the tensors.
    std::vector<bool> writes;  ///< Whether it writes the tensor.
    uint64_t arrivals = 0;     ///< Where that word is.
  };

  /// Null where the program waits for data or works with other ranks: what it launches is not
  /// known in advance.
  static Expected<std::unique_ptr<Plan>> make(const PlannedProgram &program, const kiln_args &args);

  std::deque<Launch> launches;
  /// The arguments that some kernel writes, and those that some kernel begins to read before the
  /// kernels that come first have ended.
  std::vector<bool> isWritten, isReadAhead;
  /// At its beginning are the words in which blocks count; they are 0 when the first kernel starts.
  uint64_t workspaceBytes = 0, arrivalBytes = 0;
  /// Where the counters of tasks are, of a program that is one persistent kernel: a word for each.
  uint64_t counters = 0;
  bool isPersistent() const {
    return !launches.empty() && launches.front().kernel.description.isPart();
  }
};

/// Divides up memory that is not there yet: the first gap that is large enough.
class WorkspaceLayout {
public:
  uint64_t take(uint64_t bytes);
  void give(uint64_t offset);
  uint64_t bytes() const { return Bytes; }

private:
  std::map<uint64_t, uint64_t> Taken; ///< From where to where.
  uint64_t Bytes = 0;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_PLAN_H
