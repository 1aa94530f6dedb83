//===- Product.h - the inner loops of a matrix product -------------------------------===//
//
// c += a b for matrices in memory: a block of c stays in registers while k runs.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_PRODUCT_H
#define KILN_LIB_TARGET_LLVM_BUILDER_PRODUCT_H

#include "Multiplier.h"

namespace kiln::llvmir {

/// Memory to ask for while k runs, because it is needed next: a row for each element of k, as wide
/// as the product.
/// Asked for a line or a few in each iteration, by calls that divide it among themselves, it costs
/// nothing; all at once it would take every miss that the machine can keep track of.
struct Fetch {
  llvm::Value *from = nullptr; ///< Null: nothing.
  DType element = DType::F32;
  llvm::Value *rowStride = nullptr; ///< Elements.
  llvm::Value *part = nullptr;      ///< The number of this call.
  int64_t parts = 1;                ///< How many calls there are, usually.
};

/// Memory that is needed after that, as many rows as the product has and as wide: blocks that have
/// nothing else to ask for ask for it.
struct FetchLater {
  llvm::Value *from = nullptr;      ///< Null: nothing.
  llvm::Value *rowStride = nullptr; ///< Bytes.
  llvm::Value *isWanted = nullptr;  ///< Known when the code runs.
};

/// Strides in words of the sides and elements of the result. A right side that wants whole vectors
/// may be read to the end of the last one.
struct Product {
  Multiplier how;
  int64_t rows, cols;
  llvm::Value *depth; ///< In words; a multiple of `unroll`.
  int64_t unroll = 1; ///< Words of k in one iteration.
  llvm::Value *a, *b, *c;
  llvm::Value *aRow; ///< From row to row of the left side.
  int64_t aStep;     ///< From word to word of k.
  int64_t bStep;     ///< From k to k of the right side, whose columns are contiguous.
  int64_t cRow;
  /// Where the sums of the next product are, of which the first come while this one's last rows are
  /// multiplied; null: not known.
  llvm::Value *cNext = nullptr;
  bool accumulates = true; ///< Otherwise c = a b.
  /// Whether c counts as zero, known when the code runs; null: it does not.
  llvm::Value *startsAtZero = nullptr;
  /// By tiles: the registers have the shapes of this product's blocks (shapeTiles), and keep them.
  bool areTilesShaped = false;
  /// What to subtract from each sum that a column has (emitExcess); null: nothing.
  llvm::Value *excess = nullptr;
  /// Where the sums go, and from row to row there; null: back to c.
  llvm::Value *to = nullptr, *toRow = nullptr;
  Fetch fetch;
  FetchLater later;
  /// The left side is read from far away, as many rows at a time: the ones behind them, which lie
  /// where it goes on, are fetched ahead where that helps. 0: it is near, and as many rows as
  /// registers hold are.
  int64_t streamedRows = 0;
  /// How many words of k the right side has side by side for each column, a power of two: that many
  /// words of a row of the left side are spread over a vector by one load, and each has a sum of
  /// its own until the end. A group of so many words of k begins where the first of them would lie.
  int64_t wordsAcross = 1;
};

/// Whether a panel of the right side is read so often, for so many rows, that it is to stay in the
/// nearest cache (MachineTraits::wantsPanelsNear).
bool keepsPanelsNear(const MachineTraits &machine, int64_t rows);
/// How many columns a block of registers has, of a product of so many rows.
int64_t panelWidth(const MachineTraits &machine, const Multiplier &how, int64_t rows);
/// How many rows of a left side that is read from far away are worth multiplying at a time.
int64_t streamedRowsFor(const Multiplier &how);
/// How many of its words of k, of so many in all, lie side by side in a right side of so few
/// columns (Product::wordsAcross).
int64_t streamedWordsAcross(const MachineTraits &machine, const Multiplier &how, int64_t words,
                            int64_t cols);
/// How many of them are multiplied in one iteration.
int64_t streamedWords(const MachineTraits &machine, const Multiplier &how, int64_t words,
                      int64_t wordsAcross);

void emitProduct(Builder &b, const MachineTraits &machine, const Product &product);

/// By how much sums are too large where the left side's bytes have something added: for each of the
/// columns, and of its words that lie side by side.
void emitExcess(Builder &b, const Product &product, llvm::Value *to);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_PRODUCT_H
