#include "TensorMap.h"

#include <cstring>

using namespace kiln::emulated;

uint32_t TensorMapBits::bytes() const {
  uint32_t all = elementBytes;
  for (int axis = 0; axis < rank; ++axis)
    all *= box[axis];
  return all;
}

bool kiln::emulated::encode(TensorMapBits &map, int type, uint32_t rank, const void *data,
                            const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                            const uint32_t *steps, int interleave, int swizzle) {
  static constexpr uint8_t swizzles[] = {0, 32, 64, 128};
  if (type < 0 || type > 2 || rank < 1 || rank > 5 || reinterpret_cast<uintptr_t>(data) % 16 ||
      interleave != 0 || swizzle < 0 || swizzle > 3)
    return false;
  map = {};
  map.magic = TensorMapBits::kMagic;
  map.data = static_cast<char *>(const_cast<void *>(data));
  map.rank = static_cast<uint8_t>(rank);
  map.elementBytes = static_cast<uint8_t>(1 << type);
  map.swizzleBytes = swizzles[swizzle];
  map.strides[0] = map.elementBytes;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (extents[axis] == 0 || extents[axis] > uint64_t(1) << 32 || box[axis] == 0 ||
        box[axis] > 256 || steps[axis] != 1)
      return false;
    map.extents[axis] = static_cast<uint32_t>(extents[axis]);
    map.box[axis] = static_cast<uint16_t>(box[axis]);
    if (axis == 0)
      continue;
    map.strides[axis] = strides[axis - 1];
    if (strides[axis - 1] % 16 || strides[axis - 1] >= uint64_t(1) << 40)
      return false;
  }
  return map.rowBytes() % 16 == 0 && (map.swizzleBytes == 0 || map.rowBytes() <= map.swizzleBytes);
}

/// For each element of a box, where it is in the tensor, and in the box; null outside.
template <typename F> static void forEachElement(const TensorMapBits &map, const int *at, F f) {
  uint32_t rows = map.bytes() / map.rowBytes();
  for (uint32_t row = 0; row < rows; ++row) {
    char *in = map.data;
    bool isInside = true;
    uint32_t number = row;
    for (int axis = 1; axis < map.rank; ++axis) {
      int64_t index = int64_t(at[map.rank - 1 - axis]) + number % map.box[axis];
      number /= map.box[axis];
      isInside &= index >= 0 && index < map.extents[axis];
      in += index * static_cast<int64_t>(map.strides[axis]);
    }
    for (uint32_t element = 0; element < map.box[0]; ++element) {
      int64_t index = int64_t(at[map.rank - 1]) + element;
      bool has = isInside && index >= 0 && index < map.extents[0];
      f(has ? in + index * map.elementBytes : nullptr,
        size_t(row) * map.rowBytes() + size_t(element) * map.elementBytes);
    }
  }
}

void kiln::emulated::readBox(const TensorMapBits &map, const int *at, unsigned char *to) {
  forEachElement(map, at, [&](const char *in, size_t place) {
    if (in)
      std::memcpy(to + place, in, map.elementBytes);
    else
      std::memset(to + place, 0, map.elementBytes);
  });
}

void kiln::emulated::writeBox(const TensorMapBits &map, const int *at, const unsigned char *from) {
  forEachElement(map, at, [&](char *in, size_t place) {
    if (in)
      std::memcpy(in, from + place, map.elementBytes);
  });
}
