#include "PipeScalars.h"

#include "kiln/Program/ScalarEvaluation.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::pipes {

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static int64_t wrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
static int64_t wrappingMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

std::optional<int64_t> evaluate(Operation *op, ArrayRef<int64_t> in) {
  // Like sums of expressions, which a program that runs never lets overflow.
  if (isa<arith::AddIOp>(op))
    return wrappingAdd(in[0], in[1]);
  if (isa<arith::SubIOp>(op))
    return wrappingAdd(in[0], wrappingMul(in[1], -1));
  if (isa<arith::MulIOp>(op))
    return wrappingMul(in[0], in[1]);
  if (op->getNumOperands() != in.size())
    return std::nullopt;
  SmallVector<ScalarBits, 3> operands;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), in)) {
    std::optional<DType> type = dtypeOf(operand.getType());
    if (!type || isFloat(*type))
      return std::nullopt;
    operands.push_back(ScalarBits::fromInt(*type, value));
  }
  Expected<ScalarBits> result = evaluateScalar(op, operands);
  if (!result || isFloat(result->type))
    return std::nullopt;
  return result->asInt();
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

Atom ScalarTable::intern(const std::string &key, AtomInfo info) {
  auto [entry, isNew] = ByKey.try_emplace(key, Atoms.size());
  if (isNew)
    Atoms.push_back(std::move(info));
  return entry->second;
}

Expr ScalarTable::free(const std::string &name, int64_t least, int64_t most) {
  AtomInfo info{.kind = AtomInfo::Kind::Free, .name = name, .least = least, .most = most};
  return Expr::of(intern("free " + name, std::move(info)));
}

Expr ScalarTable::index(const std::string &name, bool isCount) {
  Expr value = free(name, INT64_MIN);
  Atoms[*value.asSymbol()].isCount = isCount;
  return value;
}

Expr ScalarTable::extent(const std::string &name) {
  Expr value = free(name, 0);
  Atoms[*value.asSymbol()].isExtent = true;
  return value;
}

Expr ScalarTable::freeBelow(const std::string &name, const Expr &bound) {
  Expr value = free(name, 0);
  Atoms[*value.asSymbol()].below = bound.asSymbol();
  return value;
}

Expr ScalarTable::named(const std::string &name) {
  return Expr::of(intern("name " + name, {.kind = AtomInfo::Kind::Name, .name = name}));
}

Atom ScalarTable::makeIndex(const Expr &lower) {
  std::string name = "i" + std::to_string(Atoms.size());
  return intern("index " + name, {.kind = AtomInfo::Kind::Index,
                                  .name = name,
                                  .least = isNeverNegative(lower) ? 0 : INT64_MIN});
}

Atom ScalarTable::counter(unsigned depth) {
  std::string name = "k" + std::to_string(depth);
  return intern("counter " + name, {.kind = AtomInfo::Kind::Counter, .name = name, .least = 0});
}

Expr ScalarTable::lane() {
  return Expr::of(
      intern("lane", {.kind = AtomInfo::Kind::Lane, .name = "lane", .dependsOnLane = true}));
}

Expr ScalarTable::makeUnknown(Operation *cause) {
  std::string name = "?" + std::to_string(Atoms.size());
  return Expr::of(intern(name, {.kind = AtomInfo::Kind::Unknown, .name = name, .unknown = cause}));
}

void writeKey(llvm::raw_ostream &os, const Expr &expr) {
  os << expr.constant();
  for (auto [atom, coefficient] : expr.terms())
    os << '+' << coefficient << '*' << atom;
  os << ';';
}

