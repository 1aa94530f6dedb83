//===- RandomBody.cpp - the pool of values, and what every statement needs -------------===//
#include "RandomBody.h"

#include <algorithm>
#include <cmath>

namespace kiln::test {

constexpr int64_t kLargestTile = 1024;

std::string tileType(int64_t rows, int64_t cols, DType type) {
  return "!tile.tile<" + std::to_string(rows) + "x" + std::to_string(cols) + "x" + toString(type) +
         ">";
}

//===----------------------------------------------------------------------===//
// Names and the pool
//===----------------------------------------------------------------------===//

std::string RandomBody::define(const std::string &operation) {
  std::string name = newName();
  line(name + " = " + operation);
  return name;
}

RandomTile RandomBody::define(const std::string &operation, int64_t rows, int64_t cols, DType type,
                              Accuracy accuracy) {
  std::string name = define(operation + " : " + tileType(rows, cols, type));
  RandomTile tile{name, rows, cols, type, isFloat(type) ? accuracy : Accuracy()};
  addTile(tile);
  return tile;
}

void RandomBody::addTile(RandomTile tile) {
  // What may be anything tests nothing, and what is huge takes long.
  bool says = tile.isExact() || tile.accuracy.error <= tile.accuracy.bound / 3;
  if (says && tile.rows * tile.cols <= kLargestTile)
    Tiles.push_back(std::move(tile));
}

RandomTile RandomBody::anyTile() {
  // New ones are chosen more often, so that chains become long.
  size_t age = std::min(Pick.below(Tiles.size()), Pick.below(Tiles.size()));
  return Tiles[Tiles.size() - 1 - age];
}

std::optional<RandomTile> RandomBody::find(const std::function<bool(const RandomTile &)> &fits) {
  std::vector<RandomTile> found;
  std::copy_if(Tiles.begin(), Tiles.end(), std::back_inserter(found), fits);
  if (found.empty())
    return std::nullopt;
  return Pick.from(found);
}

void RandomBody::region(const std::function<void()> &fill) {
  size_t tiles = Tiles.size(), scalars = Scalars.size();
  ++Depth;
  fill();
  --Depth;
  Tiles.erase(Tiles.begin() + tiles, Tiles.end());
  Scalars.erase(Scalars.begin() + scalars, Scalars.end());
}

RandomTile RandomBody::like(const RandomTile &tile) {
  std::optional<RandomTile> found = find([&](const RandomTile &other) {
    return other.rows == tile.rows && other.cols == tile.cols && other.type == tile.type &&
           other.isExact() == tile.isExact();
  });
  return found.value_or(tile);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

std::string RandomBody::constant(DType type, const std::string &value) {
  return define("arith.constant " + value +
                (type == DType::I1 ? "" : std::string(" : ") + toString(type)));
}

std::string RandomBody::bits(DType type) {
  switch (info(type).cls) {
  case DTypeClass::Bool:
    return Pick.from({"true", "false"});
  case DTypeClass::Float:
    return Pick.from({"-2.0", "-1.0", "-0.5", "-0.0", "0.0", "0.5", "1.0", "1.5", "3.0", "16.0"});
  case DTypeClass::Integer:
    break;
  }
  int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - 8 * sizeOf(type));
  return std::to_string(Pick.from<int64_t>({-5, -1, 0, 1, 2, 3, 7, 100, largest, -largest - 1}));
}

RandomScalar RandomBody::scalarOf(DType type) {
  std::vector<RandomScalar> found;
  for (const RandomScalar &scalar : Scalars)
    if (scalar.type == type)
      found.push_back(scalar);
  if (!found.empty() && !Pick.oneIn(4))
    return Pick.from(found);
  Scalars.push_back(
      {constant(type, type == DType::Index ? std::to_string(Pick.below(9)) : bits(type)), type});
  return Scalars.back();
}

std::string RandomBody::indexBelow(int64_t count) {
  if (count == 1 || Pick.oneIn(2))
    return std::to_string(Pick.below(count));
  std::string limit = constant(DType::Index, std::to_string(count));
  std::string index =
      define("arith.remui " + scalarOf(DType::Index).name + ", " + limit + " : index");
  Scalars.push_back({index, DType::Index});
  return index;
}

std::string RandomBody::condition() {
  if (Pick.oneIn(3))
    return scalarOf(DType::I1).name;
  DType type = Pick.from({DType::Index, DType::I32, DType::I8, DType::F32, DType::BF16});
  std::string a = scalarOf(type).name, b = scalarOf(type).name;
  std::string how =
      isFloat(type)
          ? std::string("cmpf ") + Pick.from({"oeq", "one", "olt", "ole", "ogt", "oge", "ueq",
                                              "une", "ult", "ule", "ugt", "uge", "ord", "uno"})
          : std::string("cmpi ") +
                Pick.from({"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"});
  std::string result = define("arith." + how + ", " + a + ", " + b + " : " + toString(type));
  Scalars.push_back({result, DType::I1});
  return result;
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

/// How far apart neighbouring floats of the type lie that are not larger than `bound`.
static double spacing(DType type, double bound) {
  switch (type) {
  case DType::F16:
    return std::max(bound * 0x1p-10, 0x1p-24);
  case DType::BF16:
    return bound * 0x1p-7;
  case DType::F8E4M3FN:
    return std::max(bound * 0x1p-3, 0x1p-9);
  case DType::F8E5M2:
    return std::max(bound * 0x1p-2, 0x1p-16);
  default:
    return bound * 0x1p-23;
  }
}

static double largest(DType type) {
  switch (type) {
  case DType::F16:
    return 65504;
  case DType::F8E4M3FN:
    return 448;
  case DType::F8E5M2:
    return 57344;
  default:
    return std::numeric_limits<float>::max();
  }
}

Accuracy rounded(DType type, Accuracy accuracy) {
  double bound = accuracy.bound + spacing(type, accuracy.bound);
  if (accuracy.error == 0)
    return {bound < largest(type) ? bound : kInfinity, 0};
  if (bound + accuracy.error >= largest(type))
    return {0, kInfinity};
  return {bound, accuracy.error + spacing(type, bound)};
}

RandomTile RandomBody::unary(const std::string &op, const RandomTile &x, Accuracy accuracy) {
  return define(op + " " + x.name, x.rows, x.cols, x.type, rounded(x.type, accuracy));
}

RandomTile RandomBody::binary(const std::string &op, const RandomTile &a, const RandomTile &b,
                              Accuracy accuracy) {
  return define(op + " " + a.name + ", " + b.name, std::max(a.rows, b.rows),
                std::max(a.cols, b.cols), a.type, rounded(a.type, accuracy));
}

RandomTile RandomBody::asTile(const RandomTile &tileOrScalar) {
  const RandomTile &x = tileOrScalar;
  return x.isScalar ? define("tile.full " + x.name, 1, 1, x.type, x.accuracy) : x;
}

RandomTile RandomBody::clamped(const RandomTile &tile, double low, double high) {
  double limit = std::max(std::fabs(low), std::fabs(high));
  auto number = [&](double value) {
    return RandomTile{constant(tile.type, std::to_string(value)), 1, 1, tile.type, {limit, 0}};
  };
  RandomTile above = binary("tile.max", asTile(tile), number(low),
                            {std::max(tile.accuracy.bound, limit), tile.accuracy.error});
  return binary("tile.min", above, number(high), {limit, tile.accuracy.error});
}

RandomTile RandomBody::tamed(const RandomTile &tile) {
  return !tile.hasFloats() || tile.accuracy.bound <= 64 ? tile : clamped(tile, -8, 8);
}

RandomTile RandomBody::divisor(const RandomTile &tileOrScalar) {
  RandomTile tile = asTile(tileOrScalar);
  auto number = [&](const char *value) {
    return RandomTile{constant(tile.type, value), 1, 1, tile.type, {1, 0}};
  };
  if (tile.hasFloats() && tile.isExact()) // -0.0 + 0.0 is 0.0; max and min leave a zero's sign open
    return binary("tile.add", tile, number("0.0"), tile.accuracy);
  if (tile.hasFloats()) {
    RandomTile size = unary("tile.abs", tamed(tile), tamed(tile).accuracy);
    return binary("tile.add", size, number("1.0"), {size.accuracy.bound + 1, size.accuracy.error});
  }
  bool isBool = tile.type == DType::I1;
  RandomTile zero = number(isBool ? "false" : "0"), one = number(isBool ? "true" : "1");
  RandomTile isZero =
      define("tile.cmp eq " + tile.name + ", " + zero.name, tile.rows, tile.cols, DType::I1, {});
  return define("tile.select " + isZero.name + ", " + one.name + ", " + tile.name, tile.rows,
                tile.cols, tile.type, {});
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

RandomTile RandomBody::partnerOf(const RandomTile &tile, bool exact) {
  auto broadcasts = [](int64_t a, int64_t b) { return a == b || a == 1 || b == 1; };
  std::optional<RandomTile> found = find([&](const RandomTile &other) {
    return other.type == tile.type && broadcasts(tile.rows, other.rows) &&
           broadcasts(tile.cols, other.cols) && (other.isExact() || !exact);
  });
  if (found && !Pick.oneIn(4))
    return *found;
  if (sizeOf(tile.type) > 1 && Pick.oneIn(2)) // there are no scalars of 8-bit floats
    return {scalarOf(tile.type).name, 1, 1, tile.type, {kInfinity, 0}, /*isScalar=*/true};
  return {constant(tile.type, bits(tile.type)), 1, 1, tile.type, {16, 0}, /*isScalar=*/true};
}

std::string RandomBody::pad(const RandomTile &tile, Accuracy &accuracy) {
  switch (Pick.below(tile.isExact() ? 5 : 3)) {
  case 0:
    return "";
  case 1:
    return " pad(zero)";
  case 2:
    accuracy.bound = std::max(accuracy.bound, 2.0);
    return " pad(1.5)";
  case 3:
    accuracy.bound = kInfinity;
    return " pad(min)";
  default:
    accuracy.bound = kInfinity;
    return " pad(max)";
  }
}

RandomTile RandomBody::load(const RandomTensor &tensor, const std::string &indices, int64_t rows,
                            int64_t cols) {
  Accuracy accuracy = tensor.accuracy;
  RandomTile whole{tensor.name, rows, cols, tensor.type, accuracy};
  std::string padding = pad(whole, accuracy), valid, place = indices, outside;
  if (Pick.oneIn(4))
    valid = " valid(" + indexBelow(rows + 1) + ", " + indexBelow(cols + 2) + ")";
  if (Pick.oneIn(8)) {
    outside = " outside";
    if (Pick.oneIn(2)) { // misses the tensor along its last axis
      size_t last = place.rfind(", ");
      place = (last == std::string::npos ? "" : place.substr(0, last + 2)) +
              (Pick.oneIn(2) ? "1000" : "-1000");
    }
  }
  return define("tile.load " + tensor.name + "[" + place + "]" + outside + padding + valid, rows,
                cols, tensor.type, accuracy);
}

RandomTile RandomBody::converted(const RandomTile &tile, DType type) {
  if (tile.type == type)
    return tile;
  Accuracy accuracy = tile.accuracy;
  if (!tile.hasFloats())
    accuracy = {std::ldexp(1.0, int(8 * sizeOf(tile.type))), 0};
  return define("tile.cast " + tile.name, tile.rows, tile.cols, type,
                isFloat(type) ? rounded(type, accuracy) : Accuracy());
}

RandomTile RandomBody::shaped(int64_t rows, int64_t cols) {
  RandomTile tile = anyTile();
  if (tile.cols == rows && tile.rows == cols && rows != cols)
    tile = define("tile.transpose " + tile.name, rows, cols, tile.type, tile.accuracy);
  if (tile.rows > rows || tile.cols > cols) {
    int64_t r = std::min(tile.rows, rows), c = std::min(tile.cols, cols);
    tile = define("tile.extract " + tile.name + "[" + indexBelow(tile.rows - r + 1) + ", " +
                      indexBelow(tile.cols - c + 1) + "]",
                  r, c, tile.type, tile.accuracy);
  }
  // An extent between 1 and what is wanted does not broadcast.
  int64_t r = tile.rows == rows ? rows : 1, c = tile.cols == cols ? cols : 1;
  if (r != tile.rows || c != tile.cols)
    tile = define("tile.extract " + tile.name + "[" + indexBelow(tile.rows - r + 1) + ", " +
                      indexBelow(tile.cols - c + 1) + "]",
                  r, c, tile.type, tile.accuracy);
  if (r == rows && c == cols)
    return tile;
  std::string all = constant(DType::I1, "true");
  std::string everywhere = define("tile.full " + all + " : " + tileType(rows, cols, DType::I1));
  return define("tile.select " + everywhere + ", " + tile.name + ", " + tile.name, rows, cols,
                tile.type, tile.accuracy);
}

} // namespace kiln::test
