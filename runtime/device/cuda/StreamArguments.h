//===- StreamArguments.h - what an orchestration hands to a kernel or allocates --------------===//
//
// The two ways to run an orchestration on a GPU, launching as it goes and planning what will be
// launched, read what it asks for here.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_STREAMARGUMENTS_H
#define KILN_RUNTIME_DEVICE_CUDA_STREAMARGUMENTS_H

#include "abi/OrchestrationRun.h"
#include "kiln/runtime/inplace_vector.h"
#include "kiln/runtime/native_program.h"

namespace kiln::cuda {

/// An orchestration cuts tensors up, so it gets them as tensors.
Expected<std::vector<Tensor>> tensorsOf(const kiln_args &args);

/// Strides and bytes of a row-major tensor.
struct RowMajor {
  std::array<int64_t, KILN_MAX_RANK> strides{};
  uint64_t bytes = 0;

  static Expected<RowMajor> of(DType dtype, Dims extents);
};

/// The numbers of a launch and its grid, in the form of the ABI. Tensors come from whoever has them
/// by handle.
struct StreamArguments {
  explicit StreamArguments(const kiln_launch &launch);
  /// What the kernel requires of its arguments.
  Status verify(const NativeKernel &kernel) const;

  InplaceVector<kiln_tensor, 12> tensors;
  InplaceVector<uint64_t, 12> scalars;
  int64_t blocks[3] = {1, 1, 1};
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_STREAMARGUMENTS_H
