#include "TileValue.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include <algorithm>
#include <limits>

namespace kiln::sim {

Tile::Tile(int64_t rows, int64_t cols, DType dtype) : rows(rows), cols(cols), dtype(dtype) {
  withElementType(dtype, [&](auto zero) { elements<decltype(zero)>().resize(rows * cols); });
}

float canonical(DType dtype, float value) {
  switch (dtype) {
  case DType::F16:
    return decodeF16(encodeF16(value));
  case DType::BF16:
    return decodeBF16(encodeBF16(value));
  case DType::F8E4M3FN:
    return decodeF8E4M3FN(encodeF8E4M3FN(value));
  case DType::F8E5M2:
    return decodeF8E5M2(encodeF8E5M2(value));
  default:
    return value;
  }
}

int64_t canonical(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::I8:
    return static_cast<int8_t>(value);
  case DType::I16:
    return static_cast<int16_t>(value);
  case DType::I32:
    return static_cast<int32_t>(value);
  case DType::I1:
    return value & 1;
  default:
    return value;
  }
}

TilePtr splat(int64_t rows, int64_t cols, ScalarBits value) {
  auto tile = std::make_shared<Tile>(rows, cols, value.type);
  std::fill(tile->floats.begin(), tile->floats.end(), static_cast<float>(value.asDouble()));
  std::fill(tile->ints.begin(), tile->ints.end(), value.asInt());
  return tile;
}

ScalarBits elementAt(const Tile &tile, int64_t row, int64_t col) {
  size_t at = row * tile.cols + col;
  return tile.hasFloats() ? ScalarBits::fromDouble(tile.dtype, tile.floats[at])
                          : ScalarBits::fromInt(tile.dtype, tile.ints[at]);
}

void paste(const Tile &from, Tile &to, int64_t row, int64_t col) {
  withElementType(to.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t r = 0; r < from.rows; ++r)
      std::copy_n(from.elements<T>().begin() + r * from.cols, from.cols,
                  to.elements<T>().begin() + (row + r) * to.cols + col);
  });
}

/// The same with elements outside a tile of this size cut off; none if all that is left is data.
static std::optional<Padding> clipped(Padding padding, int64_t rows, int64_t cols) {
  padding.top = std::clamp<int64_t>(padding.top, 0, rows);
  padding.bottom = std::clamp<int64_t>(padding.bottom, 0, rows);
  padding.left = std::clamp<int64_t>(padding.left, 0, cols);
  padding.right = std::clamp<int64_t>(padding.right, 0, cols);
  bool isAllData =
      padding.top == 0 && padding.bottom == rows && padding.left == 0 && padding.right == cols;
  return isAllData ? std::nullopt : std::optional(padding);
}

static Padding shifted(Padding padding, int64_t rows, int64_t cols) {
  padding.top += rows;
  padding.bottom += rows;
  padding.left += cols;
  padding.right += cols;
  return padding;
}

TilePtr extractBox(const Tile &tile, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  auto result = std::make_shared<Tile>(rows, cols, tile.dtype);
  withElementType(tile.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(tile.elements<T>().begin() + (row + r) * tile.cols + col, cols,
                  result->elements<T>().begin() + r * cols);
  });
  if (tile.padding)
    result->padding = clipped(shifted(*tile.padding, -row, -col), rows, cols);
  return result;
}

TilePtr insertBox(const Tile &tile, const Tile &into, int64_t row, int64_t col) {
  auto result = std::make_shared<Tile>(into);
  paste(tile, *result, row, col);
  result->padding.reset(); // the program arranges the elements itself
  return result;
}

/// Adds what is data in a part, pasted to (row, col), to what is data in the whole: the smallest
/// box around both.
static void joinPadding(const Tile &part, Tile &whole, int64_t row, int64_t col) {
  Padding data{0, part.rows, 0, part.cols, nullptr};
  data = shifted(part.padding.value_or(data), row, col);
  if (row == 0 && col == 0) {
    whole.padding = data;
    return;
  }
  Padding &joined = *whole.padding;
  joined.top = std::min(joined.top, data.top);
  joined.bottom = std::max(joined.bottom, data.bottom);
  joined.left = std::min(joined.left, data.left);
  joined.right = std::max(joined.right, data.right);
  joined.source = joined.source ? joined.source : data.source;
  joined.isOfZeros &= data.isOfZeros;
  joined.isHarmlessToMax &= data.isHarmlessToMax;
}

