#include "PipeFacts.h"

using namespace mlir;

namespace kiln::pipes {

static bool isAtLeastZero(const Expr &expr) { return expr.isConstant() && expr.constant() >= 0; }

bool Facts::implies(const Expr &expr) const {
  if (expr.isConstant())
    return expr.constant() >= 0;
  return llvm::any_of(AtLeastZero, [&](const Expr &fact) {
    Expr rest = expr - fact;
    return isAtLeastZero(rest) || llvm::any_of(AtLeastZero, [&](const Expr &other) {
             return isAtLeastZero(rest - other);
           });
  });
}

bool Facts::assume(const Expr &expr) {
  if (implies(expr))
    return true;
  if (implies(-expr - 1))
    return false;
  // Facts that follow from the new one say nothing any more; without them, equal knowledge has one
  // form.
  std::erase_if(AtLeastZero, [&](const Expr &fact) { return isAtLeastZero(fact - expr); });
  AtLeastZero.insert(expr);
  return true;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Operation *Facts::connective(const Expr &condition, std::vector<Expr> &operands) const {
  std::optional<Atom> atom = condition.asAtom();
  if (!atom ||
      !isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(Scalars->info(*atom).op))
    return nullptr;
  operands = Scalars->info(*atom).operands;
  return Scalars->info(*atom).op;
}

std::optional<Facts::Comparison> Facts::compare(const Expr &condition) const {
  std::optional<Atom> atom = condition.asAtom();
  auto cmp = atom ? dyn_cast_or_null<arith::CmpIOp>(Scalars->info(*atom).op) : arith::CmpIOp();
  if (!cmp)
    return std::nullopt;
  using P = arith::CmpIPredicate;
  // A bool is 0 or 1 here; in signed order it would be 0 or -1.
  if (cmp.getLhs().getType().isInteger(1) && cmp.getPredicate() != P::eq &&
      cmp.getPredicate() != P::ne)
    return std::nullopt;
  const Expr &a = Scalars->info(*atom).operands[0], &b = Scalars->info(*atom).operands[1];
  Expr difference = a - b;
  Expr less = -difference - 1, lessOrEqual = -difference, greater = difference - 1,
       greaterOrEqual = difference;
  // Unsigned and signed order are the same where nothing is negative.
  bool sameOrder = implies(a) && implies(b);
  switch (cmp.getPredicate()) {
  case P::eq:
  case P::ne:
    return Comparison{{greaterOrEqual, lessOrEqual}, {less, greater}, true};
  case P::ult:
    if (!sameOrder)
      return std::nullopt;
    [[fallthrough]];
  case P::slt:
    return Comparison{{less}, {greaterOrEqual}};
  case P::ule:
    if (!sameOrder)
      return std::nullopt;
    [[fallthrough]];
  case P::sle:
    return Comparison{{lessOrEqual}, {greater}};
  case P::ugt:
    if (!sameOrder)
      return std::nullopt;
    [[fallthrough]];
  case P::sgt:
    return Comparison{{greater}, {lessOrEqual}};
  case P::uge:
    if (!sameOrder)
      return std::nullopt;
    [[fallthrough]];
  case P::sge:
    return Comparison{{greaterOrEqual}, {less}};
  }
  return std::nullopt;
}

std::optional<bool> Facts::decide(const Expr &condition) const {
  if (condition.isConstant())
    return condition.constant() != 0;
  if (std::vector<Expr> operands; Operation *op = connective(condition, operands)) {
    std::optional<bool> a = decide(operands[0]), b = decide(operands[1]);
    if (isa<arith::AndIOp>(op) && ((a && !*a) || (b && !*b)))
      return false;
    if (isa<arith::OrIOp>(op) && ((a && *a) || (b && *b)))
      return true;
    if (!a || !b)
      return std::nullopt;
    return isa<arith::XOrIOp>(op) ? *a != *b : *a;
  }
  if (std::optional<Comparison> comparison = compare(condition)) {
    auto follows = [&](const Expr &expr) { return implies(expr); };
    bool isNe = comparison->isEquality &&
                cast<arith::CmpIOp>(Scalars->info(*condition.asAtom()).op).getPredicate() ==
                    arith::CmpIPredicate::ne;
    if (llvm::all_of(comparison->holds, follows))
      return !isNe;
    if (llvm::any_of(comparison->fails, follows))
      return isNe;
    return std::nullopt;
  }
  auto decided = Decided.find(condition);
  return decided == Decided.end() ? std::nullopt : std::optional(decided->second);
}

bool Facts::assumeHolds(const Expr &condition) {
  if (std::optional<bool> known = decide(condition))
    return *known;
  if (std::vector<Expr> operands; Operation *op = connective(condition, operands))
    return !isa<arith::AndIOp>(op) ||
           llvm::all_of(operands, [&](const Expr &operand) { return assumeHolds(operand); });
  if (std::optional<Comparison> comparison = compare(condition)) {
    auto cmp = cast<arith::CmpIOp>(Scalars->info(*condition.asAtom()).op);
    if (cmp.getPredicate() == arith::CmpIPredicate::ne) {
      // On one side of a number, and not the number: beyond it.
      for (auto [side, beyond] :
           llvm::zip_equal(comparison->holds, llvm::reverse(comparison->fails)))
        if (implies(side))
          return assume(beyond);
      return true;
    }
    return llvm::all_of(comparison->holds, [&](const Expr &expr) { return assume(expr); });
  }
  Decided[condition] = true;
  return true;
}

std::vector<Facts> Facts::split(const Expr &condition) const {
  std::vector<Facts> cases;
  if (std::vector<Expr> operands; connective(condition, operands))
    return split(decide(operands[0]) ? operands[1] : operands[0]);
  if (std::optional<Comparison> comparison = compare(condition)) {
    Facts holds = *this;
    if (llvm::all_of(comparison->holds, [&](const Expr &expr) { return holds.assume(expr); }))
      cases.push_back(std::move(holds));
    for (const Expr &expr : comparison->fails)
      if (Facts fails = *this; fails.assume(expr))
        cases.push_back(std::move(fails));
    return cases;
  }
  for (bool value : {true, false}) {
    cases.push_back(*this);
    cases.back().Decided[condition] = value;
  }
  return cases;
}

//===----------------------------------------------------------------------===//
// Counters of joint loops
//===----------------------------------------------------------------------===//

bool Facts::replace(Atom atom, const Expr &by) {
  Env change{{atom, by}};
  std::set<Expr> facts;
  std::map<Expr, bool> decided;
  std::swap(facts, AtLeastZero);
  std::swap(decided, Decided);
  for (const auto &[condition, value] : decided)
    Decided[Scalars->substitute(condition, change)] = value;
  return llvm::all_of(facts,
                      [&](const Expr &fact) { return assume(Scalars->substitute(fact, change)); });
}

/// How close to the end of a joint loop rounds are told apart.
static constexpr int64_t kEndRounds = 8;

bool Facts::startCounting(Atom counter, int64_t first, const Expr &rounds) {
  Expr count = Expr::of(counter), last = rounds - 1 - count;
  std::set<Expr> facts = AtLeastZero;
  for (const Expr &fact : facts)
    // What is known of the number of rounds says how far the end is.
    if ((fact - rounds).isConstant() && !assume(fact + first - count))
      return false;
  if (rounds.isConstant() &&
      !assume(last - std::min(kEndRounds - 1, rounds.constant() - 1 - first)))
    return false;
  return assume(count - first) && assume(last);
}

bool Facts::advance(Atom counter, const Expr &rounds) {
  Expr last = rounds - 1 - Expr::of(counter);
  std::set<Expr> facts;
  std::swap(facts, AtLeastZero);
  std::erase_if(Decided,
                [&](const auto &entry) { return Scalars->mentions(entry.first, counter); });
  for (const Expr &fact : facts) {
    int64_t coefficient = fact.coefficient(counter);
    if (Scalars->mentions(fact - Expr::of(counter) * coefficient, counter))
      continue;
    // Close to the end of the loop bounds of the counter move along, so that the last rounds are
    // told apart. Elsewhere a lower bound stays and an upper bound goes, so that the knowledge
    // about rounds in the middle is the same for all of them.
    Expr distance = fact + last * coefficient;
    bool nearEnd = distance.isConstant() && std::abs(distance.constant()) < kEndRounds;
    if (coefficient < 0 && !nearEnd)
      continue;
    if (!assume(nearEnd ? fact - coefficient : fact))
      return false;
  }
  return assume(last);
}

} // namespace kiln::pipes
