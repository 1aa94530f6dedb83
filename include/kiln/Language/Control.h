//===- Control.h - branches and loops that stay in the program ------------------------===//
//
// The lambdas given to these functions run once, while the program is traced. What changes from
// iteration to iteration, or depends on the branch taken, is passed in and returned: tiles,
// indices, scalars and tasks, one or a std::tuple of several.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_CONTROL_H
#define KILN_LANGUAGE_CONTROL_H

#include "kiln/Language/Types.h"
#include "kiln/visibility.h"

#include <concepts>
#include <tuple>
#include <utility>
#include <vector>

KILN_EXPORTED_BEGIN
namespace kiln {
namespace detail {

/// A value that loops and branches carry, whatever its C++ type.
struct Wire {
  ValuePtr value = nullptr; ///< Null: poisoned, or a constant index.
  enum Kind { OfTile, OfIndex, OfScalar, OfTask } kind = OfTile;
  DType type = DType::F32;
  int64_t rows = 1, cols = 1;
  int64_t constant = 0; ///< Of an index without a value.
};

template <typename T> struct WireTraits;
template <> struct WireTraits<Tile> {
  static Wire to(const Tile &x) { return {x.value(), Wire::OfTile, x.dtype(), x.rows(), x.cols()}; }
  static Tile from(const Wire &w) { return Tile::of(w.value, w.rows, w.cols, w.type); }
};
template <> struct WireTraits<Index> {
  static Wire to(const Index &x) {
    return {x.value(), Wire::OfIndex, DType::Index, 1, 1, x.isConstant() ? x.constant() : 0};
  }
  static Index from(const Wire &w) { return w.value ? Index::of(w.value) : Index(w.constant); }
};
template <ElementTag T> struct WireTraits<Scalar<T>> {
  static Wire to(const Scalar<T> &x) { return {x.value(), Wire::OfScalar, T::dtype}; }
  static Scalar<T> from(const Wire &w) { return Scalar<T>::of(w.value); }
};
template <> struct WireTraits<TaskRef> {
  static Wire to(const TaskRef &x) { return {x.value(), Wire::OfTask}; }
  static TaskRef from(const Wire &w) { return TaskRef::of(w.value); }
};

} // namespace detail

/// A tile, an index, a scalar or a task.
template <typename T>
concept Carriable = requires(const T &x) { detail::WireTraits<T>::to(x); };

namespace detail {

using Wires = std::vector<Wire>;

/// One value or a tuple of them, to wires and back.
template <typename T> struct Bundle;
template <Carriable T> struct Bundle<T> {
  static constexpr bool isBundle = true;
  static Wires to(const T &x) { return {WireTraits<T>::to(x)}; }
  static T from(const Wires &wires) { return WireTraits<T>::from(wires[0]); }
  /// Calls a lambda with the leading arguments and the carried values.
  template <typename F, typename... Lead>
  static decltype(auto) call(F &f, const Wires &wires, Lead... lead) {
    return f(lead..., from(wires));
  }
};
template <Carriable... T> struct Bundle<std::tuple<T...>> {
  static constexpr bool isBundle = true;
  static Wires to(const std::tuple<T...> &x) {
    return std::apply([](const T &...each) { return Wires{WireTraits<T>::to(each)...}; }, x);
  }
  static std::tuple<T...> from(const Wires &wires) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(WireTraits<T>::from(wires[I])...);
    }(std::index_sequence_for<T...>{});
  }
  template <typename F, typename... Lead>
  static decltype(auto) call(F &f, const Wires &wires, Lead... lead) {
    return std::apply([&](const T &...each) -> decltype(auto) { return f(lead..., each...); },
                      from(wires));
  }
};

template <typename T>
concept Carried = requires { requires Bundle<T>::isBundle; };

/// What a lambda makes of the leading arguments and the carried values.
template <typename C, typename F, typename... Lead>
using ResultOf =
    decltype(Bundle<C>::call(std::declval<F &>(), std::declval<Wires>(), std::declval<Lead>()...));

// A null operation in a frame means that a mistake was reported.

void *beginIf(Cond condition, Where where);
/// Ends the first side; gives what it resulted in.
void beginElse(void *frame, Where where);
/// Closes the branch; `results` are what the two sides made, alike in number and type.
Wires endIf(void *frame, const Wires &thenValues, const Wires &elseValues, Where where);

