//===- exchange.cuh - tiles whose elements change places ------------------------------------===//
//
// What a thread needs of a tile is not always what it holds. Then the tile is in shared memory, and
// each thread takes from there what its registers are to hold: an index map says where it lies.
// Reductions and scans along a line of such a tile are made by every thread that holds a result of
// the line, in the order of the line.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "shared.cuh"

namespace kiln {

/// `from(row, col)` for each element.
template <typename To, typename F> __device__ __forceinline__ To rearranged(F from) {
  using L = typename To::Layout;
  To result;
  forEach<L>([&](int i, int j) {
    typename To::Element value{};
    if (To::hasRow(i) && To::hasCol(j))
      value = from(L::row(i), L::col(j));
    result.at[i][j] = value;
  });
  return result;
}

template <typename To, typename From> __device__ To transposed(const From &x) {
  return rearranged<To>([&](int row, int col) { return x.get(col, row); });
}

/// The same elements, row by row, in another shape.
template <typename To, typename From> __device__ To reshapedTo(const From &x) {
  return rearranged<To>([&](int row, int col) {
    int number = row * To::Layout::cols + col;
    return x.get(number / From::cols, number % From::cols);
  });
}

/// A box that begins at (row, col).
template <typename To, typename From> __device__ To boxFrom(const From &x, i64 row, i64 col) {
  return rearranged<To>([&](int r, int c) { return x.get(int(row) + r, int(col) + c); });
}

/// `into`, with the box that begins at (row, col) replaced.
template <typename T, typename L, typename From>
__device__ Tile<T, L> inserted(const From &x, Tile<T, L> into, i64 row, i64 col) {
  forEach<L>([&](int i, int j) {
    i64 r = L::row(i) - row, c = L::col(j) - col;
    if (r >= 0 && r < From::rows && c >= 0 && c < From::cols)
      into.at[i][j] = x.get(int(r), int(c));
  });
  return into;
}

/// Element `index` of several tiles, one after the other along an axis.
template <int axis, typename T, typename First, typename... Rest>
__device__ __forceinline__ T fromJoined(int row, int col, const First &first, const Rest &...rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return first.get(row, col);
  } else {
    if (axis == 0 ? row < First::rows : col < First::cols)
      return first.get(row, col);
    return fromJoined<axis, T>(axis == 0 ? row - First::rows : row,
                               axis == 1 ? col - First::cols : col, rest...);
  }
}
template <typename To, int axis, typename... From> __device__ To joined(const From &...tiles) {
  return rearranged<To>(
      [&](int row, int col) { return fromJoined<axis, typename To::Element>(row, col, tiles...); });
}

/// Elements along an axis, at the places that `index` holds. One outside is the program's error.
template <typename To, int axis, typename From, typename I, typename L>
__device__ To taken(const From &x, const Tile<I, L> &index) {
  To result;
  constexpr int extent = axis == 0 ? From::rows : From::cols;
  forEach<L>([&](int i, int j) {
    int at = clamp(index.at[i][j], 0, extent - 1);
    int row = axis == 0 ? at : L::row(i), col = axis == 0 ? L::col(j) : at;
    typename To::Element value{};
    if (To::hasRow(i) && To::hasCol(j))
      value = x.get(row, col);
    result.at[i][j] = value;
  });
  return result;
}

//===-- Along lines -----------------------------------------------------------------------===//

/// Element `k` of the line along `axis` that goes through (row, col).
template <int axis, typename From>
__device__ __forceinline__ typename From::Element ofLine(const From &x, int row, int col, int k) {
  return axis == 0 ? x.get(k, col) : x.get(row, k);
}
template <int axis, typename From>
inline constexpr int lineLength = axis == 0 ? From::rows : From::cols;

template <typename To, int axis, typename F, typename From>
__device__ To reduceLines(F f, Compute<typename From::Element> identity, const From &x) {
  return rearranged<To>([&](int row, int col) {
    auto total = identity;
#pragma unroll 4
    for (int k = 0; k < lineLength<axis, From>; ++k)
      total = f(total, widen(ofLine<axis>(x, row, col, k)));
    return convert<typename To::Element>(total);
  });
}

