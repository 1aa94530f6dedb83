//===- TileDialect.cpp - the tile dialect and the verifiers of its ops ------------===//
#include "TileRules.h"

#include "kiln/Dialect/Assembly.h"

using namespace mlir;
using namespace kiln::assembly;

#include "kiln/Dialect/Tile/TileDialect.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/Dialect/Tile/TileOps.cpp.inc"

namespace kiln::tile {

void TileDialect::initialize() {
  registerTypesAndAttributes();
  addOperations<
#define GET_OP_LIST
#include "kiln/Dialect/Tile/TileOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Shared rules
//===----------------------------------------------------------------------===//

std::optional<Shape> broadcastShape(Shape a, Shape b) {
  auto one = [](int64_t x, int64_t y) -> std::optional<int64_t> {
    if (x == y || y == 1)
      return x;
    if (x == 1)
      return y;
    return std::nullopt;
  };
  auto rows = one(a.first, b.first), cols = one(a.second, b.second);
  if (!rows || !cols)
    return std::nullopt;
  return Shape(*rows, *cols);
}

Type accumulatorType(Type element) {
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  if (element.isInteger(8))
    return IntegerType::get(element.getContext(), 32);
  return {};
}

/// Operands `values` broadcast to the result's shape.
static LogicalResult verifyBroadcast(Operation *op, ValueRange values) {
  Shape shape(1, 1);
  for (Value value : values) {
    std::optional<Shape> joined = broadcastShape(shape, shapeOf(value.getType()));
    if (!joined)
      return op->emitOpError("operands of ")
             << text(shape) << " and " << text(shapeOf(value.getType()))
             << " do not broadcast; an extent must be equal or 1";
    shape = *joined;
  }
  if (shape != shapeOf(op->getResult(0).getType()))
    return op->emitOpError("operands broadcast to ")
           << text(shape) << ", the result is " << text(shapeOf(op->getResult(0).getType()));
  return success();
}

LogicalResult verifyElementwise(Operation *op) {
  Type element = elementOf(op->getResult(0).getType());
  for (Value operand : op->getOperands())
    if (elementOf(operand.getType()) != element)
      return op->emitOpError("mixes ")
             << elementOf(operand.getType()) << " with " << element << "; cast one of them";
  if (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TileType>))
    return op->emitOpError("needs at least one tile; for scalars use arith");
  return verifyBroadcast(op, op->getOperands());
}

LogicalResult verifyFloats(Operation *op) {
  if (Type element = elementOf(op->getResult(0).getType()); !isa<FloatType>(element))
    return op->emitOpError("needs floats, not ") << element;
  return success();
}

LogicalResult verifyIntegers(Operation *op) {
  if (Type element = elementOf(op->getResult(0).getType()); !isa<IntegerType>(element))
    return op->emitOpError("needs integers, not ") << element;
  return success();
}

LogicalResult verifyWideIntegers(Operation *op) {
  if (elementOf(op->getResult(0).getType()).isInteger(1))
    return op->emitOpError("shifts integers of 8 bits or more, not i1");
  return verifyIntegers(op);
}

LogicalResult CmpOp::verify() {
  if (elementOf(getLhs().getType()) != elementOf(getRhs().getType()))
    return emitOpError("compares ")
           << elementOf(getLhs().getType()) << " with " << elementOf(getRhs().getType());
  if (!getResult().getType().getElementType().isInteger(1))
    return emitOpError("makes i1, not ") << getResult().getType().getElementType();
  if (llvm::none_of(getOperandTypes(), llvm::IsaPred<TileType>))
    return emitOpError("needs at least one tile; for scalars use arith");
  return verifyBroadcast(*this, getOperands());
}

LogicalResult SelectOp::verify() {
  Type element = getResult().getType().getElementType();
  if (!getCondition().getType().getElementType().isInteger(1))
    return emitOpError("the condition holds i1, not ") << getCondition().getType().getElementType();
  if (elementOf(getLhs().getType()) != element || elementOf(getRhs().getType()) != element)
    return emitOpError("both choices hold ") << element;
  return verifyBroadcast(*this, getOperands());
}

//===----------------------------------------------------------------------===//
// Make and move
//===----------------------------------------------------------------------===//

LogicalResult FullOp::verify() {
  if (getValue().getType() != getResult().getType().getElementType())
    return emitOpError("fills ") << getResult().getType() << " with a " << getValue().getType();
  return success();
}

LogicalResult verifyAxis(Operation *op, int64_t axis) {
  if (axis != 0 && axis != 1)
    return op->emitOpError("axis is 0 (rows) or 1 (columns), not ") << axis;
  return success();
}

LogicalResult IotaOp::verify() { return verifyAxis(*this, getAxis()); }

LogicalResult verifyValid(Operation *op, std::optional<ArrayRef<int64_t>> extents,
                          ValueRange values) {
  if (extents && extents->size() != 2)
    return op->emitOpError("valid takes rows and columns");
  for (int64_t extent : extents.value_or(ArrayRef<int64_t>()))
    if (!ShapedType::isDynamic(extent) && extent < 0)
      return op->emitOpError("valid has the negative extent ") << extent;
  return verifyList(op, "valid extents", extents.value_or(ArrayRef<int64_t>()), values);
}

LogicalResult verifyAccess(Operation *op, ir::TensorType tensor, TileType tile,
                           ArrayRef<int64_t> indices, ValueRange values, bool mayMiss) {
  if (int64_t(indices.size()) != tensor.getRank())
    return op->emitOpError("needs one index for each of the ")
           << tensor.getRank() << " axes, has " << indices.size();
  if (tensor.getElementType() != tile.getElementType())
    return op->emitOpError("the tensor holds ")
           << tensor.getElementType() << ", the tile " << tile.getElementType();
  if (tensor.getRank() == 1 && tile.getRows() != 1 && tile.getCols() != 1)
    return op->emitOpError("a tensor of rank 1 is accessed as 1xN or Nx1, not as ")
           << tile.getRows() << "x" << tile.getCols();
  // A tile may hang over its tensor on any side, but not miss it unless that is said.
  for (auto [axis, index] : llvm::enumerate(indices)) {
    int64_t extent = tensor.getShape()[axis], fromEnd = tensor.getRank() - int64_t(axis);
    int64_t covered = tensor.getRank() == 1 ? tile.getNumElements()
                      : fromEnd == 2        ? tile.getRows()
                      : fromEnd == 1        ? tile.getCols()
                                            : 1;
    if (!mayMiss && !ShapedType::isDynamic(index) &&
        (index <= -covered || (!ShapedType::isDynamic(extent) && index >= extent && extent > 0)))
      return op->emitOpError("index ") << index << " puts the tile outside the tensor " << tensor;
  }
  return verifyList(op, "indices", indices, values);
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, getTensor().getType(), getResult().getType(), getStaticIndices(),
                          getIndices(), getOutside())))
    return failure();
  return verifyValid(*this, getStaticValid(), getValid());
}

