//===- Ops.cpp - recording what cores compute ------------------------------------===//
#include "Tracer.h"

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Make
//===----------------------------------------------------------------------===//

Tile full(DType type, Shape shape, double value, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("full", where);
  if (!tracer || !tracer->checkShape(shape, where))
    return ProgramImpl::poison(type, shape.rows, shape.cols);
  Value scalar = tracer->numberConstant(value, tracer->typeOf(type), where);
  if (!scalar)
    return ProgramImpl::poison(type, shape.rows, shape.cols);
  return tracer->handle(tile::FullOp::create(
      tracer->builder, tracer->loc(where), tracer->tileType(type, shape.rows, shape.cols), scalar));
}

Tile iota(DType type, Shape shape, int axis, Where where) {
  Tile failed = ProgramImpl::poison(type, shape.rows, shape.cols);
  ProgramImpl *tracer = ProgramImpl::inKernel("iota", where);
  if (!tracer || !tracer->checkShape(shape, where) || !tracer->checkAxis("iota", axis, where))
    return failed;
  return tracer->handle(tile::IotaOp::create(tracer->builder, tracer->loc(where),
                                             tracer->tileType(type, shape.rows, shape.cols), axis));
}

Tile random(DType type, Shape shape, Scalar<i64> key, Index counter, Where where) {
  Tile failed = ProgramImpl::poison(type, shape.rows, shape.cols);
  ProgramImpl *tracer = ProgramImpl::inKernel("random", where);
  Value seed = tracer ? tracer->use(key.value(), "scalar", where) : Value();
  Value number = seed ? tracer->use(counter, where) : Value();
  if (!number || !tracer->checkShape(shape, where))
    return failed;
  return tracer->handle(tile::RandomOp::create(tracer->builder, tracer->loc(where),
                                               tracer->tileType(type, shape.rows, shape.cols), seed,
                                               number));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The shape and type of a product, or a reported mistake.
static std::optional<tile::TileType> productType(ProgramImpl *tracer, const TileArg &a,
                                                 const TileArg &b, MatmulFlags flags, Where where) {
  int64_t m = flags & trans_a ? a.cols() : a.rows(), ka = flags & trans_a ? a.rows() : a.cols();
  int64_t kb = flags & trans_b ? b.cols() : b.rows(), n = flags & trans_b ? b.rows() : b.cols();
  Type acc = tile::accumulatorType(tracer->typeOf(a.dtype()));
  if (a.dtype() != b.dtype() || !acc) {
    tracer->error(where, std::string("matmul of ") + toString(a.dtype()) + " and " +
                             toString(b.dtype()) + "; both are floats of one type, or i8");
    return std::nullopt;
  }
  if (ka != kb) {
    tracer->error(where, "matmul of " + shapeText(a.rows(), a.cols()) +
                             (flags & trans_a ? " (transposed)" : "") + " and " +
                             shapeText(b.rows(), b.cols()) +
                             (flags & trans_b ? " (transposed)" : "") + ": the inner extents " +
                             std::to_string(ka) + " and " + std::to_string(kb) + " differ");
    return std::nullopt;
  }
  return tile::TileType::get(m, n, acc);
}

Tile matmul(TileArg a, TileArg b, MatmulFlags flags, Where where) {
  Tile failed = ProgramImpl::poison(DType::F32, flags & trans_a ? a.cols() : a.rows(),
                                    flags & trans_b ? b.rows() : b.cols());
  ProgramImpl *tracer = ProgramImpl::inKernel("matmul", where);
  if (!tracer)
    return failed;
  std::optional<tile::TileType> type = productType(tracer, a, b, flags, where);
  Value lhs = tracer->use(a.value(), "tile", where), rhs = tracer->use(b.value(), "tile", where);
  if (!type || !lhs || !rhs)
    return failed;
  Tile product =
      tracer->handle(tile::MatmulOp::create(tracer->builder, tracer->loc(where), *type, lhs, rhs,
                                            bool(flags & trans_a), bool(flags & trans_b)));
  return tracer->fromOperands(product, {a, b}, where);
}

Tile matmul_acc(TileArg acc, TileArg a, TileArg b, MatmulFlags flags, Where where) {
  Tile failed = ProgramImpl::poison(acc.dtype(), acc.rows(), acc.cols());
  ProgramImpl *tracer = ProgramImpl::inKernel("matmul_acc", where);
  if (!tracer)
    return failed;
  std::optional<tile::TileType> type = productType(tracer, a, b, flags, where);
  Value sum = tracer->use(acc.value(), "tile", where);
  Value lhs = tracer->use(a.value(), "tile", where), rhs = tracer->use(b.value(), "tile", where);
  if (!type || !sum || !lhs || !rhs)
    return failed;
  if (sum.getType() != *type) {
    tracer->error(where, std::string("the accumulator is ") + shapeText(acc.rows(), acc.cols()) +
                             " of " + toString(acc.dtype()) + ", the product " +
                             shapeText(type->getRows(), type->getCols()) + " of " +
                             (isa<FloatType>(type->getElementType()) ? "f32" : "i32"));
    return failed;
  }
  Tile product =
      tracer->handle(tile::MatmulAccOp::create(tracer->builder, tracer->loc(where), *type, sum, lhs,
                                               rhs, bool(flags & trans_a), bool(flags & trans_b)));
  return tracer->fromOperands(product, {acc, a, b}, where);
}

//===----------------------------------------------------------------------===//
// Elementwise and reductions
//===----------------------------------------------------------------------===//

/// Two operands of an elementwise op, made to fit each other. Not ok: a mistake has been reported.
struct JoinedOperands {
  ProgramImpl *tracer = nullptr;
  DType type;
  Shape shape;
  Value lhs, rhs;
  bool ok() const { return lhs && rhs; }
  Tile poison() const { return ProgramImpl::poison(type, shape.rows, shape.cols); }
};

static JoinedOperands join(const char *what, const TileOperand &a, const TileOperand &b,
                           Where where) {
  auto shape = tile::broadcastShape({a.rows, a.cols}, {b.rows, b.cols});
  JoinedOperands joined;
  joined.type = a.isNumber ? b.type : a.type;
  joined.shape = shape ? Shape{shape->first, shape->second} : Shape{a.rows, a.cols};
  ProgramImpl *tracer = ProgramImpl::inKernel(what, where);
  if (!tracer)
    return joined;
  joined.tracer = tracer;
  if (!shape) {
    tracer->error(where, "tiles of " + shapeText(a.rows, a.cols) + " and " +
                             shapeText(b.rows, b.cols) + " do not broadcast in '" + what +
                             "'; an extent must be equal or 1");
    return joined;
  }
  if (!a.isNumber && !b.isNumber && a.type != b.type) {
    tracer->error(where, std::string("'") + what + "' mixes " + toString(a.type) + " with " +
                             toString(b.type) + "; cast one of them");
    return joined;
  }
  auto operand = [&](const TileOperand &x) {
    return x.isNumber ? tracer->numberConstant(x.number, tracer->typeOf(joined.type), where)
                      : tracer->use(x.value, "tile", where);
  };
  joined.lhs = operand(a);
  joined.rhs = operand(b);
  return joined;
}

/// The same, where one of the two must be a tile.
static JoinedOperands joinTiles(const char *what, const TileOperand &a, const TileOperand &b) {
  if (a.isTile || b.isTile)
    return join(what, a, b, a.where);
  if (ProgramImpl *tracer = ProgramImpl::inKernel(what, a.where))
    tracer->error(a.where,
                  std::string("'") + what + "' of two scalars; one of the operands must be a tile");
  return {nullptr, a.isNumber ? b.type : a.type, {1, 1}, {}, {}};
}

/// An operand as the tile it is, or nothing that was popped.
static TileArg argOf(const TileOperand &x) {
  Tile tile = Tile::of(x.value, x.rows, x.cols, x.type);
  return x.isTemporary ? TileArg(std::move(tile)) : TileArg(tile);
}

template <typename Op>
static Tile binary(const char *what, const TileOperand &a, const TileOperand &b) {
  JoinedOperands x = joinTiles(what, a, b);
  if (!x.ok())
    return x.poison();
  Tile result = x.tracer->handle(Op::create(x.tracer->builder, x.tracer->loc(a.where),
                                            x.tracer->tileType(x.type, x.shape.rows, x.shape.cols),
                                            x.lhs, x.rhs));
  // Of all operators the shifts alone evaluate their left operand first.
  StringRef sign = what;
  if (sign == "<<" || sign == ">>")
    return result;
  return x.tracer->fromOperands(result, {argOf(a), argOf(b)}, a.where);
}

static Tile compare(tile::CmpKind kind, const char *what, const TileOperand &a,
                    const TileOperand &b) {
  JoinedOperands x = joinTiles(what, a, b);
  if (!x.ok())
    return ProgramImpl::poison(DType::I1, x.shape.rows, x.shape.cols);
  Tile result = x.tracer->handle(tile::CmpOp::create(
      x.tracer->builder, x.tracer->loc(a.where),
      x.tracer->tileType(DType::I1, x.shape.rows, x.shape.cols), kind, x.lhs, x.rhs));
  return x.tracer->fromOperands(result, {argOf(a), argOf(b)}, a.where);
}

Tile operator<(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Lt, "<", a, b); }
Tile operator<=(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Le, "<=", a, b); }
Tile operator>(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Gt, ">", a, b); }
Tile operator>=(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Ge, ">=", a, b); }
Tile operator==(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Eq, "==", a, b); }
Tile operator!=(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Ne, "!=", a, b); }

