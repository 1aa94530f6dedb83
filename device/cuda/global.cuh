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
/// Set by the runtime where nothing that may still run when the kernel begins writes the tensor.
inline constexpr unsigned short kMayReadAhead = 0x4000;
inline __device__ bool mayReadAhead(const Tensor &tensor) { return tensor.flags & kMayReadAhead; }

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
  __device__ bool hasAllCols() const { return colBegin == 0 && colEnd == C; }
  __device__ bool has(int row, int col) const {
    return row >= rowBegin && row < rowEnd && col >= colBegin && col < colEnd;
  }
  __device__ T *at(int row, int col) const { return data + row * rowStride + col * colStride; }
  /// The same, of which the compiler knows nothing: it would compute the places of all elements
  /// before the loop around it and keep them, in more registers than there are.
  __device__ Window opaque() const {
    Window copy = *this;
    ptx::forgetValues(copy.rowStride, copy.colStride);
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
  // Never before its begin: whoever counts columns takes the difference.
  result.colEnd = clamp(smaller(colExtent - colIndex, cols), result.colBegin, C);
  return result;
}

/// A tile whose rows lie anywhere in a tensor: row r of it is row `first + numbers[r]`.
template <typename T, int R, int C, typename I> struct RowsWindow {
  Window<T, R, C> part; ///< As if the rows followed one another, from `first` on.
  i64 first, rowExtent;
  const I *numbers;
  i64 numberStride;
  int numberBegin, numberEnd; ///< For which rows there are numbers that count.

  /// The row of the tensor, from `first` on; false: there is none.
  __device__ bool find(int row, i64 &number) const {
    if (row < numberBegin || row >= numberEnd)
      return false;
    i64 given = numbers[row * numberStride];
    number = given;
    return given >= 0 && first + given >= 0 && first + given < rowExtent;
  }
  __device__ bool has(int row, int col) const {
    i64 number;
    return col >= part.colBegin && col < part.colEnd && find(row, number);
  }
  __device__ T *at(int row, int col) const {
    return part.data + i64(numbers[row * numberStride]) * part.rowStride + col * part.colStride;
  }
};

/// The rows of `tensor` from `index` on whose numbers are in `numbers`, from `at` on.
template <typename T, int R, int C, typename I, int rank, int numberRank>
__device__ RowsWindow<T, R, C, I> rowsWindow(const Tensor &tensor, const i64 (&index)[rank],
                                             const Tensor &numbers, const i64 (&at)[numberRank],
                                             i64 rows = R, i64 cols = C) {
  RowsWindow<T, R, C, I> result;
  result.part = window<T, R, C>(tensor, index, R, cols);
  result.first = index[rank - 2], result.rowExtent = tensor.extents[rank - 2];
  Window<I, 1, R> list = window<I, 1, R>(numbers, at, 1, rows);
  result.numbers = list.data, result.numberStride = list.colStride;
  bool isThere = list.rowEnd > list.rowBegin;
  for (int axis = 0; axis < rank - 2; ++axis)
    isThere &= index[axis] >= 0 && index[axis] < tensor.extents[axis];
  result.numberBegin = list.colBegin, result.numberEnd = isThere ? list.colEnd : 0;
  return result;
}

/// What is in a kernel's argument block is read once, before it is needed: the first look takes as
/// long as one at global memory.
inline __device__ void look(const Tensor &tensor) {
  ptx::look(tensor.data);
  ptx::look(tensor.extents[0]);
  ptx::look(tensor.strides[0]);
}

//===-- Views ---------------------------------------------------------------------------===//

/// A box of a tensor. `kept`: the axes that the result has, by bits.
template <unsigned kept, int rank>
__device__ Tensor slice(const Tensor &tensor, const i64 (&offsets)[rank], const i64 (&sizes)[rank],
                        int elementBytes) {
  Tensor result{};
  i64 start = 0;
  int to = 0;
#pragma unroll
  for (int axis = 0; axis < rank; ++axis) {
    start += offsets[axis] * tensor.strides[axis];
    if (kept >> axis & 1) {
      result.extents[to] = sizes[axis], result.strides[to] = tensor.strides[axis];
      ++to;
    }
  }
  result.data = static_cast<char *>(tensor.data) + start * elementBytes;
  result.dtype = tensor.dtype, result.rank = to;
  return result;
}

