// Numbers: arithmetic, comparisons, conversions, and where blocks and lanes stand.
#include "CudaFunction.h"

#include "kiln/Program/ScalarText.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cuda {

static std::string literal(TypedAttr constant) {
  const text::CppNumbers numbers{"least<i64>()", "notANumber()", "infinity()"};
  std::string number = text::cppNumber(constant, numbers);
  Type type = constant.getType();
  if (type.isInteger(1) || type.isInteger(32) || type.isF32() || number == numbers.leastInteger)
    return number;
  std::string convert = isa<FloatType>(type) ? "convert<" + cppType(type) + ">" : cppType(type);
  return convert + "(" + number + ")";
}

Expression FunctionEmitter::infix(Operation *op, StringRef sign, Binding binds) {
  Value right = op->getOperand(1);
  // What follows binds tighter: a - (b - c).
  std::string first = operand(op->getOperand(0), binds),
              second = operand(right, Binding(int(binds) + 1));
  bool isInt = false;
  if (op->getResult(0).getType().isIndex() && Values[op->getOperand(0)].isInt &&
      Values[right].isInt) {
    isInt = Facts.rangeOf(op->getResult(0)).isNarrow();
    if (!isInt) // C++ would compute it in 32 bits
      first = "i64(" + argument(op->getOperand(0)) + ")";
  }
  IntegerAttr constant;
  if (sign == "+" && matchPattern(right, m_Constant(&constant)) &&
      constant.getValue().isNegative() && !constant.getValue().isMinSignedValue())
    return {first + " - " + second.substr(1), binds, isInt};
  return {first + " " + sign.str() + " " + second, binds, isInt};
}

Expression FunctionEmitter::compareText(arith::CmpIOp op) {
  StringRef sign = signOf(op.getPredicate());
  Type type = op.getLhs().getType();
  // The one bit of an i1 is its sign.
  std::string cast = isUnsigned(op.getPredicate()) ? "bitsOf" : type.isInteger(1) ? "signedOf" : "";
  if (cast.empty())
    return infix(op, sign, Binding::Comparison);
  cast += "<" + cppType(type) + ">(";
  return {cast + argument(op.getLhs()) + ") " + sign.str() + " " + cast + argument(op.getRhs()) +
              ")",
          Binding::Comparison};
}

Expression FunctionEmitter::compareText(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  std::string a = "widen(" + argument(op.getLhs()) + ")",
              b = "widen(" + argument(op.getRhs()) + ")";
  auto ordered = [&](StringRef sign) {
    return Expression{a + " " + sign.str() + " " + b, Binding::Comparison};
  };
  auto either = [&](StringRef opposite) {
    return Expression{"!(" + ordered(opposite).text + ")", Binding::Unary};
  };
  std::string isOrdered = "(" + a + " == " + a + " && " + b + " == " + b + ")";
  switch (op.getPredicate()) {
  case P::AlwaysFalse:
    return {"false"};
  case P::OEQ:
    return ordered("==");
  case P::OGT:
    return ordered(">");
  case P::OGE:
    return ordered(">=");
  case P::OLT:
    return ordered("<");
  case P::OLE:
    return ordered("<=");
  case P::ONE:
    return {isOrdered + " && " + ordered("!=").text, Binding::And};
  case P::ORD:
    return {isOrdered};
  case P::UEQ:
    return {"!" + isOrdered + " || " + ordered("==").text, Binding::Or};
  case P::UGT:
    return either("<=");
  case P::UGE:
    return either("<");
  case P::ULT:
    return either(">=");
  case P::ULE:
    return either(">");
  case P::UNE:
    return ordered("!=");
  case P::UNO:
    return {"!" + isOrdered, Binding::Unary};
  case P::AlwaysTrue:
    return {"true"};
  }
  llvm_unreachable("all predicates are above");
}

/// From one type of numbers to another.
std::string FunctionEmitter::convertText(Operation *op) {
  Value from = op->getOperand(0);
  std::string to = cppType(op->getResult(0).getType()), given = argument(from);
  std::string type = "<" + cppType(from.getType()) + ">(";
  bool isBit = from.getType().isInteger(1);
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return "wrapped<" + to + ">(bitsOf" + type + given + "))";
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    if (op->getResult(0).getType().isInteger(1))
      return "wrapped<bool>(u64(" + given + "))";
    return "static_cast<" + to + ">(" + (isBit ? "signedOf(" + given + ")" : given) + ")";
  }
  if (isa<arith::UIToFPOp>(op))
    return "convert<" + to + ">(float(bitsOf" + type + given + ")))";
  if (isa<arith::SIToFPOp>(op) && isBit)
    return "convert<" + to + ">(signedOf(" + given + "))";
  if (isa<arith::FPToSIOp>(op) && to == "bool")
    return "";
  return "convert<" + to + ">(" + given + ")";
}

