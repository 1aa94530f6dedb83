//===- wgmma.cuh - one step of a matrix product -------------------------------------------===//
//
// `multiply` issues the instructions for one pair of tiles and waits for them, `start` and `await`
// do so one after the other; the accumulator is in registers (Fragments), the right operand in
// shared memory, the left one in either. Of 8-bit floats it takes rows that lie along K in shared
// memory. What it does not take (other types, other extents) the threads multiply themselves,
// exactly: then both operands are in shared memory. Loops over K are the program's.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "shared.cuh"

namespace kiln {

namespace wgmma {

/// How many columns of K one instruction sums.
template <typename T> inline constexpr int depthOf = 32 / int(sizeof(T));

template <typename T>
inline constexpr ptx::Element elementOf = isSame<T, bf16>     ? ptx::Element::Bf16
                                          : isSame<T, f16>    ? ptx::Element::F16
                                          : isSame<T, f8e4m3> ? ptx::Element::E4m3
                                                              : ptx::Element::E5m2;

/// How the matrix unit finds what lies `offset` bytes behind the beginning of a tile: where, how
/// far rows of eights (`stride`) and panels (`leading`) are apart, and how it is swizzled. The
/// address is shifted before the offset, which most callers know, is added: so a tile's descriptors
/// differ by one addition, in the low half, which never carries into what is beside it.
inline __device__ u64 descriptor(SharedAddress tile, int offset, unsigned leading, unsigned stride,
                                 int rowBytes) {
  unsigned swizzle = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
  unsigned low = ((tile & 0x3ffff) >> 4 | (leading >> 4) << 16) + unsigned(offset >> 4);
  unsigned high = stride >> 4 | swizzle << 30;
  return u64(high) << 32 | low;
}

/// Whose rows are those of the product, or its columns, and whose columns are summed over, from `k`
/// on. `outer`: the first row.
template <typename T, int R, int C, int panelRows>
__device__ u64 alongRows(const Shared<T, R, C, panelRows> &tile, int outer, int k) {
  using Tile = Shared<T, R, C, panelRows>;
  int offset = k / Tile::panelCols * Tile::panelBytes + outer * Tile::rowBytes +
               k % Tile::panelCols * int(sizeof(T));
  return descriptor(tile.base, offset, 16, 8 * Tile::rowBytes, Tile::rowBytes);
}

/// The other way round: its rows are summed over. `outer`: the first column, that of a panel.
template <typename T, int R, int C, int panelRows>
__device__ u64 alongCols(const Shared<T, R, C, panelRows> &tile, int outer, int k) {
  using Tile = Shared<T, R, C, panelRows>;
  int offset = outer / Tile::panelCols * Tile::panelBytes + k * Tile::rowBytes;
  return descriptor(tile.base, offset, Tile::panelBytes, 8 * Tile::rowBytes, Tile::rowBytes);
}

/// The widest instruction for `cols` columns, of which each begins where a panel does if the panels
/// are of `unit` columns.
inline __host__ __device__ constexpr int widthOf(int cols, int unit) {
  for (int width = cols < 256 ? cols : 256; width >= 8; width -= 8)
    if (width == cols || width % unit == 0)
      return width;
  return 0;
}

/// Registers that the matrix unit writes stay where they are until it is done.
template <typename L> __device__ __forceinline__ void pin(Tile<float, L> &tile) {
  forEach<L>([&](int i, int j) { ptx::pin(tile.at[i][j]); });
}

/// A left operand in registers, as the instructions take it: for each 64 rows and each 16 columns
/// four words. All are made before the first instruction, which must not wait for one.
template <int blocks, int K> struct LeftOperand {
  unsigned words[blocks][K / 16][4];

  template <typename T, typename L> __device__ explicit LeftOperand(const Tile<T, L> &a) {
#pragma unroll
    for (int block = 0; block < blocks; ++block)
#pragma unroll
      for (int k = 0; k < K; k += 16)
#pragma unroll
        for (int word = 0; word < 4; ++word) {
          const T *pair = &a.at[2 * block + word % 2][k / 4 + word / 2 * 2];
          unsigned &packed = words[block][k / 16][word];
          packed = pack(pair[0], pair[1]);
          ptx::pin(packed);
        }
  }
};
/// Whether the matrix unit reads a left operand where it is: whole blocks of 64 rows.
template <bool transposeA, typename A> inline constexpr bool isReadInPlace = false;
template <typename T, int R, int C, int panelRows>
inline constexpr bool isReadInPlace<false, Shared<T, R, C, panelRows>> =
    R % 64 == 0 && Shared<T, R, C, panelRows>::hasAlignedPanels;

/// A left operand in shared memory as rows in registers.
template <bool transposeA, int M, int K, typename A>
__device__ Tile<typename A::Element, Fragments::Of<M, K>> rowsOf(const A &a) {
  using To = Tile<typename A::Element, Fragments::Of<M, K>>;
  using L = typename To::Layout;
  To result;
  forEach<L>([&](int i, int j) {
    typename A::Element value{};
    if (To::hasRow(i) && To::hasCol(j))
      value = transposeA ? a.get(L::col(j), L::row(i)) : a.get(L::row(i), L::col(j));
    result.at[i][j] = value;
  });
  return result;
}

/// One in shared memory stays there if it can.
template <bool transposeA, int M, int K, typename A> __device__ auto leftOperand(const A &a) {
  if constexpr (isReadInPlace<transposeA, A> || requires { a.words; })
    return a;
  else if constexpr (requires { a.get(0, 0); })
    return LeftOperand<ceilDivConstant(M, 64), K>(rowsOf<transposeA, M, K>(a));
  else
    return LeftOperand<ceilDivConstant(M, 64), K>(a);
}

template <int col, bool transposeB, typename B> __device__ u64 operandB(const B &b, int k) {
  if constexpr (transposeB) // given as N x K
    return alongRows(b, col, k);
  else
    return alongCols(b, col, k);
}

/// The columns from `col` on: all of K for all rows. `fromZero`: whatever the accumulator holds.
template <int col, bool transposeB, int K, bool fromZero, typename L, typename A, typename B>
__device__ __forceinline__ void columns(Tile<float, L> &acc, const A &a, const B &b) {
  using T = typename B::Element;
  constexpr int width = widthOf(L::cols - col, transposeB ? 8 : B::panelCols);
  using Step = ptx::Wgmma<width, elementOf<T>>;
  static_assert(L::rowRegs >= 2, "an instruction makes two rows of each thread");
  static_assert(width > 0, "a product has a multiple of 8 columns; of a right operand that is not "
                           "transposed, whole panels");
#pragma unroll
  for (int block = 0; block < L::rowRegs / 2; ++block)
#pragma unroll
    for (int k = 0; k < K; k += 16) {
      float *low = &acc.at[2 * block][col / 4], *high = &acc.at[2 * block + 1][col / 4];
      u64 right = operandB<col, transposeB>(b, k);
      int accumulate = !fromZero || k > 0;
      if constexpr (requires { a.base; }) {
        Step::template run<0, !transposeB>(low, high, alongRows(a, 64 * block, k), right,
                                           accumulate, A::rows - 64 * block);
      } else {
        Step::template run<!transposeB>(low, high, a.words[block][k / 16], right, accumulate);
      }
    }
  if constexpr (col + width < L::cols)
    columns<col + width, transposeB, K, fromZero>(acc, a, b);
}

/// The only row of a tile in registers as each of the 64 rows that an instruction takes: every
/// thread holds that row anyway.
template <int cols, typename T, typename L>
__device__ __forceinline__ Tile<T, Fragments::Of<64, cols>> asAllRows(const Tile<T, L> &row) {
  static_assert(L::rows == 1 && L::isFragment);
  Tile<T, Fragments::Of<64, cols>> result;
  forEach<Fragments::Of<64, cols>>([&](int i, int j) { result.at[i][j] = row.at[0][j]; });
  return result;
}
template <bool transposeA, int K, typename A> __device__ __forceinline__ auto onlyRow(const A &a) {
  if constexpr (requires { a.get(0, 0); })
    return rowsOf<transposeA, 1, K>(a);
  else
    return a;
}

/// The same registers, as those of the transposed tile.
template <typename To, typename T, typename L>
__device__ __forceinline__ Tile<T, To> turned(const Tile<T, L> &tile) {
  Tile<T, To> result;
  forEach<To>([&](int i, int j) { result.at[i][j] = tile.at[j][i]; });
  return result;
}

/// Whether the matrix unit can make a product with this right operand.
template <bool transposeB, typename T, int N, typename B>
inline constexpr bool isForUnit = isSame<T, float> && isHalf<typename B::Element> && N % 8 == 0 &&
                                  (transposeB ? B::cols : B::rows) % 16 == 0 && B::hasAlignedPanels;

/// Whether the unit takes 8-bit floats as they are: rows along K on both sides, 64 on the left.
template <bool transposeB, bool transposeA, typename T, int N, typename A, typename B>
inline constexpr bool isOfEights = false;
template <typename T, int N, typename F, int M, int K, int rowsA, int R, int rowsB>
inline constexpr bool
    isOfEights<true, false, T, N, Shared<F, M, K, rowsA>, Shared<F, R, K, rowsB>> =
        isSame<T, float> && isF8<F> && N % 8 == 0 && K % depthOf<F> == 0 &&
        isReadInPlace<false, Shared<F, M, K, rowsA>> && Shared<F, R, K, rowsB>::hasAlignedPanels;

/// Products of 8-bit floats, for the columns from `col` on. The unit keeps fewer bits of their sums
/// than an f32 has. So it sums no more than `depth` columns of K, in registers of their own, and
/// the threads add that to the accumulator; meanwhile the unit works for another lane.
template <int col, typename L, typename A, typename B>
__device__ __forceinline__ void columnsOfEights(Tile<float, L> &acc, const A &a, const B &b) {
  using T = typename B::Element;
  constexpr int depth = 128, most = 128, rest = L::cols - col, width = rest < most ? rest : most;
  using Part = Fragments::Of<64, width>;
  using Step = ptx::Wgmma<width, elementOf<T>>;
#pragma unroll
  for (int block = 0; block < L::rowRegs / 2; ++block)
#pragma unroll
    for (int first = 0; first < B::cols; first += depth) {
      Tile<float, Part> part;
      pin(part);
      ptx::wgmmaFence();
#pragma unroll
      for (int k = first; k < B::cols && k < first + depth; k += depthOf<T>)
        Step::template run<0, 0>(part.at[0], part.at[1], alongRows(a, 64 * block, k),
                                 alongRows(b, col, k), k > first, A::rows - 64 * block);
      ptx::wgmmaCommit();
      ptx::wgmmaWait();
      pin(part);
      forEach<Part>([&](int i, int j) { acc.at[2 * block + i][col / 4 + j] += part.at[i][j]; });
    }
  if constexpr (rest > most)
    columnsOfEights<col + width>(acc, a, b);
}

} // namespace wgmma

/// By the threads: each sums what its elements need, in the order of K.
template <bool transposeB, bool transposeA, typename T, typename L, typename A, typename B>
__device__ __forceinline__ Tile<T, L> multiplyByThreads(Tile<T, L> acc, const A &a, const B &b) {
  constexpr int K = transposeB ? B::cols : B::rows;
#pragma unroll 1
  for (int k = 0; k < K; ++k) {
    T left[L::rowRegs];
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i) {
      int row = acc.hasRow(i) ? L::row(i) : 0;
      left[i] = T(widen(transposeA ? a.get(k, row) : a.get(row, k)));
    }
#pragma unroll
    for (int j = 0; j < L::colRegs; ++j) {
      int col = acc.hasCol(j) ? L::col(j) : 0;
      T right = T(widen(transposeB ? b.get(col, k) : b.get(k, col)));
#pragma unroll
      for (int i = 0; i < L::rowRegs; ++i)
        if constexpr (isSame<T, float>)
          acc.at[i][j] = fmaf(left[i], right, acc.at[i][j]);
        else
          acc.at[i][j] = kiln::add<T>(acc.at[i][j], kiln::times<T>(left[i], right));
    }
  }
  return acc;
}

