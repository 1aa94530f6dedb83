//===- kiln/runtime/gpu_tensors.h - copies of tensors in a GPU's memory -----===//
//
// What: `GpuTensors`, tensors of the host copied to a GPU for calls there, and read back.
//
// Ownership: it owns the memory on the GPU. What is launched with it must have ended before it
//   goes; it waits for the default stream itself.
//
// Threads: one at a time.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_GPU_TENSORS_H
#define KILN_RUNTIME_GPU_TENSORS_H

#include "kiln/runtime/tensor.h"

#include <memory>
#include <vector>

namespace kiln {

class GpuTensors {
public:
  /// Copies to the first GPU, row after row; `isWritten` says of each tensor whether calls may
  /// write it. Unsupported, with what is missing, where there is none.
  static Expected<std::unique_ptr<GpuTensors>> copy(std::span<const Tensor> tensors,
                                                    const std::vector<bool> &isWritten);
  ~GpuTensors();
  GpuTensors(const GpuTensors &) = delete;
  GpuTensors &operator=(const GpuTensors &) = delete;

  int gpu() const; ///< The number of the GPU.
  std::span<const Tensor> tensors() const;
  /// Waits for everything on the default stream. Here shows what a kernel did wrong.
  Status wait() const;
  /// Makes those that calls may write what they were at first; the GPU copies, and calls wait for
  /// it.
  Status restore();
  /// What those that calls may write hold now, in tensors of the host that the next read() writes
  /// to; the others as they were given.
  Expected<std::vector<Tensor>> read();

private:
  struct State;
  explicit GpuTensors(std::unique_ptr<State> state);
  std::unique_ptr<State> Has;
};

} // namespace kiln

#endif // KILN_RUNTIME_GPU_TENSORS_H
