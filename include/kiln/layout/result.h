//===- kiln/layout/result.h - what can go wrong with a layout -------------===//
//
// What: `Error`, the preconditions of the layout algebra by name, and `Result`, a value or an
//   Error. The same sentences serve as static_assert messages when the numbers are static.
//
// No heap, no exceptions: part of what device code may include.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_RESULT_H
#define KILN_LAYOUT_RESULT_H

#include <cstdint>

namespace kiln::layout {

// One table, so that the sentence of a compile-time error and of a run-time one cannot differ.
#define KILN_LAYOUT_ERRORS(X)                                                                      \
  X(BadExtent, "extents and sizes of a layout must be at least 1")                                 \
  X(NegativeStride, "strides of a layout must not be negative")                                    \
  X(Overflow, "the size and the largest offset of a layout must fit 63 bits")                      \
  X(NotDivisible, "in composition(a, b), extents and strides of b must divide the extents of a, "  \
                  "and the modes of b must not carry from one mode of a into the next")            \
  X(NotInjective, "a layout has a complement only if its modes, by ascending stride, nest: each "  \
                  "stride a positive multiple of the extent times stride before it")               \
  X(BadRecast, "recast needs bit widths that divide and a unit stride that covers whole elements") \
  X(BadSwizzle, "swizzle(bits, base, shift) needs 0 <= bits <= shift, 0 <= base and "              \
                "bits + base + shift <= 62")                                                       \
  X(RankMismatch, "a tile must not have more modes than the layout it applies to")                 \
  X(TooLarge, "a layout must not have more than 64 nodes")

enum class Error : uint8_t {
  None,
#define KILN_LAYOUT_ENUMERATOR(Name, Sentence) Name,
  KILN_LAYOUT_ERRORS(KILN_LAYOUT_ENUMERATOR)
#undef KILN_LAYOUT_ENUMERATOR
};

/// The precondition that an error says was broken, as a sentence; "no error" for None.
constexpr const char *message(Error error) {
  switch (error) {
  case Error::None:
    break;
#define KILN_LAYOUT_CASE(Name, Sentence)                                                           \
  case Error::Name:                                                                                \
    return Sentence;
    KILN_LAYOUT_ERRORS(KILN_LAYOUT_CASE)
#undef KILN_LAYOUT_CASE
  }
  return "no error";
}

namespace detail {
/// Does not compile for any Error but None.
template <Error Broken> constexpr void requireNoError() {
#define KILN_LAYOUT_ASSERT(Name, Sentence) static_assert(Broken != Error::Name, Sentence);
  KILN_LAYOUT_ERRORS(KILN_LAYOUT_ASSERT)
#undef KILN_LAYOUT_ASSERT
}
} // namespace detail

#undef KILN_LAYOUT_ERRORS

/// A value, or the reason why there is none. Taking the value of a failed result traps.
template <typename T> class [[nodiscard]] Result {
public:
  /// `value` counts only when `error` is None.
  constexpr Result(const T &value, Error error = Error::None) : Value(value), Broken(error) {}

  constexpr explicit operator bool() const { return Broken == Error::None; }
  constexpr Error error() const { return Broken; }
  constexpr const T &operator*() const {
    if (Broken != Error::None)
      __builtin_trap();
    return Value;
  }
  constexpr const T *operator->() const { return &**this; }

private:
  T Value;
  Error Broken;
};

} // namespace kiln::layout

#endif // KILN_LAYOUT_RESULT_H
