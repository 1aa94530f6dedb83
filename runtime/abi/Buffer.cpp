#include "abi/LargeMemory.h"
#include "kiln/runtime/tensor.h"

#include <atomic>
#include <cstdlib>

using namespace kiln;

static constexpr uint64_t bufferAlignment = 64;

Buffer::Buffer(Key, void *data, uint64_t bytes, bool owns, std::function<void()> release)
    : Data(data), Bytes(bytes), Owns(owns), Release(std::move(release)) {
  static std::atomic<uint64_t> next{1};
  Id = next.fetch_add(1, std::memory_order_relaxed);
}

Buffer::~Buffer() {
  if (Owns && Bytes < hugePage)
    std::free(Data);
  else if (Owns)
    giveLarge(Data, Bytes);
  if (Release)
    Release();
}

Expected<std::shared_ptr<Buffer>> Buffer::allocate(uint64_t bytes) {
  // Rounded up because aligned_alloc wants a multiple, and never empty so that the address is
  // unique.
  void *data = bytes >= hugePage
                   ? takeLarge(bytes, LargeUse::Any)
                   : std::aligned_alloc(bufferAlignment,
                                        roundUp(std::max<uint64_t>(bytes, 1), bufferAlignment));
  if (!data)
    return Status(StatusCode::OutOfMemory, "cannot allocate " + std::to_string(bytes) + " bytes");
  return std::make_shared<Buffer>(Key{}, data, bytes, true, std::function<void()>());
}

std::shared_ptr<Buffer> Buffer::wrap(void *data, uint64_t bytes, std::function<void()> release) {
  return std::make_shared<Buffer>(Key{}, data, bytes, false, std::move(release));
}
