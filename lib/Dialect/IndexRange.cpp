#include "kiln/Dialect/IndexRange.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace kiln {
namespace {

using Wide = __int128; ///< Holds sums, products and quotients of all 64-bit integers.

struct Range {
  Wide low, high;
};

constexpr Range kIndex = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
/// Extents, blocks and lanes: a tensor with elements of more does not fit any memory.
constexpr Range kCount = {0, Wide(1) << 47};

bool fits(Range range) { return range.low >= kIndex.low && range.high <= kIndex.high; }

Range rangeOf(Value value, unsigned depth);

/// The least and the greatest of four results, where an operation is monotonic in each operand.
Range corners(Range a, Range b, Wide (*apply)(Wide, Wide)) {
  Wide all[] = {apply(a.low, b.low), apply(a.low, b.high), apply(a.high, b.low),
                apply(a.high, b.high)};
  return {*std::min_element(all, all + 4), *std::max_element(all, all + 4)};
}

/// A quotient is at most as large as its dividend; dividing by -1 changes the sign.
Range quotient(Range a, Range b) {
  Wide most = std::max(a.high, -a.low);
  return {b.low > 0 && a.low >= 0 ? 0 : b.low > 0 ? a.low : -most, b.low > 0 ? a.high : most};
}

/// What an op comes to in exact arithmetic; the range of its operands is that of an index, because
/// what leaves it is a fault.
Range exactResult(Operation *op, unsigned depth) {
  auto operand = [&](unsigned number) { return rangeOf(op->getOperand(number), depth); };
  return TypeSwitch<Operation *, Range>(op)
      .Case<arith::AddIOp>([&](auto) {
        return corners(operand(0), operand(1), [](Wide a, Wide b) { return a + b; });
      })
      .Case<arith::SubIOp>([&](auto) {
        return corners(operand(0), operand(1), [](Wide a, Wide b) { return a - b; });
      })
      .Case<arith::MulIOp>([&](auto) {
        return corners(operand(0), operand(1), [](Wide a, Wide b) { return a * b; });
      })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(
          [&](auto) { return quotient(operand(0), operand(1)); })
      .Case<arith::MinSIOp>([&](auto) {
        return corners(operand(0), operand(1), [](Wide a, Wide b) { return std::min(a, b); });
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return corners(operand(0), operand(1), [](Wide a, Wide b) { return std::max(a, b); });
      })
      .Case<arith::RemSIOp>([&](auto) {
        Range a = operand(0), b = operand(1);
        Wide most = std::max(b.high, -b.low) - 1;
        return Range{a.low >= 0 ? 0 : std::max(a.low, -most),
                     std::max<Wide>(0, std::min(a.high, most))};
      })
      .Case<arith::SelectOp>([&](auto) {
        Range a = operand(1), b = operand(2);
        return Range{std::min(a.low, b.low), std::max(a.high, b.high)};
      })
      .Case<arith::IndexCastOp>([&](arith::IndexCastOp cast) {
        unsigned width = cast.getIn().getType().getIntOrFloatBitWidth();
        Wide half = Wide(1) << (std::min(width, 64u) - 1);
        return Range{-half, half - 1};
      })
      .Case<ir::DimOp, tile::BlockIdxOp, tile::BlockCountOp, tile::LaneOp>(
          [](auto) { return kCount; })
      .Default(kIndex);
}

Range rangeOf(Value value, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {*constant, *constant};
  if (!value.getType().isIndex() || depth == 0)
    return kIndex;
  Range range = kIndex;
  if (Operation *op = value.getDefiningOp())
    range = exactResult(op, depth - 1);
  else if (auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
           loop && loop.getInductionVar() == value)
    range = {rangeOf(loop.getLowerBound(), depth - 1).low,
             rangeOf(loop.getUpperBound(), depth - 1).high};
  return {std::max(range.low, kIndex.low), std::min(range.high, kIndex.high)};
}

/// How far back definitions are followed; each step may look at two operands.
constexpr unsigned kDepth = 8;

} // namespace

bool mayLeaveIndex(Operation *op) {
  return op->getResult(0).getType().isIndex() && !fits(exactResult(op, kDepth));
}

bool mayBeNegative(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant < 0;
  return rangeOf(cast<Value>(index), kDepth).low < 0;
}

} // namespace kiln
