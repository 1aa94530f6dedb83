#include "PipeFacts.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace kiln::pipes {

/// factor * sum + constant, where the atoms of the sum have no common factor.
struct Normal {
  Expr sum;
  int64_t factor, constant;
};

static Normal normalize(const Expr &expr) {
  int64_t factor = 0;
  for (auto [atom, coefficient] : expr.terms())
    factor = std::gcd(factor, coefficient);
  if (factor <= 1)
    return {expr - expr.constant(), factor, expr.constant()};
  Expr sum;
  for (auto [atom, coefficient] : expr.terms())
    sum = sum + Expr::of(atom) * (coefficient / factor);
  return {sum, factor, expr.constant()};
}

/// As a bound of the sum alone: 2n - 1 >= 0 is n >= 1.
static std::pair<Expr, int64_t> asBound(const Expr &expr) {
  Normal normal = normalize(expr);
  return {normal.sum, llvm::divideFloorSigned(normal.constant, normal.factor)};
}

bool Facts::implies(const Expr &expr) const {
  if (expr.isConstant())
    return expr.constant() >= 0;
  Scalars->spend(1 + AtLeastZero.size());
  auto [sum, constant] = asBound(expr);
  if (auto same = AtLeastZero.find(sum); same != AtLeastZero.end() && same->second <= constant)
    return true;
  return llvm::any_of(AtLeastZero, [&](const auto &fact) {
    Normal rest = normalize(sum - fact.first);
    if (rest.factor == 0)
      return false; // the same sum
    auto other = AtLeastZero.find(rest.sum);
    return other != AtLeastZero.end() && fact.second + rest.factor * other->second <= constant;
  });
}

bool Facts::assume(const Expr &expr) {
  if (implies(expr))
    return true;
  if (implies(-expr - 1))
    return false;
  auto [sum, constant] = asBound(expr);
  AtLeastZero[sum] = constant;
  return true;
}

std::vector<Expr> Facts::inequalities() const {
  std::vector<Expr> all;
  for (const auto &[sum, constant] : AtLeastZero)
    all.push_back(sum + constant);
  return all;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Operation *Facts::connective(const Expr &condition, std::vector<Expr> &operands) const {
  std::optional<Atom> atom = condition.asSymbol();
  if (!atom ||
      !isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(Scalars->info(*atom).op))
    return nullptr;
  operands = Scalars->info(*atom).operands;
  return Scalars->info(*atom).op;
}

std::optional<Facts::Comparison> Facts::compare(const Expr &condition) const {
  std::optional<Atom> atom = condition.asSymbol();
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
                cast<arith::CmpIOp>(Scalars->info(*condition.asSymbol()).op).getPredicate() ==
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
  std::vector<Expr> operands;
  if (Operation *op = connective(condition, operands))
    return !isa<arith::AndIOp>(op) ||
           llvm::all_of(operands, [&](const Expr &operand) { return assumeHolds(operand); });
  std::vector<Facts> cases = split(condition);
  llvm::erase_if(cases, [&](const Facts &facts) { return facts.decide(condition) == false; });
  if (cases.size() == 1)
    *this = std::move(cases.front());
  return !cases.empty();
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
// Choices
//===----------------------------------------------------------------------===//

std::optional<Facts::Choice> Facts::choiceOf(Atom atom) const {
  const AtomInfo &info = Scalars->info(atom);
  if (info.kind == AtomInfo::Kind::Select)
    return Choice{info.operands[0], {}, info.operands[1], info.operands[2]};
  if (!isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(info.op))
    return std::nullopt;
  const Expr &a = info.operands[0], &b = info.operands[1];
  bool isUnsigned = isa<arith::MinUIOp, arith::MaxUIOp>(info.op);
  if (isUnsigned && !(implies(a) && implies(b)))
    return std::nullopt;
  bool isMax = isa<arith::MaxSIOp, arith::MaxUIOp>(info.op);
  return Choice{std::nullopt, isMax ? a - b : b - a, a, b};
}

std::optional<bool> Facts::decide(const Choice &choice) const {
  if (choice.condition)
    return decide(*choice.condition);
  if (implies(choice.sign))
    return true;
  return implies(-choice.sign - 1) ? std::optional(false) : std::nullopt;
}

Env Facts::decideChoices(const Expr &expr) const {
  Env decided;
  Scalars->forEachAtom(expr, [&](Atom atom) {
    std::optional<Choice> choice = choiceOf(atom);
    if (std::optional<bool> first = choice ? decide(*choice) : std::nullopt)
      decided[atom] = *first ? choice->first : choice->second;
  });
  return decided;
}

std::vector<Facts> Facts::splitChoice(const Expr &expr) const {
  std::optional<Choice> open;
  Scalars->forEachAtom(expr, [&](Atom atom) {
    std::optional<Choice> choice = open ? std::nullopt : choiceOf(atom);
    if (choice && !decide(*choice))
      open = std::move(choice);
  });
  if (!open)
    return {};
  if (open->condition)
    return split(*open->condition);
  std::vector<Facts> cases;
  for (const Expr &sign : {open->sign, -open->sign - 1})
    if (Facts facts = *this; facts.assume(sign))
      cases.push_back(std::move(facts));
  return cases;
}

//===----------------------------------------------------------------------===//
// Counters of joint loops
//===----------------------------------------------------------------------===//

bool Facts::replace(Atom atom, const Expr &by) {
  Env change{{atom, by}};
  std::vector<Expr> facts = inequalities();
  std::map<Expr, bool> decided;
  AtLeastZero.clear();
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
  for (const Expr &fact : inequalities())
    // What is known of the number of rounds says how far the end is.
    if ((fact - rounds).isConstant() && !assume(fact + first - count))
      return false;
  if (rounds.isConstant() &&
      !assume(last - std::min(kEndRounds - 1, rounds.constant() - 1 - first)))
    return false;
  return assume(count - first) && assume(last);
}

void Facts::forgetComputed(const Facts &before) {
  auto isComputed = [&](const auto &term) { return !Scalars->info(term.first).operands.empty(); };
  std::erase_if(AtLeastZero, [&](const auto &entry) {
    return llvm::any_of(entry.first.terms(), isComputed) &&
           !before.AtLeastZero.contains(entry.first);
  });
}

bool Facts::advance(Atom counter, const Expr &rounds) {
  Expr last = rounds - 1 - Expr::of(counter);
  std::vector<Expr> facts = inequalities();
  AtLeastZero.clear();
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
