//===- shared.cuh - tiles in shared memory ----------------------------------------------===//
//
// A tile lies in panels of columns, each a row of at most 128 bytes wide; rows of a panel follow
// one another. Pieces of 16 bytes are swizzled in each panel, as the copy engine writes them and
// the matrix unit reads them, so that neither meets bank conflicts.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "barrier.cuh"
#include "global.cuh"

namespace kiln {

/// `panelRows` is that of the tile it is part of: rows of a tile are a tile.
template <typename T, int R, int C, int panelRows = R> struct Shared {
  using Element = T;
  static constexpr int rows = R, cols = C;
  static constexpr int rowBytes = C * int(sizeof(T)) < 128 ? C * int(sizeof(T)) : 128;
  static constexpr int panelCols = rowBytes / int(sizeof(T));
  static constexpr int panelBytes = panelRows * rowBytes;
  static constexpr int bytes = R * C * int(sizeof(T));
  static_assert(rowBytes == 128 || rowBytes == 64 || rowBytes == 32,
                "a row in shared memory has 32 or 64 bytes, or a multiple of 128");
  static_assert(C % panelCols == 0, "a tile in shared memory has whole panels of 128 bytes");

  SharedAddress base;

  __device__ SharedAddress address(int row, int col) const {
    constexpr int period = 128 / rowBytes; // rows until the pattern of swizzling changes
    int piece = col % panelCols * int(sizeof(T)) / 16;
    int swizzled = piece ^ (row / period % (rowBytes / 16));
    return base + col / panelCols * panelBytes + row * rowBytes + swizzled * 16 +
           col * int(sizeof(T)) % 16;
  }
};

/// Rows of a tile, from one that is a multiple of 8 on: there the swizzling begins anew.
template <int R, typename T, int rows, int C, int panelRows>
__device__ Shared<T, R, C, panelRows> rowsFrom(const Shared<T, rows, C, panelRows> &tile, i64 row) {
  static_assert(R % 8 == 0 || R == rows, "rows are taken from shared memory by eights");
  return {tile.base + unsigned(row) * Shared<T, rows, C, panelRows>::rowBytes};
}

/// The same tile elsewhere in shared memory, copied by all threads of a lane.
template <typename T, int R, int C>
__device__ Shared<T, R, C> copied(const Shared<T, R, C> &tile, SharedAddress to, i64 lane) {
  constexpr unsigned bytes = Shared<T, R, C>::bytes;
  static_assert(bytes % 16 == 0, "tiles in shared memory have whole pieces of 16 bytes");
  barrier::meet(1 + int(lane)); // what was there before has been read
  for (unsigned at = threadInGroup() * 16; at < bytes; at += kWarpgroup * 16) {
    unsigned piece[4];
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(piece[0]), "=r"(piece[1]), "=r"(piece[2]), "=r"(piece[3])
                 : "r"(tile.base + at)
                 : "memory");
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to + at), "r"(piece[0]),
                 "r"(piece[1]), "r"(piece[2]), "r"(piece[3])
                 : "memory");
  }
  publishToAsyncUnits();
  barrier::meet(1 + int(lane));
  return {to};
}

template <typename To, int R, int C, int panelRows>
__device__ To toRegisters(const Shared<typename To::Element, R, C, panelRows> &tile) {
  using T = typename To::Element;
  using L = typename To::Layout;
  To result;
  forEach<L>([&](int i, int j) {
    T value{};
    if (To::hasRow(i) && To::hasCol(j)) {
      SharedAddress from = tile.address(L::row(i), L::col(j));
      if constexpr (sizeof(T) == 4)
        asm volatile("ld.shared.b32 %0, [%1];"
                     : "=r"(reinterpret_cast<unsigned &>(value))
                     : "r"(from));
      else if constexpr (sizeof(T) == 2)
        asm volatile("ld.shared.b16 %0, [%1];"
                     : "=h"(reinterpret_cast<unsigned short &>(value))
                     : "r"(from));
      else
        static_assert(sizeof(T) == 2, "tiles in shared memory have elements of 16 or 32 bits");
    }
    result.at[i][j] = value;
  });
  return result;
}

//===-- The copy engine -----------------------------------------------------------------===//

/// What the driver's cuTensorMapEncodeTiled makes of a tensor and a box.
struct alignas(64) TensorMap {
  u64 opaque[16];
};

inline __device__ void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                               const int (&at)[2]) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(at[1]), "r"(at[0])
               : "memory");
}
inline __device__ void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                               const int (&at)[3]) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
inline __device__ void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                               const int (&at)[4]) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}

/// A tile of a tensor that is to be sent: nothing is read before it is pushed into a pipe.
template <typename T, int R, int C, int rank> struct Request {
  static_assert(rank >= 2 && rank <= 4, "the copy engine is used for tensors of two to four axes");
  static_assert(R <= 256, "the copy engine moves at most 256 rows at once");
  using Tile = Shared<T, R, C>;
  const Tensor &tensor;
  const TensorMap &map;
  i64 index[rank];

  /// Not so for tensors whose rows begin at odd places: these are copied by the threads of the
  /// warp.
  __device__ bool usesEngine() const { return tensor.flags & kHasTensorMap; }

  /// By one thread.
  __device__ void start(Tile to, SharedAddress barrier) const {
    // What is too far away for a coordinate is outside, as is what is only that far.
    constexpr int far = 0x7fffffff - C;
    int at[rank];
    for (int axis = 0; axis < rank; ++axis)
      at[axis] = clamp(index[axis], -far, far);
#pragma unroll
    for (int panel = 0; panel < C / Tile::panelCols; ++panel) {
      copyBox(to.base + panel * Tile::panelBytes, barrier, map, at);
      at[rank - 1] += Tile::panelCols;
    }
  }

  /// By all threads of a warp.
  __device__ void copy(Tile to) const {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4,
                  "tiles in shared memory have elements of 16 or 32 bits");
    Window<T, R, C> from = window<T, R, C>(tensor, index);
    for (int k = threadInWarp(); k < R * C; k += kWarp) {
      int row = k / C, col = k % C;
      T value{};
      if (from.has(row, col))
        value = *from.at(row, col);
      SharedAddress at = to.address(row, col);
      if constexpr (sizeof(T) == 2)
        asm volatile("st.shared.b16 [%0], %1;" ::"r"(at),
                     "h"(reinterpret_cast<unsigned short &>(value))
                     : "memory");
      else
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(reinterpret_cast<unsigned &>(value))
                     : "memory");
    }
  }
};

template <typename T, int R, int C, int rank>
__device__ Request<T, R, C, rank> request(const Tensor &tensor, const TensorMap &map,
                                          const i64 (&index)[rank]) {
  Request<T, R, C, rank> result{tensor, map, {}};
  for (int axis = 0; axis < rank; ++axis)
    result.index[axis] = index[axis];
  return result;
}

} // namespace kiln
