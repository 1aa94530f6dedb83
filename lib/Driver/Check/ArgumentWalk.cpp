#include "ArgumentWalk.h"

#include "kiln/Program/ScalarEvaluation.h"
#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {

/// What is nested deeper is not walked, nor what has more parts: operands that are shared count
/// each time, and would double with each level.
static constexpr unsigned kMostNesting = 24, kMostVisits = 512;

StringAttr calleeOf(Operation *op) {
  if (auto submit = dyn_cast<ir::SubmitOp>(op))
    return submit.getCallee() ? submit.getCalleeAttr().getAttr() : StringAttr();
  if (auto call = dyn_cast<ir::CallOp>(op))
    return call.getCalleeAttr().getAttr();
  return {};
}

OperandRange argsOf(Operation *site) {
  if (auto submit = dyn_cast<ir::SubmitOp>(site))
    return submit.getArgs();
  return cast<ir::CallOp>(site).getArgs();
}

bool isMinOrMax(Operation *op) {
  return isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op);
}

BlockArgument parameterOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<ir::FuncOp>(argument.getOwner()->getParentOp()) ? argument
                                                                         : BlockArgument();
}

std::optional<int64_t> ArgumentWalk::number(At at) const {
  std::optional<ScalarBits> scalar = evaluate(at);
  if (!scalar || isFloat(scalar->type))
    return std::nullopt;
  return scalar->type == DType::I1 ? int64_t(scalar->bits & 1) : scalar->asInt();
}

std::optional<At> ArgumentWalk::argument(BlockArgument parameter, unsigned depth) const {
  if (depth == 0)
    return std::nullopt;
  return At{argsOf(Calls[depth - 1])[parameter.getArgNumber()], depth - 1};
}

At ArgumentWalk::rootOf(At tensor) const {
  for (;;) {
    tensor.value = ir::rootOf(tensor.value);
    auto parameter = parameterOf(tensor.value);
    if (!parameter || tensor.depth == 0)
      return tensor;
    tensor = *argument(parameter, tensor.depth);
  }
}

std::optional<Leaf> ArgumentWalk::dataOf(At tensor) const {
  auto parameter = parameterOf(rootOf(tensor).value);
  if (!parameter)
    return std::nullopt;
  return Leaf{parameter.getArgNumber(), Leaf::kData};
}

std::variant<std::monostate, Leaf, int64_t, At> ArgumentWalk::extent(At tensor,
                                                                     unsigned axis) const {
  for (;;) {
    auto type = cast<ir::TensorType>(tensor.value.getType());
    if (!type.isDynamicDim(axis))
      return type.getShape()[axis];
    if (auto alloc = tensor.value.getDefiningOp<ir::AllocOp>())
      return At{
          alloc.getSizes()[llvm::count_if(type.getShape().take_front(axis), ShapedType::isDynamic)],
          tensor.depth};
    auto parameter = parameterOf(tensor.value);
    if (!parameter)
      return {};
    if (tensor.depth == 0)
      return Leaf{parameter.getArgNumber(), int(axis)};
    tensor = *argument(parameter, tensor.depth);
  }
}

std::variant<std::monostate, int64_t, At> ArgumentWalk::grid(unsigned depth, unsigned dim) const {
  while (depth > 0 && !isa<ir::SubmitOp>(Calls[depth - 1]))
    --depth;
  if (depth == 0)
    return int64_t(1);
  auto submit = cast<ir::SubmitOp>(Calls[depth - 1]);
  ArrayRef<int64_t> extents = submit.getStaticGrid();
  if (dim >= extents.size())
    return int64_t(1);
  if (!ShapedType::isDynamic(extents[dim]))
    return extents[dim];
  return At{submit.getGrid()[llvm::count_if(extents.take_front(dim), ShapedType::isDynamic)],
            depth - 1};
}

