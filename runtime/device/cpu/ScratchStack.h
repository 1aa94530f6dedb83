//===- ScratchStack.h - memory that is given back last in, first out -----===//
//
// What: behind kiln_block_functions::allocate. Memory stays for the next block, so a block that
//   allocates what those before it did costs no call of the system.
//
// Threads: one at a time. Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CPU_SCRATCHSTACK_H
#define KILN_RUNTIME_DEVICE_CPU_SCRATCHSTACK_H

#include "kiln/runtime/tensor.h"

#include <memory>
#include <vector>

namespace kiln {

class ScratchStack {
public:
  /// Null: there is no memory for so much.
  void *allocate(uint64_t bytes) {
    constexpr uint64_t alignment = 64, most = uint64_t{1} << 62, usualChunk = 64 << 10;
    if (bytes > most)
      return nullptr;
    bytes = std::max((bytes + alignment - 1) & ~(alignment - 1), alignment);
    Mark at = Marks.empty() ? Mark{} : Marks.back();
    if (at.chunk < Chunks.size() && Chunks[at.chunk]->bytes() - at.end < bytes) {
      // The rest of this chunk stays unused; nothing lies in the chunks behind it.
      at = {at.end == 0 ? at.chunk : at.chunk + 1, 0};
      if (at.chunk < Chunks.size() && Chunks[at.chunk]->bytes() < bytes)
        Chunks.resize(at.chunk);
    }
    if (at.chunk == Chunks.size()) {
      Expected<std::shared_ptr<Buffer>> chunk = Buffer::allocate(std::max(bytes, usualChunk));
      if (!chunk)
        return nullptr;
      Chunks.push_back(*chunk);
    }
    void *memory = static_cast<std::byte *>(Chunks[at.chunk]->data()) + at.end;
    Marks.push_back({at.chunk, at.end + bytes});
    return memory;
  }
  void release() {
    if (!Marks.empty())
      Marks.pop_back();
  }
  void releaseAll() { Marks.clear(); }

private:
  /// Where an allocation ends.
  struct Mark {
    size_t chunk = 0;
    uint64_t end = 0;
  };
  std::vector<std::shared_ptr<Buffer>> Chunks;
  std::vector<Mark> Marks;
};

} // namespace kiln

#endif // KILN_RUNTIME_DEVICE_CPU_SCRATCHSTACK_H
