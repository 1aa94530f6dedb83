//===- kiln/layout/types.h - layouts as types and as values ---------------===//
//
// What: `Layout<Shape, Stride>`, whose nesting and static numbers are types; `AnyLayout`, which is
//   all run-time value; `Tile`, layouts for the modes of another. And between them and trees: how
//   an algorithm on trees becomes an operation on typed layouts.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_TYPES_H
#define KILN_LAYOUT_TYPES_H

#include "kiln/layout/algebra.h"
#include "kiln/layout/tuple.h"

#include <initializer_list>

namespace kiln::layout {

namespace detail {
struct Access;

template <typename Shape, typename Stride>
inline constexpr bool Congruent = !IsTuple<Shape> && !IsTuple<Stride>;
template <typename... Ss, typename... Ds>
  requires(sizeof...(Ss) == sizeof...(Ds))
inline constexpr bool Congruent<Tuple<Ss...>, Tuple<Ds...>> = (Congruent<Ss, Ds> && ...);

template <typename T> inline constexpr bool IsStatic = IsInt<T>;
template <typename... Ts> inline constexpr bool IsStatic<Tuple<Ts...>> = (IsStatic<Ts> && ...);

constexpr int64_t wrappingMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
constexpr int64_t wrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// An Int when every number is static.
template <typename Shape> constexpr auto product(const Shape &shape) {
  if constexpr (!IsTuple<Shape>)
    return shape;
  else
    return [&]<typename... Ts>(const Tuple<Ts...> &) {
      return withIndices<sizeof...(Ts)>([&](auto... is) {
        if constexpr (IsStatic<Shape>)
          return Int<(decltype(product(get<is>(shape)))::Value * ...)>{};
        else
          return (int64_t{product(get<is>(shape))} * ...);
      });
    }(shape);
}

/// The offset of `coord`: an index, or a coordinate nested like the shape or less deep.
template <typename Coord, typename Shape, typename Stride>
constexpr int64_t offsetOf(const Coord &coord, const Shape &shape, const Stride &stride) {
  if constexpr (std::same_as<Coord, Keep>) {
    return 0;
  } else if constexpr (IsTuple<Coord>) {
    static_assert(IsTuple<Shape>, "the coordinate is nested deeper than the layout");
    return [&]<typename... Cs, typename... Ss>(const Tuple<Cs...> &, const Tuple<Ss...> &) {
      static_assert(sizeof...(Cs) == sizeof...(Ss),
                    "a coordinate has one element for each mode of the layout");
      int64_t offset = 0;
      withIndices<sizeof...(Ss)>([&](auto... is) {
        ((offset = wrappingAdd(offset, offsetOf(get<is>(coord), get<is>(shape), get<is>(stride)))),
         ...);
      });
      return offset;
    }(coord, shape);
  } else if constexpr (IsTuple<Shape>) {
    return [&]<typename... Ss>(const Tuple<Ss...> &) {
      int64_t offset = 0, index = coord;
      withIndices<sizeof...(Ss)>([&](auto... is) {
        auto step = [&](auto i) {
          int64_t size = product(get<i>(shape));
          // The last mode takes what remains.
          int64_t here = i + 1 == sizeof...(Ss) ? index : index % size;
          offset = wrappingAdd(offset, offsetOf(here, get<i>(shape), get<i>(stride)));
          index /= size;
        };
        (step(is), ...);
      });
      return offset;
    }(shape);
  } else {
    return wrappingMul(coord, stride);
  }
}
} // namespace detail

/// A function from coordinates to offsets: the sum of coordinate times stride over all modes.
/// Made by make_layout() and by the operations of the algebra, so that it always keeps its
/// promise: extents >= 1, strides >= 0, size and cosize fit 63 bits.
template <typename Shape, typename Stride> class Layout {
  static_assert(detail::Congruent<Shape, Stride>, "shape and stride must be nested alike");

public:
  constexpr const Shape &shape() const { return Extents; }
  constexpr const Stride &stride() const { return Strides; }

  /// The offset of one index, of one coordinate per mode, or of a tuple of those. An index counts
  /// mode 0 fastest, and one beyond the size runs on along the last mode. Never undefined: an
  /// offset that does not fit 64 bits wraps.
  template <typename... Coords> constexpr int64_t operator()(const Coords &...coords) const {
    if constexpr (sizeof...(Coords) == 1)
      return detail::offsetOf(detail::leafOf(coords)..., Extents, Strides);
    else
      return detail::offsetOf(tuple(coords...), Extents, Strides);
  }

  /// Mode I as a layout; the only mode of a layout that is not nested is itself.
  template <std::size_t I> constexpr auto mode() const {
    if constexpr (detail::IsTuple<Shape>) {
      auto shape = get<I>(Extents);
      auto stride = get<I>(Strides);
      return Layout<decltype(shape), decltype(stride)>(shape, stride);
    } else {
      static_assert(I == 0, "the layout has no mode of that number");
      return *this;
    }
  }

private:
  friend detail::Access;
  template <typename, typename> friend class Layout;
  constexpr Layout(const Shape &shape, const Stride &stride) : Extents(shape), Strides(stride) {}

  [[no_unique_address]] Shape Extents;
  [[no_unique_address]] Stride Strides;
};

/// A layout whose nesting, too, is known only at run time: for compilers and tools. Takes part in
/// every operation of the algebra, with a Result<AnyLayout> as result. At most 64 nodes, counting
/// modes and tuples; about 2 KiB, never on the heap.
class AnyLayout {
public:
  /// 1:0
  constexpr AnyLayout() { Value.Count = 1; }
  template <typename Shape, typename Stride>
  constexpr AnyLayout(const Layout<Shape, Stride> &layout);

