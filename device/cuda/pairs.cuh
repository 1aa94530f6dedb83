//===- pairs.cuh - blocks that read the same, side by side ----------------------------------===//
//
// Two blocks with neighbouring numbers run on neighbouring multiprocessors, as a cluster. What both
// read comes once: each asks for every second panel of it, and the copy engine writes that to the
// same place in both. So both push equally often, a slot is free when the lanes of both blocks have
// freed it, and neither ends before the other does. The last block of an odd number is alone.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "pipe.cuh"

namespace kiln {

/// By all threads, when the barriers of their block are set up: the other block may use them now.
inline __device__ void enterPair() { ptx::meetCluster(); }
/// By all that are left, at their end: the other block uses this one's memory no more.
inline __device__ void leavePair() { ptx::meetCluster(); }

struct PairedBlock : Block {
  bool hasOther;
  unsigned differs; ///< A bit for each axis of the grid along which the other block is elsewhere.
};

/// `blockAt` for blocks in pairs. A launch starts an even number, so pairs stay together.
template <int rows>
__device__ PairedBlock pairedBlockAt(i64 number, i64 blocks, const i64 (&grid)[3]) {
  PairedBlock result{blockAt<rows>(number, grid), (number ^ 1) < blocks, 0};
  if (result.hasOther) {
    Block other = blockInGrid<rows>(number ^ 1, grid);
    for (int axis = 0; axis < 3; ++axis)
      result.differs |= unsigned(other.index[axis] != result.index[axis]) << axis;
  }
  return result;
}

/// A request of a tile that the other block asks for as well, if `isShared`.
template <typename Request> struct Paired : Request {
  static constexpr bool isPaired = true;
  using Tile = typename Request::Tile;
  bool isShared;

  /// By one thread; the other block's does the same. Who begins alternates from slot to slot.
  __device__ void start(Tile to, SharedAddress barrier, int slot) const {
    if (!isShared)
      return Request::start(to, barrier);
    this->forEachPanel(to, [&](int number, SharedAddress panel, const auto &at) {
      if ((number + slot) % 2 == blockInPair())
        ptx::copyBoxToAll(panel, barrier, this->map, at, 0b11);
    });
  }
};

/// What is requested lies elsewhere only in blocks that differ along one of `axes`, a bit for each.
template <unsigned axes, typename Request>
__device__ Paired<Request> paired(const Request &request, const PairedBlock &block) {
  return {request, block.hasOther && (block.differs & axes) == 0};
}

} // namespace kiln
