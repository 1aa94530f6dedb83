//===- types.cuh - element types, and numbers as the language defines them -----------===//
//
// Floats of 16 and 8 bits compute in f32 and round to nearest even; max and min propagate NaN; a
// float that becomes an integer saturates, and NaN becomes 0; integers wrap, and a bool is one of
// one bit.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "instructions.cuh"

namespace kiln {

using i8 = signed char;
using i64 = long long;
using u64 = unsigned long long;

struct bf16 {
  unsigned short bits;
};
struct f16 {
  unsigned short bits;
};

/// Four bits of exponent, no infinity: what is too large is NaN.
struct f8e4m3 {
  unsigned char bits;
};
struct f8e5m2 {
  unsigned char bits;
};

template <typename A, typename B> inline constexpr bool isSame = false;
template <typename A> inline constexpr bool isSame<A, A> = true;
template <typename T> inline constexpr bool isHalf = isSame<T, bf16> || isSame<T, f16>;
template <typename T> inline constexpr bool isF8 = isSame<T, f8e4m3> || isSame<T, f8e5m2>;
template <typename T> inline constexpr bool isFloating = isSame<T, float> || isHalf<T> || isF8<T>;

//===-- Conversions -------------------------------------------------------------------===//

/// What arithmetic on a T computes in.
template <typename T> struct ComputeOf {
  using Type = T;
};
template <> struct ComputeOf<bf16> {
  using Type = float;
};
template <> struct ComputeOf<f16> {
  using Type = float;
};
template <> struct ComputeOf<f8e4m3> {
  using Type = float;
};
template <> struct ComputeOf<f8e5m2> {
  using Type = float;
};
template <typename T> using Compute = typename ComputeOf<T>::Type;

template <typename T> __device__ __forceinline__ Compute<T> widen(T x) {
  if constexpr (isSame<T, bf16>) {
    return __uint_as_float(unsigned(x.bits) << 16);
  } else if constexpr (isSame<T, f16>) {
    return ptx::f32FromF16(x.bits);
  } else if constexpr (isF8<T>) {
    unsigned pair; // the same number twice, as halves
    unsigned short twice = x.bits * 0x0101u;
    if constexpr (isSame<T, f8e4m3>)
      pair = ptx::f16PairFromE4m3(twice);
    else
      pair = ptx::f16PairFromE5m2(twice);
    return widen(f16{static_cast<unsigned short>(pair)});
  } else {
    return x;
  }
}

/// To 8 bits. The instructions saturate; the language does not: what rounds to more than the
/// greatest number becomes what comes after that.
template <typename To> __device__ __forceinline__ To toF8(float x) {
  unsigned short pair;
  bool isBeyond;
  if constexpr (isSame<To, f8e4m3>) {
    pair = ptx::e4m3PairFromF32(x);
    isBeyond = fabsf(x) > 464.0f;
  } else {
    pair = ptx::e5m2PairFromF32(x);
    isBeyond = fabsf(x) >= 61440.0f;
  }
  unsigned char narrow = static_cast<unsigned char>(pair);
  return {static_cast<unsigned char>(isBeyond ? narrow + 1 : narrow)};
}

/// A float as an integer: toward zero, saturating, NaN as 0.
template <typename To> __device__ __forceinline__ To toInteger(float x) {
  i64 wide = x != x ? 0 : ptx::s64FromF32(x);
  if constexpr (sizeof(To) < 8) {
    constexpr i64 high = (i64(1) << (8 * sizeof(To) - 1)) - 1;
    wide = wide > high ? high : wide < -high - 1 ? -high - 1 : wide;
  }
  return To(wide);
}

template <typename To, typename From> __device__ __forceinline__ To convert(From given) {
  if constexpr (isSame<To, From>) {
    return given;
  } else if constexpr (isSame<To, bool>) {
    return widen(given) != 0;
  } else if constexpr (isSame<To, bf16>) {
    return {ptx::bf16FromF32(float(widen(given)))};
  } else if constexpr (isSame<To, f16>) {
    return {ptx::f16FromF32(float(widen(given)))};
  } else if constexpr (isF8<To>) {
    return toF8<To>(float(widen(given)));
  } else if constexpr (isFloating<From> && !isSame<To, float>) {
    return toInteger<To>(widen(given));
  } else {
    return To(widen(given));
  }
}

/// Two floats as two 16-bit floats in one register, the first in the low half.
template <typename T> __device__ __forceinline__ unsigned convertPair(float low, float high) {
  static_assert(isHalf<T>, "only 16-bit floats are made in pairs");
  if constexpr (isSame<T, bf16>)
    return ptx::bf16PairFromF32(low, high);
  else
    return ptx::f16PairFromF32(low, high);
}

template <typename T> __device__ __forceinline__ unsigned pack(T low, T high) {
  static_assert(sizeof(T) == 2, "a register holds two elements of 16 bits");
  return ptx::pack(reinterpret_cast<unsigned short &>(low),
                   reinterpret_cast<unsigned short &>(high));
}

template <typename T> __device__ __forceinline__ void unpack(unsigned pair, T &low, T &high) {
  static_assert(sizeof(T) == 2, "a register holds two elements of 16 bits");
  ptx::unpack(pair, reinterpret_cast<unsigned short &>(low),
              reinterpret_cast<unsigned short &>(high));
}

//===-- Scalars -----------------------------------------------------------------------===//

inline __device__ float infinity() { return __int_as_float(0x7f800000); }
inline __device__ float notANumber() { return __int_as_float(0x7fc00000); }
inline __device__ i64 floorDiv(i64 a, i64 b) {
  i64 quotient = a / b;
  return quotient - (quotient * b != a && (a < 0) != (b < 0));
}
inline __device__ i64 ceilDiv(i64 a, i64 b) {
  i64 quotient = a / b;
  return quotient + (quotient * b != a && (a < 0) == (b < 0));
}

/// The larger, NaN if either is; of equal ones the second, as for the zeros.
template <typename T> __device__ __forceinline__ T larger(T a, T b) {
  if constexpr (isSame<T, float>)
    return a > b || a != a ? a : b;
  else
    return a > b ? a : b;
}
template <typename T> __device__ __forceinline__ T smaller(T a, T b) {
  if constexpr (isSame<T, float>)
    return a < b || a != a ? a : b;
  else
    return a < b ? a : b;
}
/// The same in one instruction, which does not say which zero it gives: for many, whose order
/// nobody says either.
template <typename T> __device__ __forceinline__ T eitherLarger(T a, T b) {
  if constexpr (isSame<T, float>)
    return ptx::maxNan(a, b);
  else
    return larger(a, b);
}
template <typename T> __device__ __forceinline__ T eitherSmaller(T a, T b) {
  if constexpr (isSame<T, float>)
    return ptx::minNan(a, b);
  else
    return smaller(a, b);
}

/// The low end of 64 bits.
template <typename T> __device__ __forceinline__ T wrapped(u64 bits) {
  if constexpr (isSame<T, bool>)
    return bits & 1;
  else
    return T(bits);
}
/// The bits of an integer, with zeros above them.
template <typename T> __device__ __forceinline__ u64 bitsOf(T x) {
  if constexpr (isSame<T, bool>)
    return x;
  else if constexpr (sizeof(T) == 8)
    return u64(x);
  else
    return u64(x) & ((u64(1) << (8 * sizeof(T))) - 1);
}
/// An integer as one of 64 bits, with its sign: the one bit of a bool is its sign.
template <typename T> __device__ __forceinline__ i64 signedOf(T x) {
  if constexpr (isSame<T, bool>)
    return x ? -1 : 0;
  else
    return x;
}

/// Integers wrap; their quotients by -1 too. What divides by zero is the program's error.
template <typename T> __device__ __forceinline__ T add(T a, T b) {
  if constexpr (isSame<T, float>)
    return a + b;
  else
    return wrapped<T>(u64(a) + u64(b));
}
template <typename T> __device__ __forceinline__ T subtract(T a, T b) {
  if constexpr (isSame<T, float>)
    return a - b;
  else
    return wrapped<T>(u64(a) - u64(b));
}
template <typename T> __device__ __forceinline__ T times(T a, T b) {
  if constexpr (isSame<T, float>)
    return a * b;
  else
    return wrapped<T>(u64(a) * u64(b));
}
template <typename T> __device__ __forceinline__ T divide(T a, T b) {
  if constexpr (isSame<T, float>)
    return a / b;
  else if constexpr (isSame<T, bool>)
    return a; // by true
  else
    return b == T(-1) ? T(0 - u64(a)) : T(a / b);
}
template <typename T> __device__ __forceinline__ T remainder(T a, T b) {
  if constexpr (isSame<T, float>)
    return fmodf(a, b);
  else if constexpr (isSame<T, bool>)
    return false;
  else
    return b == T(-1) ? T(0) : T(a % b);
}
/// Many numbers divided by one. The remainder of q = x * (1 / y) is exact, and x / y is q +
/// remainder / y, rounded (Markstein), where the sizes of both lie between these: nothing of it is
/// then too small to be exact, or too large.
struct Reciprocal {
  static constexpr float least = 0x1p-60f, most = 0x1p60f;
  static __device__ __forceinline__ float quotient(float x, float y, float reciprocal) {
    float q = x * reciprocal;
    return fmaf(fmaf(-q, y, x), reciprocal, q);
  }
};
template <typename T> __device__ __forceinline__ T divideUnsigned(T a, T b) {
  return wrapped<T>(bitsOf(a) / bitsOf(b));
}
template <typename T> __device__ __forceinline__ T remainderUnsigned(T a, T b) {
  return wrapped<T>(bitsOf(a) % bitsOf(b));
}
template <typename T> __device__ __forceinline__ T ceilDivUnsigned(T a, T b) {
  u64 quotient = bitsOf(a) / bitsOf(b);
  return wrapped<T>(quotient + (quotient * bitsOf(b) != bitsOf(a)));
}
template <typename T> __device__ __forceinline__ T largerUnsigned(T a, T b) {
  return bitsOf(a) > bitsOf(b) ? a : b;
}
template <typename T> __device__ __forceinline__ T smallerUnsigned(T a, T b) {
  return bitsOf(a) < bitsOf(b) ? a : b;
}

/// A count outside 0 to width - 1 shifts everything out.
template <typename T> __device__ __forceinline__ T shiftLeft(T x, T count) {
  constexpr u64 width = 8 * sizeof(T);
  return u64(count) < width ? T(u64(x) << u64(count)) : T(0);
}
template <typename T> __device__ __forceinline__ T shiftRight(T x, T count) {
  constexpr u64 width = 8 * sizeof(T);
  return T(i64(x) >> (u64(count) < width ? u64(count) : width - 1));
}
template <typename T> __device__ __forceinline__ T shiftRightUnsigned(T x, T count) {
  constexpr u64 width = 8 * sizeof(T);
  return u64(count) < width ? T(bitsOf(x) >> u64(count)) : T(0);
}
template <typename T> __device__ __forceinline__ T flip(T x) { return wrapped<T>(~u64(x)); }

template <typename T> __device__ __forceinline__ T magnitude(T x) {
  if constexpr (isSame<T, float>)
    return fabsf(x);
  else if constexpr (isSame<T, bool>)
    return x;
  else
    return x < 0 ? subtract<T>(0, x) : x;
}

//===-- Angles --------------------------------------------------------------------------===//

/// Takes the multiples of pi / 2 off a large number, and says how many there were. A number is 24
/// bits and an exponent: times those bits of 2 / pi that make a fraction of a whole turn with it.
inline __device__ float withoutLargeTurns(float x, int &quarter) {
  unsigned bits = __float_as_uint(x), mantissa = (bits & 0x7fffff) | 0x800000;
  int first = int(bits >> 23 & 0xff) - 150 - 2 + 32; // of these bits
  // The bits of 2 / pi behind the point, after 32 zeros.
  static const unsigned twoOverPi[9] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                        0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  const unsigned *word = twoOverPi + first / 32;
  unsigned shift = first % 32;
  unsigned high = __funnelshift_l(word[1], word[0], shift),
           middle = __funnelshift_l(word[2], word[1], shift),
           low = __funnelshift_l(word[3], word[2], shift);
  u64 turn = (u64(high) * mantissa << 32) + u64(middle) * mantissa + (u64(low) * mantissa >> 32);
  quarter = int(turn >> 62) + int(turn >> 61 & 1);
  float rest = float(double(i64(turn << 2)) * 0x1.921fb54442d18p-64);
  quarter = x < 0 ? -quarter : quarter;
  return x < 0 ? -rest : rest;
}

/// sin(x + quarters * pi / 2), to 2 ulp.
inline __device__ float sineOf(float x, int quarters) {
  if (!(fabsf(x) < infinity()))
    return notANumber();
  int quarter;
  float rest;
  if (fabsf(x) < 48000.0f) {
    float count = rintf(x * 0x1.45f306p-1f);
    quarter = int(count);
    rest = fmaf(count, -0x1.921fb6p+0f, x);
    rest = fmaf(count, 0x1.777a5cp-25f, rest);
    rest = fmaf(count, 0x1.ee59dap-50f, rest);
  } else {
    rest = withoutLargeTurns(x, quarter);
  }
  quarter += quarters;
  float square = rest * rest;
  float sine =
      fmaf(square, fmaf(square, fmaf(square, 2.724961958e-6f, -1.984008437e-4f), 8.33333187e-3f),
           -1.666666666e-1f);
  sine = fmaf(rest * square, sine, rest);
  float cosine =
      fmaf(square, fmaf(square, fmaf(square, -2.730070362e-7f, 2.48005984e-5f), -1.388888767e-3f),
           4.166666666e-2f);
  cosine = fmaf(square * square, cosine, fmaf(square, -0.5f, 1.0f));
  float result = quarter & 1 ? cosine : sine;
  return quarter & 2 ? -result : result;
}
inline __device__ float sine(float x) { return sineOf(x, 0); }
inline __device__ float cosine(float x) { return sineOf(x, 1); }

/// To 2 ulp; what is smaller than any normal number is 0.
inline __device__ float powerOfTwo(float x) { return ptx::exp2Approx(x); }

/// The least and the greatest of a type.
template <typename T> __device__ __forceinline__ T least() {
  if constexpr (isSame<T, f8e4m3>) // which has no infinity
    return {0xfe};
  else if constexpr (isFloating<T>)
    return convert<T>(-infinity());
  else if constexpr (isSame<T, bool>)
    return false;
  else
    return T(u64(1) << (8 * sizeof(T) - 1));
}
template <typename T> __device__ __forceinline__ T greatest() {
  if constexpr (isSame<T, f8e4m3>)
    return {0x7e};
  else if constexpr (isFloating<T>)
    return convert<T>(infinity());
  else if constexpr (isSame<T, bool>)
    return true;
  else
    return T(~least<T>());
}

/// A scalar argument of a task: its bits are in the low end of a word.
template <typename T> __device__ __forceinline__ T scalarOf(const u64 &slot) {
  return *reinterpret_cast<const T *>(&slot);
}

//===-- Threads -----------------------------------------------------------------------===//

inline constexpr int kWarp = 32, kWarpgroup = 128;

/// In its warpgroup, and in its warp.
inline __device__ int threadInGroup() { return threadIdx.x % kWarpgroup; }
inline __device__ int warpInGroup() { return threadInGroup() / kWarp; }
inline __device__ int threadInWarp() { return threadIdx.x % kWarp; }

/// Which warpgroup this is. The same for a warp, and the compiler can see that: branches on what
/// comes from it do not diverge.
inline __device__ int warpgroupIndex() {
  return __shfl_sync(0xffffffffu, int(threadIdx.x) / kWarpgroup, 0);
}

inline __host__ __device__ constexpr int ceilDivConstant(int a, int b) { return (a + b - 1) / b; }

} // namespace kiln
