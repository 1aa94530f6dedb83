//===- Arena.h - memory of intermediates ---------------------------------===//
//
// What: one range of memory used as a ring. Blocks are taken at its head and return from its tail,
//   oldest first, once nothing refers to them; the pages of memory never used cost nothing.
//
// Ownership: a block belongs to its Buffer and is free when that is destroyed, on whatever thread.
//   The range outlives the arena while such buffers exist.
//
// Threads: the submitter only, but for the release of a block. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_ARENA_H
#define KILN_RUNTIME_ENGINE_ARENA_H

#include "kiln/runtime/status.h"
#include "kiln/runtime/tensor.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

namespace kiln {

class Arena {
public:
  static constexpr uint64_t alignment = 64;

  explicit Arena(uint64_t capacity) : Capacity(capacity) {}

  uint64_t capacity() const { return Capacity; }
  /// Bytes from the oldest block that is not free to the head.
  uint64_t bytesInUse();

  /// Null when there is no room now; an error when the memory cannot be had at all.
  Expected<std::shared_ptr<Buffer>> allocate(uint64_t bytes);

  /// Would `bytes` fit if every block were free but those for which `isHeld(buffer)`?
  template <typename IsHeld> bool wouldFit(uint64_t bytes, IsHeld isHeld) {
    for (const Block &block : Blocks)
      if (std::shared_ptr<Buffer> buffer = block.buffer.lock(); buffer && isHeld(buffer))
        return fits(block.begin, bytes);
    return fits(Head, bytes);
  }

  /// A capacity at which `bytes` would fit beside the blocks for which `isHeld(buffer)`, and how
  /// many those are.
  struct Need {
    uint64_t capacity, heldBlocks, heldBytes;
  };
  template <typename IsHeld> Need need(uint64_t bytes, IsHeld isHeld) {
    Need need{roundUp(bytes), 0, 0};
    uint64_t oldest = Head;
    for (const Block &block : Blocks)
      if (std::shared_ptr<Buffer> buffer = block.buffer.lock(); buffer && isHeld(buffer)) {
        oldest = std::min(oldest, block.begin);
        ++need.heldBlocks;
        need.heldBytes += buffer->bytes();
      }
    need.capacity += Head - oldest;
    return need;
  }

private:
  struct Memory; // the mapping
  /// Set by the buffer that had the block.
  struct Release {
    std::atomic<bool> isFree{false};
    std::shared_ptr<Memory> memory;
  };
  struct Block {
    uint64_t begin, end;
    std::shared_ptr<Release> release;
    std::weak_ptr<Buffer> buffer;
  };

  static uint64_t roundUp(uint64_t bytes) {
    return (std::max<uint64_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
  }
  /// Skipped before a block at the head so that it does not wrap around.
  uint64_t padding(uint64_t bytes) const {
    uint64_t left = Capacity - Head % Capacity;
    return left < roundUp(bytes) ? left : 0;
  }
  /// With everything before position `tail` free.
  bool fits(uint64_t tail, uint64_t bytes) const {
    if (tail == Head) // nothing is in use: the head may go anywhere
      return roundUp(bytes) <= Capacity;
    return Head + padding(bytes) + roundUp(bytes) - tail <= Capacity;
  }
  /// Drops the oldest blocks that are free; the position of the first that is not.
  uint64_t reclaim();

  const uint64_t Capacity;
  uint64_t Head = 0; // positions only ever grow; modulo the capacity they are offsets
  std::deque<Block> Blocks;
  std::shared_ptr<Memory> Range; // made with the first block
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_ARENA_H