std::optional<ScalarBits> ArgumentWalk::evaluate(At at, unsigned nesting) const {
  Visits = nesting == 0 ? 0 : Visits + 1;
  std::optional<DType> type = dtypeOf(at.value.getType());
  if (!type || nesting > kMostNesting || Visits > kMostVisits)
    return std::nullopt;
  auto integer = [&](int64_t value) { return ScalarBits::fromInt(*type, value); };
  if (auto parameter = dyn_cast<BlockArgument>(at.value)) {
    if (!isa<ir::FuncOp>(parameter.getOwner()->getParentOp()))
      return std::nullopt;
    if (std::optional<At> passed = argument(parameter, at.depth))
      return evaluate(*passed, nesting + 1);
    std::optional<int64_t> value = Values({parameter.getArgNumber(), Leaf::kNumber});
    if (!value)
      return std::nullopt;
    return isFloat(*type) ? ScalarBits::fromDouble(*type, double(*value)) : integer(*value);
  }
  Operation *op = at.value.getDefiningOp();
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto extents = extent({dim.getTensor(), at.depth}, dim.getDim());
    if (auto *leaf = std::get_if<Leaf>(&extents)) {
      std::optional<int64_t> value = Values(*leaf);
      return value ? std::optional(integer(*value)) : std::nullopt;
    }
    if (auto *constant = std::get_if<int64_t>(&extents))
      return integer(*constant);
    auto *made = std::get_if<At>(&extents);
    return made ? evaluate(*made, nesting + 1) : std::nullopt;
  }
  if (auto count = dyn_cast<tile::BlockCountOp>(op)) {
    auto extents = grid(at.depth, count.getDim());
    if (auto *constant = std::get_if<int64_t>(&extents))
      return integer(*constant);
    return evaluate(std::get<At>(extents), nesting + 1);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<ScalarBits> holds = evaluate({select.getCondition(), at.depth}, nesting + 1);
    if (!holds)
      return std::nullopt;
    return evaluate({holds->bits & 1 ? select.getTrueValue() : select.getFalseValue(), at.depth},
                    nesting + 1);
  }
  if (!isa_and_present<arith::ArithDialect>(op->getDialect()))
    return std::nullopt;
  SmallVector<ScalarBits, 3> operands;
  for (Value operand : op->getOperands()) {
    std::optional<ScalarBits> value = evaluate({operand, at.depth}, nesting + 1);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  Expected<ScalarBits> result = evaluateScalar(op, operands);
  return result ? std::optional(*result) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// A sum or product beyond what is said of values says nothing.
static int64_t clamped(__int128 value) {
  constexpr __int128 most = NumberRange::kMost;
  return int64_t(value > most ? most : value < -most ? -most : value);
}

/// 1 if a comparison always holds, 0 if never.
static std::optional<bool> decide(arith::CmpIPredicate predicate, const NumberRange &a,
                                  const NumberRange &b) {
  using P = arith::CmpIPredicate;
  bool areSame = a.leaf && a.leaf == b.leaf;
  bool isUnsigned = predicate >= P::ult;
  if (isUnsigned && (a.least < 0 || b.least < 0))
    return std::nullopt;
  auto less = [&](const NumberRange &low, const NumberRange &high) -> std::optional<bool> {
    if (low.most < high.least || low.isBelow(high))
      return true;
    return low.least >= high.most || areSame || high.isBelow(low) ? std::optional(false)
                                                                  : std::nullopt;
  };
  auto inverse = [](std::optional<bool> holds) {
    return holds ? std::optional(!*holds) : std::nullopt;
  };
  switch (predicate) {
  case P::slt:
  case P::ult:
    return less(a, b);
  case P::sgt:
  case P::ugt:
    return less(b, a);
  case P::sle:
  case P::ule:
    return inverse(less(b, a));
  case P::sge:
  case P::uge:
    return inverse(less(a, b));
  case P::eq:
  case P::ne:
    break;
  }
  std::optional<bool> equal;
  if (areSame || (a.least == a.most && b.least == b.most && a.least == b.least))
    equal = true;
  else if (a.most < b.least || b.most < a.least)
    equal = false;
  return predicate == P::eq ? equal : inverse(equal);
}

static NumberRange rangeOf(Operation *op, const NumberRange &a, const NumberRange &b) {
  NumberRange result;
  bool isPositive = a.least >= 0 && b.least == b.most && b.least > 0;
  if (isa<arith::AddIOp>(op)) {
    result =
        NumberRange::of(clamped(__int128(a.least) + b.least), clamped(__int128(a.most) + b.most));
  } else if (isa<arith::SubIOp>(op)) {
    result =
        NumberRange::of(clamped(__int128(a.least) - b.most), clamped(__int128(a.most) - b.least));
    if (b.isBelow(a))
      result.least = std::max<int64_t>(result.least, 1);
  } else if (isa<arith::MulIOp>(op)) {
    if (a.least >= 0 && b.least >= 0)
      result =
          NumberRange::of(clamped(__int128(a.least) * b.least), clamped(__int128(a.most) * b.most));
    // The first element of a part, counted in elements or in smaller parts.
    auto scale = [&](const NumberRange &index, const NumberRange &factor) {
      bool fits = index.below && factor.least == factor.most && factor.least > 0 &&
                  index.below->divisor % factor.least == 0;
      if (fits)
        result.below = {index.below->leaf, index.below->divisor / factor.least};
    };
    scale(a, b);
    scale(b, a);
  } else if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op)) {
    if (isPositive)
      result = NumberRange::of(a.least / b.least, a.most / b.least);
  } else if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    if (isPositive)
      result = NumberRange::of((a.least + b.least - 1) / b.least, (a.most + b.least - 1) / b.least);
    if (isPositive && a.leaf)
      result.parts = {*a.leaf, b.least};
  } else if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    if (isPositive)
      result = NumberRange::of(0, a.divisor % b.least == 0 ? 0 : std::min(a.most, b.least - 1));
  } else if (isa<arith::MinSIOp>(op)) {
    result = NumberRange::of(std::min(a.least, b.least), std::min(a.most, b.most));
  } else if (isa<arith::MaxSIOp>(op)) {
    result = NumberRange::of(std::max(a.least, b.least), std::max(a.most, b.most));
  } else if (isa<arith::AndIOp, arith::OrIOp>(op) && op->getResult(0).getType().isInteger(1)) {
    bool isAnd = isa<arith::AndIOp>(op);
    result = NumberRange::of(isAnd ? a.least & b.least : a.least | b.least,
                             isAnd ? a.most & b.most : a.most | b.most);
  } else if (isa<arith::XOrIOp>(op) && op->getResult(0).getType().isInteger(1) &&
             b.least == b.most) {
    result = b.least ? NumberRange::of(1 - a.most, 1 - a.least) : NumberRange::of(a.least, a.most);
  }
  return result;
}

