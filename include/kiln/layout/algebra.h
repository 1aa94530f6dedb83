//===- kiln/layout/algebra.h - the algorithms of the layout algebra -------===//
//
// What: each operation once, on trees. `kiln/layout.h` gives them their public, typed form; what
//   they mean is said there and in docs/layout.md. How open numbers are treated: see tree.h.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_ALGEBRA_H
#define KILN_LAYOUT_ALGEBRA_H

#include "kiln/layout/tree.h"

namespace kiln::layout::detail {

/// A tile: one layout for each leading mode of the layout it applies to.
struct TileTree {
  Tree Tiles;
  Error Fault = Error::None;
};

constexpr TileTree fixed(const TileTree &tile) { return {fixed(tile.Tiles), tile.Fault}; }

//===- Coalesce -----------------------------------------------------------===//

constexpr Modes coalesceModes(Checker &check, const Modes &modes) {
  Modes result;
  for (int i = 0; i < modes.Count; ++i) {
    Mode mode = modes.List[i];
    if (mode.Extent.is(1))
      continue;
    if (result.Count > 0) {
      Mode &last = result.List[result.Count - 1];
      // Not last.Extent * last.Stride, which may overflow.
      if (last.Extent.Fixed && last.Stride.Fixed && mode.Stride.Fixed &&
          divides(last.Extent.Value, mode.Stride.Value) &&
          mode.Stride.Value / last.Extent.Value == last.Stride.Value) {
        last.Extent = check.mul(last.Extent, mode.Extent);
        continue;
      }
    }
    result.push(check, mode);
  }
  return result;
}

constexpr Tree coalesce(Checker &check, const Tree &layout) {
  return treeOf(check, coalesceModes(check, leavesOf(layout)));
}

//===- Composition --------------------------------------------------------===//

/// Composition with the modes of a second layout, one after the other. Composing mode by mode is
/// right only if, when the modes add up, nothing carries from one mode of `a` into the next.
class Composer {
public:
  constexpr Composer(Checker &check, const Tree &a)
      : Check(check), Left(coalesceModes(check, leavesOf(a))) {
    if (Left.Count == 0)
      Left.push(check, {});
  }

  /// The modes of k -> a(k * b.Stride), k < b.Extent. Walks up the modes of `a`: what is left of b
  /// at each are `extent` steps of `stride` elements of that mode.
  constexpr Modes compose(Mode b) {
    Modes result;
    Num extent = b.Extent, stride = b.Stride;
    for (int i = 0; i < Left.Count && !extent.is(1); ++i) {
      Mode mode = Left.List[i];
      // The last mode is unbounded; steps of 0 never leave a mode.
      if (i + 1 == Left.Count || stride.is(0)) {
        result.push(Check, {extent, Check.mul(stride, mode.Stride)});
        break;
      }
      if (!stride.Fixed || !mode.Extent.Fixed || !divides(mode.Extent.Value, stride.Value)) {
        Num taken = stepsInside(mode.Extent, extent, stride);
        if (!taken.is(1))
          result.push(Check, {taken, Check.mul(stride, mode.Stride)});
        extent = ceilDiv(extent, taken);
        Reached[i] = Check.add(Reached[i], Check.mul({taken.Value - 1, taken.Fixed}, stride));
        Check.require(Reached[i].Value < mode.Extent.Value, Reached[i].Fixed && mode.Extent.Fixed,
                      Error::NotDivisible);
      }
      stride = ceilDiv(stride, mode.Extent);
    }
    return result;
  }

private:
  /// How many of `extent` steps of `stride` a mode of extent `bound` takes. The steps stay inside
  /// the mode, or fill it exactly and go on in the next one, or skip it.
  constexpr Num stepsInside(Num bound, Num extent, Num stride) {
    Num reach = stride.Value == 0 ? Num{MaxInt, false} : ceilDiv(bound, stride);
    bool stay = extent.Value <= reach.Value;
    bool fill = divides(stride.Value, bound.Value) && divides(reach.Value, extent.Value);
    bool skip = divides(bound.Value, stride.Value);
    Check.require(stay || fill || skip, bound.Fixed && extent.Fixed && stride.Fixed,
                  Error::NotDivisible);
    return minExtent(extent, reach);
  }

