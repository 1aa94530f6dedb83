//===- Combine.h - reductions and scans by a body of one's own ---------------------------===//
//
// The lambda runs once, while the program is traced. It gets two tiles for each that is combined:
// what has been combined so far, and what comes next. Both are lines of the tile, with extent 1
// along the axis. It returns the two combined, and consists of elementwise operations, casts and
// numbers; what it needs besides is given as another tile.
//
// A program promises that the lambda is associative: combine(combine(a, b), c) is the same as
// combine(a, combine(b, c)), up to rounding. Targets combine in an order that suits them, but
// never exchange elements. `kiln check` tries whether the promise holds.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_COMBINE_H
#define KILN_LANGUAGE_COMBINE_H

#include "kiln/Language/Control.h"
#include "kiln/Language/Ops.h"

#include <array>

namespace kiln {
namespace detail {

/// What a reduction or scan begins with: a number, a scalar or a line for each tile.
template <typename C> struct Starts;
template <> struct Starts<Tile> {
  using Type = TileOperand;
  static List list(const Type &start) { return {start}; }
};
template <std::same_as<Tile>... T> struct Starts<std::tuple<T...>> {
  using Type = std::array<TileOperand, sizeof...(T)>;
  static List list(const Type &starts) {
    List all;
    for (const TileOperand &start : starts)
      all.add(start);
    return all;
  }
};
template <typename C> using StartsOf = typename Starts<C>::Type;

inline std::tuple<Tile> asTuple(const Tile &tile) { return tile; }
template <typename... T> std::tuple<T...> asTuple(const std::tuple<T...> &tiles) { return tiles; }

/// Without options it is a reduction.
inline Recorded beginBody(const List &tiles, int axis, const List &starts,
                          const ScanOptions *options, Where where) {
  if (!options)
    return recordAll("reduce.begin", {tiles, axis, starts}, where);
  return recordAll("scan.begin", {tiles, axis, starts, options->exclusive, options->reverse},
                   where);
}

template <typename C, typename Body>
C combineBy(const C &tiles, int axis, const StartsOf<C> &starts, Body &body,
            const ScanOptions *options, Where where) {
  Recorded begun = beginBody(Bundle<C>::to(tiles), axis, Starts<C>::list(starts), options, where);
  auto lines = std::tuple_cat(asTuple(carriedBy(begun, tiles)),
                              asTuple(carriedBy(begun, tiles, Bundle<C>::size)));
  static_assert(
      std::same_as<decltype(std::apply(body, lines)), C>,
      "the body takes the tiles so far and then the next ones, and returns as many tiles");
  C combined = std::apply(body, lines);
  if (!begun.ok)
    return tiles;
  return carriedBy(recordAll("body.end", {Bundle<C>::to(combined)}, where), tiles);
}

} // namespace detail

/// Combines the elements along axis 0 (rows become one) or 1 (columns become one): `start` with
/// the first, that with the second and so on. One tile, or a tuple of several of one shape:
///
///   auto [best, at] = reduce(std::tuple(x, iota<i32>(shape, 1)), 1, {-INFINITY, -1},
///                            [](Tile a, Tile i, Tile b, Tile j) {
///                              return std::tuple(maximum(a, b), where(b > a, j, i));
///                            });
template <typename C, typename Body>
C reduce(const C &tiles, int axis, detail::StartsOf<C> start, Body body,
         Where where = Where::current()) {
  return detail::combineBy(tiles, axis, start, body, nullptr, where);
}

template <typename Body>
Tile reduce(Tile &&tile, int axis, TileOperand start, Body body, Where where = Where::current()) {
  const Tile &x = tile;
  Tile made = detail::combineBy(x, axis, start, body, nullptr, where);
  // NOLINTNEXTLINE(performance-move-const-arg): says that nobody else has the tile
  return detail::madeOf(made, std::move(tile), where);
}

/// Keeps every step: each element becomes what `start` and the elements up to it combine to.
template <typename C, typename Body>
C scan(const C &tiles, int axis, detail::StartsOf<C> start, Body body, ScanOptions options = {},
       Where where = Where::current()) {
  return detail::combineBy(tiles, axis, start, body, &options, where);
}
template <typename Body>
Tile scan(Tile &&tile, int axis, TileOperand start, Body body, ScanOptions options = {},
          Where where = Where::current()) {
  const Tile &x = tile;
  Tile made = detail::combineBy(x, axis, start, body, &options, where);
  // NOLINTNEXTLINE(performance-move-const-arg): says that nobody else has the tile
  return detail::madeOf(made, std::move(tile), where);
}

} // namespace kiln

#endif // KILN_LANGUAGE_COMBINE_H
