//===- ReadTensor.h - from an argument to its descriptor and its facts ------------------===//
//
// What: the part of a call that looks at a tensor: normalises its strides, fills the descriptor
//   kernels see and packs the facts. Every call of every tensor passes through, so it builds no
//   string and allocates nothing; what is wrong comes back as a number and is put into words
//   elsewhere.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_READTENSOR_H
#define KILN_LIB_JIT_READTENSOR_H

#include "kiln/Jit/Facts.h"
#include "kiln/Jit/TensorAdaptor.h"

namespace kiln {

enum class TensorProblem : uint8_t {
  None,
  NotATensor,
  Stated, ///< The argument itself says what is wrong.
  BadDType,
  BadRank,
  NoExtents,
  Negative,
  TooLarge,
  NullData,
  Misaligned,
  BadMarks,
  NotLeading,
  NotDivisible,
};

// The first word of a tensor. Then, for each static axis, its extent and, if that is more than 1,
// its stride.
namespace factbits {
inline constexpr int rank = 4, leading = 7, use32bit = 10, aligned16 = 11, staticDims = 12,
                     divisibility = 32;
inline constexpr uint64_t noLeading = 7;
} // namespace factbits

/// What is learnt from the axes, innermost first.
struct AxisScan {
  int64_t step = 1;         ///< Stride a row-major tensor would have next.
  int64_t lastOffset = 0;   ///< Of the last element.
  int64_t signs = 0;        ///< Negative if any extent or stride that counts is.
  int64_t otherStrides = 0; ///< OR of the strides that are not the leading one and mean something.
  int leading = -1;
  bool overflows = false, isEmpty = false, isContiguous = true, isBroadcast = false;
};

inline void scanAxis(AxisScan &scan, kiln_tensor &out, int axis, int64_t extent, int64_t stride,
                     bool mayLead) {
  if (extent <= 1) {
    // The stride means nothing; producers differ in what they write there.
    bool leads = mayLead && scan.leading < 0;
    if (leads)
      scan.leading = axis;
    stride = leads ? 1 : scan.step;
    scan.isEmpty |= extent == 0;
    scan.signs |= extent;
  } else {
    if (stride == 1 && mayLead && scan.leading < 0)
      scan.leading = axis;
    else
      scan.otherStrides |= stride;
    scan.isContiguous &= stride == scan.step;
    scan.isBroadcast |= stride == 0;
    scan.signs |= stride;
    int64_t reach;
    scan.overflows |= __builtin_mul_overflow(extent - 1, stride, &reach) ||
                      __builtin_add_overflow(scan.lastOffset, reach, &scan.lastOffset);
  }
  out.extents[axis] = extent;
  out.strides[axis] = stride;
  // Overflow here matters only if the axis outside has more than one element; it then overflows
  // too.
  if (__builtin_mul_overflow(stride, extent > 1 ? extent : 1, &scan.step))
    scan.step = INT64_MAX;
}

/// Fills `out` and appends the facts at `words`, advancing it.
inline TensorProblem readTensor(const kiln_call_arg &arg, kiln_tensor &out, uint64_t *&words) {
  if (arg.kind != KILN_ARG_TENSOR) [[unlikely]]
    return arg.kind == KILN_ARG_BAD ? TensorProblem::Stated : TensorProblem::NotATensor;
  if (uint32_t(arg.dtype) >= KILN_INDEX) [[unlikely]]
    return TensorProblem::BadDType;
  int rank = arg.rank;
  if (rank < 1 || rank > KILN_MAX_RANK) [[unlikely]]
    return TensorProblem::BadRank;
  if (!arg.extents) [[unlikely]]
    return TensorProblem::NoExtents;
  Marks marks = Marks::unpack(arg.marks);
  if (marks.leadingDim >= rank || marks.leadingDim < -1 || marks.staticDims >> rank) [[unlikely]]
    return TensorProblem::BadMarks;

  AxisScan scan;
  for (int axis = KILN_MAX_RANK; axis-- > rank;) {
    out.extents[axis] = 1;
    out.strides[axis] = 0;
  }
  for (int axis = rank; axis-- > 0;)
    scanAxis(scan, out, axis, arg.extents[axis], arg.strides ? arg.strides[axis] : scan.step,
             marks.leadingDim < 0 || marks.leadingDim == axis);

  auto size = sizeOf(static_cast<DType>(arg.dtype));
  auto address = reinterpret_cast<uintptr_t>(arg.data);
  int64_t bytes = 0;
  if (scan.signs < 0) [[unlikely]]
    return TensorProblem::Negative;
  if (!scan.isEmpty) {
    if (scan.overflows || scan.lastOffset == INT64_MAX ||
        __builtin_mul_overflow(scan.lastOffset + 1, size, &bytes) ||
        address + uint64_t(bytes) > INT64_MAX) [[unlikely]]
      return TensorProblem::TooLarge;
    if (!arg.data) [[unlikely]]
      return TensorProblem::NullData;
    if (address & uintptr_t(size - 1)) [[unlikely]]
      return TensorProblem::Misaligned;
  }
  if (marks.leadingDim >= 0 && scan.leading < 0) [[unlikely]]
    return TensorProblem::NotLeading;
  if (marks.divisibility != 1) [[unlikely]] {
    int64_t rest = scan.leading >= 0 ? out.extents[scan.leading] % marks.divisibility : 0;
    for (int axis = 0; axis < rank; ++axis)
      rest |= axis != scan.leading && out.extents[axis] > 1 ? out.strides[axis] % marks.divisibility
                                                            : 0;
    if (rest != 0)
      return TensorProblem::NotDivisible;
  }

  out.data = arg.data;
  out.dtype = arg.dtype;
  out.rank = arg.rank;
  out.flags = uint16_t((scan.isContiguous || scan.isEmpty ? KILN_TENSOR_CONTIGUOUS : 0) |
                       (scan.isBroadcast ? KILN_TENSOR_BROADCAST | KILN_TENSOR_READ_ONLY : 0) |
                       (arg.flags & KILN_ARG_READ_ONLY ? KILN_TENSOR_READ_ONLY : 0));
  bool aligned = ((address | uint64_t(scan.otherStrides) * uint64_t(size)) & 15) == 0;
  *words++ = uint64_t(uint32_t(arg.dtype)) | uint64_t(rank) << factbits::rank |
             (scan.leading < 0 ? factbits::noLeading : uint64_t(scan.leading))
                 << factbits::leading |
             uint64_t(bytes <= INT32_MAX) << factbits::use32bit |
             uint64_t(aligned) << factbits::aligned16 |
             uint64_t(marks.staticDims) << factbits::staticDims |
             uint64_t(marks.divisibility) << factbits::divisibility;
  for (unsigned left = marks.staticDims; left; left &= left - 1) {
    int axis = __builtin_ctz(left);
    *words++ = uint64_t(out.extents[axis]);
    if (out.extents[axis] > 1)
      *words++ = uint64_t(out.strides[axis]);
  }
  return TensorProblem::None;
}

} // namespace kiln

#endif // KILN_LIB_JIT_READTENSOR_H
