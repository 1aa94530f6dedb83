#include "PipeScalars.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::pipes {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static int64_t wrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
static int64_t wrappingMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Expr Expr::of(Atom atom) {
  Expr expr;
  expr.Terms.emplace_back(atom, 1);
  return expr;
}

int64_t Expr::coefficient(Atom atom) const {
  for (auto [term, coefficient] : Terms)
    if (term == atom)
      return coefficient;
  return 0;
}

std::optional<Atom> Expr::asAtom() const {
  if (Constant == 0 && Terms.size() == 1 && Terms.front().second == 1)
    return Terms.front().first;
  return std::nullopt;
}

Expr Expr::operator+(const Expr &other) const {
  Expr sum(wrappingAdd(Constant, other.Constant));
  auto a = Terms.begin(), b = other.Terms.begin();
  while (a != Terms.end() || b != other.Terms.end()) {
    bool takeA = b == other.Terms.end() || (a != Terms.end() && a->first <= b->first);
    bool takeB = a == Terms.end() || (b != other.Terms.end() && b->first <= a->first);
    Atom atom = takeA ? a->first : b->first;
    int64_t coefficient = wrappingAdd(takeA ? a++->second : 0, takeB ? b++->second : 0);
    if (coefficient != 0)
      sum.Terms.emplace_back(atom, coefficient);
  }
  return sum;
}

Expr Expr::operator*(int64_t factor) const {
  Expr product(wrappingMul(Constant, factor));
  for (auto [atom, coefficient] : Terms)
    if (int64_t scaled = wrappingMul(coefficient, factor))
      product.Terms.emplace_back(atom, scaled);
  return product;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static std::optional<int64_t> divide(int64_t a, int64_t b,
                                     llvm::function_ref<int64_t(int64_t, int64_t)> how) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  return how(a, b);
}

std::optional<int64_t> evaluate(Operation *op, ArrayRef<int64_t> in) {
  using Result = std::optional<int64_t>;
  auto truncated = [](int64_t a, int64_t b) { return a / b; };
  auto remainder = [](int64_t a, int64_t b) { return a % b; };
  // Numbers are kept sign-extended. That keeps their unsigned order, but not quotients of types
  // narrower than 64 bits.
  bool isWide = op->getNumResults() == 1 &&
                (op->getResult(0).getType().isIndex() || op->getResult(0).getType().isInteger(64));
  auto divideUnsigned = [&](llvm::function_ref<uint64_t(uint64_t, uint64_t)> how) -> Result {
    if (in[1] == 0 || (!isWide && (in[0] < 0 || in[1] < 0)))
      return std::nullopt;
    return static_cast<int64_t>(how(in[0], in[1]));
  };
  auto isLess = [](int64_t a, int64_t b) {
    return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return wrappingAdd(in[0], in[1]); })
      .Case([&](arith::SubIOp) { return wrappingAdd(in[0], wrappingMul(in[1], -1)); })
      .Case([&](arith::MulIOp) { return wrappingMul(in[0], in[1]); })
      .Case([&](arith::DivSIOp) { return divide(in[0], in[1], truncated); })
      .Case([&](arith::RemSIOp) { return divide(in[0], in[1], remainder); })
      .Case([&](arith::DivUIOp) {
        return divideUnsigned([](uint64_t a, uint64_t b) { return a / b; });
      })
      .Case([&](arith::RemUIOp) {
        return divideUnsigned([](uint64_t a, uint64_t b) { return a % b; });
      })
      .Case([&](arith::FloorDivSIOp) {
        return divide(in[0], in[1], llvm::divideFloorSigned<int64_t, int64_t>);
      })
      .Case([&](arith::CeilDivSIOp) {
        return divide(in[0], in[1], llvm::divideCeilSigned<int64_t, int64_t>);
      })
      .Case([&](arith::CeilDivUIOp) {
        return divideUnsigned([](uint64_t a, uint64_t b) { return a / b + (a % b != 0); });
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](Operation *) { return op->getOperand(0).getType().isInteger(1) ? -in[0] : in[0]; })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>([&](Operation *) {
        auto from = dyn_cast<IntegerType>(op->getOperand(0).getType());
        return from && from.getWidth() < 64
                   ? in[0] & llvm::maskTrailingOnes<uint64_t>(from.getWidth())
                   : in[0];
      })
      .Case([&](arith::MinSIOp) { return std::min(in[0], in[1]); })
      .Case([&](arith::MaxSIOp) { return std::max(in[0], in[1]); })
      .Case([&](arith::MinUIOp) { return std::min(in[0], in[1], isLess); })
      .Case([&](arith::MaxUIOp) { return std::max(in[0], in[1], isLess); })
      .Case([&](arith::AndIOp) { return in[0] & in[1]; })
      .Case([&](arith::OrIOp) { return in[0] | in[1]; })
      .Case([&](arith::XOrIOp) { return in[0] ^ in[1]; })
      .Case([&](arith::SelectOp) { return in[0] ? in[1] : in[2]; })
      .Case([&](arith::CmpIOp cmp) {
        // A bool is 0 or 1 here; as a signed number it is 0 or -1.
        bool isBool = cmp.getLhs().getType().isInteger(1);
        auto number = [&](int64_t value) { return APInt(64, isBool ? -value : value, true); };
        return arith::applyCmpPredicate(cmp.getPredicate(), number(in[0]), number(in[1]));
      })
      .Default([](Operation *) { return std::nullopt; });
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

