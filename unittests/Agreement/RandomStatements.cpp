//===- RandomStatements.cpp - the table of statements -----------------------------------===//
//
// One row of the table is one kind of statement. A new op is a name in a list here, or a row.
//
//===----------------------------------------------------------------------------===//
#include "RandomBody.h"

#include <algorithm>
#include <cmath>

namespace kiln::test {

struct RandomBody::Rule {
  unsigned weight;
  bool (RandomBody::*add)();
};

const std::vector<RandomBody::Rule> &RandomBody::rules() {
  static const std::vector<Rule> table = {
      {2, &RandomBody::addFull},          {2, &RandomBody::addIota},
      {12, &RandomBody::addArithmetic},   {4, &RandomBody::addDivision},
      {4, &RandomBody::addBits},          {3, &RandomBody::addNegation},
      {8, &RandomBody::addFunction},      {1, &RandomBody::addPower},
      {4, &RandomBody::addComparison},    {4, &RandomBody::addSelection},
      {6, &RandomBody::addCast},          {6, &RandomBody::addReduction},
      {3, &RandomBody::addScan},          {2, &RandomBody::addCombining},
      {3, &RandomBody::addProduct},       {1, &RandomBody::addProductLoop},
      {4, &RandomBody::addMask},          {4, &RandomBody::addBox},
      {4, &RandomBody::addRearrangement}, {2, &RandomBody::addConcat},
      {4, &RandomBody::addElement},       {5, &RandomBody::addScalarArithmetic},
      {4, &RandomBody::addScalarCast},    {2, &RandomBody::addGather},
      {2, &RandomBody::addGatherRows},    {2, &RandomBody::addOrdering},
      {1, &RandomBody::addRandom},        {2, &RandomBody::addFor},
      {1, &RandomBody::addWhile},         {2, &RandomBody::addIf},
  };
  return table;
}

void RandomBody::grow(int64_t count) {
  unsigned total = 0;
  for (const Rule &rule : rules())
    total += rule.weight;
  while (count > 0) {
    int64_t at = Pick.below(total);
    auto rule = rules().begin();
    for (; at >= rule->weight; ++rule)
      at -= rule->weight;
    if ((this->*rule->add)())
      --count;
  }
}

//===----------------------------------------------------------------------===//
// Make
//===----------------------------------------------------------------------===//

static constexpr DType kElementTypes[] = {DType::F32,    DType::F16, DType::BF16, DType::F8E4M3FN,
                                          DType::F8E5M2, DType::I8,  DType::I16,  DType::I32,
                                          DType::I64,    DType::I1};

bool RandomBody::addFull() {
  DType type = Pick.from(kElementTypes);
  RandomTile shape = anyTile();
  define("tile.full " + constant(type, bits(type)), shape.rows, shape.cols, type, {16, 0});
  return true;
}

bool RandomBody::addIota() {
  DType type = Pick.from(kElementTypes);
  RandomTile shape = anyTile();
  int64_t axis = Pick.below(2);
  double last = double(axis == 0 ? shape.rows : shape.cols);
  define("tile.iota axis(" + std::to_string(axis) + ")", shape.rows, shape.cols, type,
         rounded(type, {last, 0}));
  return true;
}

bool RandomBody::addRandom() {
  RandomTile shape = anyTile();
  DType type = Pick.from({DType::F32, DType::I32});
  define("tile.random key(" + scalarOf(DType::I64).name + ") counter(" +
             scalarOf(DType::Index).name + ")",
         shape.rows, shape.cols, type, {1, 0});
  return true;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

bool RandomBody::addArithmetic() {
  RandomTile a = anyTile(), b = partnerOf(a, false);
  if (!a.isExact() || !b.isExact()) {
    a = tamed(a);
    b = tamed(b);
  }
  auto [boundA, errorA] = a.accuracy;
  auto [boundB, errorB] = b.accuracy;
  switch (Pick.below(3)) {
  case 0:
    binary(Pick.from({"tile.add", "tile.sub"}), a, b, {boundA + boundB, errorA + errorB});
    return true;
  case 1: {
    double error =
        a.isExact() && b.isExact() ? 0 : boundA * errorB + boundB * errorA + errorA * errorB;
    binary("tile.mul", a, b, {std::max(boundA, 1.0) * std::max(boundB, 1.0), error});
    return true;
  }
  default:
    binary(Pick.from({"tile.max", "tile.min"}), a, b,
           {std::max(boundA, boundB), std::max(errorA, errorB)});
    return true;
  }
}

bool RandomBody::addDivision() {
  RandomTile a = anyTile(), b = partnerOf(a, false);
  if (a.isExact() && b.isExact()) {
    bool hasRemainder = a.type != DType::I1 && Pick.oneIn(2);
    binary(hasRemainder ? "tile.fmod" : "tile.div", a, divisor(b), {kInfinity, 0});
    return true;
  }
  a = tamed(a);
  b = divisor(tamed(b)); // at least 1
  double error = a.accuracy.error + (a.accuracy.bound + a.accuracy.error) * b.accuracy.error;
  binary("tile.div", a, b, {a.accuracy.bound, error});
  return true;
}

bool RandomBody::addBits() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) { return !tile.hasFloats(); });
  if (!found)
    return false;
  const RandomTile &x = *found;
  if (Pick.oneIn(4)) {
    unary("tile.not", x, {});
    return true;
  }
  const char *op = Pick.from({"tile.and", "tile.or", "tile.xor", "tile.shl", "tile.shr"});
  if (x.type == DType::I1 && op[5] == 's')
    return false;
  binary(op, x, partnerOf(x, true), {});
  return true;
}

