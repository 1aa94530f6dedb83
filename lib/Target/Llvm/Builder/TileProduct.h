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

/// Whether blocks of a product of so many rows and columns are all alike, so that the registers can
/// be shaped once for several products.
bool areTileBlocksAlike(int64_t rows, int64_t cols);
/// Gives the registers the shapes of the largest block of such a product: some 200 cycles.
void shapeTiles(Builder &b, int64_t rows, int64_t cols);
/// Gives the registers back: otherwise every switch of threads would save them.
void releaseTiles(Builder &b);

/// A product whose `how` is by tiles. Its left side has contiguous words along k.
void emitTileProduct(Builder &b, const Product &product);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_TILEPRODUCT_H
