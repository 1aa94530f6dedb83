//===- TensorMap.h - a box of a tensor that the copy engine moves ----------------------------===//
//
// What: what cuTensorMapEncodeTiled makes of its arguments here, and where each piece of a box
//   belongs. The rules of the CUDA driver for alignment and extents are checked.
//
// Ownership and threads: a value; the tensor's memory is borrowed.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DEVICE_EMULATED_TENSORMAP_H
#define KILN_DEVICE_EMULATED_TENSORMAP_H

#include <cstdint>

namespace kiln::emulated {

struct alignas(64) TensorMapBits {
  uint64_t magic;
  char *data;
  uint64_t strides[5]; ///< In bytes, of the innermost axis first, as everything here.
  uint32_t extents[5];
  uint16_t box[5];
  uint8_t rank, elementBytes, swizzleBytes;

  static constexpr uint64_t kMagic = 0x4b494c4e544d4150;
  uint32_t rowBytes() const { return uint32_t(box[0]) * elementBytes; }
  uint32_t bytes() const;
};
static_assert(sizeof(TensorMapBits) == 128, "a tensor map has 128 bytes");

/// False where the driver would refuse it.
bool encode(TensorMapBits &map, int type, uint32_t rank, const void *data, const uint64_t *extents,
            const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
            int swizzle);

/// The bytes of a box whose first element is at `at`, outermost axis first, one row after the other
/// as if nothing were swizzled; zeros outside the tensor.
void readBox(const TensorMapBits &map, const int *at, unsigned char *to);

/// The same to the tensor; what is outside is left out.
void writeBox(const TensorMapBits &map, const int *at, const unsigned char *from);

/// Where a byte of shared memory lies if rows of `rowBytes` are swizzled: bits 4 to 6 are those of
/// the piece, bits 7 to 9 those of the row.
inline uint32_t swizzled(uint32_t address, uint32_t rowBytes) {
  uint32_t rows = rowBytes == 128 ? 7 : rowBytes == 64 ? 3 : rowBytes == 32 ? 1 : 0;
  return address ^ ((address >> 7 & rows) << 4);
}

} // namespace kiln::emulated

#endif // KILN_DEVICE_EMULATED_TENSORMAP_H
