// Scalar arithmetic as C++ expressions with the meaning it has in the IR.
#include "OrchestrationFunction.h"

#include "kiln/Program/ScalarText.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace kiln::orchestration {

std::string dtypeText(Type type) {
  std::optional<DType> dtype = dtypeOf(type);
  if (!dtype)
    return "";
  std::string name = toString(*dtype);
  if (*dtype == DType::Index)
    return "DType::Index";
  return "DType::" + StringRef(name).upper();
}

std::string cppType(Type type) {
  if (isa<ir::TaskType>(type))
    return "TaskId";
  std::optional<DType> dtype = dtypeOf(type);
  if (!dtype)
    return "";
  switch (*dtype) {
  case DType::Index:
    return "Index";
  case DType::I1:
    return "bool";
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return "int" + std::to_string(8 * sizeOf(*dtype)) + "_t";
  default:
    return "float"; // 16-bit ones too, rounded after each operation
  }
}

static Expr literal(TypedAttr attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    if (integer.getType().isInteger(1))
      return {integer.getValue().isZero() ? "false" : "true"};
    int64_t value = integer.getValue().getSExtValue();
    if (value == INT64_MIN)
      return {"INT64_MIN", Prec::Primary, true};
    return {std::to_string(value), Prec::Primary, true};
  }
  float value = static_cast<float>(cast<FloatAttr>(attribute).getValueAsDouble());
  if (std::isnan(value))
    return {"std::numeric_limits<float>::quiet_NaN()"};
  if (std::isinf(value))
    return {std::string(value < 0 ? "-" : "") + "std::numeric_limits<float>::infinity()"};
  return {text::cppFloat(value)};
}

std::string FunctionEmitter::text(Value value, Prec prec) {
  const Expr &expr = Values[value];
  return expr.prec < prec ? "(" + expr.text + ")" : expr.text;
}

std::string FunctionEmitter::typed(Value value) {
  const Expr &expr = Values[value];
  return expr.isBare ? cppType(value.getType()) + "(" + expr.text + ")" : expr.text;
}

std::string FunctionEmitter::list(ArrayRef<int64_t> constants, ValueRange values) {
  return "{" +
         llvm::join(text::mixedList(constants, values, [&](Value value) { return text(value); }),
                    ", ") +
         "}";
}

Expr FunctionEmitter::binary(StringRef op, Value lhs, Value rhs, Prec prec) {
  // The operand on the right of an operator of its own kind needs parentheses.
  Prec right = prec == Prec::Low ? Prec::Add : static_cast<Prec>(static_cast<int>(prec) + 1);
  Prec left = prec == Prec::Low ? Prec::Add : prec;
  bool bothBare = Values[lhs].isBare && Values[rhs].isBare;
  std::string first = bothBare ? typed(lhs) : text(lhs, left);
  return {first + " " + op.str() + " " + text(rhs, right), prec};
}

Expr FunctionEmitter::function(const Twine &name, Operation *op) {
  SmallVector<std::string> args;
  for (Value operand : op->getOperands())
    args.push_back(typed(operand));
  return {name.str() + "(" + llvm::join(args, ", ") + ")"};
}

Expr FunctionEmitter::integerExpression(Operation *op) {
  bool isIndex = op->getResult(0).getType().isIndex();
  bool isBool = op->getResult(0).getType().isInteger(1);
  const ScalarFunctions *functions = scalarFunctions(op);
  auto arithmetic = [&](StringRef symbol, Prec prec) {
    return isIndex ? binary(symbol, op->getOperand(0), op->getOperand(1), prec)
                   : function(functions->orchestration, op);
  };
  if (isa<arith::AddIOp>(op))
    return arithmetic("+", Prec::Add);
  if (isa<arith::SubIOp>(op))
    return arithmetic("-", Prec::Add);
  if (isa<arith::MulIOp>(op))
    return arithmetic("*", Prec::Mul);
  auto logic = [&](StringRef symbol) { // parentheses around all but names: && beside || warns
    return Expr{text(op->getOperand(0), Prec::Primary) + " " + symbol.str() + " " +
                    text(op->getOperand(1), Prec::Primary),
                Prec::Low};
  };
  if (isBool && isa<arith::AndIOp>(op))
    return logic("&&");
  if (isBool && isa<arith::OrIOp>(op))
    return logic("||");
  if (isBool && isa<arith::XOrIOp>(op))
    return logic("!=");
  if (!functions || isa<FloatType>(op->getResult(0).getType()))
    return {};
  // The type comes from the first operand.
  return {functions->orchestration.str() + "(" + typed(op->getOperand(0)) + ", " +
          text(op->getOperand(1)) + ")"};
}

