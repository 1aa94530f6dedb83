#include "Padding.h"

#include "Origins.h"
#include "PaddedMemory.h"

#include "kiln/Program/Signature.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace kiln::simulator {

//===----------------------------------------------------------------------===//
// Judging
//===----------------------------------------------------------------------===//

bool isNeutral(tile::ReduceKind kind, double value, Bounds bounds, double datum) {
  // Programs write -1e30 and the like for -inf.
  constexpr double far = 1e4;
  switch (kind) {
  case tile::ReduceKind::Sum:
    return value == 0;
  case tile::ReduceKind::Prod:
    return value == 1;
  case tile::ReduceKind::Max:
  case tile::ReduceKind::ArgMax:
    return value <= bounds.least || (value <= -far && value < datum);
  case tile::ReduceKind::Min:
  case tile::ReduceKind::ArgMin:
    return value >= bounds.greatest || (value >= far && value > datum);
  }
  llvm_unreachable("every kind of reduction is above");
}

Origin originOf(const Tile &tile, const Line &line) {
  Origin result = Origin::constant();
  for (int64_t i = 0; i < line.count; ++i) {
    Origin origin = tile.originAt(line.at(i));
    if (origin.isData())
      return origin;
    result = join(result, origin);
  }
  return result;
}

namespace {

/// The least datum of a line, for a minimum the greatest.
double extremeDatum(const Tile &tile, const Line &line, bool greatest) {
  double infinity = std::numeric_limits<double>::infinity(),
         extreme = greatest ? -infinity : infinity;
  for (int64_t i = 0; i < line.count; ++i)
    if (tile.originAt(line.at(i)).isData()) {
      double value = tile.valueAt(line.at(i));
      extreme = greatest ? std::max(extreme, value) : std::min(extreme, value);
    }
  return extreme;
}

/// What a search for a position compares by.
tile::ReduceKind withoutPosition(tile::ReduceKind kind) {
  if (kind == tile::ReduceKind::ArgMax)
    return tile::ReduceKind::Max;
  return kind == tile::ReduceKind::ArgMin ? tile::ReduceKind::Min : kind;
}

/// How many elements of a line, in the order of a scan, decide what its data become: all, or in a
/// scan those up to the last datum.
int64_t countDeciding(const Tile &tile, const Line &line, tile::Padding::Kind how) {
  int64_t count = line.count;
  while (how == tile::Padding::Running && count > 0 && !tile.originAt(line.at(count - 1)).isData())
    --count;
  return count;
}

/// Padding in a line with data that is not neutral there. Where elements are ordered, NaN comes
/// last in any case.
std::optional<Harm> findInLines(const Tile &tile, mlir::Value operand, tile::Padding rule) {
  if (!tile.hasPadding())
    return std::nullopt;
  tile::ReduceKind kind = withoutPosition(rule.how);
  int64_t axis = rule.axis;
  for (int64_t number = 0; number < (axis == 0 ? tile.cols : tile.rows); ++number) {
    Line line(tile, axis, number);
    if (rule.reverse)
      line = line.reversed();
    if (!originOf(tile, line).isData())
      continue;
    double datum = extremeDatum(tile, line, kind == tile::ReduceKind::Min);
    for (int64_t i = 0; i < countDeciding(tile, line, rule.kind); ++i) {
      double value = tile.valueAt(line.at(i));
      bool isHarmless = isNeutral(kind, value, tile.bounds, datum) ||
                        (rule.kind == tile::Padding::Ordered && std::isnan(value));
      if (tile.originAt(line.at(i)).isPadding() && !isHarmless)
        return Harm{operand, number, rule.reverse ? line.count - 1 - i : i, axis, kind};
    }
  }
  return std::nullopt;
}

/// What one operand of a matrix product has at one place of the axis it sums over.
struct Factors {
  bool hasNonzero = false;        ///< What is not padding counts, unless it is a constant 0.
  std::optional<int64_t> padding; ///< The line of the first padding that is not 0.
  bool hasNonfinite = false;      ///< Padding that makes NaN even of 0.
};

/// By place along the summed axis. Lines of padding alone give results that are padding.
std::vector<Factors> factorsOf(const Tile &tile, int64_t axis) {
  std::vector<Factors> factors(axis == 0 ? tile.rows : tile.cols);
  for (int64_t number = 0; number < (axis == 0 ? tile.cols : tile.rows); ++number) {
    Line line(tile, axis, number);
    if (originOf(tile, line).isPadding())
      continue;
    for (int64_t i = 0; i < line.count; ++i) {
      Origin origin = tile.originAt(line.at(i));
      double value = tile.valueAt(line.at(i));
      Factors &at = factors[i];
      at.hasNonzero |= origin.isData() || value != 0;
      if (!origin.isPadding() || value == 0)
        continue;
      at.padding = at.padding.value_or(number);
      at.hasNonfinite |= !std::isfinite(value);
    }
  }
  return factors;
}

std::optional<Harm> findInProduct(Interpreter &in, tile::ProductInterface op) {
  mlir::Value operands[] = {op.getLhs(), op.getRhs()};
  TilePtr tiles[] = {in.tile(operands[0]), in.tile(operands[1])};
  if (!tiles[0]->hasPadding() && !tiles[1]->hasPadding())
    return std::nullopt;
  std::vector<Factors> factors[] = {factorsOf(*tiles[0], op.getSummedAxis(0)),
                                    factorsOf(*tiles[1], op.getSummedAxis(1))};
  for (size_t k = 0; k < factors[0].size(); ++k)
    for (unsigned side : {0, 1}) {
      const Factors &one = factors[side][k], &other = factors[1 - side][k];
      if (one.padding && (other.hasNonzero || one.hasNonfinite))
        return Harm{operands[side], *one.padding, static_cast<int64_t>(k), op.getSummedAxis(side),
                    tile::ReduceKind::Sum};
    }
  return std::nullopt;
}

/// An element by a line that has data, if one does, so that words can say which part of it is.
Harm harmAt(const Tile &tile, mlir::Value operand, int64_t row, int64_t col,
            tile::ReduceKind kind) {
  bool byRows =
      !originOf(tile, Line(tile, 1, row)).isData() && originOf(tile, Line(tile, 0, col)).isData();
  return byRows ? Harm{operand, col, row, 0, kind} : Harm{operand, row, col, 1, kind};
}

/// Whether a loop carries the tile from one iteration to the next.
bool isCarried(mlir::Value tile) {
  auto argument = dyn_cast<BlockArgument>(tile);
  return argument && isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
}

/// Padding that a reduction over the iterations of a loop, `acc = max(acc, tile)`, takes for data.
/// Anywhere else, combining two tiles element by element is what the program says: with zeros
/// beyond the edge, for instance.
std::optional<Harm> findInAccumulation(Interpreter &in, Operation *op, const Tile &result) {
  std::optional<tile::ReduceKind> kind = combinationOf(op);
  if (!kind || op->getNumOperands() != 2)
    return std::nullopt;
  for (unsigned number : {0, 1}) {
    mlir::Value operand = op->getOperand(number);
    if (!isCarried(op->getOperand(1 - number)) || !isa<tile::TileType>(operand.getType()))
      continue;
    TilePtr tile = in.tile(operand);
    if (tile->rows != result.rows || tile->cols != result.cols || !tile->hasPadding())
      continue;
    for (size_t at = 0; at < result.origins.size(); ++at)
      if (result.origins[at].isPadding() && result.origins[at].filler() == op &&
          tile->originAt(at).isPadding())
        return harmAt(*tile, operand, int64_t(at) / tile->cols, int64_t(at) % tile->cols, *kind);
  }
  return std::nullopt;
}

} // namespace