LogicalResult StoreOp::verify() {
  if (failed(verifyAccess(*this, getTensor().getType(), getTile().getType(), getStaticIndices(),
                          getIndices())))
    return failure();
  return verifyValid(*this, getStaticValid(), getValid());
}

void StoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
  if (getAtomic())
    effects.emplace_back(MemoryEffects::Read::get());
}

static LogicalResult verifyBox(Operation *op, TileType small, TileType large,
                               ArrayRef<int64_t> indices, ValueRange values) {
  if (indices.size() != 2)
    return op->emitOpError("needs a row and a column index");
  if (small.getElementType() != large.getElementType())
    return op->emitOpError("mixes ")
           << small.getElementType() << " with " << large.getElementType();
  for (unsigned axis : {0u, 1u}) {
    int64_t offset = ShapedType::isDynamic(indices[axis]) ? 0 : indices[axis];
    if (offset < 0 || offset > large.getExtent(axis) - small.getExtent(axis))
      return op->emitOpError("a box of ")
             << text(shapeOf(small)) << " at offset " << offset << " of axis " << axis
             << " overruns " << text(shapeOf(large));
  }
  return verifyList(op, "indices", indices, values);
}

LogicalResult ExtractOp::verify() {
  return verifyBox(*this, getResult().getType(), getTile().getType(), getStaticIndices(),
                   getIndices());
}

