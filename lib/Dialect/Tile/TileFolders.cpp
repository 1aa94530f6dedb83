//===- TileFolders.cpp - what is the same as something simpler ------------------------===//
//
// Only what is exact for every value folds: NaN, infinities and the sign of zero included.
//
//===----------------------------------------------------------------------------===//
#include "TileRules.h"
#include "kiln/Dialect/Tile/PartialSums.h"

using namespace mlir;

namespace kiln::tile {

/// The operand of an op that changes nothing, else null.
template <typename Op> static OpFoldResult foldIfSameType(Op op) {
  return op.getOperand().getType() == op.getType() ? OpFoldResult(op.getOperand()) : OpFoldResult();
}

/// x, for `f(f(x))` where f is its own inverse.
template <typename Op> static OpFoldResult foldInverse(Op op) {
  auto inner = op.getOperand().template getDefiningOp<Op>();
  return inner && inner.getOperand().getType() == op.getType() ? OpFoldResult(inner.getOperand())
                                                               : OpFoldResult();
}

OpFoldResult MoveOp::fold(FoldAdaptor) { return foldIfSameType(*this); }
OpFoldResult CastOp::fold(FoldAdaptor) { return foldIfSameType(*this); }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return foldInverse(*this); }
OpFoldResult NegOp::fold(FoldAdaptor) { return foldInverse(*this); }
OpFoldResult NotOp::fold(FoldAdaptor) { return foldInverse(*this); }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (OpFoldResult same = foldIfSameType(*this))
    return same;
  auto inner = getOperand().getDefiningOp<ReshapeOp>();
  if (!inner)
    return {};
  if (inner.getOperand().getType() == getType())
    return inner.getOperand();
  setOperand(inner.getOperand());
  return getResult();
}

OpFoldResult ExtractOp::fold(FoldAdaptor) {
  return getTile().getType() == getType() ? OpFoldResult(getTile()) : OpFoldResult();
}

OpFoldResult InsertOp::fold(FoldAdaptor) {
  return getTile().getType() == getType() ? OpFoldResult(getTile()) : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getTiles().size() == 1 ? OpFoldResult(getTiles().front()) : OpFoldResult();
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  return getLhs() == getRhs() && getLhs().getType() == getType() ? OpFoldResult(getLhs())
                                                                 : OpFoldResult();
}

/// Of a single element every reduction that keeps the type is that element, unless threads have
/// parts of it.
OpFoldResult ReduceOp::fold(FoldAdaptor) {
  bool keepsValues = getKind() != ReduceKind::ArgMax && getKind() != ReduceKind::ArgMin;
  bool isOneElement = getOperand().getType() == getType() && !(*this)->hasAttr(kSumOfPartsAttr);
  return keepsValues && isOneElement ? OpFoldResult(getOperand()) : OpFoldResult();
}

/// The first sum is the first element, if that counts.
OpFoldResult ScanOp::fold(FoldAdaptor) {
  return getType().getExtent(getAxis()) == 1 && !getExclusive() ? OpFoldResult(getOperand())
                                                                : OpFoldResult();
}

/// Valid extents that cover the tile mask nothing.
OpFoldResult MaskOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> valid = getStaticValid();
  auto covers = [&](unsigned axis) {
    return !ShapedType::isDynamic(valid[axis]) && valid[axis] >= getType().getExtent(axis);
  };
  return covers(0) && covers(1) ? OpFoldResult(getOperand()) : OpFoldResult();
}

} // namespace kiln::tile