bool RandomBody::addNegation() {
  RandomTile x = anyTile();
  unary(Pick.from({"tile.neg", "tile.abs"}), x, x.accuracy);
  return true;
}

namespace {
/// A function of floats. From `low` to `high` no value is larger than `bound` and no slope steeper
/// than `slope`. One that jumps has no such range, and takes only what is exact.
struct Function {
  const char *op;
  double low = 0, high = 0, bound = 0, slope = 0;
  bool jumps = false;
};
} // namespace

static constexpr Function kFunctions[] = {
#include "kiln/Dialect/Tile/Elementwise/Random.inc"
};

/// In f32, what library functions differ by: a few units in the last place of the largest value.
static double libraryError(double bound) { return 8 * 0x1p-23 * bound; }

bool RandomBody::addFunction() {
  const Function &function = Pick.from(kFunctions);
  std::optional<RandomTile> found = find([&](const RandomTile &tile) {
    return tile.hasFloats() && (!function.jumps || tile.isExact());
  });
  if (!found)
    return false;
  if (function.jumps) {
    unary(function.op, *found, {kInfinity, 0});
    return true;
  }
  RandomTile x = clamped(*found, function.low, function.high);
  unary(function.op, x,
        {function.bound, function.slope * x.accuracy.error + libraryError(function.bound)});
  return true;
}

bool RandomBody::addPower() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) { return tile.hasFloats(); });
  if (!found)
    return false;
  RandomTile base = clamped(*found, 0.5, 4), exponent = clamped(partnerOf(*found, false), -3, 3);
  // The partial derivatives are b a^(b-1) and a^b log a.
  double error = 48 * base.accuracy.error + 89 * exponent.accuracy.error + libraryError(64);
  binary("tile.pow", base, exponent, {64, error});
  return true;
}

bool RandomBody::addComparison() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) { return tile.isExact(); });
  if (!found)
    return false;
  const RandomTile &a = *found;
  RandomTile b = partnerOf(a, true);
  define(std::string("tile.cmp ") + Pick.from({"eq", "ne", "lt", "le", "gt", "ge"}) + " " + a.name +
             ", " + b.name,
         std::max(a.rows, b.rows), std::max(a.cols, b.cols), DType::I1, {});
  return true;
}

