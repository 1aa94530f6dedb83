//===- Product.h - the inner loops of a matrix product -------------------------------===//
//
// c += a b for matrices in memory: a block of c stays in registers while k runs.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_PRODUCT_H
#define KILN_LIB_TARGET_LLVM_BUILDER_PRODUCT_H

#include "Elements.h"
#include "Traits.h"

namespace kiln::llvmir {

/// Memory to ask for while k runs, because it is needed next: `depth` rows, as wide as the product.
/// Asked for a line in each iteration, by calls that divide it among themselves, it costs nothing;
/// all at once it would take every miss that the machine can keep track of.
struct Fetch {
  llvm::Value *from = nullptr; ///< Null: nothing.
  llvm::Type *element = nullptr;
  llvm::Value *rowStride = nullptr; ///< Elements.
  llvm::Value *part = nullptr;      ///< The number of this call.
};

/// Strides in elements.
struct Product {
  int64_t rows, cols;
  llvm::Value *depth; ///< A multiple of `unroll`.
  int64_t unroll = 1; ///< Steps of k in one iteration.
  llvm::Value *a, *b, *c;
  int64_t aRow, aStep; ///< From row to row of the left side, and from k to k.
  int64_t bStep;       ///< From k to k of the right side, whose columns are contiguous.
  int64_t cRow;
  DType type;              ///< Of all three in memory: f32 or i32.
  bool accumulates = true; ///< Otherwise c = a b.
  Fetch fetch;
};

/// How many columns a block of registers has.
int64_t panelWidth(const MachineTraits &machine);

void emitProduct(Builder &b, const MachineTraits &machine, const Product &product);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_PRODUCT_H
