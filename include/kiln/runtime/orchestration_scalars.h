//===- kiln/runtime/orchestration_scalars.h - scalars as the IR computes them ========//
//
// What: the scalar arithmetic of orchestrations: `Index`, whose operators refuse to overflow, and
//   functions for what C++ leaves undefined or spells differently. Included by orchestration.h.
//
// Threads: values and pure functions; a Failure is thrown where the IR has a fault.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ORCHESTRATION_SCALARS_H
#define KILN_RUNTIME_ORCHESTRATION_SCALARS_H

#include "kiln/runtime/dtype.h"
#include "kiln/runtime/status.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace kiln::orch {

/// Why an orchestration stopped; see orchestrate().
struct Failure {
  Status status;
};

inline void check(const Status &status) {
  if (!status.isOk())
    throw Failure{status};
}
template <typename T> T check(Expected<T> value) {
  check(value.status());
  return *std::move(value);
}
[[noreturn]] inline void fail(const std::string &message) {
  throw Failure{Status(StatusCode::KernelFailed, message)};
}

/// The integers of the IR but for index; i1 is bool.
template <typename T>
concept Integer = std::same_as<T, bool> || std::same_as<T, int8_t> || std::same_as<T, int16_t> ||
                  std::same_as<T, int32_t> || std::same_as<T, int64_t>;

template <Integer T>
inline constexpr DType dtypeOf = std::same_as<T, bool>      ? DType::I1
                                 : std::same_as<T, int8_t>  ? DType::I8
                                 : std::same_as<T, int16_t> ? DType::I16
                                 : std::same_as<T, int32_t> ? DType::I32
                                                            : DType::I64;

/// A size or a position. What does not fit its 64 bits is a failure.
class Index {
public:
  constexpr Index(int64_t value = 0) : Value(value) {}
  constexpr int64_t value() const { return Value; }
  explicit constexpr operator int64_t() const { return Value; }
  explicit constexpr operator float() const { return static_cast<float>(Value); }

  friend Index operator+(Index a, Index b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a.Value, b.Value, &sum) ? overflow(a, "+", b) : Index(sum);
  }
  friend Index operator-(Index a, Index b) {
    int64_t difference = 0;
    return __builtin_sub_overflow(a.Value, b.Value, &difference) ? overflow(a, "-", b)
                                                                 : Index(difference);
  }
  friend Index operator*(Index a, Index b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a.Value, b.Value, &product) ? overflow(a, "*", b)
                                                              : Index(product);
  }
  friend constexpr auto operator<=>(Index, Index) = default;

private:
  [[noreturn]] static Index overflow(Index a, const char *op, Index b) {
    fail(std::to_string(a.Value) + " " + op + " " + std::to_string(b.Value) +
         " does not fit the 64 bits of an index");
  }

  int64_t Value;
};

template <typename T>
concept AnyInteger = Integer<T> || std::same_as<T, Index>;

/// The value as a signed number: true is -1, as i1 is in arithmetic.
template <AnyInteger T> constexpr int64_t as_signed(T value) {
  if constexpr (std::same_as<T, bool>)
    return value ? -1 : 0;
  else
    return static_cast<int64_t>(value);
}
template <AnyInteger T>
inline constexpr unsigned bits_of = std::same_as<T, bool> ? 1 : 8 * sizeof(T);
template <AnyInteger T> constexpr uint64_t as_unsigned(T value) {
  return static_cast<uint64_t>(as_signed(value)) & (UINT64_MAX >> (64 - bits_of<T>));
}
/// The low bits of a number as a T.
template <AnyInteger T> constexpr T wrap(uint64_t bits) {
  if constexpr (std::same_as<T, bool>)
    return (bits & 1) != 0;
  else
    return static_cast<T>(static_cast<int64_t>(bits << (64 - bits_of<T>)) >> (64 - bits_of<T>));
}

