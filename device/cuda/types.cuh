//===- types.cuh - element types, and numbers as the language defines them -----------===//
//
// 16-bit floats compute in f32 and round to nearest even; max and min propagate NaN; a float that
// becomes an integer saturates, and NaN becomes 0; integers wrap.
//
//===----------------------------------------------------------------------------===//
#pragma once

namespace kiln {

using i64 = long long;
using u64 = unsigned long long;

struct bf16 {
  unsigned short bits;
};
struct f16 {
  unsigned short bits;
};

template <typename A, typename B> inline constexpr bool isSame = false;
template <typename A> inline constexpr bool isSame<A, A> = true;
template <typename T> inline constexpr bool isHalf = isSame<T, bf16> || isSame<T, f16>;
template <typename T> inline constexpr bool isFloating = isSame<T, float> || isHalf<T>;

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
template <typename T> using Compute = typename ComputeOf<T>::Type;

template <typename T> __device__ __forceinline__ Compute<T> widen(T x) {
  if constexpr (isSame<T, bf16>) {
    return __uint_as_float(unsigned(x.bits) << 16);
  } else if constexpr (isSame<T, f16>) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
    return wide;
  } else {
    return x;
  }
}

/// A float as an integer: toward zero, saturating, NaN as 0.
template <typename To> __device__ __forceinline__ To toInteger(float x) {
  i64 wide;
  asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(wide) : "f"(x)); // saturates, but NaN is not 0
  wide = x != x ? 0 : wide;
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
    bf16 narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(float(widen(given))));
    return narrow;
  } else if constexpr (isSame<To, f16>) {
    f16 narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(float(widen(given))));
    return narrow;
  } else if constexpr (isFloating<From> && !isSame<To, float>) {
    return toInteger<To>(widen(given));
  } else {
    return To(widen(given));
  }
}

/// Two floats as two 16-bit floats in one register, the first in the low half.
template <typename T> __device__ __forceinline__ unsigned convertPair(float low, float high) {
  static_assert(isHalf<T>, "only 16-bit floats are made in pairs");
  unsigned pair;
  if constexpr (isSame<T, bf16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

template <typename T> __device__ __forceinline__ unsigned pack(T low, T high) {
  static_assert(sizeof(T) == 2, "a register holds two elements of 16 bits");
  unsigned pair;
  asm("mov.b32 %0, {%1, %2};"
      : "=r"(pair)
      : "h"(reinterpret_cast<unsigned short &>(low)),
        "h"(reinterpret_cast<unsigned short &>(high)));
  return pair;
}

template <typename T> __device__ __forceinline__ void unpack(unsigned pair, T &low, T &high) {
  static_assert(sizeof(T) == 2, "a register holds two elements of 16 bits");
  asm("mov.b32 {%0, %1}, %2;"
      : "=h"(reinterpret_cast<unsigned short &>(low)),
        "=h"(reinterpret_cast<unsigned short &>(high))
      : "r"(pair));
}

//===-- Scalars -----------------------------------------------------------------------===//

inline __device__ i64 floorDiv(i64 a, i64 b) {
  i64 quotient = a / b;
  return quotient - (quotient * b != a && (a < 0) != (b < 0));
}
inline __device__ i64 ceilDiv(i64 a, i64 b) {
  i64 quotient = a / b;
  return quotient + (quotient * b != a && (a < 0) == (b < 0));
}
template <typename T> __device__ __forceinline__ T larger(T a, T b) {
  if constexpr (isSame<T, float>) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
  } else {
    return a > b ? a : b;
  }
}
template <typename T> __device__ __forceinline__ T smaller(T a, T b) {
  if constexpr (isSame<T, float>) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
  } else {
    return a < b ? a : b;
  }
}

/// Integers wrap; their quotients by -1 too. What divides by zero is the program's error.
template <typename T> __device__ __forceinline__ T add(T a, T b) {
  if constexpr (isSame<T, float>)
    return a + b;
  else
    return T(u64(a) + u64(b));
}
template <typename T> __device__ __forceinline__ T subtract(T a, T b) {
  if constexpr (isSame<T, float>)
    return a - b;
  else
    return T(u64(a) - u64(b));
}
template <typename T> __device__ __forceinline__ T times(T a, T b) {
  if constexpr (isSame<T, float>)
    return a * b;
  else
    return T(u64(a) * u64(b));
}
template <typename T> __device__ __forceinline__ T divide(T a, T b) {
  if constexpr (isSame<T, float>)
    return a / b;
  else
    return b == T(-1) ? T(0 - u64(a)) : T(a / b);
}
template <typename T> __device__ __forceinline__ T remainder(T a, T b) {
  if constexpr (isSame<T, float>)
    return fmodf(a, b);
  else
    return b == T(-1) ? T(0) : T(a % b);
}

template <typename T> __device__ __forceinline__ T magnitude(T x) {
  if constexpr (isSame<T, float>)
    return fabsf(x);
  else
    return x < 0 ? subtract<T>(0, x) : x;
}

/// To 2 ulp; what is smaller than any normal number is 0.
inline __device__ float powerOfTwo(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

inline __device__ float infinity() { return __int_as_float(0x7f800000); }
inline __device__ float notANumber() { return __int_as_float(0x7fc00000); }
/// The least and the greatest of a type.
template <typename T> __device__ __forceinline__ T least() {
  if constexpr (isFloating<T>)
    return convert<T>(-infinity());
  else if constexpr (isSame<T, bool>)
    return false;
  else
    return T(u64(1) << (8 * sizeof(T) - 1));
}
template <typename T> __device__ __forceinline__ T greatest() {
  if constexpr (isFloating<T>)
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
