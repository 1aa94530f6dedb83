//===- kiln/layout.h - layout algebra -------------------------------------===//
//
// What: layouts, functions from coordinates to offsets, and operations that make new ones: pick
//   tiles out of a tensor, repeat a block, invert, reinterpret. docs/layout.md explains them by
//   example. Written shape:stride, as in (4,8):(1,4).
//
// Use: host code, the compiler and device code; constexpr throughout. No heap, no exceptions, no
//   global state; everything is a value, so threads need no care.
//
// Numbers: static (`Int<4>`, `4_c`) or dynamic (any integer, held as int64_t), freely mixed in one
//   layout. Mode 0 of a shape is the fastest; the last mode takes whatever remains of an index.
//
// Errors: an operation whose arguments are all static returns a Layout, and a broken precondition
//   is a static_assert. With a dynamic number among them it returns a Result<Layout>: also when
//   the numbers that matter happen to be static, so that adding a check changes no signature.
//   Operations on an AnyLayout return a Result<AnyLayout>. What has no precondition beyond a valid
//   layout (size, cosize, rank, depth, crd2idx, idx2crd, coalesce, right_inverse, slice) returns
//   its value in every case.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_H
#define KILN_LAYOUT_H

#include "kiln/layout/swizzle.h"
#include "kiln/layout/types.h"

