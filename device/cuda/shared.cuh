//===- shared.cuh - tiles in shared memory ----------------------------------------------===//
//
// A tile lies in panels of columns, each a row of at most 128 bytes wide; rows of a panel follow
// one another. Pieces of 16 bytes are swizzled, as the copy engine writes them and the matrix unit
// reads them, so that neither meets bank conflicts: by bits of their address in shared memory, so
// part of a tile is swizzled as the whole is. A tile whose rows are of other lengths lies row by
// row, as it is; only threads read and write it.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "barrier.cuh"
#include "global.cuh"

namespace kiln {

template <typename T> __device__ __forceinline__ T readShared(SharedAddress from) {
  BitsOf<sizeof(T)> bits;
  ptx::loadShared(from, bits);
  return reinterpret_cast<T &>(bits);
}

template <typename T> __device__ __forceinline__ void writeShared(SharedAddress to, T value) {
  ptx::storeShared(to, reinterpret_cast<BitsOf<sizeof(T)> &>(value));
}

/// The rows that each panel has room for: a multiple of 8, where the pattern of swizzling begins
/// again, if what a tile leaves of its last KB is enough for that.
constexpr int panelRowsFor(int rows, int bytesOfRow) {
  int whole = (rows + 7) / 8 * 8;
  bool isEnough = whole * bytesOfRow <= (rows * bytesOfRow + 1023) / 1024 * 1024;
  return bytesOfRow > 128 && bytesOfRow % 128 == 0 && isEnough ? whole : rows;
}

/// `panelRows` is that of the tile it is part of: rows of a tile are a tile.
template <typename T, int R, int C, int panelRows = panelRowsFor(R, C *int(sizeof(T)))>
struct Shared {
  using Element = T;
  static constexpr int rows = R, cols = C;
  static constexpr int bytes = R * C * int(sizeof(T));
  /// Whether the copy engine and the matrix unit can read it.
  static constexpr bool isSwizzled =
      C * int(sizeof(T)) == 32 || C * int(sizeof(T)) == 64 || C * int(sizeof(T)) % 128 == 0;
  static constexpr int rowBytes = isSwizzled && C * int(sizeof(T)) > 128 ? 128 : C *int(sizeof(T));
  static constexpr int panelCols = rowBytes / int(sizeof(T));
  static constexpr int panelBytes = panelRows * rowBytes;
  static constexpr int bytesWithGaps = panelBytes * (C / panelCols); ///< Between panels.
  /// Whether each panel begins where the pattern of swizzling does.
  static constexpr bool hasAlignedPanels = isSwizzled && (C == panelCols || panelBytes % 1024 == 0);

  SharedAddress base;

