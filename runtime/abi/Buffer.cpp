#include "kiln/runtime/tensor.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <vector>

using namespace kiln;

static constexpr uint64_t bufferAlignment = 64;
/// What the machine can map as one page. Tiles of a large tensor lie on one page a row, more than
/// there are entries to translate addresses with.
static constexpr uint64_t hugePage = uint64_t(2) << 20;

static uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) & ~(multiple - 1);
}

//===----------------------------------------------------------------------===//
// Large memory
//===----------------------------------------------------------------------===//

// Large memory is mapped, since what malloc gives may lie where small pages were before, which then
// stay small. The system clears each page that it maps, which takes as long as reading it a few
// times; so what is let go is kept for the next who wants some, up to a limit. AddressSanitizer
// knows only the memory that malloc gave.

/// So much is kept at the most.
static constexpr uint64_t mostSpare = uint64_t(128) << 20;
#ifdef __SANITIZE_ADDRESS__
static constexpr bool isMapped = false;
#else
static constexpr bool isMapped = true;
#endif

namespace {
struct SpareMemory {
  std::mutex lock;
  std::vector<std::pair<void *, uint64_t>> blocks; ///< The first was let go first.
  uint64_t bytes = 0;
};
} // namespace

/// Lives as long as the process: memory may be let go at its very end. In a forked process another
/// thread may have held the lock, so that begins anew.
static SpareMemory &spareMemory() {
  static SpareMemory *spare = [] {
    pthread_atfork(nullptr, nullptr, [] { spare = new SpareMemory; });
    return new SpareMemory;
  }();
  return *spare;
}

/// `bytes` is a multiple of a huge page. Null: there is no memory.
static void *mapLarge(uint64_t bytes) {
  void *mapped =
      mmap(nullptr, bytes + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  auto begin = reinterpret_cast<uint64_t>(mapped), first = roundUp(begin, hugePage);
  auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
  if (first > begin)
    munmap(mapped, first - begin);
  if (uint64_t end = begin + bytes + hugePage; end > first + bytes)
    munmap(at(first + bytes), end - first - bytes);
  return at(first);
}

static void *takeLarge(uint64_t bytes) {
  if (!isMapped)
    return std::aligned_alloc(hugePage, bytes);
  SpareMemory &spare = spareMemory();
  {
    std::lock_guard guard(spare.lock);
    auto best = spare.blocks.end(); // the smallest that is large enough; what is left of it stays
    for (auto block = spare.blocks.begin(); block != spare.blocks.end(); ++block)
      if (block->second >= bytes && (best == spare.blocks.end() || block->second < best->second))
        best = block;
    if (best != spare.blocks.end()) {
      void *data = best->first;
      spare.bytes -= bytes;
      *best = {static_cast<std::byte *>(data) + bytes, best->second - bytes};
      if (best->second == 0)
        spare.blocks.erase(best);
      return data;
    }
  }
  return mapLarge(bytes);
}

static void giveLarge(void *data, uint64_t bytes) {
  if (!isMapped) {
    std::free(data);
    return;
  }
  if (bytes > mostSpare) {
    munmap(data, bytes);
    return;
  }
  SpareMemory &spare = spareMemory();
  std::lock_guard guard(spare.lock);
  spare.blocks.emplace_back(data, bytes);
  for (spare.bytes += bytes; spare.bytes > mostSpare; spare.blocks.erase(spare.blocks.begin())) {
    munmap(spare.blocks.front().first, spare.blocks.front().second);
    spare.bytes -= spare.blocks.front().second;
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffer::Buffer(Key, void *data, uint64_t bytes, bool owns, std::function<void()> release)
    : Data(data), Bytes(bytes), Owns(owns), Release(std::move(release)) {
  static std::atomic<uint64_t> next{1};
  Id = next.fetch_add(1, std::memory_order_relaxed);
}

Buffer::~Buffer() {
  if (Owns && Bytes < hugePage)
    std::free(Data);
  else if (Owns)
    giveLarge(Data, roundUp(Bytes, hugePage));
  if (Release)
    Release();
}

Expected<std::shared_ptr<Buffer>> Buffer::allocate(uint64_t bytes) {
  // Rounded up because aligned_alloc wants a multiple, and never empty so that the address is
  // unique.
  bool isLarge = bytes >= hugePage;
  uint64_t rounded = roundUp(std::max<uint64_t>(bytes, 1), isLarge ? hugePage : bufferAlignment);
  void *data = rounded < bytes ? nullptr
               : isLarge       ? takeLarge(rounded)
                               : std::aligned_alloc(bufferAlignment, rounded);
  if (!data)
    return Status(StatusCode::OutOfMemory, "cannot allocate " + std::to_string(bytes) + " bytes");
#ifdef MADV_HUGEPAGE
  if (isLarge)
    madvise(data, bytes & ~(hugePage - 1), MADV_HUGEPAGE); // whole pages only: no memory is wasted
#endif
  return std::make_shared<Buffer>(Key{}, data, bytes, true, std::function<void()>());
}

std::shared_ptr<Buffer> Buffer::wrap(void *data, uint64_t bytes, std::function<void()> release) {
  return std::make_shared<Buffer>(Key{}, data, bytes, false, std::move(release));
}
