//===- Ops.cpp - recording indices and tiles ---------------------------------===//
#include "Tracer.h"

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

template <typename Op, typename Fold>
static Index indexOp(const char *what, const IndexOperand &a, const IndexOperand &b, Fold fold) {
  if (a.index.isConstant() && b.index.isConstant())
    if (std::optional<int64_t> folded = fold(a.index.constant(), b.index.constant()))
      return *folded;
  ProgramImpl *tracer = ProgramImpl::current(what, a.where);
  if (!tracer)
    return 0;
  Value lhs = tracer->use(a.index, a.where), rhs = tracer->use(b.index, a.where);
  if (!lhs || !rhs)
    return 0;
  return Index::of(
      Value(Op::create(tracer->builder, tracer->loc(a.where), lhs, rhs)).getAsOpaquePointer());
}

using Folded = std::optional<int64_t>;

// Sums and products of constants fold unless they overflow, which then shows at run time like any
// other.
Index operator+(IndexOperand a, IndexOperand b) {
  return indexOp<arith::AddIOp>("index +", a, b, [](int64_t x, int64_t y) -> Folded {
    int64_t r;
    return llvm::AddOverflow(x, y, r) ? Folded() : r;
  });
}
Index operator-(IndexOperand a, IndexOperand b) {
  return indexOp<arith::SubIOp>("index -", a, b, [](int64_t x, int64_t y) -> Folded {
    int64_t r;
    return llvm::SubOverflow(x, y, r) ? Folded() : r;
  });
}
Index operator*(IndexOperand a, IndexOperand b) {
  return indexOp<arith::MulIOp>("index *", a, b, [](int64_t x, int64_t y) -> Folded {
    int64_t r;
    return llvm::MulOverflow(x, y, r) ? Folded() : r;
  });
}
static Folded divide(int64_t x, int64_t y) { return y <= 0 ? Folded() : x / y; }
Index operator/(IndexOperand a, IndexOperand b) {
  return indexOp<arith::DivSIOp>("index /", a, b, divide);
}
Index operator%(IndexOperand a, IndexOperand b) {
  return indexOp<arith::RemSIOp>("index %", a, b,
                                 [](int64_t x, int64_t y) { return y <= 0 ? Folded() : x % y; });
}
Index ceildiv(IndexOperand a, IndexOperand b) {
  return indexOp<arith::CeilDivSIOp>("ceildiv", a, b, [](int64_t x, int64_t y) {
    return y <= 0 || x < 0 ? Folded() : x / y + (x % y != 0);
  });
}
Index min(IndexOperand a, IndexOperand b) {
  return indexOp<arith::MinSIOp>("min", a, b,
                                 [](int64_t x, int64_t y) { return Folded(std::min(x, y)); });
}
Index max(IndexOperand a, IndexOperand b) {
  return indexOp<arith::MaxSIOp>("max", a, b,
                                 [](int64_t x, int64_t y) { return Folded(std::max(x, y)); });
}

/// A comparison of two indices.
static Cond indexCmp(arith::CmpIPredicate predicate, const IndexOperand &a, const IndexOperand &b) {
  ProgramImpl *tracer = ProgramImpl::current("a comparison", a.where);
  Value lhs = tracer ? tracer->use(a.index, a.where) : Value();
  Value rhs = lhs ? tracer->use(b.index, a.where) : Value();
  if (!rhs)
    return Cond::of(nullptr);
  Value result = arith::CmpIOp::create(tracer->builder, tracer->loc(a.where), predicate, lhs, rhs);
  return Cond::of(result.getAsOpaquePointer());
}