LogicalResult InsertOp::verify() {
  if (getResult().getType() != getInto().getType())
    return emitOpError("the result has the type of the tile inserted into");
  return verifyBox(*this, getTile().getType(), getInto().getType(), getStaticIndices(),
                   getIndices());
}

LogicalResult MoveOp::verify() {
  TileType from = getOperand().getType(), to = getResult().getType();
  if (shapeOf(from) != shapeOf(to) || from.getElementType() != to.getElementType())
    return emitOpError("changes only the memory of a tile, not ") << from << " to " << to;
  return success();
}

LogicalResult ReshapeOp::verify() {
  TileType from = getOperand().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return emitOpError("keeps the elements: ") << from << " has " << from.getNumElements() << ", "
                                               << to << " has " << to.getNumElements();
  return success();
}

LogicalResult TransposeOp::verify() {
  TileType from = getOperand().getType(), to = getResult().getType();
  if (from.getElementType() != to.getElementType() || from.getRows() != to.getCols() ||
      from.getCols() != to.getRows())
    return emitOpError("of ") << from << " is " << from.withShape(from.getCols(), from.getRows())
                              << ", not " << to;
  return success();
}

LogicalResult CastOp::verify() {
  if (shapeOf(getOperand().getType()) != shapeOf(getResult().getType()))
    return emitOpError("keeps the shape: ")
           << getOperand().getType() << " to " << getResult().getType();
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getTiles().empty())
    return emitOpError("needs at least one tile");
  if (failed(verifyAxis(*this, getAxis())))
    return failure();
  TileType result = getResult().getType();
  int64_t total = 0;
  for (Type type : getTiles().getTypes()) {
    auto tile = cast<TileType>(type);
    if (tile.getElementType() != result.getElementType() ||
        tile.getExtent(1 - getAxis()) != result.getExtent(1 - getAxis()))
      return emitOpError("cannot put ")
             << tile << " into " << result << " along axis " << getAxis();
    total += tile.getExtent(getAxis());
  }
  if (total != result.getExtent(getAxis()))
    return emitOpError("the tiles have ") << total << " along axis " << getAxis() << ", the result "
                                          << result.getExtent(getAxis());
  return success();
}

//===----------------------------------------------------------------------===//
// Reduce, multiply, mask
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  if (failed(verifyAxis(*this, getAxis())))
    return failure();
  TileType from = getOperand().getType(), to = getResult().getType();
  TileType expected =
      getAxis() == 0 ? from.withShape(1, from.getCols()) : from.withShape(from.getRows(), 1);
  if (getKind() == ReduceKind::ArgMax || getKind() == ReduceKind::ArgMin)
    expected = expected.withElement(IntegerType::get(getContext(), 32));
  if (withoutMemory(to) != withoutMemory(expected))
    return emitOpError("of ") << from << " along axis " << getAxis() << " is " << expected
                              << ", not " << to;
  return success();
}

LogicalResult ScanOp::verify() {
  if (getKind() == ReduceKind::ArgMax || getKind() == ReduceKind::ArgMin)
    return emitOpError("combines by sum, prod, max or min, not by ")
           << stringifyReduceKind(getKind());
  if (withoutMemory(getOperand().getType()) != withoutMemory(getResult().getType()))
    return emitOpError("keeps the type of its operand");
  return verifyAxis(*this, getAxis());
}

