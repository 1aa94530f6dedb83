//===- ArgumentWalk.h - from a value to the arguments it is made of ------------------------===//
//
// Follows a value of any function, along the calls and launches that lead to it, up to what the
// entry is given: evaluates it for some arguments, or says in which range it stays for all of them.
//
// Ownership: borrows the path and the functions it is given. Reads the IR only.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_CHECK_ARGUMENTWALK_H
#define KILN_LIB_DRIVER_CHECK_ARGUMENTWALK_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/dtype.h"

#include <compare>
#include <map>
#include <optional>
#include <variant>

namespace kiln {

/// Something of the entry's arguments that can be chosen.
struct Leaf {
  static constexpr int kNumber = -1, kData = -2;
  unsigned parameter = 0;
  int axis = kNumber; ///< Of a tensor; kNumber: a scalar; kData: the numbers in a tensor.
  auto operator<=>(const Leaf &) const = default;
};
using Choice = std::map<Leaf, int64_t>;
/// What a leaf is; none if nobody knows.
using LeafValues = llvm::function_ref<std::optional<int64_t>(Leaf)>;

/// What a value may be, whatever the arguments are that the program allows.
struct NumberRange {
  static constexpr int64_t kMost = int64_t(1) << 47; ///< Beyond it nothing is said.
  int64_t least = -kMost, most = kMost;
  int64_t divisor = 1;           ///< Divides it.
  std::optional<Leaf> leaf = {}; ///< It is this, and so are others that must be equal to it.
  /// The least number of parts of `divisor` that have room for a leaf.
  struct Parts {
    Leaf leaf;
    int64_t divisor;
  };
  std::optional<Parts> parts = {}; ///< It is that.
  std::optional<Parts> below = {}; ///< It is less than that.

  /// Whether it is less than a leaf that `other` is: a number of parts that is less than what a
  /// leaf needs is less than the leaf.
  bool isBelow(const NumberRange &other) const {
    return below && other.leaf && below->leaf == *other.leaf && (least >= 0 || below->divisor == 1);
  }
  /// An index that runs up to, but not including, `end`.
  static NumberRange upTo(int64_t least, const NumberRange &end) {
    NumberRange index{least, end.most - 1};
    index.below = end.leaf ? Parts{*end.leaf, 1} : end.parts;
    return index;
  }

  static NumberRange of(int64_t least, int64_t most) { return {least, most}; }
};
using LeafRanges = llvm::function_ref<NumberRange(Leaf)>;

/// The calls and launches that lead to a function, from the entry on.
using CallPath = llvm::SmallVector<mlir::Operation *, 4>;

/// A value and how many calls down the path its function is.
struct At {
  mlir::Value value;
  unsigned depth;
};

/// The function that an operation calls or launches; null if it does neither.
mlir::StringAttr calleeOf(mlir::Operation *op);
mlir::OperandRange argsOf(mlir::Operation *site);
bool isMinOrMax(mlir::Operation *op);
/// The parameter of a function that a value is; null if it is something else.
mlir::BlockArgument parameterOf(mlir::Value value);

class ArgumentWalk {
public:
  ArgumentWalk(const CallPath &path, LeafValues values) : Calls(path), Values(values) {}

  std::optional<ScalarBits> evaluate(At at, unsigned nesting = 0) const;
  /// An integer.
  std::optional<int64_t> number(At at) const;
  NumberRange range(At at, LeafRanges leaves, unsigned nesting = 0) const;
  /// The operand that a parameter of a function gets; none for those of the entry.
  std::optional<At> argument(mlir::BlockArgument parameter, unsigned depth) const;
  /// What a tensor is taken from: a parameter of the entry, or an alloc.
  At rootOf(At tensor) const;
  /// The extent of an axis: a leaf, a constant, or a value.
  std::variant<std::monostate, Leaf, int64_t, At> extent(At tensor, unsigned axis) const;
  /// The extent of the grid that a block of the function at `depth` is in.
  std::variant<std::monostate, int64_t, At> grid(unsigned depth, unsigned dim) const;
  /// The parameter of the entry that a number in memory comes from.
  std::optional<Leaf> dataOf(At tensor) const;

private:
  NumberRange rangeOfGrid(unsigned depth, unsigned dim, LeafRanges leaves, unsigned nesting) const;

  const CallPath &Calls;
  LeafValues Values;
  mutable unsigned Visits = 0; ///< Of values, since somebody asked.
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_ARGUMENTWALK_H