// Integers that wrap.
template <Integer T> constexpr T wrapping_add(T a, T b) {
  return wrap<T>(as_unsigned(a) + as_unsigned(b));
}
template <Integer T> constexpr T wrapping_sub(T a, T b) {
  return wrap<T>(as_unsigned(a) - as_unsigned(b));
}
template <Integer T> constexpr T wrapping_mul(T a, T b) {
  return wrap<T>(as_unsigned(a) * as_unsigned(b));
}

// Division: by zero is a failure, and so is a quotient that is no Index. (`div` would meet the C
// library's.)
template <AnyInteger T> void check_division(T a, T b) {
  if (as_unsigned(b) == 0)
    fail("integer division of " + std::to_string(as_signed(a)) + " by zero");
  if (std::same_as<T, Index> && as_signed(a) == INT64_MIN && as_signed(b) == -1)
    fail("the quotient of " + std::to_string(as_signed(a)) +
         " and -1 does not fit the 64 bits of an index");
}
template <AnyInteger T> T trunc_div(T a, std::type_identity_t<T> b) {
  check_division<T>(a, b);
  if (as_signed(b) == -1)
    return wrap<T>(0 - static_cast<uint64_t>(as_signed(a)));
  return wrap<T>(static_cast<uint64_t>(as_signed(a) / as_signed(b)));
}
template <AnyInteger T> T trunc_rem(T a, std::type_identity_t<T> b) {
  check_division<T>(a, as_signed(b) == -1 ? wrap<T>(1) : b);
  return as_signed(b) == -1 ? wrap<T>(0)
                            : wrap<T>(static_cast<uint64_t>(as_signed(a) % as_signed(b)));
}
/// Of the exact quotient, the integer at or below it, and at or above.
template <AnyInteger T> T floor_div(T a, std::type_identity_t<T> b) {
  T down = trunc_div<T>(a, b);
  bool isExact = as_signed(trunc_rem<T>(a, b)) == 0;
  bool isNegative = (as_signed(a) < 0) != (as_signed(b) < 0);
  return isExact || !isNegative ? down : wrap<T>(static_cast<uint64_t>(as_signed(down)) - 1);
}
template <AnyInteger T> T ceil_div(T a, std::type_identity_t<T> b) {
  T down = trunc_div<T>(a, b);
  bool isExact = as_signed(trunc_rem<T>(a, b)) == 0;
  bool isNegative = (as_signed(a) < 0) != (as_signed(b) < 0);
  return isExact || isNegative ? down : wrap<T>(static_cast<uint64_t>(as_signed(down)) + 1);
}
template <AnyInteger T> T div_unsigned(T a, std::type_identity_t<T> b) {
  check_division<T>(as_unsigned(b) ? wrap<T>(0) : a, b);
  return wrap<T>(as_unsigned(a) / as_unsigned(b));
}
template <AnyInteger T> T rem_unsigned(T a, std::type_identity_t<T> b) {
  check_division<T>(as_unsigned(b) ? wrap<T>(0) : a, b);
  return wrap<T>(as_unsigned(a) % as_unsigned(b));
}
template <AnyInteger T> T ceil_div_unsigned(T a, std::type_identity_t<T> b) {
  bool isExact = as_unsigned(rem_unsigned<T>(a, b)) == 0;
  return wrap<T>(as_unsigned(a) / as_unsigned(b) + (isExact ? 0 : 1));
}

// Bits. A shift by the width or more shifts everything out.
template <AnyInteger T> constexpr T bit_and(T a, std::type_identity_t<T> b) {
  return wrap<T>(as_unsigned(a) & as_unsigned(b));
}
template <AnyInteger T> constexpr T bit_or(T a, std::type_identity_t<T> b) {
  return wrap<T>(as_unsigned(a) | as_unsigned(b));
}
template <AnyInteger T> constexpr T bit_xor(T a, std::type_identity_t<T> b) {
  return wrap<T>(as_unsigned(a) ^ as_unsigned(b));
}
template <AnyInteger T> constexpr T shift_left(T a, std::type_identity_t<T> b) {
  return wrap<T>(as_unsigned(b) < bits_of<T> ? as_unsigned(a) << as_unsigned(b) : 0);
}
template <AnyInteger T> constexpr T shift_right_unsigned(T a, std::type_identity_t<T> b) {
  return wrap<T>(as_unsigned(b) < bits_of<T> ? as_unsigned(a) >> as_unsigned(b) : 0);
}
template <AnyInteger T> constexpr T shift_right(T a, std::type_identity_t<T> b) {
  return wrap<T>(
      static_cast<uint64_t>(as_signed(a) >> std::min<uint64_t>(as_unsigned(b), bits_of<T> - 1)));
}

