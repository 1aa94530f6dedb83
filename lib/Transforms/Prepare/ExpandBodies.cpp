#include "kiln/Dialect/Tile/TileCombine.h"
#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEEXPANDBODIES
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// One line of each of several tiles, or many.
using Tiles = SmallVector<Value>;

/// Writes one operation as steps on many lines at once.
class Expansion {
public:
  explicit Expansion(tile::CombiningInterface op)
      : Op(op), Builder(op), Loc(op->getLoc()), Axis(op.getAxis()) {}

  Tiles reduced() {
    Tiles lines(Op.getTiles());
    while (countOf(lines) > 1)
      lines = combineNeighbours(lines);
    return combine(starts(), lines);
  }

  Tiles scanned() {
    Tiles lines = withStart();
    int64_t count = countOf(lines);
    for (int64_t distance = 1; distance < count; distance *= 2) {
      Tiles first = take(lines, 0, count - distance), last = take(lines, distance, count);
      Tiles combined = Op.isReverse() ? combine(last, first) : combine(first, last);
      // The lines nearest to the start have nothing so far before them, and stay.
      int64_t from = Op.isReverse() ? count - distance : 0;
      Tiles kept = take(lines, from, from + distance);
      lines = Op.isReverse() ? join(combined, kept) : join(kept, combined);
    }
    return lines;
  }

private:
  static tile::TileType typeOf(Value value) { return cast<tile::TileType>(value.getType()); }
  int64_t countOf(ArrayRef<Value> lines) const { return typeOf(lines[0]).getExtent(Axis); }

  Tiles combine(ValueRange soFar, ValueRange next) {
    return tile::inlineBody(Builder, Op, soFar, next);
  }

  /// The start of each tile as a line.
  Tiles starts() {
    Tiles lines;
    for (auto [start, tile] : llvm::zip(Op.getStarts(), Op.getTiles()))
      lines.push_back(
          isa<tile::TileType>(start.getType())
              ? start
              : tile::FullOp::create(Builder, Loc, tile::linesOf(typeOf(tile), Axis), start));
    return lines;
  }

  /// The lines that a scan combines: the first with the start before it, or the start alone in its
  /// place where a line does not count for its own result.
  Tiles withStart() {
    Tiles lines(Op.getTiles()), first = starts();
    int64_t count = countOf(lines), at = Op.isReverse() ? count - 1 : 0;
    if (!Op.isExclusive())
      first = combine(first, take(lines, at, at + 1));
    if (count == 1)
      return first;
    // All but the first in order; an exclusive scan leaves out the last instead.
    int64_t from = Op.isReverse() == Op.isExclusive() ? 1 : 0;
    Tiles rest = take(lines, from, from + count - 1);
    return Op.isReverse() ? join(rest, first) : join(first, rest);
  }

  /// The lines [from, to).
  Tiles take(ArrayRef<Value> lines, int64_t from, int64_t to) {
    int64_t at[] = {0, 0};
    at[Axis] = from;
    Tiles taken;
    for (Value tile : lines)
      taken.push_back(tile::ExtractOp::create(
          Builder, Loc, tile::linesOf(typeOf(tile), Axis, to - from), tile, ValueRange(), at));
    return taken;
  }

  Tiles join(ArrayRef<Value> first, ArrayRef<Value> last) {
    Tiles joined;
    for (auto [one, other] : llvm::zip(first, last)) {
      int64_t count = typeOf(one).getExtent(Axis) + typeOf(other).getExtent(Axis);
      joined.push_back(tile::ConcatOp::create(Builder, Loc, tile::linesOf(typeOf(one), Axis, count),
                                              ValueRange{one, other}, Axis));
    }
    return joined;
  }

  /// Every other line, of an even number, from the first or the second on. Elements lie row by row:
  /// where pairs are rows of their own, or rows of double length, those are a box.
  Tiles everyOther(ArrayRef<Value> lines, int64_t from) {
    Tiles taken;
    for (Value tile : lines) {
      tile::TileType type = typeOf(tile);
      int64_t rows = type.getRows(), cols = type.getCols();
      tile::TileType pairs =
          Axis == 0 ? type.withShape(rows / 2, cols * 2) : type.withShape(rows * cols / 2, 2);
      Value paired = tile::ReshapeOp::create(Builder, Loc, pairs, tile);
      int64_t at[] = {0, from * (Axis == 0 ? cols : 1)};
      Value half = tile::ExtractOp::create(Builder, Loc,
                                           pairs.withShape(pairs.getRows(), pairs.getCols() / 2),
                                           paired, ValueRange(), at);
      taken.push_back(tile::ReshapeOp::create(
          Builder, Loc, tile::linesOf(type, Axis, type.getExtent(Axis) / 2), half));
    }
    return taken;
  }

  /// Half as many lines; of an odd number the last stays as it is.
  Tiles combineNeighbours(ArrayRef<Value> lines) {
    int64_t count = countOf(lines), even = count / 2 * 2;
    Tiles pairs = even == count ? Tiles(lines) : take(lines, 0, even);
    Tiles first = everyOther(pairs, 0), second = everyOther(pairs, 1);
    Tiles combined = combine(first, second);
    return even == count ? combined : join(combined, take(lines, even, count));
  }

  tile::CombiningInterface Op;
  OpBuilder Builder;
  Location Loc;
  unsigned Axis;
};

struct ExpandBodies : impl::TileExpandBodiesBase<ExpandBodies> {
  void runOnOperation() override {
    SmallVector<tile::CombiningInterface> ops;
    getOperation().walk([&](tile::CombiningInterface op) { ops.push_back(op); });
    for (tile::CombiningInterface op : ops) {
      Expansion expansion(op);
      op->replaceAllUsesWith(isa<tile::ReduceWithOp>(op) ? expansion.reduced()
                                                         : expansion.scanned());
      op->erase();
    }
  }
};

} // namespace
} // namespace kiln