/// The axes in another order.
template <int... axes> __device__ Tensor permuted(const Tensor &tensor) {
  Tensor result{};
  int to = 0;
  ((result.extents[to] = tensor.extents[axes], result.strides[to] = tensor.strides[axes], ++to),
   ...);
  result.data = tensor.data, result.dtype = tensor.dtype, result.rank = to;
  return result;
}

/// Another shape of a tensor without gaps.
template <int rank> __device__ Tensor reshaped(const Tensor &tensor, const i64 (&sizes)[rank]) {
  Tensor result{};
  i64 stride = 1;
#pragma unroll
  for (int axis = rank - 1; axis >= 0; --axis) {
    result.extents[axis] = sizes[axis], result.strides[axis] = stride;
    stride *= sizes[axis];
  }
  result.data = tensor.data, result.dtype = tensor.dtype, result.rank = rank;
  return result;
}

//===-- Several elements at once --------------------------------------------------------===//

template <int bytes> struct BitsOfSize;
template <> struct BitsOfSize<1> {
  using Type = unsigned char;
};
template <> struct BitsOfSize<2> {
  using Type = unsigned short;
};
template <> struct BitsOfSize<4> {
  using Type = unsigned;
};
template <> struct BitsOfSize<8> {
  using Type = u64;
};
template <int bytes> using BitsOf = typename BitsOfSize<bytes>::Type;

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

/// How often a kernel touches what it loads or stores. What it touches once need not stay in a
/// cache, where it would take the place of what others touch again.
enum class Touched { Often, Once };

/// The words of `count` elements beside one another.
template <Touched touched, int count, typename T>
__device__ __forceinline__ void readWords(const T *from, unsigned *to) {
  constexpr int bytes = pieceBytes<T, count>(), words = bytes / 4, each = bytes / sizeof(T);
  using Piece = typename WordsOf<bytes>::Type;
#pragma unroll
  for (int piece = 0; piece < count / each; ++piece) {
    const auto *at = reinterpret_cast<const Piece *>(from + piece * each);
    Piece read;
    if constexpr (touched == Touched::Once && bytes == 16)
      read = ptx::loadStreaming(at);
    else
      read = *at;
    const unsigned *word = reinterpret_cast<const unsigned *>(&read);
#pragma unroll
    for (int k = 0; k < words; ++k)
      to[piece * words + k] = word[k];
  }
}

template <Touched touched, int count, typename T>
__device__ __forceinline__ void writeWords(T *to, const unsigned *from) {
  constexpr int bytes = pieceBytes<T, count>(), words = bytes / 4, each = bytes / sizeof(T);
  using Piece = typename WordsOf<bytes>::Type;
#pragma unroll
  for (int piece = 0; piece < count / each; ++piece) {
    Piece written;
    unsigned *word = reinterpret_cast<unsigned *>(&written);
#pragma unroll
    for (int k = 0; k < words; ++k)
      word[k] = from[piece * words + k];
    auto *at = reinterpret_cast<Piece *>(to + piece * each);
    if constexpr (touched == Touched::Once && bytes == 16)
      ptx::storeStreaming(at, written);
    else
      *at = written;
  }
}

/// Elements as words, and back: two of 16 bits share one.
template <typename T, int count>
__device__ __forceinline__ void toWords(const T (&from)[count], unsigned *to) {
#pragma unroll
  for (int k = 0; k < count * int(sizeof(T)) / 4; ++k)
    if constexpr (sizeof(T) == 2)
      to[k] = pack(from[2 * k], from[2 * k + 1]);
    else
      to[k] = reinterpret_cast<const unsigned &>(from[k]);
}
template <typename T, int count>
__device__ __forceinline__ void fromWords(const unsigned *from, T *to) {
#pragma unroll
  for (int k = 0; k < count * int(sizeof(T)) / 4; ++k)
    if constexpr (sizeof(T) == 2)
      unpack(from[k], to[2 * k], to[2 * k + 1]);
    else
      to[k] = reinterpret_cast<const T &>(from[k]);
}

template <typename T, typename L>
inline constexpr bool canBeWide = (sizeof(T) == 2 || sizeof(T) == 4) && L::width > 1 &&
                                  L::allCols &&pieceBytes<T, L::width>() > 0;

//===-- Load, store ---------------------------------------------------------------------===//