NumberRange ArgumentWalk::rangeOfGrid(unsigned depth, unsigned dim, LeafRanges leaves,
                                      unsigned nesting) const {
  auto extents = grid(depth, dim);
  if (auto *constant = std::get_if<int64_t>(&extents))
    return NumberRange::of(*constant, *constant);
  return range(std::get<At>(extents), leaves, nesting + 1);
}

NumberRange ArgumentWalk::range(At at, LeafRanges leaves, unsigned nesting) const {
  Type type = at.value.getType();
  NumberRange any = type.isInteger(1) ? NumberRange::of(0, 1) : NumberRange();
  Visits = nesting == 0 ? 0 : Visits + 1;
  if (nesting > kMostNesting || Visits > kMostVisits || !(type.isIndex() || type.isInteger()))
    return any;
  auto follow = [&](Value value) { return range({value, at.depth}, leaves, nesting + 1); };
  if (auto parameter = dyn_cast<BlockArgument>(at.value)) {
    Operation *owner = parameter.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(owner); loop && parameter == loop.getInductionVar())
      return NumberRange::upTo(follow(loop.getLowerBound()).least, follow(loop.getUpperBound()));
    if (!isa<ir::FuncOp>(owner))
      return any;
    if (std::optional<At> passed = argument(parameter, at.depth))
      return range(*passed, leaves, nesting + 1);
    return type.isInteger(1) ? any : leaves({parameter.getArgNumber(), Leaf::kNumber});
  }
  Operation *op = at.value.getDefiningOp();
  APInt constant;
  if (matchPattern(at.value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 47) {
    int64_t value = type.isInteger(1) ? int64_t(constant.getZExtValue()) : constant.getSExtValue();
    NumberRange result = NumberRange::of(value, value);
    result.divisor = std::max<int64_t>(std::abs(value), 1);
    return result;
  }
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto found = extent({dim.getTensor(), at.depth}, dim.getDim());
    if (auto *leaf = std::get_if<Leaf>(&found))
      return leaves(*leaf);
    if (auto *fixed = std::get_if<int64_t>(&found))
      return NumberRange::of(*fixed, *fixed);
    auto *made = std::get_if<At>(&found);
    return made ? range(*made, leaves, nesting + 1) : NumberRange::of(0, NumberRange::kMost);
  }
  if (auto block = dyn_cast<tile::BlockIdxOp>(op))
    return NumberRange::upTo(0, rangeOfGrid(at.depth, block.getDim(), leaves, nesting));
  if (auto count = dyn_cast<tile::BlockCountOp>(op))
    return rangeOfGrid(at.depth, count.getDim(), leaves, nesting);
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    std::optional<bool> holds =
        decide(compare.getPredicate(), follow(compare.getLhs()), follow(compare.getRhs()));
    return holds ? NumberRange::of(*holds, *holds) : any;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    NumberRange one = follow(select.getTrueValue()), other = follow(select.getFalseValue());
    return NumberRange::of(std::min(one.least, other.least), std::max(one.most, other.most));
  }
  bool isWide = type.isIndex() || type.isInteger(64); // narrower ones wrap
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op) && isWide &&
      !op->getOperand(0).getType().isInteger(1))
    return follow(op->getOperand(0));
  if (op->getNumOperands() != 2 || !(isWide || type.isInteger(1)) ||
      !isa_and_present<arith::ArithDialect>(op->getDialect()))
    return any;
  NumberRange result = rangeOf(op, follow(op->getOperand(0)), follow(op->getOperand(1)));
  return type.isInteger(1) ? NumberRange::of(std::max<int64_t>(result.least, 0),
                                             std::min<int64_t>(result.most, 1))
                           : result;
}

} // namespace kiln
