#include "kiln/runtime/requirement.h"

#include "abi/CheckedMath.h"
#include "kiln/runtime/signature.h"

#include <algorithm>

using namespace kiln;

using Op = Requirement::Op;
using Node = Requirement::Node;

namespace {

/// How an operation is spelt in bundles and for people. Of two operations the one that binds more
/// tightly has the higher precedence; 0: it is written like a call.
struct OpInfo {
  const char *name;
  const char *sign;
  int precedence;
};
constexpr OpInfo infos[] = {{"constant", "", 9},
                            {"extent", "", 9},
                            {"scalar", "", 9},
                            {"add", "+", 7},
                            {"sub", "-", 7},
                            {"mul", "*", 8},
                            {"div", "/", 8},
                            {"floordiv", "floordiv", 0},
                            {"ceildiv", "ceildiv", 0},
                            {"rem", "%", 8},
                            {"min", "min", 0},
                            {"max", "max", 0},
                            {"and", "&", 5},
                            {"or", "|", 3},
                            {"xor", "^", 4},
                            {"eq", "==", 6},
                            {"ne", "!=", 6},
                            {"lt", "<", 6},
                            {"le", "<=", 6},
                            {"gt", ">", 6},
                            {"ge", ">=", 6}};
constexpr size_t numOps = std::size(infos);
static_assert(numOps == static_cast<size_t>(Op::Ge) + 1);

const OpInfo &infoOf(Op op) { return infos[static_cast<size_t>(op)]; }
bool isLeaf(Op op) { return op <= Op::Scalar; }
bool isComparison(Op op) { return op >= Op::Eq; }
bool isQuotient(Op op) { return op >= Op::Div && op <= Op::Rem; }
bool isBitwise(Op op) { return op == Op::And || op == Op::Or || op == Op::Xor; }

Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

} // namespace

const char *kiln::toString(Op op) { return infoOf(op).name; }