/// `L::width` neighbours from register [i][j] on, each if it is there.
template <typename L, typename T, int R, int C, int width = L::width>
__device__ __forceinline__ void loadSingly(const Window<T, R, C> &window, T pad, int i, int j,
                                           T (&to)[width]) {
  Window<T, R, C> from = window.opaque();
  int row = L::row(i), col = L::col(j);
  const T *at = from.at(row, col);
  bool hasRow = row >= from.rowBegin && row < from.rowEnd;
  unsigned first = col - from.colBegin, count = hasRow ? from.colEnd - from.colBegin : 0;
#pragma unroll
  for (int k = 0; k < width; ++k, at += from.colStride)
    to[k] = first + k < count ? *at : pad;
}

/// Whether all of a tile can be moved in pieces; so it is where it is never moved so.
template <typename Tile, typename T, int R, int C>
__device__ __forceinline__ bool isWhole(const Window<T, R, C> &window) {
  using L = typename Tile::Layout;
  if constexpr (canBeWide<T, L>)
    return window.isWhole() && window.isAligned(pieceBytes<T, L::width>());
  else
    return true;
}

/// The elements of a tile that a thread holds, as words: of 16 bits each would need a register.
template <typename L, typename T> struct WordsOfTile {
  static constexpr int each = L::width * int(sizeof(T)) / 4; ///< Of neighbours.
  unsigned word[L::rowRegs][L::colRegs / L::width * each];

  __device__ unsigned *at(int i, int j) { return &word[i][j / L::width * each]; }

  template <Touched touched, int R, int C>
  __device__ __forceinline__ void readPieces(const Window<T, R, C> &window, T pad) {
    T none[L::width];
#pragma unroll
    for (int k = 0; k < L::width; ++k)
      none[k] = pad;
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
      for (int j = 0; j < L::colRegs; j += L::width)
        if (L::allRows || L::row(i) < L::rows)
          readWords<touched, L::width>(window.at(L::row(i), L::col(j)), at(i, j));
        else
          toWords(none, at(i, j));
  }

  __device__ __forceinline__ Tile<T, L> elements() {
    Tile<T, L> tile;
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
      for (int j = 0; j < L::colRegs; j += L::width)
        fromWords<T, L::width>(at(i, j), &tile.at[i][j]);
    return tile;
  }
};

template <typename To, Touched touched = Touched::Often, int R, int C>
__device__ __forceinline__ To load(const Window<typename To::Element, R, C> &window,
                                   typename To::Element pad) {
  using T = typename To::Element;
  using L = typename To::Layout;
  if constexpr (canBeWide<T, L>) {
    WordsOfTile<L, T> words; // one branch for all of the tile
    if (isWhole<To>(window)) [[likely]] {
      words.template readPieces<touched>(window, pad);
    } else {
#pragma unroll
      for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
        for (int j = 0; j < L::colRegs; j += L::width) {
          T piece[L::width];
          loadSingly<L>(window, pad, i, j, piece);
          toWords(piece, words.at(i, j));
        }
    }
    return words.elements();
  } else {
    To result;
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
      for (int j = 0; j < L::colRegs; j += L::width) {
        T piece[L::width];
        loadSingly<L>(window, pad, i, j, piece);
#pragma unroll
        for (int k = 0; k < L::width; ++k)
          result.at[i][j + k] = piece[k];
      }
    return result;
  }
}

/// Element by element, where each is used.
template <typename To, typename T, int R, int C>
__device__ __forceinline__ auto loadLater(const Window<T, R, C> &window, T pad) {
  using L = typename To::Layout;
  return make<To>([=](int i, int j) {
    int row = L::row(i), col = L::col(j);
    return window.has(row, col) ? *window.at(row, col) : pad;
  });
}

/// The same as `load`, of a window that `isWhole`. Later: each piece where its elements are used.
template <typename To, Touched touched = Touched::Often, int R, int C>
__device__ __forceinline__ auto loadWhole(const Window<typename To::Element, R, C> &window,
                                          typename To::Element pad) {
  using T = typename To::Element;
  using L = typename To::Layout;
  if constexpr (isLater<To> && canBeWide<T, L>) {
    return make<To>([=](int i, int j) {
      if (!L::allRows && L::row(i) >= L::rows)
        return pad;
      unsigned words[L::width * int(sizeof(T)) / 4];
      readWords<touched, L::width>(window.at(L::row(i), L::col(j / L::width * L::width)), words);
      T piece[L::width];
      fromWords<T, L::width>(words, piece);
      return piece[j % L::width];
    });
  } else if constexpr (isLater<To>) {
    return loadLater<To>(window, pad);
  } else if constexpr (canBeWide<T, L>) {
    WordsOfTile<L, T> words;
    words.template readPieces<touched>(window, pad);
    return words.elements();
  } else {
    return load<To, touched>(window, pad);
  }
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
      if (int row = L::row(i); tile.hasRow(i) && row >= window.rowBegin && row < window.rowEnd)
        *reinterpret_cast<uint4 *>(window.at(row, 4 * j + 8 * (threadInWarp() % 4))) =
            make_uint4(word[0], word[1], word[2], word[3]);
    }
}