/// Whether four neighbours in a row of a tile of f32 can be read at once.
template <typename Tile> inline constexpr bool hasRowsOfFours = false;
template <int R, int C, int panelRows>
inline constexpr bool hasRowsOfFours<Shared<float, R, C, panelRows>> = C % 4 == 0;

/// The same for f32, four steps of K at once: one instruction reads four numbers of a row.
template <bool transposeB, typename L, typename A, typename B>
__device__ __forceinline__ Tile<float, L> multiplyByFours(Tile<float, L> acc, const A &a,
                                                          const B &b) {
#pragma unroll 1
  for (int k = 0; k < A::cols; k += 4) {
    float left[L::rowRegs][4];
#pragma unroll
    for (int i = 0; i < L::rowRegs; ++i)
      ptx::loadShared(a.address(acc.hasRow(i) ? L::row(i) : 0, k), left[i]);
    if constexpr (transposeB) {
#pragma unroll
      for (int j = 0; j < L::colRegs; ++j) {
        float right[4];
        ptx::loadShared(b.address(acc.hasCol(j) ? L::col(j) : 0, k), right);
#pragma unroll
        for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
          for (int step = 0; step < 4; ++step)
            acc.at[i][j] = fmaf(left[i][step], right[step], acc.at[i][j]);
      }
    } else {
#pragma unroll
      for (int step = 0; step < 4; ++step)
#pragma unroll
        for (int j = 0; j < L::colRegs; j += 2) { // a thread has pairs of neighbours
          float right[2];
          ptx::loadShared(b.address(k + step, acc.hasCol(j) ? L::col(j) : 0), right);
#pragma unroll
          for (int i = 0; i < L::rowRegs; ++i)
#pragma unroll
            for (int pair = 0; pair < 2; ++pair)
              acc.at[i][j + pair] = fmaf(left[i][step], right[pair], acc.at[i][j + pair]);
        }
    }
  }
  return acc;
}

