//===- Scalars.cpp - recording indices and scalars -------------------------------===//
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

/// Two truth values.
template <typename Op>
static Cond condOp(const char *what, const CondOperand &a, const CondOperand &b) {
  ProgramImpl *tracer = ProgramImpl::current(what, a.where);
  Value lhs = tracer ? tracer->use(a.cond.value(), "condition", a.where) : Value();
  Value rhs = lhs ? tracer->use(b.cond.value(), "condition", a.where) : Value();
  if (!rhs)
    return Cond::of(nullptr);
  return Cond::of(
      Value(Op::create(tracer->builder, tracer->loc(a.where), lhs, rhs)).getAsOpaquePointer());
}

Cond operator&&(CondOperand a, CondOperand b) { return condOp<arith::AndIOp>("&&", a, b); }
Cond operator||(CondOperand a, CondOperand b) { return condOp<arith::OrIOp>("||", a, b); }
Cond operator!(CondOperand a) {
  ProgramImpl *tracer = ProgramImpl::current("!", a.where);
  if (!tracer)
    return Cond::of(nullptr);
  Value yes = tracer->constant(tracer->builder.getBoolAttr(true));
  return condOp<arith::XOrIOp>("!", a, CondOperand(Cond::of(yes.getAsOpaquePointer()), a.where));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

namespace detail {

Value useScalar(ProgramImpl *tracer, const AnyScalar &x, Where where) {
  return x.isNumber ? tracer->numberConstant(x.number, tracer->typeOf(x.type), where)
                    : tracer->use(x.value, "scalar", where);
}

template <typename FloatOp, typename IntOp>
static Value arithmetic(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return FloatOp::create(builder, loc, a, b);
  return IntOp::create(builder, loc, a, b);
}

/// False where one of two floats is NaN.
static Value comparison(OpBuilder &builder, Location loc, arith::CmpFPredicate ofFloats,
                        arith::CmpIPredicate ofInts, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::CmpFOp::create(builder, loc, ofFloats, a, b);
  return arith::CmpIOp::create(builder, loc, ofInts, a, b);
}

static Value buildScalarOp(OpBuilder &builder, Location loc, ScalarOp op, Value a, Value b) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (op) {
  case ScalarOp::Add:
    return arithmetic<arith::AddFOp, arith::AddIOp>(builder, loc, a, b);
  case ScalarOp::Sub:
    return arithmetic<arith::SubFOp, arith::SubIOp>(builder, loc, a, b);
  case ScalarOp::Mul:
    return arithmetic<arith::MulFOp, arith::MulIOp>(builder, loc, a, b);
  case ScalarOp::Div:
    return arithmetic<arith::DivFOp, arith::DivSIOp>(builder, loc, a, b);
  case ScalarOp::Lt:
    return comparison(builder, loc, F::OLT, I::slt, a, b);
  case ScalarOp::Le:
    return comparison(builder, loc, F::OLE, I::sle, a, b);
  case ScalarOp::Gt:
    return comparison(builder, loc, F::OGT, I::sgt, a, b);
  case ScalarOp::Ge:
    return comparison(builder, loc, F::OGE, I::sge, a, b);
  }
  return {};
}

ValuePtr scalarOp(ScalarOp op, const AnyScalar &a, const AnyScalar &b, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("scalar arithmetic", where);
  Value lhs = tracer ? useScalar(tracer, a, where) : Value();
  Value rhs = lhs ? useScalar(tracer, b, where) : Value();
  if (!rhs)
    return nullptr;
  return buildScalarOp(tracer->builder, tracer->loc(where), op, lhs, rhs).getAsOpaquePointer();
}

/// Whether a number is not zero.
static Value isNotZero(ProgramImpl *tracer, Location loc, Value value) {
  Type type = value.getType();
  if (isa<FloatType>(type)) {
    Value zero = tracer->constant(tracer->builder.getFloatAttr(type, 0));
    return arith::CmpFOp::create(tracer->builder, loc, arith::CmpFPredicate::UNE, value, zero);
  }
  Value zero = tracer->constant(tracer->builder.getIntegerAttr(type, 0));
  return arith::CmpIOp::create(tracer->builder, loc, arith::CmpIPredicate::ne, value, zero);
}

static Value convertFloat(OpBuilder &builder, Location loc, Value value, Type to) {
  if (isa<IntegerType>(to))
    return arith::FPToSIOp::create(builder, loc, to, value);
  unsigned from = value.getType().getIntOrFloatBitWidth();
  // What no two formats of one size have in common f32 has.
  if (from == to.getIntOrFloatBitWidth())
    value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  if (value.getType().getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, to, value);
  return arith::ExtFOp::create(builder, loc, to, value);
}

static Value convertInt(OpBuilder &builder, Location loc, Value value, Type to) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  if (isa<FloatType>(to) && from == 1)
    return arith::UIToFPOp::create(builder, loc, to, value);
  if (isa<FloatType>(to))
    return arith::SIToFPOp::create(builder, loc, to, value);
  if (from == 1)
    return arith::ExtUIOp::create(builder, loc, to, value);
  if (from < to.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(builder, loc, to, value);
  return arith::TruncIOp::create(builder, loc, to, value);
}

ValuePtr convertScalar(ValuePtr scalar, DType to, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("cast", where);
  Value value = tracer ? tracer->use(scalar, "scalar", where) : Value();
  if (!value)
    return nullptr;
  Location loc = tracer->loc(where);
  Type type = tracer->typeOf(to);
  if (to == DType::I1)
    return isNotZero(tracer, loc, value).getAsOpaquePointer();
  return (isa<FloatType>(value.getType()) ? convertFloat(tracer->builder, loc, value, type)
                                          : convertInt(tracer->builder, loc, value, type))
      .getAsOpaquePointer();
}

ValuePtr convertIndex(Index index, DType to, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("cast", where);
  Value value = tracer ? tracer->use(index, where) : Value();
  if (!value)
    return nullptr;
  OpBuilder &builder = tracer->builder;
  Location loc = tracer->loc(where);
  if (to == DType::I1)
    return isNotZero(tracer, loc, value).getAsOpaquePointer();
  if (!isFloat(to))
    return Value(arith::IndexCastOp::create(builder, loc, tracer->typeOf(to), value))
        .getAsOpaquePointer();
  Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
  return convertInt(builder, loc, wide, tracer->typeOf(to)).getAsOpaquePointer();
}

Index scalarToIndex(ValuePtr scalar, Where where) {
  ProgramImpl *tracer = ProgramImpl::current("toIndex", where);
  Value value = tracer ? tracer->use(scalar, "scalar", where) : Value();
  if (!value)
    return 0;
  return Index::of(Value(arith::IndexCastOp::create(tracer->builder, tracer->loc(where),
                                                    tracer->builder.getIndexType(), value))
                       .getAsOpaquePointer());
}

} // namespace detail
} // namespace kiln