/// To a window that `isWhole`.
template <Touched touched = Touched::Often, typename T, typename L, int R, int C>
__device__ __forceinline__ void storePieces(const Tile<T, L> &tile, const Window<T, R, C> &window) {
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
    for (int j = 0; j < L::colRegs; j += L::width)
      if (tile.hasRow(i)) {
        T piece[L::width];
#pragma unroll
        for (int k = 0; k < L::width; ++k)
          piece[k] = tile.at[i][j + k];
        unsigned word[L::width * int(sizeof(T)) / 4];
        toWords(piece, word);
        writeWords<touched, L::width>(window.at(L::row(i), L::col(j)), word);
      }
}

template <Touched touched = Touched::Often, typename T, typename L, int R, int C>
__device__ __forceinline__ void store(const Tile<T, L> &tile, const Window<T, R, C> &window) {
  if constexpr (L::isFragment && sizeof(T) == 2 && R > 1 && C % 32 == 0) {
    if (window.hasAllCols() && window.isAligned(16)) [[likely]]
      return storeTraded(tile, window);
  }
  if (!L::isOwner())
    return;
  if constexpr (canBeWide<T, L>) {
    if (isWhole<Tile<T, L>>(window)) [[likely]]
      return storePieces<touched>(tile, window);
  }
  if constexpr (L::colStep == 0) {
    // Each row and each column is looked at once: what is done for each element is code that a
    // kernel comes to at its end, when it has not been fetched.
    Window<T, R, C> to = window.opaque();
    i64 fromFirst[L::colRegs];
    bool hasCol[L::colRegs];
#pragma unroll
    for (int j = 0; j < L::colRegs; ++j) {
      int col = L::col(j);
      fromFirst[j] = col * to.colStride * int(sizeof(T));
      ptx::forgetValue(fromFirst[j]);
      hasCol[j] = col >= to.colBegin && col < to.colEnd;
    }
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i) {
      int row = L::row(i);
      auto first = reinterpret_cast<i64>(to.at(row, 0));
      ptx::forgetValue(first);
      bool hasRow = row >= to.rowBegin && row < to.rowEnd;
#pragma unroll
      for (int j = 0; j < L::colRegs; ++j)
        if (hasRow && hasCol[j])
          *reinterpret_cast<T *>(first + fromFirst[j]) = tile.at[i][j];
    }
    return;
  }
  // Pointers that move, and one comparison for each element: products for each would be most of the
  // kernel's code, and of the time that compiling it takes.
  Window<T, R, C> to = window.opaque();
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i) {
    int row = L::row(i);
    T *at = to.at(row, L::col(0));
    unsigned first = L::col(0) - to.colBegin,
             count = row >= to.rowBegin && row < to.rowEnd ? to.colEnd - to.colBegin : 0;
#pragma unroll
    for (int j = 0; j < L::colRegs;
         j += L::width, first += L::colStep, at += L::colStep * to.colStride)
#pragma unroll
      for (int k = 0; k < L::width; ++k)
        if (first + k < count)
          at[k * to.colStride] = tile.at[i][j + k];
  }
}

template <Touched touched = Touched::Often, typename T, typename L, int R, int C>
__device__ __forceinline__ void storeWhole(const Tile<T, L> &tile, const Window<T, R, C> &window) {
  if constexpr (canBeWide<T, L>) {
    if (L::isOwner())
      storePieces<touched>(tile, window);
  } else {
    store<touched>(tile, window);
  }
}

