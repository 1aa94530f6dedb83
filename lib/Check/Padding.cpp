#include "Padding.h"

#include "kiln/Target/Signature/Signature.h"

using namespace mlir;

namespace kiln::sim {
namespace {

/// All of a tile is data.
Padding allData(const Tile &tile) { return {0, tile.rows, 0, tile.cols, nullptr}; }

Padding paddingOrAllData(const Tile &tile) { return tile.padding.value_or(allData(tile)); }

/// None if all of the tile is data.
std::optional<Padding> simplified(const Padding &padding, const Tile &tile) {
  bool isAllData = padding.top <= 0 && padding.bottom >= tile.rows && padding.left <= 0 &&
                   padding.right >= tile.cols;
  return isAllData || !padding.source ? std::nullopt : std::optional(padding);
}

/// What is data in both.
void intersect(Padding &with, const Padding &other) {
  with.top = std::max(with.top, other.top);
  with.bottom = std::min(with.bottom, other.bottom);
  with.left = std::max(with.left, other.left);
  with.right = std::min(with.right, other.right);
  with.isOfZeros &= other.isOfZeros;
  if (!with.source)
    with.source = other.source;
}

/// Whether the result is 0 for 0 and never negative, whatever the data.
bool makesNonNegative(Interpreter &in, Operation *op) {
  if (auto mul = dyn_cast<tile::MulOp>(op))
    return mul.getLhs() == mul.getRhs();
  if (auto max = dyn_cast<tile::MaxOp>(op)) {
    auto isZero = [&](mlir::Value value) {
      return !isa<tile::TileType>(value.getType()) && in.scalar(value).asDouble() == 0;
    };
    return isZero(max.getLhs()) || isZero(max.getRhs());
  }
  return isa<tile::AbsOp, tile::SqrtOp>(op);
}

/// Whether the result is 0 for 0 and not negative, if the operands are not.
bool keepsNonNegative(Operation *op) {
  return isa<tile::AddOp, tile::MulOp, tile::DivOp, tile::MaxOp, tile::MinOp, tile::TanhOp,
             tile::ErfOp>(op);
}

/// An element of the result is padding if one it was made of is.
std::optional<Padding> ofElementwise(Interpreter &in, Operation *op, const Tile &result) {
  Padding padding = allData(result);
  bool areOperandsHarmless = true;
  for (mlir::Value operand : op->getOperands()) {
    if (!isa<tile::TileType>(operand.getType()))
      continue;
    TilePtr tile = in.tile(operand);
    if (!tile->padding)
      continue;
    Padding wide = *tile->padding; // a row or column that is broadcast
    if (tile->rows == 1 && result.rows > 1 && wide.top < wide.bottom)
      wide.bottom = result.rows;
    if (tile->cols == 1 && result.cols > 1 && wide.left < wide.right)
      wide.right = result.cols;
    intersect(padding, wide);
    areOperandsHarmless &= wide.isHarmlessToMax;
  }
  padding.isHarmlessToMax =
      makesNonNegative(in, op) || (areOperandsHarmless && keepsNonNegative(op));
  return simplified(padding, result);
}

/// Padding along the axis that is summed over adds zeros, which is right; rows and columns that are
/// padding stay so.
template <typename Op>
std::optional<Padding> ofMatmul(Interpreter &in, Op op, const Tile &result, Padding padding) {
  Padding lhs = paddingOrAllData(*in.tile(op.getLhs()));
  Padding rhs = paddingOrAllData(*in.tile(op.getRhs()));
  intersect(padding, {op.getTransA() ? lhs.left : lhs.top, op.getTransA() ? lhs.right : lhs.bottom,
                      0, result.cols, lhs.source, lhs.isOfZeros});
  intersect(padding, {0, result.rows, op.getTransB() ? rhs.top : rhs.left,
                      op.getTransB() ? rhs.bottom : rhs.right, rhs.source, rhs.isOfZeros});
  padding.isHarmlessToMax = false;
  return simplified(padding, result);
}

bool padsWithZero(Attribute pad, const Tile &tile) { return padValue(pad, tile.dtype).bits == 0; }

/// Other values than zero are what the program wants there; zeros are padding again.
std::optional<Padding> ofMask(Interpreter &in, tile::MaskOp op, const Tile &result) {
  std::vector<int64_t> valid = in.indices(op.getStaticValid(), op.getValid());
  Padding padding = paddingOrAllData(*in.tile(op.getOperand()));
  if (!padsWithZero(op.getPadAttr(), result)) {
    if (valid[0] <= padding.bottom)
      padding.bottom = result.rows;
    if (valid[1] <= padding.right)
      padding.right = result.cols;
  } else if (valid[0] < padding.bottom || valid[1] < padding.right) {
    intersect(padding, {0, std::max<int64_t>(valid[0], 0), 0, std::max<int64_t>(valid[1], 0), op});
    padding.source = op;
    padding.isOfZeros = true;
  }
  return simplified(padding, result);
}

std::optional<Padding> ofMaskDiag(Interpreter &in, tile::MaskDiagOp op, const Tile &result) {
  Padding padding = paddingOrAllData(*in.tile(op.getOperand()));
  // All columns of padding lie above the diagonal, also in the last row that is data.
  bool areMasked = padding.right - (padding.bottom - 1) > in.index(op.getOffset());
  if (areMasked && !padsWithZero(op.getPadAttr(), result))
    padding.right = result.cols;
  return simplified(padding, result);
}

std::optional<Padding> ofReduce(Interpreter &in, tile::ReduceOp op, const Tile &result) {
  Padding padding = paddingOrAllData(*in.tile(op.getOperand()));
  if (op.getAxis() == 0)
    padding.top = 0, padding.bottom = 1;
  else
    padding.left = 0, padding.right = 1;
  return simplified(padding, result);
}

} // namespace

std::optional<Padding> paddingOf(Interpreter &in, Operation *op, const Tile &result) {
  if (op->hasTrait<tile::ElementwiseArithmetic>())
    return ofElementwise(in, op, result);
  if (auto matmul = dyn_cast<tile::MatmulOp>(op))
    return ofMatmul(in, matmul, result, allData(result));
  if (auto matmul = dyn_cast<tile::MatmulAccOp>(op))
    return ofMatmul(in, matmul, result, paddingOrAllData(*in.tile(matmul.getAcc())));
  if (auto mask = dyn_cast<tile::MaskOp>(op))
    return ofMask(in, mask, result);
  if (auto mask = dyn_cast<tile::MaskDiagOp>(op))
    return ofMaskDiag(in, mask, result);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return ofReduce(in, reduce, result);
  // What only moves elements has moved their padding too (TileValue.cpp).
  if (isa<tile::MoveOp, tile::ReshapeOp, tile::TransposeOp, tile::CastOp, tile::ExtractOp,
          tile::ConcatOp>(op))
    return result.padding;
  return std::nullopt; // a select, for one: the program decides itself what counts
}

bool isHarmed(tile::ReduceOp op, const Tile &tile) {
  const std::optional<Padding> &padding = tile.padding;
  if (!padding || !padding->isOfZeros || op.getKind() == tile::ReduceKind::Sum)
    return false;
  if (op.getKind() == tile::ReduceKind::Max && padding->isHarmlessToMax)
    return false;
  bool hasRows = padding->top < padding->bottom, hasCols = padding->left < padding->right;
  bool padsRows = padding->top > 0 || padding->bottom < tile.rows;
  bool padsCols = padding->left > 0 || padding->right < tile.cols;
  return op.getAxis() == 0 ? padsRows && hasCols : padsCols && hasRows;
}

} // namespace kiln::sim