std::optional<Harm> findHarmInSum(Operation *op, const Footprint &at, const Tile &tile) {
  std::optional<Harm> found;
  if (tile.hasPadding())
    forEachElement(at, tile, [&](const std::byte *, size_t place) {
      if (!found && tile.originAt(place).isPadding() && tile.valueAt(place) != 0)
        found = harmAt(tile, op->getOperand(0), int64_t(place) / tile.cols,
                       int64_t(place) % tile.cols, tile::ReduceKind::Sum);
    });
  return found;
}

std::optional<Harm> findHarm(Interpreter &in, Operation *op, const Tile &result) {
  tile::Padding rule = paddingOf(op);
  switch (rule.kind) {
  case tile::Padding::Combined:
  case tile::Padding::Running:
  case tile::Padding::Ordered:
    return findInLines(*in.tile(op->getOperand(0)), op->getOperand(0), rule);
  case tile::Padding::Multiplied:
    return findInProduct(in, cast<tile::ProductInterface>(op));
  case tile::Padding::Elementwise:
    return findInAccumulation(in, op, result);
  case tile::Padding::Kept:
  case tile::Padding::Constant:
  case tile::Padding::Filled:
    return std::nullopt;
  }
  llvm_unreachable("every kind is above");
}

/// The first padding of a line.
static std::optional<int64_t> findPadding(const Tile &tile, const Line &line) {
  for (int64_t i = 0; i < line.count; ++i)
    if (tile.originAt(line.at(i)).isPadding())
      return i;
  return std::nullopt;
}

