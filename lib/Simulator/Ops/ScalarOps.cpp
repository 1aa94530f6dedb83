// The arith dialect on scalars. Integers wrap, but an index must not leave its 64 bits: that is a
// fault, never a silent difference to the reference, whose indices are unbounded. What arith leaves
// undefined is defined here: a division by zero is a fault, a shift by a negative count, the width
// or more shifts everything out, float to integer saturates.
#include "Simulator/Interpreter.h"
#include "Simulator/Watcher.h"

#include "kiln/Program/Signature.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace kiln::simulator {
namespace {

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

Status unsupportedType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return Status(StatusCode::Unsupported, "scalars of type " + text + " are not supported");
}

/// Wraps an integer, given by its low 64 bits, into the op's result.
Status setInt(Interpreter &in, Operation *op, uint64_t value) {
  std::optional<DType> type = dtypeOf(op->getResult(0).getType());
  if (!type || isFloat(*type))
    return unsupportedType(op->getResult(0).getType());
  in.set(op->getResult(0),
         ScalarBits::fromInt(*type, canonical(*type, static_cast<int64_t>(value))));
  return Status::ok();
}

/// Rounds a float into the op's result.
Status setFloat(Interpreter &in, Operation *op, double value) {
  std::optional<DType> type = dtypeOf(op->getResult(0).getType());
  if (!type || !isFloat(*type))
    return unsupportedType(op->getResult(0).getType());
  in.set(op->getResult(0), ScalarBits::fromDouble(*type, value));
  if (Watcher *watcher = in.memory().watcher(); watcher && std::isnan(value))
    watcher->scalarIsNan(in, op);
  return Status::ok();
}

Int intOf(Interpreter &in, Operation *op, unsigned operand) {
  return Int(in.scalar(op->getOperand(operand)));
}

float floatOf(Interpreter &in, Operation *op, unsigned operand) {
  return static_cast<float>(in.scalar(op->getOperand(operand)).asDouble());
}

using Wide = __int128; ///< Holds sums, products and quotients of all 64-bit integers.

/// `F(Wide, Wide)` gives the exact result for signed operands.
template <auto F> Status exactBinary(Interpreter &in, Operation *op) {
  int64_t a = intOf(in, op, 0).s(), b = intOf(in, op, 1).s();
  Wide exact = F(a, b);
  if (op->getResult(0).getType().isIndex() && exact != static_cast<int64_t>(exact))
    return fault("the result for " + std::to_string(a) + " and " + std::to_string(b) +
                 " does not fit the 64 bits of an index");
  return setInt(in, op, static_cast<uint64_t>(exact));
}

/// `F(Int, Int)` gives the low 64 bits of the result.
template <auto F> Status intBinary(Interpreter &in, Operation *op) {
  return setInt(in, op, static_cast<uint64_t>(F(intOf(in, op, 0), intOf(in, op, 1))));
}

/// `Run`, unless it would divide by zero.
template <OpTable::Handler Run> Status division(Interpreter &in, Operation *op) {
  if (intOf(in, op, 1).u() == 0)
    return fault("integer division of " + std::to_string(intOf(in, op, 0).s()) + " by zero");
  return Run(in, op);
}

template <auto F> Status floatBinary(Interpreter &in, Operation *op) {
  return setFloat(in, op, F(floatOf(in, op, 0), floatOf(in, op, 1)));
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

Status constant(Interpreter &in, arith::ConstantOp op) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue());
      integer && integer.getValue().getBitWidth() <= 64)
    return setInt(in, op, integer.getValue().getSExtValue());
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    return setFloat(in, op, real.getValueAsDouble());
  return unsupportedType(op.getType());
}

Status select(Interpreter &in, arith::SelectOp op) {
  if (!op.getCondition().getType().isInteger(1))
    return unsupportedType(op.getCondition().getType());
  in.set(op.getResult(),
         in.get(in.scalar(op.getCondition()).bits ? op.getTrueValue() : op.getFalseValue()));
  return Status::ok();
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

Status compareInts(Interpreter &in, arith::CmpIOp op) {
  return setInt(in, op, compare(op.getPredicate(), intOf(in, op, 0), intOf(in, op, 1)));
}
Status compareFloats(Interpreter &in, arith::CmpFOp op) {
  return setInt(in, op, compare(op.getPredicate(), floatOf(in, op, 0), floatOf(in, op, 1)));
}

Status signedInt(Interpreter &in, Operation *op) { return setInt(in, op, intOf(in, op, 0).s()); }
Status unsignedInt(Interpreter &in, Operation *op) { return setInt(in, op, intOf(in, op, 0).u()); }
Status signedToFloat(Interpreter &in, Operation *op) {
  return setFloat(in, op, static_cast<float>(intOf(in, op, 0).s()));
}
Status unsignedToFloat(Interpreter &in, Operation *op) {
  return setFloat(in, op, static_cast<float>(intOf(in, op, 0).u()));
}
Status floatToFloat(Interpreter &in, Operation *op) { return setFloat(in, op, floatOf(in, op, 0)); }

Status floatToSigned(Interpreter &in, Operation *op) {
  std::optional<DType> type = dtypeOf(op->getResult(0).getType());
  if (!type)
    return unsupportedType(op->getResult(0).getType());
  in.set(op->getResult(0), ScalarBits::fromDouble(*type, floatOf(in, op, 0)));
  return Status::ok();
}

} // namespace

