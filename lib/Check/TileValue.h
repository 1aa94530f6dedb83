//===- TileValue.h - a tile as the simulator holds it ---------------------------------===//
//
// Elements are kept wide: floats as f32, integers as int64_t, each rounded or wrapped to the
// element type after every operation (`canonical`), so a tile only ever holds values its type can
// represent. Tiles are values: shared, never changed once made; any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_TILEVALUE_H
#define KILN_LIB_CHECK_TILEVALUE_H

#include "kiln/runtime/dtype.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <vector>

namespace kiln::sim {

/// Which elements of a tile are data: rows [top, bottom) and columns [left, right). The others come
/// from what filled up the tile. Known only where it is checked.
struct Padding {
  int64_t top, bottom, left, right;
  mlir::Operation *source; ///< The operation that filled up; null as long as all is data.
  /// It filled up with zeros, as happens unless the program says otherwise.
  bool isOfZeros = true;
  /// The zeros are still zeros and no datum can be less, so that a maximum over both is right.
  bool isHarmlessToMax = false;
};

struct Tile {
  int64_t rows, cols;
  DType dtype;
  std::vector<float> floats; ///< Row by row; empty for an integer type.
  std::vector<int64_t> ints; ///< Row by row; empty for a float type.
  std::optional<Padding> padding;

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
};

using TilePtr = std::shared_ptr<const Tile>;

/// Calls `run` with a value of the C++ type that holds elements of `dtype`: float or int64_t.
template <typename F> decltype(auto) withElementType(DType dtype, F run) {
  return isFloat(dtype) ? run(float()) : run(int64_t());
}

/// The nearest value the type can hold.
float canonical(DType dtype, float value);
/// The value wrapped to the type's width.
int64_t canonical(DType dtype, int64_t value);

TilePtr splat(int64_t rows, int64_t cols, ScalarBits value);
ScalarBits elementAt(const Tile &tile, int64_t row, int64_t col);

/// Copies `from`, all of it, to (row, col) of `to`, where it must fit.
void paste(const Tile &from, Tile &to, int64_t row, int64_t col);
/// `rows` x `cols` elements from (row, col) on, which must lie inside.
TilePtr extractBox(const Tile &tile, int64_t row, int64_t col, int64_t rows, int64_t cols);
/// `into` with the elements from (row, col) on replaced by `tile`, which must fit.
TilePtr insertBox(const Tile &tile, const Tile &into, int64_t row, int64_t col);
/// Tiles one after the other along an axis; the other extents agree.
TilePtr concatenate(llvm::ArrayRef<TilePtr> tiles, unsigned axis);
/// The same elements, row by row, as another shape.
TilePtr reshaped(const Tile &tile, int64_t rows, int64_t cols);
TilePtr transposed(const Tile &tile);
/// Float to integer truncates and saturates, NaN becomes 0; integers wrap; i1 is "not zero".
TilePtr converted(const Tile &tile, DType dtype);

/// What an element outside reads as. Null means zero; `min` and `max` are the infinities where the
/// type has them, else its least and greatest value.
ScalarBits padValue(mlir::Attribute pad, DType dtype);

} // namespace kiln::sim

#endif // KILN_LIB_CHECK_TILEVALUE_H
