//===- TileValue.h - a tile as the simulator holds it ---------------------------------===//
//
// Elements are kept wide: floats as f32, integers as int64_t, each rounded or wrapped to the
// element type after every operation (`canonical`), so a tile only ever holds values its type can
// represent. Tiles are values: shared, never changed once made; any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_TILEVALUE_H
#define KILN_LIB_SIMULATOR_TILEVALUE_H

#include "kiln/Program/PadValue.h"
#include "kiln/runtime/dtype.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>
#include <vector>

namespace kiln::simulator {

/// Where an element of a tile comes from.
class Origin {
public:
  /// Data: computed from what the program was given.
  Origin() = default;
  /// Computed from nothing but scalars and positions, so it is no datum of its own.
  static Origin constant() { return Origin(1); }
  /// What fills up a tile where there are no data, or was computed from that.
  static Origin padding(mlir::Operation *filler) {
    return Origin(reinterpret_cast<uintptr_t>(filler));
  }

  bool isData() const { return Bits == 0; }
  bool isConstant() const { return Bits == 1; }
  bool isPadding() const { return Bits > 1; }
  /// Of padding: the operation that put it there.
  mlir::Operation *filler() const { return reinterpret_cast<mlir::Operation *>(Bits); }

  bool operator==(const Origin &) const = default;

private:
  explicit Origin(uintptr_t bits) : Bits(bits) {}
  uintptr_t Bits = 0;
};

/// Of what is made of both: padding if one is padding, else data if one is data.
inline Origin join(Origin one, Origin other) {
  return one.isPadding() || (one.isData() && !other.isPadding()) ? one : other;
}

/// Between which values the data of a tile lie, whatever the program is given; NaN aside.
struct Bounds {
  double least, greatest;
};

struct Tile {
  int64_t rows, cols;
  DType dtype;
  std::vector<float> floats; ///< Row by row; empty for an integer type.
  std::vector<int64_t> ints; ///< Row by row; empty for a float type.
  /// Row by row, and followed only where it is checked. Empty: all of the tile is data.
  std::vector<Origin> origins;
  Bounds bounds;

  Tile(int64_t rows, int64_t cols, DType dtype);

  bool hasFloats() const { return isFloat(dtype); }
  template <typename T> std::vector<T> &elements() {
    if constexpr (std::is_same_v<T, float>)
      return floats;
    else
      return ints;
  }
  template <typename T> const std::vector<T> &elements() const {
    return const_cast<Tile *>(this)->elements<T>();
  }
  /// An element by its place in the row-major order.
  double valueAt(size_t at) const {
    return hasFloats() ? floats[at] : static_cast<double>(ints[at]);
  }
  Origin originAt(size_t at) const { return origins.empty() ? Origin() : origins[at]; }
  bool hasPadding() const;
  /// Makes padding of a datum. Padding stays what it is, and a constant too: a triangle of ones and
  /// zeros is made by masking.
  void fillUp(size_t at, mlir::Operation *filler);
};

using TilePtr = std::shared_ptr<const Tile>;
/// A tile that nobody shares yet, so that it may still change.
using NewTile = std::shared_ptr<Tile>;

/// Calls `run` with a value of the C++ type that holds elements of `dtype`: float or int64_t.
template <typename F> decltype(auto) withElementType(DType dtype, F run) {
  return isFloat(dtype) ? run(float()) : run(int64_t());
}

/// The nearest value the type can hold.
float canonical(DType dtype, float value);
/// The value wrapped to the type's width.
int64_t canonical(DType dtype, int64_t value);

Bounds boundsOf(DType dtype);
/// Of what is known: one value, unless it is NaN.
Bounds boundsOf(ScalarBits value);
Bounds around(Bounds one, Bounds other);

NewTile splat(int64_t rows, int64_t cols, ScalarBits value);
ScalarBits elementAt(const Tile &tile, int64_t row, int64_t col);
std::string toString(ScalarBits value);

// Whatever moves elements moves their origins too.

/// Copies `from`, all of it, to (row, col) of `to`, where it must fit.
void paste(const Tile &from, Tile &to, int64_t row, int64_t col);
/// `rows` x `cols` elements from (row, col) on, which must lie inside.
NewTile extractBox(const Tile &tile, int64_t row, int64_t col, int64_t rows, int64_t cols);
/// `into` with the elements from (row, col) on replaced by `tile`, which must fit.
NewTile insertBox(const Tile &tile, const Tile &into, int64_t row, int64_t col);
/// Tiles one after the other along an axis; the other extents agree.
NewTile concatenate(llvm::ArrayRef<TilePtr> tiles, unsigned axis);
/// The same elements, row by row, as another shape.
NewTile reshaped(const Tile &tile, int64_t rows, int64_t cols);
NewTile transposed(const Tile &tile);
/// Float to integer truncates and saturates, NaN becomes 0; integers wrap; i1 is "not zero".
NewTile converted(const Tile &tile, DType dtype);

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_TILEVALUE_H