Expr ScalarTable::freeBelow(const std::string &name, const Expr &bound) {
  Expr value = free(name, 0);
  Atoms[*value.asAtom()].below = bound.asAtom();
  return value;
}

Expr ScalarTable::named(const std::string &name) {
  return Expr::of(intern("name " + name, {.kind = AtomInfo::Kind::Name, .name = name}));
}

Atom ScalarTable::makeIndex() {
  std::string name = "i" + std::to_string(Atoms.size());
  return intern("index " + name, {.kind = AtomInfo::Kind::Index, .name = name});
}

Atom ScalarTable::counter(unsigned depth) {
  std::string name = "k" + std::to_string(depth);
  return intern("counter " + name, {.kind = AtomInfo::Kind::Counter, .name = name});
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
    return ceilDiv(in[0] - (in[1].constant() - 1), in[1]);
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
  return operation(AtomInfo::Kind::Operation, key, op, operands);
}

Expr ScalarTable::substitute(const Expr &expr, const Env &env) {
  Expr result(expr.constant());
  for (auto [atom, coefficient] : expr.terms()) {
    Expr value = Expr::of(atom);
    if (auto bound = env.find(atom); bound != env.end()) {
      value = bound->second;
    } else if (const AtomInfo &info = Atoms[atom]; !info.operands.empty()) {
      std::vector<Expr> operands;
      for (const Expr &operand : info.operands)
        operands.push_back(substitute(operand, env));
      if (operands != info.operands)
        value = info.kind == AtomInfo::Kind::CeilDiv ? ceilDiv(operands[0], operands[1])
                                                     : apply(info.op, operands);
    }
    result = result + value * coefficient;
  }
  return result;
}

void ScalarTable::forEachAtom(const Expr &expr, llvm::function_ref<void(Atom)> visit) const {
  for (auto [atom, coefficient] : expr.terms()) {
    visit(atom);
    for (const Expr &operand : Atoms[atom].operands)
      forEachAtom(operand, visit);
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

std::string ScalarTable::str(const Expr &expr) const {
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
      StringRef name = info.kind == AtomInfo::Kind::CeilDiv ? StringRef("ceildiv")
                                                            : info.op->getName().stripDialect();
      what = name.str() + "(";
      for (auto [position, operand] : llvm::enumerate(info.operands))
        what += (position ? ", " : "") + str(operand);
      what += ")";
    }
    add(coefficient, what);
  }
  if (expr.constant() != 0 || expr.isConstant())
    add(expr.constant(), "");
  return text;
}

} // namespace kiln::pipes