std::optional<Harm> findHarmOfBody(Interpreter &in, tile::CombiningInterface op) {
  auto axis = static_cast<int64_t>(op.getAxis());
  for (auto [operand, made] : llvm::zip(op.getTiles(), op->getResults())) {
    TilePtr tile = in.tile(operand), result = in.tile(made);
    bool keepsSteps = tile->rows == result->rows && tile->cols == result->cols;
    for (int64_t number = 0; number < (axis == 0 ? tile->cols : tile->rows); ++number) {
      Line line(*tile, axis, number), after(*result, axis, number);
      std::optional<int64_t> padding = findPadding(*tile, line);
      if (!padding || !originOf(*tile, line).isData())
        continue;
      for (int64_t i = 0; i < after.count; ++i)
        if (result->originAt(after.at(i)).isPadding() &&
            (!keepsSteps || tile->originAt(line.at(i)).isData()))
          return Harm{operand, number, *padding, axis, std::nullopt};
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

namespace {

const char *nameOf(tile::ReduceKind kind) {
  switch (kind) {
  case tile::ReduceKind::Sum:
    return "sum";
  case tile::ReduceKind::Max:
    return "maximum";
  case tile::ReduceKind::Min:
    return "minimum";
  case tile::ReduceKind::Prod:
    return "product";
  case tile::ReduceKind::ArgMax:
    return "argmax";
  case tile::ReduceKind::ArgMin:
    return "argmin";
  }
  llvm_unreachable("every kind of reduction is above");
}

/// "the sum", to be used again later.
std::string nameOf(Operation *op) {
  tile::Padding rule = paddingOf(op);
  if (rule.kind == tile::Padding::Multiplied)
    return "the matrix product";
  if (rule.kind == tile::Padding::Running)
    return std::string("the running ") + nameOf(rule.how);
  if (rule.kind != tile::Padding::Combined)
    return op->getName().getStringRef().str();
  return std::string("the ") + nameOf(rule.how);
}

/// The value that changes nothing, and how a load or mask asks for it.
struct Neutral {
  std::string value, pad;
};

Neutral neutralOf(tile::ReduceKind kind, DType dtype) {
  switch (kind) {
  case tile::ReduceKind::Prod:
    return {"1", "pad(1.0)"};
  case tile::ReduceKind::Max:
  case tile::ReduceKind::ArgMax:
    return {toString(extremeValue(dtype, /*greatest=*/false)), "pad(min)"};
  case tile::ReduceKind::Min:
  case tile::ReduceKind::ArgMin:
    return {toString(extremeValue(dtype, /*greatest=*/true)), "pad(max)"};
  case tile::ReduceKind::Sum:
    return {"0", "pad(zero)"};
  }
  llvm_unreachable("every kind of reduction is above");
}

/// The elements [first, last) of a line, if its data are those.
std::optional<std::pair<int64_t, int64_t>> dataOf(const Tile &tile, const Line &line) {
  auto isData = [&](int64_t i) { return !tile.originAt(line.at(i)).isPadding(); };
  int64_t first = 0;
  while (first < line.count && !isData(first))
    ++first;
  int64_t last = first;
  while (last < line.count && isData(last))
    ++last;
  for (int64_t i = last; i < line.count; ++i)
    if (isData(i))
      return std::nullopt;
  return std::pair(first, last);
}

/// The value with which an operation fills up; none if it does not.
std::optional<std::string> filledWith(Operation *op) {
  if (paddingOf(op).kind != tile::Padding::Filled)
    return std::nullopt;
  auto type = cast<tile::TileType>(op->getResult(0).getType());
  return toString(padValue(op->getAttr("pad"), *dtypeOf(type.getElementType())));
}

/// The operation that filled up the tile with what the element is now, if it made the tile for this
/// use alone: then its pad value can be another.
Operation *fillerToChange(mlir::Value tile, const std::string &element) {
  while (tile.hasOneUse()) {
    Operation *op = tile.getDefiningOp();
    if (!op)
      return nullptr;
    if (std::optional<std::string> pad = filledWith(op))
      return *pad == element ? op : nullptr;
    auto facts = dyn_cast<tile::TileOpInterface>(op);
    if (!facts || (facts.getView() == tile::View::None && !isa<tile::TransposeOp>(op)))
      return nullptr;
    tile = op->getOperand(0);
  }
  return nullptr;
}

/// What to put between the padding and `op`, where the padding was made by another operation.
std::string remedy(const Harm &harm, Operation *op, const Tile &tile, Operation *filler,
                   const Neutral &neutral) {
  bool byRows = harm.axis == 0;
  if (isa<tile::MaskDiagOp>(filler))
    return "put a tile.mask_diag like that, with " + neutral.pad + ", before " + nameOf(op);
  auto data = dataOf(tile, Line(tile, harm.axis, harm.line));
  if (!data || data->first != 0)
    return "replace it by " + neutral.value + " before " + nameOf(op) + ", with a tile.select";
  return "put a tile.mask with valid(" + (byRows ? "N" : std::to_string(tile.rows)) + ", " +
         (byRows ? std::to_string(tile.cols) : "N") + ") " + neutral.pad + " before " + nameOf(op) +
         ", where N is how many " + (byRows ? "rows" : "columns") + " are data, here " +
         std::to_string(data->second);
}

/// "the sum over axis 1 includes padding: in row 0 of the 16x8 tile"
std::string describePlace(const Harm &harm, Operation *op, const Tile &tile) {
  std::string line = ": in " + std::string(harm.axis == 0 ? "column " : "row ") +
                     std::to_string(harm.line) + " of ";
  std::string shape = std::to_string(tile.rows) + "x" + std::to_string(tile.cols);
  tile::Padding::Kind kind = paddingOf(op).kind;
  if (kind == tile::Padding::Combined || kind == tile::Padding::Running || !harm.kind)
    return nameOf(op) + " over axis " + std::to_string(harm.axis) + " includes padding" + line +
           "the " + shape + " tile";
  if (kind == tile::Padding::Ordered)
    return nameOf(op) + " takes padding for data" + line + "the " + shape + " tile";
  if (kind == tile::Padding::Elementwise)
    return nameOf(op) + " combines padding with what the loop carries" + line + "the " + shape +
           " tile";
  if (kind == tile::Padding::Kept)
    return nameOf(op) + " adds padding to memory" + line + "the " + shape + " tile";
  bool isRight = harm.operand == op->getOperand(op->getNumOperands() - 1);
  return nameOf(op) + " sums over padding" + line + "its " + (isRight ? "right" : "left") +
         " operand, " + shape + ",";
}

/// "only columns [0, 5) are data; column 5 holds"
std::string describeElement(const Harm &harm, const Tile &tile) {
  std::string kind = harm.axis == 0 ? "row" : "column";
  std::string element = kind + " " + std::to_string(harm.element);
  auto data = dataOf(tile, Line(tile, harm.axis, harm.line));
  if (!data || data->first == data->second)
    return element + " is no data; it holds";
  return "only " + kind + "s [" + std::to_string(data->first) + ", " +
         std::to_string(data->second) + ") are data; " + element + " holds";
}

/// Where the padding comes from and what to do about it.
std::vector<Finding::Note> explain(const Harm &harm, Operation *op, const Tile &tile,
                                   const std::string &element, const Neutral &neutral) {
  if (Operation *filler = fillerToChange(harm.operand, element))
    return {{"filled up with " + element + " here; write " + neutral.pad,
             sourceLocOf(filler->getLoc())}};
  Line line(tile, harm.axis, harm.line);
  Operation *filler = tile.originAt(line.at(harm.element)).filler();
  SourceLoc at = sourceLocOf(filler->getLoc());
  if (std::optional<std::string> pad = filledWith(filler))
    return {{"filled up with " + *pad + " here", at},
            {remedy(harm, op, tile, filler, neutral), {}}};
  Neutral before = neutralOf(*combinationOf(filler), tile.dtype);
  return {{filler->getName().getStringRef().str() +
               " combines padding with data here, where it would have to hold " + before.value +
               ": put a tile.mask with " + before.pad + " before that",
           at}};
}

} // namespace

void describe(const Harm &harm, Operation *op, const Tile &tile, Finding &finding) {
  std::string element = toString(harm.axis == 0 ? elementAt(tile, harm.element, harm.line)
                                                : elementAt(tile, harm.line, harm.element));
  Neutral neutral = harm.kind ? neutralOf(*harm.kind, tile.dtype)
                              : Neutral{"some P that the body leaves out", "pad(P)"};
  finding.message = describePlace(harm, op, tile) + " " + describeElement(harm, tile) + " " +
                    element + " and would have to hold " + neutral.value;
  finding.notes = explain(harm, op, tile, element, neutral);
}

} // namespace kiln::simulator