bool RandomBody::addSelection() {
  RandomTile a = anyTile(), b = partnerOf(a, false);
  int64_t rows = std::max(a.rows, b.rows), cols = std::max(a.cols, b.cols);
  std::optional<RandomTile> mask = find([&](const RandomTile &tile) {
    return tile.type == DType::I1 && (tile.rows == rows || tile.rows == 1 || rows == 1) &&
           (tile.cols == cols || tile.cols == 1 || cols == 1);
  });
  if (!mask)
    return false;
  Accuracy accuracy{std::max(a.accuracy.bound, b.accuracy.bound),
                    std::max(a.accuracy.error, b.accuracy.error)};
  define("tile.select " + mask->name + ", " + a.name + ", " + b.name, std::max(rows, mask->rows),
         std::max(cols, mask->cols), a.type, accuracy);
  return true;
}

bool RandomBody::addCast() {
  RandomTile x = anyTile();
  DType type = Pick.from(kElementTypes);
  if (!x.isExact() && !isFloat(type))
    return false;
  converted(x, type);
  return true;
}

//===----------------------------------------------------------------------===//
// Reduce, multiply, mask
//===----------------------------------------------------------------------===//

bool RandomBody::addReduction() {
  RandomTile x = anyTile();
  int64_t axis = Pick.below(2), count = axis == 0 ? x.rows : x.cols;
  std::string kind = Pick.from({"sum", "sum", "max", "min", "prod", "argmax", "argmin"});
  Accuracy accuracy = x.accuracy;
  if (x.hasFloats() && kind == "sum") {
    x = tamed(x);
    double total = count * x.accuracy.bound;
    accuracy = rounded(x.type, {total, count * (x.accuracy.error + total * 0x1p-23)});
  } else if (x.hasFloats() && kind == "prod") {
    if (count > 8)
      return false;
    x = clamped(x, 0.5, 1.5);
    double product = std::pow(1.5, count);
    accuracy = rounded(x.type, {product, count * product * (x.accuracy.error + 0x1p-23)});
  } else if (kind.starts_with("arg") && !x.isExact()) {
    return false;
  }
  define("tile.reduce " + kind + " " + x.name + " axis(" + std::to_string(axis) + ")",
         axis == 0 ? 1 : x.rows, axis == 0 ? x.cols : 1,
         kind.starts_with("arg") ? DType::I32 : x.type, accuracy);
  return true;
}

bool RandomBody::addScan() {
  RandomTile x = anyTile();
  int64_t axis = Pick.below(2), count = axis == 0 ? x.rows : x.cols;
  std::string kind = Pick.from({"sum", "sum", "max", "min", "prod"});
  bool isExclusive = Pick.oneIn(3);
  Accuracy accuracy = x.accuracy;
  if (x.hasFloats() && kind == "sum") {
    x = tamed(x);
    double total = count * x.accuracy.bound;
    accuracy = rounded(x.type, {total, count * (x.accuracy.error + total * 0x1p-23)});
  } else if (x.hasFloats() && kind == "prod") {
    if (count > 8)
      return false;
    x = clamped(x, 0.5, 1.5);
    double product = std::pow(1.5, count);
    accuracy = rounded(x.type, {product, count * product * (x.accuracy.error + 0x1p-23)});
  } else if (x.hasFloats() && isExclusive) {
    if (!x.isExact()) // the first becomes infinite, which has no bound
      return false;
    accuracy = {};
  }
  define("tile.scan " + kind + " " + x.name + " axis(" + std::to_string(axis) + ")" +
             (isExclusive ? " exclusive" : "") + (Pick.oneIn(3) ? " reverse" : ""),
         x.rows, x.cols, x.type, accuracy);
  return true;
}

