#include "kiln/Transforms/Passes.h"

#include "mlir/IR/Matchers.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEFOLDEXPONENTIALS
#include "kiln/Transforms/Passes.h.inc"

namespace {

using tile::TileType;

/// The number that every element is, if that is known.
std::optional<double> numberOf(Value value) {
  if (auto full = value.getDefiningOp<tile::FullOp>())
    value = full.getValue();
  FloatAttr number;
  if (!isa<FloatType>(value.getType()) || !matchPattern(value, m_Constant(&number)))
    return std::nullopt;
  return number.getValueAsDouble();
}

/// e to a difference as a power of two. Of a * c - b, where b is the same along an axis, it is
/// a * c' - b', of which b' is computed once for all that share it, and the rest is one fused
/// multiply-add. That is only done where c' is at most 1: else a * c' could be infinite though
/// a * c - b is a small number.
void fold(tile::ExpOp op) {
  auto difference = op.getOperand().getDefiningOp<tile::SubOp>();
  TileType type = op.getType();
  auto isSmall = [&](Value value) {
    auto tile = dyn_cast<TileType>(value.getType());
    return !tile || tile.getNumElements() < type.getNumElements();
  };
  if (!type.getElementType().isF32() || !difference)
    return;
  bool isShared = isSmall(difference.getRhs()) && !isSmall(difference.getLhs());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto times = [&](Type result, Value value, double factor) -> Value {
    Value number = arith::ConstantOp::create(builder, loc,
                                             builder.getF32FloatAttr(static_cast<float>(factor)));
    if (!isa<TileType>(value.getType()))
      return arith::MulFOp::create(builder, loc, value, number);
    return tile::MulOp::create(builder, loc, result, value, number);
  };
  auto finish = [&](Value exponent) {
    op.replaceAllUsesWith(tile::Exp2Op::create(builder, loc, type, exponent).getResult());
    op.erase();
  };
  Value base = difference.getLhs();
  double factor = std::numbers::log2e;
  if (auto product = base.getDefiningOp<tile::MulOp>())
    for (auto [other, scale] : {std::pair(product.getLhs(), product.getRhs()),
                                std::pair(product.getRhs(), product.getLhs())})
      if (std::optional<double> number = numberOf(scale); number && other.getType() == type) {
        base = other;
        factor *= *number;
        break;
      }
  if (!isShared || !(std::abs(factor) <= 1))
    return finish(times(type, difference, std::numbers::log2e));
  Value scaled = times(type, base, factor);
  Value shift = times(difference.getRhs().getType(), difference.getRhs(), std::numbers::log2e);
  finish(tile::SubOp::create(builder, loc, type, scaled, shift));
}

struct FoldExponentials : impl::TileFoldExponentialsBase<FoldExponentials> {
  void runOnOperation() override {
    SmallVector<tile::ExpOp> exponentials;
    getOperation().walk([&](tile::ExpOp op) { exponentials.push_back(op); });
    llvm::for_each(exponentials, fold);
  }
};
} // namespace
} // namespace kiln