Expr ScalarTable::operation(AtomInfo::Kind kind, const std::string &key, Operation *op,
                            ArrayRef<Expr> operands) {
  AtomInfo info{.kind = kind, .op = op, .operands = operands.vec()};
  std::string fullKey = key + "|";
  llvm::raw_string_ostream os(fullKey);
  for (const Expr &operand : operands) {
    writeKey(os, operand);
    forEachAtom(operand, [&](Atom atom) {
      info.dependsOnLane |= Atoms[atom].dependsOnLane;
      info.unknown = info.unknown ? info.unknown : Atoms[atom].unknown;
    });
  }
  return Expr::of(intern(fullKey, std::move(info)));
}

Expr ScalarTable::multiply(const Expr &a, const Expr &b, Operation *op) {
  if (a.isConstant())
    return b * a.constant();
  if (b.isConstant())
    return a * b.constant();
  return operation(AtomInfo::Kind::Operation, "product", op, {std::min(a, b), std::max(a, b)});
}

Expr ScalarTable::ceilDiv(const Expr &a, const Expr &b) {
  if (!b.isConstant() || b.constant() <= 0)
    return operation(AtomInfo::Kind::CeilDiv, "ceildiv", nullptr, {a, b});
  int64_t divisor = b.constant();
  Expr whole(llvm::divideFloorSigned(a.constant(), divisor)),
      rest(a.constant() - whole.constant() * divisor);
  for (auto [atom, coefficient] : a.terms()) {
    bool divides = coefficient % divisor == 0;
    (divides ? whole : rest) =
        (divides ? whole : rest) + Expr::of(atom) * (divides ? coefficient / divisor : coefficient);
  }
  if (rest.isConstant())
    return whole + llvm::divideCeilSigned(rest.constant(), divisor);
  return whole + operation(AtomInfo::Kind::CeilDiv, "ceildiv", nullptr, {rest, b});
}

Expr ScalarTable::select(const Expr &condition, const Expr &then, const Expr &otherwise) {
  if (condition.isConstant())
    return condition.constant() ? then : otherwise;
  if (then == otherwise)
    return then;
  return operation(AtomInfo::Kind::Select, "select", nullptr, {condition, then, otherwise});
}

bool ScalarTable::isNeverNegative(const Expr &expr) const {
  return expr.constant() >= 0 && llvm::all_of(expr.terms(), [&](const auto &term) {
           return term.second >= 0 && Atoms[term.first].least >= 0;
         });
}

/// A number as it is in `type`, which may be narrower than 64 bits.
static int64_t wrap(int64_t value, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() >= 64)
    return value;
  return integer.getWidth() == 1 ? value & 1 : llvm::SignExtend64(value, integer.getWidth());
}

