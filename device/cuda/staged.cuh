//===- staged.cuh - tiles that the copy engine writes ---------------------------------------===//
//
// A lane puts a tile into shared memory, panel by panel, and the copy engine writes it from there:
// whole lines of memory, while the lane goes on with the next block. There are two panels, used in
// turns for as long as the kernel runs. A lane may also keep the tile, and store it while the next
// block's first products are made.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "shared.cuh"

namespace kiln {

/// 64 rows of 128 bytes.
inline constexpr int kStagedPanelBytes = 64 * 128;

/// By a lane, at its end: what it has written has been read, or it would be gone.
inline __device__ void awaitStaged() {
  if (threadInGroup() == 0)
    ptx::awaitStoredBoxes<0>();
}

/// The same, where others are told that it is done: it is in global memory.
inline __device__ void awaitWritten() {
  if (threadInGroup() == 0)
    ptx::awaitWrittenBoxes();
}

/// Whether coordinates of the copy engine can say where a tile is.
template <int rank> __device__ bool hasCoordinates(const i64 (&index)[rank], int tile) {
  bool fits = true;
#pragma unroll
  for (int axis = 0; axis < rank; ++axis)
    fits = fits && index[axis] >= 0 && index[axis] <= 0x7fffffff - tile;
  return fits;
}

/// A pair of elements in a register, [i][j] and the one beside it.
template <typename T, typename L>
__device__ __forceinline__ unsigned pairAt(const Tile<T, L> &tile, int i, int j) {
  return pack(tile.at[i][j], tile.at[i][j + 1]);
}
template <typename T, typename L, typename F>
__device__ __forceinline__ unsigned pairAt(const LazyTile<T, L, F> &tile, int i, int j) {
  if constexpr (requires { tile.f.pair(0, 0); })
    return tile.f.pair(i, j);
  else
    return pack(tile.f(i, j), tile.f(i, j + 1));
}

/// A tile of 16-bit elements in as few registers as it takes, for it is kept for a while.
template <typename T, int R, int C> struct PackedTile {
  static_assert(sizeof(T) == 2 && R % 64 == 0 && C % 8 == 0);
  unsigned words[R / 32][C / 8];

  template <typename From> __device__ __forceinline__ void operator=(const From &tile) {
#pragma unroll
    for (int i = 0; i < R / 32; ++i)
#pragma unroll
      for (int j = 0; j < C / 8; ++j)
        words[i][j] = pairAt(tile, i, 2 * j);
  }
  template <typename L> __device__ __forceinline__ Tile<T, L> unpacked() const {
    Tile<T, L> result;
#pragma unroll
    for (int i = 0; i < R / 32; ++i)
#pragma unroll
      for (int j = 0; j < C / 8; ++j)
        unpack(words[i][j], result.at[i][2 * j], result.at[i][2 * j + 1]);
    return result;
  }
};
template <typename T, int R, int C>
__device__ __forceinline__ unsigned pairAt(const PackedTile<T, R, C> &tile, int i, int j) {
  return tile.words[i][j / 2];
}

/// 64 rows and 64 columns from [row][col] on, as the copy engine reads them: each thread of a warp
/// says where a row of eight is to lie, and brings a pair of each four.
template <typename From>
__device__ __forceinline__ void stagePanel(const From &tile, int row, int col, SharedAddress to) {
  int own = threadInWarp() % 16, within = 16 * warpInGroup() + own;
  SharedAddress line = to + within * 128;
#pragma unroll
  for (int j = 0; j < 64; j += 16) {
    const int i = row / 32, first = (col + j) / 4;
    const unsigned words[4] = {pairAt(tile, i, first), pairAt(tile, i + 1, first),
                               pairAt(tile, i, first + 2), pairAt(tile, i + 1, first + 2)};
    int piece = j / 8 + threadInWarp() / 16;
    ptx::storeMatrices(line + ((piece ^ within % 8) << 4), words);
  }
}

/// How many panels a tile has, row by row.
template <int R, int C> inline constexpr int panelsOf = R / 64 * (C / 64);

/// One of them through `stage`, two panels of this lane's own, to where it is in the tensor that
/// `map` describes. `at`: where the tile is.
template <int R, int C, typename From, int rank>
__device__ __forceinline__ void storePanel(const From &tile, int number, const TensorMap &map,
                                           const int (&at)[rank], SharedAddress stage, i64 lane) {
  const int row = number / (C / 64) * 64, col = number % (C / 64) * 64;
  SharedAddress panel = stage + number % 2 * kStagedPanelBytes;
  // The engine has read what was there: the panel before the last one, or the last one if that was
  // the last of an odd number.
  if (threadInGroup() == 0) {
    if (number == 0 && panelsOf<R, C> % 2 == 1)
      ptx::awaitStoredBoxes<0>();
    else
      ptx::awaitStoredBoxes<1>();
  }
  beginFilling(lane);
  stagePanel(tile, row, col, panel);
  finishFilling(lane);
  if (threadInGroup() == 0) {
    int corner[rank];
#pragma unroll
    for (int axis = 0; axis < rank; ++axis)
      corner[axis] = at[axis] + (axis == rank - 2 ? row : axis == rank - 1 ? col : 0);
    ptx::storeBox(map, corner, panel);
  }
}

template <typename From, typename T, int R, int C, int rank>
__device__ __forceinline__ bool canBeStaged(const From &, const Window<T, R, C> &window,
                                            const Tensor &tensor, const i64 (&index)[rank]) {
  static_assert(From::Layout::isFragment && sizeof(T) == 2 && R % 64 == 0 && C % 64 == 0,
                "panels are of 64 rows and 64 columns of 16 bits");
  return window.isWhole() && (tensor.flags & kHasTensorMap) && hasCoordinates(index, R + C);
}

/// To a window, which is at `index` of a tensor that `map` describes, through `stage`.
template <typename From, typename T, int R, int C, int rank>
__device__ __forceinline__ void
storeStaged(const From &tile, const Window<T, R, C> &window, const Tensor &tensor,
            const TensorMap &map, const i64 (&index)[rank], SharedAddress stage, i64 lane) {
  if (!canBeStaged(tile, window, tensor, index))
    return store(tile, window);
  int at[rank];
#pragma unroll
  for (int axis = 0; axis < rank; ++axis)
    at[axis] = int(index[axis]);
#pragma unroll
  for (int number = 0; number < panelsOf<R, C>; ++number)
    storePanel<R, C>(tile, number, map, at, stage, lane);
}

/// What a lane stores of a block while the next one's first products are made, a panel beside each:
/// the matrix unit does not wait for panels to be filled, nor a panel for the copy engine.
template <typename T, int R, int C, int rank> struct DelayedStore {
  static constexpr int panels = panelsOf<R, C>;
  const TensorMap &map;
  SharedAddress stage;
  PackedTile<T, R, C> tile;
  int at[rank];
  int next = panels;    ///< The first panel that is not stored yet.
  bool hasNext = false; ///< Whether there is another block for this lane.

  __device__ __forceinline__ DelayedStore(const TensorMap &map, SharedAddress stage)
      : map(map), stage(stage) {}

  /// Instead of `storeStaged`, which it is where no product comes that it could wait for.
  /// `hasProducts`: whether the blocks of the kernel have any.
  template <typename From>
  __device__ __forceinline__ void keep(const From &from, const Window<T, R, C> &window,
                                       const Tensor &tensor, const i64 (&index)[rank],
                                       bool hasProducts, i64 lane) {
    tile = from;
    if (!canBeStaged(from, window, tensor, index))
      return kiln::store(tile.template unpacked<typename From::Layout>(), window);
#pragma unroll
    for (int axis = 0; axis < rank; ++axis)
      at[axis] = int(index[axis]);
    next = 0;
    if (!hasNext || !hasProducts)
      store(lane, true);
  }
  /// Stores a panel of what is kept, or all that are left.
  __device__ __forceinline__ void store(i64 lane, bool all) {
    if (next == panels)
      return;
    int first = next;
#pragma unroll
    for (int number = 0; number < panels; ++number)
      if (number == first || (all && number > first))
        storePanel<R, C>(tile, number, map, at, stage, lane);
    next = all ? panels : first + 1;
  }
};

} // namespace kiln
