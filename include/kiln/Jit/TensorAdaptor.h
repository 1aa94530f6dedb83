//===- TensorAdaptor.h - a caller's tensor, and what may be compiled into code ----------===//
//
// What: `Marks`, which say what of a tensor's layout the compiler may rely on; `TensorAdaptor`, a
//   caller's tensor (raw pointer, DLPack, kiln::Tensor) with marks; `CallArg`, the plain form every
//   argument of a call is reduced to.
//
// Ownership: an adaptor keeps its tensor's memory alive where that is possible (DLPack: the deleter
//   runs exactly once, when the last copy goes; kiln::Tensor: shared). A CallArg borrows
//   everything, for the call only.
//
// Threads: values like any other.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_JIT_TENSORADAPTOR_H
#define KILN_JIT_TENSORADAPTOR_H

#include "kiln/Jit/jit_c.h"
#include "kiln/runtime/tensor.h"
#include "kiln/visibility.h"

#include <concepts>

// DLPack's header is the caller's; without it everything else can be used.
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define KILN_HAS_DLPACK 1
#else
#define KILN_HAS_DLPACK 0
#endif

KILN_EXPORTED_BEGIN
namespace kiln {

/// What of a layout is pinned. The default, layout-dynamic, pins nothing but the stride of the
/// leading dimension, which is 1.
struct Marks {
  uint8_t staticDims = 0; ///< Bit d: extent and stride of axis d are compiled in.
  int8_t leadingDim = -1; ///< -1: the innermost axis of stride 1 or extent <= 1, found per call.
  uint32_t divisibility = 1;

  /// In one word; 0 for the default, so that arguments without an adaptor need not say anything.
  uint64_t pack() const {
    return staticDims | uint64_t(uint8_t(leadingDim + 1)) << 8 | uint64_t(divisibility - 1) << 32;
  }
  static Marks unpack(uint64_t word) {
    return {uint8_t(word), int8_t(int8_t(word >> 8) - 1), uint32_t(word >> 32) + 1};
  }
  friend bool operator==(const Marks &, const Marks &) = default;
};

class TensorAdaptor {
public:
  /// The caller's memory, which must outlive the calls. Without strides: row-major.
  static Expected<TensorAdaptor> raw(void *data, DType dtype, Dims extents, Dims strides = {});
#if KILN_HAS_DLPACK
  /// Takes the tensor over. On failure it stays the caller's, undeleted.
  static Expected<TensorAdaptor> dlpack(DLManagedTensor *tensor);
  /// Does not take it over: it must outlive the adaptor.
  static Expected<TensorAdaptor> dlpack(const DLTensor &tensor);
#endif
  TensorAdaptor(Tensor tensor) : T(std::move(tensor)) {}
  /// Says that the tensor is in the memory of the GPU with this number.
  TensorAdaptor &onGpu(int number) {
    Gpu = number;
    return *this;
  }
  /// Less than 0: in the host's memory.
  int gpu() const { return Gpu; }

  /// Forgets all earlier marks, static ones too. `divisibility` d promises that the extent of the
  /// leading dimension and all other strides are multiples of d; each call checks that.
  TensorAdaptor &mark_layout_dynamic(int leadingDim = -1, int64_t divisibility = 1);
  /// Pins extents and strides of these axes (all of them without an argument), in the code and in
  /// its key. Adds to the marks.
  TensorAdaptor &mark_static();
  TensorAdaptor &mark_static(std::span<const int> dims);
  TensorAdaptor &mark_static(std::initializer_list<int> dims) {
    return mark_static(std::span(dims.begin(), dims.size()));
  }

  /// The first mark that was refused, which then changed nothing. A call with this adaptor fails
  /// with it.
  const Status &status() const { return Error; }
  const Marks &marks() const { return M; }
  const Tensor &tensor() const { return T; }

private:
  TensorAdaptor &refuse(std::string message);

