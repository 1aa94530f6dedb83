//===- kiln/layout/tree.h - layouts as values, for the algebra ------------===//
//
// What: the data the layout algebra works on. A `Tree` is a layout as a plain value; its numbers
//   are `Num`s; a `Checker` calculates with them and remembers what went wrong.
//
// Why: the same algorithm has to run in two ways. The compiler runs it on what the types say and
//   learns the nesting of the result and its static numbers; the program runs it again on the
//   actual numbers. Both must arrive at the same nesting, so an algorithm may only branch on
//   numbers that are `Fixed`, those known in both runs. It treats the others so that the result is
//   right whatever they are, at worst with modes that turn out to have extent 1.
//
// For the same reason an algorithm does not stop at a broken precondition: the first run has no
//   actual numbers to judge by. The Checker keeps faults of fixed and of open numbers apart, and
//   the algorithm goes on with some defined number.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_TREE_H
#define KILN_LAYOUT_TREE_H

#include "kiln/layout/result.h"

#include <cstdint>

namespace kiln::layout::detail {

inline constexpr int64_t MaxInt = INT64_MAX;
/// Modes and tuples of modes in one layout.
inline constexpr int MaxNodes = 64;

/// A non-negative number. `Fixed`: known whenever the algorithm runs; otherwise "open".
struct Num {
  int64_t Value = 0;
  bool Fixed = true;

  constexpr bool is(int64_t value) const { return Fixed && Value == value; }
};

/// Arithmetic that cannot overflow or divide by zero: it notes the fault and saturates.
class Checker {
public:
  constexpr void require(bool holds, bool fixed, Error error) {
    Error &slot = fixed ? FixedFault : OpenFault;
    if (!holds && slot == Error::None)
      slot = error;
  }

  constexpr Num mul(Num a, Num b) {
    if (a.is(0) || b.is(0))
      return {0};
    bool fixed = a.Fixed && b.Fixed, fits = b.Value == 0 || a.Value <= MaxInt / b.Value;
    require(fits, fixed, Error::Overflow);
    return {fits ? a.Value * b.Value : MaxInt, fixed};
  }
  constexpr Num add(Num a, Num b) {
    bool fixed = a.Fixed && b.Fixed, fits = a.Value <= MaxInt - b.Value;
    require(fits, fixed, Error::Overflow);
    return {fits ? a.Value + b.Value : MaxInt, fixed};
  }

  /// The first fault that fixed numbers have: there in every run.
  constexpr Error fixedFault() const { return FixedFault; }
  /// The first fault that open numbers have: means something only when they are the actual ones.
  constexpr Error openFault() const { return OpenFault; }

private:
  Error FixedFault = Error::None;
  Error OpenFault = Error::None;
};

/// Rounds up. Division by 0, which only follows a fault, gives the dividend.
constexpr Num ceilDiv(Num a, Num b) {
  int64_t quotient = a.Value;
  if (b.Value > 1)
    quotient = a.Value / b.Value + (a.Value % b.Value != 0);
  return {quotient, a.Fixed && b.Fixed};
}

/// Of extents, so a fixed 1 decides.
constexpr Num minExtent(Num a, Num b) {
  if (a.is(1) || b.is(1))
    return {1};
  return {a.Value < b.Value ? a.Value : b.Value, a.Fixed && b.Fixed};
}

constexpr bool divides(int64_t divisor, int64_t value) {
  return divisor != 0 && value % divisor == 0;
}

/// The innermost part of a layout: `Extent` elements, `Stride` apart.
struct Mode {
  Num Extent{1};
  Num Stride{0};
};

/// Modes side by side, the first one fastest.
struct Modes {
  int Count = 0;
  Mode List[MaxNodes];

  constexpr void push(Checker &check, Mode mode) {
    check.require(Count < MaxNodes, true, Error::TooLarge);
    if (Count < MaxNodes)
      List[Count++] = mode;
  }
};

/// A leaf (Arity 0) is a mode; any other node is a tuple of the `Arity` subtrees behind it.
struct Node {
  int Arity = 0;
  Mode Leaf;
};

/// A layout: its nodes in preorder. Node 0 is the root.
struct Tree {
  int Count = 0;
  // One more than is ever filled, a leaf: a tree cut off as TooLarge can still be walked.
  Node Nodes[MaxNodes + 1];

  constexpr bool isLeaf(int node = 0) const { return Nodes[node].Arity == 0; }
  /// A leaf has itself as its only mode.
  constexpr int rank(int node = 0) const { return isLeaf(node) ? 1 : Nodes[node].Arity; }

