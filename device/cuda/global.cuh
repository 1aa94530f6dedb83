//===- global.cuh - tensors in global memory, and tiles of them in registers ----------===//
//
// `Tensor` is kiln_tensor of kiln/abi.h, byte for byte. A `Window` is where a tile lies in one:
// what of the tile is inside the tensor, and how far apart rows and columns are.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "register.cuh"

namespace kiln {

struct Tensor {
  void *data;
  i64 extents[5];
  i64 strides[5];
  int dtype;
  unsigned short rank, flags;
};
static_assert(sizeof(Tensor) == 96, "a tensor is handed over as kiln/abi.h lays it out");

/// Set by the runtime where the copy engine can read the tensor (see `TensorMap`).
inline constexpr unsigned short kHasTensorMap = 0x8000;

inline __device__ int clamp(i64 value, int low, int high) {
  return value < low ? low : value > high ? high : int(value);
}

template <typename T, int R, int C> struct Window {
  T *data; ///< Of the tile's first element, if that is inside.
  i64 rowStride, colStride;
  int rowBegin, rowEnd, colBegin, colEnd; ///< What of the tile is inside.

  __device__ bool isWhole() const {
    return rowBegin == 0 && rowEnd == R && colBegin == 0 && colEnd == C;
  }
  __device__ bool has(int row, int col) const {
    return row >= rowBegin && row < rowEnd && col >= colBegin && col < colEnd;
  }
  __device__ T *at(int row, int col) const { return data + row * rowStride + col * colStride; }
  /// The same, of which the compiler knows nothing: it would compute the places of all elements
  /// before the loop around it and keep them, in more registers than there are.
  __device__ Window opaque() const {
    Window copy = *this;
    asm volatile("" : "+l"(copy.rowStride), "+l"(copy.colStride));
    return copy;
  }
  /// Whether `bytes` beside one another can be read at once, wherever a multiple of them begins.
  __device__ bool isAligned(int bytes) const {
    return colStride == 1 && (u64(data) | u64(rowStride) * sizeof(T)) % bytes == 0;
  }
};

/// The tile that begins at `index`; of it only the first `rows` and `cols` count.
template <typename T, int R, int C, int rank>
__device__ Window<T, R, C> window(const Tensor &tensor, const i64 (&index)[rank], i64 rows = R,
                                  i64 cols = C) {
  // A tensor of one axis is a row or, for a tile of one column, a column.
  constexpr int rowAxis = rank > 1 ? rank - 2 : C == 1 && R > 1 ? 0 : -1;
  constexpr int colAxis = rank > 1 ? rank - 1 : rowAxis == 0 ? -1 : 0;
  Window<T, R, C> result{static_cast<T *>(tensor.data), 0, 0, 0, 0, 0, 0};
  bool isInside = true;
#pragma unroll
  for (int axis = 0; axis < rank; ++axis) {
    result.data += index[axis] * tensor.strides[axis];
    if (axis != rowAxis && axis != colAxis)
      isInside &= index[axis] >= 0 && index[axis] < tensor.extents[axis];
  }
  i64 rowIndex = 0, colIndex = 0, rowExtent = 1, colExtent = 1;
  if constexpr (rowAxis >= 0) {
    rowIndex = index[rowAxis], rowExtent = tensor.extents[rowAxis];
    result.rowStride = tensor.strides[rowAxis];
  }
  if constexpr (colAxis >= 0) {
    colIndex = index[colAxis], colExtent = tensor.extents[colAxis];
    result.colStride = tensor.strides[colAxis];
  }
  result.rowBegin = clamp(-rowIndex, 0, R), result.colBegin = clamp(-colIndex, 0, C);
  result.rowEnd = isInside ? clamp(smaller(rowExtent - rowIndex, rows), 0, R) : 0;
  result.colEnd = clamp(smaller(colExtent - colIndex, cols), 0, C);
  return result;
}

//===-- Several elements at once --------------------------------------------------------===//

template <int bytes> struct WordsOf;
template <> struct WordsOf<16> {
  using Type = uint4;
};
template <> struct WordsOf<8> {
  using Type = uint2;
};
template <> struct WordsOf<4> {
  using Type = unsigned;
};

/// The largest piece of `count` elements that one instruction moves; 0: there is none.
template <typename T, int count> __host__ __device__ constexpr int pieceBytes() {
  int bytes = count * int(sizeof(T));
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 0;
}

template <int count, typename T> __device__ __forceinline__ void readWide(const T *from, T *to) {
  constexpr int bytes = pieceBytes<T, count>(), words = bytes / 4, each = bytes / sizeof(T);
#pragma unroll
  for (int piece = 0; piece < count / each; ++piece) {
    typename WordsOf<bytes>::Type read =
        *reinterpret_cast<const typename WordsOf<bytes>::Type *>(from + piece * each);
    const unsigned *word = reinterpret_cast<const unsigned *>(&read);
#pragma unroll
    for (int k = 0; k < words; ++k)
      if constexpr (sizeof(T) == 2)
        unpack(word[k], to[piece * each + 2 * k], to[piece * each + 2 * k + 1]);
      else if constexpr (sizeof(T) == 4)
        to[piece * each + k] = reinterpret_cast<const T &>(word[k]);
  }
}

template <int count, typename T> __device__ __forceinline__ void writeWide(T *to, const T *from) {
  constexpr int bytes = pieceBytes<T, count>(), words = bytes / 4, each = bytes / sizeof(T);
#pragma unroll
  for (int piece = 0; piece < count / each; ++piece) {
    typename WordsOf<bytes>::Type written;
    unsigned *word = reinterpret_cast<unsigned *>(&written);
#pragma unroll
    for (int k = 0; k < words; ++k)
      if constexpr (sizeof(T) == 2)
        word[k] = pack(from[piece * each + 2 * k], from[piece * each + 2 * k + 1]);
      else if constexpr (sizeof(T) == 4)
        word[k] = reinterpret_cast<const unsigned &>(from[piece * each + k]);
    *reinterpret_cast<typename WordsOf<bytes>::Type *>(to + piece * each) = written;
  }
}

template <typename T, typename L>
inline constexpr bool canBeWide = (sizeof(T) == 2 || sizeof(T) == 4) && L::width > 1 &&
                                  L::allCols &&pieceBytes<T, L::width>() > 0;

//===-- Load, store ---------------------------------------------------------------------===//

template <typename To, int R, int C>
__device__ __forceinline__ To load(const Window<typename To::Element, R, C> &window,
                                   typename To::Element pad) {
  using T = typename To::Element;
  using L = typename To::Layout;
  To result;
  // Piece by piece, each either way: whole tiles either way would need registers for both.
  int isWide = canBeWide<T, L> && window.isWhole() && window.isAligned(pieceBytes<T, L::width>());
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
    for (int j = 0; j < L::colRegs; j += L::width) {
      int row = L::row(i), col = L::col(j);
      if constexpr (canBeWide<T, L>) {
        asm volatile("" : "+r"(isWide));
        if (isWide && To::hasRow(i)) {
          readWide<L::width>(window.at(row, col), &result.at[i][j]);
          continue;
        }
      }
      Window<T, R, C> from = window.opaque();
      const T *at = from.at(row, col);
      bool hasRow = row >= from.rowBegin && row < from.rowEnd;
      unsigned first = col - from.colBegin, count = hasRow ? from.colEnd - from.colBegin : 0;
#pragma unroll
      for (int k = 0; k < L::width; ++k, at += from.colStride)
        result.at[i][j + k] = first + k < count ? *at : pad;
    }
  return result;
}

/// Word j of thread t becomes word t of thread j, among each four threads of a warp.
inline __device__ void transposeQuad(unsigned (&word)[4]) {
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2) {
    bool isSecond = threadInWarp() & distance;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      int first = distance == 1 ? 2 * pair : pair, second = first + distance;
      unsigned got = shuffleXor(isSecond ? word[first] : word[second], distance);
      word[first] = isSecond ? got : word[first];
      word[second] = isSecond ? word[second] : got;
    }
  }
}

