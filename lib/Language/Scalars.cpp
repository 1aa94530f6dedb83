//===- Scalars.cpp - recording indices and scalars -------------------------------===//
#include "Record/Items.h"

using namespace mlir;

namespace kiln::record {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

template <typename Op, typename Fold>
static Index indexOp(const char *what, Index a, Index b, Fold fold) {
  if (a.isConstant() && b.isConstant())
    if (std::optional<int64_t> folded = fold(a.constant(), b.constant()))
      return *folded;
  Tracer *tracer = Tracer::current(what);
  if (!tracer)
    return 0;
  Value lhs = tracer->use(a), rhs = tracer->use(b);
  if (!lhs || !rhs)
    return 0;
  return Index::of(
      Value(Op::create(tracer->builder, tracer->loc(), lhs, rhs)).getAsOpaquePointer());
}

using Folded = std::optional<int64_t>;

// Sums and products of constants fold unless they overflow, which then shows at run time like any
// other.
Index add(Index a, Index b) {
  return indexOp<arith::AddIOp>("index +", a, b, [](int64_t x, int64_t y) -> Folded {
    int64_t r;
    return llvm::AddOverflow(x, y, r) ? Folded() : r;
  });
}
Index subtract(Index a, Index b) {
  return indexOp<arith::SubIOp>("index -", a, b, [](int64_t x, int64_t y) -> Folded {
    int64_t r;
    return llvm::SubOverflow(x, y, r) ? Folded() : r;
  });
}
Index multiply(Index a, Index b) {
  return indexOp<arith::MulIOp>("index *", a, b, [](int64_t x, int64_t y) -> Folded {
    int64_t r;
    return llvm::MulOverflow(x, y, r) ? Folded() : r;
  });
}
static Index divide(Index a, Index b) {
  return indexOp<arith::DivSIOp>("index /", a, b,
                                 [](int64_t x, int64_t y) { return y <= 0 ? Folded() : x / y; });
}
static Index remainder(Index a, Index b) {
  return indexOp<arith::RemSIOp>("index %", a, b,
                                 [](int64_t x, int64_t y) { return y <= 0 ? Folded() : x % y; });
}
static Index ceildiv(Index a, Index b) {
  return indexOp<arith::CeilDivSIOp>("ceildiv", a, b, [](int64_t x, int64_t y) {
    return y <= 0 || x < 0 ? Folded() : x / y + (x % y != 0);
  });
}
Index min(Index a, Index b) {
  return indexOp<arith::MinSIOp>("min", a, b,
                                 [](int64_t x, int64_t y) { return Folded(std::min(x, y)); });
}
Index max(Index a, Index b) {
  return indexOp<arith::MaxSIOp>("max", a, b,
                                 [](int64_t x, int64_t y) { return Folded(std::max(x, y)); });
}

/// A comparison of two indices.
template <arith::CmpIPredicate predicate> static Cond compare(Index a, Index b) {
  Tracer *tracer = Tracer::current("a comparison");
  Value lhs = tracer ? tracer->use(a) : Value();
  Value rhs = lhs ? tracer->use(b) : Value();
  if (!rhs)
    return {nullptr};
  Value result = arith::CmpIOp::create(tracer->builder, tracer->loc(), predicate, lhs, rhs);
  return {result.getAsOpaquePointer()};
}

/// Two truth values.
template <typename Op> static Cond condOp(const char *what, Cond a, Cond b) {
  Tracer *tracer = Tracer::current(what);
  Value lhs = tracer ? tracer->use(a.value, "condition") : Value();
  Value rhs = lhs ? tracer->use(b.value, "condition") : Value();
  if (!rhs)
    return {nullptr};
  return {Value(Op::create(tracer->builder, tracer->loc(), lhs, rhs)).getAsOpaquePointer()};
}

static Cond both(Cond a, Cond b) { return condOp<arith::AndIOp>("&&", a, b); }
static Cond either(Cond a, Cond b) { return condOp<arith::OrIOp>("||", a, b); }
static Cond negate(Cond a) {
  Tracer *tracer = Tracer::current("!");
  if (!tracer)
    return {nullptr};
  Value yes = tracer->constant(tracer->builder.getBoolAttr(true));
  return condOp<arith::XOrIOp>("!", a, {yes.getAsOpaquePointer()});
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp>
static Value arithmetic(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return FloatOp::create(builder, loc, a, b);
  return IntOp::create(builder, loc, a, b);
}

/// False where one of two floats is NaN.
template <arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofInts>
static Value comparison(OpBuilder &builder, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::CmpFOp::create(builder, loc, ofFloats, a, b);
  return arith::CmpIOp::create(builder, loc, ofInts, a, b);
}

/// Makes a value of two scalars; one may be a number, and takes the type of the other.
template <typename Build> static Scalar scalarOp(const Number &a, const Number &b, Build build) {
  if (a.isNumber && b.isNumber)
    throw BadArgument("takes at least one scalar of the program");
  DType type = a.isNumber ? b.type : a.type;
  Tracer *tracer = Tracer::current("scalar arithmetic");
  Value lhs = tracer ? tracer->use(a, type) : Value();
  Value rhs = lhs ? tracer->use(b, type) : Value();
  if (!rhs)
    return {nullptr, type};
  return {build(tracer->builder, tracer->loc(), lhs, rhs).getAsOpaquePointer(), type};
}
template <typename FloatOp, typename IntOp>
static Scalar compute(const Number &a, const Number &b) {
  return scalarOp(a, b, arithmetic<FloatOp, IntOp>);
}
template <arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofInts>
static Cond compareScalars(const Number &a, const Number &b) {
  return {scalarOp(a, b, comparison<ofFloats, ofInts>).value};
}

/// Whether a number is not zero.
static Value isNotZero(Tracer *tracer, Location loc, Value value) {
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

static Scalar convertScalar(const Number &scalar, DType to) {
  if (scalar.isNumber)
    throw BadArgument("takes a scalar of the program");
  if (scalar.type == to)
    return {scalar.value, to};
  Tracer *tracer = Tracer::current("cast");
  Value value = tracer ? tracer->use(scalar.value, "scalar") : Value();
  if (!value)
    return {nullptr, to};
  Location loc = tracer->loc();
  Type type = tracer->typeOf(to);
  if (to == DType::I1)
    return {isNotZero(tracer, loc, value).getAsOpaquePointer(), to};
  Value made = isa<FloatType>(value.getType()) ? convertFloat(tracer->builder, loc, value, type)
                                               : convertInt(tracer->builder, loc, value, type);
  return {made.getAsOpaquePointer(), to};
}

static Scalar convertIndex(Index index, DType to) {
  Tracer *tracer = Tracer::current("cast");
  Value value = tracer ? tracer->use(index) : Value();
  if (!value)
    return {nullptr, to};
  OpBuilder &builder = tracer->builder;
  Location loc = tracer->loc();
  if (to == DType::I1)
    return {isNotZero(tracer, loc, value).getAsOpaquePointer(), to};
  bool isWide = isFloat(to);
  Value made = arith::IndexCastOp::create(
      builder, loc, isWide ? builder.getI64Type() : tracer->typeOf(to), value);
  if (isWide)
    made = convertInt(builder, loc, made, tracer->typeOf(to));
  return {made.getAsOpaquePointer(), to};
}

static Index scalarToIndex(const Number &scalar) {
  if (scalar.isNumber || isFloat(scalar.type))
    throw BadArgument("takes an integer scalar of the program");
  Tracer *tracer = Tracer::current("toIndex");
  Value value = tracer ? tracer->use(scalar.value, "scalar") : Value();
  if (!value)
    return 0;
  return Index::of(Value(arith::IndexCastOp::create(tracer->builder, tracer->loc(),
                                                    tracer->builder.getIndexType(), value))
                       .getAsOpaquePointer());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static void addIndices(std::vector<RecordedOp> &list) {
  using P = arith::CmpIPredicate;
  auto of = [&](const char *name, const char *summary, auto *body) {
    list.push_back(operation(name, summary, {"a", "b"}, body));
  };
  of("index.add", "a + b", add);
  of("index.sub", "a - b", subtract);
  of("index.mul", "a * b", multiply);
  of("index.div", "a / b, rounded toward zero", divide);
  of("index.rem", "What remains of a after division by b.", remainder);
  of("index.lt", "a < b", compare<P::slt>);
  of("index.le", "a <= b", compare<P::sle>);
  of("index.gt", "a > b", compare<P::sgt>);
  of("index.ge", "a >= b", compare<P::sge>);
  of("index.eq", "a == b", compare<P::eq>);
  of("index.ne", "a != b", compare<P::ne>);
  of("index.ceildiv", "a / b, rounded up", ceildiv);
  of("index.min", "The smaller of two.", min);
  of("index.max", "The larger of two.", max);
  list.push_back(
      operation("index.cast", "An index as a scalar.", {"index", "dtype"}, convertIndex));
  of("condition.and", "Both hold.", both);
  of("condition.or", "At least one holds.", either);
  list.push_back(operation("condition.not", "It does not hold.", {"a"}, negate));
}

void addScalarOperations(std::vector<RecordedOp> &list) {
  addIndices(list);
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  auto of = [&](const char *name, const char *summary, auto *body) {
    list.push_back(operation(name, summary, {"a", "b"}, body));
  };
  of("scalar.add", "a + b", compute<arith::AddFOp, arith::AddIOp>);
  of("scalar.sub", "a - b", compute<arith::SubFOp, arith::SubIOp>);
  of("scalar.mul", "a * b", compute<arith::MulFOp, arith::MulIOp>);
  of("scalar.div", "a / b", compute<arith::DivFOp, arith::DivSIOp>);
  of("scalar.lt", "a < b", compareScalars<F::OLT, I::slt>);
  of("scalar.le", "a <= b", compareScalars<F::OLE, I::sle>);
  of("scalar.gt", "a > b", compareScalars<F::OGT, I::sgt>);
  of("scalar.ge", "a >= b", compareScalars<F::OGE, I::sge>);
  list.push_back(operation("scalar.cast", "A scalar as another element type.", {"scalar", "dtype"},
                           convertScalar));
  list.push_back(
      operation("scalar.index", "An integer scalar as an index.", {"scalar"}, scalarToIndex));
}

} // namespace kiln::record
