//===- Control.h - branches and loops that stay in the program ------------------------===//
//
// The lambdas given to these functions run once, while the program is traced. What changes from
// iteration to iteration, or depends on the branch taken, is passed in and returned: tiles,
// indices, scalars and tasks, one or a std::tuple of several.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_CONTROL_H
#define KILN_LANGUAGE_CONTROL_H

#include "kiln/Language/Record.h"

#include <concepts>
#include <tuple>
#include <utility>
#include <vector>

namespace kiln {
namespace detail {

/// A value that loops and branches carry: what the recorder made it.
template <typename T> struct Carrying;
template <> struct Carrying<Tile> {
  static Tile from(const kiln_result &made) { return tileOf(made); }
};
template <> struct Carrying<Index> {
  static Index from(const kiln_result &made) { return indexOf(made); }
};
template <ElementTag T> struct Carrying<Scalar<T>> {
  static Scalar<T> from(const kiln_result &made) {
    return Scalar<T>::of(static_cast<ValueNumber>(made.number));
  }
};
template <> struct Carrying<TaskRef> {
  static TaskRef from(const kiln_result &made) { return taskOf(made); }
};

} // namespace detail

/// A tile, an index, a scalar or a task.
template <typename T>
concept Carriable = requires(const kiln_result &made) { detail::Carrying<T>::from(made); };

namespace detail {

/// One value or a tuple of them, as arguments and from results.
template <typename T> struct Bundle;
template <Carriable T> struct Bundle<T> {
  static constexpr size_t size = 1;
  static List to(const T &x) { return {x}; }
  static T from(const kiln_result *made) { return Carrying<T>::from(*made); }
  /// Calls a lambda with the leading arguments and the carried values.
  template <typename F, typename... Lead>
  static decltype(auto) call(F &f, const T &carried, Lead... lead) {
    return f(lead..., carried);
  }
};
template <Carriable... T> struct Bundle<std::tuple<T...>> {
  static constexpr size_t size = sizeof...(T);
  static List to(const std::tuple<T...> &x) {
    return std::apply([](const T &...each) { return List{each...}; }, x);
  }
  static std::tuple<T...> from(const kiln_result *made) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(Carrying<T>::from(made[I])...);
    }(std::index_sequence_for<T...>{});
  }
  template <typename F, typename... Lead>
  static decltype(auto) call(F &f, const std::tuple<T...> &carried, Lead... lead) {
    return std::apply([&](const T &...each) -> decltype(auto) { return f(lead..., each...); },
                      carried);
  }
};

template <typename T>
concept Carried = requires { Bundle<T>::size; };

/// What a lambda makes of the leading arguments and the carried values.
template <typename C, typename F, typename... Lead>
using ResultOf =
    decltype(Bundle<C>::call(std::declval<F &>(), std::declval<C>(), std::declval<Lead>()...));

/// What an operation carries on; `otherwise` if it was not recorded.
template <typename C> C carriedBy(const Recorded &made, const C &otherwise, size_t first = 0) {
  return made.ok ? Bundle<C>::from(made.results + first) : otherwise;
}

} // namespace detail

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Does something only if the condition holds.
template <std::invocable Then>
void when(Cond condition, Then then, Where where = Where::current()) {
  static_assert(std::is_void_v<std::invoke_result_t<Then>>,
                "a branch that results in something needs its other side");
  bool isBegun = detail::recordAll("if.begin", {condition}, where).ok;
  then();
  if (isBegun)
    detail::recordNothing("if.end", {}, where);
}
/// Does one thing or another. What the sides return, the branch returns: both the same kinds of
/// values, tiles of one shape and type.
template <std::invocable Then, std::invocable Else>
auto when(Cond condition, Then then, Else otherwise, Where where = Where::current()) {
  using Result = std::invoke_result_t<Then>;
  static_assert(std::same_as<Result, std::invoke_result_t<Else>>,
                "both sides of a branch return the same kinds of values");
  bool isBegun = detail::recordAll("if.begin", {condition}, where).ok;
  if constexpr (std::is_void_v<Result>) {
    then();
    if (isBegun)
      detail::recordNothing("if.else", {}, where);
    otherwise();
    if (isBegun)
      detail::recordNothing("if.end", {}, where);
  } else {
    static_assert(detail::Carried<Result>,
                  "a branch returns tiles, indices, scalars or tasks, one or a tuple of several");
    Result first = then();
    if (isBegun)
      detail::recordNothing("if.else", {detail::Bundle<Result>::to(first)}, where);
    Result second = otherwise();
    if (!isBegun)
      return first;
    return detail::carriedBy(
        detail::recordAll("if.end", {detail::Bundle<Result>::to(second)}, where), first);
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
inline Recorded beginLoop(Index lower, Index upper, Index step, const List &carried,
                          const LoopOptions &options, Where where) {
  return recordAll("loop.begin",
                   {lower, upper, step, carried, options.stages, options.parallel, options.unroll},
                   where);
}
} // namespace detail

/// A loop that carries nothing.
template <std::invocable<Index> Body>
void loop(Index lower, Index upper, Index step, LoopOptions options, Body body,
          Where where = Where::current()) {
  static_assert(std::is_void_v<std::invoke_result_t<Body, Index>>,
                "this loop carries nothing, so its body returns nothing");
  detail::Recorded begun = detail::beginLoop(lower, upper, step, {}, options, where);
  body(begun.ok ? detail::indexOf(begun.results[0]) : Index(0));
  if (begun.ok)
    detail::recordNothing("loop.end", {}, where);
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
  detail::Recorded begun =
      detail::beginLoop(lower, upper, step, detail::Bundle<C>::to(carried), options, where);
  C next = detail::Bundle<C>::call(body, detail::carriedBy(begun, carried, 1),
                                   begun.ok ? detail::indexOf(begun.results[0]) : Index(0));
  if (!begun.ok)
    return carried;
  return detail::carriedBy(detail::recordAll("loop.end", {detail::Bundle<C>::to(next)}, where),
                           carried);
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
  detail::Recorded begun =
      detail::recordAll("while.begin", {detail::Bundle<C>::to(carried)}, where);
  Cond holds = detail::Bundle<C>::call(condition, detail::carriedBy(begun, carried));
  detail::Recorded inside;
  if (begun.ok)
    inside = detail::recordAll("while.body", {holds}, where);
  C next = detail::Bundle<C>::call(body, detail::carriedBy(inside, carried));
  if (!begun.ok)
    return carried;
  return detail::carriedBy(detail::recordAll("while.end", {detail::Bundle<C>::to(next)}, where),
                           carried);
}

} // namespace kiln

#endif // KILN_LANGUAGE_CONTROL_H
