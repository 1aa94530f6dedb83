//===- Ranks.h - several ranks that run one orchestration ----------------------------===//
//
// An orchestration may run on several ranks at once, each with arguments of its own. What ranks do
// together are tasks like launches: they are ordered by the tensors that they read and write, and
// kernels that need none of these run meanwhile. Every rank must come to the same collectives in
// the same order, with tensors of the same extents. See docs/ranks.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_RANKS_H
#define KILN_LANGUAGE_RANKS_H

#include "kiln/Language/Ops.h"
#include "kiln/Language/Program.h"

namespace kiln {

/// Some of the ranks: those that differ from this one along one axis of a mesh. Made by a Mesh.
struct RankGroup {
  int64_t axis = -1; ///< Less than 0: all ranks.
  std::vector<int64_t> extents = {};
  std::vector<std::string> names = {};
};

/// All ranks, counted row-major, as a box of so many axes.
class Mesh {
public:
  /// Stands for as many ranks as there are, along one of the axes.
  static constexpr int64_t rest = -1;

  Mesh(std::vector<int64_t> extents, std::vector<std::string> names)
      : Extents(std::move(extents)), Names(std::move(names)) {}

  /// The ranks that have this one's place along every other axis. An axis that does not exist is
  /// reported where the group is used.
  RankGroup ranks_along(const std::string &axis) const {
    RankGroup group{static_cast<int64_t>(Names.size()), Extents, Names};
    for (size_t i = 0; i < Names.size(); ++i)
      if (Names[i] == axis)
        group.axis = static_cast<int64_t>(i);
    return group;
  }

private:
  std::vector<int64_t> Extents;
  std::vector<std::string> Names;
};
inline Mesh mesh(std::vector<int64_t> extents, std::vector<std::string> names) {
  return {std::move(extents), std::move(names)};
}

struct CollectiveOptions {
  bool fixedOrder = false;        ///< Combine in the order of the ranks: the same bits every time.
  RankGroup along = {};           ///< The ranks that take part; all, if nothing is said.
  std::vector<TaskRef> deps = {}; ///< Besides what the tensors imply.
};

namespace detail {
/// A group as an argument of an operation. It lives as long as the item made from it is used.
struct GroupItems {
  explicit GroupItems(const RankGroup &group)
      : Extents(group.extents), Names(group.names), All{group.axis, Extents, Names},
        IsThere(group.axis >= 0) {}
  GroupItems(const GroupItems &) = delete;
  operator Item() const { return IsThere ? Item(All) : Item(); }

private:
  List Extents, Names, All;
  bool IsThere;
};
} // namespace detail

/// Which rank this is, from 0; with a group, its place in that.
inline Index rank(const RankGroup &along = {}, Where where = Where::current()) {
  return detail::recordIndex("rank", {detail::GroupItems(along)}, where);
}
/// How many ranks there are; with a group, in that.
inline Index ranks(const RankGroup &along = {}, Where where = Where::current()) {
  return detail::recordIndex("ranks", {detail::GroupItems(along)}, where);
}

/// Combines the tensors of all ranks, element by element, and gives the result to each. Floats of
/// 16 and 8 bits are summed in f32 and rounded once.
inline TaskRef all_reduce(const TensorRef &tensor, Combine how = Combine::Sum,
                          CollectiveOptions options = {}, Where where = Where::current()) {
  return TaskRef::of(
      detail::recordValue("all_reduce",
                          {tensor, detail::wordOf(how), options.fixedOrder,
                           detail::GroupItems(options.along), detail::List(options.deps)},
                          where));
}
/// Gives each rank the tensors of all, one after the other along the first axis.
inline TaskRef all_gather(const TensorRef &source, const TensorRef &target,
                          CollectiveOptions options = {}, Where where = Where::current()) {
  return TaskRef::of(detail::recordValue(
      "all_gather", {source, target, detail::GroupItems(options.along), detail::List(options.deps)},
      where));
}
/// Combines the tensors of all ranks and gives each its part of the result along the first axis.
inline TaskRef reduce_scatter(const TensorRef &source, const TensorRef &target,
                              Combine how = Combine::Sum, CollectiveOptions options = {},
                              Where where = Where::current()) {
  return TaskRef::of(
      detail::recordValue("reduce_scatter",
                          {source, target, detail::wordOf(how), options.fixedOrder,
                           detail::GroupItems(options.along), detail::List(options.deps)},
                          where));
}
/// Gives each rank the tensor of one.
inline TaskRef broadcast(const TensorRef &tensor, Index root, CollectiveOptions options = {},
                         Where where = Where::current()) {
  return TaskRef::of(detail::recordValue(
      "broadcast", {tensor, root, detail::GroupItems(options.along), detail::List(options.deps)},
      where));
}
/// Gives part i of the source, along the first axis, to rank i.
inline TaskRef all_to_all(const TensorRef &source, const TensorRef &target,
                          CollectiveOptions options = {}, Where where = Where::current()) {
  return TaskRef::of(detail::recordValue(
      "all_to_all", {source, target, detail::GroupItems(options.along), detail::List(options.deps)},
      where));
}
/// Gives a tensor to another rank. Nothing is buffered: the task ends when that rank has it.
inline TaskRef send(const TensorRef &tensor, Index to, CollectiveOptions options = {},
                    Where where = Where::current()) {
  return TaskRef::of(detail::recordValue(
      "send", {tensor, to, detail::GroupItems(options.along), detail::List(options.deps)}, where));
}
/// Takes a tensor from another rank.
inline TaskRef recv(const TensorRef &tensor, Index from, CollectiveOptions options = {},
                    Where where = Where::current()) {
  return TaskRef::of(detail::recordValue(
      "recv", {tensor, from, detail::GroupItems(options.along), detail::List(options.deps)},
      where));
}
/// Waits until every rank has come here, with all that it launched before.
inline TaskRef rank_barrier(CollectiveOptions options = {}, Where where = Where::current()) {
  return TaskRef::of(detail::recordValue(
      "rank_barrier", {detail::GroupItems(options.along), detail::List(options.deps)}, where));
}

} // namespace kiln

#endif // KILN_LANGUAGE_RANKS_H
