//===- elementwise.cuh - the operations of the tile dialect on tiles in registers -----------===//
//
// Named as in the dialect; the first template argument is the result. Operands are tiles, which
// broadcast, or scalars.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "register.cuh"

namespace kiln::tile {

#define KILN_UNARY(name, expression)                                                               \
  template <typename To, typename A> __device__ __forceinline__ auto name(const A &a) {            \
    using T = Compute<typename To::Element>;                                                       \
    return map<To>([](T x) -> T { return expression; }, a);                                        \
  }
#define KILN_BINARY(name, expression)                                                              \
  template <typename To, typename A, typename B>                                                   \
  __device__ __forceinline__ auto name(const A &a, const B &b) {                                   \
    using T = Compute<typename To::Element>;                                                       \
    return map<To>([](T x, T y) -> T { return expression; }, a, b);                                \
  }
#define KILN_COMPARISON(name, sign)                                                                \
  template <typename To, typename A, typename B>                                                   \
  __device__ __forceinline__ auto name(const A &a, const B &b) {                                   \
    return map<To>([](auto x, auto y) { return x sign y; }, a, b);                                 \
  }

// A line for each row of the table of elementwise operations; the compiler brings this header.
#include "elementwise_table.cuh"

KILN_COMPARISON(eq, ==)
KILN_COMPARISON(ne, !=)
KILN_COMPARISON(lt, <)
KILN_COMPARISON(le, <=)
KILN_COMPARISON(gt, >)
KILN_COMPARISON(ge, >=)

#undef KILN_UNARY
#undef KILN_BINARY
#undef KILN_COMPARISON

template <typename To, typename C, typename A, typename B>
__device__ __forceinline__ auto select(const C &condition, const A &a, const B &b) {
  using T = Compute<typename To::Element>;
  return map<To>([](bool c, T x, T y) { return c ? x : y; }, condition, a, b);
}

/// What divides a whole row of a tile in registers: its reciprocal is computed once, and each
/// element takes a third of the instructions.
template <typename To, typename L, typename M>
  requires(!isLater<To> && L::cols > 1 && M::cols == 1)
__device__ __forceinline__ To div(const Tile<float, L> &a, const Tile<float, M> &b) {
  To result;
  Tile<float, M> reciprocals;
  float smallest = Reciprocal::most, largest = Reciprocal::least;
  auto look = [&](float x) {
    smallest = eitherSmaller(smallest, fabsf(x)), largest = eitherLarger(largest, fabsf(x));
  };
  forEach<M>([&](int i, int j) {
    look(b.at[i][j]);
    reciprocals.at[i][j] = 1.0f / b.at[i][j];
  });
  forEach<typename To::Layout>([&](int i, int j) {
    float x = operand(a, i, j);
    look(x);
    result.at[i][j] = Reciprocal::quotient(x, operand(b, i, j), operand(reciprocals, i, j));
  });
  if (!(smallest >= Reciprocal::least && largest <= Reciprocal::most)) [[unlikely]]
    forEach<typename To::Layout>(
        [&](int i, int j) { result.at[i][j] = operand(a, i, j) / operand(b, i, j); });
  return result;
}

/// x times a factor for each row. Most are 1: a warp with no others leaves x as it is.
template <typename To, typename A, typename B>
__device__ __forceinline__ To mulUnlessOnes(const A &x, const B &factors) {
  bool areOnes = true;
  forEach<typename B::Layout>([&](int i, int j) { areOnes = areOnes && factors.at[i][j] == 1; });
  To result = x;
  if (!__all_sync(0xffffffffu, areOnes))
    result = mul<To>(x, factors);
  return result;
}

#define KILN_REDUCTION(name, identity, expression)                                                 \
  template <typename To, typename A> __device__ __forceinline__ To name(const A &a) {              \
    using T = Compute<typename A::Element>;                                                        \
    return reduceCols<To>([](T x, T y) -> T { return expression; }, identity, a);                  \
  }
KILN_REDUCTION(sum_columns, T(0), kiln::add<T>(x, y))
KILN_REDUCTION(prod_columns, T(1), kiln::times<T>(x, y))
KILN_REDUCTION(max_columns, least<T>(), kiln::eitherLarger<T>(x, y))
KILN_REDUCTION(min_columns, greatest<T>(), kiln::eitherSmaller<T>(x, y))
#undef KILN_REDUCTION

/// What each thread has of the sum of a row; and the sum, of what each has.
template <typename To, typename A> __device__ __forceinline__ To part_of_sum_columns(const A &a) {
  return reduceCols<To, /*isPart=*/true>([](float x, float y) { return x + y; }, 0.0f, a);
}
template <typename To> __device__ __forceinline__ To sum_of_parts_columns(To parts) {
  using L = typename To::Layout;
#pragma unroll
  for (int i = 0; i < L::rowRegs; ++i)
    parts.at[i][0] = acrossThreads<L>([](float x, float y) { return x + y; }, parts.at[i][0]);
  return parts;
}

} // namespace kiln::tile
