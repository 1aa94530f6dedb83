// How the matrix unit finds its operands, and what it makes of them: from the description of its
// 64-bit descriptors in the manual of PTX, and not from what the device library makes of that.
#include "Emulator.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

using namespace kiln;
using namespace kiln::emulated;

namespace {

constexpr int kSteps = 16; ///< Of K, in one instruction.

struct Descriptor {
  explicit Descriptor(uint64_t bits)
      : start(static_cast<unsigned>(bits & 0x3fff) << 4),
        leading(static_cast<unsigned>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<unsigned>(bits >> 32 & 0x3fff) << 4),
        baseOffset(static_cast<unsigned>(bits >> 49 & 7)), rowBytes(bits >> 62 == 1   ? 128
                                                                    : bits >> 62 == 2 ? 64
                                                                    : bits >> 62 == 3 ? 32
                                                                                      : 0) {}
  unsigned start, leading, stride, baseOffset, rowBytes;

  std::string verify(bool isTransposed) const {
    if (rowBytes == 0)
      return "an operand without swizzle is not emulated";
    if (baseOffset != 0 || start % (8 * rowBytes) >= rowBytes)
      return "an operand begins in the middle of the pattern of swizzling";
    if (!isTransposed && start % rowBytes + 2 * kSteps > rowBytes)
      return "the 16 columns of an operand are not in one row of the pattern";
    if (isTransposed && start % rowBytes != 0)
      return "a transposed operand begins within a row of the pattern";
    return "";
  }

  /// Of an element: `outer` is its row of the product, or its column. Rows of the pattern go along
  /// K, eight of them `stride` apart; or, if it is transposed, along the other axis, and what does
  /// not fit a row is `leading` apart.
  unsigned address(bool isTransposed, unsigned outer, unsigned k) const {
    unsigned each = rowBytes / 2;
    unsigned at = isTransposed ? start + outer / each * leading + k / 8 * stride +
                                     k % 8 * rowBytes + outer % each * 2
                               : start + outer / 8 * stride + outer % 8 * rowBytes + 2 * k;
    return swizzled(at, rowBytes);
  }

  /// Pieces of 16 bytes for `count` rows or columns from `first` on.
  template <typename F>
  void forEachPiece(bool isTransposed, unsigned first, unsigned count, F f) const {
    if (isTransposed) {
      for (unsigned k = 0; k < kSteps; ++k)
        for (unsigned outer = first; outer < first + count; outer += 8)
          f(outer, k, address(true, outer, k));
    } else {
      for (unsigned outer = first; outer < first + count; ++outer)
        for (unsigned k = 0; k < kSteps; k += 8)
          f(outer, k, address(false, outer, k));
    }
  }
};

float widened(uint16_t bits, bool isBf16) {
  return isBf16 ? std::bit_cast<float>(uint32_t(bits) << 16) : ptx::f32FromF16(bits);
}

/// `count` rows or columns, each with 16 steps of K.
std::vector<float> operandOf(const SharedMemory &memory, uint64_t bits, bool isTransposed,
                             unsigned first, unsigned count, bool isBf16) {
  std::vector<float> all(size_t(count) * kSteps);
  Descriptor(bits).forEachPiece(
      isTransposed, first, count, [&](unsigned outer, unsigned k, unsigned address) {
        uint16_t piece[8];
        std::memcpy(piece, memory.at(address), sizeof piece);
        for (unsigned i = 0; i < 8; ++i) {
          unsigned row = outer - first + (isTransposed ? i : 0), step = k + (isTransposed ? 0 : i);
          all[row * kSteps + step] = widened(piece[i], isBf16);
        }
      });
  return all;
}

/// Of the registers of a warp: each thread has two rows, 8 apart, and two pairs of columns.
std::vector<float> leftOf(const PendingProduct &product, bool isBf16) {
  std::vector<float> all(size_t{16} * kSteps);
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned word = 0; word < 4; ++word)
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = lane / 4 + 8 * (word % 2), k = lane % 4 * 2 + 8 * (word / 2) + half;
        auto bits = static_cast<uint16_t>(product.parts[lane].left[word] >> (16 * half));
        all[row * kSteps + k] = widened(bits, isBf16);
      }
  return all;
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
  Descriptor right(product.right);
  if (std::string bad = right.verify(product.transposesRight); !bad.empty())
    return bad;
  right.forEachPiece(product.transposesRight, 0, static_cast<unsigned>(product.columns), add);
  if (product.leftRegisters)
    return "";
  Descriptor left(product.left);
  if (std::string bad = left.verify(product.transposesLeft); !bad.empty())
    return bad;
  left.forEachPiece(product.transposesLeft, 16 * warpInGroup, rowsThatCount(product, warpInGroup),
                    add);
  return "";
}

void emulated::makeProduct(const SharedMemory &memory, const PendingProduct &pending,
                           unsigned warpInGroup, Accumulator *const (&accumulators)[kWarp]) {
  const Product &product = pending.parts.front().product;
  std::vector<float> left =
      product.leftRegisters
          ? leftOf(pending, product.isBf16)
          : operandOf(memory, product.left, product.transposesLeft, 16 * warpInGroup,
                      rowsThatCount(product, warpInGroup), product.isBf16);
  left.resize(size_t{16} * kSteps, std::numeric_limits<float>::quiet_NaN());
  auto columns = static_cast<unsigned>(product.columns);
  std::vector<float> right =
      operandOf(memory, product.right, product.transposesRight, 0, columns, product.isBf16);
  auto sum = [&](unsigned row, unsigned col) {
    float all = 0;
    for (unsigned k = 0; k < kSteps; ++k)
      all += left[row * kSteps + k] * right[col * kSteps + k];
    return all;
  };
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned j = 0; j < columns / 4; ++j) {
      unsigned row = lane / 4, col = 8 * (j / 2) + lane % 4 * 2 + j % 2;
      float &low = accumulators[lane]->lowValues[j], &high = accumulators[lane]->highValues[j];
      low = (product.accumulates ? low : 0.0f) + sum(row, col);
      high = (product.accumulates ? high : 0.0f) + sum(row + 8, col);
    }
}