/// Where the first of the greatest (or least) elements of each line is; a NaN is greater (less)
/// than anything.
template <typename To, int axis, bool greatest, typename From>
__device__ To findExtreme(const From &x) {
  return rearranged<To>([&](int row, int col) {
    int found = 0;
    auto best = widen(ofLine<axis>(x, row, col, 0));
    for (int k = 1; k < lineLength<axis, From>; ++k) {
      auto next = widen(ofLine<axis>(x, row, col, k));
      bool isBetter = (greatest ? next > best : next < best) || next != next;
      if (isBetter && best == best)
        best = next, found = k;
    }
    return typename To::Element(found);
  });
}

/// Walks along the lines of a tile that a thread has elements of: `step(row, col, k)` for each
/// element of a line in order, `keep(i, j)` when what came so far is what register [i][j] wants,
/// `begin` before each line. With `exclusive` an element does not count for its own register.
template <typename L, int axis, bool exclusive, bool reverse, typename Begin, typename Step,
          typename Keep>
__device__ __forceinline__ void walkLines(Begin begin, Step step, Keep keep) {
  constexpr int length = axis == 0 ? L::rows : L::cols;
  constexpr int kept = axis == 0 ? L::rowRegs : L::colRegs;
  forEachLine<L, axis>([&](int line) {
    begin(axis == 1 ? line : 0, axis == 0 ? line : 0);
    int next = 0;
#pragma unroll
    for (int number = 0; number < kept; ++number) {
      int at = reverse ? kept - 1 - number : number;
      int i = axis == 0 ? at : line, j = axis == 0 ? line : at;
      int place = axis == 0 ? L::row(i) : L::col(j);
      int end = (reverse ? length - 1 - place : place) + (exclusive ? 0 : 1);
      int row = L::row(i), col = L::col(j);
      bool isThere = (L::allRows || row < L::rows) && (L::allCols || col < L::cols);
      if (isThere) {
#pragma unroll 1
        for (; next < end; ++next) {
          int k = reverse ? length - 1 - next : next;
          step(axis == 0 ? k : row, axis == 0 ? col : k);
        }
        keep(i, j);
      }
    }
  });
}

/// The same for all elements of each line of a tile, of which one register remains.
template <typename L, int axis, typename From, typename Begin, typename Step, typename Keep>
__device__ __forceinline__ void reduceLinesInto(Begin begin, Step step, Keep keep) {
  forEach<L>([&](int i, int j) {
    int row = L::row(i), col = L::col(j);
    begin(i, j);
    bool isThere = (L::allRows || row < L::rows) && (L::allCols || col < L::cols);
    if (isThere) {
#pragma unroll 1
      for (int k = 0; k < lineLength<axis, From>; ++k)
        step(axis == 0 ? k : row, axis == 0 ? col : k);
      keep(i, j);
    }
  });
}

/// What `f` makes of the elements of a line so far.
template <typename To, int axis, bool exclusive, bool reverse, typename F, typename From>
__device__ To scanLines(F f, Compute<typename From::Element> identity, const From &x) {
  using L = typename To::Layout;
  To result{};
  auto total = identity;
  walkLines<L, axis, exclusive, reverse>(
      [&](int, int) { total = identity; },
      [&](int row, int col) { total = f(total, widen(x.get(row, col))); },
      [&](int i, int j) { result.at[i][j] = convert<typename To::Element>(total); });
  return result;
}

/// A number as a tile: what bodies of reductions and scans compute with.
template <typename One> __device__ __forceinline__ One single(typename One::Element value) {
  One result;
  result.at[0][0] = value;
  return result;
}
/// What begins the line through register [i][j]: the same for all lines, or a line of starts.
template <typename One, typename T, typename L>
__device__ __forceinline__ One startOf(const Tile<T, L> &starts, int i, int j) {
  return single<One>(starts.at[L::rowRegs == 1 ? 0 : i][L::colRegs == 1 ? 0 : j]);
}
template <typename One, typename T>
__device__ __forceinline__ One startOf(const T &start, int, int) {
  return single<One>(convert<typename One::Element>(start));
}

