#include "kiln/Program/ScalarEvaluation.h"

#include "kiln/Program/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace kiln {
namespace {

using Operands = ArrayRef<ScalarBits>;
using Result = Expected<ScalarBits>;

Status fault(std::string message) { return Status(StatusCode::KernelFailed, std::move(message)); }

Status unsupportedType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return Status(StatusCode::Unsupported, "scalars of type " + text + " are not supported");
}

/// An integer operand, to be read as signed or as unsigned.
struct Int {
  uint64_t bits;
  unsigned width;

  explicit Int(ScalarBits scalar)
      : bits(scalar.bits),
        width(scalar.type == DType::I1 ? 1 : 8 * static_cast<unsigned>(sizeOf(scalar.type))) {}
  uint64_t u() const { return bits & (UINT64_MAX >> (64 - width)); }
  int64_t s() const { return static_cast<int64_t>(bits << (64 - width)) >> (64 - width); }
};

/// An integer, given by its low 64 bits, wrapped to the type of the op's result.
Result wrapped(Operation *op, uint64_t value) {
  std::optional<DType> type = dtypeOf(op->getResult(0).getType());
  if (!type || isFloat(*type))
    return unsupportedType(op->getResult(0).getType());
  Int result(ScalarBits{value, *type});
  return ScalarBits::fromInt(*type,
                             *type == DType::I1 ? static_cast<int64_t>(result.u()) : result.s());
}

/// A float, rounded to the type of the op's result.
Result rounded(Operation *op, double value) {
  std::optional<DType> type = dtypeOf(op->getResult(0).getType());
  if (!type || !isFloat(*type))
    return unsupportedType(op->getResult(0).getType());
  return ScalarBits::fromDouble(*type, value);
}

float floatOf(ScalarBits scalar) { return static_cast<float>(scalar.asDouble()); }

using Wide = __int128; ///< Holds sums, products and quotients of all 64-bit integers.

/// `F(Wide, Wide)` gives the exact result for signed operands.
template <auto F> Result exactBinary(Operation *op, Operands in) {
  int64_t a = Int(in[0]).s(), b = Int(in[1]).s();
  Wide exact = F(a, b);
  if (op->getResult(0).getType().isIndex() && exact != static_cast<int64_t>(exact))
    return fault("the result for " + std::to_string(a) + " and " + std::to_string(b) +
                 " does not fit the 64 bits of an index");
  return wrapped(op, static_cast<uint64_t>(exact));
}

/// `F(Int, Int)` gives the low 64 bits of the result.
template <auto F> Result intBinary(Operation *op, Operands in) {
  return wrapped(op, static_cast<uint64_t>(F(Int(in[0]), Int(in[1]))));
}

/// `Run`, unless it would divide by zero.
template <Result (*Run)(Operation *, Operands)> Result division(Operation *op, Operands in) {
  if (Int(in[1]).u() == 0)
    return fault("integer division of " + std::to_string(Int(in[0]).s()) + " by zero");
  return Run(op, in);
}

template <auto F> Result floatBinary(Operation *op, Operands in) {
  return rounded(op, F(floatOf(in[0]), floatOf(in[1])));
}

Wide floorDiv(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
Wide ceilDiv(Wide a, Wide b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

uint64_t shiftLeft(Int a, Int b) { return b.u() < a.width ? a.u() << b.u() : 0; }
uint64_t shiftRight(Int a, Int b) { return b.u() < a.width ? a.u() >> b.u() : 0; }
int64_t shiftRightSigned(Int a, Int b) { return a.s() >> std::min<uint64_t>(b.u(), a.width - 1); }

/// The larger; NaN if either is, and +0 over -0.
float maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
float minimum(float a, float b) { return -maximum(-a, -b); }

Result constant(Operation *op, Operands) {
  Attribute value = cast<arith::ConstantOp>(op).getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value);
      integer && integer.getValue().getBitWidth() <= 64)
    return wrapped(op, integer.getValue().getSExtValue());
  if (auto real = dyn_cast<FloatAttr>(value))
    return rounded(op, real.getValueAsDouble());
  return unsupportedType(op->getResult(0).getType());
}

Result select(Operation *op, Operands in) {
  Type condition = op->getOperand(0).getType();
  if (!condition.isInteger(1))
    return unsupportedType(condition);
  return in[0].bits ? in[1] : in[2];
}

bool compare(arith::CmpIPredicate how, Int a, Int b) {
  using P = arith::CmpIPredicate;
  switch (how) {
  case P::eq:
    return a.u() == b.u();
  case P::ne:
    return a.u() != b.u();
  case P::slt:
    return a.s() < b.s();
  case P::sle:
    return a.s() <= b.s();
  case P::sgt:
    return a.s() > b.s();
  case P::sge:
    return a.s() >= b.s();
  case P::ult:
    return a.u() < b.u();
  case P::ule:
    return a.u() <= b.u();
  case P::ugt:
    return a.u() > b.u();
  case P::uge:
    return a.u() >= b.u();
  }
  return false;
}

bool compare(arith::CmpFPredicate how, float a, float b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (how) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return a == b;
  case P::UEQ:
    return unordered || a == b;
  case P::ONE:
    return !unordered && a != b;
  case P::UNE:
    return a != b;
  case P::OLT:
    return a < b;
  case P::ULT:
    return unordered || a < b;
  case P::OLE:
    return a <= b;
  case P::ULE:
    return unordered || a <= b;
  case P::OGT:
    return a > b;
  case P::UGT:
    return unordered || a > b;
  case P::OGE:
    return a >= b;
  case P::UGE:
    return unordered || a >= b;
  }
  return false;
}

