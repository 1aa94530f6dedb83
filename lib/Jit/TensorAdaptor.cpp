#include "kiln/Jit/TensorAdaptor.h"

namespace kiln {

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

namespace {

/// Type codes of DLPack 1.1 that the packaged header does not name yet.
enum : uint8_t { codeBool = 6, codeF8E4M3FN = 10, codeF8E5M2 = 12 };

constexpr int noDType = -1;

int findDType(DLDataType type) {
  if (type.lanes != 1)
    return noDType;
  switch (type.code << 8 | type.bits) {
  case kDLFloat << 8 | 32:
    return KILN_F32;
  case kDLFloat << 8 | 16:
    return KILN_F16;
  case kDLBfloat << 8 | 16:
    return KILN_BF16;
  case codeF8E4M3FN << 8 | 8:
    return KILN_F8E4M3FN;
  case codeF8E5M2 << 8 | 8:
    return KILN_F8E5M2;
  case kDLInt << 8 | 8:
    return KILN_I8;
  case kDLInt << 8 | 16:
    return KILN_I16;
  case kDLInt << 8 | 32:
    return KILN_I32;
  case kDLInt << 8 | 64:
    return KILN_I64;
  case codeBool << 8 | 8:
    return KILN_I1;
  default:
    return noDType;
  }
}

} // namespace

DType dlpackDType(DLDataType type) { return static_cast<DType>(findDType(type)); }

/// The number of the GPU that a DLPack tensor is on; less than 0: it is in the host's memory.
static int gpuOf(const DLTensor &tensor) {
  return tensor.device.device_type == kDLCUDA ? tensor.device.device_id : -1;
}

const char *dlpackProblem(const DLTensor &tensor) {
  if (tensor.device.device_type != kDLCPU && tensor.device.device_type != kDLCUDAHost &&
      tensor.device.device_type != kDLROCMHost && tensor.device.device_type != kDLCUDA)
    return "is a DLPack tensor that is neither in the host's memory nor in that of a CUDA GPU";
  if (gpuOf(tensor) > 62)
    return "is a DLPack tensor on a GPU with a number above 62";
  if (findDType(tensor.dtype) == noDType)
    return "is a DLPack tensor of an element type that Kiln does not have; it has f32, f16, bf16, "
           "f8E4M3FN, f8E5M2, i8, i16, i32, i64 and bool";
  if (tensor.ndim < 1 || tensor.ndim > KILN_MAX_RANK)
    return "is a DLPack tensor whose rank is not 1 to 5";
  if (!tensor.shape)
    return "is a DLPack tensor without extents";
  return nullptr;
}

CallArg::CallArg(const DLTensor *tensor) : kiln_call_arg{} {
  const char *problem = tensor ? dlpackProblem(*tensor) : "is a null DLPack tensor";
  if (problem) {
    setProblem(problem);
    return;
  }
  data = tensor->data ? static_cast<std::byte *>(tensor->data) + tensor->byte_offset : nullptr;
  extents = tensor->shape;
  strides = tensor->strides;
  dtype = findDType(tensor->dtype);
  rank = static_cast<uint16_t>(tensor->ndim);
  setGpu(gpuOf(*tensor));
}

/// The view a DLPack tensor describes. `release` becomes the buffer's, and is not run on failure.
static Expected<Tensor> viewOf(const DLTensor &tensor, std::function<void()> release) {
  if (const char *problem = dlpackProblem(tensor))
    return Status(StatusCode::InvalidArgument, std::string("the tensor ") + problem);
  Dims extents(tensor.shape, size_t(tensor.ndim));
  Dims strides = tensor.strides ? Dims(tensor.strides, extents.size()) : Dims();
  DType dtype = dlpackDType(tensor.dtype);
  void *data =
      tensor.data ? static_cast<std::byte *>(tensor.data) + tensor.byte_offset : tensor.data;
  Expected<Tensor> view = strides.empty() ? Tensor::view(data, dtype, extents)
                                          : Tensor::view(data, dtype, extents, strides);
  if (!view || !release)
    return view;
  auto buffer = Buffer::wrap(data, view->buffer()->bytes(), std::move(release));
  return Tensor::view(std::move(buffer), 0, dtype, view->extents(), view->strides());
}

Expected<TensorAdaptor> TensorAdaptor::dlpack(const DLTensor &tensor) {
  Expected<Tensor> view = viewOf(tensor, {});
  if (!view)
    return view.status();
  return TensorAdaptor(std::move(*view)).onGpu(gpuOf(tensor));
}

Expected<TensorAdaptor> TensorAdaptor::dlpack(DLManagedTensor *tensor) {
  if (!tensor)
    return Status(StatusCode::InvalidArgument, "the DLPack tensor is null");
  Expected<Tensor> view = viewOf(tensor->dl_tensor, [tensor] {
    if (tensor->deleter)
      tensor->deleter(tensor);
  });
  if (!view)
    return view.status();
  return TensorAdaptor(std::move(*view)).onGpu(gpuOf(tensor->dl_tensor));
}

Expected<TensorAdaptor> TensorAdaptor::raw(void *data, DType dtype, Dims extents, Dims strides) {
  Expected<Tensor> view = strides.empty() ? Tensor::view(data, dtype, extents)
                                          : Tensor::view(data, dtype, extents, strides);
  if (!view)
    return view.status();
  return TensorAdaptor(std::move(*view));
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

TensorAdaptor &TensorAdaptor::refuse(std::string message) {
  if (Error.isOk())
    Error = Status(StatusCode::InvalidArgument, std::move(message));
  return *this;
}

static std::string axisOf(int dim, int rank) {
  return "there is no axis " + std::to_string(dim) + " in a tensor of rank " +
         std::to_string(rank) + "; its axes are 0 to " + std::to_string(rank - 1);
}

TensorAdaptor &TensorAdaptor::mark_layout_dynamic(int leadingDim, int64_t divisibility) {
  if (leadingDim < -1 || leadingDim >= T.rank())
    return refuse("mark_layout_dynamic: " + axisOf(leadingDim, T.rank()) + ", or -1 to find it");
  if (leadingDim >= 0 && T.extent(leadingDim) > 1 && T.stride(leadingDim) != 1)
    return refuse("mark_layout_dynamic: the leading dimension has stride 1, but axis " +
                  std::to_string(leadingDim) + " of " + T.str() + " has stride " +
                  std::to_string(T.stride(leadingDim)));
  if (divisibility < 1 || divisibility > UINT32_MAX)
    return refuse("mark_layout_dynamic: divisibility " + std::to_string(divisibility) +
                  " is not between 1 and 2^32 - 1");
  M = {0, int8_t(leadingDim), uint32_t(divisibility)};
  Error = Status::ok(); // it replaces all marks, refused ones too
  return *this;
}

TensorAdaptor &TensorAdaptor::mark_static() {
  M.staticDims = uint8_t((1u << T.rank()) - 1);
  return *this;
}

TensorAdaptor &TensorAdaptor::mark_static(std::span<const int> dims) {
  uint8_t added = 0;
  for (int dim : dims) {
    if (dim < 0 || dim >= T.rank())
      return refuse("mark_static: " + axisOf(dim, T.rank()));
    added |= uint8_t(1u << dim);
  }
  M.staticDims |= added;
  return *this;
}

} // namespace kiln