/// A tile in registers as the instructions take a left operand.
template <typename T, typename L> __device__ __forceinline__ auto packed(const Tile<T, L> &tile) {
  return wgmma::LeftOperand<ceilDivConstant(L::rows, 64), L::cols>(tile);
}

/// Whether the matrix unit makes this product by itself, beside the threads.
template <bool transposeB, typename T, typename L, typename B>
inline constexpr bool isMadeByUnit = wgmma::isForUnit<transposeB, T, L::cols, B> && L::rows > 1;

/// acc + a b; of b transposed if it is given as N x K, of a if as K x M.
template <bool transposeB, bool transposeA = false, typename T, typename L, typename A, typename B>
__device__ __forceinline__ Tile<T, L> multiply(Tile<T, L> acc, const A &a, const B &b);

/// Begins the same in place; of the accumulator only its registers are taken if it is `fromZero`.
/// It and the operands stay as they are until it is awaited.
template <bool transposeB, bool transposeA = false, bool fromZero = false, typename T, typename L,
          typename A, typename B>
__device__ __forceinline__ void start(Tile<T, L> &acc, const A &a, const B &b) {
  if constexpr (isMadeByUnit<transposeB, T, L, B>) {
    constexpr int K = transposeB ? B::cols : B::rows;
    auto left = wgmma::leftOperand<transposeA, L::rows, K>(a);
    wgmma::pin(acc);
    ptx::wgmmaFence();
    wgmma::columns<0, transposeB, K, fromZero>(acc, left, b);
    ptx::wgmmaCommit();
  } else { // nothing is left to await
    acc = multiply<transposeB, transposeA>(fromZero ? full<Tile<T, L>>(T(0)) : acc, a, b);
    ptx::wgmmaCommit();
  }
}

