//===- Multiplier.h - how a machine multiplies the elements of a product --------------===//
//
// A machine may have instructions that multiply several small elements at a time: `group` of them,
// which follow each other along k, lie in one word of 32 bits, and one instruction adds all their
// products to a sum of 32 bits. Both sides of a product are packed as such words. With one element
// in a word they are plain matrices of f32 or i32.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_MULTIPLIER_H
#define KILN_LIB_TARGET_LLVM_BUILDER_MULTIPLIER_H

#include "Elements.h"

namespace kiln::llvmir {

/// Rows of a tile register, and words in each.
inline constexpr int64_t kTile = 16;

struct Multiplier {
  DType element = DType::F32; ///< In the words.
  DType sum = DType::F32;     ///< f32 or i32.
  int64_t group = 1;
  /// By registers that hold 16 x 16 words of a side or of the sums: whole products of tiles are
  /// added by one instruction. The depth is a multiple of kTile words.
  bool byTiles = false;

  /// The left side's bytes have 128 added to each, because the instruction takes them without a
  /// sign: when they are packed, or as they are read where they lie. Every sum is then too large by
  /// 128 times the sum of its right side.
  bool shiftsLeft() const { return element == DType::I8 && !byTiles; }
  /// Words are as wide as sums, and have a register's width of them: vectors are never narrower.
  bool wantsWholeVectors() const { return group > 1; }
  /// How many words of k an iteration takes, of so many in all. Products of i16 are added by
  /// another instruction: more of them would be made before they are added, and leave the
  /// registers.
  int64_t unrolled(int64_t words) const { return words % 4 == 0 && element != DType::I16 ? 4 : 1; }
};

/// The fastest way to multiply elements of a type, so many of which are summed at a time. Tiles
/// want rows of the left side with k along them: not one that is stored turned.
Multiplier multiplierFor(const MachineTraits &machine, DType side, int64_t depth,
                         bool isLeftTurned);

llvm::Type *wordType(Builder &b, const Multiplier &how);

/// sum + x y, where x and y are vectors of words.
llvm::Value *emitMultiplyAdd(Builder &b, const Multiplier &how, llvm::Value *x, llvm::Value *y,
                             llvm::Value *sum);

/// A side of a product, as a tile: where k runs, and how its words are to lie.
struct PackedSide {
  enum Order {
    Across, ///< k runs along the columns; (row, word) stays (row, word).
    Down,   ///< k runs down the rows; words are made of rows: (word, column).
    Turned, ///< k runs along the columns, and is turned: (word, row).
  };
  DType type;
  int64_t rows, cols; ///< Of the tile.
  Order order;
  bool isLeft; ///< Of the product that reads it, which may have sides exchanged.
};

/// Writes a side as words: `load(row, col, width)` makes elements of the tile, `store(words, i, j)`
/// stores a vector of words from (i, j) on, in the order that the side says.
void emitPack(
    Builder &b, const Multiplier &how, const PackedSide &side,
    llvm::function_ref<llvm::Value *(llvm::Value *row, llvm::Value *col, unsigned width)> load,
    llvm::function_ref<void(llvm::Value *words, llvm::Value *i, llvm::Value *j)> store);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_MULTIPLIER_H
