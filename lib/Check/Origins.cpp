#include "Origins.h"

#include "Bounds.h"
#include "Padding.h"

#include "kiln/Dialect/Tile/TileElementwise.h"

#include <cmath>
#include <optional>

using namespace mlir;

namespace kiln::simulator {

std::optional<tile::ReduceKind> combinationOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<tile::ReduceKind>>(op)
#include "kiln/Dialect/Tile/Elementwise/Combinations.inc"
      .Case<tile::MatmulAccOp, tile::MatmulStartOp>([](auto) { return tile::ReduceKind::Sum; })
      .Default(std::nullopt);
}

bool isFromOutside(Origin origin) {
  auto load = dyn_cast_or_null<tile::LoadOp>(origin.isPadding() ? origin.source() : nullptr);
  return load && !origin.isChosen() && !load.getOutside(); // which says that padding is meant
}

namespace {

/// What `op` makes of padding, where nobody judges that before an output has it.
Origin madeBy(Operation *op, Origin padding) {
  return isFromOutside(padding) ? padding.madeBy(op) : padding;
}

/// An operand, a scalar too, read as if it had the extents of the result.
class Operand {
public:
  Operand(Interpreter &in, mlir::Value value, const Tile &result) {
    if (isa<tile::TileType>(value.getType())) {
      Of = in.tile(value);
      IsWhole = Of->rows == result.rows && Of->cols == result.cols;
    } else {
      NewTile scalar = splat(1, 1, in.scalar(value));
      scalar->origins = {Origin::constant()};
      Of = std::move(scalar);
    }
    RowStep = Of->rows == 1 ? 0 : Of->cols;
    ColStep = Of->cols != 1;
  }

  const Tile &tile() const { return *Of; }
  Origin origin(int64_t row, int64_t col) const { return Of->originAt(at(row, col)); }
  double value(int64_t row, int64_t col) const { return Of->valueAt(at(row, col)); }
  /// Whether it has a datum of its own at this place, as opposed to one of a whole row or column.
  bool hasDatum(int64_t row, int64_t col) const { return IsWhole && origin(row, col).isData(); }

private:
  size_t at(int64_t row, int64_t col) const { return row * RowStep + col * ColStep; }