  /// The node after the subtree at `node`.
  constexpr int end(int node) const {
    for (int pending = 1; pending > 0 && node < Count; ++node)
      pending += Nodes[node].Arity - 1;
    return node;
  }
  /// The root of mode `index` of the subtree at `node`.
  constexpr int child(int node, int index) const {
    if (isLeaf(node))
      return node;
    int at = node + 1;
    while (index-- > 0)
      at = end(at);
    return at;
  }
  constexpr Tree subtree(int node) const {
    Tree result;
    int last = end(node);
    for (int at = node; at < last; ++at)
      result.Nodes[result.Count++] = Nodes[at];
    return result;
  }
  constexpr Tree mode(int index) const { return subtree(child(0, index)); }

  constexpr void push(Checker &check, Node node) {
    check.require(Count < MaxNodes, true, Error::TooLarge);
    if (Count < MaxNodes)
      Nodes[Count++] = node;
  }
  constexpr void append(Checker &check, const Tree &tree) {
    for (int at = 0; at < tree.Count; ++at)
      push(check, tree.Nodes[at]);
  }
  /// Every mode of `tree`, without the tuple around them.
  constexpr void appendModes(Checker &check, const Tree &tree) {
    for (int at = tree.isLeaf() ? 0 : 1; at < tree.Count; ++at)
      push(check, tree.Nodes[at]);
  }
};

/// With every number fixed: for a run that no other has to agree with.
constexpr Num fixed(Num num) { return {num.Value}; }
constexpr Tree fixed(Tree tree) {
  for (int at = 0; at < tree.Count; ++at) {
    auto &[extent, stride] = tree.Nodes[at].Leaf;
    extent.Fixed = stride.Fixed = true;
  }
  return tree;
}

constexpr Tree pairOf(Checker &check, const Tree &first, const Tree &second) {
  Tree result;
  result.push(check, {.Arity = 2, .Leaf = {}});
  result.append(check, first);
  result.append(check, second);
  return result;
}

/// The modes as a tree: none gives 1:0, one a leaf, more a tuple.
constexpr Tree treeOf(Checker &check, const Modes &modes) {
  Tree result;
  if (modes.Count == 0)
    result.push(check, {});
  if (modes.Count > 1)
    result.push(check, {.Arity = modes.Count, .Leaf = {}});
  for (int i = 0; i < modes.Count; ++i)
    result.push(check, {.Arity = 0, .Leaf = modes.List[i]});
  return result;
}

/// The leaves from left to right.
constexpr Modes leavesOf(const Tree &tree) {
  Modes result;
  for (int at = 0; at < tree.Count; ++at)
    if (tree.isLeaf(at))
      result.List[result.Count++] = tree.Nodes[at].Leaf;
  return result;
}

/// The size of the domain: the product of the extents.
constexpr Num sizeOf(Checker &check, const Tree &tree) {
  Num size{1};
  for (int at = 0; at < tree.Count; ++at)
    if (tree.isLeaf(at))
      size = check.mul(size, tree.Nodes[at].Leaf.Extent);
  return size;
}

/// One more than the largest offset: 1 + sum (extent - 1) * stride.
constexpr Num cosizeOf(Checker &check, const Tree &tree) {
  Num cosize{1};
  for (int at = 0; at < tree.Count; ++at)
    if (tree.isLeaf(at)) {
      auto [extent, stride] = tree.Nodes[at].Leaf;
      cosize = check.add(cosize, check.mul({extent.Value - 1, extent.Fixed}, stride));
    }
  return cosize;
}

/// A leaf has depth 0.
constexpr int depthOf(const Tree &tree, int node = 0) {
  if (tree.isLeaf(node))
    return 0;
  int deepest = 0;
  for (int i = 0; i < tree.rank(node); ++i) {
    int depth = depthOf(tree, tree.child(node, i));
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest + 1;
}

/// What every layout promises: extents of at least 1, strides of at least 0, a size and a cosize
/// that fit. Numbers that break it are replaced.
constexpr Tree validated(Checker &check, Tree tree) {
  for (int at = 0; at < tree.Count; ++at) {
    auto &[extent, stride] = tree.Nodes[at].Leaf;
    check.require(extent.Value >= 1, extent.Fixed, Error::BadExtent);
    check.require(stride.Value >= 0, stride.Fixed, Error::NegativeStride);
    extent.Value = extent.Value >= 1 ? extent.Value : 1;
    stride.Value = stride.Value >= 0 ? stride.Value : 0;
  }
  sizeOf(check, tree);
  cosizeOf(check, tree);
  return tree;
}

} // namespace kiln::layout::detail

#endif // KILN_LAYOUT_TREE_H
