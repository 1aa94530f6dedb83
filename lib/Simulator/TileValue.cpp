#include "TileValue.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kiln::simulator {

Tile::Tile(int64_t rows, int64_t cols, DType dtype)
    : rows(rows), cols(cols), dtype(dtype), bounds(boundsOf(dtype)) {
  withElementType(dtype, [&](auto zero) { elements<decltype(zero)>().resize(rows * cols); });
}

bool Tile::hasPadding() const {
  return llvm::any_of(origins, [](Origin origin) { return origin.isPadding(); });
}

void Tile::fillUp(size_t at, mlir::Operation *filler) {
  origins.resize(rows * cols);
  if (origins[at].isData())
    origins[at] = Origin::padding(filler);
  else if (origins[at].isPadding())
    origins[at] = origins[at].chosenBy(filler);
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

NewTile splat(int64_t rows, int64_t cols, ScalarBits value) {
  auto tile = std::make_shared<Tile>(rows, cols, value.type);
  std::fill(tile->floats.begin(), tile->floats.end(), static_cast<float>(value.asDouble()));
  std::fill(tile->ints.begin(), tile->ints.end(), value.asInt());
  tile->bounds = boundsOf(value);
  return tile;
}

ScalarBits elementAt(const Tile &tile, int64_t row, int64_t col) {
  size_t at = row * tile.cols + col;
  return tile.hasFloats() ? ScalarBits::fromDouble(tile.dtype, tile.floats[at])
                          : ScalarBits::fromInt(tile.dtype, tile.ints[at]);
}

std::string toString(ScalarBits value) {
  if (!isFloat(value.type))
    return std::to_string(value.asInt());
  char text[32];
  std::snprintf(text, sizeof text, "%g", value.asDouble());
  return text;
}

Bounds around(Bounds one, Bounds other) {
  return {std::min(one.least, other.least), std::max(one.greatest, other.greatest)};
}

void paste(const Tile &from, Tile &to, int64_t row, int64_t col) {
  withElementType(to.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t r = 0; r < from.rows; ++r)
      std::copy_n(from.elements<T>().begin() + r * from.cols, from.cols,
                  to.elements<T>().begin() + (row + r) * to.cols + col);
  });
  to.bounds = around(to.bounds, from.bounds);
  if (from.origins.empty() && to.origins.empty())
    return;
  to.origins.resize(to.rows * to.cols);
  for (int64_t r = 0; r < from.rows; ++r)
    for (int64_t c = 0; c < from.cols; ++c)
      to.origins[(row + r) * to.cols + col + c] = from.originAt(r * from.cols + c);
}

NewTile extractBox(const Tile &tile, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  auto result = std::make_shared<Tile>(rows, cols, tile.dtype);
  auto copyBox = [&](const auto &from, auto &to) {
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(from.begin() + (row + r) * tile.cols + col, cols, to.begin() + r * cols);
  };
  withElementType(tile.dtype, [&](auto zero) {
    using T = decltype(zero);
    copyBox(tile.elements<T>(), result->elements<T>());
  });
  if (!tile.origins.empty()) {
    result->origins.resize(rows * cols);
    copyBox(tile.origins, result->origins);
  }
  result->bounds = tile.bounds;
  return result;
}

NewTile insertBox(const Tile &tile, const Tile &into, int64_t row, int64_t col) {
  auto result = std::make_shared<Tile>(into);
  paste(tile, *result, row, col);
  return result;
}

NewTile concatenate(llvm::ArrayRef<TilePtr> tiles, unsigned axis) {
  int64_t rows = axis == 0 ? 0 : tiles.front()->rows, cols = axis == 0 ? tiles.front()->cols : 0;
  for (const TilePtr &tile : tiles)
    (axis == 0 ? rows : cols) += axis == 0 ? tile->rows : tile->cols;
  auto result = std::make_shared<Tile>(rows, cols, tiles.front()->dtype);
  result->bounds = tiles.front()->bounds;
  int64_t at = 0;
  for (const TilePtr &tile : tiles) {
    paste(*tile, *result, axis == 0 ? at : 0, axis == 0 ? 0 : at);
    at += axis == 0 ? tile->rows : tile->cols;
  }
  return result;
}

NewTile reshaped(const Tile &tile, int64_t rows, int64_t cols) {
  auto result = std::make_shared<Tile>(tile);
  result->rows = rows;
  result->cols = cols;
  return result;
}

NewTile transposed(const Tile &tile) {
  auto result = std::make_shared<Tile>(tile.cols, tile.rows, tile.dtype);
  auto turn = [&](const auto &from, auto &to) {
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t c = 0; c < tile.cols; ++c)
        to[c * tile.rows + r] = from[r * tile.cols + c];
  };
  withElementType(tile.dtype, [&](auto zero) {
    using T = decltype(zero);
    turn(tile.elements<T>(), result->elements<T>());
  });
  if (!tile.origins.empty()) {
    result->origins.resize(tile.origins.size());
    turn(tile.origins, result->origins);
  }
  result->bounds = tile.bounds;
  return result;
}

/// The bounds of a tile's data in another type: integers wrap, everything else keeps its order.
static Bounds convertedBounds(const Tile &tile, DType dtype) {
  Bounds all = boundsOf(dtype), old = tile.bounds;
  bool fits = old.least >= all.least && old.greatest <= all.greatest;
  if (dtype == DType::I1 || (!tile.hasFloats() && !isFloat(dtype) && !fits))
    return all;
  auto convert = [&](double bound) {
    bound = std::clamp(bound, all.least, all.greatest);
    return isFloat(dtype) ? canonical(dtype, static_cast<float>(bound)) : std::trunc(bound);
  };
  return {convert(old.least), convert(old.greatest)};
}

NewTile converted(const Tile &tile, DType dtype) {
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
  result->origins = tile.origins;
  result->bounds = convertedBounds(tile, dtype);
  return result;
}

static double asNumber(ScalarBits value) {
  return isFloat(value.type) ? value.asDouble() : static_cast<double>(value.asInt());
}

Bounds boundsOf(DType dtype) {
  // Whoever makes a tile asks, so they are worked out once.
  static const std::array<Bounds, KILN_NUM_DTYPES> all = [] {
    std::array<Bounds, KILN_NUM_DTYPES> bounds;
    for (const DTypeInfo &type : dtypeTable)
      bounds[size_t(type.type)] = {asNumber(extremeValue(type.type, false)),
                                   asNumber(extremeValue(type.type, true))};
    return bounds;
  }();
  return all[size_t(dtype)];
}

Bounds boundsOf(ScalarBits value) {
  double number = asNumber(value);
  return std::isnan(number) ? boundsOf(value.type) : Bounds{number, number};
}

} // namespace kiln::simulator