namespace kiln::layout {

namespace detail {
// The algorithms as types, so that TypeRun can name them.
struct Validate {
  constexpr Tree operator()(Checker &, const Tree &layout) const { return layout; }
};
struct Compact {
  constexpr Tree operator()(Checker &check, Tree layout) const {
    Num stride{1};
    layout = validated(check, layout);
    for (int at = 0; at < layout.Count; ++at)
      if (layout.isLeaf(at)) {
        layout.Nodes[at].Leaf.Stride = stride;
        stride = check.mul(stride, layout.Nodes[at].Leaf.Extent);
      }
    return layout;
  }
};
struct Coalesce {
  constexpr Tree operator()(Checker &check, const Tree &layout) const {
    return coalesce(check, layout);
  }
};
struct Compose {
  constexpr Tree operator()(Checker &check, const Tree &a, const auto &b) const {
    return compose(check, a, b);
  }
};
struct Complement {
  constexpr Tree operator()(Checker &check, const Tree &layout, Num size) const {
    return complement(check, layout, size);
  }
};
struct RightInverse {
  constexpr Tree operator()(Checker &check, const Tree &layout) const {
    return rightInverse(check, layout);
  }
};
struct LeftInverse {
  constexpr Tree operator()(Checker &check, const Tree &layout) const {
    return leftInverse(check, layout);
  }
};
struct Divide {
  constexpr Tree operator()(Checker &check, const Tree &layout, const auto &tile) const {
    return divide(check, layout, tile);
  }
};
struct Multiply {
  constexpr Tree operator()(Checker &check, const Tree &block, const auto &tiler) const {
    return multiply(check, block, tiler);
  }
};
template <typename Operation> struct Zipped {
  constexpr Tree operator()(Checker &check, const Tree &layout, const auto &tile) const {
    return zipped(check, Operation{}(check, layout, tile), tile);
  }
};
template <typename Operation> struct Tiled {
  constexpr Tree operator()(Checker &check, const Tree &layout, const auto &tile) const {
    return tiled(check, Zipped<Operation>{}(check, layout, tile));
  }
};
template <typename Operation> struct Flat {
  constexpr Tree operator()(Checker &check, const Tree &layout, const auto &tile) const {
    return flat(check, Zipped<Operation>{}(check, layout, tile));
  }
};
template <bool BlockFirst> struct Interleave {
  constexpr Tree operator()(Checker &check, const Tree &block, const Tree &tiler) const {
    return interleave(check, block, tiler, BlockFirst);
  }
};
template <int64_t OldBits, int64_t NewBits> struct Recast {
  constexpr Tree operator()(Checker &check, const Tree &layout) const {
    return recast(check, layout, OldBits, NewBits);
  }
};

/// The modes of `layout` for which a coordinate of type Coord has `keep`, nested as before, except
/// that a tuple of which one mode is kept becomes that mode. Empty when it keeps none.
template <typename Coord> struct Kept {
  static constexpr Tree modes(Checker &, const Tree &layout) {
    return std::same_as<Coord, Keep> ? layout : Tree{};
  }
};
template <typename... Coords> struct Kept<Tuple<Coords...>> {
  static constexpr Tree modes(Checker &check, const Tree &layout) {
    Tree result, kept;
    int count = 0, at = 0;
    auto add = [&](const Tree &mode) {
      kept.append(check, mode);
      count += mode.Count > 0;
    };
    (add(Kept<Coords>::modes(check, layout.mode(at++))), ...);
    if (count > 1)
      result.push(check, {.Arity = count, .Leaf = {}});
    result.append(check, kept);
    return result;
  }
};
template <typename Coord> struct Slice {
  constexpr Tree operator()(Checker &check, const Tree &layout) const {
    Tree kept = Kept<Coord>::modes(check, layout);
    return kept.Count > 0 ? kept : treeOf(check, {});
  }
};

template <typename T> inline constexpr int NodeCount = 1;
template <typename... Ts> inline constexpr int NodeCount<Tuple<Ts...>> = 1 + (NodeCount<Ts> + ...);

template <typename Shape> constexpr auto zerosLike(const Shape &shape) {
  if constexpr (IsTuple<Shape>)
    return [&]<typename... Ts>(const Tuple<Ts...> &) {
      return withIndices<sizeof...(Ts)>(
          [&](auto... is) { return tuple(zerosLike(get<is>(shape))...); });
    }(shape);
  else
    return Int<0>{};
}

template <typename Shape> constexpr auto coordinateOf(int64_t index, const Shape &shape) {
  if constexpr (IsTuple<Shape>)
    return [&]<typename... Ts>(const Tuple<Ts...> &) {
      auto element = [&](auto i) {
        int64_t size = product(get<i>(shape));
        int64_t here = i + 1 == sizeof...(Ts) ? index : index % size;
        index /= size;
        return coordinateOf(here, get<i>(shape));
      };
      // Braces, because they are evaluated from left to right.
      return withIndices<sizeof...(Ts)>(
          [&](auto... is) { return Tuple<decltype(element(is))...>{element(is)...}; });
    }(shape);
  else
    return index;
}

template <typename T>
concept LayoutType = IsLayout<T>;
template <typename T>
concept TilerType = IsLayout<T> || IsTile<T>;
template <typename T>
concept NumberType = IsNumber<T>;
} // namespace detail

//===- Making layouts -----------------------------------------------------===//

/// shape:stride, nested alike. Fails with BadExtent, NegativeStride or Overflow.
template <typename Shape, typename Stride>
constexpr auto make_layout(const Shape &shape, const Stride &stride) {
  static_assert(detail::NodeCount<Shape> <= detail::MaxNodes,
                "a layout must not have more than 64 nodes");
  return detail::apply<detail::Validate>(
      detail::Access::layout(detail::leafOf(shape), detail::leafOf(stride)));
}

/// Without gaps, mode 0 fastest: (4,8) gives (4,8):(1,4). Fails with BadExtent or Overflow.
template <typename Shape> constexpr auto make_layout(const Shape &shape) {
  static_assert(detail::NodeCount<Shape> <= detail::MaxNodes,
                "a layout must not have more than 64 nodes");
  return detail::apply<detail::Compact>(
      detail::Access::layout(detail::leafOf(shape), detail::zerosLike(shape)));
}

/// One layout per mode; a static integer N stands for N:1.
template <typename... Parts> constexpr auto tile(const Parts &...parts) {
  static_assert(((detail::IsLayout<Parts> || detail::IsInt<Parts>) && ...),
                "a tile is made of layouts and static integers");
  auto layoutOf = [](const auto &part) {
    if constexpr (detail::IsLayout<std::decay_t<decltype(part)>>)
      return part;
    else
      return make_layout(part);
  };
  return Tile<decltype(layoutOf(parts))...>{
      Tuple<decltype(layoutOf(parts))...>(layoutOf(parts)...)};
}

//===- Looking at layouts -------------------------------------------------===//

/// The number of coordinates. An Int when the shape is static.
template <typename Shape, typename Stride>
constexpr auto size(const Layout<Shape, Stride> &layout) {
  return detail::product(layout.shape());
}
constexpr int64_t size(const AnyLayout &layout) {
  detail::Checker check;
  return detail::sizeOf(check, detail::Access::operand(layout)).Value;
}

/// One more than the largest offset, 1 + sum (extent - 1) * stride: the elements that memory
/// behind the layout must have. An Int when the layout is static.
template <detail::LayoutType L> constexpr auto cosize(const L &layout) {
  auto calculate = [](const L &layout) {
    detail::Checker check;
    return detail::cosizeOf(check, detail::Access::operand(layout)).Value;
  };
  if constexpr (detail::IsStatic<L>)
    return Int<calculate(detail::Access::sample<L>())>{};
  else
    return calculate(layout);
}

/// The number of modes; 1 when the layout is a single mode.
template <typename Shape, typename Stride> constexpr auto rank(const Layout<Shape, Stride> &) {
  return []<typename... Ts>(std::type_identity<Tuple<Ts...>>) {
    return Int<sizeof...(Ts)>{};
  }(std::type_identity<std::conditional_t<detail::IsTuple<Shape>, Shape, Tuple<Shape>>>{});
}
constexpr int64_t rank(const AnyLayout &layout) { return detail::Access::operand(layout).rank(); }

/// How deep the modes are nested; 0 when the layout is a single mode.
template <detail::LayoutType L> constexpr auto depth(const L &layout) {
  if constexpr (detail::IsAny<L>)
    return int64_t{detail::depthOf(detail::Access::operand(layout))};
  else
    return Int<detail::depthOf(detail::Access::operand(detail::Access::sample<L>()))>{};
}

/// layout(coord): the offset of an index or of a tuple of coordinates.
template <typename Coord, detail::LayoutType L>
constexpr int64_t crd2idx(const Coord &coord, const L &layout) {
  return layout(coord);
}

/// The coordinate, nested like the shape, of an index into the domain; the last mode takes the
/// remainder. layout(idx2crd(i, layout)) == layout(i).
template <typename Shape, typename Stride>
constexpr auto idx2crd(int64_t index, const Layout<Shape, Stride> &layout) {
  return detail::coordinateOf(index, layout.shape());
}

//===- Algebra ------------------------------------------------------------===//

/// The same function with as few modes as the static numbers allow.
template <detail::LayoutType L> constexpr auto coalesce(const L &layout) {
  return detail::total(detail::apply<detail::Coalesce>(layout));
}

/// c -> a(b(c)), nested like b. Beyond the size of `a` it follows the last mode of coalesce(a).
/// With a Tile each mode of `a` is composed with the layout given for it. Fails with NotDivisible
/// where an extent or stride of b cuts through a mode of a, or modes of b carry.
template <detail::LayoutType A, detail::TilerType B>
constexpr auto composition(const A &a, const B &b) {
  return detail::apply<detail::Compose>(a, b);
}

/// What `layout` leaves out of [0, size): every offset there is, in exactly one way, an offset of
/// the layout plus one of the complement. Rounds up where the layout does not divide `size`. Fails
/// with NotInjective, or with BadExtent when size < 1.
template <detail::LayoutType L, detail::NumberType Size>
constexpr auto complement(const L &layout, const Size &size) {
  return detail::apply<detail::Complement>(layout, size);
}
/// With size = cosize(layout): only the gaps.
template <detail::LayoutType L> constexpr auto complement(const L &layout) {
  return complement(layout, cosize(layout));
}

/// The largest layout r found with layout(r(i)) == i for all i < size(r): it covers the offsets
/// 0, 1, ... that the layout's modes reach without a gap; 1:0 if they do not reach 1.
template <detail::LayoutType L> constexpr auto right_inverse(const L &layout) {
  return detail::total(detail::apply<detail::RightInverse>(layout));
}

/// A layout l with l(layout(i)) == i for all i < size(layout). Fails with NotInjective.
template <detail::LayoutType L> constexpr auto left_inverse(const L &layout) {
  return detail::apply<detail::LeftInverse>(layout);
}

/// (tile, rest): mode 0 walks over one tile of the layout, mode 1 from tile to tile. Rounds up: the
/// size of the result exceeds that of the layout when tiles hang over, and then accesses have to be
/// predicated. With a Tile each mode is divided: ((tile, rest), (tile, rest), ...). Fails with
/// NotInjective or NotDivisible.
template <detail::LayoutType L, detail::TilerType T>
constexpr auto logical_divide(const L &layout, const T &tile) {
  return detail::apply<detail::Divide>(layout, tile);
}
/// ((tiles of all modes), (rests of all modes, modes without a tile))
template <detail::LayoutType L, detail::TilerType T>
constexpr auto zipped_divide(const L &layout, const T &tile) {
  return detail::apply<detail::Zipped<detail::Divide>>(layout, tile);
}
/// ((tiles), rest, rest, ...)
template <detail::LayoutType L, detail::TilerType T>
constexpr auto tiled_divide(const L &layout, const T &tile) {
  return detail::apply<detail::Tiled<detail::Divide>>(layout, tile);
}
/// (tile, tile, ..., rest, rest, ...)
template <detail::LayoutType L, detail::TilerType T>
constexpr auto flat_divide(const L &layout, const T &tile) {
  return detail::apply<detail::Flat<detail::Divide>>(layout, tile);
}

/// (block, copies): mode 0 is the block, mode 1 walks over copies of it arranged like `tiler`. With
/// a Tile each mode is multiplied. Fails with NotInjective, NotDivisible or Overflow.
template <detail::LayoutType L, detail::TilerType T>
constexpr auto logical_product(const L &block, const T &tiler) {
  return detail::apply<detail::Multiply>(block, tiler);
}
/// zipped_product, tiled_product, flat_product: arranged like the divides of those names.
template <detail::LayoutType L, detail::TilerType T>
constexpr auto zipped_product(const L &block, const T &tiler) {
  return detail::apply<detail::Zipped<detail::Multiply>>(block, tiler);
}
template <detail::LayoutType L, detail::TilerType T>
constexpr auto tiled_product(const L &block, const T &tiler) {
  return detail::apply<detail::Tiled<detail::Multiply>>(block, tiler);
}
template <detail::LayoutType L, detail::TilerType T>
constexpr auto flat_product(const L &block, const T &tiler) {
  return detail::apply<detail::Flat<detail::Multiply>>(block, tiler);
}

/// logical_product, with mode i of the block and of the tiler joined: within a mode the elements
/// of a block stay together.
template <detail::LayoutType L, detail::LayoutType T>
constexpr auto blocked_product(const L &block, const T &tiler) {
  return detail::apply<detail::Interleave<true>>(block, tiler);
}
/// The same, but within a mode the copies of an element stay together: blocks are interleaved.
template <detail::LayoutType L, detail::LayoutType T>
constexpr auto raked_product(const L &block, const T &tiler) {
  return detail::apply<detail::Interleave<false>>(block, tiler);
}

/// The same memory seen as elements of another width. Narrower elements lie along the mode that
/// has a static stride of 1; wider ones must be made of whole runs of elements, and dynamic strides
/// must be multiples of them. Fails with BadRecast.
template <int64_t OldBits, int64_t NewBits, detail::LayoutType L>
constexpr auto recast(const L &layout) {
  return detail::apply<detail::Recast<OldBits, NewBits>>(layout);
}

/// What slice() returns.
template <typename L> struct Sliced {
  L layout;
  int64_t offset;
};

/// Fixes the modes for which `coord` has a number and keeps those for which it has `keep`:
/// layout(full coordinate) == sliced.layout(kept coordinates) + sliced.offset.
template <typename Shape, typename Stride, typename Coord>
constexpr auto slice(const Layout<Shape, Stride> &layout, Coord coord) {
  int64_t offset = layout(coord); // also checks that they are nested alike
  return Sliced{detail::total(detail::apply<detail::Slice<Coord>>(layout)), offset};
}

} // namespace kiln::layout

#endif // KILN_LAYOUT_H