using IntCmp = arith::CmpIPredicate;
Cond operator<(IndexOperand a, IndexOperand b) { return indexCmp(IntCmp::slt, a, b); }
Cond operator<=(IndexOperand a, IndexOperand b) { return indexCmp(IntCmp::sle, a, b); }
Cond operator>(IndexOperand a, IndexOperand b) { return indexCmp(IntCmp::sgt, a, b); }
Cond operator>=(IndexOperand a, IndexOperand b) { return indexCmp(IntCmp::sge, a, b); }
Cond operator==(IndexOperand a, IndexOperand b) { return indexCmp(IntCmp::eq, a, b); }
Cond operator!=(IndexOperand a, IndexOperand b) { return indexCmp(IntCmp::ne, a, b); }

Scalar<f32> toF32(IndexOperand index) {
  ProgramImpl *tracer = ProgramImpl::current("toF32", index.where);
  Value value = tracer ? tracer->use(index.index, index.where) : Value();
  if (!value)
    return Scalar<f32>::of(nullptr);
  OpBuilder &builder = tracer->builder;
  Location loc = tracer->loc(index.where);
  Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
  return Scalar<f32>::of(Value(arith::SIToFPOp::create(builder, loc, builder.getF32Type(), wide))
                             .getAsOpaquePointer());
}

Index TensorRef::dim(int axis, Where where) const {
  ProgramImpl *tracer = ProgramImpl::current("dim", where);
  Value tensor = tracer ? tracer->use(value(), "tensor", where) : Value();
  if (!tensor)
    return 0;
  auto type = cast<ir::TensorType>(tensor.getType());
  if (axis < 0 || axis >= type.getRank()) {
    tracer->error(where, "dim(" + std::to_string(axis) + ") of a tensor of rank " +
                             std::to_string(type.getRank()));
    return 0;
  }
  if (!type.isDynamicDim(axis))
    return type.getShape()[axis];
  return Index::of(Value(ir::DimOp::create(tracer->builder, tracer->loc(where), tensor, axis))
                       .getAsOpaquePointer());
}

//===----------------------------------------------------------------------===//
// Kernel-only ops
//===----------------------------------------------------------------------===//

/// The tracer, if ops of a core may stand here.
static ProgramImpl *inKernel(const char *what, Where where) {
  ProgramImpl *tracer = ProgramImpl::current(what, where);
  if (tracer && !tracer->isIn({ir::FuncKind::Incore, ir::FuncKind::Role})) {
    tracer->error(where,
                  std::string(what) + " computes on a core; put it into a kernel, a role or spmd");
    return nullptr;
  }
  return tracer;
}

/// A tile shape that can exist, or a reported mistake.
static bool checkShape(ProgramImpl *tracer, Shape shape, Where where) {
  auto emit = [&] { return mlir::emitError(tracer->loc(where)); };
  DiagnosticCollector collector(&tracer->context, tracer->errors);
  return succeeded(tile::TileType::verify(emit, shape.rows, shape.cols, tracer->typeOf(DType::F32),
                                          tile::Space::Unassigned));
}

static DenseI64ArrayAttr arrayAttr(ProgramImpl *tracer, ArrayRef<int64_t> values) {
  return tracer->builder.getDenseI64ArrayAttr(values);
}

static Attribute padAttr(ProgramImpl *tracer, Pad pad) {
  if (pad == Pad::Zero)
    return {};
  return tile::PadKindAttr::get(&tracer->context, static_cast<tile::PadKind>(pad));
}

/// The operands of `at` and `valid` in the form the ops take; false if a mistake was reported.
struct AccessIndices {
  SmallVector<int64_t> at, valid;
  SmallVector<Value> atValues, validValues;
  bool collect(ProgramImpl *tracer, const TensorRef &tensor, const std::vector<Index> &indices,
               const std::vector<Index> &validExtents, Where where) {
    if (int(indices.size()) != tensor.rank()) {
      tracer->error(where, "a tensor of rank " + std::to_string(tensor.rank()) +
                               " takes one index per axis, not " + std::to_string(indices.size()));
      return false;
    }
    if (!validExtents.empty() && validExtents.size() != 2) {
      tracer->error(where, "valid takes rows and columns");
      return false;
    }
    return tracer->mixed(indices, where, at, atValues) &&
           tracer->mixed(validExtents, where, valid, validValues);
  }
};

