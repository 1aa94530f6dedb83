//===- Memory.h - the memory of emulated GPUs -----------------------------------------===//
//
// What: every allocation ends, or begins, at a page that nobody may touch, and is full of NaN at
//   first. Who touches such a page is named, and the process ends.
//
// Ownership and threads: an allocation is the caller's until it is freed. Not synchronized.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DEVICE_EMULATED_MEMORY_H
#define KILN_DEVICE_EMULATED_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace kiln::emulated {

class Memory {
public:
  /// 0 if there is none. With `atEnd` it ends at the page, as far as its alignment to 16 bytes lets
  /// it; else it begins there.
  uint64_t allocate(size_t bytes, bool atEnd, int gpu);
  /// False if it was not allocated.
  bool free(uint64_t address);
  /// For which GPU the byte at this address was allocated, if it was.
  std::optional<int> gpuOf(uint64_t address) const;

private:
  struct Allocation {
    void *mapping;
    size_t mapped, bytes;
    int gpu;
  };
  std::map<uint64_t, Allocation> Allocations;
};

} // namespace kiln::emulated

#endif // KILN_DEVICE_EMULATED_MEMORY_H