Result compareInts(Operation *op, Operands in) {
  return wrapped(op, compare(cast<arith::CmpIOp>(op).getPredicate(), Int(in[0]), Int(in[1])));
}
Result compareFloats(Operation *op, Operands in) {
  return wrapped(op,
                 compare(cast<arith::CmpFOp>(op).getPredicate(), floatOf(in[0]), floatOf(in[1])));
}

Result signedInt(Operation *op, Operands in) { return wrapped(op, Int(in[0]).s()); }
Result unsignedInt(Operation *op, Operands in) { return wrapped(op, Int(in[0]).u()); }
Result signedToFloat(Operation *op, Operands in) {
  return rounded(op, static_cast<float>(Int(in[0]).s()));
}
Result unsignedToFloat(Operation *op, Operands in) {
  return rounded(op, static_cast<float>(Int(in[0]).u()));
}
Result floatToFloat(Operation *op, Operands in) { return rounded(op, floatOf(in[0])); }
Result negate(Operation *op, Operands in) { return rounded(op, -floatOf(in[0])); }

Result floatToSigned(Operation *op, Operands in) {
  std::optional<DType> type = dtypeOf(op->getResult(0).getType());
  if (!type)
    return unsupportedType(op->getResult(0).getType());
  return ScalarBits::fromDouble(*type, floatOf(in[0]));
}

/// One row for each op of the language.
struct Table {
  Table();
  template <typename Op> void add(Result (*evaluate)(Operation *, Operands)) {
    Rows[TypeID::get<Op>()] = evaluate;
    Ops.push_back(TypeID::get<Op>());
  }
  llvm::DenseMap<TypeID, Result (*)(Operation *, Operands)> Rows;
  SmallVector<TypeID> Ops;
};

Table::Table() {
  add<arith::ConstantOp>(constant);
  add<arith::SelectOp>(select);
  add<arith::CmpIOp>(compareInts);
  add<arith::CmpFOp>(compareFloats);

  add<arith::AddIOp>(exactBinary<[](Wide a, Wide b) { return a + b; }>);
  add<arith::SubIOp>(exactBinary<[](Wide a, Wide b) { return a - b; }>);
  add<arith::MulIOp>(exactBinary<[](Wide a, Wide b) { return a * b; }>);
  add<arith::AndIOp>(intBinary<[](Int a, Int b) { return a.bits & b.bits; }>);
  add<arith::OrIOp>(intBinary<[](Int a, Int b) { return a.bits | b.bits; }>);
  add<arith::XOrIOp>(intBinary<[](Int a, Int b) { return a.bits ^ b.bits; }>);
  add<arith::ShLIOp>(intBinary<shiftLeft>);
  add<arith::ShRSIOp>(intBinary<shiftRightSigned>);
  add<arith::ShRUIOp>(intBinary<shiftRight>);
  add<arith::MinSIOp>(intBinary<[](Int a, Int b) { return std::min(a.s(), b.s()); }>);
  add<arith::MaxSIOp>(intBinary<[](Int a, Int b) { return std::max(a.s(), b.s()); }>);
  add<arith::MinUIOp>(intBinary<[](Int a, Int b) { return std::min(a.u(), b.u()); }>);
  add<arith::MaxUIOp>(intBinary<[](Int a, Int b) { return std::max(a.u(), b.u()); }>);
  add<arith::DivSIOp>(division<exactBinary<[](Wide a, Wide b) { return a / b; }>>);
  add<arith::RemSIOp>(division<exactBinary<[](Wide a, Wide b) { return a % b; }>>);
  add<arith::FloorDivSIOp>(division<exactBinary<floorDiv>>);
  add<arith::CeilDivSIOp>(division<exactBinary<ceilDiv>>);
  add<arith::DivUIOp>(division<intBinary<[](Int a, Int b) { return a.u() / b.u(); }>>);
  add<arith::RemUIOp>(division<intBinary<[](Int a, Int b) { return a.u() % b.u(); }>>);
  add<arith::CeilDivUIOp>(
      division<intBinary<[](Int a, Int b) { return a.u() / b.u() + (a.u() % b.u() != 0); }>>);

  add<arith::AddFOp>(floatBinary<[](float a, float b) { return a + b; }>);
  add<arith::SubFOp>(floatBinary<[](float a, float b) { return a - b; }>);
  add<arith::MulFOp>(floatBinary<[](float a, float b) { return a * b; }>);
  add<arith::DivFOp>(floatBinary<[](float a, float b) { return a / b; }>);
  add<arith::RemFOp>(floatBinary<[](float a, float b) { return std::fmod(a, b); }>);
  add<arith::MaximumFOp>(floatBinary<maximum>);
  add<arith::MinimumFOp>(floatBinary<minimum>);
  add<arith::NegFOp>(negate);

  add<arith::IndexCastOp>(signedInt);
  add<arith::ExtSIOp>(signedInt);
  add<arith::TruncIOp>(signedInt);
  add<arith::IndexCastUIOp>(unsignedInt);
  add<arith::ExtUIOp>(unsignedInt);
  add<arith::SIToFPOp>(signedToFloat);
  add<arith::UIToFPOp>(unsignedToFloat);
  add<arith::FPToSIOp>(floatToSigned);
  add<arith::ExtFOp>(floatToFloat);
  add<arith::TruncFOp>(floatToFloat);
}

const Table &table() {
  static const Table made;
  return made;
}

} // namespace

Expected<ScalarBits> evaluateScalar(Operation *op, ArrayRef<ScalarBits> operands) {
  auto evaluate = table().Rows.lookup(op->getName().getTypeID());
  if (!evaluate)
    return Status(StatusCode::Unsupported,
                  op->getName().getStringRef().str() + " is not an operation on scalars");
  return evaluate(op, operands);
}

ArrayRef<TypeID> evaluatedOps() { return table().Ops; }

} // namespace kiln
