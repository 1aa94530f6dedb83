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

/// The call path is one function of straight code: a scan in memory would cost as much again.
#define KILN_INLINE [[gnu::always_inline]] inline

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
  uint64_t step = 1;        ///< Stride a row-major tensor would have next.
  int64_t lastOffset = 0;   ///< Of the last element.
  int64_t signs = 0;        ///< Negative if any extent or stride that counts is.
  int64_t otherStrides = 0; ///< OR of the strides that are not the leading one and mean something.
  int leading = -1;
  bool overflows = false, isEmpty = false, isContiguous = true, isBroadcast = false;

  KILN_INLINE void add(kiln_tensor &out, int axis, int64_t extent, int64_t stride, bool mayLead) {
    mayLead &= leading < 0;
    if (extent <= 1) [[unlikely]] {
      // The stride means nothing; producers differ in what they write there.
      leading = mayLead ? axis : leading;
      stride = mayLead ? 1 : static_cast<int64_t>(step);
      isEmpty |= extent == 0;
      signs |= extent;
    } else {
      bool leads = mayLead && stride == 1;
      leading = leads ? axis : leading;
      otherStrides |= leads ? 0 : stride;
      isContiguous &= stride == static_cast<int64_t>(step);
      isBroadcast |= stride == 0;
      signs |= stride;
      int64_t reach;
      overflows |= __builtin_mul_overflow(extent - 1, stride, &reach);
      overflows |= __builtin_add_overflow(lastOffset, reach, &lastOffset);
    }
    out.extents[axis] = extent;
    out.strides[axis] = stride;
    // This wraps only where `reach` overflowed too.
    step = static_cast<uint64_t>(stride) * static_cast<uint64_t>(extent > 1 ? extent : 1);
  }
};

/// All axes; the rank is a constant so that the loop is unrolled.
template <int Rank>
KILN_INLINE AxisScan scanAxes(const kiln_call_arg &arg, kiln_tensor &out, int leadingMark) {
  AxisScan scan;
  for (int axis = Rank; axis-- > 0;) {
    int64_t stride = arg.strides ? arg.strides[axis] : static_cast<int64_t>(scan.step);
    scan.add(out, axis, arg.extents[axis], stride, leadingMark < 0 || leadingMark == axis);
  }
  return scan;
}

KILN_INLINE AxisScan scanAxes(const kiln_call_arg &arg, kiln_tensor &out, int leadingMark) {
  switch (arg.rank) {
  case 1:
    return scanAxes<1>(arg, out, leadingMark);
  case 2:
    return scanAxes<2>(arg, out, leadingMark);
  case 3:
    return scanAxes<3>(arg, out, leadingMark);
  case 4:
    return scanAxes<4>(arg, out, leadingMark);
  default:
    return scanAxes<5>(arg, out, leadingMark);
  }
}
static_assert(KILN_MAX_RANK == 5, "one case for each rank above");

/// Whether what `mark_layout_dynamic` was promised holds.
inline bool isDivisible(const kiln_tensor &tensor, int leading, uint32_t divisor) {
  int64_t rest = leading >= 0 ? tensor.extents[leading] % divisor : 0;
  for (int axis = 0; axis < tensor.rank; ++axis)
    rest |= axis != leading && tensor.extents[axis] > 1 ? tensor.strides[axis] % divisor : 0;
  return rest == 0;
}

/// What is wrong with an argument before its axes are looked at.
KILN_INLINE TensorProblem checkForm(const kiln_call_arg &arg) {
  if (arg.kind != KILN_ARG_TENSOR)
    return arg.kind == KILN_ARG_BAD ? TensorProblem::Stated : TensorProblem::NotATensor;
  if (uint32_t(arg.dtype) >= KILN_INDEX)
    return TensorProblem::BadDType;
  if (arg.rank < 1 || arg.rank > KILN_MAX_RANK)
    return TensorProblem::BadRank;
  return arg.extents ? TensorProblem::None : TensorProblem::NoExtents;
}

/// What is wrong with its memory, given what the axes say.
KILN_INLINE TensorProblem checkReach(const kiln_call_arg &arg, const AxisScan &scan, int64_t size,
                                     int64_t &bytes) {
  auto address = reinterpret_cast<uintptr_t>(arg.data);
  bytes = 0;
  if (scan.signs < 0)
    return TensorProblem::Negative;
  if (scan.isEmpty)
    return TensorProblem::None;
  if (scan.overflows || scan.lastOffset == INT64_MAX ||
      __builtin_mul_overflow(scan.lastOffset + 1, size, &bytes) ||
      address + uint64_t(bytes) > INT64_MAX)
    return TensorProblem::TooLarge;
  if (!arg.data)
    return TensorProblem::NullData;
  return address & uintptr_t(size - 1) ? TensorProblem::Misaligned : TensorProblem::None;
}

/// Fills `out` and appends the facts at `words`, advancing it.
KILN_INLINE TensorProblem readTensor(const kiln_call_arg &arg, kiln_tensor &out, uint64_t *&words) {
  if (TensorProblem bad = checkForm(arg); bad != TensorProblem::None) [[unlikely]]
    return bad;
  Marks marks = Marks::unpack(arg.marks);
  if (marks.leadingDim >= arg.rank || marks.leadingDim < -1 || marks.staticDims >> arg.rank)
      [[unlikely]]
    return TensorProblem::BadMarks;
  static constexpr kiln_tensor kNoAxes = {nullptr, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}, 0, 0, 0};
  out = kNoAxes;
  AxisScan scan = scanAxes(arg, out, marks.leadingDim);
  int64_t size = sizeOf(static_cast<DType>(arg.dtype)), bytes;
  if (TensorProblem bad = checkReach(arg, scan, size, bytes); bad != TensorProblem::None)
      [[unlikely]]
    return bad;
  if (marks.leadingDim >= 0 && scan.leading < 0) [[unlikely]]
    return TensorProblem::NotLeading;

  out.data = arg.data;
  out.dtype = arg.dtype;
  out.rank = arg.rank;
  out.flags = uint16_t((scan.isContiguous || scan.isEmpty ? KILN_TENSOR_CONTIGUOUS : 0) |
                       (scan.isBroadcast ? KILN_TENSOR_BROADCAST | KILN_TENSOR_READ_ONLY : 0) |
                       (arg.flags & KILN_ARG_READ_ONLY ? KILN_TENSOR_READ_ONLY : 0));
  if (marks.divisibility != 1 && !isDivisible(out, scan.leading, marks.divisibility)) [[unlikely]]
    return TensorProblem::NotDivisible;
  bool aligned =
      ((reinterpret_cast<uintptr_t>(arg.data) | uint64_t(scan.otherStrides) * uint64_t(size)) &
       15) == 0;
  *words++ = uint64_t(uint32_t(arg.dtype)) | uint64_t(arg.rank) << factbits::rank |
             (uint64_t(scan.leading) & factbits::noLeading) << factbits::leading |
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
