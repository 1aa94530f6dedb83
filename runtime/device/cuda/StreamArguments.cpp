#include "StreamArguments.h"

using namespace kiln;
using namespace kiln::cuda;

Expected<std::vector<Tensor>> kiln::cuda::tensorsOf(const kiln_args &args) {
  std::vector<Tensor> tensors;
  tensors.reserve(args.num_tensors);
  for (const kiln_tensor &given : std::span(args.tensors, args.num_tensors)) {
    Expected<Tensor> tensor =
        Tensor::view(given.data, static_cast<DType>(given.dtype), Dims(given.extents, given.rank),
                     Dims(given.strides, given.rank));
    if (!tensor)
      return tensor.status();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Expected<RowMajor> RowMajor::of(DType dtype, Dims extents) {
  RowMajor result;
  if (extents.size() > KILN_MAX_RANK)
    return Status(StatusCode::InvalidArgument,
                  "a tensor of rank " + std::to_string(extents.size()) + " cannot be allocated");
  int64_t elements = 1, bytes = 0;
  for (size_t axis = extents.size(); axis-- > 0;) {
    result.strides[axis] = elements;
    if (extents[axis] < 0 || __builtin_mul_overflow(elements, extents[axis], &elements))
      return Status(StatusCode::InvalidArgument,
                    "a tensor " + toString(extents) + " cannot be allocated");
  }
  if (__builtin_mul_overflow(elements, sizeOf(dtype), &bytes))
    return Status(StatusCode::OutOfMemory,
                  "a tensor " + toString(extents) + " is larger than any memory");
  result.bytes = static_cast<uint64_t>(bytes);
  return result;
}

StreamArguments::StreamArguments(const kiln_launch &launch) {
  for (const kiln_launch_scalar &arg : std::span(launch.scalars, launch.num_scalars))
    scalars.push_back(arg.bits);
  for (uint32_t axis = 0; axis < launch.grid_rank; ++axis)
    blocks[axis] = launch.grid[axis];
}

Status StreamArguments::verify(const NativeKernel &kernel) const {
  if (!kernel.signature)
    return Status::ok();
  std::span<const kiln_tensor> given(tensors);
  std::span<const uint64_t> numbers(scalars);
  return kernel.signature->checkRequirements(kiln_args{given.data(), numbers.data(),
                                                       static_cast<uint32_t>(given.size()),
                                                       static_cast<uint32_t>(numbers.size())});
}