TilePtr concatenate(llvm::ArrayRef<TilePtr> tiles, unsigned axis) {
  int64_t rows = axis == 0 ? 0 : tiles.front()->rows, cols = axis == 0 ? tiles.front()->cols : 0;
  for (const TilePtr &tile : tiles)
    (axis == 0 ? rows : cols) += axis == 0 ? tile->rows : tile->cols;
  auto result = std::make_shared<Tile>(rows, cols, tiles.front()->dtype);
  int64_t at = 0;
  for (const TilePtr &tile : tiles) {
    paste(*tile, *result, axis == 0 ? at : 0, axis == 0 ? 0 : at);
    joinPadding(*tile, *result, axis == 0 ? at : 0, axis == 0 ? 0 : at);
    at += axis == 0 ? tile->rows : tile->cols;
  }
  result->padding = clipped(*result->padding, rows, cols);
  return result;
}

TilePtr reshaped(const Tile &tile, int64_t rows, int64_t cols) {
  auto result = std::make_shared<Tile>(tile);
  if (rows != tile.rows)
    result->padding.reset(); // no longer a box
  result->rows = rows;
  result->cols = cols;
  return result;
}

TilePtr transposed(const Tile &tile) {
  auto result = std::make_shared<Tile>(tile.cols, tile.rows, tile.dtype);
  withElementType(tile.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t c = 0; c < tile.cols; ++c)
        result->elements<T>()[c * tile.rows + r] = tile.elements<T>()[r * tile.cols + c];
  });
  if (result->padding = tile.padding; result->padding) {
    std::swap(result->padding->top, result->padding->left);
    std::swap(result->padding->bottom, result->padding->right);
  }
  return result;
}

TilePtr converted(const Tile &tile, DType dtype) {
  auto result = std::make_shared<Tile>(tile.rows, tile.cols, dtype);
  size_t size = tile.rows * tile.cols;
  for (size_t i = 0; i < size; ++i) {
    if (tile.hasFloats() && isFloat(dtype))
      result->floats[i] = canonical(dtype, tile.floats[i]);
    else if (tile.hasFloats())
      result->ints[i] = ScalarBits::fromDouble(dtype, tile.floats[i]).asInt();
    else if (!isFloat(dtype))
      result->ints[i] = dtype == DType::I1 ? tile.ints[i] != 0 : canonical(dtype, tile.ints[i]);
    else // arithmetic on small floats computes in f32 and rounds
      result->floats[i] = canonical(dtype, static_cast<float>(tile.ints[i]));
  }
  result->padding = tile.padding;
  return result;
}

static ScalarBits extremeValue(DType dtype, bool greatest) {
  if (isFloat(dtype)) {
    // f8E4M3FN has no infinity.
    double limit = dtype == DType::F8E4M3FN ? 448.0 : std::numeric_limits<double>::infinity();
    return ScalarBits::fromDouble(dtype, greatest ? limit : -limit);
  }
  if (dtype == DType::I1)
    return ScalarBits::fromInt(dtype, greatest);
  int64_t bound = std::numeric_limits<int64_t>::max() >> (64 - 8 * sizeOf(dtype));
  return ScalarBits::fromInt(dtype, greatest ? bound : -bound - 1);
}

ScalarBits padValue(mlir::Attribute pad, DType dtype) {
  if (auto constant = llvm::dyn_cast_or_null<mlir::FloatAttr>(pad))
    return ScalarBits::fromDouble(dtype, constant.getValueAsDouble());
  auto kind = llvm::dyn_cast_or_null<tile::PadKindAttr>(pad);
  if (!kind || kind.getValue() == tile::PadKind::Zero)
    return ScalarBits::fromInt(dtype, 0);
  return extremeValue(dtype, kind.getValue() == tile::PadKind::Max);
}

} // namespace kiln::sim
