#include "ReadTensor.h"

namespace kiln {

namespace {

/// What is learnt from the axes, innermost first. Right unless the tensor is odd.
struct AxisScan {
  uint64_t step = 1;       ///< Stride a row-major tensor would have next.
  uint64_t lastOffset = 0; ///< Of the last element.
  uint64_t gaps = 0;       ///< Not 0: not row-major without gaps.
  uint64_t bits = 0;       ///< OR of all extents and strides less 1.
  uint64_t leading = factbits::noLeading;

  void add(kiln_tensor &out, int axis, uint64_t extent, uint64_t stride, bool mayLead) {
    mayLead &= leading == factbits::noLeading;
    // Where there is no choice of index the stride means nothing; producers differ in what they
    // write there.
    bool isShort = extent <= 1;
    uint64_t instead = mayLead ? 1 : step;
    stride = isShort ? instead : stride;
    bool leads = mayLead & (stride == 1);
    leading = leads ? uint64_t(axis) : leading;
    out.extents[axis] = static_cast<int64_t>(extent);
    out.strides[axis] = static_cast<int64_t>(stride);
    lastOffset += (extent - 1) * stride;
    bits |= (extent - 1) | (stride - 1);
    uint64_t meaning = uint64_t(isShort) - 1; // a mask: all or nothing
    gaps |= (stride ^ step) & meaning;
    step = stride * (isShort ? 1 : extent);
  }

  /// Empty, broadcast, negative, or with numbers whose products may not fit.
  bool isOdd() const { return bits >> 28 != 0; }
};

/// What is wrong with the numbers or the memory of any tensor, odd ones too. `bytes` from the first
/// element to the end of the last; `flags` of a descriptor.
[[gnu::noinline]] TensorProblem checkReach(const kiln_call_arg &arg, uint64_t &bytes,
                                           uint16_t &flags) {
  bool isNegative = false, isEmpty = false, isBroadcast = false, overflows = false;
  uint64_t step = 1, lastOffset = 0;
  for (int axis = arg.rank; axis-- > 0;) {
    int64_t extent = arg.extents[axis];
    isNegative |= extent < 0;
    isEmpty |= extent == 0;
    if (extent <= 1)
      continue;
    int64_t stride = arg.strides ? arg.strides[axis] : static_cast<int64_t>(step);
    isNegative |= stride < 0;
    isBroadcast |= stride == 0;
    uint64_t reach;
    overflows |= __builtin_mul_overflow(uint64_t(extent - 1), uint64_t(stride), &reach);
    overflows |= __builtin_add_overflow(lastOffset, reach, &lastOffset);
    bool stepOverflows = __builtin_mul_overflow(uint64_t(extent), uint64_t(stride), &step);
    // A row-major tensor has its strides even where it has no elements.
    if (!arg.strides && (stepOverflows || step > INT64_MAX))
      return TensorProblem::TooLarge;
  }
  bytes = 0;
  if (isNegative)
    return TensorProblem::Negative;
  // First, because what has no elements has strides of 0 in numpy.
  if (isEmpty) {
    flags |= KILN_TENSOR_CONTIGUOUS;
    return TensorProblem::None;
  }
  if (isBroadcast)
    flags |= KILN_TENSOR_BROADCAST | KILN_TENSOR_READ_ONLY;
  auto address = reinterpret_cast<uintptr_t>(arg.data);
  uint64_t size = elementSizes[arg.dtype];
  if (overflows || lastOffset >= INT64_MAX ||
      __builtin_mul_overflow(lastOffset + 1, size, &bytes) || bytes > INT64_MAX ||
      (address | (address + bytes)) >> 63)
    return TensorProblem::TooLarge;
  if (!arg.data)
    return TensorProblem::NullData;
  return address & (size - 1) ? TensorProblem::Misaligned : TensorProblem::None;
}

/// What is wrong with an argument before its axes are looked at.
TensorProblem checkForm(const kiln_call_arg &arg) {
  if (arg.kind != KILN_ARG_TENSOR)
    return arg.kind == KILN_ARG_BAD ? TensorProblem::Stated : TensorProblem::NotATensor;
  if (arg.flags >> KILN_ARG_GPU_SHIFT)
    return TensorProblem::OnGpu;
  if (uint32_t(arg.dtype) >= KILN_INDEX)
    return TensorProblem::BadDType;
  if (arg.rank < 1 || arg.rank > KILN_MAX_RANK)
    return TensorProblem::BadRank;
  return arg.extents ? TensorProblem::None : TensorProblem::NoExtents;
}

/// Whether what `mark_layout_dynamic` was promised holds.
bool isDivisible(const kiln_tensor &tensor, uint64_t leading, uint32_t divisor) {
  int64_t rest = 0;
  for (uint64_t axis = 0; axis < tensor.rank; ++axis)
    if (axis == leading)
      rest |= tensor.extents[axis] % divisor;
    else if (tensor.extents[axis] > 1)
      rest |= tensor.strides[axis] % divisor;
  return rest == 0;
}

} // namespace

TensorProblem readAnyTensor(const kiln_call_arg &arg, kiln_tensor &out, ByteRange &range,
                            uint64_t *&words) {
  if (TensorProblem bad = checkForm(arg); bad != TensorProblem::None)
    return bad;
  Marks marks = Marks::unpack(arg.marks);
  if (marks.leadingDim >= arg.rank || marks.leadingDim < -1 || marks.staticDims >> arg.rank)
    return TensorProblem::BadMarks;
  unsigned mayLead = marks.leadingDim >= 0 ? 1u << marks.leadingDim : ~0u;
  AxisScan scan;
  for (int axis = arg.rank - 1; axis >= 0; --axis)
    scan.add(out, axis, uint64_t(arg.extents[axis]),
             arg.strides ? uint64_t(arg.strides[axis]) : scan.step, mayLead >> axis & 1);
  for (int axis = arg.rank; axis < KILN_MAX_RANK; ++axis) {
    out.extents[axis] = 1;
    out.strides[axis] = 0;
  }
  auto address = reinterpret_cast<uintptr_t>(arg.data);
  uint64_t size = elementSizes[arg.dtype], bytes = (scan.lastOffset + 1) * size;
  out.data = arg.data;
  out.dtype = arg.dtype;
  out.rank = arg.rank;
  out.flags = uint16_t((scan.gaps == 0 ? KILN_TENSOR_CONTIGUOUS : 0) |
                       (arg.flags & KILN_ARG_READ_ONLY ? KILN_TENSOR_READ_ONLY : 0));
  bool isOdd = scan.isOdd() | ((address | (address + bytes)) >> 63 != 0) | (address == 0) |
               ((address & (size - 1)) != 0);
  if (isOdd)
    if (TensorProblem bad = checkReach(arg, bytes, out.flags); bad != TensorProblem::None)
      return bad;
  range = {address, address + bytes};
  if (marks.leadingDim >= 0 && scan.leading == factbits::noLeading)
    return TensorProblem::NotLeading;
  if (marks.divisibility != 1 && !isDivisible(out, scan.leading, marks.divisibility))
    return TensorProblem::NotDivisible;
  *words++ = uint64_t(uint32_t(arg.dtype)) | uint64_t(arg.rank) << factbits::rank |
             scan.leading << factbits::leading |
             uint64_t(bytes <= INT32_MAX) << factbits::use32bit |
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