/// A fragment of 16-bit elements: the four threads of a row trade their pairs, so that each has 8
/// neighbours, and 64 bytes of a row are written at once instead of 16.
template <typename T, typename L, int R, int C>
__device__ __forceinline__ void storeTraded(const Tile<T, L> &tile, const Window<T, R, C> &window) {
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
    for (int j = 0; j < L::colRegs; j += 8) {
      unsigned word[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        word[k] = pack(tile.at[i][j + 2 * k], tile.at[i][j + 2 * k + 1]);
      transposeQuad(word);
      if (tile.hasRow(i))
        *reinterpret_cast<uint4 *>(window.at(L::row(i), 4 * j + 8 * (threadInWarp() % 4))) =
            make_uint4(word[0], word[1], word[2], word[3]);
    }
}

template <typename T, typename L, int R, int C>
__device__ __forceinline__ void store(const Tile<T, L> &tile, const Window<T, R, C> &window) {
  if constexpr (L::isFragment && sizeof(T) == 2 && R > 1 && C % 32 == 0) {
    if (window.isWhole() && window.isAligned(16))
      return storeTraded(tile, window);
  }
  if (!L::isOwner())
    return;
  if constexpr (canBeWide<T, L>) {
    if (window.isWhole() && window.isAligned(pieceBytes<T, L::width>())) {
#pragma unroll
      for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
        for (int j = 0; j < L::colRegs; j += L::width)
          if (tile.hasRow(i))
            writeWide<L::width>(window.at(L::row(i), L::col(j)), &tile.at[i][j]);
      return;
    }
  }
  Window<T, R, C> to = window.opaque();
  forEach<L>([&](int i, int j) {
    int row = L::row(i), col = L::col(j);
    if (to.has(row, col))
      *to.at(row, col) = tile.at[i][j];
  });
}

/// Adds to what is there; the order in which blocks do is not fixed.
template <typename L, int R, int C>
__device__ __forceinline__ void storeAdding(const Tile<float, L> &tile,
                                            const Window<float, R, C> &window) {
  if (!L::isOwner())
    return;
  forEach<L>([&](int i, int j) {
    int row = L::row(i), col = L::col(j);
    if (window.has(row, col))
      atomicAdd(window.at(row, col), tile.at[i][j]);
  });
}

template <typename T, int rank>
__device__ T *elementOf(const Tensor &tensor, const i64 (&index)[rank]) {
  T *data = static_cast<T *>(tensor.data);
#pragma unroll
  for (int axis = 0; axis < rank; ++axis)
    data += index[axis] * tensor.strides[axis];
  return data;
}

} // namespace kiln