/// The best element of a line and where it is; a body that nobody may reorder shows it. With NaN,
/// which is neither less nor greater, it would not be associative, as bodies must be.
bool RandomBody::addCombining() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) {
    return tile.isExact() && !(tile.hasFloats() && tile.accuracy.bound == kInfinity);
  });
  if (!found)
    return false;
  const RandomTile &x = *found;
  int64_t axis = Pick.below(2);
  bool isScan = Pick.oneIn(2);
  int64_t rows = axis == 0 ? 1 : x.rows, cols = axis == 0 ? x.cols : 1;
  std::string values = tileType(rows, cols, x.type), places = tileType(rows, cols, DType::I32),
              holds = tileType(rows, cols, DType::I1), how = Pick.from({"lt", "ge"});
  std::string where =
      define("tile.iota axis(" + std::to_string(axis) + ")", x.rows, x.cols, DType::I32, {}).name;
  std::string start = scalarOf(x.type).name, none = constant(DType::I32, "-1");
  std::string best = newName(), at = newName();
  line(best + ", " + at + " = tile." + (isScan ? "scan_with " : "reduce_with ") + x.name + ", " +
       where + " axis(" + std::to_string(axis) + ") start(" + start + ", " + none + ")" +
       (isScan && Pick.oneIn(3) ? " exclusive" : "") + (isScan && Pick.oneIn(3) ? " reverse" : "") +
       " {");
  std::string a = newName(), i = newName(), b = newName(), j = newName();
  std::string better = newName(), value = newName(), place = newName();
  line("^combine(" + a + ": " + values + ", " + i + ": " + places + ", " + b + ": " + values +
       ", " + j + ": " + places + "):");
  line("  " + better + " = tile.cmp " + how + " " + a + ", " + b + " : " + holds);
  line("  " + value + " = tile.select " + better + ", " + b + ", " + a + " : " + values);
  line("  " + place + " = tile.select " + better + ", " + j + ", " + i + " : " + places);
  line("  tile.yield " + value + ", " + place);
  if (isScan)
    rows = x.rows, cols = x.cols;
  line("} : " + tileType(rows, cols, x.type) + ", " + tileType(rows, cols, DType::I32));
  addTile({best, rows, cols, x.type, {}});
  addTile({at, rows, cols, DType::I32, {}});
  return true;
}

/// Of a sum of `count` products.
static Accuracy productAccuracy(int64_t count, const RandomTile &a, const RandomTile &b) {
  auto [boundA, errorA] = a.accuracy;
  auto [boundB, errorB] = b.accuracy;
  double total = count * boundA * boundB;
  return {total, count * (boundA * errorB + boundB * errorA + errorA * errorB + total * 0x1p-23)};
}

static bool canBeMultiplied(const RandomTile &tile) {
  return tile.hasFloats() || tile.type == DType::I8;
}

static DType accumulator(DType type) { return isFloat(type) ? DType::F32 : DType::I32; }

bool RandomBody::addProduct() {
  std::optional<RandomTile> found = find(canBeMultiplied);
  if (!found)
    return false;
  RandomTile a = tamed(*found);
  bool transA = Pick.oneIn(3), transB = Pick.oneIn(2);
  int64_t rows = transA ? a.cols : a.rows, inner = transA ? a.rows : a.cols;
  std::optional<RandomTile> partner = find([&](const RandomTile &tile) {
    return tile.type == a.type && (transB ? tile.cols : tile.rows) == inner;
  });
  if (!partner)
    return false;
  RandomTile b = tamed(*partner);
  int64_t cols = transB ? b.rows : b.cols;
  DType type = accumulator(a.type);
  Accuracy accuracy = productAccuracy(inner, a, b);
  std::string operands =
      a.name + ", " + b.name + (transA ? " trans_a" : "") + (transB ? " trans_b" : "");
  std::optional<RandomTile> acc = find([&](const RandomTile &tile) {
    return tile.type == type && tile.rows == rows && tile.cols == cols;
  });
  if (!acc) {
    define("tile.matmul " + operands, rows, cols, type, rounded(type, accuracy));
    return true;
  }
  RandomTile start = tamed(*acc);
  accuracy = {accuracy.bound + start.accuracy.bound, accuracy.error + start.accuracy.error};
  std::string product = "tile.matmul_acc " + start.name + ", " + operands;
  if (Pick.oneIn(3))
    product = "tile.await " + define("tile.matmul_start " + operands + " onto " + start.name +
                                     " : " + tileType(rows, cols, type));
  define(product, rows, cols, type, rounded(type, accuracy));
  return true;
}