//===-- Order -----------------------------------------------------------------------------===//

/// Whether x comes strictly before y; NaN is last either way.
template <bool descending, typename T> __device__ __forceinline__ bool comesBefore(T x, T y) {
  if constexpr (isSame<T, float>) {
    if (y != y)
      return x == x;
  }
  return descending ? x > y : x < y;
}

/// The rows of a tile in order, and where their elements came from, as far as the results have
/// columns: each element counts those that come before it.
template <bool descending, typename From, typename Values, typename Columns>
__device__ void orderRows(const From &x, const Values &values, const Columns &columns, i64 lane) {
  beginFilling(lane);
  for (int number = threadInGroup(); number < From::rows * From::cols; number += kWarpgroup) {
    int row = number / From::cols, col = number % From::cols;
    auto given = x.get(row, col);
    auto mine = widen(given);
    int before = 0;
#pragma unroll 4
    for (int k = 0; k < From::cols; ++k) {
      auto other = widen(x.get(row, k));
      bool isFirst = comesBefore<descending>(other, mine) ||
                     (k < col && !comesBefore<descending>(mine, other));
      before += isFirst;
    }
    if (before < Values::cols) {
      values.set(row, before, given);
      columns.set(row, before, typename Columns::Element(col));
    }
  }
  finishFilling(lane);
}

//===-- Random numbers --------------------------------------------------------------------===//

/// Word `word` of the block `block` under `key`: Philox4x32-10.
inline __device__ unsigned philox(u64 key, u64 block, int word) {
  unsigned words[4] = {unsigned(block), unsigned(block >> 32), 0, 0};
  unsigned low = unsigned(key), high = unsigned(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    u64 even = u64(words[0]) * 0xD2511F53u, odd = u64(words[2]) * 0xCD9E8D57u;
    unsigned next[4] = {unsigned(odd >> 32) ^ words[1] ^ low, unsigned(odd),
                        unsigned(even >> 32) ^ words[3] ^ high, unsigned(even)};
#pragma unroll
    for (int k = 0; k < 4; ++k)
      words[k] = next[k];
    low += 0x9E3779B9u, high += 0xBB67AE85u;
  }
  return word < 2 ? (word == 0 ? words[0] : words[1]) : (word == 2 ? words[2] : words[3]);
}

/// The words of the blocks from `counter` on, row by row; as floats their upper 24 bits.
template <typename To> __device__ To random(u64 key, i64 counter) {
  return rearranged<To>([&](int row, int col) {
    int number = row * To::Layout::cols + col;
    unsigned word = philox(key, u64(counter) + number / 4, number % 4);
    if constexpr (isSame<typename To::Element, float>)
      return float(word >> 8) * 0x1p-24f;
    else
      return typename To::Element(word);
  });
}

namespace tile {

#define KILN_ALONG_LINES(name, identity, expression)                                               \
  template <typename To, int axis, typename From> __device__ To name##_lines(const From &x) {      \
    using T = Compute<typename From::Element>;                                                     \
    return reduceLines<To, axis>([](T x, T y) -> T { return expression; }, identity, x);           \
  }                                                                                                \
  template <typename To, int axis, bool exclusive, bool reverse, typename From>                    \
  __device__ To running_##name(const From &x) {                                                    \
    using T = Compute<typename From::Element>;                                                     \
    return scanLines<To, axis, exclusive, reverse>([](T x, T y) -> T { return expression; },       \
                                                   identity, x);                                   \
  }
KILN_ALONG_LINES(sum, T(0), kiln::add<T>(x, y))
KILN_ALONG_LINES(prod, T(1), kiln::times<T>(x, y))
// An exclusive scan begins with the least of the elements' type, which need not be an infinity.
KILN_ALONG_LINES(max, widen(least<typename From::Element>()), kiln::eitherLarger<T>(x, y))
KILN_ALONG_LINES(min, widen(greatest<typename From::Element>()), kiln::eitherSmaller<T>(x, y))
#undef KILN_ALONG_LINES

} // namespace tile
} // namespace kiln
