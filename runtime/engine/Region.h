//===- Region.h - strided boxes of bytes, and whether two of them meet ---===//
//
// What: the set of bytes a tensor covers, as a base address and a few (extent, stride) axes, and
//   the exact question the dependency tracker asks: can these two sets share a byte? Column
//   slices, 2-D tiles and interleaved views of one matrix are told apart although their address
//   ranges overlap.
//
// Ownership and threads: plain values and pure functions. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_REGION_H
#define KILN_RUNTIME_ENGINE_REGION_H

#include "kiln/abi.h"
#include "kiln/runtime/tensor.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kiln {

struct Region {
  struct Axis {
    int64_t extent; // >= 2, except on the byte axis
    int64_t stride; // in bytes, >= 1
    friend bool operator==(const Axis &, const Axis &) = default;
  };

  uintptr_t begin = 0; // first byte
  uintptr_t end = 0;   // after the last byte; equal to begin when the region is empty
  int numAxes = 0;
  /// Strides strictly descending; the last axis is always the run of bytes, stride 1. Adjacent axes
  /// that form one longer run are merged, so equal sets written differently mostly look equal.
  std::array<Axis, KILN_MAX_RANK + 1> axes; // the first numAxes

  static Region of(const Tensor &tensor) {
    Region region;
    region.set(tensor);
    return region;
  }
  /// Becomes of(tensor), without copying the axes there are none of.
  void set(const Tensor &tensor) {
    if (tensor.isContiguous())
      setRun(tensor.data(), tensor.numBytes());
    else
      setStrided(tensor);
  }
  bool isEmpty() const { return begin == end; }

  friend bool operator==(const Region &a, const Region &b) {
    return a.begin == b.begin && a.end == b.end && a.numAxes == b.numAxes &&
           (a.numAxes <= 1 || // a run of bytes
            std::equal(a.axes.begin(), a.axes.begin() + a.numAxes, b.axes.begin()));
  }

private:
  void setRun(void *data, uint64_t bytes) {
    begin = reinterpret_cast<uintptr_t>(data);
    end = begin + bytes;
    numAxes = bytes ? 1 : 0;
    axes[0] = {static_cast<int64_t>(bytes), 1};
  }
  void setStrided(const Tensor &tensor);
};

/// False only when the two provably share no byte.
bool mayOverlap(const Region &a, const Region &b);

/// True only when every byte of `inner` is provably in `outer`.
bool covers(const Region &outer, const Region &inner);

/// True only when two different elements of the tensor provably are the same memory.
bool overlapsItself(const Tensor &tensor);

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_REGION_H
