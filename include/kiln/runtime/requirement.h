//===- kiln/runtime/requirement.h - conditions on the arguments of a function ----===//
//
// What: `Requirement`, one `require` of a program: a condition over the extents of the tensors and
//   over the integer scalars that a function takes, with the message and the line of whoever wrote
//   it. Signatures carry them, so that every platform, bundle and call checks the same thing.
//
// Arithmetic is that of integers without bounds: a result that does not fit its type is not a
//   number, and then the condition does not hold. So what holds here also holds in code, which
//   wraps.
//
// Ownership and threads: plain values; checking allocates nothing unless something is wrong.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_REQUIREMENT_H
#define KILN_RUNTIME_REQUIREMENT_H

#include "kiln/runtime/status.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct Signature;

/// The arguments of a call, whatever form they have.
class ArgumentValues {
public:
  virtual int64_t extent(size_t tensor, size_t axis) const = 0;
  virtual int64_t scalar(size_t index) const = 0;

protected:
  ~ArgumentValues() = default;
};

struct Requirement {
  enum class Op : uint8_t {
    Constant, ///< a
    Extent,   ///< Axis b of tensor a.
    Scalar,   ///< Scalar a.
    // Of the nodes a and b; quotients are rounded towards zero, down, and up.
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    CeilDiv,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge
  };
  /// A part of a condition. Operands are nodes before it; `bits` is the width of its result: 1 for
  /// a truth value, which is 0 or 1, else the integer it must fit.
  struct Node {
    Op op = Op::Constant;
    uint8_t bits = 64;
    int64_t a = 0, b = 0;
    friend bool operator==(const Node &, const Node &) = default;
  };
  static constexpr size_t maxNodes = 128;

  /// The condition; the last node is the whole of it.
  std::vector<Node> nodes;
  std::string message;
  SourceLoc loc = {};
  /// Of code that many programs share: the number of its place in each of them; -1: `loc` it is.
  int64_t place = -1;

  /// Whether it is a condition on arguments of `signature`.
  Status verify(const Signature &signature) const;
  /// Ok if the arguments satisfy it; else who requires what, what was given, and the message.
  Status check(const Signature &signature, const ArgumentValues &values) const;
  /// What each node is; shorter than `nodes` if the next one has no value, or one that does not
  /// fit.
  std::vector<int64_t> values(const ArgumentValues &values) const;
  /// "x.dim(1) % 64 == 0"
  std::string str(const Signature &signature) const;

  friend bool operator==(const Requirement &, const Requirement &) = default;
};

/// "extent", "rem", ...: how bundles spell an operation; and back.
const char *toString(Requirement::Op op);
std::optional<Requirement::Op> parseRequirementOp(std::string_view name);

} // namespace kiln

#endif // KILN_RUNTIME_REQUIREMENT_H