Expr ScalarTable::apply(Operation *op, ArrayRef<Expr> in) {
  // Narrow arithmetic wraps, so it is not looked into.
  auto integer = dyn_cast<IntegerType>(op->getResult(0).getType());
  bool isWide = !integer || integer.getWidth() >= 64;
  if (isa<arith::AddIOp>(op) && isWide)
    return in[0] + in[1];
  if (isa<arith::SubIOp>(op) && isWide)
    return in[0] - in[1];
  if (isa<arith::MulIOp>(op) && isWide)
    return multiply(in[0], in[1], op);
  // A bool is 0 or 1 here; as a signed number it would be 0 or -1.
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op) && isWide &&
      !op->getOperand(0).getType().isInteger(1))
    return in[0];
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op) && op->getOperand(0).getType().isInteger(1))
    return in[0];
  bool hasDivisor = in.size() == 2 && in[1].isConstant() && in[1].constant() > 0;
  // Rounding down is rounding up of what is divisor - 1 less. Both give one normal form, the one of
  // a loop's trip count.
  bool isSigned = !isa<arith::CeilDivUIOp, arith::DivUIOp>(op) || isNeverNegative(in[0]);
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op) && hasDivisor && isSigned)
    return ceilDiv(in[0], in[1]);
  if (isa<arith::FloorDivSIOp, arith::DivUIOp>(op) && hasDivisor && isSigned)
    return floorDiv(in[0], in[1].constant());
  // Remainders and bits are what a quotient leaves, so they are known as soon as it is.
  if (isa<arith::DivSIOp>(op) && hasDivisor && isWide && isNeverNegative(in[0]))
    return floorDiv(in[0], in[1].constant());
  if (isa<arith::RemSIOp, arith::RemUIOp>(op) && hasDivisor && isWide && isNeverNegative(in[0]))
    return in[0] - floorDiv(in[0], in[1].constant()) * in[1].constant();
  bool shiftsLittle = in.size() == 2 && isWide && in[1].isConstant() && in[1].constant() >= 0 &&
                      in[1].constant() < 62;
  if (isa<arith::ShLIOp>(op) && shiftsLittle)
    return in[0] * (int64_t(1) << in[1].constant());
  if (isa<arith::ShRSIOp>(op) && shiftsLittle)
    return floorDiv(in[0], int64_t(1) << in[1].constant());
  bool isMask = hasDivisor && isWide && in[1].constant() < INT64_MAX &&
                llvm::isPowerOf2_64(in[1].constant() + 1);
  if (isa<arith::AndIOp>(op) && isMask)
    return in[0] - floorDiv(in[0], in[1].constant() + 1) * (in[1].constant() + 1);
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::AndIOp,
          arith::OrIOp>(op) &&
      in[0] == in[1])
    return in[0];
  if (isa<arith::SelectOp>(op))
    return select(in[0], in[1], in[2]);
  if (llvm::all_of(in, [](const Expr &operand) { return operand.isConstant(); })) {
    SmallVector<int64_t> constants;
    for (const Expr &operand : in)
      constants.push_back(operand.constant());
    if (std::optional<int64_t> value = evaluate(op, constants))
      return wrap(*value, op->getResult(0).getType());
  }
  // Attributes are unique in their context, so the pointer says which they are.
  std::string key = op->getName().getStringRef().str();
  llvm::raw_string_ostream(key) << op->getAttrDictionary().getAsOpaquePointer();
  SmallVector<Expr> operands(in);
  if (op->hasTrait<OpTrait::IsCommutative>())
    llvm::sort(operands);
  Expr result = operation(AtomInfo::Kind::Operation, key, op, operands);
  if (isa<arith::MaxSIOp>(op) &&
      llvm::any_of(in, [&](const Expr &operand) { return isNeverNegative(operand); }))
    Atoms[*result.asSymbol()].least = 0;
  return result;
}

static Recurrence recurrenceOf(ArrayRef<Expr> operands);

Expr ScalarTable::applyAgain(const AtomInfo &info, ArrayRef<Expr> operands) {
  switch (info.kind) {
  case AtomInfo::Kind::CeilDiv:
    return ceilDiv(operands[0], operands[1]);
  case AtomInfo::Kind::Select:
    return select(operands[0], operands[1], operands[2]);
  case AtomInfo::Kind::WhileTrips:
    return whileTrips(recurrenceOf(operands));
  case AtomInfo::Kind::WhileValue:
    return whileValue(recurrenceOf(operands.drop_back()), info.which, operands.back());
  default:
    return apply(info.op, operands);
  }
}

Expr ScalarTable::substitute(const Expr &expr, const Env &env) {
  Env done;
  return substitute(expr, env, done);
}

Expr ScalarTable::substitute(const Expr &expr, const Env &env, Env &done) {
  spend(1 + expr.terms().size());
  Expr result(expr.constant());
  for (auto [atom, coefficient] : expr.terms()) {
    Expr value = Expr::of(atom);
    if (auto bound = env.find(atom); bound != env.end()) {
      value = bound->second;
    } else if (auto known = done.find(atom); known != done.end()) {
      value = known->second;
    } else if (const AtomInfo &info = Atoms[atom]; !info.operands.empty()) {
      std::vector<Expr> operands;
      for (const Expr &operand : info.operands)
        operands.push_back(substitute(operand, env, done));
      if (operands != info.operands)
        value = applyAgain(info, operands);
      done[atom] = value;
    }
    result = result + value * coefficient;
  }
  return result;
}

