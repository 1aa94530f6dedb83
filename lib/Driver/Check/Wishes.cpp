#include "Wishes.h"

#include <cmath>

using namespace mlir;

namespace kiln {

/// What is nested deeper is not walked, nor what has more parts, as in ArgumentWalk.
static constexpr unsigned kMostNesting = 24, kMostVisits = 256;

std::optional<Choice> join(const Choice &one, const Choice &other) {
  Choice both = one;
  for (auto [leaf, value] : other)
    if (auto [at, isNew] = both.try_emplace(leaf, value); !isNew && at->second != value)
      return std::nullopt;
  return both;
}

static void append(Wishes::Choices &to, Wishes::Choices from) {
  for (Choice &choice : from)
    if (to.size() < Wishes::kMostChoices && !llvm::is_contained(to, choice))
      to.push_back(std::move(choice));
}

static Wishes::Choices product(const Wishes::Choices &one, const Wishes::Choices &other) {
  Wishes::Choices all;
  for (const Choice &a : one)
    for (const Choice &b : other)
      if (std::optional<Choice> both = join(a, b); both && all.size() < Wishes::kMostChoices)
        all.push_back(*both);
  return all;
}

std::vector<Choice> Wishes::atLeast(At at, int64_t wanted, unsigned nesting) const {
  std::optional<int64_t> now = Where.number(at);
  if (now && *now >= wanted)
    return {{}};
  return equal(at, wanted, nesting);
}

std::vector<Choice> Wishes::equal(At at, int64_t wanted, unsigned nesting) const {
  Visits = nesting == 0 ? 0 : Visits + 1;
  if (nesting > kMostNesting || Visits > kMostVisits || wanted > (int64_t(1) << 40) ||
      wanted < -(int64_t(1) << 40))
    return {};
  auto extent = [&](const auto &found) -> Choices {
    if (auto *leaf = std::get_if<Leaf>(&found))
      return wanted >= 0 ? Choices{{{*leaf, wanted}}} : Choices();
    if (auto *made = std::get_if<At>(&found))
      return equal(*made, wanted, nesting + 1);
    auto *constant = std::get_if<int64_t>(&found);
    return constant && *constant == wanted ? Choices{{}} : Choices();
  };
  if (auto parameter = dyn_cast<BlockArgument>(at.value)) {
    Operation *owner = parameter.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(owner); loop && parameter == loop.getInductionVar())
      return atLeast({loop.getUpperBound(), at.depth}, wanted + 1, nesting + 1);
    if (!isa<ir::FuncOp>(owner))
      return {};
    if (std::optional<At> passed = Where.argument(parameter, at.depth))
      return equal(*passed, wanted, nesting + 1);
    if (wanted < 0 && parameter.getType().isIndex())
      return {};
    return {{{Leaf{parameter.getArgNumber(), Leaf::kNumber}, wanted}}};
  }
  Operation *op = at.value.getDefiningOp();
  if (auto dim = dyn_cast<ir::DimOp>(op))
    return extent(Where.extent({dim.getTensor(), at.depth}, dim.getDim()));
  if (isa<ir::GetOp, ir::ReadOp>(op)) {
    std::optional<Leaf> data = Where.dataOf({op->getOperand(0), at.depth});
    return data ? Choices{{{*data, wanted}}} : Choices();
  }
  if (auto block = dyn_cast<tile::BlockIdxOp>(op)) {
    auto grid = Where.grid(at.depth, block.getDim());
    if (auto *constant = std::get_if<int64_t>(&grid))
      return *constant > wanted ? Choices{{}} : Choices();
    return atLeast(std::get<At>(grid), wanted + 1, nesting + 1);
  }
  if (auto count = dyn_cast<tile::BlockCountOp>(op))
    if (auto grid = Where.grid(at.depth, count.getDim()); auto *made = std::get_if<At>(&grid))
      return equal(*made, wanted, nesting + 1);
  if (Where.number(at) == wanted && matchPattern(at.value, m_Constant()))
    return {{}};
  return operands(op, wanted, at.depth, nesting);
}

std::vector<Choice> Wishes::operands(Operation *op, int64_t wanted, unsigned depth,
                                     unsigned nesting) const {
  auto wish = [&](unsigned number, int64_t value) {
    return equal({op->getOperand(number), depth}, value, nesting + 1);
  };
  auto known = [&](unsigned number) { return Where.number({op->getOperand(number), depth}); };
  Choices all;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
          arith::TruncIOp>(op))
    return wish(0, wanted);
  if (isMinOrMax(op)) {
    bool isMin = isa<arith::MinSIOp, arith::MinUIOp>(op);
    for (unsigned number : {0u, 1u}) {
      Choices one = wish(number, wanted);
      if (isMin) // which the other must allow
        append(all,
               product(one, atLeast({op->getOperand(1 - number), depth}, wanted, nesting + 1)));
      append(all, std::move(one));
    }
    return all;
  }
  if (isa<arith::SelectOp>(op)) {
    append(all, wish(1, wanted));
    append(all, wish(2, wanted));
    return all;
  }
  if (op->getNumOperands() != 2)
    return {};
  std::optional<int64_t> left = known(0), right = known(1);
  if (isa<arith::AddIOp>(op)) {
    if (right)
      append(all, wish(0, wanted - *right));
    if (left)
      append(all, wish(1, wanted - *left));
    if (!right && !left) { // a block and an iteration: let each of them alone come so far
      append(all, wish(0, wanted));
      append(all, wish(1, wanted));
    }
  } else if (isa<arith::SubIOp>(op)) {
    append(all, wish(0, wanted + right.value_or(0))); // blocks and iterations begin at 0
    if (left)
      append(all, wish(1, *left - wanted));
  } else if (isa<arith::MulIOp>(op)) {
    for (auto [number, factor] : {std::pair(0u, right), std::pair(1u, left)})
      if (factor && *factor > 0) {
        append(all, wish(number, wanted / *factor));
        if (wanted % *factor)
          append(all, wish(number, wanted / *factor + 1));
      }
    auto root = int64_t(std::sqrt(double(std::max<int64_t>(wanted, 0))));
    if (op->getOperand(0) == op->getOperand(1))
      append(all, wish(0, root));
  } else if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                 arith::CeilDivUIOp>(op)) {
    bool isUp = isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
    if (right && *right > 0 && *right < (int64_t(1) << 20)) {
      append(all, wish(0, wanted * *right));
      append(all, wish(0, isUp ? (wanted - 1) * *right + 1 : wanted * *right + *right - 1));
    }
  } else if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    append(all, wish(0, wanted));
    if (right)
      append(all, wish(0, wanted + *right));
  } else if (isa<arith::XOrIOp>(op)) {
    if (right)
      append(all, wish(0, wanted ^ *right));
    if (left)
      append(all, wish(1, wanted ^ *left));
  }
  return all;
}