  /// extent:stride
  static constexpr Result<AnyLayout> mode(int64_t extent, int64_t stride) {
    detail::Tree leaf;
    leaf.Count = 1;
    leaf.Nodes[0].Leaf = {{extent}, {stride}};
    return checked(leaf, {});
  }
  /// The layouts as modes of one. Fails with Overflow, TooLarge, or BadExtent if there is none.
  static constexpr Result<AnyLayout> tuple(std::initializer_list<AnyLayout> modes) {
    return tuple(modes.begin(), static_cast<int>(modes.size()));
  }
  static constexpr Result<AnyLayout> tuple(const AnyLayout *modes, int count) {
    detail::Checker check;
    check.require(count > 0, true, Error::BadExtent);
    detail::Tree result;
    result.push(check, {.Arity = count, .Leaf = {}});
    for (int i = 0; i < count; ++i)
      result.append(check, modes[i].Value);
    return checked(result, check);
  }

  constexpr bool isMode() const { return Value.isLeaf(); }
  /// Of a layout that isMode().
  constexpr int64_t extent() const { return Value.Nodes[0].Leaf.Extent.Value; }
  constexpr int64_t stride() const { return Value.Nodes[0].Leaf.Stride.Value; }
  /// 0 <= index < rank; a layout that isMode() has itself as its only mode.
  constexpr AnyLayout mode(int index) const { return AnyLayout(Value.mode(index)); }

  constexpr int64_t operator()(int64_t index) const { return detail::offsetAt(Value, index); }

  /// Same nesting, same numbers.
  friend constexpr bool operator==(const AnyLayout &a, const AnyLayout &b) {
    bool equal = a.Value.Count == b.Value.Count;
    for (int i = 0; equal && i < a.Value.Count; ++i) {
      const detail::Node &x = a.Value.Nodes[i], &y = b.Value.Nodes[i];
      equal = x.Arity == y.Arity && x.Leaf.Extent.Value == y.Leaf.Extent.Value &&
              x.Leaf.Stride.Value == y.Leaf.Stride.Value;
    }
    return equal;
  }

private:
  friend detail::Access;
  /// All numbers become fixed: there is no earlier run that had to do without them.
  constexpr explicit AnyLayout(const detail::Tree &tree) : Value(detail::fixed(tree)) {}
  static constexpr Result<AnyLayout> checked(const detail::Tree &tree, detail::Checker check) {
    AnyLayout layout(detail::validated(check, tree));
    return {layout, check.fixedFault()};
  }

  detail::Tree Value;
};

/// Layouts for the leading modes of the layout that a composition, divide or product applies to.
/// Made by tile().
template <typename... Layouts> struct Tile {
  Tuple<Layouts...> Modes;
};

//===- From types to trees and back ---------------------------------------===//

namespace detail {
template <typename T> inline constexpr bool IsLayout = std::same_as<T, AnyLayout>;
template <typename S, typename D> inline constexpr bool IsLayout<Layout<S, D>> = true;
template <typename T> inline constexpr bool IsTile = false;
template <typename... Ls> inline constexpr bool IsTile<Tile<Ls...>> = true;
/// Some part is an AnyLayout.
template <typename T> inline constexpr bool IsAny = std::same_as<T, AnyLayout>;
template <typename... Ls> inline constexpr bool IsAny<Tile<Ls...>> = (IsAny<Ls> || ...);
template <typename S, typename D>
inline constexpr bool IsStatic<Layout<S, D>> = IsStatic<S> && IsStatic<D>;
template <typename... Ls> inline constexpr bool IsStatic<Tile<Ls...>> = (IsStatic<Ls> && ...);

/// An algorithm's result, with the faults it met.
struct Outcome {
  Tree Value;
  Error FixedFault, OpenFault;
};

struct Access {
  template <typename Shape, typename Stride>
  static constexpr auto layout(const Shape &shape, const Stride &stride) {
    return Layout<Shape, Stride>(shape, stride);
  }
  static constexpr AnyLayout any(const Tree &tree) { return AnyLayout(tree); }

