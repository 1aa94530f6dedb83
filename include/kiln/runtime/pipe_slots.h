//===- kiln/runtime/pipe_slots.h - how the slots of a pipe stand, in words -===//
//
// What: the words that the pipe proof, the simulator and the CPU's runtime have in common when they
//   say who waits for what.
//
// Threads: any.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_PIPE_SLOTS_H
#define KILN_RUNTIME_PIPE_SLOTS_H

#include <cstdint>
#include <string>

namespace kiln {

/// "2 of 2 slots full", "1 of 2 slots popped and not freed", or both.
inline std::string describeSlots(uint64_t full, uint64_t unfreed, uint64_t slots) {
  std::string of = " of " + std::to_string(slots) + (slots == 1 ? " slot " : " slots ");
  if (unfreed == 0)
    return std::to_string(full) + of + "full";
  if (full == 0)
    return std::to_string(unfreed) + of + "popped and not freed";
  return std::to_string(full) + of + "full, " + std::to_string(unfreed) + " popped and not freed";
}

} // namespace kiln

#endif // KILN_RUNTIME_PIPE_SLOTS_H
