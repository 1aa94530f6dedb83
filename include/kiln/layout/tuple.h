//===- kiln/layout/tuple.h - static integers and nested tuples ------------===//
//
// What: `Int<N>`, an integer that is a type, and `Tuple`, which holds shapes, strides and
//   coordinates. A leaf of a tuple is an Int, an int64_t, or in a coordinate also `keep`.
//
// An Int holds nothing: what is static about a layout is in its type only.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_TUPLE_H
#define KILN_LAYOUT_TUPLE_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kiln::layout {

template <int64_t N> struct Int {
  static constexpr int64_t Value = N;
  constexpr operator int64_t() const { return N; }
};

/// In a coordinate given to slice: keep this mode.
struct Keep {};
inline constexpr Keep keep;

namespace detail {
template <std::size_t I, typename T> struct Slot {
  [[no_unique_address]] T Value;
};
template <typename Indices, typename... Ts> struct Slots;
template <std::size_t... Is, typename... Ts>
struct Slots<std::index_sequence<Is...>, Ts...> : Slot<Is, Ts>... {
  constexpr explicit Slots(Ts... values) : Slot<Is, Ts>{values}... {}
};
template <std::size_t I, typename T> constexpr const T &slotValue(const Slot<I, T> &slot) {
  return slot.Value;
}
} // namespace detail

/// One or more values of their own types. Made by tuple().
template <typename... Ts> struct Tuple : detail::Slots<std::index_sequence_for<Ts...>, Ts...> {
  static_assert(sizeof...(Ts) > 0, "a tuple must not be empty");
  using detail::Slots<std::index_sequence_for<Ts...>, Ts...>::Slots;
};

template <std::size_t I, typename... Ts> constexpr const auto &get(const Tuple<Ts...> &tuple) {
  static_assert(I < sizeof...(Ts), "the tuple has no element of that number");
  return detail::slotValue<I>(tuple);
}

namespace detail {
template <typename T> inline constexpr bool IsInt = false;
template <int64_t N> inline constexpr bool IsInt<Int<N>> = true;
template <typename T> inline constexpr bool IsTuple = false;
template <typename... Ts> inline constexpr bool IsTuple<Tuple<Ts...>> = true;
template <typename T>
inline constexpr bool IsNumber = IsInt<T> || (std::integral<T> && !std::same_as<T, bool>);

/// Every type of integer but Int becomes int64_t.
template <typename T> constexpr auto leafOf(const T &value) {
  if constexpr (std::integral<T>)
    return static_cast<int64_t>(value);
  else
    return value;
}

/// Calls `f` with Int<0>, ..., Int<N - 1>.
template <std::size_t N, typename F> constexpr auto withIndices(F f) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    return f(Int<static_cast<int64_t>(Is)>{}...);
  }(std::make_index_sequence<N>{});
}
} // namespace detail

/// A shape, a stride or a coordinate: numbers, tuples of numbers and, in a coordinate, `keep`.
/// Takes values: a reference to `keep` would be one to host memory in device code.
template <typename... Ts> constexpr auto tuple(Ts... values) {
  static_assert(((detail::IsNumber<Ts> || detail::IsTuple<Ts> || std::same_as<Ts, Keep>) && ...),
                "elements of a tuple are integers, tuples or `keep`");
  return Tuple<decltype(detail::leafOf(values))...>(detail::leafOf(values)...);
}

/// 64_c is Int<64>{}.
template <char... Digits> consteval auto operator""_c() {
  static_assert(((Digits == '\'' || (Digits >= '0' && Digits <= '9')) && ...),
                "a static integer is written in decimal digits");
  constexpr auto digits = [] {
    struct {
      int64_t Value = 0;
      bool Fits = true;
    } parsed;
    for (char c : {Digits...}) {
      if (c == '\'')
        continue;
      parsed.Fits = parsed.Fits && parsed.Value <= (INT64_MAX - (c - '0')) / 10;
      parsed.Value = parsed.Fits ? parsed.Value * 10 + (c - '0') : 0;
    }
    return parsed;
  }();
  static_assert(digits.Fits, "a static integer must fit 63 bits");
  return Int<digits.Value>{};
}

} // namespace kiln::layout

#endif // KILN_LAYOUT_TUPLE_H