  Tensor T;
  int Gpu = -1;
  Marks M;
  Status Error;
};

/// A tensor as a pointer and numbers, for a call: `f(RawTensor(p, DType::F32, {m, n}))`. Copies the
/// numbers, not the elements.
struct RawTensor {
  /// Without strides: row-major.
  RawTensor(void *memory, DType type, Dims extentList, Dims strideList = {})
      : data(memory), dtype(type), rank(extentList.size()), numStrides(strideList.size()) {
    std::copy_n(extentList.begin(), std::min(rank, extents.size()), extents.begin());
    std::copy_n(strideList.begin(), std::min(numStrides, strides.size()), strides.begin());
  }

  /// Says that the tensor is in the memory of the GPU with this number.
  RawTensor &onGpu(int number) {
    gpu = number;
    return *this;
  }

  void *data;
  DType dtype;
  int gpu = -1;            ///< Less than 0: in the host's memory.
  size_t rank, numStrides; ///< As given, even if too many.
  std::array<int64_t, KILN_MAX_RANK> extents, strides;
};

#if KILN_HAS_DLPACK
/// Why a DLPack element type or device cannot be used; null if it can.
const char *dlpackProblem(const DLTensor &tensor);
/// Meaningful where dlpackProblem is null.
DType dlpackDType(DLDataType type);
#endif

/// Each field is written once: the call reads them right after, and would wait for a second write.
struct CallArg : kiln_call_arg {
  CallArg(const kiln_call_arg &arg) : kiln_call_arg(arg) {}
  CallArg(const Tensor &tensor) : CallArg(tensor, 0) {}
  CallArg(const TensorAdaptor &adaptor) : CallArg(adaptor.tensor(), adaptor.marks().pack()) {
    setGpu(adaptor.gpu());
    if (!adaptor.status().isOk()) [[unlikely]]
      setProblem(adaptor.status().message().c_str());
  }
  CallArg(const RawTensor &raw)
      : kiln_call_arg{raw.data,
                      raw.extents.data(),
                      raw.numStrides ? raw.strides.data() : nullptr,
                      0,
                      {},
                      static_cast<int32_t>(raw.dtype),
                      static_cast<uint16_t>(std::min<size_t>(raw.rank, UINT16_MAX)),
                      KILN_ARG_TENSOR,
                      0} {
    setGpu(raw.gpu);
    if (raw.numStrides != 0 && raw.numStrides != raw.rank) [[unlikely]]
      setProblem("has not as many strides as extents");
  }
#if KILN_HAS_DLPACK
  CallArg(const DLTensor *tensor);
  CallArg(const DLManagedTensor *tensor) : CallArg(tensor ? &tensor->dl_tensor : nullptr) {}
#endif
  template <std::integral N> CallArg(N number) : kiln_call_arg{} {
    kind = KILN_ARG_INTEGER;
    value.integer = static_cast<int64_t>(number);
  }
  template <std::floating_point N> CallArg(N number) : kiln_call_arg{} {
    kind = KILN_ARG_REAL;
    value.real = static_cast<double>(number);
  }

private:
  CallArg(const Tensor &tensor, uint64_t packedMarks)
      : kiln_call_arg{tensor.data(),
                      tensor.extents().data(),
                      tensor.strides().data(),
                      packedMarks,
                      {.problem = "is a null tensor"},
                      static_cast<int32_t>(tensor.dtype()),
                      static_cast<uint16_t>(tensor.rank()),
                      uint8_t(tensor.isNull() ? KILN_ARG_BAD : KILN_ARG_TENSOR),
                      uint8_t(tensor.isReadOnly() ? KILN_ARG_READ_ONLY : 0)} {}
  void setGpu(int number) {
    if (number >= 0) [[unlikely]]
      flags = static_cast<uint8_t>(flags | KILN_ARG_ON_GPU(number));
  }
  void setProblem(const char *text) {
    kind = KILN_ARG_BAD;
    value.problem = text;
  }
};

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_JIT_TENSORADAPTOR_H