  TilePtr Of;
  bool IsWhole = false;
  int64_t RowStep, ColStep;
};

/// Whether the result is the same whatever padding of this value is combined with.
bool decidesAlone(Operation *op, double value) {
  return isa<tile::MulOp>(op) ? value == 0 : isa<tile::AddOp, tile::SubOp>(op) && std::isinf(value);
}

/// Of padding that an operation combines with a datum.
Origin combined(Operation *op, unsigned paddingNumber, Origin padding, double value,
                const Operand &other, double datum) {
  std::optional<tile::ReduceKind> kind = combinationOf(op);
  bool isMinuend = paddingNumber == 0 && !tile::isCommutative(op); // or a dividend
  if (!kind || isMinuend || decidesAlone(op, value))
    return madeBy(op, padding);
  return isNeutral(*kind, value, other.tile().bounds, datum) ? Origin() : padding.combinedBy(op);
}

/// Of padding that an operation combines with no datum of its own. Zeros, and what comes out as it
/// went in, fill up what they did before; a comparison gives no value yet.
Origin ofPaddingAlone(Operation *op, Origin padding, ArrayRef<Operand> operands, const Tile &result,
                      int64_t r, int64_t c) {
  double made = result.valueAt(r * result.cols + c);
  bool isSame = llvm::any_of(operands, [&](const Operand &operand) {
    return operand.origin(r, c).isPadding() && operand.value(r, c) == made;
  });
  return isSame || made == 0 || result.dtype == DType::I1 ? padding : madeBy(op, padding);
}

Origin ofArithmetic(Operation *op, ArrayRef<Operand> operands, const Tile &result, int64_t r,
                    int64_t c) {
  Origin made = Origin::constant();
  for (const Operand &operand : operands)
    made = join(made, operand.origin(r, c));
  if (made.isPadding() && operands.size() == 2)
    for (unsigned number : {0, 1})
      if (const Operand &other = operands[1 - number]; other.hasDatum(r, c))
        return combined(op, number, made, operands[number].value(r, c), other, other.value(r, c));
  return made.isPadding() ? ofPaddingAlone(op, made, operands, result, r, c) : made;
}

/// A datum that is chosen is one. A constant that is chosen in place of padding, or because of it,
/// is padding with another value, which the program has chosen, unless data were compared with
/// padding to choose it.
Origin ofSelect(Operation *op, ArrayRef<Operand> operands, int64_t r, int64_t c) {
  const Operand &condition = operands[0];
  bool isFirst = condition.value(r, c) != 0;
  const Operand &chosen = operands[isFirst ? 1 : 2], &other = operands[isFirst ? 2 : 1];
  if (chosen.hasDatum(r, c))
    return Origin();
  Origin made = join(chosen.origin(r, c), condition.origin(r, c));
  if (other.origin(r, c).isPadding())
    made = join(made, other.origin(r, c));
  bool isOpen = chosen.origin(r, c).isPadding() || condition.origin(r, c).maker();
  return made.isPadding() && !isOpen ? made.chosenBy(op) : made;
}

void traceElementwise(Interpreter &in, Operation *op, Tile &result) {
  SmallVector<Operand, 3> operands;
  SmallVector<Bounds, 3> bounds;
  bool hasPadding = false, hasWholeData = false;
  for (mlir::Value value : op->getOperands()) {
    const Tile &tile = operands.emplace_back(in, value, result).tile();
    bounds.push_back(tile.bounds);
    hasPadding |= tile.hasPadding();
    hasWholeData |= tile.origins.empty();
  }
  result.bounds = boundsOf(op, bounds, result.dtype);
  if (!hasPadding && hasWholeData) // nearly always
    return;
  result.origins.resize(result.rows * result.cols);
  bool isSelect = isa<tile::SelectOp>(op);
  for (int64_t r = 0; r < result.rows; ++r)
    for (int64_t c = 0; c < result.cols; ++c)
      result.origins[r * result.cols + c] =
          isSelect ? ofSelect(op, operands, r, c) : ofArithmetic(op, operands, result, r, c);
  // A datum that met neutral padding is what it was.
  if (hasPadding && combinationOf(op))
    result.bounds = around(result.bounds, around(bounds.front(), bounds.back()));
}

void traceCombined(Interpreter &in, Operation *op, int64_t axis, Tile &result) {
  TilePtr tile = in.tile(op->getOperand(0));
  result.bounds = boundsOf(op, tile->bounds, result.dtype);
  if (tile->origins.empty())
    return;
  for (int64_t number = 0; number < result.rows * result.cols; ++number)
    result.origins.push_back(madeBy(op, originOf(*tile, Line(*tile, axis, number))));
}

/// What stands at padding is padding; elsewhere it is data as soon as one element up to it is.
void traceRunning(Interpreter &in, Operation *op, tile::Padding rule, Tile &result) {
  TilePtr tile = in.tile(op->getOperand(0));
  result.bounds = boundsOf(op, tile->bounds, result.dtype);
  if (tile->origins.empty())
    return;
  result.origins.resize(result.rows * result.cols);
  for (int64_t number = 0; number < (rule.axis == 0 ? tile->cols : tile->rows); ++number) {
    Line line(*tile, rule.axis, number);
    if (rule.reverse)
      line = line.reversed();
    bool hasData = false;
    for (int64_t i = 0; i < line.count; ++i) {
      Origin own = tile->originAt(line.at(i));
      hasData |= own.isData();
      result.origins[line.at(i)] = own.isPadding() || !hasData ? madeBy(op, own) : Origin();
    }
  }
}

/// Where a line has fewer data than come out of it, what comes out then is padding.
void traceOrdered(Interpreter &in, Operation *op, Tile &result) {
  TilePtr tile = in.tile(op->getOperand(0));
  for (size_t at = 0; at < result.origins.size(); ++at) {
    Origin &origin = result.origins[at];
    if (!origin.isPadding())
      continue;
    bool hasData = originOf(*tile, Line(*tile, 1, int64_t(at) / result.cols)).isData();
    origin = hasData ? origin.missedBy(op) : madeBy(op, origin);
  }
}

/// The origins of the lines that a matrix product sums over, one per row or column of the result.
std::vector<Origin> ofFactors(tile::ProductInterface op, unsigned side, const Tile &tile,
                              int64_t count) {
  std::vector<Origin> lines(count);
  for (int64_t number = 0; !tile.origins.empty() && number < count; ++number)
    lines[number] = originOf(tile, Line(tile, op.getSummedAxis(side), number));
  return lines;
}

std::vector<Origin> ofProduct(Interpreter &in, tile::ProductInterface op, const Tile &result) {
  const Tile &lhs = *in.tile(op.getLhs()), &rhs = *in.tile(op.getRhs());
  std::vector<Origin> product;
  if (lhs.origins.empty() && rhs.origins.empty())
    return product;
  std::vector<Origin> rows = ofFactors(op, 0, lhs, result.rows),
                      cols = ofFactors(op, 1, rhs, result.cols);
  for (Origin row : rows)
    for (Origin col : cols)
      product.push_back(madeBy(op, join(row, col)));
  return product;
}

void traceProduct(Interpreter &in, tile::ProductInterface op, Tile &result) {
  if (!op.getAccumulator()) {
    result.origins = ofProduct(in, op, result);
    return;
  }
  TilePtr acc = in.tile(op.getAccumulator()->get());
  std::vector<Origin> product = ofProduct(in, op, result);
  result.bounds = boundsOf(result.dtype);
  result.origins.clear();
  if (product.empty() && !acc->hasPadding())
    return;
  result.origins.resize(result.rows * result.cols);
  for (size_t at = 0; at < result.origins.size(); ++at) {
    Origin before = acc->originAt(at), added = product.empty() ? Origin() : product[at];
    bool meetsData =
        (before.isData() && added.isPadding()) || (before.isPadding() && added.isData());
    bool isSame = before.isData() ? result.valueAt(at) == acc->valueAt(at) : acc->valueAt(at) == 0;
    Origin joined = join(before, added);
    result.origins[at] = !meetsData ? joined : isSame ? Origin() : joined.combinedBy(op);
  }
}

} // namespace

void traceOrigins(Interpreter &in, Operation *op, Tile &result) {
  tile::Padding rule = paddingOf(op);
  switch (rule.kind) {
  case tile::Padding::Elementwise:
    traceElementwise(in, op, result);
    break;
  case tile::Padding::Combined:
    traceCombined(in, op, rule.axis, result);
    break;
  case tile::Padding::Running:
    traceRunning(in, op, rule, result);
    break;
  case tile::Padding::Multiplied:
    traceProduct(in, cast<tile::ProductInterface>(op), result);
    break;
  case tile::Padding::Constant:
    result.origins.assign(result.rows * result.cols, Origin::constant());
    break;
  case tile::Padding::Ordered:
    traceOrdered(in, op, result);
    break;
  case tile::Padding::Kept:
  case tile::Padding::Filled: // who makes the tile has said it
    break;
  }
  if (llvm::all_of(result.origins, [](Origin origin) { return origin.isData(); }))
    result.origins.clear();
}

} // namespace kiln::simulator
