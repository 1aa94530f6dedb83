//===- TilePlan.h - where the tiles of a kernel live -----------------------------------===//
//
// Decides for every tile of a kernel whether it gets a buffer in the worker's scratch or is
// computed where it is used, and gives the buffers their offsets: tiles that are never alive at
// the same time share memory. Reads the IR only.
//
// Invariants the lowering relies on:
// - a tile that is not in a buffer has its uses in its own block, before anything that could change
//   what it is computed from;
// - two tiles with overlapping lives never share memory, except a loop's carried tile and the one
//   that replaces it, where every use of the former is over when the latter is written, or is
//   elementwise at the same place.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_PLAN_TILEPLAN_H
#define KILN_LIB_TARGET_LLVM_PLAN_TILEPLAN_H

#include "Contraction.h"

#include "llvm/ADT/DenseMap.h"

namespace kiln::llvmir {

/// Whether an op computes each element of its result from the elements of its operands at the same
/// place (or a fixed distance away), so that it can be computed anywhere.
bool isPointwise(mlir::Operation *op);
/// Whether an operation's result is its operand: on this machine all tiles are in one memory.
bool isSameTile(mlir::Operation *op);

/// The op that uses a result, as one operand or several; null if there is none, or more than one.
mlir::Operation *soleUser(mlir::Operation *op);

/// Whether a popped tile has memory of its own instead of being used in its slot: the pop says so,
/// or the tile is a part of the columns of its message, so that its rows lie apart.
bool isCopied(tile::PopOp pop, unsigned number);

/// The operands of an op, each of them once. An inline expression may use another twice; who walks
/// expressions and went both ways would take twice as long with each level.
llvm::SmallVector<mlir::Value, 3> distinctOperands(mlir::Operation *op);

class TilePlan {
public:
  TilePlan(ir::FuncOp func, const MachineTraits &machine);

  /// Computed where it is used: it has no buffer.
  bool isInline(mlir::Value tile) const { return Inline.contains(tile); }
  /// A load that its user does itself if it can; its buffer is for when it cannot.
  bool isDeferred(mlir::Value tile) const { return Deferred.contains(tile); }
  /// The byte offset in the scratch of a tile's buffer.
  uint64_t offsetOf(mlir::Value tile) const { return Offsets.at(baseOf(tile)); }
  /// Whether two tiles are the same memory.
  bool isSameBuffer(mlir::Value a, mlir::Value b) const { return baseOf(a) == baseOf(b); }
  /// Scratch that an op needs besides the buffers of its tiles.
  uint64_t extraOffset(mlir::Operation *op, unsigned number = 0) const {
    return Extras.at({op, number});
  }
  bool hasExtra(mlir::Operation *op, unsigned number = 0) const {
    return Extras.contains({op, number});
  }
  /// The reduction of rows that is computed in the same pass as a tile with a buffer; null if there
  /// is none.
  tile::ReduceOp reductionWith(mlir::Value tile) const { return Reductions.lookup(tile); }
  bool isComputedWithTile(tile::ReduceOp op) const { return Early.contains(op); }
  /// Whether an op is the last that does a deferred load itself.
  bool isLastReader(tile::LoadOp load, mlir::Operation *op) const;
  /// The ops that compute an inline tile: the first users up each chain that are not inline
  /// themselves.
  llvm::SmallVector<mlir::Operation *, 2> rootsOf(mlir::Operation *op) const;
  /// Whether a block can work in the nearest cache while the next block's tile of this load comes
  /// into it.
  bool fitsNearest(tile::LoadOp load) const;
  /// The store at the end of a block that is done when the next block computes a tile with much
  /// arithmetic: memory is busy with the one while the registers are with the other. Null if there
  /// is none. All tiles it reads keep their memory from block to block, and nothing of them is
  /// replaced before that tile is, at the same place.
  tile::StoreOp delayedStore() const { return Delayed; }
  mlir::Value delayedInto() const { return DelayedInto; }
  /// The loop that is computed for several blocks at once, if the kernel has one.
  const Contraction *contraction() const { return Raised ? &*Raised : nullptr; }
  /// Scratch of the whole kernel.
  uint64_t bytes() const { return Bytes; }

private:
  struct Life {
    uint64_t bytes;
    unsigned start, end;
    uint64_t *offset;
  };
  mlir::Value baseOf(mlir::Value tile) const;
  void number(mlir::Region &region);
  void classify(mlir::Operation *op);
  bool canBeInline(mlir::Operation *op) const;
  /// How many inline expressions an op is inside of, itself included.
  unsigned depthOf(mlir::Operation *op) const;
  void addRoots(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &roots) const;
  bool isExtracted(mlir::Operation *op) const;
  bool canBeDeferred(tile::LoadOp load) const;
  bool isInPass(mlir::Value value, mlir::Value tile) const;
  void joinReduction(tile::ReduceOp op);
  void delayStore(ir::FuncOp func);
  bool canBeDelayed(mlir::Value value, mlir::Value into,
                    llvm::SmallVectorImpl<mlir::Value> &read) const;
  mlir::Value arithmeticTileOf(mlir::Value value) const;
  void shareCarried(mlir::scf::ForOp loop);
  bool canReplace(mlir::BlockArgument carried, mlir::Value next) const;
  unsigned lastUse(mlir::Value base, mlir::Value tile) const;
  void addBuffer(mlir::Value tile);
  void addExtras(mlir::Operation *op);
  void addPanels();
  bool computesOperand(mlir::OpOperand &use) const;
  void addExtra(mlir::Operation *op, unsigned number, uint64_t bytes, unsigned end);
  void assignOffsets();

  const MachineTraits &Machine;
  std::optional<Contraction> Raised;
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> Positions; ///< First and last.
  llvm::DenseSet<mlir::Value> Inline, Deferred;
  llvm::DenseMap<mlir::Value, tile::ReduceOp> Reductions;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> Early; ///< To the op they are computed with.
  tile::StoreOp Delayed;
  mlir::Value DelayedInto;
  llvm::DenseSet<mlir::Value> Kept;                 ///< What a delayed store reads.
  uint64_t TouchedBytes = 0;                        ///< By one block, but for numbers of rows.
  llvm::DenseMap<mlir::Value, mlir::Value> Aliases; ///< To the tile whose buffer it shares.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> Sharing; ///< The inverse.
  std::map<mlir::Value, uint64_t, bool (*)(mlir::Value, mlir::Value)> Offsets;
  std::map<std::pair<mlir::Operation *, unsigned>, uint64_t> Extras;
  std::vector<Life> Lives;
  unsigned LastPosition = 0;
  uint64_t Bytes = 0;
};

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_PLAN_TILEPLAN_H
