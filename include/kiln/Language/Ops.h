//===- Ops.h - what one can do inside kernels and roles -----------------------------===//
#ifndef KILN_LANGUAGE_OPS_H
#define KILN_LANGUAGE_OPS_H

#include "kiln/Language/Types.h"

#include <optional>
#include <tuple>
#include <utility>

namespace kiln {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Index operator+(IndexOperand a, IndexOperand b);
Index operator-(IndexOperand a, IndexOperand b);
Index operator*(IndexOperand a, IndexOperand b);
/// Rounds toward zero; the operands are normally not negative.
Index operator/(IndexOperand a, IndexOperand b);
Index operator%(IndexOperand a, IndexOperand b);
Index ceildiv(IndexOperand a, IndexOperand b);
Index min(IndexOperand a, IndexOperand b);
Index max(IndexOperand a, IndexOperand b);

Cond operator<(IndexOperand a, IndexOperand b);
Cond operator<=(IndexOperand a, IndexOperand b);
Cond operator>(IndexOperand a, IndexOperand b);
Cond operator>=(IndexOperand a, IndexOperand b);
Cond operator==(IndexOperand a, IndexOperand b);
Cond operator!=(IndexOperand a, IndexOperand b);

/// An index as a number, to compute with tiles.
Scalar<f32> toF32(IndexOperand index);

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Rows and columns of a tile.
struct Shape {
  int64_t rows, cols;
};

/// What an element outside the tensor reads as.
enum class Pad { Zero, Min, Max };

struct LoadOptions {
  Pad pad = Pad::Zero;
  std::vector<Index> valid = {}; ///< Rows and columns that count; empty: the whole tile.
};

struct StoreOptions {
  std::vector<Index> valid = {};
  bool atomicAdd = false;
};

/// Reads a tile at these indices, one per axis; the tile covers the trailing two.
Tile load(const TensorRef &tensor, std::vector<Index> at, Shape shape, LoadOptions options = {},
          Where where = Where::current());

/// Writes the elements of a tile that lie inside the tensor.
void store(const Tile &tile, const TensorRef &tensor, std::vector<Index> at,
           StoreOptions options = {}, Where where = Where::current());
template <ElementTag T, int R>
void store(const Tile &, const In<T, R> &, std::vector<Index>, StoreOptions = {},
           Where = Where::current()) = delete;

Tile full(DType type, Shape shape, double value, Where where = Where::current());
template <ElementTag T> Tile zeros(int64_t rows, int64_t cols, Where where = Where::current()) {
  return full(T::dtype, {rows, cols}, 0, where);
}

enum MatmulFlags { no_trans = 0, trans_a = 1, trans_b = 2 };
Tile matmul(const Tile &a, const Tile &b, MatmulFlags flags = no_trans,
            Where where = Where::current());
Tile matmul_acc(const Tile &acc, const Tile &a, const Tile &b, MatmulFlags flags = no_trans,
                Where where = Where::current());

Tile operator+(TileOperand a, TileOperand b);
Tile operator-(TileOperand a, TileOperand b);
Tile operator*(TileOperand a, TileOperand b);
Tile operator/(TileOperand a, TileOperand b);
Tile maximum(TileOperand a, TileOperand b);
Tile minimum(TileOperand a, TileOperand b);

// Comparisons make tiles of i1; where chooses by them.
Tile operator<(TileOperand a, TileOperand b);
Tile operator<=(TileOperand a, TileOperand b);
Tile operator>(TileOperand a, TileOperand b);
Tile operator>=(TileOperand a, TileOperand b);
Tile operator==(TileOperand a, TileOperand b);
Tile operator!=(TileOperand a, TileOperand b);
/// Where the condition holds the first, elsewhere the second.
Tile where(const Tile &condition, TileOperand a, TileOperand b);

Tile operator-(TileOperand x);
Tile abs(const Tile &x, Where where = Where::current());
Tile exp(const Tile &x, Where where = Where::current());
Tile exp2(const Tile &x, Where where = Where::current());
Tile log(const Tile &x, Where where = Where::current());
Tile sqrt(const Tile &x, Where where = Where::current());
Tile rsqrt(const Tile &x, Where where = Where::current());
Tile recip(const Tile &x, Where where = Where::current());
Tile tanh(const Tile &x, Where where = Where::current());
Tile sigmoid(const Tile &x, Where where = Where::current());
Tile erf(const Tile &x, Where where = Where::current());

/// Along axis 0 (rows become one) or 1 (columns become one).
Tile reduce_sum(const Tile &x, int axis, Where where = Where::current());
Tile reduce_max(const Tile &x, int axis, Where where = Where::current());
Tile reduce_min(const Tile &x, int axis, Where where = Where::current());

/// Replaces the elements outside the first rows and columns.
Tile mask(const Tile &x, Index rows, Index cols, Pad pad = Pad::Zero,
          Where where = Where::current());
/// Keeps the elements with column <= row + offset (causal); the others become the pad value.
Tile mask_diag(const Tile &x, Index offset, Pad pad = Pad::Zero, Where where = Where::current());

Tile transpose(const Tile &x, Where where = Where::current());
Tile cast(const Tile &x, DType type, Where where = Where::current());
template <ElementTag T> Tile cast(const Tile &x, Where where = Where::current()) {
  return cast(x, T::dtype, where);
}

//===----------------------------------------------------------------------===//
// Identity and pipes
//===----------------------------------------------------------------------===//

Index blockIdx(int dim, Where where = Where::current());
Index blockCount(int dim, Where where = Where::current());
Index lane(Where where = Where::current());

/// Puts a tile into a pipe; waits for a free slot. With a split, a lane pushes its own part.
void push(Pipe pipe, const Tile &tile, Where where = Where::current());
/// Takes the oldest tile out of a pipe; waits for a full slot. With a split, a lane gets its own
/// part.
Tile pop(Pipe pipe, Where where = Where::current());
/// Releases the oldest popped slot. Write all frees of a pipe or none: with none the compiler
/// places them.
void free(Pipe pipe, Where where = Where::current());

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

namespace detail {
/// Opens a branch, goes to its other side, closes it. A null frame means that a mistake was
/// reported.
void *beginIf(Cond condition, bool hasElse, Where where);
void beginElse(void *frame, Where where);
void endIf(void *frame, Where where);
} // namespace detail

/// Does something only if the condition holds.
template <std::invocable Then>
void when(Cond condition, Then then, Where where = Where::current()) {
  void *frame = detail::beginIf(condition, false, where);
  then();
  detail::endIf(frame, where);
}
/// Does one thing or another.
template <std::invocable Then, std::invocable Else>
  requires std::is_void_v<std::invoke_result_t<Then>>
void when(Cond condition, Then then, Else otherwise, Where where = Where::current()) {
  void *frame = detail::beginIf(condition, true, where);
  then();
  detail::beginElse(frame, where);
  otherwise();
  detail::endIf(frame, where);
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

/// Opens a loop: the induction variable and the carried tiles inside it.
struct LoopFrame {
  Index iv;
  std::vector<Tile> carried;
  void *op;
};
LoopFrame beginLoop(Index lower, Index upper, Index step, const std::vector<Tile> &carried,
                    const LoopOptions &options, Where where);
/// Closes it; the tiles the loop results in.
std::vector<Tile> endLoop(const LoopFrame &frame, const std::vector<Tile> &next, Where where);

template <typename Body, size_t... I>
auto callBody(Body &body, const LoopFrame &frame, std::index_sequence<I...>) {
  return body(frame.iv, frame.carried[I]...);
}
template <size_t... I> auto toTuple(const std::vector<Tile> &tiles, std::index_sequence<I...>) {
  return std::make_tuple(tiles[I]...);
}

} // namespace detail

/// A loop that carries nothing.
template <std::invocable<Index> Body>
void loop(Index lower, Index upper, Index step, LoopOptions options, Body body,
          Where where = Where::current()) {
  detail::LoopFrame frame = detail::beginLoop(lower, upper, step, {}, options, where);
  body(frame.iv);
  detail::endLoop(frame, {}, where);
}
template <std::invocable<Index> Body>
void loop(Index lower, Index upper, Index step, Body body, Where where = Where::current()) {
  loop(lower, upper, step, LoopOptions{}, std::move(body), where);
}

/// A loop that carries one tile: the body returns its next value, the loop its last.
template <std::invocable<Index, Tile> Body>
Tile loop(Index lower, Index upper, Index step, const Tile &carried, LoopOptions options, Body body,
          Where where = Where::current()) {
  detail::LoopFrame frame = detail::beginLoop(lower, upper, step, {carried}, options, where);
  Tile next = body(frame.iv, frame.carried[0]);
  return detail::endLoop(frame, {next}, where)[0];
}
template <std::invocable<Index, Tile> Body>
Tile loop(Index lower, Index upper, Index step, const Tile &carried, Body body,
          Where where = Where::current()) {
  return loop(lower, upper, step, carried, LoopOptions{}, std::move(body), where);
}

/// A loop that carries several tiles: body and loop return them as a tuple.
template <typename... Tiles, typename Body>
  requires(std::same_as<Tiles, Tile> && ...)
auto loop(Index lower, Index upper, Index step, const std::tuple<Tiles...> &carried,
          LoopOptions options, Body body, Where where = Where::current()) {
  constexpr auto indices = std::index_sequence_for<Tiles...>{};
  auto toVector = [](const auto &...tiles) { return std::vector<Tile>{tiles...}; };
  detail::LoopFrame frame =
      detail::beginLoop(lower, upper, step, std::apply(toVector, carried), options, where);
  std::tuple<Tiles...> next = detail::callBody(body, frame, indices);
  return detail::toTuple(detail::endLoop(frame, std::apply(toVector, next), where), indices);
}

} // namespace kiln

#endif // KILN_LANGUAGE_OPS_H