/// Rounds to a 16-bit float what was computed as f32.
static Expr rounded(Expr expr, Type type) {
  return type.isF32() ? expr : Expr{"round_to(" + dtypeText(type) + ", " + expr.text + ")"};
}

Expr FunctionEmitter::floatExpression(Operation *op) {
  Type type = op->getResult(0).getType();
  auto infix = [&](StringRef symbol, Prec prec) {
    return rounded(binary(symbol, op->getOperand(0), op->getOperand(1), prec), type);
  };
  return TypeSwitch<Operation *, Expr>(op)
      .Case<arith::AddFOp>([&](auto) { return infix("+", Prec::Add); })
      .Case<arith::SubFOp>([&](auto) { return infix("-", Prec::Add); })
      .Case<arith::MulFOp>([&](auto) { return infix("*", Prec::Mul); })
      .Case<arith::DivFOp>([&](auto) { return infix("/", Prec::Mul); })
      .Case<arith::RemFOp, arith::MaximumFOp, arith::MinimumFOp>([&](auto) {
        Expr call = function(scalarFunctions(op)->orchestration, op);
        return isa<arith::RemFOp>(op) ? rounded(call, type) : call;
      })
      .Case<arith::NegFOp>([&](arith::NegFOp neg) {
        return Expr{"-" + text(neg.getOperand(), Prec::Primary), Prec::Mul};
      })
      .Default([](Operation *) { return Expr(); });
}

Expr FunctionEmitter::castExpression(Operation *op) {
  Type to = op->getResult(0).getType();
  std::string name = cppType(to);
  return TypeSwitch<Operation *, Expr>(op)
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return function("cast<" + name + ">", op); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>(
          [&](auto) { return function("cast_unsigned<" + name + ">", op); })
      .Case<arith::SIToFPOp>([&](auto) { return rounded(function("to_float", op), to); })
      .Case<arith::UIToFPOp>([&](auto) { return rounded(function("to_float_unsigned", op), to); })
      .Case<arith::FPToSIOp>([&](auto) { return function("to_integer<" + name + ">", op); })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return rounded(Values[op->getOperand(0)], to); })
      .Default([](Operation *) { return Expr(); });
}

Expr FunctionEmitter::compareInts(arith::CmpIOp cmp) {
  using P = arith::CmpIPredicate;
  P how = cmp.getPredicate();
  StringRef symbol = signOf(how);
  bool isOrder = how != P::eq && how != P::ne;
  bool isBool = cmp.getLhs().getType().isInteger(1);
  if (!isUnsigned(how) && !(isBool && isOrder))
    return binary(symbol, cmp.getLhs(), cmp.getRhs(), Prec::Low);
  std::string as = isUnsigned(how) ? "as_unsigned(" : "as_signed(";
  return {as + typed(cmp.getLhs()) + ") " + symbol.str() + " " + as + typed(cmp.getRhs()) + ")",
          Prec::Low};
}

