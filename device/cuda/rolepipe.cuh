//===- rolepipe.cuh - rings of tiles from computing roles to computing roles ----------------===//
//
// A ring of slots in shared memory, as those that the copy engine fills, but written by the threads
// of a role: `full` ends a phase when every warp of every lane that pushes has written its part,
// `empty` when every warp of every lane that pops has freed it. Each end counts by itself, so roles
// may push and pop as often as their data says.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "pipe.cuh"

namespace kiln {

/// `pushers` and `poppers` are the lanes of the two roles, and T what one ring carries: the parts
/// that lanes push make up a whole tile. Lanes that push to lanes have a ring each, of their parts.
template <int slots, int pushers, int poppers, typename... T> struct RolePipe {
  static constexpr int rings = pushers > 1 && poppers > 1 ? pushers : 1;
  static constexpr int slotBytes = (alignedTo1024(T::bytes) + ... + 0);
  static constexpr int ringBytes = rings * slots * slotBytes;
  static constexpr int barrierBytes = rings * 2 * slots * 8;

  SharedAddress ring, barriers;
  const char *name, *from, *to; ///< For reports; the last two are roles.
  Cursor<slots> pushed, popped, freed;

  __device__ RolePipe(SharedAddress ring, SharedAddress barriers, const char *name,
                      const char *from, const char *to)
      : ring(ring), barriers(barriers), name(name), from(from), to(to) {}

  /// By one thread, before anybody uses the pipe.
  __device__ void init() const {
    constexpr int each = everyThreadArrives ? kWarpgroup : kWarpgroup / kWarp;
    for (int lane = 0; lane < rings; ++lane)
      for (int slot = 0; slot < slots; ++slot) {
        barrier::init(full(lane, slot), pushers / rings * each);
        barrier::init(empty(lane, slot), poppers / rings * each);
      }
  }

  /// By a whole lane: waits for a free slot and writes its part of each tile into it. The matrix
  /// unit may read it there.
  template <typename... X> __device__ void push(i64 lane, const X &...tiles) {
    int slot = pushed.slot();
    barrier::wait(empty(lane, slot), pushed.parity() ^ 1, Waits::ForSpace, name, slot,
                  {from, int(lane)});
    writeAll(tilesIn(lane, slot), lane, tiles...);
    publishToAsyncUnits();
    arrive(full(lane, slot));
    pushed.advance();
  }

  /// By a whole lane: waits for the next tiles, which stay until they are freed.
  __device__ Tiles<T...> pop(i64 lane) {
    int slot = popped.slot();
    barrier::wait(full(lane, slot), popped.parity(), Waits::ForTiles, name, slot, {to, int(lane)});
    popped.advance();
    return tilesIn(lane, slot);
  }

  /// Frees the oldest tiles that were popped.
  __device__ void free(i64 lane) {
    arrive(empty(lane, freed.slot()));
    freed.advance();
  }

  /// By a whole lane that pushes and is done with a block: in checked builds somebody has to pop
  /// all of it.
  __device__ void end([[maybe_unused]] i64 lane) const {
#ifdef KILN_BOUND_WAITS
    Cursor<slots> next = pushed;
    for (int k = 0; k < slots; ++k, next.advance())
      barrier::wait(empty(lane, next.slot()), next.parity() ^ 1, Waits::ForPops, name, next.slot(),
                    {from, int(lane)});
#endif
  }

private:
  /// The ring that a lane uses.
  __device__ static int ringOf(i64 lane) { return rings > 1 ? int(lane) : 0; }
  __device__ SharedAddress full(i64 lane, int slot) const {
    return barriers + 8 * (2 * slots * ringOf(lane) + slot);
  }
  __device__ SharedAddress empty(i64 lane, int slot) const { return full(lane, slots + slot); }
  __device__ Tiles<T...> tilesIn(i64 lane, int slot) const {
    SharedAddress at = ring + (slots * ringOf(lane) + slot) * slotBytes;
    if constexpr (sizeof...(T) == 0)
      return {};
    else
      return tilesAt<T...>(at);
  }
  __device__ static void arrive(SharedAddress barrier) {
    __syncwarp();
    if (everyThreadArrives || threadInWarp() == 0)
      barrier::arrive(barrier);
  }

  __device__ static void writeAll(const Tiles<> &, i64) {}
  template <typename To, typename... MoreTo, typename X, typename... More>
  __device__ static void writeAll(const Tiles<To, MoreTo...> &to, i64 lane, const X &tile,
                                  const More &...more) {
    writePart(tile, to.first, lane);
    writeAll(to.rest, lane, more...);
  }
  /// Lanes divide the rows or the columns of a tile.
  template <typename X, typename To>
  __device__ static void writePart(const X &tile, const To &to, i64 lane) {
    constexpr int rows = Extents<X>::rows, cols = Extents<X>::cols;
    static_assert(rows * cols * (pushers / rings) == To::rows * To::cols,
                  "what lanes push makes up a tile");
    writeTile(tile, to, rows == To::rows ? 0 : int(lane) * rows,
              cols == To::cols ? 0 : int(lane) * cols);
  }
  template <typename X> struct Extents {
    static constexpr int rows = X::rows, cols = X::cols;
  };
  template <typename E, typename L> struct Extents<Tile<E, L>> {
    static constexpr int rows = L::rows, cols = L::cols;
  };
};

} // namespace kiln