std::vector<Choice> Wishes::order(At less, int64_t distance, At greater, unsigned nesting) const {
  Choices all;
  // What is not known begins at 0: blocks and iterations do.
  std::optional<int64_t> low = Where.number(less), high = Where.number(greater);
  for (int64_t more : {1, 2})
    append(all, equal(greater, low.value_or(0) + distance + more, nesting + 1));
  for (int64_t more : {1, 2})
    if (high)
      append(all, equal(less, *high - distance - more, nesting + 1));
  return all;
}

std::vector<Choice> Wishes::compare(arith::CmpIOp op, bool wanted, unsigned depth,
                                    unsigned nesting) const {
  using P = arith::CmpIPredicate;
  At left{op.getLhs(), depth}, right{op.getRhs(), depth};
  P predicate = wanted ? op.getPredicate() : arith::invertPredicate(op.getPredicate());
  switch (predicate) {
  case P::slt:
  case P::ult:
    return order(left, 0, right, nesting);
  case P::sgt:
  case P::ugt:
    return order(right, 0, left, nesting);
  case P::sle:
  case P::ule:
    return order(left, -1, right, nesting);
  case P::sge:
  case P::uge:
    return order(right, -1, left, nesting);
  case P::eq:
  case P::ne:
    break;
  }
  Choices all;
  std::vector<int64_t> distances =
      predicate == P::eq ? std::vector<int64_t>{0} : std::vector<int64_t>{1, -1};
  for (auto [at, other] : {std::pair(left, right), std::pair(right, left)})
    if (std::optional<int64_t> now = Where.number(other))
      for (int64_t distance : distances)
        append(all, equal(at, *now + distance, nesting + 1));
  return all;
}

/// A float that is given is tried at whole numbers around the one it is compared with.
std::vector<Choice> Wishes::compareFloats(arith::CmpFOp op, unsigned depth,
                                          unsigned nesting) const {
  Choices all;
  for (auto [at, other] :
       {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (std::optional<ScalarBits> now = Where.evaluate({other, depth});
        now && std::abs(now->asDouble()) < 1e9)
      for (int64_t distance : {0, 1, -1})
        append(all, equal({at, depth}, std::llround(now->asDouble()) + distance, nesting + 1));
  return all;
}

std::vector<Choice> Wishes::truth(At at, bool wanted, unsigned nesting) const {
  Visits = nesting == 0 ? 0 : Visits + 1;
  if (nesting > kMostNesting || Visits > kMostVisits)
    return {};
  if (std::optional<int64_t> now = Where.number(at); now && (*now != 0) == wanted)
    return {{}};
  Operation *op = at.value.getDefiningOp();
  if (auto integers = dyn_cast_or_null<arith::CmpIOp>(op))
    return compare(integers, wanted, at.depth, nesting + 1);
  if (auto floats = dyn_cast_or_null<arith::CmpFOp>(op))
    return compareFloats(floats, at.depth, nesting + 1);
  bool isAnd = isa_and_present<arith::AndIOp>(op), isOr = isa_and_present<arith::OrIOp>(op);
  if (isAnd || isOr) {
    Choices one = truth({op->getOperand(0), at.depth}, wanted, nesting + 1);
    Choices other = truth({op->getOperand(1), at.depth}, wanted, nesting + 1);
    if (isAnd == wanted)
      return product(one, other);
    append(one, std::move(other));
    return one;
  }
  if (isa_and_present<arith::XOrIOp>(op))
    for (unsigned number : {0u, 1u})
      if (std::optional<int64_t> other = Where.number({op->getOperand(1 - number), at.depth}))
        return truth({op->getOperand(number), at.depth}, wanted != (*other != 0), nesting + 1);
  return equal(at, wanted, nesting + 1);
}

std::vector<Choice> Wishes::reach(const Goal &goal) const {
  if (goal.predicate) {
    ir::SubmitOp submit = goal.predicate;
    std::optional<Leaf> data = Where.dataOf({submit.getPredicate(), goal.depth});
    Choices all;
    if (data)
      for (int64_t distance : {0, 1, -1})
        all.push_back({{*data, int64_t(*submit.getPredicateConstant()) + distance}});
    return all;
  }
  if (goal.holds)
    return truth({goal.holds, goal.depth}, goal.truth);
  Visits = 0;
  int64_t distance =
      goal.distance ? Where.number({goal.distance, goal.depth}).value_or(1) : int64_t(0);
  return order({goal.less, goal.depth}, distance, {goal.greater, goal.depth}, 1);
}

} // namespace kiln
