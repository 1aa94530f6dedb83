#include "kiln/Analysis/IndexFacts.h"

#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Dialect/Kiln/ParameterFacts.h"
#include "kiln/Program/IndexForm.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace kiln {

/// Sums nested deeper than this are not looked into: they may share operands, and double each time.
static constexpr unsigned kMaxDepth = 12;

/// Multiples of this are as good as any.
static constexpr int64_t kMostDivisor = int64_t(1) << 30;

/// What a multiple of both is a multiple of: their least common multiple, if it is small.
static int64_t commonMultiple(int64_t a, int64_t b) {
  if (a <= 0 || b <= 0 || a > kMostDivisor || b > kMostDivisor)
    return a;
  int64_t multiple = std::lcm(a, b);
  return multiple > kMostDivisor ? a : multiple;
}

/// Results of 64 bits may wrap, which keeps powers of two only.
static int64_t powerOfTwo(int64_t divisor) { return divisor & -divisor; }

static int64_t multiplied(int64_t a, int64_t b) {
  a = powerOfTwo(a);
  b = powerOfTwo(b);
  return a < kMostDivisor && b < kMostDivisor ? a * b : std::max(a, b);
}

/// The value as an index, without casts that keep it.
static Value withoutCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    bool keeps = isa<arith::IndexCastOp, arith::ExtSIOp>(op) &&
                 !op->getOperand(0).getType().isInteger(1) &&
                 (value.getType().isIndex() || value.getType().isInteger(64));
    if (!keeps)
      break;
    value = op->getOperand(0);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// What the function is given
//===----------------------------------------------------------------------===//

std::optional<IndexFacts::Leaf> IndexFacts::leafOf(Value value) {
  value = withoutCasts(value);
  if (auto dim = value.getDefiningOp<ir::DimOp>())
    if (isa<BlockArgument>(dim.getTensor()))
      return Leaf{dim.getTensor(), int(dim.getDim())};
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (isa<ir::FuncOp>(argument.getOwner()->getParentOp()))
      return Leaf{value};
  return std::nullopt;
}

const IndexFacts::Known *IndexFacts::find(const Leaf &leaf) const {
  for (const Known &known : All)
    if (llvm::is_contained(known.leaves, leaf))
      return &known;
  return nullptr;
}

IndexFacts::Known &IndexFacts::knownOf(const Leaf &leaf) {
  if (const Known *known = find(leaf))
    return const_cast<Known &>(*known);
  All.push_back({{leaf}});
  return All.back();
}

/// Two leaves have one value: what is known of either is known of both.
void IndexFacts::join(const Leaf &a, const Leaf &b) {
  if (const Known *known = find(a); known && llvm::is_contained(known->leaves, b))
    return;
  Known other = knownOf(b);
  std::erase_if(All, [&](const Known &known) { return llvm::is_contained(known.leaves, b); });
  Known &known = knownOf(a);
  known.leaves.append(other.leaves);
  known.divisor = commonMultiple(known.divisor, other.divisor);
  known.least = std::max(known.least, other.least);
  known.most = std::min(known.most, other.most);
}

void IndexFacts::addEquality(Value a, Value b) {
  std::optional<int64_t> constant = getConstantIntValue(b);
  std::optional<Leaf> leaf = leafOf(a), other = leafOf(b);
  if (leaf && other)
    return join(*leaf, *other);
  if (leaf && constant && *constant >= 0) {
    Known &known = knownOf(*leaf);
    known.divisor = commonMultiple(known.divisor, *constant);
    known.least = std::max(known.least, *constant);
    known.most = std::min(known.most, *constant);
  }
  auto rest = withoutCasts(a).getDefiningOp<arith::RemSIOp>();
  if (!rest || constant != 0)
    return;
  std::optional<Leaf> divided = leafOf(rest.getLhs());
  std::optional<int64_t> divisor = getConstantIntValue(rest.getRhs());
  if (divided && divisor) {
    Known &known = knownOf(*divided);
    known.divisor = commonMultiple(known.divisor, *divisor);
  }
}

void IndexFacts::addBound(Value value, Value bound, int64_t distance) {
  std::optional<Leaf> leaf = leafOf(value);
  std::optional<int64_t> constant = getConstantIntValue(bound);
  if (!leaf || !constant || *constant == INT64_MAX)
    return;
  Known &known = knownOf(*leaf);
  known.least = std::max(known.least, *constant + distance);
}

void IndexFacts::addUpperBound(Value value, Value bound, int64_t distance) {
  std::optional<Leaf> leaf = leafOf(value);
  std::optional<int64_t> constant = getConstantIntValue(bound);
  if (!leaf || !constant || *constant == INT64_MIN)
    return;
  Known &known = knownOf(*leaf);
  known.most = std::min(known.most, *constant - distance);
}

