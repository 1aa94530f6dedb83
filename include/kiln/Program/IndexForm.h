//===- IndexForm.h - index values as affine sums ----------------------------------------===//
//
// The one analysis that looks into index arithmetic: it follows sums, differences, multiples by
// constants, casts and the indices of loops. Boxes of blocks and tiles and the bounds of masks are
// made of what it says.
//
// Reads the IR only; any thread that may read the module may call it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_INDEXFORM_H
#define KILN_PROGRAM_INDEXFORM_H

#include "kiln/Program/Affine.h"

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

/// All an index may be, whatever iteration it is computed in: `sum`, whose symbols are values that
/// are not looked into, plus a multiple of `stride` that is from 0 to `reach`.
struct IndexForm {
  Affine<mlir::Value> sum;
  int64_t stride = 0; ///< Not negative. 0: it is the sum.
  /// None: no bound is known, in either direction.
  std::optional<int64_t> reach = 0;

  /// An index of which nothing is known.
  static IndexForm unknown() { return {0, 1, std::nullopt}; }

  IndexForm operator+(const IndexForm &other) const;
  IndexForm operator*(int64_t factor) const;
  IndexForm operator-(const IndexForm &other) const { return *this + other * -1; }
};

/// `isSymbol` tells which values are symbols although they could be looked into; none if it is
/// null.
IndexForm formOf(mlir::OpFoldResult index,
                 llvm::function_ref<bool(mlir::Value)> isSymbol = nullptr);

} // namespace kiln

#endif // KILN_PROGRAM_INDEXFORM_H