/// x x^T, a few columns of x at a time.
bool RandomBody::addProductLoop() {
  std::optional<RandomTile> found =
      find([](const RandomTile &tile) { return canBeMultiplied(tile) && tile.cols % 2 == 0; });
  if (!found)
    return false;
  RandomTile x = tamed(*found);
  DType type = accumulator(x.type);
  std::string accType = tileType(x.rows, x.rows, type);
  std::string zero =
      define("tile.full " + constant(type, isFloat(type) ? "0.0" : "0") + " : " + accType);
  std::string from = constant(DType::Index, "0"), step = constant(DType::Index, "2");
  std::string to = constant(DType::Index, std::to_string(x.cols));
  std::string result = newName(), acc = newName(), index = newName();
  line(result + " = scf.for " + index + " = " + from + " to " + to + " step " + step +
       " iter_args(" + acc + " = " + zero + ") -> (" + accType + ") {");
  region([&] {
    RandomTile part =
        define("tile.extract " + x.name + "[0, " + index + "]", x.rows, 2, x.type, x.accuracy);
    std::string next = define("tile.matmul_acc " + acc + ", " + part.name + ", " + part.name +
                              " trans_b : " + accType);
    line("scf.yield " + next + " : " + accType);
  });
  line(Pick.oneIn(2) ? "} {kiln.loop = #kiln.loop<pipeline, stages = 2>}" : "}");
  addTile({result, x.rows, x.rows, type,
           isFloat(type) ? rounded(type, productAccuracy(x.cols, x, x)) : Accuracy()});
  return true;
}

bool RandomBody::addMask() {
  RandomTile x = anyTile();
  Accuracy accuracy = x.accuracy;
  std::string padding = pad(x, accuracy), how;
  if (Pick.oneIn(2))
    how = " valid(" + indexBelow(x.rows + 1) + ", " + indexBelow(x.cols + 2) + ")";
  else
    how = " offset(" + constant(DType::Index, std::to_string(Pick.below(7) - 3)) + ")";
  define((how[1] == 'v' ? "tile.mask " : "tile.mask_diag ") + x.name + how + padding, x.rows,
         x.cols, x.type, accuracy);
  return true;
}

//===----------------------------------------------------------------------===//
// Move
//===----------------------------------------------------------------------===//

bool RandomBody::addBox() {
  RandomTile x = anyTile();
  if (Pick.oneIn(2)) {
    int64_t rows = 1 + Pick.below(x.rows), cols = 1 + Pick.below(x.cols);
    define("tile.extract " + x.name + "[" + indexBelow(x.rows - rows + 1) + ", " +
               indexBelow(x.cols - cols + 1) + "]",
           rows, cols, x.type, x.accuracy);
    return true;
  }
  std::optional<RandomTile> found = find([&](const RandomTile &tile) {
    return tile.type == x.type && tile.rows <= x.rows && tile.cols <= x.cols;
  });
  const RandomTile &part = *found; // x itself fits
  Accuracy accuracy{std::max(x.accuracy.bound, part.accuracy.bound),
                    std::max(x.accuracy.error, part.accuracy.error)};
  define("tile.insert " + part.name + ", " + x.name + "[" + indexBelow(x.rows - part.rows + 1) +
             ", " + indexBelow(x.cols - part.cols + 1) + "]",
         x.rows, x.cols, x.type, accuracy);
  return true;
}

bool RandomBody::addRearrangement() {
  RandomTile x = anyTile();
  switch (Pick.below(3)) {
  case 0:
    define("tile.transpose " + x.name, x.cols, x.rows, x.type, x.accuracy);
    return true;
  case 1: {
    int64_t count = x.rows * x.cols, rows = 1 + Pick.below(count);
    if (count % rows != 0)
      return false;
    define("tile.reshape " + x.name, rows, count / rows, x.type, x.accuracy);
    return true;
  }
  default: {
    std::string type = tileType(x.rows, x.cols, x.type);
    std::string away = define("tile.move " + x.name + " : " + type.substr(0, type.size() - 1) +
                              ", " + Pick.from({"vec", "mat", "left", "right", "acc"}) + ">");
    define("tile.move " + away, x.rows, x.cols, x.type, x.accuracy);
    return true;
  }
  }
}

