#include "kiln/Machine/Hardware.h"

#include <algorithm>

namespace kiln {
namespace {

constexpr std::string_view kUnits[numUnits] = {"s", "v", "mte1", "mte2", "mte3", "m", "fix"};

// Vectors work on 32 bytes. The matrix unit reads blocks of 16 rows and 32 bytes, whichever of the
// two operands they are, and writes blocks of 16 by 16.
constexpr TileBlocks kAscendBlocks[] = {{"vec", 1, 32, /*columnsLieAsRows=*/true},
                                        {"mat", 16, 32, false, 16},
                                        {"left", 16, 32, false, 16},
                                        {"right", 16, 32, false, 16},
                                        {"acc", 16, 64, false, 16},
                                        {"bias", 1, 64}};

constexpr Hardware kHardware[] = {
    {"dav-c220", 8, kAscendBlocks, /*freesInBatches=*/true},
    {"dav-c310", 8, kAscendBlocks, /*freesInBatches=*/true},
};

int64_t alignTo(int64_t value, int64_t block) { return (value + block - 1) / block * block; }

} // namespace

std::string_view toString(Unit unit) { return kUnits[static_cast<size_t>(unit)]; }

const TileBlocks *Hardware::blocksOf(std::string_view memory) const {
  for (const TileBlocks &candidate : blocks)
    if (candidate.memory == memory)
      return &candidate;
  return nullptr;
}

int64_t Hardware::bytesOf(std::string_view memory, int64_t rows, int64_t cols,
                          int64_t elementBits) const {
  const TileBlocks *block = blocksOf(memory);
  if (!block)
    return (elementBits + 7) / 8 * rows * cols;
  if (block->columnsLieAsRows && cols == 1 && elementBits > 1)
    std::swap(rows, cols);
  int64_t rowBytes =
      alignTo((std::max(cols, block->columns) * elementBits + 7) / 8, block->rowBytes);
  return alignTo(rows, block->rows) * rowBytes;
}

int64_t Hardware::batchOf(int64_t slots) const {
  return !freesInBatches ? 1 : slots <= 2 ? slots : slots / 2;
}

int64_t Hardware::slotsFor(int64_t ahead) const {
  if (!freesInBatches)
    return ahead;
  for (int64_t slots = ahead;; ++slots)
    if (slots - batchOf(slots) + 1 >= ahead)
      return slots;
}

const Hardware *hardwareOf(const Machine &machine) {
  for (const Hardware &candidate : kHardware)
    if (candidate.machine == machine.name)
      return &candidate;
  return nullptr;
}

} // namespace kiln
