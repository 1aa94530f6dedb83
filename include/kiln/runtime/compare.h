//===- kiln/runtime/compare.h - how close is close enough ----------------===//
//
// What: comparison of two tensors, element by element: the driver's with the formula and the
//   reference, and `kiln dump --diff`'s between two runs, by the same rules.
//
// Ownership and threads: pure functions on tensors nobody writes to at the time.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_COMPARE_H
#define KILN_RUNTIME_COMPARE_H

#include "kiln/runtime/tensor.h"

#include <string>

namespace kiln {

struct Difference {
  bool ok = true;
  double largest = 0;              ///< |x - y|; NaN if one is.
  std::string element, have, want; ///< The worst element, when not ok: "[3, 4]", and its values.
  std::vector<int64_t> at;         ///< Where that element is.
  size_t nanInBoth = 0;            ///< Elements that are NaN on both sides, where that is allowed.

  /// "[3, 4] is 1, expected 2"
  std::string where() const {
    return element.empty() ? "out of memory" : element + " is " + have + ", expected " + want;
  }
};

/// |have - want| <= atol + rtol * |want| everywhere. NaN never passes, unless it may equal NaN.
/// The shapes are equal.
Difference compareFloats(const Tensor &have, const Tensor &want, double rtol, double atol,
                         bool nanIsEqual = false);
/// What the reference says: integers exactly, floats within what another order of summation and the
/// element type's rounding explain. Where both are NaN they agree: an output need not be written
/// whole.
Difference compareWithReference(const Tensor &have, const Tensor &want);

/// What the formula says: integers exactly, floats within what their type's rounding and sums of
/// `accumulates` products explain.
Difference compareWithFormula(const Tensor &have, const Tensor &want, int64_t accumulates);

} // namespace kiln

#endif // KILN_RUNTIME_COMPARE_H