/// Piece by piece, each computed when it is stored.
template <Touched touched = Touched::Often, typename T, typename L, typename F, int R, int C>
__device__ __forceinline__ void storeWhole(const LazyTile<T, L, F> &tile,
                                           const Window<T, R, C> &window) {
  if constexpr (canBeWide<T, L>) {
    if (!L::isOwner())
      return;
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
      for (int j = 0; j < L::colRegs; j += L::width) {
        unsigned word[L::width * int(sizeof(T)) / 4];
        if constexpr (requires { tile.f.pair(0, 0); }) {
#pragma unroll
          for (int k = 0; k < L::width / 2; ++k)
            word[k] = tile.f.pair(i, j + 2 * k);
        } else {
          T piece[L::width];
#pragma unroll
          for (int k = 0; k < L::width; ++k)
            piece[k] = tile.f(i, j + k);
          toWords(piece, word);
        }
        if (L::allRows || L::row(i) < L::rows)
          writeWords<touched, L::width>(window.at(L::row(i), L::col(j)), word);
      }
  } else {
    store<touched>(tile, window);
  }
}

/// Element by element, each computed when it is stored.
template <Touched touched = Touched::Often, typename T, typename L, typename F, int R, int C>
__device__ __forceinline__ void store(const LazyTile<T, L, F> &tile,
                                      const Window<T, R, C> &window) {
  if (!L::isOwner())
    return;
  Window<T, R, C> to = window.opaque();
  forEach<L>([&](int i, int j) {
    int row = L::row(i), col = L::col(j);
    if (to.has(row, col))
      *to.at(row, col) = tile.f(i, j);
  });
}

/// Adds to one element, which others may add to at the same time.
template <typename T> __device__ __forceinline__ void addTo(T *to, T value) {
  if constexpr (isSame<T, float>) {
    atomicAdd(to, value);
  } else if constexpr (sizeof(T) == 4) {
    atomicAdd(reinterpret_cast<unsigned *>(to), reinterpret_cast<unsigned &>(value));
  } else if constexpr (sizeof(T) == 8) {
    atomicAdd(reinterpret_cast<u64 *>(to), reinterpret_cast<u64 &>(value));
  } else {
    // A part of a word: exchanged with the word as it should be, until nobody came in between.
    auto *word = reinterpret_cast<unsigned *>(u64(to) & ~u64(3));
    unsigned shift = unsigned(u64(to) & 3) * 8, mask = ((1u << (8 * sizeof(T))) - 1) << shift;
    unsigned seen = *const_cast<volatile unsigned *>(word), expected;
    do {
      expected = seen;
      using Bits = BitsOf<sizeof(T)>;
      Bits old = static_cast<Bits>((expected & mask) >> shift);
      T sum = convert<T>(kiln::add(widen(reinterpret_cast<T &>(old)), widen(value)));
      unsigned changed = (expected & ~mask) | unsigned(reinterpret_cast<Bits &>(sum)) << shift;
      seen = atomicCAS(word, expected, changed);
    } while (seen != expected);
  }
}

/// Adds to what is there; the order in which blocks do is not fixed.
template <typename T, typename L, typename Where>
__device__ __forceinline__ void storeAdding(const Tile<T, L> &tile, const Where &window) {
  if (!L::isOwner())
    return;
  forEach<L>([&](int i, int j) {
    int row = L::row(i), col = L::col(j);
    if (window.has(row, col))
      addTo(window.at(row, col), tile.at[i][j]);
  });
}

/// Rows from anywhere.
template <typename To, int R, int C, typename I>
__device__ __forceinline__ To load(const RowsWindow<typename To::Element, R, C, I> &window,
                                   typename To::Element pad) {
  using L = typename To::Layout;
  To result;
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i) {
    i64 number = 0;
    bool isThere = window.find(L::row(i), number);
    const typename To::Element *row = window.part.data + number * window.part.rowStride;
#pragma unroll
    for (int j = 0; j < L::colRegs; ++j) {
      int col = L::col(j);
      bool has = isThere && col >= window.part.colBegin && col < window.part.colEnd;
      result.at[i][j] = has ? row[col * window.part.colStride] : pad;
    }
  }
  return result;
}

/// Rows to anywhere.
template <typename T, typename L, int R, int C, typename I>
__device__ __forceinline__ void store(const Tile<T, L> &tile,
                                      const RowsWindow<T, R, C, I> &window) {
  if (!L::isOwner())
    return;
  forEach<L>([&](int i, int j) {
    int row = L::row(i), col = L::col(j);
    if (window.has(row, col))
      *window.at(row, col) = tile.at[i][j];
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
