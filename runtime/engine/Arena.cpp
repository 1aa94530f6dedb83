#include "engine/Arena.h"

#include <sys/mman.h>

using namespace kiln;

struct Arena::Memory {
  explicit Memory(uint64_t bytes)
      : bytes(bytes), base(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Memory() {
    if (isMapped())
      munmap(base, bytes);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  bool isMapped() const { return base != MAP_FAILED; }

  const uint64_t bytes;
  void *const base;
};

uint64_t Arena::reclaim() {
  while (!Blocks.empty() && Blocks.front().release->isFree.load(std::memory_order_acquire))
    Blocks.pop_front();
  return Blocks.empty() ? Head : Blocks.front().begin;
}

uint64_t Arena::bytesInUse() { return Head - reclaim(); }

Expected<std::shared_ptr<Buffer>> Arena::allocate(uint64_t bytes) {
  if (!Range) {
    Range = std::make_shared<Memory>(Capacity);
    if (!Range->isMapped()) {
      Range.reset();
      return Status(StatusCode::OutOfMemory,
                    "cannot map an arena of " + std::to_string(Capacity) + " bytes");
    }
  }
  if (bytes > Capacity || !fits(reclaim(), bytes))
    return std::shared_ptr<Buffer>();
  if (Blocks.empty())
    Head += Head % Capacity ? Capacity - Head % Capacity : 0; // start over: no block can wrap
  Head += padding(bytes);
  auto release = std::make_shared<Release>();
  release->memory = Range;
  auto buffer = Buffer::wrap(static_cast<std::byte *>(Range->base) + Head % Capacity, bytes,
                             [release] { release->isFree.store(true, std::memory_order_release); });
  Blocks.push_back({Head, Head + roundUp(bytes), release, buffer});
  Head += roundUp(bytes);
  return buffer;
}