static LogicalResult verifyProduct(Operation *op, TileType lhs, TileType rhs, bool transA,
                                   bool transB, TileType result) {
  int64_t m = transA ? lhs.getCols() : lhs.getRows(), k = transA ? lhs.getRows() : lhs.getCols();
  int64_t kb = transB ? rhs.getCols() : rhs.getRows(), n = transB ? rhs.getRows() : rhs.getCols();
  if (k != kb)
    return op->emitOpError("the inner extents differ: ")
           << lhs << (transA ? " (transposed)" : "") << " has " << k << ", " << rhs
           << (transB ? " (transposed)" : "") << " has " << kb;
  if (lhs.getElementType() != rhs.getElementType())
    return op->emitOpError("multiplies ") << lhs.getElementType() << " by " << rhs.getElementType();
  Type acc = accumulatorType(lhs.getElementType());
  if (!acc)
    return op->emitOpError("multiplies floats or i8, not ") << lhs.getElementType();
  if (result.getRows() != m || result.getCols() != n || result.getElementType() != acc)
    return op->emitOpError("makes ") << m << "x" << n << "x" << acc << ", not " << result;
  return success();
}

LogicalResult MatmulOp::verify() {
  return verifyProduct(*this, getLhs().getType(), getRhs().getType(), getTransA(), getTransB(),
                       getResult().getType());
}

LogicalResult MatmulAccOp::verify() {
  if (getAcc().getType() != getResult().getType())
    return emitOpError("the accumulator is ")
           << getAcc().getType() << ", the result " << getResult().getType();
  return verifyProduct(*this, getLhs().getType(), getRhs().getType(), getTransA(), getTransB(),
                       getResult().getType());
}

LogicalResult MatmulStartOp::verify() {
  if (getAcc().size() > 1)
    return emitOpError("has one accumulator at most");
  if (OpOperand *acc = getAccumulator(); acc && acc->get().getType() != getResult().getType())
    return emitOpError("the accumulator is ")
           << acc->get().getType() << ", the result " << getResult().getType();
  Operation *user = getResult().hasOneUse() ? *getResult().user_begin() : nullptr;
  if (!isa_and_nonnull<AwaitOp>(user) || user->getBlock() != (*this)->getBlock())
    return emitOpError("what was begun is awaited once, in the same block, and not used otherwise");
  return verifyProduct(*this, getLhs().getType(), getRhs().getType(), getTransA(), getTransB(),
                       getResult().getType());
}

LogicalResult AwaitOp::verify() {
  if (!getOperand().getDefiningOp<MatmulStartOp>())
    return emitOpError("awaits a product that was begun by tile.matmul_start");
  if (getOperand().getType() != getResult().getType())
    return emitOpError("keeps the type of its operand");
  return success();
}

LogicalResult MaskOp::verify() {
  if (getOperand().getType() != getResult().getType())
    return emitOpError("keeps the type of its operand");
  return verifyValid(*this, getStaticValid(), getValid());
}

LogicalResult MaskDiagOp::verify() {
  if (getOperand().getType() != getResult().getType())
    return emitOpError("keeps the type of its operand");
  return success();
}

//===----------------------------------------------------------------------===//
// Identity and scalars
//===----------------------------------------------------------------------===//

static LogicalResult verifyGridDim(Operation *op, int64_t dim) {
  if (dim < 0 || dim > 2)
    return op->emitOpError("a grid has dimensions 0, 1 and 2, not ") << dim;
  return success();
}

LogicalResult BlockIdxOp::verify() { return verifyGridDim(*this, getDim()); }
LogicalResult BlockCountOp::verify() { return verifyGridDim(*this, getDim()); }

void BlockIdxOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "block"); }
void BlockCountOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "blocks");
}
void LaneOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "lane"); }

LogicalResult ElementOp::verify() {
  TileType tile = getTile().getType();
  if (getResult().getType() != tile.getElementType())
    return emitOpError("of ") << tile << " is " << tile.getElementType() << ", not "
                              << getResult().getType();
  return verifyBox(*this, tile.withShape(1, 1), tile, getStaticIndices(), getIndices());
}

} // namespace kiln::tile