std::optional<Op> kiln::parseRequirementOp(std::string_view name) {
  for (size_t op = 0; op < numOps; ++op)
    if (name == infos[op].name)
      return static_cast<Op>(op);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static bool isWidth(uint8_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

/// Whether a leaf names an argument that there is.
static bool isGoodLeaf(const Node &node, const Signature &signature) {
  auto isBelow = [](int64_t index, size_t count) {
    return index >= 0 && static_cast<uint64_t>(index) < count;
  };
  switch (node.op) {
  case Op::Constant:
    return node.bits == 1 ? node.a == 0 || node.a == 1 : isWidth(node.bits);
  case Op::Extent:
    return node.bits == 64 && isBelow(node.a, signature.tensors.size()) &&
           isBelow(node.b, signature.tensors[static_cast<size_t>(node.a)].extents.size());
  default:
    return isBelow(node.a, signature.scalars.size()) &&
           !isFloat(signature.scalars[static_cast<size_t>(node.a)].type) &&
           (node.bits == 1 || isWidth(node.bits));
  }
}

Status Requirement::verify(const Signature &signature) const {
  if (nodes.empty() || nodes.size() > maxNodes)
    return invalid("a requirement has " + std::to_string(nodes.size()) + " parts; there are 1 to " +
                   std::to_string(maxNodes));
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node &node = nodes[i];
    bool isGood = static_cast<size_t>(node.op) < numOps;
    if (isGood && isLeaf(node.op)) {
      isGood = isGoodLeaf(node, signature);
    } else if (isGood) {
      auto isBefore = [&](int64_t at) { return at >= 0 && at < static_cast<int64_t>(i); };
      isGood = isBefore(node.a) && isBefore(node.b);
      bool areTruths = isGood && nodes[static_cast<size_t>(node.a)].bits == 1;
      isGood = isGood && areTruths == (nodes[static_cast<size_t>(node.b)].bits == 1);
      if (isComparison(node.op))
        isGood = isGood && node.bits == 1;
      else
        isGood = isGood && (areTruths ? node.bits == 1 && isBitwise(node.op) : isWidth(node.bits));
    }
    if (!isGood)
      return invalid("part " + std::to_string(i) + " of a requirement means nothing");
  }
  return nodes.back().bits == 1 ? Status::ok() : invalid("a requirement is no condition");
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// False: there is no quotient.
static bool divide(Op op, int64_t a, int64_t b, int64_t &result) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  bool isExact = a % b == 0, isNegative = (a < 0) != (b < 0);
  result = op == Op::Rem ? a % b : a / b;
  if (op == Op::FloorDiv && !isExact && isNegative)
    --result;
  if (op == Op::CeilDiv && !isExact && !isNegative)
    ++result;
  return true;
}

/// False: the result is not a number that fits 64 bits.
static bool apply(Op op, int64_t a, int64_t b, int64_t &result) {
  switch (op) {
  case Op::Add:
    return checkedAdd(a, b, result);
  case Op::Sub:
    return !__builtin_sub_overflow(a, b, &result);
  case Op::Mul:
    return checkedMul(a, b, result);
  case Op::Div:
  case Op::FloorDiv:
  case Op::CeilDiv:
  case Op::Rem:
    return divide(op, a, b, result);
  case Op::Min:
    return result = std::min(a, b), true;
  case Op::Max:
    return result = std::max(a, b), true;
  case Op::And:
    return result = a & b, true;
  case Op::Or:
    return result = a | b, true;
  case Op::Xor:
    return result = a ^ b, true;
  case Op::Eq:
    return result = a == b, true;
  case Op::Ne:
    return result = a != b, true;
  case Op::Lt:
    return result = a < b, true;
  case Op::Le:
    return result = a <= b, true;
  case Op::Gt:
    return result = a > b, true;
  case Op::Ge:
    return result = a >= b, true;
  default:
    return false;
  }
}

static bool fits(int64_t value, uint8_t bits) {
  int64_t high = value >> (bits - 1);
  return bits == 1 || bits == 64 || high == 0 || high == -1;
}

/// The number of nodes that have a value.
static size_t evaluate(const Requirement &requirement, const ArgumentValues &given,
                       std::array<int64_t, Requirement::maxNodes> &values) {
  size_t at = 0;
  for (at = 0; at < requirement.nodes.size(); ++at) {
    const Node &node = requirement.nodes[at];
    auto a = static_cast<size_t>(node.a), b = static_cast<size_t>(node.b);
    int64_t &value = values[at];
    if (node.op == Op::Constant)
      value = node.a;
    else if (node.op == Op::Extent)
      value = given.extent(a, b);
    else if (node.op == Op::Scalar)
      value = node.bits == 1 ? given.scalar(a) & 1 : given.scalar(a);
    else if (!apply(node.op, values[a], values[b], value) || !fits(value, node.bits))
      break;
  }
  return at;
}

std::vector<int64_t> Requirement::values(const ArgumentValues &given) const {
  std::array<int64_t, maxNodes> values;
  size_t count = evaluate(*this, given, values);
  return {values.begin(), values.begin() + static_cast<ptrdiff_t>(count)};
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

namespace {

/// A part of a condition in words.
struct Words {
  std::string text;
  int precedence;

  std::string within(int outer) const { return precedence < outer ? "(" + text + ")" : text; }
};

} // namespace

/// A part may be used often, and text would double each time.
static constexpr size_t maxText = 300;

static std::string leafText(const Node &node, const Signature &signature) {
  auto index = static_cast<size_t>(node.a);
  if (node.op == Op::Extent)
    return signature.tensors[index].name + ".dim(" + std::to_string(node.b) + ")";
  if (node.op == Op::Scalar)
    return signature.scalars[index].name;
  return node.bits == 1 ? (node.a ? "true" : "false") : std::to_string(node.a);
}

/// Every part by itself, in words.
static std::vector<Words> wordsOf(const std::vector<Node> &nodes, const Signature &signature) {
  std::vector<Words> words;
  for (const Node &node : nodes) {
    const OpInfo &info = infoOf(node.op);
    if (isLeaf(node.op)) {
      words.push_back({leafText(node, signature), node.op == Op::Constant && node.a < 0 ? 7 : 9});
      continue;
    }
    const Words &a = words[static_cast<size_t>(node.a)], &b = words[static_cast<size_t>(node.b)];
    bool isTruth = node.bits == 1 && isBitwise(node.op);
    Words made{"", info.precedence ? info.precedence : 9};
    if (isTruth && node.op == Op::Xor && b.text == "true")
      made = {"!" + a.within(9), 9};
    else if (info.precedence == 0)
      made.text = std::string(info.sign) + "(" + a.text + ", " + b.text + ")";
    else {
      std::string sign = info.sign;
      if (isTruth && node.op == Op::Xor)
        sign = "!=";
      else if (isTruth)
        sign += sign;
      // Only sums, products and connectives of truth values may be read from left to right. In C++
      // a comparison binds more tightly than a bitwise operation.
      bool chains = info.precedence >= 7 || (isTruth && node.op != Op::Xor);
      made.text = a.within(info.precedence + !chains) + " " + sign + " " +
                  b.within(info.precedence + !(isTruth && node.op != Op::Xor));
    }
    if (made.text.size() > maxText)
      made = {"...", 9};
    words.push_back(std::move(made));
  }
  return words;
}

std::string Requirement::str(const Signature &signature) const {
  return wordsOf(nodes, signature).back().text;
}

/// "x.dim(1) is 100 and n is 3": what a condition was judged by.
static std::string givenText(const Requirement &requirement, const Signature &signature,
                             const ArgumentValues &values) {
  std::vector<std::string> parts;
  for (const Node &node : requirement.nodes) {
    if (!isLeaf(node.op) || node.op == Op::Constant)
      continue;
    auto a = static_cast<size_t>(node.a);
    int64_t value =
        node.op == Op::Extent ? values.extent(a, static_cast<size_t>(node.b)) : values.scalar(a);
    std::string part = leafText(node, signature) + " is " + std::to_string(value);
    if (std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
  }
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

Status Requirement::check(const Signature &signature, const ArgumentValues &values) const {
  std::array<int64_t, maxNodes> found;
  size_t at = evaluate(*this, values, found);
  bool hasValue = at == nodes.size();
  if (hasValue && found[at - 1] != 0)
    return Status::ok();
  std::string given = givenText(*this, signature, values);
  std::string text = "'" + signature.name + "' requires " + str(signature);
  if (!given.empty())
    text += ", but " + given;
  if (!hasValue)
    text +=
        (given.empty() ? ", but " : ", so ") + wordsOf(nodes, signature)[at].text +
        (isQuotient(nodes[at].op) ? " has no value"
                                  : " does not fit " + std::to_string(nodes[at].bits) + " bits");
  return Status(StatusCode::InvalidArgument, text + ": " + message, loc);
}