/// Opens a loop: the induction variable and the carried values inside it.
struct LoopFrame {
  Index iv;
  Wires carried;
  void *op;
};

} // namespace detail

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Does something only if the condition holds.
template <std::invocable Then>
void when(Cond condition, Then then, Where where = Where::current()) {
  static_assert(std::is_void_v<std::invoke_result_t<Then>>,
                "a branch that results in something needs its other side");
  void *frame = detail::beginIf(condition, where);
  then();
  detail::endIf(frame, {}, {}, where);
}
/// Does one thing or another. What the sides return, the branch returns: both the same kinds of
/// values, tiles of one shape and type.
template <std::invocable Then, std::invocable Else>
auto when(Cond condition, Then then, Else otherwise, Where where = Where::current()) {
  using Result = std::invoke_result_t<Then>;
  static_assert(std::same_as<Result, std::invoke_result_t<Else>>,
                "both sides of a branch return the same kinds of values");
  void *frame = detail::beginIf(condition, where);
  if constexpr (std::is_void_v<Result>) {
    then();
    detail::beginElse(frame, where);
    otherwise();
    detail::endIf(frame, {}, {}, where);
  } else {
    static_assert(detail::Carried<Result>,
                  "a branch returns tiles, indices, scalars or tasks, one or a tuple of several");
    detail::Wires first = detail::Bundle<Result>::to(then());
    detail::beginElse(frame, where);
    detail::Wires second = detail::Bundle<Result>::to(otherwise());
    return detail::Bundle<Result>::from(detail::endIf(frame, first, second, where));
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

struct LoopOptions {
  int stages = 0;        ///< > 0: a pipelined loop with so many iterations in flight.
  bool parallel = false; ///< Iterations are independent.
  bool unroll = false;
};

namespace detail {
LoopFrame beginLoop(Index lower, Index upper, Index step, const Wires &carried,
                    const LoopOptions &options, Where where);
/// Closes it; what the loop results in.
Wires endLoop(const LoopFrame &frame, const Wires &next, Where where);

LoopFrame beginWhile(const Wires &carried, Where where);
/// Ends the condition and begins the body: the carried values inside that.
Wires beginWhileBody(const LoopFrame &frame, Cond condition, Where where);
Wires endWhile(const LoopFrame &frame, const Wires &next, Where where);
} // namespace detail

/// A loop that carries nothing.
template <std::invocable<Index> Body>
void loop(Index lower, Index upper, Index step, LoopOptions options, Body body,
          Where where = Where::current()) {
  static_assert(std::is_void_v<std::invoke_result_t<Body, Index>>,
                "this loop carries nothing, so its body returns nothing");
  detail::LoopFrame frame = detail::beginLoop(lower, upper, step, {}, options, where);
  body(frame.iv);
  detail::endLoop(frame, {}, where);
}
template <std::invocable<Index> Body>
void loop(Index lower, Index upper, Index step, Body body, Where where = Where::current()) {
  loop(lower, upper, step, LoopOptions{}, std::move(body), where);
}

/// A loop that carries values: the body takes them after the index and returns their next values,
/// the loop returns their last.
template <detail::Carried C, typename Body>
C loop(Index lower, Index upper, Index step, const C &carried, LoopOptions options, Body body,
       Where where = Where::current()) {
  static_assert(std::same_as<detail::ResultOf<C, Body, Index>, C>,
                "the body of a loop returns the next values of what the loop carries");
  detail::LoopFrame frame =
      detail::beginLoop(lower, upper, step, detail::Bundle<C>::to(carried), options, where);
  C next = detail::Bundle<C>::call(body, frame.carried, frame.iv);
  return detail::Bundle<C>::from(detail::endLoop(frame, detail::Bundle<C>::to(next), where));
}
template <detail::Carried C, typename Body>
C loop(Index lower, Index upper, Index step, const C &carried, Body body,
       Where where = Where::current()) {
  return loop(lower, upper, step, carried, LoopOptions{}, std::move(body), where);
}

/// Repeats the body as long as the condition on the carried values holds.
template <detail::Carried C, typename Condition, typename Body>
C loop_while(const C &carried, Condition condition, Body body, Where where = Where::current()) {
  static_assert(std::same_as<detail::ResultOf<C, Condition>, Cond>,
                "the first lambda of loop_while makes a condition of the carried values");
  static_assert(std::same_as<detail::ResultOf<C, Body>, C>,
                "the body of a loop returns the next values of what the loop carries");
  detail::LoopFrame frame = detail::beginWhile(detail::Bundle<C>::to(carried), where);
  Cond holds = detail::Bundle<C>::call(condition, frame.carried);
  detail::Wires inside = detail::beginWhileBody(frame, holds, where);
  C next = detail::Bundle<C>::call(body, inside);
  return detail::Bundle<C>::from(detail::endWhile(frame, detail::Bundle<C>::to(next), where));
}

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_LANGUAGE_CONTROL_H
