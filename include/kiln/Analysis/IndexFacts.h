//===- IndexFacts.h - what is known of the indices and extents of a kernel ----------------===//
//
// The one place where passes and backends ask whether an extent is a multiple of a tile: what the
// kernel requires (kiln.require), what a JIT call promised (kiln.divisible), static extents, and
// the bounds of loops. Everything that is said holds whenever the code runs; nothing known is 1 or
// false.
//
// Ownership: borrows the function, which must not change meanwhile. Threads: any thread that may
// read the module, one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_INDEXFACTS_H
#define KILN_ANALYSIS_INDEXFACTS_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln {

/// Both ends belong to it.
struct IndexRange {
  int64_t least = INT64_MIN, most = INT64_MAX;
  /// Whether all of it is numbers of 32 bits.
  bool isNarrow() const { return least >= INT32_MIN && most <= INT32_MAX; }
};

class IndexFacts {
public:
  explicit IndexFacts(ir::FuncOp func);

  /// A number that divides a value; 0 if the value is 0.
  int64_t divisorOf(mlir::Value value) const { return divisorOf(value, 0); }
  int64_t divisorOfExtent(mlir::Value tensor, unsigned axis) const {
    return divisorOfExtent(tensor, axis, 0);
  }
  /// Whether a value is at least `least` wherever it is computed.
  bool isAtLeast(mlir::Value value, int64_t least) const;
  /// Between what a value is wherever it is computed.
  IndexRange rangeOf(mlir::Value value) const { return rangeOf(value, 0); }
  /// Whether an axis of a tensor that `user` works on has elements when it runs.
  bool isNeverEmpty(mlir::Value tensor, unsigned axis, mlir::Operation *user) const;

private:
  /// A scalar parameter, or an axis of a tensor parameter.
  struct Leaf {
    mlir::Value parameter;
    int axis = -1;
    bool operator==(const Leaf &) const = default;
  };
  /// Leaves that have one value, and what is known of it.
  struct Known {
    llvm::SmallVector<Leaf, 2> leaves;
    int64_t divisor = 1;
    int64_t least = INT64_MIN, most = INT64_MAX;
  };

  static std::optional<Leaf> leafOf(mlir::Value value);
  Known &knownOf(const Leaf &leaf);
  const Known *find(const Leaf &leaf) const;
  bool areEqual(mlir::Value a, mlir::Value b) const;
  void join(const Leaf &a, const Leaf &b);
  void addComparison(mlir::arith::CmpIOp compare);
  void addEquality(mlir::Value a, mlir::Value b);
  void addBound(mlir::Value value, mlir::Value bound, int64_t distance);
  void addUpperBound(mlir::Value value, mlir::Value bound, int64_t distance);
  int64_t divisorOf(mlir::Value value, unsigned depth) const;
  int64_t divisorOfExtent(mlir::Value tensor, unsigned axis, unsigned depth) const;
  IndexRange rangeOf(mlir::Value value, unsigned depth) const;
  IndexRange rangeOfResult(mlir::Operation *op, unsigned depth) const;

  std::vector<Known> All;
};

} // namespace kiln

#endif // KILN_ANALYSIS_INDEXFACTS_H
