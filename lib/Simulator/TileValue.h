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
#include "llvm/ADT/PointerIntPair.h"

#include <memory>
#include <string>
#include <vector>

namespace kiln::simulator {

/// Where an element of a tile comes from. Padding also knows what has become of it: an output may
/// hold padding as it was filled up, but not what somebody made of it.
class Origin {
public:
  /// Data: computed from what the program was given.
  Origin() = default;
  /// Computed from nothing but scalars and positions, so it is no datum of its own.
  static Origin constant() { return Origin({nullptr, Constant}); }
  /// What fills up a tile where there are no data, or was computed from that.
  static Origin padding(mlir::Operation *source) { return Origin({source, Padding}); }

  bool isData() const { return Source.getInt() == Data; }
  bool isConstant() const { return Source.getInt() == Constant; }
  bool isPadding() const { return Source.getInt() >= Padding; }
  /// Of padding: whether the program itself has chosen its value since, by a mask or a select.
  bool isChosen() const { return Source.getInt() == Chosen; }
  /// Of padding: the operation that put it there.
  mlir::Operation *source() const { return Source.getPointer(); }
  /// Of padding: the operation that made of it what it is now; null: it is as it was filled up.
  mlir::Operation *maker() const { return Maker.getPointer(); }
  /// Of padding: what has to change if it is wrong. That is who combined it with data, else who put
  /// it there.
  mlir::Operation *filler() const { return Maker.getInt() == Combined ? maker() : source(); }
  /// Of padding: whether it stands where somebody asked for more data than there are.
  bool isMissing() const { return Maker.getInt() == Missing; }

  /// Of padding of which `op` made something else; the first that did is remembered.
  Origin madeBy(mlir::Operation *op) const { return maker() ? *this : with({op, Computed}); }
  /// Of padding that `op` combined with a datum that it changes.
  Origin combinedBy(mlir::Operation *op) const { return with({op, Combined}); }
  /// Of padding that `op` took for want of data.
  Origin missedBy(mlir::Operation *op) const { return with({op, Missing}); }
  /// Of padding whose value `op` replaced because the program says so.
  Origin chosenBy(mlir::Operation *op) const {
    Origin chosen = with({op, Computed});
    chosen.Source.setInt(Chosen);
    return chosen;
  }

  bool operator==(const Origin &) const = default;

private:
  enum Kind : uint8_t { Data, Constant, Padding, Chosen };
  enum Step : uint8_t { Computed, Combined, Missing };
  using SourceAndKind = llvm::PointerIntPair<mlir::Operation *, 2, Kind>;
  using MakerAndStep = llvm::PointerIntPair<mlir::Operation *, 2, Step>;

  explicit Origin(SourceAndKind source) : Source(source) {}
  Origin with(MakerAndStep maker) const {
    Origin made = *this;
    made.Maker = maker;
    return made;
  }

  SourceAndKind Source{nullptr, Data};
  MakerAndStep Maker{nullptr, Computed};
};

/// Of what is made of both: padding if one is padding, and what somebody made of padding before
/// padding as it was filled up; else data if one is data.
inline Origin join(Origin one, Origin other) {
  if (one.isPadding() && other.isPadding())
    return one.maker() || !other.maker() ? one : other;
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
  /// Makes padding of a datum. Padding stays padding, with a value that was chosen for it, and a
  /// constant stays what it is: a triangle of ones and zeros is made by masking.
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
