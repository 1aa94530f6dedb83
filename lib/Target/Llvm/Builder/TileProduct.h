//===- TileProduct.h - products by registers that hold tiles --------------------------===//
//
// c += a b by the tile registers of AMX: a block of 2 x 2 tiles of c stays in registers while k
// runs. The state of the registers does not outlive a product.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_TILEPRODUCT_H
#define KILN_LIB_TARGET_LLVM_BUILDER_TILEPRODUCT_H

#include "Product.h"

namespace kiln::llvmir {

/// Rows and columns of a block: of eight registers four hold its sums, two a part of each side.
inline constexpr int64_t kTileBlock = 2 * kTile;

/// A product whose `how` is by tiles. Its left side has contiguous words along k.
void emitTileProduct(Builder &b, const Product &product);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_TILEPRODUCT_H