Tile where(TileArg condition, TileOperand a, TileOperand b) {
  JoinedOperands x = join("where", a, b, a.where);
  auto shape =
      tile::broadcastShape({x.shape.rows, x.shape.cols}, {condition.rows(), condition.cols()});
  if (!x.ok())
    return x.poison();
  if (a.isNumber && b.isNumber) {
    x.tracer->error(a.where, "'where' of two numbers has no type; make one of them a tile");
    return x.poison();
  }
  if (!shape) {
    x.tracer->error(a.where, "the condition of 'where' is " +
                                 shapeText(condition.rows(), condition.cols()) + ", the choices " +
                                 shapeText(x.shape.rows, x.shape.cols));
    return x.poison();
  }
  Value chosen = x.tracer->use(condition.value(), "tile", a.where);
  if (!chosen)
    return x.poison();
  Tile result = x.tracer->handle(tile::SelectOp::create(
      x.tracer->builder, x.tracer->loc(a.where),
      x.tracer->tileType(x.type, shape->first, shape->second), chosen, x.lhs, x.rhs));
  return x.tracer->fromOperands(result, {condition, argOf(a), argOf(b)}, a.where);
}

/// An op with one tile operand and a result of the given type.
template <typename Op, typename... Extra>
static Tile unary(const char *what, const TileArg &x, DType type, int64_t rows, int64_t cols,
                  Where where, Extra... extra) {
  ProgramImpl *tracer = ProgramImpl::inKernel(what, where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  if (!operand)
    return ProgramImpl::poison(type, rows, cols);
  Tile result = tracer->handle(Op::create(tracer->builder, tracer->loc(where),
                                          tracer->tileType(type, rows, cols), operand, extra...));
  return tracer->fromOperands(result, {x}, where);
}

template <typename Op> static Tile math(const char *what, const TileArg &x, Where where) {
  return unary<Op>(what, x, x.dtype(), x.rows(), x.cols(), where);
}

template <typename Op> static Tile math(const char *what, const TileOperand &x) {
  return math<Op>(what, argOf(x), x.where);
}

#include "kiln/Dialect/Tile/Elementwise/FrontEnd.cpp.inc"

static Tile reduce(tile::ReduceKind kind, const TileArg &x, DType type, int axis, Where where) {
  int64_t rows = axis == 0 ? 1 : x.rows(), cols = axis == 0 ? x.cols() : 1;
  ProgramImpl *tracer = ProgramImpl::inKernel("reduce", where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  if (!operand || !tracer->checkAxis("reduce", axis, where))
    return ProgramImpl::poison(type, rows, cols);
  Tile result = tracer->handle(tile::ReduceOp::create(tracer->builder, tracer->loc(where),
                                                      tracer->tileType(type, rows, cols), kind,
                                                      operand, axis));
  return tracer->fromOperands(result, {x}, where);
}

Tile reduce_sum(TileArg x, int axis, Where where) {
  return reduce(tile::ReduceKind::Sum, x, x.dtype(), axis, where);
}
Tile reduce_max(TileArg x, int axis, Where where) {
  return reduce(tile::ReduceKind::Max, x, x.dtype(), axis, where);
}
Tile reduce_min(TileArg x, int axis, Where where) {
  return reduce(tile::ReduceKind::Min, x, x.dtype(), axis, where);
}
Tile reduce_prod(TileArg x, int axis, Where where) {
  return reduce(tile::ReduceKind::Prod, x, x.dtype(), axis, where);
}
Tile argmax(TileArg x, int axis, Where where) {
  return reduce(tile::ReduceKind::ArgMax, x, DType::I32, axis, where);
}
Tile argmin(TileArg x, int axis, Where where) {
  return reduce(tile::ReduceKind::ArgMin, x, DType::I32, axis, where);
}

Tile scan(TileArg x, int axis, Where where) {
  return scan(std::move(x), axis, Combine::Sum, {}, where);
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

Tile scan(TileArg x, int axis, Combine how, ScanOptions options, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("scan", where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  if (!operand || !tracer->checkAxis("scan", axis, where))
    return ProgramImpl::poison(x.dtype(), x.rows(), x.cols());
  Tile result = tracer->handle(tile::ScanOp::create(tracer->builder, tracer->loc(where),
                                                    operand.getType(), kindOf(how), operand, axis,
                                                    options.exclusive, options.reverse));
  return tracer->fromOperands(result, {x}, where);
}

//===----------------------------------------------------------------------===//
// Masks, gathers and sorts
//===----------------------------------------------------------------------===//

Tile mask(TileArg x, Index rows, Index cols, Pad pad, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("mask", where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  SmallVector<int64_t> constants;
  SmallVector<Value> values;
  if (!operand || !tracer->mixed({rows, cols}, where, constants, values))
    return ProgramImpl::poison(x.dtype(), x.rows(), x.cols());
  Tile result = tracer->handle(
      tile::MaskOp::create(tracer->builder, tracer->loc(where), operand.getType(), operand, values,
                           tracer->builder.getDenseI64ArrayAttr(constants), tracer->padAttr(pad)));
  return tracer->fromOperands(result, {x}, where);
}

Tile mask_diag(TileArg x, Index offset, Pad pad, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("mask_diag", where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  Value by = operand ? tracer->use(offset, where) : Value();
  if (!by)
    return ProgramImpl::poison(x.dtype(), x.rows(), x.cols());
  Tile result = tracer->handle(tile::MaskDiagOp::create(
      tracer->builder, tracer->loc(where), operand.getType(), operand, by, tracer->padAttr(pad)));
  return tracer->fromOperands(result, {x}, where);
}

Tile gather(TileArg x, TileArg index, int axis, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("gather", where);
  Value from = tracer ? tracer->use(x.value(), "tile", where) : Value();
  Value by = from ? tracer->use(index.value(), "tile", where) : Value();
  if (!by || !tracer->checkAxis("gather", axis, where))
    return ProgramImpl::poison(x.dtype(), index.rows(), index.cols());
  Tile result = tracer->handle(tile::GatherOp::create(
      tracer->builder, tracer->loc(where), tracer->tileType(x.dtype(), index.rows(), index.cols()),
      from, by, axis));
  return tracer->fromOperands(result, {x, index}, where);
}

/// The two results of a sort that keeps so many columns.
template <typename Op, typename... Extra>
static Sorted ordering(const char *what, const Tile &x, int64_t cols, Where where, Extra... extra) {
  Sorted failed{ProgramImpl::poison(x.dtype(), x.rows(), cols),
                ProgramImpl::poison(DType::I32, x.rows(), cols)};
  ProgramImpl *tracer = ProgramImpl::inKernel(what, where);
  Value from = tracer ? tracer->use(x.value(), "tile", where) : Value();
  if (!from || !tracer->checkShape({x.rows(), cols}, where))
    return failed;
  auto op =
      Op::create(tracer->builder, tracer->loc(where), tracer->tileType(x.dtype(), x.rows(), cols),
                 tracer->tileType(DType::I32, x.rows(), cols), from, extra...);
  return {tracer->handle(op.getValues()), tracer->handle(op.getIndices())};
}

Sorted sort_rows(const Tile &x, Order order, Where where) {
  return ordering<tile::SortRowsOp>("sort_rows", x, x.cols(), where, order == Order::Descending);
}
Sorted topk_rows(const Tile &x, int64_t k, Where where) {
  return ordering<tile::TopkRowsOp>("topk_rows", x, k, where);
}

//===----------------------------------------------------------------------===//
// Shapes and types
//===----------------------------------------------------------------------===//

Tile transpose(TileArg x, Where where) {
  return unary<tile::TransposeOp>("transpose", x, x.dtype(), x.cols(), x.rows(), where);
}
Tile reshape(TileArg x, Shape shape, Where where) {
  return unary<tile::ReshapeOp>("reshape", x, x.dtype(), shape.rows, shape.cols, where);
}

Tile extract(TileArg x, Index row, Index col, Shape shape, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("extract", where);
  Value from = tracer ? tracer->use(x.value(), "tile", where) : Value();
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  if (!from || !tracer->checkShape(shape, where) || !tracer->mixed({row, col}, where, at, atValues))
    return ProgramImpl::poison(x.dtype(), shape.rows, shape.cols);
  Tile result = tracer->handle(tile::ExtractOp::create(
      tracer->builder, tracer->loc(where), tracer->tileType(x.dtype(), shape.rows, shape.cols),
      from, atValues, tracer->builder.getDenseI64ArrayAttr(at)));
  return tracer->fromOperands(result, {x}, where);
}

Tile insert(TileArg x, TileArg into, Index row, Index col, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("insert", where);
  Value value = tracer ? tracer->use(x.value(), "tile", where) : Value();
  Value to = value ? tracer->use(into.value(), "tile", where) : Value();
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  if (!to || !tracer->mixed({row, col}, where, at, atValues))
    return ProgramImpl::poison(into.dtype(), into.rows(), into.cols());
  Tile result = tracer->handle(tile::InsertOp::create(tracer->builder, tracer->loc(where),
                                                      to.getType(), value, to, atValues,
                                                      tracer->builder.getDenseI64ArrayAttr(at)));
  return tracer->fromOperands(result, {x, into}, where);
}

Tile concat(const std::vector<Tile> &tiles, int axis, Where where) {
  Tile failed = ProgramImpl::poison(DType::F32, 1, 1);
  ProgramImpl *tracer = ProgramImpl::inKernel("concat", where);
  if (!tracer || !tracer->checkAxis("concat", axis, where))
    return failed;
  if (tiles.empty()) {
    tracer->error(where, "concat of no tiles");
    return failed;
  }
  SmallVector<Value> values;
  int64_t rows = tiles[0].rows(), cols = tiles[0].cols(), total = 0;
  for (const Tile &tile : tiles) {
    values.push_back(tracer->use(tile.value(), "tile", where));
    total += axis == 0 ? tile.rows() : tile.cols();
  }
  (axis == 0 ? rows : cols) = total;
  if (llvm::is_contained(values, Value()))
    return ProgramImpl::poison(tiles[0].dtype(), rows, cols);
  return tracer->handle(tile::ConcatOp::create(tracer->builder, tracer->loc(where),
                                               tracer->tileType(tiles[0].dtype(), rows, cols),
                                               values, axis));
}

ValuePtr detail::tileElement(const Tile &tile, Index row, Index col, DType type, Where where) {
  ProgramImpl *tracer = ProgramImpl::inKernel("element", where);
  Value from = tracer ? tracer->use(tile.value(), "tile", where) : Value();
  SmallVector<int64_t> at;
  SmallVector<Value> atValues;
  if (!from || !tracer->mixed({row, col}, where, at, atValues))
    return nullptr;
  if (type != tile.dtype()) {
    tracer->error(where, std::string("element<") + toString(type) + "> of a tile of " +
                             toString(tile.dtype()));
    return nullptr;
  }
  return Value(tile::ElementOp::create(tracer->builder, tracer->loc(where), tracer->typeOf(type),
                                       from, atValues, tracer->builder.getDenseI64ArrayAttr(at)))
      .getAsOpaquePointer();
}

Tile cast(TileArg x, DType type, Where where) {
  return unary<tile::CastOp>("cast", x, type, x.rows(), x.cols(), where);
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

template <typename Op, typename... Attr>
static Index identity(const char *what, Where where, Attr... attr) {
  ProgramImpl *tracer = ProgramImpl::inKernel(what, where);
  if (!tracer)
    return 0;
  return Index::of(
      Value(Op::create(tracer->builder, tracer->loc(where), attr...)).getAsOpaquePointer());
}

Index blockIdx(int dim, Where where) {
  return identity<tile::BlockIdxOp>("blockIdx", where, int64_t(dim));
}
Index blockCount(int dim, Where where) {
  return identity<tile::BlockCountOp>("blockCount", where, int64_t(dim));
}
Index lane(Where where) { return identity<tile::LaneOp>("lane", where); }

void barrier(Where where) {
  if (ProgramImpl *tracer = ProgramImpl::inKernel("barrier", where))
    tile::BarrierOp::create(tracer->builder, tracer->loc(where));
}

} // namespace kiln
