//===- staged.cuh - tiles that the copy engine writes ---------------------------------------===//
//
// A lane puts a tile into shared memory, panel by panel, and the copy engine writes it from there:
// whole lines of memory, while the lane goes on with the next block. There are two panels, used in
// turns for as long as the kernel runs.
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

/// To a window, which is at `index` of a tensor that `map` describes, through `stage`: two panels
/// of this lane's own. Tiles that are not whole the threads store.
template <typename From, typename T, int R, int C, int rank>
__device__ __forceinline__ void
storeStaged(const From &tile, const Window<T, R, C> &window, const Tensor &tensor,
            const TensorMap &map, const i64 (&index)[rank], SharedAddress stage, i64 lane) {
  static_assert(From::Layout::isFragment && sizeof(T) == 2 && R % 64 == 0 && C % 64 == 0,
                "panels are of 64 rows and 64 columns of 16 bits");
  if (!window.isWhole() || !(tensor.flags & kHasTensorMap) || !hasCoordinates(index, R + C))
    return store(tile, window);
  int at[rank];
#pragma unroll
  for (int axis = 0; axis < rank; ++axis)
    at[axis] = int(index[axis]);
#pragma unroll
  for (int row = 0; row < R; row += 64)
#pragma unroll
    for (int col = 0; col < C; col += 64) {
      const int number = row / 64 * (C / 64) + col / 64;
      SharedAddress panel = stage + number % 2 * kStagedPanelBytes;
      // The engine has read what was there: the panel before the last one, or the last one if that
      // was the last of an odd number.
      if (threadInGroup() == 0) {
        if (number == 0 && R * C / 4096 % 2 == 1)
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
}

} // namespace kiln
