//===- register.cuh - tiles in the registers of a warpgroup ---------------------------===//
//
// A layout says which elements of an R x C tile a thread of a warpgroup holds: those in some of the
// rows, at some of the columns; register [i][j] is the element (row(i), col(j)). Tiles of one
// kernel have layouts of one family, so a column vector (R x 1) or a row of columns (1 x C) lies
// where the rows or columns of a whole tile do: broadcasting moves nothing.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "barrier.cuh"

namespace kiln {

//===-- Layouts -----------------------------------------------------------------------===//

/// What the matrix instructions of a warpgroup read and leave: each warp has 16 of 64 rows, each
/// thread two of them, 8 apart, and of every 8 columns a pair. Fewer than 64 rows leave warps idle.
struct Fragments {
  template <int R, int C> struct Of {
    static constexpr int rows = R, cols = C;
    static constexpr int width = C == 1 ? 1 : 2; ///< Neighbours a thread holds, at least.
    static constexpr int colStep = 8;            ///< From neighbours to the next ones.
    static constexpr int rowRegs = R == 1 ? 1 : 2 * ceilDivConstant(R, 64);
    static constexpr int colRegs = C == 1 ? 1 : 2 * ceilDivConstant(C, 8);
    static constexpr bool allRows = R == 1 || R % 64 == 0, allCols = C == 1 || C % 8 == 0;
    static constexpr int threadsPerRow = 4; ///< Neighbours in a warp.
    static constexpr bool isFragment = true;

    static __device__ int row(int i) {
      return R == 1 ? 0 : 64 * (i / 2) + 16 * warpInGroup() + 8 * (i % 2) + threadInWarp() / 4;
    }
    static __device__ int col(int j) {
      return C == 1 ? 0 : colsFromFirst(j) + 2 * (threadInWarp() % 4);
    }
    /// The same for all threads.
    static __device__ int colsFromFirst(int j) { return C == 1 ? 0 : 8 * (j / 2) + j % 2; }
    /// Whether this thread is the one to store what several hold.
    static __device__ bool isOwner() {
      return (C > 1 || threadInWarp() % 4 == 0) && (R > 1 || threadInGroup() < 4);
    }
  };
};

/// The same with rows and columns exchanged: the columns of a tile lie where the instructions have
/// their rows.
struct Exchanged {
  template <int R, int C> struct Of {
    using Turned = Fragments::Of<C, R>;
    static constexpr int rows = R, cols = C;
    static constexpr int width = 1;
    static constexpr int colStep = 0; ///< Columns are not evenly spaced.
    static constexpr int rowRegs = Turned::colRegs, colRegs = Turned::rowRegs;
    static constexpr bool allRows = Turned::allCols, allCols = Turned::allRows;
    static constexpr bool isFragment = false;

    static __device__ int row(int i) { return Turned::col(i); }
    static __device__ int col(int j) { return Turned::row(j); }
    static __device__ int colsFromFirst(int j) { return Turned::row(j) - Turned::row(0); }
    static __device__ bool isOwner() { return Turned::isOwner(); }
  };
};

/// `group` threads share a row, each with `neighbours` elements beside one another, so that a warp
/// reads and writes memory in one piece.
template <int group, int neighbours> struct Coalesced {
  static_assert(group >= 1 && group <= kWarpgroup && (group & (group - 1)) == 0,
                "the threads that share a row are a power of two, at most a warpgroup");
  template <int R, int C> struct Of {
    static constexpr int rows = R, cols = C;
    static constexpr int width = C == 1 ? 1 : neighbours;
    static constexpr int colStep = group * neighbours;
    static constexpr int step = kWarpgroup / group; ///< Rows that are held side by side.
    static constexpr int rowRegs = R == 1 ? 1 : ceilDivConstant(R, step);
    static constexpr int colRegs = C == 1 ? 1 : ceilDivConstant(C, group *neighbours) * neighbours;
    static constexpr bool allRows = R == 1 || R % step == 0,
                          allCols = C == 1 || C % (group * neighbours) == 0;
    static constexpr int threadsPerRow = group;
    static constexpr bool isFragment = false;

    static __device__ int row(int i) { return R == 1 ? 0 : i * step + threadInGroup() / group; }
    static __device__ int col(int j) {
      return C == 1 ? 0 : colsFromFirst(j) + threadInGroup() % group * neighbours;
    }
    /// The same for all threads.
    static __device__ int colsFromFirst(int j) {
      return C == 1 ? 0 : j / neighbours * group * neighbours + j % neighbours;
    }
    static __device__ bool isOwner() {
      return (C > 1 || threadInGroup() % group == 0) && (R > 1 || threadInGroup() < group);
    }
  };
};

//===-- Tiles -------------------------------------------------------------------------===//

template <typename T, typename L> struct Tile {
  using Element = T;
  using Layout = L;
  T at[L::rowRegs][L::colRegs];

  static __device__ bool hasRow(int i) { return L::allRows || L::row(i) < L::rows; }
  static __device__ bool hasCol(int j) { return L::allCols || L::col(j) < L::cols; }
};

/// Calls `f(i, j)` for every register of a layout.
template <typename L, typename F> __device__ __forceinline__ void forEach(F f) {
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
    for (int j = 0; j < L::colRegs; ++j)
      f(i, j);
}

/// Calls `f(i)` for every row, or every column, that a thread has registers of.
template <typename L, int axis, typename F> __device__ __forceinline__ void forEachLine(F f) {
#pragma unroll
  for (int i = 0; i < (axis == 1 ? L::rowRegs : L::colRegs); ++i)
    f(i);
}

/// The operand of an elementwise operation that belongs to register [i][j] of its result.
template <typename T, typename L>
__device__ __forceinline__ Compute<T> operand(const Tile<T, L> &tile, int i, int j) {
  return widen(tile.at[L::rowRegs == 1 ? 0 : i][L::colRegs == 1 ? 0 : j]);
}
template <typename T> __device__ __forceinline__ Compute<T> operand(T scalar, int, int) {
  return widen(scalar);
}

template <typename To, typename T> __device__ __forceinline__ To full(T value) {
  To result;
  forEach<typename To::Layout>(
      [&](int i, int j) { result.at[i][j] = convert<typename To::Element>(value); });
  return result;
}

template <typename To, int axis> __device__ __forceinline__ To iota() {
  using L = typename To::Layout;
  To result;
  forEach<L>([&](int i, int j) {
    int index = axis == 0 ? L::row(i) : L::col(j);
    if constexpr (isFloating<typename To::Element>)
      result.at[i][j] = convert<typename To::Element>(index);
    else
      result.at[i][j] = wrapped<typename To::Element>(index);
  });
  return result;
}

/// A tile whose elements are computed where they are used, for kernels that have no registers for
/// all of them: `f(i, j)` is what register [i][j] would hold. `Later<To>` asks for one.
template <typename T, typename L, typename F> struct LazyTile {
  using Element = T;
  using Layout = L;
  F f;
};
template <typename To> struct Later {
  using Element = typename To::Element;
  using Layout = typename To::Layout;
};
template <typename To> inline constexpr bool isLater = false;
template <typename To> inline constexpr bool isLater<Later<To>> = true;

template <typename T, typename L, typename F>
__device__ __forceinline__ Compute<T> operand(const LazyTile<T, L, F> &tile, int i, int j) {
  return widen(tile.f(L::rowRegs == 1 ? 0 : i, L::colRegs == 1 ? 0 : j));
}

/// `f(i, j)` for each register, at once or later.
template <typename To, typename F> __device__ __forceinline__ auto make(F f) {
  if constexpr (isLater<To>) {
    return LazyTile<typename To::Element, typename To::Layout, F>{f};
  } else {
    To result;
    forEach<typename To::Layout>([&](int i, int j) { result.at[i][j] = f(i, j); });
    return result;
  }
}

template <typename To, typename F, typename A>
__device__ __forceinline__ auto map(F f, const A &a) {
  return make<To>([=](int i, int j) { return convert<typename To::Element>(f(operand(a, i, j))); });
}

template <typename To, typename F, typename A, typename B>
__device__ __forceinline__ auto map(F f, const A &a, const B &b) {
  return make<To>([=](int i, int j) {
    return convert<typename To::Element>(f(operand(a, i, j), operand(b, i, j)));
  });
}

template <typename To, typename F, typename A, typename B, typename D>
__device__ __forceinline__ auto map(F f, const A &a, const B &b, const D &d) {
  return make<To>([=](int i, int j) {
    return convert<typename To::Element>(f(operand(a, i, j), operand(b, i, j), operand(d, i, j)));
  });
}

/// Elements of another type, one by one or, of 16 bits, two in a register.
template <typename T, typename From> struct CastOf {
  From from;
  __device__ __forceinline__ auto given(int i, int j) const {
    if constexpr (requires { from.at; })
      return from.at[i][j];
    else
      return from.f(i, j);
  }
  __device__ __forceinline__ T operator()(int i, int j) const { return convert<T>(given(i, j)); }
  __device__ __forceinline__ unsigned pair(int i, int j) const
    requires isHalf<T>
  {
    return convertPair<T>(widen(given(i, j)), widen(given(i, j + 1)));
  }
};

/// Where either is later, element by element.
template <typename To, typename From> __device__ __forceinline__ auto castLater(const From &tile) {
  return make<To>(CastOf<typename To::Element, From>{tile});
}
template <typename To, typename T, typename L>
__device__ __forceinline__ To cast(const Tile<T, L> &tile) {
  using Element = typename To::Element;
  To result;
  if constexpr (isHalf<Element> && isFloating<T> && L::colRegs % 2 == 0) {
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
      for (int j = 0; j < L::colRegs; j += 2)
        unpack(convertPair<Element>(widen(tile.at[i][j]), widen(tile.at[i][j + 1])),
               result.at[i][j], result.at[i][j + 1]);
  } else {
    forEach<L>([&](int i, int j) { result.at[i][j] = convert<Element>(tile.at[i][j]); });
  }
  return result;
}

/// The same tile, as what nothing is known of: what is computed of it is not kept from before.
template <typename T, typename L> __device__ __forceinline__ Tile<T, L> again(Tile<T, L> tile) {
  if constexpr (isHalf<T> && L::colRegs % 2 == 0) {
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
      for (int j = 0; j < L::colRegs; j += 2) {
        unsigned word = pack(tile.at[i][j], tile.at[i][j + 1]);
        ptx::forgetValue(word);
        unpack(word, tile.at[i][j], tile.at[i][j + 1]);
      }
  }
  return tile;
}

//===-- Masks -------------------------------------------------------------------------===//

/// `tile`, with `pad` outside the first rows and columns.
template <typename T, typename L>
__device__ __forceinline__ Tile<T, L> mask(Tile<T, L> tile, i64 rows, i64 cols, T pad) {
  if (rows >= L::rows && cols >= L::cols)
    return tile;
  // Compared in 32 bits: a tile is small. What depends on the thread is the same for all columns:
  // unsigned, or the compiler puts it on the side where it is different for each of them.
  int rowEnd = rows > L::rows ? L::rows : rows < 0 ? 0 : int(rows);
  int colEnd = cols > L::cols ? L::cols : cols < 0 ? 0 : int(cols);
  int end = int(unsigned(colEnd) - unsigned(L::col(0)));
  forEach<L>([&](int i, int j) {
    if (L::row(i) >= rowEnd || L::colsFromFirst(j) >= end)
      tile.at[i][j] = pad;
  });
  return tile;
}

/// `tile`, with `pad` where column > row + offset.
template <typename T, typename L>
__device__ __forceinline__ Tile<T, L> maskDiagonal(Tile<T, L> tile, i64 offset, T pad) {
  if (offset >= L::cols - 1)
    return tile;
  // A narrower number: rows and columns of a tile are far from its ends.
  int bound = offset > L::cols ? L::cols : offset < -L::rows ? -L::rows : int(offset);
  forEach<L>([&](int i, int j) {
    int last = int(unsigned(L::row(i)) + unsigned(bound) - unsigned(L::col(0)));
    if (L::colsFromFirst(j) > last)
      tile.at[i][j] = pad;
  });
  return tile;
}

//===-- Reductions --------------------------------------------------------------------===//

template <typename T> __device__ __forceinline__ T shuffleXor(T value, int distance) {
  if constexpr (sizeof(T) == 8) {
    return T(__shfl_xor_sync(0xffffffffu, value, distance));
  } else if constexpr (isSame<T, float>) {
    return __shfl_xor_sync(0xffffffffu, value, distance);
  } else {
    return T(__shfl_xor_sync(0xffffffffu, int(value), distance));
  }
}

/// What `f` makes of the numbers of all warps that share a row; each thread of a warp has its
/// warp's.
template <int threadsPerRow, typename F, typename T>
__device__ __forceinline__ T acrossWarps(F f, T value) {
  constexpr int warps = threadsPerRow / kWarp;
  __shared__ T parts[3][4]; // of a lane, of a warp
  // Not asked of the warp: so the compiler sees that a kernel of one lane needs one barrier.
  int lane = int(threadIdx.x) / kWarpgroup, first = warpInGroup() / warps * warps;
  barrier::meet(1 + lane); // what was there before has been read
  if (threadInWarp() == 0)
    parts[lane][warpInGroup()] = value;
  barrier::meet(1 + lane);
  value = parts[lane][first];
#pragma unroll
  for (int k = 1; k < warps; ++k)
    value = f(value, parts[lane][first + k]);
  return value;
}

/// What `f` makes of what the threads of a row have of it; each of them has all.
template <typename L, typename F, typename T>
__device__ __forceinline__ T acrossThreads(F f, T value) {
#pragma unroll
  for (int distance = 1; distance < L::threadsPerRow && distance < kWarp; distance *= 2)
    value = f(value, shuffleXor(value, distance));
  if constexpr (L::threadsPerRow > kWarp)
    value = acrossWarps<L::threadsPerRow>(f, value);
  return value;
}

/// What `f` makes of all that a thread has of a row.
template <typename F, typename T, typename L>
__device__ __forceinline__ Compute<T> partOfRow(F f, Compute<T> identity, const Tile<T, L> &tile,
                                                int i) {
  // A number waits for the one before it: so several rows, or parts of a row, at once.
  constexpr int parts =
      L::rowRegs > 2 || L::colRegs % 4 != 0 || L::colRegs < 16 ? 1 : 4 / L::rowRegs;
  Compute<T> part[parts];
#pragma unroll
  for (int k = 0; k < parts; ++k)
    part[k] = identity;
#pragma unroll
  for (int j = 0; j < L::colRegs; ++j)
    if (tile.hasCol(j))
      part[j % parts] = f(part[j % parts], widen(tile.at[i][j]));
  Compute<T> total = part[0];
#pragma unroll
  for (int k = 1; k < parts; ++k)
    total = f(total, part[k]);
  return total;
}

/// Along the columns: what remains is R x 1, in every thread that has part of the row. `isPart`:
/// each has its part of the result only.
template <typename To, bool isPart = false, typename F, typename T, typename L>
__device__ __forceinline__ To reduceCols(F f, Compute<T> identity, const Tile<T, L> &tile) {
  static_assert(To::Layout::rowRegs == L::rowRegs, "a row's result lies where the row does");
  To result;
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i) {
    Compute<T> total = partOfRow(f, identity, tile, i);
    if constexpr (L::cols > 1 && !isPart)
      total = acrossThreads<L>(f, total);
    result.at[i][0] = convert<typename To::Element>(total);
  }
  return result;
}

} // namespace kiln