Tile load(const TensorRef &tensor, std::vector<Index> at, Shape shape, LoadOptions options,
          Where where) {
  Tile failed = ProgramImpl::poison(tensor.dtype(), shape.rows, shape.cols);
  ProgramImpl *tracer = inKernel("load", where);
  Value from = tracer ? tracer->use(tensor.value(), "tensor", where) : Value();
  AccessIndices indices;
  if (!from || !checkShape(tracer, shape, where) ||
      !indices.collect(tracer, tensor, at, options.valid, where))
    return failed;
  auto op = tile::LoadOp::create(
      tracer->builder, tracer->loc(where), tracer->tileType(tensor.dtype(), shape.rows, shape.cols),
      from, indices.atValues, arrayAttr(tracer, indices.at), indices.validValues,
      options.valid.empty() ? DenseI64ArrayAttr() : arrayAttr(tracer, indices.valid),
      padAttr(tracer, options.pad));
  return tracer->handle(op);
}

void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at, StoreOptions options,
           Where where) {
  ProgramImpl *tracer = inKernel("store", where);
  if (!tracer)
    return;
  if (tensor.access() == Access::In)
    return tracer->error(where, "store into an In tensor; make the parameter Out or InOut");
  Value value = tracer->use(tile.value(), "tile", where),
        to = tracer->use(tensor.value(), "tensor", where);
  if (tile.dtype() != tensor.dtype())
    return tracer->error(where, std::string("store of a tile of ") + toString(tile.dtype()) +
                                    " into a tensor of " + toString(tensor.dtype()) + "; cast<" +
                                    toString(tensor.dtype()) + ">(...) it first");
  AccessIndices indices;
  if (!value || !to || !indices.collect(tracer, tensor, at, options.valid, where))
    return;
  tile::AtomicKindAttr atomic;
  if (options.atomicAdd)
    atomic = tile::AtomicKindAttr::get(&tracer->context, tile::AtomicKind::Add);
  tile::StoreOp::create(
      tracer->builder, tracer->loc(where), value, to, indices.atValues,
      arrayAttr(tracer, indices.at), indices.validValues,
      options.valid.empty() ? DenseI64ArrayAttr() : arrayAttr(tracer, indices.valid), atomic);
}