std::optional<int64_t> ScalarTable::valueOf(const Expr &expr, const Env &env) {
  llvm::SmallDenseMap<Atom, int64_t, 8> done;
  return valueOf(expr, env, done);
}

std::optional<int64_t> ScalarTable::valueOf(const Expr &expr, const Env &env, Numbers &done) {
  int64_t sum = expr.constant();
  for (auto [atom, coefficient] : expr.terms()) {
    std::optional<int64_t> value;
    if (auto bound = env.find(atom); bound != env.end()) {
      if (bound->second.isConstant())
        value = bound->second.constant();
    } else if (auto known = done.find(atom); known != done.end()) {
      value = known->second;
    } else if ((value = compute(Atoms[atom], env, done))) {
      done[atom] = *value;
    }
    if (!value)
      return std::nullopt;
    sum = wrappingAdd(sum, wrappingMul(coefficient, *value));
  }
  return sum;
}

std::optional<int64_t> ScalarTable::compute(const AtomInfo &info, const Env &env, Numbers &done) {
  if (info.kind == AtomInfo::Kind::Select) {
    std::optional<int64_t> condition = valueOf(info.operands[0], env, done);
    return condition ? valueOf(info.operands[*condition ? 1 : 2], env, done) : std::nullopt;
  }
  if (info.kind != AtomInfo::Kind::Operation && info.kind != AtomInfo::Kind::CeilDiv)
    return std::nullopt;
  SmallVector<int64_t, 3> operands;
  for (const Expr &operand : info.operands) {
    std::optional<int64_t> number = valueOf(operand, env, done);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  if (info.kind == AtomInfo::Kind::CeilDiv)
    return operands[1] > 0 ? std::optional(llvm::divideCeilSigned(operands[0], operands[1]))
                           : std::nullopt;
  std::optional<int64_t> value = evaluate(info.op, operands);
  return value ? std::optional(wrap(*value, info.op->getResult(0).getType())) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// While loops
//===----------------------------------------------------------------------===//

/// More rounds than any trial runs.
static constexpr int64_t kMaxRounds = 200'000;

Expr ScalarTable::carried(unsigned which) {
  std::string name = "carried " + std::to_string(which);
  return Expr::of(intern(name, {.kind = AtomInfo::Kind::Carried, .name = name}));
}

/// The scalars that a loop carries, round by round, where they are numbers.
class Rounds {
public:
  Rounds(ScalarTable &scalars, const Recurrence &loop) : Scalars(scalars), Loop(loop) {
    for (auto [which, init] : llvm::enumerate(loop.inits)) {
      IsKnown &= init.isConstant();
      Values[*scalars.carried(which).asSymbol()] = init;
    }
  }
  bool isKnown() const { return IsKnown; }
  int64_t number() const { return Number; }
  std::optional<int64_t> valueOf(const Expr &expr) { return Scalars.valueOf(expr, Values); }
  void advance() {
    Scalars.spend(1);
    Env next;
    for (const auto &[which, expr] : llvm::enumerate(Loop.nexts)) {
      std::optional<int64_t> value = valueOf(expr);
      IsKnown &= value.has_value();
      next[*Scalars.carried(which).asSymbol()] = value.value_or(0);
    }
    Values = std::move(next);
    ++Number;
  }

private:
  ScalarTable &Scalars;
  const Recurrence &Loop;
  Env Values;
  int64_t Number = 0;
  bool IsKnown = true;
};

static std::vector<Expr> operandsOf(const Recurrence &loop) {
  std::vector<Expr> operands = loop.inits;
  operands.insert(operands.end(), loop.nexts.begin(), loop.nexts.end());
  operands.push_back(loop.condition);
  return operands;
}

Expr ScalarTable::whileTrips(const Recurrence &loop) {
  for (Rounds rounds(*this, loop); rounds.isKnown() && rounds.number() <= kMaxRounds;
       rounds.advance()) {
    std::optional<int64_t> goesOn = rounds.valueOf(loop.condition);
    if (!goesOn)
      break;
    if (!*goesOn)
      return Expr(rounds.number());
  }
  Expr trips = operation(AtomInfo::Kind::WhileTrips, "while", nullptr, operandsOf(loop));
  Atoms[*trips.asSymbol()].least = 0;
  return trips;
}

Expr ScalarTable::whileValue(const Recurrence &loop, unsigned which, const Expr &iterations) {
  if (iterations.isConstant() && iterations.constant() >= 0 &&
      iterations.constant() <= kMaxRounds) {
    Rounds rounds(*this, loop);
    while (rounds.isKnown() && rounds.number() < iterations.constant())
      rounds.advance();
    if (std::optional<int64_t> value =
            rounds.isKnown() ? rounds.valueOf(carried(which)) : std::nullopt)
      return Expr(*value);
  }
  std::vector<Expr> operands = operandsOf(loop);
  operands.push_back(iterations);
  Expr value =
      operation(AtomInfo::Kind::WhileValue, "while " + std::to_string(which), nullptr, operands);
  Atoms[*value.asSymbol()].which = which;
  return value;
}

/// Takes the operands of operandsOf apart.
static Recurrence recurrenceOf(ArrayRef<Expr> operands) {
  size_t count = operands.size() / 2;
  return {operands.take_front(count).vec(), operands.slice(count, count).vec(),
          operands[2 * count]};
}

//===----------------------------------------------------------------------===//
// What an expression is made of
//===----------------------------------------------------------------------===//

void ScalarTable::forEachAtom(const Expr &expr, llvm::function_ref<void(Atom)> visit) const {
  llvm::SmallDenseSet<Atom, 8> seen;
  SmallVector<const Expr *> work{&expr};
  while (!work.empty())
    for (auto [atom, coefficient] : work.pop_back_val()->terms())
      if (seen.insert(atom).second) {
        visit(atom);
        for (const Expr &operand : Atoms[atom].operands)
          work.push_back(&operand);
      }
}

bool ScalarTable::mentions(const Expr &expr, Atom wanted) const {
  bool found = false;
  forEachAtom(expr, [&](Atom atom) { found |= atom == wanted; });
  return found;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string nameOf(const AtomInfo &info) {
  switch (info.kind) {
  case AtomInfo::Kind::CeilDiv:
    return "ceildiv";
  case AtomInfo::Kind::Select:
    return "select";
  case AtomInfo::Kind::WhileTrips:
  case AtomInfo::Kind::WhileValue:
    return "while";
  default:
    return info.op->getName().stripDialect().str();
  }
}

std::string ScalarTable::str(const Expr &expr, int depth) const {
  if (depth > 4)
    return "...";
  std::string text;
  auto add = [&](int64_t coefficient, const std::string &what) {
    text += text.empty() ? (coefficient < 0 ? "-" : "") : coefficient < 0 ? " - " : " + ";
    uint64_t size = coefficient < 0 ? -static_cast<uint64_t>(coefficient) : coefficient;
    text += what.empty() ? std::to_string(size)
            : size == 1  ? what
                         : std::to_string(size) + " * " + what;
  };
  for (auto [atom, coefficient] : expr.terms()) {
    const AtomInfo &info = Atoms[atom];
    std::string what = info.name;
    if (!info.operands.empty()) {
      what = nameOf(info) + "(";
      for (auto [position, operand] : llvm::enumerate(info.operands))
        what += (position ? ", " : "") + str(operand, depth + 1);
      what += ")";
    }
    add(coefficient, what);
  }
  if (expr.constant() != 0 || expr.isConstant())
    add(expr.constant(), "");
  return text;
}

} // namespace kiln::pipes