// The smaller and the larger. Of floats: NaN if either is, and +0 over -0.
template <AnyInteger T> constexpr T min(T a, std::type_identity_t<T> b) {
  return as_signed(b) < as_signed(a) ? b : a;
}
template <AnyInteger T> constexpr T max(T a, std::type_identity_t<T> b) {
  return as_signed(a) < as_signed(b) ? b : a;
}
template <AnyInteger T> constexpr T min_unsigned(T a, std::type_identity_t<T> b) {
  return as_unsigned(b) < as_unsigned(a) ? b : a;
}
template <AnyInteger T> constexpr T max_unsigned(T a, std::type_identity_t<T> b) {
  return as_unsigned(a) < as_unsigned(b) ? b : a;
}
inline float maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
inline float minimum(float a, float b) { return -maximum(-a, -b); }
inline bool is_unordered(float a, float b) { return std::isnan(a) || std::isnan(b); }

// Conversions. Float to integer truncates and saturates; NaN becomes 0.
template <AnyInteger To, AnyInteger From> constexpr To cast(From value) {
  return wrap<To>(static_cast<uint64_t>(as_signed(value)));
}
template <AnyInteger To, AnyInteger From> constexpr To cast_unsigned(From value) {
  return wrap<To>(as_unsigned(value));
}
template <AnyInteger T> constexpr float to_float(T value) {
  return static_cast<float>(as_signed(value));
}
template <AnyInteger T> constexpr float to_float_unsigned(T value) {
  return static_cast<float>(as_unsigned(value));
}
template <AnyInteger T> T to_integer(float value) {
  DType type = DType::Index;
  if constexpr (Integer<T>)
    type = dtypeOf<T>;
  return static_cast<T>(ScalarBits::fromDouble(type, value).asInt());
}
/// A value of a 16-bit float, which orchestrations keep as a float.
inline float round_to(DType type, float value) {
  return static_cast<float>(ScalarBits::fromDouble(type, value).asDouble());
}

/// `for (Index i : range(first, last, step))`. Exact for all bounds; a step below 1 is a failure.
template <AnyInteger T> class Range {
public:
  class Iterator {
  public:
    Iterator(uint64_t at, uint64_t step, uint64_t left) : At(at), Step(step), Left(left) {}
    T operator*() const { return wrap<T>(At); }
    Iterator &operator++() {
      At += Step;
      --Left;
      return *this;
    }
    bool operator!=(const Iterator &other) const { return Left != other.Left; }

  private:
    uint64_t At, Step, Left;
  };

  Range(T first, T last, T step, bool runs)
      : First(as_unsigned(first)), Step(static_cast<uint64_t>(as_signed(step))) {
    if (as_signed(step) <= 0)
      fail("the step of the loop is " + std::to_string(as_signed(step)) + "; it must be positive");
    uint64_t distance = as_unsigned(wrap<T>(as_unsigned(last) - First));
    Trips = runs ? (distance - 1) / Step + 1 : 0;
  }
  Iterator begin() const { return {First, Step, Trips}; }
  Iterator end() const { return {0, 0, 0}; }

private:
  uint64_t First, Step, Trips = 0;
};

inline Range<Index> range(Index first, Index last, Index step) {
  return {first, last, step, first < last};
}
template <Integer T> Range<T> range_of(T first, T last, T step) {
  return {first, last, step, as_signed(first) < as_signed(last)};
}
template <AnyInteger T> Range<T> range_unsigned(T first, T last, T step) {
  return {first, last, step, as_unsigned(first) < as_unsigned(last)};
}

} // namespace kiln::orch

#endif // KILN_RUNTIME_ORCHESTRATION_SCALARS_H