Expr FunctionEmitter::compareFloats(arith::CmpFOp cmp) {
  using P = arith::CmpFPredicate;
  std::string a = text(cmp.getLhs(), Prec::Add), b = text(cmp.getRhs(), Prec::Add);
  auto plain = [&](const char *op) { return Expr{a + " " + op + " " + b, Prec::Low}; };
  // An unordered comparison is what the opposite ordered one is not.
  auto negated = [&](const char *op) { return Expr{"!(" + a + " " + op + " " + b + ")"}; };
  switch (cmp.getPredicate()) {
  case P::AlwaysFalse:
    return {"false"};
  case P::AlwaysTrue:
    return {"true"};
  case P::ORD:
    return {"!is_unordered(" + a + ", " + b + ")"};
  case P::UNO:
    return {"is_unordered(" + a + ", " + b + ")"};
  case P::OEQ:
    return plain("==");
  case P::UNE:
    return plain("!=");
  case P::ONE:
    return {"(" + a + " < " + b + " || " + a + " > " + b + ")"};
  case P::UEQ:
    return {"!(" + a + " < " + b + " || " + a + " > " + b + ")"};
  case P::OLT:
    return plain("<");
  case P::OLE:
    return plain("<=");
  case P::OGT:
    return plain(">");
  case P::OGE:
    return plain(">=");
  case P::ULT:
    return negated(">=");
  case P::ULE:
    return negated(">");
  case P::UGT:
    return negated("<=");
  case P::UGE:
    return negated("<");
  }
  return {};
}

Expr FunctionEmitter::expressionOf(Operation *op) {
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                            SmallVector<Type>(op->getResultTypes())))
    if (!isa<ir::TensorType>(type) && cppType(type).empty())
      return fail(op, "has an operand or a result of a type that no scalar of a task has");
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return literal(constant.getValue());
  if (auto dim = dyn_cast<ir::DimOp>(op))
    return {"dim(" + text(dim.getTensor()) + ", " + std::to_string(dim.getDim()) + ")"};
  if (isa<ir::RankIdOp, ir::RankCountOp>(op))
    return rankExpression(op);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return compareInts(cmp);
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    return compareFloats(cmp);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return {text(select.getCondition(), Prec::Primary) + " ? " + typed(select.getTrueValue()) +
                " : " + typed(select.getFalseValue()),
            Prec::Low};
  for (auto make : {&FunctionEmitter::castExpression, &FunctionEmitter::integerExpression,
                    &FunctionEmitter::floatExpression})
    if (Expr expr = (this->*make)(op); !expr.text.empty())
      return expr;
  return fail(op, "cannot be written as part of an orchestration");
}

std::string FunctionEmitter::hintFor(Value value) {
  if (auto get = value.getDefiningOp<ir::GetOp>())
    return text(get.getTensor()) + "_value";
  // The first of these that some use gives; the order of uses itself means nothing.
  auto isUsedAs = [&](auto isUse) { return llvm::any_of(value.getUsers(), isUse); };
  if (isUsedAs([&](Operation *user) {
        auto submit = dyn_cast<ir::SubmitOp>(user);
        return submit && llvm::is_contained(submit.getGrid(), value);
      }))
    return "blocks";
  if (isUsedAs([&](Operation *user) {
        auto slice = dyn_cast<ir::SliceOp>(user);
        return slice && llvm::is_contained(slice.getOffsets(), value);
      }))
    return "offset";
  if (isUsedAs(llvm::IsaPred<ir::AllocOp, ir::ReshapeOp, ir::SliceOp>))
    return "size";
  if (isUsedAs([&](Operation *user) {
        auto loop = dyn_cast<scf::ForOp>(user);
        return loop && value == loop.getUpperBound();
      }))
    return "end";
  return value.getType().isInteger(1) ? "flag" : "value";
}

bool FunctionEmitter::isInlined(Operation *op, const Expr &expr) {
  if (isa<arith::ConstantOp, ir::DimOp, ir::RankIdOp, ir::RankCountOp>(op))
    return true; // none ever changes
  Value result = op->getResult(0);
  return result.hasOneUse() && result.user_begin()->getBlock() == op->getBlock() &&
         expr.text.size() <= 60;
}

} // namespace kiln::orchestration
