//===- TileGather.cpp - verifiers of gathers, sorts, random numbers and hints ---------===//
#include "TileRules.h"

using namespace mlir;

namespace kiln::tile {

/// What gathering and scattering rows have in common. The row index of the tensor is an offset
/// here, so unlike a load's it may be anything.
template <typename Op> static LogicalResult verifyRows(Op op, TileType tile) {
  ir::TensorType tensor = op.getTensor().getType(), rows = op.getRows().getType();
  if (tensor.getRank() < 2)
    return op.emitOpError("needs a tensor of rows, rank 2 or more, not ") << tensor;
  SmallVector<int64_t> indices(op.getStaticIndices());
  if (int64_t(indices.size()) == tensor.getRank() &&
      !ShapedType::isDynamic(indices[indices.size() - 2]))
    indices[indices.size() - 2] = 0;
  if (failed(verifyAccess(op, tensor, tile, indices, op.getIndices())))
    return failure();
  if (!rows.getElementType().isInteger(32) && !rows.getElementType().isInteger(64))
    return op.emitOpError("row numbers are i32 or i64, not ") << rows.getElementType();
  if (int64_t(op.getStaticRowIndices().size()) != rows.getRank())
    return op.emitOpError("needs one index for each of the ")
           << rows.getRank() << " axes of the row numbers, has " << op.getStaticRowIndices().size();
  if (failed(verifyList(op, "row indices", op.getStaticRowIndices(), op.getRowIndices())))
    return failure();
  return verifyValid(op, op.getStaticValid(), op.getValid());
}

LogicalResult GatherRowsOp::verify() { return verifyRows(*this, getResult().getType()); }
LogicalResult ScatterRowsOp::verify() { return verifyRows(*this, getTile().getType()); }

void ScatterRowsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get()); // the row numbers
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult GatherOp::verify() {
  if (failed(verifyAxis(*this, getAxis())))
    return failure();
  TileType from = getOperand().getType(), index = getIndex().getType(), to = getResult().getType();
  if (!index.getElementType().isInteger(32) && !index.getElementType().isInteger(64))
    return emitOpError("indices are i32 or i64, not ") << index.getElementType();
  unsigned other = 1 - getAxis();
  if (from.getExtent(other) != index.getExtent(other))
    return emitOpError("along axis ")
           << getAxis() << " of " << from << " needs indices with " << from.getExtent(other)
           << (other ? " columns" : " rows") << ", not " << index;
  TileType expected = from.withShape(index.getRows(), index.getCols());
  if (withoutMemory(to) != withoutMemory(expected))
    return emitOpError("makes ") << expected << ", not " << to;
  return success();
}

/// Values and i32 columns of one shape, as many rows as the operand.
static LogicalResult verifyOrdering(Operation *op, TileType from, TileType values,
                                    TileType indices) {
  Type i32 = IntegerType::get(op->getContext(), 32);
  if (values.getElementType() != from.getElementType() || values.getRows() != from.getRows())
    return op->emitOpError("of ") << from << " cannot make the values " << values;
  if (indices != values.withElement(i32))
    return op->emitOpError("makes the columns ") << values.withElement(i32) << ", not " << indices;
  return success();
}

LogicalResult SortRowsOp::verify() {
  TileType from = getOperand().getType(), values = getValues().getType();
  if (failed(verifyOrdering(*this, from, values, getIndices().getType())))
    return failure();
  if (values.getCols() != from.getCols())
    return emitOpError("keeps the ") << from.getCols() << " columns, not " << values.getCols();
  return success();
}

LogicalResult TopkRowsOp::verify() {
  TileType from = getOperand().getType(), values = getValues().getType();
  if (failed(verifyOrdering(*this, from, values, getIndices().getType())))
    return failure();
  if (values.getCols() > from.getCols())
    return emitOpError("takes ") << values.getCols() << " of only " << from.getCols()
                                 << " elements a row";
  return success();
}

LogicalResult RandomOp::verify() {
  Type element = getResult().getType().getElementType();
  if (!element.isInteger(32) && !element.isF32())
    return emitOpError("makes i32 (bits) or f32 (uniform in [0, 1)), not ") << element;
  return success();
}

LogicalResult PrefetchOp::verify() {
  int64_t rows = getRows(), cols = getCols();
  if (rows < 1 || cols < 1)
    return emitOpError("names a tile of ") << rows << "x" << cols << "; extents are at least 1";
  ir::TensorType tensor = getTensor().getType();
  return verifyAccess(*this, tensor, TileType::get(rows, cols, tensor.getElementType()),
                      getStaticIndices(), getIndices());
}

} // namespace kiln::tile
