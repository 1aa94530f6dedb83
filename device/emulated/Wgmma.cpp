// How the matrix unit finds its operands, and what it makes of them: from the description of its
// 64-bit descriptors in the manual of PTX, and not from what the device library makes of that.
#include "Emulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace kiln;
using namespace kiln::emulated;

namespace {

unsigned bytesOf(Element element) {
  return element == Element::E4m3 || element == Element::E5m2 ? 1 : 2;
}
/// Of K, in one instruction.
unsigned stepsOf(Element element) { return 32 / bytesOf(element); }

struct Descriptor {
  Descriptor(uint64_t bits, Element element)
      : bytes(bytesOf(element)), steps(stepsOf(element)),
        start(static_cast<unsigned>(bits & 0x3fff) << 4),
        leading(static_cast<unsigned>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<unsigned>(bits >> 32 & 0x3fff) << 4),
        baseOffset(static_cast<unsigned>(bits >> 49 & 7)), rowBytes(bits >> 62 == 1   ? 128
                                                                    : bits >> 62 == 2 ? 64
                                                                    : bits >> 62 == 3 ? 32
                                                                                      : 0) {}
  unsigned bytes, steps; ///< Of an element; of K.
  unsigned start, leading, stride, baseOffset, rowBytes;

  std::string verify(bool isTransposed) const {
    if (rowBytes == 0)
      return "an operand without swizzle is not emulated";
    if (baseOffset != 0 || start % (8 * rowBytes) >= rowBytes)
      return "an operand begins in the middle of the pattern of swizzling";
    if (isTransposed && bytes == 1)
      return "an operand of 8 bits cannot be transposed";
    if (!isTransposed && start % rowBytes + bytes * steps > rowBytes)
      return "the columns of an operand are not in one row of the pattern";
    if (isTransposed && start % rowBytes != 0)
      return "a transposed operand begins within a row of the pattern";
    return "";
  }

  /// Of an element: `outer` is its row of the product, or its column. Rows of the pattern go along
  /// K, eight of them `stride` apart; or, if it is transposed, along the other axis, and what does
  /// not fit a row is `leading` apart.
  unsigned address(bool isTransposed, unsigned outer, unsigned k) const {
    unsigned each = rowBytes / bytes;
    unsigned at = isTransposed ? start + outer / each * leading + k / 8 * stride +
                                     k % 8 * rowBytes + outer % each * bytes
                               : start + outer / 8 * stride + outer % 8 * rowBytes + bytes * k;
    return swizzled(at, rowBytes);
  }

  /// Pieces of 16 bytes for `count` rows or columns from `first` on.
  template <typename F>
  void forEachPiece(bool isTransposed, unsigned first, unsigned count, F f) const {
    if (isTransposed) {
      for (unsigned k = 0; k < steps; ++k)
        for (unsigned outer = first; outer < first + count; outer += 8)
          f(outer, k, address(true, outer, k));
    } else {
      for (unsigned outer = first; outer < first + count; ++outer)
        for (unsigned k = 0; k < steps; k += 16 / bytes)
          f(outer, k, address(false, outer, k));
    }
  }
};

float widened(unsigned bits, Element element) {
  auto narrow = static_cast<unsigned short>(bits);
  switch (element) {
  case Element::Bf16:
    return std::bit_cast<float>(bits << 16);
  case Element::F16:
    return ptx::f32FromF16(narrow);
  case Element::E4m3:
    return ptx::f32FromF16(static_cast<unsigned short>(ptx::f16PairFromE4m3(narrow)));
  case Element::E5m2:
    return ptx::f32FromF16(static_cast<unsigned short>(ptx::f16PairFromE5m2(narrow)));
  }
  return 0;
}

/// `count` rows or columns, each with the steps of K.
std::vector<float> operandOf(const SharedMemory &memory, uint64_t bits, bool isTransposed,
                             unsigned first, unsigned count, Element element) {
  unsigned bytes = bytesOf(element), steps = stepsOf(element);
  std::vector<float> all(size_t(count) * steps);
  Descriptor(bits, element)
      .forEachPiece(isTransposed, first, count, [&](unsigned outer, unsigned k, unsigned address) {
        const unsigned char *piece = memory.at(address);
        for (unsigned i = 0; i < 16 / bytes; ++i) {
          unsigned row = outer - first + (isTransposed ? i : 0), step = k + (isTransposed ? 0 : i);
          unsigned narrow = 0;
          std::memcpy(&narrow, piece + size_t(i) * bytes, bytes);
          all[size_t(row) * steps + step] = widened(narrow, element);
        }
      });
  return all;
}

/// Of the registers of a warp: each thread has two rows, 8 apart, and two pairs of columns.
std::vector<float> leftOf(const PendingProduct &product, Element element) {
  unsigned steps = stepsOf(element);
  std::vector<float> all(size_t{16} * steps);
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned word = 0; word < 4; ++word)
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = lane / 4 + 8 * (word % 2), k = lane % 4 * 2 + 8 * (word / 2) + half;
        auto bits = static_cast<uint16_t>(product.parts[lane].left[word] >> (16 * half));
        all[row * steps + k] = widened(bits, element);
      }
  return all;
}