void addScalarOps(OpTable &table) {
  table.add<arith::ConstantOp, constant>();
  table.add<arith::SelectOp, select>();
  table.add<arith::CmpIOp, compareInts>();
  table.add<arith::CmpFOp, compareFloats>();

  table.add<arith::AddIOp, exactBinary<[](Wide a, Wide b) { return a + b; }>>();
  table.add<arith::SubIOp, exactBinary<[](Wide a, Wide b) { return a - b; }>>();
  table.add<arith::MulIOp, exactBinary<[](Wide a, Wide b) { return a * b; }>>();
  table.add<arith::AndIOp, intBinary<[](Int a, Int b) { return a.bits & b.bits; }>>();
  table.add<arith::OrIOp, intBinary<[](Int a, Int b) { return a.bits | b.bits; }>>();
  table.add<arith::XOrIOp, intBinary<[](Int a, Int b) { return a.bits ^ b.bits; }>>();
  table.add<arith::ShLIOp, intBinary<shiftLeft>>();
  table.add<arith::ShRSIOp, intBinary<shiftRightSigned>>();
  table.add<arith::ShRUIOp, intBinary<shiftRight>>();
  table.add<arith::MinSIOp, intBinary<[](Int a, Int b) { return std::min(a.s(), b.s()); }>>();
  table.add<arith::MaxSIOp, intBinary<[](Int a, Int b) { return std::max(a.s(), b.s()); }>>();
  table.add<arith::MinUIOp, intBinary<[](Int a, Int b) { return std::min(a.u(), b.u()); }>>();
  table.add<arith::MaxUIOp, intBinary<[](Int a, Int b) { return std::max(a.u(), b.u()); }>>();
  table.add<arith::DivSIOp, division<exactBinary<[](Wide a, Wide b) { return a / b; }>>>();
  table.add<arith::RemSIOp, division<exactBinary<[](Wide a, Wide b) { return a % b; }>>>();
  table.add<arith::FloorDivSIOp, division<exactBinary<floorDiv>>>();
  table.add<arith::CeilDivSIOp, division<exactBinary<ceilDiv>>>();
  table.add<arith::DivUIOp, division<intBinary<[](Int a, Int b) { return a.u() / b.u(); }>>>();
  table.add<arith::RemUIOp, division<intBinary<[](Int a, Int b) { return a.u() % b.u(); }>>>();
  table.add<
      arith::CeilDivUIOp,
      division<intBinary<[](Int a, Int b) { return a.u() / b.u() + (a.u() % b.u() != 0); }>>>();

  table.add<arith::AddFOp, floatBinary<[](float a, float b) { return a + b; }>>();
  table.add<arith::SubFOp, floatBinary<[](float a, float b) { return a - b; }>>();
  table.add<arith::MulFOp, floatBinary<[](float a, float b) { return a * b; }>>();
  table.add<arith::DivFOp, floatBinary<[](float a, float b) { return a / b; }>>();
  table.add<arith::RemFOp, floatBinary<[](float a, float b) { return std::fmod(a, b); }>>();
  table.add<arith::MaximumFOp, floatBinary<maximum>>();
  table.add<arith::MinimumFOp, floatBinary<minimum>>();
  table.add<arith::NegFOp,
            [](Interpreter &in, Operation *op) { return setFloat(in, op, -floatOf(in, op, 0)); }>();

  table.add<arith::IndexCastOp, signedInt>();
  table.add<arith::ExtSIOp, signedInt>();
  table.add<arith::TruncIOp, signedInt>();
  table.add<arith::IndexCastUIOp, unsignedInt>();
  table.add<arith::ExtUIOp, unsignedInt>();
  table.add<arith::SIToFPOp, signedToFloat>();
  table.add<arith::UIToFPOp, unsignedToFloat>();
  table.add<arith::FPToSIOp, floatToSigned>();
  table.add<arith::ExtFOp, floatToFloat>();
  table.add<arith::TruncFOp, floatToFloat>();
}

} // namespace kiln::simulator