Expression FunctionEmitter::scalarText(Operation *op) {
  Type type = op->getResult(0).getType();
  std::string to = cppType(type);
  auto given = [&](unsigned k) { return argument(op->getOperand(k)); };
  if (type.isIndex()) { // no index comes near the end of 64 bits: plain arithmetic is meant
    if (isa<arith::AddIOp>(op))
      return infix(op, "+", Binding::Sum);
    if (isa<arith::SubIOp>(op))
      return infix(op, "-", Binding::Sum);
    if (isa<arith::MulIOp>(op))
      return infix(op, "*", Binding::Product);
  }
  if (const ScalarFunctions *functions = scalarFunctions(op);
      functions && !functions->cuda.empty()) {
    std::string compute = isa<FloatType>(type) ? "float" : to;
    std::string call = functions->cuda.str() + "<" + compute + ">(" +
                       (isa<FloatType>(type) ? "widen(" + given(0) + "), widen(" + given(1) + ")"
                                             : given(0) + ", " + given(1)) +
                       ")";
    return {compute == to ? call : "convert<" + to + ">(" + call + ")"};
  }
  auto cast = [&](const Expression &what) { return Expression{to + "(" + what.text + ")"}; };
  return TypeSwitch<Operation *, Expression>(op)
      .Case<arith::FloorDivSIOp>(
          [&](auto) { return Expression{"floorDiv(" + given(0) + ", " + given(1) + ")"}; })
      .Case<arith::CeilDivSIOp>(
          [&](auto) { return Expression{"ceilDiv(" + given(0) + ", " + given(1) + ")"}; })
      .Case<arith::AndIOp>([&](auto) { return cast(infix(op, "&", Binding::BitAnd)); })
      .Case<arith::OrIOp>([&](auto) { return cast(infix(op, "|", Binding::BitOr)); })
      .Case<arith::XOrIOp>([&](auto) { return cast(infix(op, "^", Binding::BitXor)); })
      .Case<arith::NegFOp>(
          [&](auto) { return Expression{"convert<" + to + ">(-widen(" + given(0) + "))"}; })
      .Case<arith::SelectOp>([&](auto select) { // both sides as one type
        return Expression{operand(select.getCondition(), Binding::Or) + " ? " + to + "(" +
                              argument(select.getTrueValue()) + ") : " + to + "(" +
                              argument(select.getFalseValue()) + ")",
                          Binding::Conditional};
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::ExtFOp,
            arith::TruncFOp>([&](auto) { return Expression{convertText(op)}; })
      .Case<arith::CmpIOp, arith::CmpFOp>([&](auto compare) { return compareText(compare); })
      .Default(Expression{});
}

/// Whether a number can stand where it is used: there is one such place, in the same block, so that
/// what a loop would compute again and again stays before it; and it is short enough to read there.
/// Numbers do not change, and what reads memory is no expression.
static bool standsWhereUsed(Value number, const Expression &expression) {
  return number.hasOneUse() && number.user_begin()->getBlock() == number.getParentBlock() &&
         expression.text.size() <= 60;
}

bool FunctionEmitter::emitScalar(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (cppType(constant.getType()).empty())
      return false;
    // A number of type index reads best as such.
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    std::string number = integer && constant.getType().isIndex() ? std::to_string(integer.getInt())
                                                                 : literal(constant.getValue());
    set(constant, number, number.front() == '-' ? Binding::Unary : Binding::Primary,
        constant.getType().isIndex() && Facts.rangeOf(constant).isNarrow());
    return true;
  }
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto type = cast<ir::TensorType>(dim.getTensor().getType());
    int64_t axis = dim.getDim();
    set(dim,
        type.isDynamicDim(axis) ? text(dim.getTensor()) + ".extents[" + std::to_string(axis) + "]"
                                : std::to_string(type.getShape()[axis]),
        Binding::Primary, !type.isDynamicDim(axis) && Facts.rangeOf(dim).isNarrow());
    return true;
  }
  if (auto block = dyn_cast<tile::BlockIdxOp>(op)) {
    set(block, "block.index[" + std::to_string(block.getDim()) + "]");
    return true;
  }
  if (auto count = dyn_cast<tile::BlockCountOp>(op)) {
    set(count, "args.grid[" + std::to_string(count.getDim()) + "]");
    return true;
  }
  if (isa<tile::BarrierOp>(op)) {
    Kernel.hasBarrier = true;
    line(isCopying() ? "allBlocks.meetByWarp();"
                     : "allBlocks.meet(" + Kernel.warpgroup().str() + ");");
    return true;
  }
  if (auto lane = dyn_cast<tile::LaneOp>(op)) {
    set(lane, "lane");
    return true;
  }
  if (auto read = dyn_cast<ir::ReadOp>(op)) {
    std::string type = cppType(read.getType());
    if (type.empty())
      return false;
    define(read, "*elementOf<" + type + ">(" + text(read.getTensor()) + ", " +
                     list(read.getStaticIndices(), read.getIndices()) + ")");
    return true;
  }
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1)
    return false;
  Expression expression = scalarText(op);
  if (expression.text.empty())
    return false;
  if (standsWhereUsed(op->getResult(0), expression))
    set(op->getResult(0), expression.text, expression.binds, expression.isInt);
  else
    define(op->getResult(0), expression.text, expression.isInt);
  return true;
}

} // namespace kiln::cuda