/// What an accumulator becomes. Products of 8-bit floats are added to it as multiples of what is 13
/// bits below the largest of all of them; the rest is cut off.
float summed(float before, const float *left, const float *right, Element element) {
  unsigned steps = stepsOf(element);
  float all = 0, largest = std::fabs(before);
  for (unsigned k = 0; k < steps; ++k) {
    float product = left[k] * right[k];
    all += product;
    largest = std::max(largest, std::fabs(product));
  }
  if (bytesOf(element) > 1 || !std::isfinite(all + before) || largest == 0)
    return before + all;
  constexpr int kept = 13;
  int exponent = std::ilogb(largest) - kept;
  auto units = [&](float x) { return std::trunc(std::ldexp(double(x), -exponent)); };
  double sum = units(before);
  for (unsigned k = 0; k < steps; ++k)
    sum += units(left[k] * right[k]);
  return static_cast<float>(std::ldexp(sum, exponent));
}

} // namespace

/// How many of a warp's 16 rows of the left operand count.
static unsigned rowsThatCount(const Product &product, unsigned warpInGroup) {
  return static_cast<unsigned>(
      std::clamp(product.rows - 16 * static_cast<int>(warpInGroup), 0, 16));
}

std::string emulated::findPieces(const Product &product, unsigned warpInGroup,
                                 std::vector<unsigned> &pieces) {
  auto add = [&](unsigned, unsigned, unsigned address) { pieces.push_back(address); };
  Descriptor right(product.right, product.element);
  if (std::string bad = right.verify(product.transposesRight); !bad.empty())
    return bad;
  right.forEachPiece(product.transposesRight, 0, static_cast<unsigned>(product.columns), add);
  if (product.leftRegisters)
    return "";
  Descriptor left(product.left, product.element);
  if (std::string bad = left.verify(product.transposesLeft); !bad.empty())
    return bad;
  left.forEachPiece(product.transposesLeft, 16 * warpInGroup, rowsThatCount(product, warpInGroup),
                    add);
  return "";
}

void emulated::makeProduct(const SharedMemory &memory, const PendingProduct &pending,
                           unsigned warpInGroup, Accumulator *const (&accumulators)[kWarp]) {
  const Product &product = pending.parts.front().product;
  unsigned steps = stepsOf(product.element);
  std::vector<float> left =
      product.leftRegisters
          ? leftOf(pending, product.element)
          : operandOf(memory, product.left, product.transposesLeft, 16 * warpInGroup,
                      rowsThatCount(product, warpInGroup), product.element);
  left.resize(size_t{16} * steps, std::numeric_limits<float>::quiet_NaN());
  auto columns = static_cast<unsigned>(product.columns);
  std::vector<float> right =
      operandOf(memory, product.right, product.transposesRight, 0, columns, product.element);
  auto change = [&](float &sum, unsigned row, unsigned col) {
    sum = summed(product.accumulates ? sum : 0.0f, &left[size_t(row) * steps],
                 &right[size_t(col) * steps], product.element);
  };
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned j = 0; j < columns / 4; ++j) {
      unsigned row = lane / 4, col = 8 * (j / 2) + lane % 4 * 2 + j % 2;
      float &low = accumulators[lane]->lowValues[j], &high = accumulators[lane]->highValues[j];
      change(low, row, col);
      change(high, row + 8, col);
    }
}
