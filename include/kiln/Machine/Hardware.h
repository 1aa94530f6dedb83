//===- Hardware.h - what the instructions of a machine ask for -----------------------------===//
//
// A simulated machine executes operations one after the other. A real one has units that work at
// the same time, each through its own queue of instructions, and memories in which tiles lie in
// blocks. This is the data about both that compiling to instructions needs; machines without it are
// compiled to something that has no such units. Constants: no owner, any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_MACHINE_HARDWARE_H
#define KILN_MACHINE_HARDWARE_H

#include "kiln/Machine/Machine.h"

namespace kiln {

/// The units of a core that work at the same time. Instructions of one unit start in their order;
/// that one has finished is known to another, or to a later instruction of its own unit, only by a
/// flag or a barrier. Their names are those of the hardware's manuals.
enum class Unit : uint8_t { S, V, MTE1, MTE2, MTE3, M, FIX };
inline constexpr unsigned numUnits = 7;

/// "mte2"
std::string_view toString(Unit unit);

/// In which blocks the tiles of a memory lie: rows and the bytes of a row are whole multiples.
struct TileBlocks {
  std::string_view memory;
  int64_t rows;
  int64_t rowBytes;
  /// A tile of one column lies there as one row.
  bool columnsLieAsRows = false;
  /// Elements a row of blocks has at least, however small they are.
  int64_t columns = 1;
};

struct Hardware {
  std::string_view machine;
  /// Events that one unit can signal to another at the same time.
  int64_t events;
  std::span<const TileBlocks> blocks;
  /// Consumers tell of free slots in batches: of half the slots, or of all if there are two.
  bool freesInBatches;

  const TileBlocks *blocksOf(std::string_view memory) const;
  /// The bytes that a tile takes: all its blocks.
  int64_t bytesOf(std::string_view memory, int64_t rows, int64_t cols, int64_t elementBits) const;
  /// How many slots a consumer tells of at once.
  int64_t batchOf(int64_t slots) const;
  /// The slots a ring needs so that the producer can always be this many tiles ahead.
  int64_t slotsFor(int64_t ahead) const;
};

/// Null for a machine whose instructions Kiln does not write.
const Hardware *hardwareOf(const Machine &machine);

} // namespace kiln

#endif // KILN_MACHINE_HARDWARE_H
