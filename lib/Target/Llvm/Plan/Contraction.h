//===- Contraction.h - loops that are one product of two matrices ---------------------===//
//
// Finds the loop of a kernel that adds up products of tiles, `for k: c += a(k) b(k)`. Such a loop
// is one product, whatever tiles the program cut it into, so the lowering may cut it again as the
// machine wants it, and over several blocks of the launch at once: blocks that differ only in one
// grid dimension share their left sides, others their right sides. Reads the IR only.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_PLAN_CONTRACTION_H
#define KILN_LIB_TARGET_LLVM_PLAN_CONTRACTION_H

#include "Builder/Multiplier.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include "llvm/Support/MathExtras.h"

#include <optional>

namespace kiln::llvmir {

struct Contraction {
  using Ops = llvm::SmallVector<mlir::Operation *>;

  mlir::scf::ForOp loop;
  /// What makes each carried tile from the one before.
  llvm::SmallVector<tile::MatmulAccOp> products; // all alike but for where their sides come from
  /// The operations, in order, that the left sides, the right sides and the loop's bounds are
  /// computed by; those before the loop come first.
  Ops left, right, bounds;
  /// The store of the only result, where that is all that follows the loop, and the operations that
  /// its place is computed by: products can store finished sums themselves. Null if it is not so.
  tile::StoreOp store;
  Ops place;
  /// The grid dimension along which only the left (right) sides change; -1 if there is none.
  int rowDim = -1, colDim = -1;

  /// How the products are computed; both sides are packed for it.
  Multiplier how;
  /// The left side has few rows, so that reading the right side is what takes time, and its words
  /// are read where they lie: a row of the right side is multiplied by all rows of the left side at
  /// once. Sums are turned: a row for each column of the result.
  bool streamsRight = false;
  /// How many words of k lie side by side in the left panel for each row, where the right side is
  /// streamed (Product::wordsAcross).
  int64_t wordsAcross = 1;

  // How much is worked on at a time: blocks of the launch down and across, and iterations. A call
  // should have as many blocks down, so that they share their right sides.
  int64_t maxRows, maxCols, maxSteps;

  /// How many blocks down are there, usually: where one has few rows, there is one.
  int64_t usualRows() const;

  tile::MatmulAccOp product(unsigned number) const { return products[number]; }
  /// Extents of the products' tiles, which are the same for all.
  int64_t rows() const;
  int64_t cols() const;
  int64_t depth() const;
  /// Whether rows of the left side lie side by side in its panel, and k runs down.
  bool isLeftTurned() const;

  // Panels: words of one block, over all iterations that are worked on at a time.
  int64_t words() const { return depth() / how.group; } ///< Along k, in one iteration.
  int64_t panelDepth() const { return maxSteps * words(); }
  /// From row to row of a left panel that is not turned: not a power of two, so that rows do not
  /// meet in the same sets of the nearest cache.
  int64_t leftPitch() const { return panelDepth() + 16; }
  int64_t leftElements() const { return rows() * (isLeftTurned() ? panelDepth() : leftPitch()); }
  /// What is streamed has no panel, but one block's sums are turned back into it.
  int64_t rightElements() const {
    return streamsRight ? sumElements() : llvm::alignTo(cols(), 64) * panelDepth();
  }
  int64_t sumElements() const { return rows() * cols(); }
  /// By how much sums are too large: of a block's columns, or of all rows that are streamed past.
  int64_t excessElements() const { return streamsRight ? maxRows * excessOfBlock() : cols(); }
  int64_t excessOfBlock() const { return rows() * wordsAcross; }
  enum Buffer : unsigned { Left, Right, Sums, Excess, NumBuffers }; ///< Of each product.

  /// Products with the same left side share one panel: the first product with the side of this one.
  unsigned leftOf(unsigned product) const;
  bool isOperand(mlir::OpOperand &use) const;
};

/// Whether an op changes nothing.
bool onlyReads(mlir::Operation &op);
/// Whether an op may be emitted again for every use of a block's results: it is cheap, too.
bool isRepeatable(mlir::Operation &op);
/// The products that make the tiles a loop carries from those before; empty if something else does,
/// or if they are not alike.
llvm::SmallVector<tile::MatmulAccOp> productsOf(mlir::scf::ForOp loop);
/// Whether two products differ in nothing but where their sides come from.
bool areAlike(tile::MatmulAccOp a, tile::MatmulAccOp b);

/// At most one loop of a kernel is taken: the first, directly in the body, with nothing but cheap
/// operations that can be repeated before it.
std::optional<Contraction> findContraction(ir::FuncOp kernel, const MachineTraits &machine);

/// How a product that is computed where it stands finds its sides: where they are not words
/// already, they are packed into scratch.
struct ProductSides {
  Multiplier how;
  int64_t depth; ///< In words.
  bool packsLeft, packsRight;
  int64_t leftWords, rightWords; ///< Of scratch.
  int64_t rightPitch;            ///< From word to word along k.
};
ProductSides sidesOf(tile::ProductInterface product, const MachineTraits &machine);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_PLAN_CONTRACTION_H