bool RandomBody::addConcat() {
  RandomTile a = anyTile();
  int64_t axis = Pick.below(2);
  std::optional<RandomTile> found = find([&](const RandomTile &tile) {
    return tile.type == a.type && (axis == 0 ? tile.cols == a.cols : tile.rows == a.rows);
  });
  const RandomTile &b = *found; // a itself fits
  Accuracy accuracy{std::max(a.accuracy.bound, b.accuracy.bound),
                    std::max(a.accuracy.error, b.accuracy.error)};
  define("tile.concat " + a.name + ", " + b.name + " axis(" + std::to_string(axis) + ")",
         axis == 0 ? a.rows + b.rows : a.rows, axis == 0 ? a.cols : a.cols + b.cols, a.type,
         accuracy);
  return true;
}

//===----------------------------------------------------------------------===//
// Gather and sort
//===----------------------------------------------------------------------===//

RandomTile RandomBody::indicesBelow(int64_t count, int64_t rows, int64_t cols) {
  auto number = [&](int64_t value) {
    return RandomTile{constant(DType::I32, std::to_string(value)), 1, 1, DType::I32, {}};
  };
  std::optional<RandomTile> found = find([&](const RandomTile &tile) {
    return tile.type == DType::I32 && tile.rows == rows && tile.cols == cols;
  });
  RandomTile any = found ? *found
                         : define("tile.iota axis(" + std::to_string(Pick.below(2)) + ")", rows,
                                  cols, DType::I32, {});
  RandomTile above = binary("tile.max", any, number(0), {});
  return binary("tile.min", above, number(count - 1), {});
}

bool RandomBody::addGather() {
  RandomTile x = anyTile();
  int64_t axis = Pick.below(2), extent = 1 + Pick.below(8);
  int64_t rows = axis == 0 ? extent : x.rows, cols = axis == 0 ? x.cols : extent;
  RandomTile index = indicesBelow(axis == 0 ? x.rows : x.cols, rows, cols);
  define("tile.gather " + x.name + ", " + index.name + " axis(" + std::to_string(axis) + ")", rows,
         cols, x.type, x.accuracy);
  return true;
}

bool RandomBody::addGatherRows() {
  if (Gathered.empty())
    return false;
  auto [tensor, numbers] = Pick.from(Gathered);
  int64_t rows = 1 + Pick.below(numbers.extents[0]), cols = 1 + Pick.below(tensor.extents[1] + 2);
  Accuracy accuracy = tensor.accuracy;
  RandomTile whole{tensor.name, rows, cols, tensor.type, accuracy};
  std::string padding = pad(whole, accuracy);
  define("tile.gather_rows " + tensor.name + "[" + std::to_string(Pick.below(3) - 1) + ", " +
             indexBelow(tensor.extents[1]) + "] rows(" + numbers.name + "[" +
             indexBelow(numbers.extents[0]) + "])" + padding,
         rows, cols, tensor.type, accuracy);
  return true;
}

bool RandomBody::addOrdering() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) { return tile.isExact(); });
  if (!found)
    return false;
  RandomTile x = *found;
  bool sorts = Pick.oneIn(2);
  int64_t cols = sorts ? x.cols : 1 + Pick.below(x.cols);
  std::string values = newName(), columns = newName();
  line(values + ", " + columns + " = " + (sorts ? "tile.sort_rows " : "tile.topk_rows ") + x.name +
       (sorts && Pick.oneIn(2) ? " descending" : "") + " : " + tileType(x.rows, cols, x.type) +
       ", " + tileType(x.rows, cols, DType::I32));
  addTile({values, x.rows, cols, x.type, x.accuracy});
  addTile({columns, x.rows, cols, DType::I32, {}});
  return true;
}

} // namespace kiln::test
