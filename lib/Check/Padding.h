//===- Padding.h - whether padding is taken for data ---------------------------------------===//
//
// A load fills up what lies outside its tensor, and a mask what lies outside its valid extents.
// That is right as long as what the padding has become changes nothing where it meets data: 0 in a
// sum, the least value in a maximum, 1 in a product. Each reduction, order and matrix product is
// judged by that; so is what an operation combines with a tile that a loop carries, which is a
// reduction over iterations, and what is added to memory.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_PADDING_H
#define KILN_LIB_CHECK_PADDING_H

#include "Findings.h"
#include "Simulator/Interpreter.h"

namespace kiln::simulator {

/// Whether a value that is no datum changes nothing where it is combined with data between `bounds`
/// of which the least (for a minimum the greatest) is `datum`.
bool isNeutral(tile::ReduceKind kind, double value, Bounds bounds, double datum);

/// The elements of a tile that a reduction along an axis makes one of.
struct Line {
  size_t start, step;
  int64_t count;

  Line(const Tile &tile, int64_t axis, int64_t number)
      : start(axis == 0 ? number : number * tile.cols), step(axis == 0 ? tile.cols : 1),
        count(axis == 0 ? tile.rows : tile.cols) {}
  size_t at(int64_t i) const { return start + i * step; }
  /// The same elements from the other end.
  Line reversed() const {
    Line line = *this;
    line.start = at(count - 1);
    line.step = -step;
    return line;
  }
};
/// Data if one element is; else padding if one is.
Origin originOf(const Tile &tile, const Line &line);

/// What becomes of padding in an operation.
inline tile::Padding paddingOf(mlir::Operation *op) {
  auto facts = llvm::dyn_cast<tile::TileOpInterface>(op);
  return facts ? facts.getPadding() : tile::Padding{tile::Padding::Kept};
}

/// Padding that an operation takes for data.
struct Harm {
  mlir::Value operand;   ///< The tile it is in.
  int64_t line, element; ///< Which line along the axis, and which element of that.
  int64_t axis;          ///< Along which the operation combines elements.
  /// How: Sum, Prod, Max or Min; nothing if by a body.
  std::optional<tile::ReduceKind> kind;
};
/// The first that `op` meets in its operands. `result` has its origins already.
std::optional<Harm> findHarm(Interpreter &in, mlir::Operation *op, const Tile &result);
/// The first that `op`, which adds a tile to memory, adds to elements inside the tensor.
std::optional<Harm> findHarmInSum(mlir::Operation *op, const Footprint &at, const Tile &tile);
/// The first that is left in what a body made of data.
std::optional<Harm> findHarmOfBody(Interpreter &in, tile::CombiningInterface op);

/// Says what is wrong, and what to do about it.
void describe(const Harm &harm, mlir::Operation *op, const Tile &tile, Finding &finding);

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_PADDING_H
