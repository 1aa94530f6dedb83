#include "kiln/runtime/tensor.h"

#include <atomic>
#include <cstdlib>
#include <sys/mman.h>

using namespace kiln;

static constexpr uint64_t bufferAlignment = 64;
/// What the machine can map as one page. Tiles of a large tensor lie on one page a row, more than
/// there are entries to translate addresses with.
static constexpr uint64_t hugePage = uint64_t(2) << 20;

Buffer::Buffer(void *data, uint64_t bytes, bool owns, std::function<void()> release)
    : Data(data), Bytes(bytes), Owns(owns), Release(std::move(release)) {
  static std::atomic<uint64_t> next{1};
  Id = next.fetch_add(1, std::memory_order_relaxed);
}

Buffer::~Buffer() {
  if (Owns)
    std::free(Data);
  if (Release)
    Release();
}

Expected<std::shared_ptr<Buffer>> Buffer::allocate(uint64_t bytes) {
  // Rounded up because aligned_alloc wants a multiple, and never empty so that the address is
  // unique.
  uint64_t alignment = bytes < hugePage ? bufferAlignment : hugePage;
  uint64_t rounded = (std::max<uint64_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
  void *data = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (!data)
    return Status(StatusCode::OutOfMemory, "cannot allocate " + std::to_string(bytes) + " bytes");
#ifdef MADV_HUGEPAGE
  if (alignment == hugePage)
    madvise(data, bytes & ~(hugePage - 1), MADV_HUGEPAGE); // whole pages only: no memory is wasted
#endif
  return std::shared_ptr<Buffer>(new Buffer(data, bytes, true, {}));
}

std::shared_ptr<Buffer> Buffer::wrap(void *data, uint64_t bytes, std::function<void()> release) {
  return std::shared_ptr<Buffer>(new Buffer(data, bytes, false, std::move(release)));
}