  // What an algorithm takes for each type of argument.
  template <typename T>
    requires IsNumber<T>
  static constexpr Num operand(const T &number) {
    return {number, IsInt<T>};
  }
  template <typename Shape, typename Stride>
  static constexpr Tree operand(const Layout<Shape, Stride> &layout) {
    Tree result;
    appendNodes(result, layout.shape(), layout.stride());
    return result;
  }
  static constexpr Tree operand(const AnyLayout &layout) { return layout.Value; }
  template <typename... Ls> static constexpr TileTree operand(const Tile<Ls...> &tile) {
    Checker check;
    Tree tiles;
    tiles.push(check, {.Arity = sizeof...(Ls), .Leaf = {}});
    withIndices<sizeof...(Ls)>(
        [&](auto... is) { (tiles.append(check, operand(get<is>(tile.Modes))), ...); });
    return {tiles, check.fixedFault()};
  }

  /// Some argument of type T: dynamic numbers are 1.
  template <typename T> static constexpr auto sample() { return Sample<T>::make(); }

private:
  template <typename Shape, typename Stride>
  static constexpr void appendNodes(Tree &tree, const Shape &shape, const Stride &stride) {
    Checker check; // finds nothing: layouts have been checked to fit a tree
    if constexpr (IsTuple<Shape>)
      [&]<typename... Ss>(const Tuple<Ss...> &) {
        tree.push(check, {.Arity = sizeof...(Ss), .Leaf = {}});
        withIndices<sizeof...(Ss)>(
            [&](auto... is) { (appendNodes(tree, get<is>(shape), get<is>(stride)), ...); });
      }(shape);
    else
      tree.push(check, {.Arity = 0, .Leaf = {operand(shape), operand(stride)}});
  }

  template <typename T> struct Sample {
    static constexpr T make() {
      if constexpr (IsInt<T>)
        return {};
      else
        return 1;
    }
  };
  template <typename... Ts> struct Sample<Tuple<Ts...>> {
    static constexpr auto make() { return Tuple<Ts...>(Sample<Ts>::make()...); }
  };
  template <typename S, typename D> struct Sample<Layout<S, D>> {
    static constexpr auto make() { return layout(Sample<S>::make(), Sample<D>::make()); }
  };
  template <typename... Ls> struct Sample<Tile<Ls...>> {
    static constexpr auto make() { return Tile<Ls...>{Sample<Tuple<Ls...>>::make()}; }
  };
};

template <typename Operation, typename... Operands>
constexpr Outcome evaluate(Operation operation, const Operands &...operands) {
  Checker check;
  Tree result = validated(check, operation(check, operands...));
  return {result, check.fixedFault(), check.openFault()};
}

/// The run of an operation that knows only the types of its arguments.
template <typename Operation, typename... Args> struct TypeRun {
  static constexpr Outcome Value =
      evaluate(Operation{}, Access::operand(Access::sample<Args>())...);
};

/// The shape, or with `Strides` the stride, of subtree `At` of `Tree`, which has the type that
/// `Run` found. Static numbers come from the type.
template <typename Run, bool Strides, int At> constexpr auto lift(const Tree &tree) {
  constexpr const Tree &type = Run::Value.Value;
  if constexpr (!type.isLeaf(At)) {
    return withIndices<type.rank(At)>([&](auto... is) {
      return tuple(lift<Run, Strides, type.child(At, static_cast<int>(is))>(tree)...);
    });
  } else {
    constexpr Num known = Strides ? type.Nodes[At].Leaf.Stride : type.Nodes[At].Leaf.Extent;
    if constexpr (known.Fixed)
      return Int<known.Value>{};
    else
      return Strides ? tree.Nodes[At].Leaf.Stride.Value : tree.Nodes[At].Leaf.Extent.Value;
  }
}

/// Runs an operation: a Layout when all arguments are static, and then broken preconditions do not
/// compile; otherwise a Result.
template <typename Operation, typename... Args> constexpr auto apply(const Args &...args) {
  if constexpr ((IsAny<Args> || ...)) {
    Outcome outcome = evaluate(Operation{}, fixed(Access::operand(args))...);
    return Result<AnyLayout>(Access::any(outcome.Value), outcome.FixedFault);
  } else {
    using Run = TypeRun<Operation, Args...>;
    requireNoError<Run::Value.FixedFault>();
    auto lifted = [](const Tree &tree) {
      return Access::layout(lift<Run, false, 0>(tree), lift<Run, true, 0>(tree));
    };
    if constexpr (Run::Value.FixedFault != Error::None) {
      return layout::AnyLayout(); // has been reported; keeps the compiler from saying more
    } else if constexpr ((IsStatic<Args> && ...)) {
      return lifted(Run::Value.Value);
    } else {
      Outcome outcome = evaluate(Operation{}, Access::operand(args)...);
      return Result(lifted(outcome.Value), outcome.OpenFault);
    }
  }
}

/// For operations without preconditions.
template <typename T> constexpr const T &total(const T &layout) { return layout; }
template <typename T> constexpr T total(const Result<T> &result) { return *result; }
} // namespace detail

template <typename Shape, typename Stride>
constexpr AnyLayout::AnyLayout(const Layout<Shape, Stride> &layout)
    : AnyLayout(detail::Access::operand(layout)) {}

} // namespace kiln::layout

#endif // KILN_LAYOUT_TYPES_H
