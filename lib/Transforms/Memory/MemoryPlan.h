//===- MemoryPlan.h - what a function puts where -------------------------------------===//
//
// The plan of one role function: a place for each buffer (TileLifetimes.h) and each ring of a pipe
// that lives in the memory of this role. Made by first fit, largest first. Pure data; nothing of
// the IR changes here.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_MEMORY_MEMORYPLAN_H
#define KILN_LIB_TRANSFORMS_MEMORY_MEMORYPLAN_H

#include "kiln/Analysis/TileLifetimes.h"
#include "kiln/Machine/Machine.h"

namespace kiln {

struct PlacedBuffer {
  TileBuffer buffer;
  const Memory *memory;
  int64_t each = 0;    ///< Bytes of one copy, aligned.
  int64_t copies = 1;  ///< As many of buffer.copies as there is room for.
  int64_t lanes = 1;   ///< That have their own in the same memory.
  int64_t address = 0; ///< Of the first lane's.

  /// Of one lane, and of all.
  int64_t laneBytes() const { return each * copies; }
  int64_t bytes() const { return laneBytes() * lanes; }
};

struct PlacedRing {
  mutable tile::PipeOp pipe; // accessors of ops are not const
  const Memory *memory;
  int64_t slots, slotBytes;
  llvm::SmallVector<tile::PipeOp, 1> unsized = {}; ///< Of its pipes, those that do not say `slots`.
  int64_t address = 0;
  llvm::SmallVector<tile::PipeOp, 1> pipes = {}; ///< All that are given for the parameter.
  mlir::BlockArgument parameter = {};

  int64_t bytes() const { return slots * slotBytes; }
};

struct MemoryUse {
  const Memory *memory;
  int64_t bytes = 0;  ///< Up to the highest address in use.
  int64_t behind = 0; ///< That the matrix unit reads behind a tile, which may be the last.

  bool overflows() const { return bytes + behind > memory->bytes; }
};

/// What to change about a function to see whether it would fit then.
struct Supposition {
  int64_t mostSlots = INT64_MAX;
  int64_t divisor = 1; ///< Of the size of tiles, and so of slots.
};

struct FunctionPlan {
  mutable ir::FuncOp func;
  const Machine *machine;
  std::vector<PlacedRing> rings;
  std::vector<PlacedBuffer> buffers;
  llvm::SmallVector<MemoryUse, 4> uses; ///< Of each memory that is planned and used.

  bool wouldFit(const MemoryUse &use, const Supposition &what) const;
  /// When most of a memory is in use, and by what, largest first.
  int64_t worstMoment(const MemoryUse &use) const;
  llvm::SmallVector<const PlacedBuffer *> aliveAt(const MemoryUse &use, int64_t moment) const;
};

/// Plans as many iterations in flight as there is room for. What does not fit even so is in `uses`.
/// Where the machine says so, rings then get the slots that there is still room for.
FunctionPlan planFunction(ir::FuncOp func, const Machine &machine);

/// The same, and threads make the stores that would go through panels (kiln/Dialect/Tile/Staged.h)
/// if the panels take what rings would have as slots: a slot under way is worth more.
FunctionPlan planWithPanels(ir::FuncOp func, const Machine &machine);

/// Where a memory overflows, moves tiles there again for each use, right before it, instead of once
/// for all uses: less of it is in use at once. Whether anything changed.
bool separateMoves(const FunctionPlan &plan);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_MEMORY_MEMORYPLAN_H
