//===- ReadTensor.h - from an argument to its descriptor and its facts ------------------===//
//
// What: the part of a call that looks at a tensor: normalises its strides, fills the descriptor
//   kernels see and packs the facts. Every call of every tensor passes through, so it builds no
//   string and allocates nothing; what is wrong comes back as a number and is put into words
//   elsewhere.
//
// Most tensors are plain: row-major without gaps, not empty, of moderate size. They are read here,
// in few instructions; all others in ReadTensor.cpp, with care.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_READTENSOR_H
#define KILN_LIB_JIT_READTENSOR_H

#include "kiln/Jit/TensorAdaptor.h"
#include "kiln/runtime/tensor_facts.h"

#include <span>
#include <vector>

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
  OnGpu,
  BadMarks,
  NotLeading,
  NotDivisible,
};

// A call packs the facts of its tensors into words, which select the call state; the facts read
// back from them make the key. The packed form is injective: one word says how many follow. Words
// are compared in full, never by hash.

// The first word of a tensor. Then, for each static axis, its extent and, if that is more than 1,
// its stride.
namespace factbits {
inline constexpr int rank = 4, leading = 7, use32bit = 10, staticDims = 12, divisibility = 32;
inline constexpr uint64_t noLeading = 7;
} // namespace factbits

/// Most words one tensor packs into.
inline constexpr size_t maxFactWords = 1 + 2 * KILN_MAX_RANK;

/// Appends the words of one tensor to `words`, which has room; returns the end.
uint64_t *packFacts(const TensorFacts &facts, uint64_t *words);
/// The facts of the tensors whose words these are.
std::vector<TensorFacts> unpackFacts(std::span<const uint64_t> words);

/// Bytes of each element type, close together.
inline constexpr auto elementSizes = [] {
  std::array<uint8_t, KILN_INDEX> sizes{};
  for (int dtype = 0; dtype < KILN_INDEX; ++dtype)
    sizes[size_t(dtype)] = uint8_t(sizeOf(DType(dtype)));
  return sizes;
}();

/// From the first byte of a tensor to behind its last.
struct ByteRange {
  uint64_t begin, end;
  bool meets(ByteRange other) const { return (begin < other.end) & (other.begin < end); }
};

/// Fills `out` and `range` and appends the facts at `words`, advancing it. For any argument.
TensorProblem readAnyTensor(const kiln_call_arg &arg, kiln_tensor &out, ByteRange &range,
                            uint64_t *&words);

/// The same for a plain tensor of this rank without marks: the word of its facts. 0 if it is not
/// plain; `out` and `range` are then half filled.
template <int Rank>
[[gnu::always_inline]] inline uint64_t readPlainTensor(const kiln_call_arg &arg, kiln_tensor &out,
                                                       ByteRange &range) {
  if (arg.strides && arg.strides[Rank - 1] != 1) [[unlikely]]
    return 0;
  uint64_t step = 1, gaps = 0;
  // OR of all numbers. No product wraps as long as they fit 31 bits; once one does not, that stays.
  uint64_t bits = 0;
#pragma GCC unroll 5
  for (int axis = Rank - 1; axis >= 0; --axis) {
    auto extent = uint64_t(arg.extents[axis]);
    out.extents[axis] = int64_t(extent);
    out.strides[axis] = int64_t(step);
    gaps |= arg.strides ? uint64_t(arg.strides[axis]) ^ step : 0;
    step *= extent;
    bits |= (extent - 1) | step; // an extent of 0 is all ones
  }
#pragma GCC unroll 5
  for (int axis = Rank; axis < KILN_MAX_RANK; ++axis) {
    out.extents[axis] = 1;
    out.strides[axis] = 0;
  }
  auto address = reinterpret_cast<uintptr_t>(arg.data);
  uint64_t size = elementSizes[arg.dtype], bytes = step * size;
  bool isPlain = !gaps & (bits <= INT32_MAX) & (bytes <= INT32_MAX) &
                 (address - 1 < uint64_t(INT64_MAX - INT32_MAX)) & !(address & (size - 1));
  if (!isPlain) [[unlikely]]
    return 0;
  range = {address, address + bytes};
  out.data = arg.data;
  out.dtype = arg.dtype;
  out.rank = Rank;
  out.flags = uint16_t(KILN_TENSOR_CONTIGUOUS | (arg.flags & KILN_ARG_READ_ONLY));
  return uint64_t(uint32_t(arg.dtype)) | uint64_t(Rank) << factbits::rank |
         uint64_t(Rank - 1) << factbits::leading | uint64_t(1) << factbits::use32bit |
         uint64_t(1) << factbits::divisibility;
}

/// Any argument, plain tensors fast.
[[gnu::always_inline]] inline TensorProblem readTensor(const kiln_call_arg &arg, kiln_tensor &out,
                                                       ByteRange &range, uint64_t *&words) {
  bool isUnmarked = arg.kind == KILN_ARG_TENSOR && uint32_t(arg.dtype) < KILN_INDEX &&
                    arg.extents && !(arg.marks | arg.flags >> KILN_ARG_GPU_SHIFT);
  uint64_t word = 0;
  if (isUnmarked) [[likely]]
    switch (arg.rank) {
    case 1:
      word = readPlainTensor<1>(arg, out, range);
      break;
    case 2:
      word = readPlainTensor<2>(arg, out, range);
      break;
    case 3:
      word = readPlainTensor<3>(arg, out, range);
      break;
    case 4:
      word = readPlainTensor<4>(arg, out, range);
      break;
    case 5:
      word = readPlainTensor<5>(arg, out, range);
      break;
    default:
      break;
    }
  if (word) [[likely]] {
    *words++ = word;
    return TensorProblem::None;
  }
  uint64_t *end = words; // a copy, so that `words` need not be in memory
  TensorProblem problem = readAnyTensor(arg, out, range, end);
  words = end;
  return problem;
}

} // namespace kiln

#endif // KILN_LIB_JIT_READTENSOR_H
