//===- Instructions.h - what the operations of a planned role do on its core ---------------===//
//
// Once tiles have addresses, an operation of a role is an instruction of one of the core's units
// (kiln/Machine/Hardware.h) that reads and writes parts of memories. This is the one place that
// says which; what orders instructions, and what checks that order, both start from it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_INSTRUCTIONS_H
#define KILN_ANALYSIS_INSTRUCTIONS_H

#include "kiln/Analysis/TensorBox.h"
#include "kiln/Machine/Hardware.h"

namespace kiln {

/// A part of a core's memory, or of a tensor, that an instruction reads or writes.
struct Touch {
  bool writes;
  tile::Space space = tile::Space::Unassigned;
  int64_t from = 0, to = 0; ///< Bytes of the memory.
  /// In global memory instead: the tensor that all views come from, or a pipe of the core to
  /// itself.
  mlir::Value global = {};
  std::optional<TensorBox> box = {}; ///< What of it; nothing: it may be all.
};

struct Instruction {
  mlir::Operation *op;
  Unit unit;
  llvm::SmallVector<Touch, 4> touches;
  /// Adds to the accumulator that it writes. The matrix unit forwards accumulators, so it may
  /// follow at once the instruction of this unit that wrote it last.
  bool accumulates = false;
  /// Waits for another core, or tells it something, and does nothing itself: a pop or a free of a
  /// tile that stays in its slot. Its unit comes to it in order.
  bool signals = false;
};

/// Where a tile lies; nothing if it has no address. Of one in a slot, the whole ring.
struct TilePlace {
  tile::Space space;
  int64_t from, to;
};
std::optional<TilePlace> placeOf(mlir::Value tile, const Machine &machine);

/// The pop of a tile that lies in the slot of a pipe, or in a view of one; null of any other.
tile::PopOp slotOf(mlir::Value tile);

/// The bytes of `vec` that an operation needs for itself while it works.
int64_t scratchBytes(mlir::Operation *op, const Machine &machine);

/// The instruction that an operation is; nothing if no unit executes it.
std::optional<Instruction> instructionOf(mlir::Operation *op, const Machine &machine);

/// Whether the second of two instructions has to wait until the first has finished: because of what
/// they touch in the core's own memories, or because of that or of global memory.
bool collideInCore(const Instruction &first, const Instruction &second);
bool mustWait(const Instruction &first, const Instruction &second);

// What is wrong with flags and barriers, in the words of the proof and of the simulator.
std::string outOfOrderText(Unit unit, Unit earlier);
inline constexpr const char *kFlagIsSetAlready = "sets a flag that is set already";
inline constexpr const char *kFlagIsNotSet = "waits for a flag that nobody has set";
inline constexpr const char *kFlagIsNotWaitedFor = "sets a flag that nobody waits for";
inline constexpr const char *kMayNotHaveFinished = "may not have finished when the role ends";

} // namespace kiln

#endif // KILN_ANALYSIS_INSTRUCTIONS_H