/// Waits for it, and for all that was begun before the last `pending` products.
template <int pending, typename T, typename L>
__device__ __forceinline__ void await(Tile<T, L> &acc) {
  ptx::wgmmaWait<pending>();
  if constexpr (isSame<T, float>)
    wgmma::pin(acc);
}

template <bool transposeB, bool transposeA, typename T, typename L, typename A, typename B>
__device__ __forceinline__ Tile<T, L> multiply(Tile<T, L> acc, const A &a, const B &b) {
  constexpr int K = transposeB ? B::cols : B::rows;
  if constexpr (requires { typename L::Turned; }) {
    // c^T = b^T a^T. Behind the rows of b whatever lies there is multiplied, for nobody.
    static_assert(transposeB && !transposeA && wgmma::isForUnit<true, T, L::rows, A> &&
                      B::hasAlignedPanels,
                  "both sides lie along K, where the matrix unit reads them");
    auto sum = wgmma::turned<typename L::Turned>(acc);
    wgmma::pin(sum);
    ptx::wgmmaFence();
    wgmma::columns<0, true, K, false>(sum, b, a);
    ptx::wgmmaCommit();
    ptx::wgmmaWait();
    wgmma::pin(sum);
    return wgmma::turned<L>(sum);
  } else if constexpr (isSame<T, float> && !transposeA && hasRowsOfFours<A> && hasRowsOfFours<B> &&
                       L::cols > 1) {
    return multiplyByFours<transposeB>(acc, a, b);
  } else if constexpr (wgmma::isOfEights<transposeB, transposeA, T, L::cols, A, B>) {
    wgmma::columnsOfEights<0>(acc, a, b);
    return acc;
  } else if constexpr (!wgmma::isForUnit<transposeB, T, L::cols, B>) {
    return multiplyByThreads<transposeB, transposeA>(acc, a, b);
  } else if constexpr (L::rows == 1) {
    auto all = multiply<transposeB>(full<Tile<float, Fragments::Of<64, L::cols>>>(0.0f),
                                    wgmma::asAllRows<K>(wgmma::onlyRow<transposeA, K>(a)), b);
    forEach<L>([&](int i, int j) { acc.at[i][j] += all.at[i][j]; });
    return acc;
  } else {
    start<transposeB, transposeA>(acc, a, b);
    ptx::wgmmaWait();
    wgmma::pin(acc);
    return acc;
  }
}

} // namespace kiln
