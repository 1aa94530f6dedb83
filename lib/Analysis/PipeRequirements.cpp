#include "PipeRequirements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace kiln::pipes {

/// The greatest constant of which something may be required to be a multiple, for the proof.
static constexpr int64_t kMaxDivisor = 1024;

/// The differences that the group requires to be 0.
static std::vector<Expr> requiredEqualities(const GroupModel &model) {
  std::vector<Expr> differences, conditions = model.required;
  while (!conditions.empty()) {
    Expr condition = std::move(conditions.back());
    conditions.pop_back();
    std::optional<Atom> atom = condition.asSymbol();
    if (!atom)
      continue;
    const AtomInfo &info = model.scalars.info(*atom);
    if (isa_and_nonnull<arith::AndIOp>(info.op))
      conditions.insert(conditions.end(), info.operands.begin(), info.operands.end());
    auto cmp = dyn_cast_or_null<arith::CmpIOp>(info.op);
    if (cmp && cmp.getPredicate() == arith::CmpIPredicate::eq)
      differences.push_back(info.operands[0] - info.operands[1]);
  }
  return differences;
}

/// Where a difference is 0 only if a parameter is a multiple of a constant: that parameter, as a
/// multiple. A remainder is what a quotient leaves: n - 64 * (n / 64).
static void addMultiple(GroupModel &model, const Expr &difference, Env &values) {
  std::optional<Atom> divided;
  int64_t divisor = 0;
  for (auto [atom, coefficient] : difference.terms()) {
    const AtomInfo &part = model.scalars.info(atom);
    if (part.kind == AtomInfo::Kind::Free)
      divided = atom;
    if (part.kind == AtomInfo::Kind::CeilDiv && part.operands[1].isConstant())
      divisor = part.operands[1].constant();
  }
  if (!divided || divisor <= 1 || divisor > kMaxDivisor)
    return;
  std::string name = "quotient of " + model.scalars.str(*divided);
  Expr quotient = model.scalars.free(name, model.scalars.info(*divided).least < 0 ? INT64_MIN : 0);
  bool isRemainder = llvm::all_of(llvm::seq<int64_t>(1, divisor), [&](int64_t left) {
    Expr value = model.scalars.substitute(difference, {{*divided, quotient * divisor + left}});
    return value.isConstant() && value.constant() != 0;
  });
  if (isRemainder)
    values.try_emplace(*divided, quotient * divisor);
}

void setValue(GroupModel &model, Atom atom, const Expr &value, Env &values) {
  for (auto &[other, known] : values)
    known = model.scalars.substitute(known, {{atom, value}});
  values[atom] = value;
}

/// Where a difference of parameters is 0: one of them, expressed by the others.
static void addEqual(GroupModel &model, const Expr &difference, Env &values) {
  Expr known = model.scalars.substitute(difference, values);
  int64_t common = known.constant();
  for (auto [atom, coefficient] : known.terms()) {
    if (model.scalars.info(atom).kind != AtomInfo::Kind::Free)
      return;
    common = std::gcd(common, coefficient);
  }
  for (auto [atom, coefficient] : known.terms()) {
    if (coefficient != common && coefficient != -common)
      continue;
    Expr value = 0 - known.constant() / coefficient;
    for (auto [other, factor] : known.terms())
      if (other != atom)
        value = value - Expr::of(other) * (factor / coefficient);
    setValue(model, atom, value, values);
    return;
  }
}

Env requiredValues(GroupModel &model) {
  Env values;
  std::vector<Expr> differences = requiredEqualities(model);
  for (const Expr &difference : differences)
    addMultiple(model, difference, values);
  for (const Expr &difference : differences)
    addEqual(model, difference, values);
  return values;
}

} // namespace kiln::pipes