void IndexFacts::addComparison(arith::CmpIOp compare) {
  Value a = compare.getLhs(), b = compare.getRhs();
  using P = arith::CmpIPredicate;
  switch (compare.getPredicate()) {
  case P::eq:
    return getConstantIntValue(a) ? addEquality(b, a) : addEquality(a, b);
  case P::sgt:
    return addBound(a, b, 1), addUpperBound(b, a, 1);
  case P::sge:
    return addBound(a, b, 0), addUpperBound(b, a, 0);
  case P::slt:
    return addBound(b, a, 1), addUpperBound(a, b, 1);
  case P::sle:
    return addBound(b, a, 0), addUpperBound(a, b, 0);
  default:
    return;
  }
}

IndexFacts::IndexFacts(ir::FuncOp func) {
  SmallVector<Value> conditions;
  for (ir::RequireOp require : ir::requirementsIn(func))
    conditions.push_back(require.getCondition());
  llvm::SmallDenseSet<Value> seen;
  while (!conditions.empty()) {
    Value condition = conditions.pop_back_val();
    if (!seen.insert(condition).second)
      continue;
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      conditions.append({both.getLhs(), both.getRhs()});
    else if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
      addComparison(compare);
  }
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<ir::TensorType>(argument.getType());
    if (!type)
      continue;
    auto promised = dyn_cast_or_null<IntegerAttr>(
        ir::readFact(func, argument.getArgNumber(), ir::kDivisibleAttr));
    // The promise is about the leading axis: the one with stride 1.
    if (!promised || llvm::count(type.getStrides(), 1) != 1)
      continue;
    Known &known =
        knownOf({argument, int(llvm::find(type.getStrides(), 1) - type.getStrides().begin())});
    known.divisor = commonMultiple(known.divisor, promised.getInt());
  }
}

//===----------------------------------------------------------------------===//
// What follows
//===----------------------------------------------------------------------===//

int64_t IndexFacts::divisorOfExtent(Value tensor, unsigned axis, unsigned depth) const {
  auto type = cast<ir::TensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return type.getShape()[axis];
  if (isa<BlockArgument>(tensor)) {
    const Known *known = find({tensor, int(axis)});
    return known ? known->divisor : 1;
  }
  if (auto transpose = tensor.getDefiningOp<ir::TransposeOp>())
    return divisorOfExtent(transpose.getTensor(), transpose.getPermutation()[axis], depth);
  auto slice = tensor.getDefiningOp<ir::SliceOp>();
  if (!slice || !slice.getDropped().empty())
    return 1;
  auto isDynamic = [](int64_t size) { return ShapedType::isDynamic(size); };
  return divisorOf(
      slice.getSizes()[llvm::count_if(slice.getStaticSizes().take_front(axis), isDynamic)],
      depth + 1);
}

int64_t IndexFacts::divisorOf(Value value, unsigned depth) const {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant == INT64_MIN ? 1 : std::abs(*constant);
  if (depth >= kMaxDepth)
    return 1;
  value = withoutCasts(value);
  auto operand = [&](Value part) { return divisorOf(part, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(owner); loop && argument == loop.getInductionVar())
      return std::gcd(operand(loop.getLowerBound()), operand(loop.getStep()));
    const Known *known = isa<ir::FuncOp>(owner) ? find({value}) : nullptr;
    return known ? known->divisor : 1;
  }
  if (!value.getType().isIndex() && !value.getType().isInteger(64))
    return 1;
  return llvm::TypeSwitch<Operation *, int64_t>(value.getDefiningOp())
      .Case([&](ir::DimOp dim) { return divisorOfExtent(dim.getTensor(), dim.getDim(), depth); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>([&](Operation *op) {
        IndexForm form = formOf(value);
        if (form.sum.asSymbol() == value) // a product of two that are not known
          return multiplied(operand(op->getOperand(0)), operand(op->getOperand(1)));
        int64_t divisor = std::gcd(form.sum.constant(), form.stride);
        // Symbols may be sums again, of which each was looked into this deep already.
        for (auto [symbol, factor] : form.sum.terms())
          divisor = std::gcd(divisor, multiplied(factor, divisorOf(symbol, depth + kMaxDepth / 2)));
        return powerOfTwo(divisor);
      })
      .Case<arith::MinSIOp, arith::MaxSIOp>(
          [&](auto chosen) { return std::gcd(operand(chosen.getLhs()), operand(chosen.getRhs())); })
      .Default([](Operation *) { return 1; });
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Of a sum, difference or product; everything, if it may leave 64 bits.
static IndexRange combined(Operation *op, IndexRange a, IndexRange b) {
  SmallVector<int64_t, 4> ends;
  for (int64_t x : {a.least, a.most})
    for (int64_t y : {b.least, b.most}) {
      int64_t end = 0;
      bool wraps = isa<arith::AddIOp>(op)   ? llvm::AddOverflow(x, y, end)
                   : isa<arith::SubIOp>(op) ? llvm::SubOverflow(x, y, end)
                                            : llvm::MulOverflow(x, y, end);
      if (wraps)
        return {};
      ends.push_back(end);
    }
  return {*llvm::min_element(ends), *llvm::max_element(ends)};
}

IndexRange IndexFacts::rangeOfResult(Operation *op, unsigned depth) const {
  auto operand = [&](unsigned number) { return rangeOf(op->getOperand(number), depth + 1); };
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    auto type = cast<ir::TensorType>(dim.getTensor().getType());
    int64_t extent = type.getShape()[dim.getDim()];
    if (!type.isDynamicDim(dim.getDim()))
      return {extent, extent};
    return {0, INT64_MAX};
  }
  if (isa<tile::BlockIdxOp, tile::BlockCountOp, tile::LaneOp>(op))
    return {0, INT64_MAX};
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return combined(op, operand(0), operand(1));
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    IndexRange a = operand(0), b = operand(1);
    return isa<arith::MinSIOp>(op)
               ? IndexRange{std::min(a.least, b.least), std::min(a.most, b.most)}
               : IndexRange{std::max(a.least, b.least), std::max(a.most, b.most)};
  }
  if (isa<arith::SelectOp>(op)) {
    IndexRange a = operand(1), b = operand(2);
    return {std::min(a.least, b.least), std::max(a.most, b.most)};
  }
  // A quotient by a positive number is no farther from zero.
  if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp, arith::DivSIOp>(op) &&
      getConstantIntValue(op->getOperand(1)).value_or(0) > 0) {
    IndexRange a = operand(0);
    return {std::min<int64_t>(a.least, 0), std::max<int64_t>(a.most, 0)};
  }
  return {};
}