Tile full(DType type, Shape shape, double value, Where where) {
  ProgramImpl *tracer = inKernel("full", where);
  if (!tracer || !checkShape(tracer, shape, where))
    return ProgramImpl::poison(type, shape.rows, shape.cols);
  Value scalar = tracer->numberConstant(value, tracer->typeOf(type), where);
  if (!scalar)
    return ProgramImpl::poison(type, shape.rows, shape.cols);
  return tracer->handle(tile::FullOp::create(
      tracer->builder, tracer->loc(where), tracer->tileType(type, shape.rows, shape.cols), scalar));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The shape and type of a product, or a reported mistake.
static std::optional<tile::TileType> productType(ProgramImpl *tracer, const Tile &a, const Tile &b,
                                                 MatmulFlags flags, Where where) {
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

Tile matmul(const Tile &a, const Tile &b, MatmulFlags flags, Where where) {
  Tile failed = ProgramImpl::poison(DType::F32, flags & trans_a ? a.cols() : a.rows(),
                                    flags & trans_b ? b.rows() : b.cols());
  ProgramImpl *tracer = inKernel("matmul", where);
  if (!tracer)
    return failed;
  std::optional<tile::TileType> type = productType(tracer, a, b, flags, where);
  Value lhs = tracer->use(a.value(), "tile", where), rhs = tracer->use(b.value(), "tile", where);
  if (!type || !lhs || !rhs)
    return failed;
  return tracer->handle(tile::MatmulOp::create(tracer->builder, tracer->loc(where), *type, lhs, rhs,
                                               bool(flags & trans_a), bool(flags & trans_b)));
}

Tile matmul_acc(const Tile &acc, const Tile &a, const Tile &b, MatmulFlags flags, Where where) {
  Tile failed = ProgramImpl::poison(acc.dtype(), acc.rows(), acc.cols());
  ProgramImpl *tracer = inKernel("matmul_acc", where);
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
  return tracer->handle(tile::MatmulAccOp::create(tracer->builder, tracer->loc(where), *type, sum,
                                                  lhs, rhs, bool(flags & trans_a),
                                                  bool(flags & trans_b)));
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
  ProgramImpl *tracer = inKernel(what, where);
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
  if (ProgramImpl *tracer = inKernel(what, a.where))
    tracer->error(a.where,
                  std::string("'") + what + "' of two scalars; one of the operands must be a tile");
  return {nullptr, a.isNumber ? b.type : a.type, {1, 1}, {}, {}};
}

template <typename Op>
static Tile binary(const char *what, const TileOperand &a, const TileOperand &b) {
  JoinedOperands x = joinTiles(what, a, b);
  if (!x.ok())
    return x.poison();
  return x.tracer->handle(Op::create(x.tracer->builder, x.tracer->loc(a.where),
                                     x.tracer->tileType(x.type, x.shape.rows, x.shape.cols), x.lhs,
                                     x.rhs));
}

static Tile compare(tile::CmpKind kind, const char *what, const TileOperand &a,
                    const TileOperand &b) {
  JoinedOperands x = joinTiles(what, a, b);
  if (!x.ok())
    return ProgramImpl::poison(DType::I1, x.shape.rows, x.shape.cols);
  return x.tracer->handle(tile::CmpOp::create(
      x.tracer->builder, x.tracer->loc(a.where),
      x.tracer->tileType(DType::I1, x.shape.rows, x.shape.cols), kind, x.lhs, x.rhs));
}

Tile operator<(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Lt, "<", a, b); }
Tile operator<=(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Le, "<=", a, b); }
Tile operator>(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Gt, ">", a, b); }
Tile operator>=(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Ge, ">=", a, b); }
Tile operator==(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Eq, "==", a, b); }
Tile operator!=(TileOperand a, TileOperand b) { return compare(tile::CmpKind::Ne, "!=", a, b); }

Tile where(const Tile &condition, TileOperand a, TileOperand b) {
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
  return x.tracer->handle(tile::SelectOp::create(
      x.tracer->builder, x.tracer->loc(a.where),
      x.tracer->tileType(x.type, shape->first, shape->second), chosen, x.lhs, x.rhs));
}

Tile operator+(TileOperand a, TileOperand b) { return binary<tile::AddOp>("+", a, b); }
Tile operator-(TileOperand a, TileOperand b) { return binary<tile::SubOp>("-", a, b); }
Tile operator*(TileOperand a, TileOperand b) { return binary<tile::MulOp>("*", a, b); }
Tile operator/(TileOperand a, TileOperand b) { return binary<tile::DivOp>("/", a, b); }
Tile maximum(TileOperand a, TileOperand b) { return binary<tile::MaxOp>("maximum", a, b); }
Tile minimum(TileOperand a, TileOperand b) { return binary<tile::MinOp>("minimum", a, b); }

