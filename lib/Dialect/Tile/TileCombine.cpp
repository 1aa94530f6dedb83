//===- TileCombine.cpp - bodies that combine lines of tiles -----------------------------===//
#include "kiln/Dialect/Tile/TileCombine.h"

#include "TileRules.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln::tile {

TileType linesOf(TileType tile, unsigned axis, int64_t count) {
  return axis == 0 ? tile.withShape(count, tile.getCols()) : tile.withShape(tile.getRows(), count);
}

//===----------------------------------------------------------------------===//
// Bodies on other shapes
//===----------------------------------------------------------------------===//

/// An extent that is that of the lines becomes that of the new ones; 1 still broadcasts.
static TileType resized(TileType tile, Shape from, Shape to) {
  int64_t rows = tile.getRows() == from.first ? to.first : tile.getRows();
  int64_t cols = tile.getCols() == from.second ? to.second : tile.getCols();
  return tile.withShape(rows, cols);
}

static void resize(Value value, Shape from, Shape to) {
  if (auto tile = dyn_cast<TileType>(value.getType()))
    value.setType(resized(tile, from, to));
}

SmallVector<Value> inlineBody(OpBuilder &builder, CombiningInterface op, ValueRange soFar,
                              ValueRange next) {
  Block &body = op.getBody().front();
  Shape from = shapeOf(body.getArgument(0).getType()), to = shapeOf(soFar[0].getType());
  IRMapping values;
  values.map(body.getArguments().take_front(soFar.size()), soFar);
  values.map(body.getArguments().drop_front(soFar.size()), next);
  for (Operation &inner : body.without_terminator())
    for (Value result : builder.clone(inner, values)->getResults())
      resize(result, from, to);
  SmallVector<Value> made;
  for (Value yielded : body.getTerminator()->getOperands())
    made.push_back(values.lookup(yielded));
  return made;
}

void resizeBody(CombiningInterface op) {
  Block &body = op.getBody().front();
  Shape from = shapeOf(body.getArgument(0).getType());
  Shape to = shapeOf(linesOf(cast<TileType>(op.getTiles()[0].getType()), op.getAxis()));
  for (BlockArgument argument : body.getArguments())
    resize(argument, from, to);
  for (Operation &inner : body)
    for (Value result : inner.getResults())
      resize(result, from, to);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Whether an operation computes each element from those at the same place, or is a constant.
static bool isElementwise(Operation *op) {
  if (isa<CastOp, FullOp, arith::ConstantOp>(op))
    return true;
  auto facts = dyn_cast<TileOpInterface>(op);
  return facts && facts.getPadding().kind == Padding::Elementwise;
}

static Type inNoMemory(Type type) {
  auto tile = dyn_cast<TileType>(type);
  return tile ? withoutMemory(tile) : type;
}

/// Whether types are the same, but for the memory that tiles are in.
static bool areAlike(TypeRange one, TypeRange other) {
  return llvm::equal(one, other, [](Type a, Type b) { return inNoMemory(a) == inNoMemory(b); });
}

/// The tiles have one shape, and each has a start.
static LogicalResult verifyOperands(CombiningInterface op) {
  if (op.getTiles().empty())
    return op->emitOpError("needs at least one tile");
  Shape shape = shapeOf(op.getTiles()[0].getType());
  for (Type type : op.getTiles().getTypes())
    if (shapeOf(type) != shape)
      return op->emitOpError("combines tiles of one shape, not ")
             << text(shape) << " and " << text(shapeOf(type));
  if (op.getStarts().size() != op.getTiles().size())
    return op->emitOpError("needs one start for each of the ")
           << op.getTiles().size() << " tiles, has " << op.getStarts().size();
  for (auto [start, tile] : llvm::zip(op.getStarts().getTypes(), op.getTiles().getTypes()))
    if (TileType line = linesOf(cast<TileType>(tile), op.getAxis());
        inNoMemory(start) != inNoMemory(line) && start != line.getElementType())
      return op->emitOpError("starts ") << tile << " with a " << line.getElementType() << " or "
                                        << line << ", not with " << start;
  return success();
}

/// Takes two lines of each tile, works on lines only, and makes one of each tile.
static LogicalResult verifyBody(CombiningInterface op) {
  Block &body = op.getBody().front();
  SmallVector<Type> lines, arguments;
  for (Type type : op.getTiles().getTypes())
    lines.push_back(withoutMemory(linesOf(cast<TileType>(type), op.getAxis())));
  arguments = lines;
  llvm::append_range(arguments, lines);
  if (!areAlike(body.getArgumentTypes(), arguments))
    return op->emitOpError("the body takes a line of each tile, and then the next line of each: ")
           << arguments;
  for (Operation &inner : body.without_terminator()) {
    if (!isElementwise(&inner))
      return inner.emitOpError("cannot stand in the body of ")
             << op->getName()
             << ", which combines element by element; elementwise operations, casts and constants "
                "can";
    for (Type type : inner.getResultTypes())
      if (Shape line = shapeOf(lines[0]), shape = shapeOf(type);
          isa<TileType>(type) && broadcastShape(line, shape) != line)
        return inner.emitOpError("makes ") << text(shape) << " in the body of " << op->getName()
                                           << ", which works on lines of " << text(line);
  }
  Operation *end = body.getTerminator();
  if (!areAlike(end->getOperandTypes(), lines))
    return end->emitOpError("gives the next line of each tile: ") << lines;
  return success();
}

static LogicalResult verifyCombining(CombiningInterface op, bool keepsSteps) {
  if (failed(verifyAxis(op, op.getAxis())) || failed(verifyOperands(op)) || failed(verifyBody(op)))
    return failure();
  SmallVector<Type> expected;
  for (Type type : op.getTiles().getTypes())
    expected.push_back(keepsSteps ? type : linesOf(cast<TileType>(type), op.getAxis()));
  if (!areAlike(op->getResultTypes(), expected))
    return op->emitOpError("makes ") << expected << ", not " << op->getResultTypes();
  return success();
}

LogicalResult ReduceWithOp::verify() { return verifyCombining(*this, /*keepsSteps=*/false); }
LogicalResult ScanWithOp::verify() { return verifyCombining(*this, /*keepsSteps=*/true); }

} // namespace kiln::tile