IndexRange IndexFacts::rangeOf(Value value, unsigned depth) const {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {*constant, *constant};
  if (depth >= kMaxDepth)
    return {};
  value = withoutCasts(value);
  if (value.getType().isInteger() && !value.getType().isInteger(64)) {
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
  }
  IndexRange range;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar() && !loop.getUnsignedCmp()) {
      range = {rangeOf(loop.getLowerBound(), depth + 1).least,
               rangeOf(loop.getUpperBound(), depth + 1).most};
      range.most -= range.most != INT64_MAX && range.most != INT64_MIN; // the bound is outside
    }
  } else {
    range = rangeOfResult(value.getDefiningOp(), depth);
  }
  if (std::optional<Leaf> leaf = leafOf(value))
    if (const Known *known = find(*leaf))
      range = {std::max(range.least, known->least), std::min(range.most, known->most)};
  return range;
}

bool IndexFacts::areEqual(Value a, Value b) const {
  a = withoutCasts(a);
  b = withoutCasts(b);
  std::optional<Leaf> one = leafOf(a), other = leafOf(b);
  if (a == b || (one && one == other))
    return true;
  const Known *known = one && other ? find(*one) : nullptr;
  return known && llvm::is_contained(known->leaves, *other);
}

/// Whether `divisor`, as divisorOf() gives it, says that a value is a multiple of `number`.
static bool isMultiple(int64_t divisor, int64_t number) { return divisor % number == 0; }

bool IndexFacts::isAtLeast(Value value, int64_t least) const {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= least;
  if (auto smaller = value.getDefiningOp<arith::MinSIOp>())
    return isAtLeast(smaller.getLhs(), least) && isAtLeast(smaller.getRhs(), least);
  if (std::optional<Leaf> leaf = leafOf(value)) {
    const Known *known = find(*leaf);
    return known && known->least >= least;
  }
  // What is left of `bound` in a loop up to it, whose index and bound are multiples of `least`.
  auto rest = value.getDefiningOp<arith::SubIOp>();
  auto index = rest ? dyn_cast<BlockArgument>(rest.getRhs()) : BlockArgument();
  auto loop = index ? dyn_cast<scf::ForOp>(index.getOwner()->getParentOp()) : scf::ForOp();
  return loop && index == loop.getInductionVar() && least > 0 && !loop.getUnsignedCmp() &&
         getConstantIntValue(loop.getLowerBound()).value_or(-1) >= 0 &&
         areEqual(rest.getLhs(), loop.getUpperBound()) &&
         isMultiple(divisorOf(rest.getLhs()), least) && isMultiple(divisorOf(index), least);
}

bool IndexFacts::isNeverEmpty(Value tensor, unsigned axis, Operation *user) const {
  auto type = cast<ir::TensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return type.getShape()[axis] > 0;
  const Known *known = isa<BlockArgument>(tensor) ? find({tensor, int(axis)}) : nullptr;
  if (known && known->least > 0)
    return true;
  // In a loop from 0 or more up to the extent.
  for (auto loop = user->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<Leaf> bound = leafOf(loop.getUpperBound());
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
    Leaf extent{tensor, int(axis)};
    if (bound && lower && *lower >= 0 && !loop.getUnsignedCmp() &&
        (*bound == extent || (known && llvm::is_contained(known->leaves, *bound))))
      return true;
  }
  return false;
}

} // namespace kiln
