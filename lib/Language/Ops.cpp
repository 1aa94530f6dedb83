//===- Ops.cpp - recording what cores compute ------------------------------------===//
#include "Record/Items.h"

using namespace mlir;

namespace kiln::record {

//===----------------------------------------------------------------------===//
// Make
//===----------------------------------------------------------------------===//

Tile full(DType type, Shape shape, double value) {
  Tracer *tracer = Tracer::inKernel("full");
  if (!tracer || !tracer->checkShape(shape))
    return Tracer::poison(type, shape.rows, shape.cols);
  Value scalar = tracer->numberConstant(value, tracer->typeOf(type));
  if (!scalar)
    return Tracer::poison(type, shape.rows, shape.cols);
  return tracer->handle(tile::FullOp::create(
      tracer->builder, tracer->loc(), tracer->tileType(type, shape.rows, shape.cols), scalar));
}

static Tile iota(DType type, Shape shape, int64_t axis) {
  Tile failed = Tracer::poison(type, shape.rows, shape.cols);
  Tracer *tracer = Tracer::inKernel("iota");
  if (!tracer || !tracer->checkShape(shape) || !tracer->checkAxis("iota", axis))
    return failed;
  return tracer->handle(tile::IotaOp::create(tracer->builder, tracer->loc(),
                                             tracer->tileType(type, shape.rows, shape.cols), axis));
}

static Tile random(DType type, Shape shape, const Number &key, Index counter) {
  if (key.isNumber || key.type != DType::I64)
    throw BadArgument("takes a key that is a scalar of i64");
  Tile failed = Tracer::poison(type, shape.rows, shape.cols);
  Tracer *tracer = Tracer::inKernel("random");
  Value seed = tracer ? tracer->use(key.value, "scalar") : Value();
  Value number = seed ? tracer->use(counter) : Value();
  if (!number || !tracer->checkShape(shape))
    return failed;
  return tracer->handle(tile::RandomOp::create(tracer->builder, tracer->loc(),
                                               tracer->tileType(type, shape.rows, shape.cols), seed,
                                               number));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The shape and type of a product, or a reported mistake.
static std::optional<tile::TileType> productType(Tracer *tracer, const TileArg &a, const TileArg &b,
                                                 bool transA, bool transB) {
  int64_t m = transA ? a.cols() : a.rows(), ka = transA ? a.rows() : a.cols();
  int64_t kb = transB ? b.cols() : b.rows(), n = transB ? b.rows() : b.cols();
  Type acc = tile::accumulatorType(tracer->typeOf(a.dtype()));
  if (a.dtype() != b.dtype() || !acc) {
    tracer->error(std::string("matmul of ") + toString(a.dtype()) + " and " + toString(b.dtype()) +
                  "; both are floats of one type, or i8");
    return std::nullopt;
  }
  if (ka != kb) {
    tracer->error("matmul of " + shapeText(a.rows(), a.cols()) + (transA ? " (transposed)" : "") +
                  " and " + shapeText(b.rows(), b.cols()) + (transB ? " (transposed)" : "") +
                  ": the inner extents " + std::to_string(ka) + " and " + std::to_string(kb) +
                  " differ");
    return std::nullopt;
  }
  return tile::TileType::get(m, n, acc);
}

static Tile matmul(const TileArg &a, const TileArg &b, bool transA, bool transB) {
  Tile failed =
      Tracer::poison(DType::F32, transA ? a.cols() : a.rows(), transB ? b.rows() : b.cols());
  Tracer *tracer = Tracer::inKernel("matmul");
  if (!tracer)
    return failed;
  std::optional<tile::TileType> type = productType(tracer, a, b, transA, transB);
  Value lhs = tracer->use(a.value(), "tile"), rhs = tracer->use(b.value(), "tile");
  if (!type || !lhs || !rhs)
    return failed;
  Tile product = tracer->handle(
      tile::MatmulOp::create(tracer->builder, tracer->loc(), *type, lhs, rhs, transA, transB));
  return tracer->fromOperands(product, {a, b});
}

static Tile matmul_acc(const TileArg &acc, const TileArg &a, const TileArg &b, bool transA,
                       bool transB) {
  Tile failed = Tracer::poison(acc.dtype(), acc.rows(), acc.cols());
  Tracer *tracer = Tracer::inKernel("matmul_acc");
  if (!tracer)
    return failed;
  std::optional<tile::TileType> type = productType(tracer, a, b, transA, transB);
  Value sum = tracer->use(acc.value(), "tile");
  Value lhs = tracer->use(a.value(), "tile"), rhs = tracer->use(b.value(), "tile");
  if (!type || !sum || !lhs || !rhs)
    return failed;
  if (sum.getType() != *type) {
    tracer->error(std::string("the accumulator is ") + shapeText(acc.rows(), acc.cols()) + " of " +
                  toString(acc.dtype()) + ", the product " +
                  shapeText(type->getRows(), type->getCols()) + " of " +
                  (isa<FloatType>(type->getElementType()) ? "f32" : "i32"));
    return failed;
  }
  Tile product = tracer->handle(tile::MatmulAccOp::create(tracer->builder, tracer->loc(), *type,
                                                          sum, lhs, rhs, transA, transB));
  return tracer->fromOperands(product, {acc, a, b});
}

//===----------------------------------------------------------------------===//
// Elementwise and reductions
//===----------------------------------------------------------------------===//

/// Two operands of an elementwise op, made to fit each other. Not ok: a mistake has been reported.
struct JoinedOperands {
  Tracer *tracer = nullptr;
  DType type;
  Shape shape;
  Value lhs, rhs;
  bool ok() const { return lhs && rhs; }
  Tile poison() const { return Tracer::poison(type, shape.rows, shape.cols); }
};

static JoinedOperands join(const char *what, const TileOperand &a, const TileOperand &b) {
  auto shape = tile::broadcastShape({a.rows, a.cols}, {b.rows, b.cols});
  JoinedOperands joined;
  joined.type = a.isNumber ? b.type : a.type;
  joined.shape = shape ? Shape{shape->first, shape->second} : Shape{a.rows, a.cols};
  Tracer *tracer = Tracer::inKernel(what);
  if (!tracer)
    return joined;
  joined.tracer = tracer;
  if (!shape) {
    tracer->error("tiles of " + shapeText(a.rows, a.cols) + " and " + shapeText(b.rows, b.cols) +
                  " do not broadcast in '" + what + "'; an extent must be equal or 1");
    return joined;
  }
  if (!a.isNumber && !b.isNumber && a.type != b.type) {
    tracer->error(std::string("'") + what + "' mixes " + toString(a.type) + " with " +
                  toString(b.type) + "; cast one of them");
    return joined;
  }
  auto operand = [&](const TileOperand &x) {
    return x.isNumber ? tracer->numberConstant(x.number, tracer->typeOf(joined.type))
                      : tracer->use(x.value, "tile");
  };
  joined.lhs = operand(a);
  joined.rhs = operand(b);
  return joined;
}

/// The same, where one of the two must be a tile.
static JoinedOperands joinTiles(const char *what, const TileOperand &a, const TileOperand &b) {
  if (a.isTile || b.isTile)
    return join(what, a, b);
  if (Tracer *tracer = Tracer::inKernel(what))
    tracer->error(std::string("'") + what + "' of two scalars; one of the operands must be a tile");
  return {nullptr, a.isNumber ? b.type : a.type, {1, 1}, {}, {}};
}

/// An operand as the tile it is, or nothing that was popped.
static TileArg argOf(const TileOperand &x) {
  return {Tile(x.value, x.rows, x.cols, x.type), x.isTemporary};
}

template <typename Op>
static Tile binary(const char *what, const TileOperand &a, const TileOperand &b) {
  JoinedOperands x = joinTiles(what, a, b);
  if (!x.ok())
    return x.poison();
  Tile result = x.tracer->handle(Op::create(x.tracer->builder, x.tracer->loc(),
                                            x.tracer->tileType(x.type, x.shape.rows, x.shape.cols),
                                            x.lhs, x.rhs));
  // Of all operators the shifts alone evaluate their left operand first.
  StringRef sign = what;
  if (sign == "<<" || sign == ">>")
    return result;
  return x.tracer->fromOperands(result, {argOf(a), argOf(b)});
}

static Tile compare(tile::CmpKind kind, const char *what, const TileOperand &a,
                    const TileOperand &b) {
  JoinedOperands x = joinTiles(what, a, b);
  if (!x.ok())
    return Tracer::poison(DType::I1, x.shape.rows, x.shape.cols);
  Tile result = x.tracer->handle(tile::CmpOp::create(
      x.tracer->builder, x.tracer->loc(), x.tracer->tileType(DType::I1, x.shape.rows, x.shape.cols),
      kind, x.lhs, x.rhs));
  return x.tracer->fromOperands(result, {argOf(a), argOf(b)});
}

static Tile select(const TileArg &condition, const TileOperand &a, const TileOperand &b) {
  JoinedOperands x = join("where", a, b);
  auto shape =
      tile::broadcastShape({x.shape.rows, x.shape.cols}, {condition.rows(), condition.cols()});
  if (!x.ok())
    return x.poison();
  if (a.isNumber && b.isNumber) {
    x.tracer->error("'where' of two numbers has no type; make one of them a tile");
    return x.poison();
  }
  if (!shape) {
    x.tracer->error("the condition of 'where' is " + shapeText(condition.rows(), condition.cols()) +
                    ", the choices " + shapeText(x.shape.rows, x.shape.cols));
    return x.poison();
  }
  Value chosen = x.tracer->use(condition.value(), "tile");
  if (!chosen)
    return x.poison();
  Tile result = x.tracer->handle(tile::SelectOp::create(
      x.tracer->builder, x.tracer->loc(), x.tracer->tileType(x.type, shape->first, shape->second),
      chosen, x.lhs, x.rhs));
  return x.tracer->fromOperands(result, {condition, argOf(a), argOf(b)});
}

/// An op with one tile operand and a result of the given type.
template <typename Op, typename... Extra>
static Tile unary(const char *what, const TileArg &x, DType type, int64_t rows, int64_t cols,
                  Extra... extra) {
  Tracer *tracer = Tracer::inKernel(what);
  Value operand = tracer ? tracer->use(x.value(), "tile") : Value();
  if (!operand)
    return Tracer::poison(type, rows, cols);
  Tile result = tracer->handle(Op::create(tracer->builder, tracer->loc(),
                                          tracer->tileType(type, rows, cols), operand, extra...));
  return tracer->fromOperands(result, {x});
}

template <typename Op> static Tile math(const char *what, const TileArg &x) {
  return unary<Op>(what, x, x.dtype(), x.rows(), x.cols());
}

template <typename Op> static Tile math(const char *what, const TileOperand &x) {
  return math<Op>(what, argOf(x));
}

template <tile::ReduceKind kind> static Tile reduce(const TileArg &x, int64_t axis) {
  bool isPlace = kind == tile::ReduceKind::ArgMax || kind == tile::ReduceKind::ArgMin;
  DType type = isPlace ? DType::I32 : x.dtype();
  int64_t rows = axis == 0 ? 1 : x.rows(), cols = axis == 0 ? x.cols() : 1;
  Tracer *tracer = Tracer::inKernel("reduce");
  Value operand = tracer ? tracer->use(x.value(), "tile") : Value();
  if (!operand || !tracer->checkAxis("reduce", axis))
    return Tracer::poison(type, rows, cols);
  Tile result = tracer->handle(tile::ReduceOp::create(
      tracer->builder, tracer->loc(), tracer->tileType(type, rows, cols), kind, operand, axis));
  return tracer->fromOperands(result, {x});
}

static tile::ReduceKind kindOf(Combine how) {
  switch (how) {
  case Combine::Sum:
    return tile::ReduceKind::Sum;
  case Combine::Product:
    return tile::ReduceKind::Prod;
  case Combine::Max:
    return tile::ReduceKind::Max;
  case Combine::Min:
    return tile::ReduceKind::Min;
  }
  llvm_unreachable("every way to combine is above");
}

static Tile scan(const TileArg &x, int64_t axis, Combine how, bool exclusive, bool reverse) {
  Tracer *tracer = Tracer::inKernel("scan");
  Value operand = tracer ? tracer->use(x.value(), "tile") : Value();
  if (!operand || !tracer->checkAxis("scan", axis))
    return Tracer::poison(x.dtype(), x.rows(), x.cols());
  Tile result =
      tracer->handle(tile::ScanOp::create(tracer->builder, tracer->loc(), operand.getType(),
                                          kindOf(how), operand, axis, exclusive, reverse));
  return tracer->fromOperands(result, {x});
}

//===----------------------------------------------------------------------===//
// Masks, gathers and sorts
//===----------------------------------------------------------------------===//

static Tile mask(const TileArg &x, Index rows, Index cols, Pad pad) {
  Tracer *tracer = Tracer::inKernel("mask");
  Value operand = tracer ? tracer->use(x.value(), "tile") : Value();
  SmallVector<int64_t> constants;
  SmallVector<Value> values;
  if (!operand || !tracer->mixed({rows, cols}, constants, values))
    return Tracer::poison(x.dtype(), x.rows(), x.cols());
  Tile result = tracer->handle(
      tile::MaskOp::create(tracer->builder, tracer->loc(), operand.getType(), operand, values,
                           tracer->builder.getDenseI64ArrayAttr(constants), tracer->padAttr(pad)));
  return tracer->fromOperands(result, {x});
}

static Tile mask_diag(const TileArg &x, Index offset, Pad pad) {
  Tracer *tracer = Tracer::inKernel("mask_diag");
  Value operand = tracer ? tracer->use(x.value(), "tile") : Value();
  Value by = operand ? tracer->use(offset) : Value();
  if (!by)
    return Tracer::poison(x.dtype(), x.rows(), x.cols());
  Tile result = tracer->handle(tile::MaskDiagOp::create(
      tracer->builder, tracer->loc(), operand.getType(), operand, by, tracer->padAttr(pad)));
  return tracer->fromOperands(result, {x});
}

static Tile gather(const TileArg &x, const TileArg &index, int64_t axis) {
  Tracer *tracer = Tracer::inKernel("gather");
  Value from = tracer ? tracer->use(x.value(), "tile") : Value();
  Value by = from ? tracer->use(index.value(), "tile") : Value();
  if (!by || !tracer->checkAxis("gather", axis))
    return Tracer::poison(x.dtype(), index.rows(), index.cols());
  Tile result = tracer->handle(tile::GatherOp::create(
      tracer->builder, tracer->loc(), tracer->tileType(x.dtype(), index.rows(), index.cols()), from,
      by, axis));
  return tracer->fromOperands(result, {x, index});
}

/// The two results of a sort that keeps so many columns.
template <typename Op, typename... Extra>
static std::pair<Tile, Tile> ordering(const char *what, const Tile &x, int64_t cols,
                                      Extra... extra) {
  std::pair<Tile, Tile> failed{Tracer::poison(x.dtype(), x.rows(), cols),
                               Tracer::poison(DType::I32, x.rows(), cols)};
  Tracer *tracer = Tracer::inKernel(what);
  Value from = tracer ? tracer->use(x.value(), "tile") : Value();
  if (!from || !tracer->checkShape({x.rows(), cols}))
    return failed;
  auto op = Op::create(tracer->builder, tracer->loc(), tracer->tileType(x.dtype(), x.rows(), cols),
                       tracer->tileType(DType::I32, x.rows(), cols), from, extra...);
  return {tracer->handle(op.getValues()), tracer->handle(op.getIndices())};
}

static std::pair<Tile, Tile> sort_rows(const Tile &x, Order order) {
  return ordering<tile::SortRowsOp>("sort_rows", x, x.cols(), order == Order::Descending);
}
static std::pair<Tile, Tile> topk_rows(const Tile &x, int64_t k) {
  return ordering<tile::TopkRowsOp>("topk_rows", x, k);
}

//===----------------------------------------------------------------------===//
// Shapes and types
//===----------------------------------------------------------------------===//

/// A tile that is part of the expression that `x` was made in.
static Tile madeOf(const Tile &result, const TileArg &x) {
  Tracer *tracer = Tracer::inKernel("a function of tiles");
  return tracer ? tracer->fromOperands(result, {x}) : result;
}

static Tile transpose(const TileArg &x) {
  return unary<tile::TransposeOp>("transpose", x, x.dtype(), x.cols(), x.rows());
}
static Tile reshape(const TileArg &x, Shape shape) {
  return unary<tile::ReshapeOp>("reshape", x, x.dtype(), shape.rows, shape.cols);
}

static Tile extract(const TileArg &x, Index row, Index col, Shape shape) {
  Tracer *tracer = Tracer::inKernel("extract");
  Value from = tracer ? tracer->use(x.value(), "tile") : Value();
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  if (!from || !tracer->checkShape(shape) || !tracer->mixed({row, col}, at, atValues))
    return Tracer::poison(x.dtype(), shape.rows, shape.cols);
  Tile result = tracer->handle(tile::ExtractOp::create(
      tracer->builder, tracer->loc(), tracer->tileType(x.dtype(), shape.rows, shape.cols), from,
      atValues, tracer->builder.getDenseI64ArrayAttr(at)));
  return tracer->fromOperands(result, {x});
}

static Tile insert(const TileArg &x, const TileArg &into, Index row, Index col) {
  Tracer *tracer = Tracer::inKernel("insert");
  Value value = tracer ? tracer->use(x.value(), "tile") : Value();
  Value to = value ? tracer->use(into.value(), "tile") : Value();
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  if (!to || !tracer->mixed({row, col}, at, atValues))
    return Tracer::poison(into.dtype(), into.rows(), into.cols());
  Tile result =
      tracer->handle(tile::InsertOp::create(tracer->builder, tracer->loc(), to.getType(), value, to,
                                            atValues, tracer->builder.getDenseI64ArrayAttr(at)));
  return tracer->fromOperands(result, {x, into});
}

static Tile concat(const std::vector<Tile> &tiles, int64_t axis) {
  Tile failed = Tracer::poison(DType::F32, 1, 1);
  Tracer *tracer = Tracer::inKernel("concat");
  if (!tracer || !tracer->checkAxis("concat", axis))
    return failed;
  if (tiles.empty()) {
    tracer->error("concat of no tiles");
    return failed;
  }
  SmallVector<Value> values;
  int64_t rows = tiles[0].rows(), cols = tiles[0].cols(), total = 0;
  for (const Tile &tile : tiles) {
    values.push_back(tracer->use(tile.value(), "tile"));
    total += axis == 0 ? tile.rows() : tile.cols();
  }
  (axis == 0 ? rows : cols) = total;
  if (llvm::is_contained(values, Value()))
    return Tracer::poison(tiles[0].dtype(), rows, cols);
  return tracer->handle(tile::ConcatOp::create(tracer->builder, tracer->loc(),
                                               tracer->tileType(tiles[0].dtype(), rows, cols),
                                               values, axis));
}

/// `wanted` is the type that the program takes the element for.
static Scalar element(const Tile &tile, Index row, Index col, std::optional<DType> wanted) {
  DType type = wanted.value_or(tile.dtype());
  Tracer *tracer = Tracer::inKernel("element");
  Value from = tracer ? tracer->use(tile.value(), "tile") : Value();
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  if (!from || !tracer->mixed({row, col}, at, atValues))
    return {nullptr, type};
  if (type != tile.dtype()) {
    tracer->error(std::string("element<") + toString(type) + "> of a tile of " +
                  toString(tile.dtype()));
    return {nullptr, type};
  }
  Value made = tile::ElementOp::create(tracer->builder, tracer->loc(), tracer->typeOf(type), from,
                                       atValues, tracer->builder.getDenseI64ArrayAttr(at));
  return {made.getAsOpaquePointer(), type};
}

static Tile convert(const TileArg &x, DType type) {
  if (x.dtype() == type)
    return x; // as it is: a program of any type need not ask whether it is this one
  return unary<tile::CastOp>("cast", x, type, x.rows(), x.cols());
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

template <typename Op, typename... Attr> static Index identity(const char *what, Attr... attr) {
  Tracer *tracer = Tracer::inKernel(what);
  if (!tracer)
    return 0;
  return Index::of(Value(Op::create(tracer->builder, tracer->loc(), attr...)).getAsOpaquePointer());
}

Index blockIdx(int64_t dim) { return identity<tile::BlockIdxOp>("blockIdx", dim); }
static Index blockCount(int64_t dim) { return identity<tile::BlockCountOp>("blockCount", dim); }
Index lane() { return identity<tile::LaneOp>("lane"); }

static void barrier() {
  if (Tracer *tracer = Tracer::inKernel("barrier"))
    tile::BarrierOp::create(tracer->builder, tracer->loc());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static void addElementwise(std::vector<RecordedOp> &list) {
#include "kiln/Dialect/Tile/Elementwise/Record.inc"
#define KILN_COMPARISON(name, kind, sign)                                                          \
  list.push_back(operation(name, "lhs " sign " rhs, as a tile of i1", {"lhs", "rhs"},              \
                           [](const TileOperand &lhs, const TileOperand &rhs) {                    \
                             return compare(tile::CmpKind::kind, sign, lhs, rhs);                  \
                           }));
  KILN_COMPARISON("lt", Lt, "<")
  KILN_COMPARISON("le", Le, "<=")
  KILN_COMPARISON("gt", Gt, ">")
  KILN_COMPARISON("ge", Ge, ">=")
  KILN_COMPARISON("eq", Eq, "==")
  KILN_COMPARISON("ne", Ne, "!=")
#undef KILN_COMPARISON
  list.push_back(operation("where", "Where the condition holds the first, elsewhere the second.",
                           {"condition", "a", "b"}, select));
}

static void addReductions(std::vector<RecordedOp> &list) {
  using Kind = tile::ReduceKind;
  auto of = [&](const char *name, const char *summary, auto *body) {
    list.push_back(operation(name, summary, {"x", "axis"}, body));
  };
  of("reduce_sum", "Sums along axis 0 (rows become one) or 1 (columns become one).",
     reduce<Kind::Sum>);
  of("reduce_max", "The largest along an axis.", reduce<Kind::Max>);
  of("reduce_min", "The smallest along an axis.", reduce<Kind::Min>);
  of("reduce_prod", "Products along an axis.", reduce<Kind::Prod>);
  of("argmax", "The i32 index of the largest element; the first of equal ones.",
     reduce<Kind::ArgMax>);
  of("argmin", "The i32 index of the smallest element; the first of equal ones.",
     reduce<Kind::ArgMin>);
  list.push_back(operation("scan", "Running sums, products, maxima or minima along an axis.",
                           {"x", "axis", "combine?", "exclusive?", "reverse?"}, scan));
}

static void addRearranging(std::vector<RecordedOp> &list) {
  list.push_back(operation("tile.made_of",
                           "Says that a tile was made of another, in one expression.",
                           {"result", "x"}, madeOf));
  list.push_back(operation("mask", "Replaces the elements outside the first rows and columns.",
                           {"x", "rows", "cols", "pad?"}, mask));
  list.push_back(
      operation("mask_diag",
                "Keeps the elements with column <= row + offset; the others become the pad value.",
                {"x", "offset", "pad?"}, mask_diag));
  list.push_back(operation("gather",
                           "x[index[r, c], c] along axis 0, x[r, index[r, c]] along axis 1.",
                           {"x", "index", "axis"}, gather));
  list.push_back(operation(
      "sort_rows", "Rows in order, and the i32 column each element had. Stable; NaN comes last.",
      {"x", "order?"}, sort_rows));
  list.push_back(operation(
      "topk_rows", "The k largest elements of each row, the largest first, and their columns.",
      {"x", "k"}, topk_rows));
  list.push_back(operation("tile.transpose", "Rows become columns.", {"x"}, transpose));
  list.push_back(operation("tile.reshape", "The same elements, row by row, in another shape.",
                           {"x", "shape"}, reshape));
  list.push_back(operation("extract", "A box of a tile.", {"x", "row", "col", "shape"}, extract));
  list.push_back(operation("insert", "`into` with a box of it replaced by x.",
                           {"x", "into", "row", "col"}, insert));
  list.push_back(
      operation("concat", "Tiles one after the other along an axis.", {"tiles", "axis"}, concat));
  list.push_back(
      operation("element", "One element of a tile.", {"tile", "row", "col", "dtype?"}, element));
  list.push_back(
      operation("tile.cast", "A tile as another element type.", {"x", "dtype"}, convert));
}

void addTileOperations(std::vector<RecordedOp> &list) {
  list.push_back(operation("full", "A tile of one number.", {"dtype", "shape", "value"}, full));
  list.push_back(operation("iota", "Each element is its index along an axis.",
                           {"dtype", "shape", "axis"}, iota));
  list.push_back(operation(
      "random",
      "Random bits (i32) or numbers uniform in [0, 1) (f32), of a key (i64) and a counter.",
      {"dtype", "shape", "key", "counter"}, random));
  list.push_back(operation("matmul", "The product of two tiles, either of them transposed.",
                           {"a", "b", "trans_a?", "trans_b?"}, matmul));
  list.push_back(operation("matmul_acc", "acc + the product of two tiles.",
                           {"acc", "a", "b", "trans_a?", "trans_b?"}, matmul_acc));
  addElementwise(list);
  addReductions(list);
  addRearranging(list);
  list.push_back(operation("block_idx", "The block of the launch, along a dimension of its grid.",
                           {"dim?"}, blockIdx));
  list.push_back(operation("block_count", "How many blocks the launch has along a dimension.",
                           {"dim?"}, blockCount));
  list.push_back(operation("lane", "The lane of the role.", {}, lane));
  list.push_back(operation(
      "barrier", "Waits until every block of the launch has got here; the launch needs sync_start.",
      {}, barrier));
}

} // namespace kiln::record