  Checker &Check;
  Modes Left;
  Num Reached[MaxNodes]; // the largest coordinate in each mode of the left layout
};

/// Nested like `b`; a mode of b that crosses modes of a becomes a tuple.
constexpr Tree compose(Checker &check, const Tree &a, const Tree &b) {
  Composer composer(check, a);
  Tree result;
  for (int at = 0; at < b.Count; ++at) {
    if (b.isLeaf(at))
      result.append(check, treeOf(check, composer.compose(b.Nodes[at].Leaf)));
    else
      result.push(check, b.Nodes[at]);
  }
  return result;
}

//===- Complement and inverses --------------------------------------------===//

/// The positions of the modes by ascending stride. With open strides the order is only known when
/// the program runs, and then no number at any position is fixed.
struct StrideOrder {
  int Position[MaxNodes] = {};
  bool Fixed = true;

  constexpr explicit StrideOrder(const Modes &modes) {
    for (int i = 0; i < modes.Count; ++i)
      Fixed = Fixed && (modes.List[i].Stride.Fixed || modes.Count == 1);
    for (int i = 0; i < modes.Count; ++i) {
      int at = i;
      for (; at > 0 && before(modes.List[i], modes.List[Position[at - 1]]); --at)
        Position[at] = Position[at - 1];
      Position[at] = i;
    }
  }
  constexpr bool before(const Mode &a, const Mode &b) const {
    if (a.Stride.Value != b.Stride.Value)
      return a.Stride.Value < b.Stride.Value;
    return !Fixed && a.Extent.Value < b.Extent.Value;
  }
  constexpr Num select(Num num) const { return {num.Value, num.Fixed && Fixed}; }
  constexpr Mode select(Mode mode) const { return {select(mode.Extent), select(mode.Stride)}; }
};

/// The modes that say something: not extent 1. An open stride of a mode that turns out to have
/// extent 1 means nothing and becomes 1, which is in nobody's way.
constexpr Modes properModes(Checker &check, const Tree &layout) {
  Modes leaves = leavesOf(layout), result;
  for (int i = 0; i < leaves.Count; ++i) {
    Mode mode = leaves.List[i];
    if (!mode.Stride.Fixed && mode.Extent.Value == 1)
      mode.Stride.Value = 1;
    if (!mode.Extent.is(1))
      result.push(check, mode);
  }
  return result;
}

/// Fills the gaps between the modes, by ascending stride, and then on to `size`, rounded up.
constexpr Modes complementModes(Checker &check, const Tree &layout, Num size) {
  check.require(size.Value >= 1, size.Fixed, Error::BadExtent);
  size.Value = size.Value >= 1 ? size.Value : 1;
  Modes modes = properModes(check, layout), result;
  StrideOrder order(modes);
  Num filled{1};
  for (int i = 0; i < modes.Count; ++i) {
    auto [extent, stride] = order.select(modes.List[order.Position[i]]);
    check.require(stride.Value > 0 && divides(filled.Value, stride.Value),
                  stride.Fixed && filled.Fixed, Error::NotInjective);
    stride.Value = stride.Value > 0 ? stride.Value : 1;
    result.push(check, {ceilDiv(stride, filled), filled});
    filled = check.mul(extent, stride);
  }
  result.push(check, {ceilDiv(size, filled), filled});
  return coalesceModes(check, result);
}

constexpr Tree complement(Checker &check, const Tree &layout, Num size) {
  return treeOf(check, complementModes(check, layout, size));
}

/// Chains the modes of stride 1, 1 * extent, ...: what the chain covers can be inverted.
constexpr Modes invertModes(Checker &check, const Modes &modes) {
  Num weights[MaxNodes]; // the step of the domain that moves along each mode
  Num size{1};
  for (int i = 0; i < modes.Count; ++i) {
    weights[i] = size;
    size = check.mul(size, modes.List[i].Extent);
  }
  StrideOrder order(modes);
  Modes result;
  Num covered{1};
  for (int i = 0; i < modes.Count; ++i) {
    int at = order.Position[i];
    auto [extent, stride] = order.select(modes.List[at]);
    Num weight = order.select(weights[at]);
    bool fixed = stride.Fixed && covered.Fixed, continues = stride.Value == covered.Value;
    if (fixed && !continues)
      continue;
    // When it is open whether the mode continues the chain, one that does not has extent 1.
    extent = {continues ? extent.Value : 1, extent.Fixed && fixed};
    result.push(check, {extent, {weight.Value, weight.Fixed && fixed}});
    covered = check.mul(covered, extent);
  }
  return coalesceModes(check, result);
}

constexpr Tree rightInverse(Checker &check, const Tree &layout) {
  return treeOf(check, invertModes(check, coalesceModes(check, leavesOf(layout))));
}

/// With its complement beside it, an injective layout is a bijection; that has one inverse.
constexpr Tree leftInverse(Checker &check, const Tree &layout) {
  Modes modes = properModes(check, layout);
  Modes gaps = complementModes(check, layout, cosizeOf(check, layout));
  for (int i = 0; i < gaps.Count; ++i)
    modes.push(check, gaps.List[i]);
  return treeOf(check, invertModes(check, modes));
}

//===- Divide and product -------------------------------------------------===//

/// (tile, rest): `tile` picked out of `layout`, and where the tiles begin.
constexpr Tree divide(Checker &check, const Tree &layout, const Tree &tile) {
  Tree rest = complement(check, tile, sizeOf(check, layout));
  return compose(check, layout, pairOf(check, tile, rest));
}

/// (block, rest): `block`, and where the copies of it begin, arranged like `tiler`.
constexpr Tree multiply(Checker &check, const Tree &block, const Tree &tiler) {
  Num size = check.mul(sizeOf(check, block), cosizeOf(check, tiler));
  return pairOf(check, block, compose(check, complement(check, block, size), tiler));
}

/// Applies `operation` mode by mode; modes beyond the tile stay as they are.
template <typename Operation>
constexpr Tree byMode(Checker &check, const Tree &layout, const TileTree &tile,
                      Operation operation) {
  int tiled = tile.Tiles.rank();
  check.require(tile.Fault == Error::None, true, tile.Fault);
  check.require(tiled <= layout.rank(), true, Error::RankMismatch);
  Tree result;
  result.push(check, {.Arity = layout.rank(), .Leaf = {}});
  for (int i = 0; i < layout.rank(); ++i)
    result.append(check, i < tiled ? operation(check, layout.mode(i), tile.Tiles.mode(i))
                                   : layout.mode(i));
  return result;
}

constexpr Tree compose(Checker &check, const Tree &a, const TileTree &b) {
  return byMode(check, a, b, [](Checker &check, const Tree &mode, const Tree &tile) {
    return compose(check, mode, tile);
  });
}
constexpr Tree divide(Checker &check, const Tree &layout, const TileTree &tile) {
  return byMode(check, layout, tile, [](Checker &check, const Tree &mode, const Tree &tile) {
    return divide(check, mode, tile);
  });
}
constexpr Tree multiply(Checker &check, const Tree &block, const TileTree &tiler) {
  return byMode(check, block, tiler, [](Checker &check, const Tree &mode, const Tree &tile) {
    return multiply(check, mode, tile);
  });
}

/// (tile, rest) of a divide or product as it is; of one by mode, the tiles and rests of all modes
/// gathered: ((tile, tile, ...), (rest, rest, ..., untiled modes)).
constexpr Tree zipped(Checker &, const Tree &result, const Tree &) { return result; }
constexpr Tree zipped(Checker &check, const Tree &result, const TileTree &tile) {
  int tiled = tile.Tiles.rank();
  Tree tiles, rests;
  tiles.push(check, {.Arity = tiled, .Leaf = {}});
  rests.push(check, {.Arity = result.rank(), .Leaf = {}});
  for (int i = 0; i < result.rank(); ++i) {
    Tree mode = result.mode(i);
    if (i < tiled)
      tiles.append(check, mode.mode(0));
    rests.append(check, i < tiled ? mode.mode(1) : mode);
  }
  return pairOf(check, tiles, rests);
}

/// ((a, b), (c, d)) -> ((a, b), c, d)
constexpr Tree tiled(Checker &check, const Tree &zipped) {
  Tree tile = zipped.mode(0), rest = zipped.mode(1), result;
  result.push(check, {.Arity = 1 + rest.rank(), .Leaf = {}});
  result.append(check, tile);
  result.appendModes(check, rest);
  return result;
}

/// ((a, b), (c, d)) -> (a, b, c, d)
constexpr Tree flat(Checker &check, const Tree &zipped) {
  Tree tile = zipped.mode(0), rest = zipped.mode(1), result;
  result.push(check, {.Arity = tile.rank() + rest.rank(), .Leaf = {}});
  result.appendModes(check, tile);
  result.appendModes(check, rest);
  return result;
}

/// A product whose mode i pairs mode i of the block with mode i of the arrangement.
constexpr Tree interleave(Checker &check, const Tree &block, const Tree &tiler, bool blockFirst) {
  Tree product = multiply(check, block, tiler);
  Tree copies = product.mode(1);
  int rank = block.rank() > tiler.rank() ? block.rank() : tiler.rank();
  Tree one = treeOf(check, {}), result;
  result.push(check, {.Arity = rank, .Leaf = {}});
  for (int i = 0; i < rank; ++i) {
    Tree inner = i < block.rank() ? block.mode(i) : one;
    // Composition may have made a tuple of a tiler that is a single mode.
    Tree outer = tiler.isLeaf() && i == 0 ? copies : i < tiler.rank() ? copies.mode(i) : one;
    result.append(check, blockFirst ? pairOf(check, inner, outer) : pairOf(check, outer, inner));
  }
  return result;
}

//===- Recast -------------------------------------------------------------===//

/// To elements `ratio` times as wide. The modes below the new width must fill it exactly.
constexpr Tree widen(Checker &check, Tree layout, int64_t ratio) {
  Num wide{ratio}, merged{1};
  Modes parts;
  for (int at = 0; at < layout.Count; ++at) {
    auto &[extent, stride] = layout.Nodes[at].Leaf;
    if (!stride.Fixed || divides(ratio, stride.Value)) {
      check.require(divides(ratio, stride.Value) || extent.Value == 1, stride.Fixed,
                    Error::BadRecast);
    } else if (!extent.is(1)) {
      Num reach = ceilDiv(wide, stride), part = minExtent(extent, reach);
      check.require(divides(stride.Value, ratio), true, Error::BadRecast);
      check.require(divides(part.Value, extent.Value) && divides(part.Value, reach.Value),
                    part.Fixed, Error::BadRecast);
      parts.push(check, {part, stride});
      merged = check.mul(merged, part);
      extent = ceilDiv(extent, part);
    }
    stride = ceilDiv(stride, wide);
  }
  Num covered = sizeOf(check, treeOf(check, invertModes(check, parts)));
  check.require(merged.Value == ratio && covered.Value == ratio, merged.Fixed && covered.Fixed,
                Error::BadRecast);
  return layout;
}

/// To elements of which `ratio` make an old one: they lie along the mode of unit stride.
constexpr Tree narrow(Checker &check, Tree layout, int64_t ratio) {
  int unit = -1;
  for (int at = layout.Count - 1; at >= 0; --at)
    if (layout.isLeaf(at) && layout.Nodes[at].Leaf.Stride.is(1))
      unit = at;
  // The stride of a mode of extent 1 may be taken to be 1.
  for (int at = 0; at < layout.Count && unit < 0; ++at)
    if (layout.isLeaf(at) && layout.Nodes[at].Leaf.Extent.is(1))
      unit = at;
  check.require(unit >= 0, true, Error::BadRecast);
  for (int at = 0; at < layout.Count; ++at) {
    auto &[extent, stride] = layout.Nodes[at].Leaf;
    if (at == unit) {
      extent = check.mul(extent, {ratio});
      stride = {1};
    } else {
      stride = check.mul(stride, {ratio});
    }
  }
  return layout;
}

constexpr Tree recast(Checker &check, const Tree &layout, int64_t oldBits, int64_t newBits) {
  bool good =
      oldBits > 0 && newBits > 0 && (divides(oldBits, newBits) || divides(newBits, oldBits));
  check.require(good, true, Error::BadRecast);
  if (!good || oldBits == newBits)
    return layout;
  return newBits > oldBits ? widen(check, layout, newBits / oldBits)
                           : narrow(check, layout, oldBits / newBits);
}

//===- Evaluation ---------------------------------------------------------===//

/// The offset of a linear index into the subtree at `node`. Wraps instead of overflowing.
constexpr int64_t offsetAt(const Tree &tree, int64_t index, int node = 0) {
  if (tree.isLeaf(node))
    return static_cast<int64_t>(static_cast<uint64_t>(index) *
                                static_cast<uint64_t>(tree.Nodes[node].Leaf.Stride.Value));
  uint64_t offset = 0;
  for (int i = 0; i < tree.rank(node); ++i) {
    int at = tree.child(node, i);
    int64_t size = 1;
    for (int leaf = at; leaf < tree.end(at); ++leaf)
      size *= tree.Nodes[leaf].Leaf.Extent.Value; // 1 for tuples
    bool last = i + 1 == tree.rank(node);
    offset += static_cast<uint64_t>(offsetAt(tree, last ? index : index % size, at));
    index /= size;
  }
  return static_cast<int64_t>(offset);
}

} // namespace kiln::layout::detail

#endif // KILN_LAYOUT_ALGEBRA_H