  __device__ SharedAddress address(int row, int col) const {
    if constexpr (!isSwizzled)
      return base + unsigned(row * C + col) * sizeof(T);
    SharedAddress at =
        base + col / panelCols * panelBytes + row * rowBytes + col % panelCols * int(sizeof(T));
    return at ^ (at >> 3 & (rowBytes - 16));
  }
  __device__ T get(int row, int col) const { return readShared<T>(address(row, col)); }
  __device__ void set(int row, int col, T value) const { writeShared(address(row, col), value); }
};

/// Rows of a tile. The matrix unit can read them if `row` is a multiple of 8.
template <int R, typename T, int rows, int C, int panelRows>
__device__ Shared<T, R, C, panelRows> rowsFrom(const Shared<T, rows, C, panelRows> &tile, i64 row) {
  return {tile.base + unsigned(row) * Shared<T, rows, C, panelRows>::rowBytes};
}

/// Columns of a tile, which only threads read.
template <typename Whole, int C> struct SharedColumns {
  using Element = typename Whole::Element;
  static constexpr int rows = Whole::rows, cols = C;
  static constexpr bool hasAlignedPanels = false;
  Whole whole;
  int first;
  __device__ Element get(int row, int col) const { return whole.get(row, first + col); }
};
template <int C, typename Whole>
__device__ SharedColumns<Whole, C> colsFrom(const Whole &tile, i64 col) {
  return {tile, int(col)};
}

/// A place in shared memory that a lane is about to fill: whoever read what was there is done.
/// `finish` is for when all of it has been written.
inline __device__ void beginFilling(i64 lane) { barrier::meet(1 + int(lane)); }
inline __device__ void finishFilling(i64 lane) {
  publishToAsyncUnits();
  barrier::meet(1 + int(lane));
}

/// The same tile elsewhere in shared memory, copied by all threads of a lane.
template <typename From> __device__ auto copied(const From &tile, SharedAddress to, i64 lane) {
  using T = typename From::Element;
  constexpr int R = From::rows, C = From::cols;
  Shared<T, R, C> copy{to};
  beginFilling(lane);
  constexpr int bytes = Shared<T, R, C>::bytesWithGaps;
  if constexpr (isSame<From, Shared<T, R, C>> && bytes % 16 == 0) {
    // Both begin where the pattern of swizzling does.
    for (unsigned at = threadInGroup() * 16; at < bytes; at += kWarpgroup * 16) {
      unsigned piece[4];
      ptx::loadShared(tile.base + at, piece);
      ptx::storeShared(to + at, piece);
    }
  } else {
    writeTile(tile, copy, 0, 0);
  }
  finishFilling(lane);
  return copy;
}

template <typename To, typename From> __device__ To toRegisters(const From &tile) {
  using T = typename To::Element;
  using L = typename To::Layout;
  To result;
  forEach<L>([&](int i, int j) {
    T value{};
    if (To::hasRow(i) && To::hasCol(j))
      value = tile.get(L::row(i), L::col(j));
    result.at[i][j] = value;
  });
  return result;
}

/// What the threads of a warpgroup hold of a tile, into a tile in shared memory, from a place on.
template <typename T, typename L, typename To>
__device__ __forceinline__ void writeTile(const Tile<T, L> &tile, const To &to, int row, int col) {
  if (L::isOwner())
    forEach<L>([&](int i, int j) {
      if (tile.hasRow(i) && tile.hasCol(j))
        to.set(row + L::row(i), col + L::col(j), tile.at[i][j]);
    });
}
/// The same of a tile that lies in shared memory, too.
template <typename From, typename To>
__device__ __forceinline__ void writeTile(const From &tile, const To &to, int row, int col) {
  for (int k = threadInGroup(); k < From::rows * From::cols; k += kWarpgroup)
    to.set(row + k / From::cols, col + k % From::cols, tile.get(k / From::cols, k % From::cols));
}

/// A tile in registers, in shared memory: all threads of the lane can read all of it.
template <typename T, typename L>
__device__ Shared<T, L::rows, L::cols> toShared(const Tile<T, L> &tile, SharedAddress to,
                                                i64 lane) {
  Shared<T, L::rows, L::cols> result{to};
  beginFilling(lane);
  writeTile(tile, result, 0, 0);
  finishFilling(lane);
  return result;
}

//===-- The copy engine -----------------------------------------------------------------===//

/// Fills a tile with what `from` has: by all threads of a warp. Elements that it does not have
/// become `pad`.
template <typename T, int R, int C, typename From>
__device__ void fillByWarp(const Shared<T, R, C> &to, const From &from, T pad) {
#pragma unroll 1
  for (int k = threadInWarp(); k < R * C; k += kWarp) {
    int row = k / C, col = k % C;
    to.set(row, col, from.has(row, col) ? *from.at(row, col) : pad);
  }
}

/// The same, where whole rows are there or not and pieces of 16 bytes can be read at once, `many`
/// of them before the first is needed. Rows that are not there become zeros.
template <int many, typename T, int R, int C>
__device__ void fillByPieces(const Shared<T, R, C> &to, const Window<T, R, C> &from) {
  constexpr int each = 16 / int(sizeof(T)), step = kWarp * each;
#pragma unroll 1
  for (int first = threadInWarp() * each; first < R * C; first += many * step) {
    uint4 piece[many];
#pragma unroll
    for (int i = 0; i < many; ++i) {
      int k = first + i * step, row = k / C;
      piece[i] = row >= from.rowBegin && row < from.rowEnd
                     ? *reinterpret_cast<const uint4 *>(from.at(row, k % C))
                     : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < many; ++i) {
      int k = first + i * step;
      const unsigned words[4] = {piece[i].x, piece[i].y, piece[i].z, piece[i].w};
      if (k < R * C)
        ptx::storeShared(to.address(k / C, k % C), words);
    }
  }
}

template <int many = 1, typename T, int R, int C>
__device__ void fill(const Shared<T, R, C> &to, const Window<T, R, C> &from, T pad) {
  if constexpr (C * sizeof(T) % 16 == 0)
    if ((many > 1 ? from.hasAllCols() : from.isWhole()) && from.isAligned(16))
      return fillByPieces<many>(to, from);
  fillByWarp(to, from, pad);
}
template <typename T, int R, int C, typename I>
__device__ void fill(const Shared<T, R, C> &to, const RowsWindow<T, R, C, I> &from, T pad) {
  fillByWarp(to, from, pad);
}

/// By one thread, at the beginning of a kernel.
template <int count> __device__ void prefetch(const TensorMap (&maps)[count]) {
#pragma unroll
  for (const TensorMap &map : maps)
    ptx::prefetchMap(map);
}

/// What threads copy, and never the engine: a part of a tensor that it cannot be told of.
template <typename T, int R, int C, typename From> struct CopyRequest {
  using Tile = Shared<T, R, C>;
  From from;
  T pad;
  static constexpr bool isForEngine = false, isUnwritten = false, isPaired = false;
  __device__ bool usesEngine() const { return false; }
  __device__ void copy(Tile to) const { fill(to, from, pad); }
};
template <typename T, int R, int C>
__device__ CopyRequest<T, R, C, Window<T, R, C>> copyRequest(const Window<T, R, C> &from, T pad) {
  return {from, pad};
}
template <typename T, int R, int C, typename I>
__device__ CopyRequest<T, R, C, RowsWindow<T, R, C, I>>
copyRequest(const RowsWindow<T, R, C, I> &from, T pad) {
  return {from, pad};
}

/// A tile of a tensor that is to be sent: nothing is read before it is pushed into a pipe.
template <typename T, int R, int C, Touched touched, int rank> struct Request {
  static_assert(rank >= 2 && rank <= 5, "the copy engine is used for tensors of two to five axes");
  static_assert(R <= 256, "the copy engine moves at most 256 rows at once");
  static_assert(Shared<T, R, C>::isSwizzled, "the copy engine writes rows of 32 or 64 bytes, or "
                                             "panels of 128");
  static constexpr bool isForEngine = true, isUnwritten = false, isPaired = false;
  using Tile = Shared<T, R, C>;
  const Tensor &tensor;
  const TensorMap &map;
  i64 index[rank];

  /// Not so for tensors whose rows begin at odd places: these are copied by the threads of the
  /// warp.
  __device__ bool usesEngine() const { return tensor.flags & kHasTensorMap; }

  /// By one thread.
  __device__ void start(Tile to, SharedAddress barrier) const {
    forEachPanel(to, [&](int, SharedAddress panel, const int (&at)[rank]) {
      ptx::copyBox(panel, barrier, map, at,
                   touched == Touched::Once ? ptx::Kept::Briefly : ptx::Kept::Long);
    });
  }

  /// `copy(number, place, at)` for each panel, which is `at` that place of the tensor.
  template <typename F> __device__ void forEachPanel(Tile to, F copy) const {
    // What is too far away for a coordinate is outside, as is what is only that far.
    constexpr int far = 0x7fffffff - (R > C ? R : C);
    int at[rank];
    for (int axis = 0; axis < rank; ++axis)
      at[axis] = clamp(index[axis], -far, far);
#pragma unroll
    for (int panel = 0; panel < C / Tile::panelCols; ++panel) {
      copy(panel, to.base + panel * Tile::panelBytes, at);
      at[rank - 1] += Tile::panelCols;
    }
  }

  /// By all threads of a warp.
  __device__ void copy(Tile to) const { fill(to, window<T, R, C>(tensor, index), T{}); }
};

/// The same, of which only the first `rows` and `cols` count. The engine moves whole tiles; the
/// last one, of which less is wanted, is worth being waited for by a whole warp with few trips.
template <typename T, int R, int C, Touched touched, int rank>
struct ValidRequest : Request<T, R, C, touched, rank> {
  using Tile = Shared<T, R, C>;
  i64 rows, cols;
  __device__ bool usesEngine() const {
    return rows >= R && cols >= C && Request<T, R, C, touched, rank>::usesEngine();
  }
  __device__ void copy(Tile to) const {
    fill<4>(to, window<T, R, C>(this->tensor, this->index, rows, cols), T{});
  }
};

template <typename T, int R, int C, Touched touched = Touched::Often, int rank>
__device__ Request<T, R, C, touched, rank> request(const Tensor &tensor, const TensorMap &map,
                                                   const i64 (&index)[rank]) {
  Request<T, R, C, touched, rank> result{tensor, map, {}};
  for (int axis = 0; axis < rank; ++axis)
    result.index[axis] = index[axis];
  return result;
}

/// A request of what no kernel of the program writes.
template <typename Request> struct Unwritten : Request {
  static constexpr bool isUnwritten = true;
};
template <typename Request> __device__ Unwritten<Request> unwritten(const Request &request) {
  return {request};
}

template <typename T, int R, int C, Touched touched = Touched::Often, int rank>
__device__ ValidRequest<T, R, C, touched, rank>
validRequest(const Tensor &tensor, const TensorMap &map, const i64 (&index)[rank], i64 rows,
             i64 cols) {
  return {request<T, R, C, touched>(tensor, map, index), rows, cols};
}

} // namespace kiln
