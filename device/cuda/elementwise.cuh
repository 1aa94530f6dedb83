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
  template <typename To, typename A> __device__ __forceinline__ To name(const A &a) {              \
    using T = Compute<typename To::Element>;                                                       \
    return map<To>([](T x) -> T { return expression; }, a);                                        \
  }
#define KILN_BINARY(name, expression)                                                              \
  template <typename To, typename A, typename B>                                                   \
  __device__ __forceinline__ To name(const A &a, const B &b) {                                     \
    using T = Compute<typename To::Element>;                                                       \
    return map<To>([](T x, T y) -> T { return expression; }, a, b);                                \
  }
#define KILN_COMPARISON(name, sign)                                                                \
  template <typename To, typename A, typename B>                                                   \
  __device__ __forceinline__ To name(const A &a, const B &b) {                                     \
    return map<To>([](auto x, auto y) { return x sign y; }, a, b);                                 \
  }

KILN_BINARY(add, kiln::add<T>(x, y))
KILN_BINARY(sub, kiln::subtract<T>(x, y))
KILN_BINARY(mul, kiln::times<T>(x, y))
KILN_BINARY(div, kiln::divide<T>(x, y))
KILN_BINARY(max, kiln::larger<T>(x, y))
KILN_BINARY(min, kiln::smaller<T>(x, y))
KILN_BINARY(fmod, kiln::remainder<T>(x, y))
KILN_BINARY(pow, powf(x, y))
KILN_BINARY(bit_and, T(x &y))
KILN_BINARY(bit_or, T(x | y))
KILN_BINARY(bit_xor, T(x ^ y))

KILN_UNARY(neg, kiln::subtract<T>(T(isSame<T, float> ? -0.0f : 0), x))
KILN_UNARY(abs, kiln::magnitude<T>(x))
KILN_UNARY(exp, expf(x))
KILN_UNARY(exp2, kiln::powerOfTwo(x))
KILN_UNARY(log, logf(x))
KILN_UNARY(sqrt, sqrtf(x))
KILN_UNARY(rsqrt, 1.0f / sqrtf(x))
KILN_UNARY(recip, 1.0f / x)
KILN_UNARY(tanh, tanhf(x))
KILN_UNARY(sigmoid, 1.0f / (1.0f + expf(-x)))
KILN_UNARY(erf, erff(x))
KILN_UNARY(sin, sinf(x))
KILN_UNARY(cos, cosf(x))

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
__device__ __forceinline__ To select(const C &condition, const A &a, const B &b) {
  using T = Compute<typename To::Element>;
  return map<To>([](bool c, T x, T y) { return c ? x : y; }, condition, a, b);
}

#define KILN_REDUCTION(name, identity, expression)                                                 \
  template <typename To, typename A> __device__ __forceinline__ To name(const A &a) {              \
    using T = Compute<typename A::Element>;                                                        \
    return reduceCols<To>([](T x, T y) -> T { return expression; }, identity, a);                  \
  }
KILN_REDUCTION(sum_columns, T(0), kiln::add<T>(x, y))
KILN_REDUCTION(prod_columns, T(1), kiln::times<T>(x, y))
KILN_REDUCTION(max_columns, least<T>(), kiln::larger<T>(x, y))
KILN_REDUCTION(min_columns, greatest<T>(), kiln::smaller<T>(x, y))
#undef KILN_REDUCTION

} // namespace kiln::tile