/// An op with one tile operand and a result of the given type.
template <typename Op, typename... Extra>
static Tile unary(const char *what, const Tile &x, DType type, int64_t rows, int64_t cols,
                  Where where, Extra... extra) {
  ProgramImpl *tracer = inKernel(what, where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  if (!operand)
    return ProgramImpl::poison(type, rows, cols);
  return tracer->handle(Op::create(tracer->builder, tracer->loc(where),
                                   tracer->tileType(type, rows, cols), operand, extra...));
}

template <typename Op> static Tile math(const char *what, const Tile &x, Where where) {
  return unary<Op>(what, x, x.dtype(), x.rows(), x.cols(), where);
}

Tile operator-(TileOperand x) {
  return math<tile::NegOp>("-", Tile::of(x.value, x.rows, x.cols, x.type), x.where);
}
Tile abs(const Tile &x, Where where) { return math<tile::AbsOp>("abs", x, where); }
Tile exp(const Tile &x, Where where) { return math<tile::ExpOp>("exp", x, where); }
Tile exp2(const Tile &x, Where where) { return math<tile::Exp2Op>("exp2", x, where); }
Tile log(const Tile &x, Where where) { return math<tile::LogOp>("log", x, where); }
Tile sqrt(const Tile &x, Where where) { return math<tile::SqrtOp>("sqrt", x, where); }
Tile rsqrt(const Tile &x, Where where) { return math<tile::RsqrtOp>("rsqrt", x, where); }
Tile recip(const Tile &x, Where where) { return math<tile::RecipOp>("recip", x, where); }
Tile tanh(const Tile &x, Where where) { return math<tile::TanhOp>("tanh", x, where); }
Tile sigmoid(const Tile &x, Where where) { return math<tile::SigmoidOp>("sigmoid", x, where); }
Tile erf(const Tile &x, Where where) { return math<tile::ErfOp>("erf", x, where); }

static Tile reduce(tile::ReduceKind kind, const Tile &x, int axis, Where where) {
  ProgramImpl *tracer = inKernel("reduce", where);
  if (tracer && axis != 0 && axis != 1)
    tracer->error(where,
                  "reduce along axis " + std::to_string(axis) + "; it is 0 (rows) or 1 (columns)");
  int64_t rows = axis == 0 ? 1 : x.rows(), cols = axis == 0 ? x.cols() : 1;
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  if (!operand || axis < 0 || axis > 1)
    return ProgramImpl::poison(x.dtype(), rows, cols);
  return tracer->handle(tile::ReduceOp::create(tracer->builder, tracer->loc(where),
                                               tracer->tileType(x.dtype(), rows, cols), kind,
                                               operand, axis));
}

Tile reduce_sum(const Tile &x, int axis, Where where) {
  return reduce(tile::ReduceKind::Sum, x, axis, where);
}
Tile reduce_max(const Tile &x, int axis, Where where) {
  return reduce(tile::ReduceKind::Max, x, axis, where);
}
Tile reduce_min(const Tile &x, int axis, Where where) {
  return reduce(tile::ReduceKind::Min, x, axis, where);
}

Tile mask(const Tile &x, Index rows, Index cols, Pad pad, Where where) {
  ProgramImpl *tracer = inKernel("mask", where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  SmallVector<int64_t> constants;
  SmallVector<Value> values;
  if (!operand || !tracer->mixed({rows, cols}, where, constants, values))
    return ProgramImpl::poison(x.dtype(), x.rows(), x.cols());
  return tracer->handle(tile::MaskOp::create(tracer->builder, tracer->loc(where), operand.getType(),
                                             operand, values, arrayAttr(tracer, constants),
                                             padAttr(tracer, pad)));
}

Tile mask_diag(const Tile &x, Index offset, Pad pad, Where where) {
  ProgramImpl *tracer = inKernel("mask_diag", where);
  Value operand = tracer ? tracer->use(x.value(), "tile", where) : Value();
  Value by = operand ? tracer->use(offset, where) : Value();
  if (!by)
    return ProgramImpl::poison(x.dtype(), x.rows(), x.cols());
  return tracer->handle(tile::MaskDiagOp::create(
      tracer->builder, tracer->loc(where), operand.getType(), operand, by, padAttr(tracer, pad)));
}

Tile transpose(const Tile &x, Where where) {
  return unary<tile::TransposeOp>("transpose", x, x.dtype(), x.cols(), x.rows(), where);
}
Tile cast(const Tile &x, DType type, Where where) {
  return unary<tile::CastOp>("cast", x, type, x.rows(), x.cols(), where);
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

template <typename Op, typename... Attr>
static Index identity(const char *what, Where where, Attr... attr) {
  ProgramImpl *tracer = inKernel(what, where);
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

} // namespace kiln
