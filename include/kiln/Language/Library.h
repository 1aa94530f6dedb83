//===- Library.h - functions composed of the language's ops --------------------------===//
//
// Nothing here is primitive: each function records the ops of its formula. Rows are normalised
// along axis 1; a tile holds whole rows.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_LIBRARY_H
#define KILN_LANGUAGE_LIBRARY_H

#include "kiln/Language/Ops.h"

#include <cmath>
#include <optional>
#include <tuple>

namespace kiln {

/// Requires two tensors to have equal extents.
inline void require_same_shape(const TensorRef &a, const TensorRef &b, const std::string &message,
                               Where where = Where::current()) {
  require(a.rank() == b.rank(), message, where);
  std::optional<Cond> same;
  for (int axis = 0; axis < a.rank() && axis < b.rank(); ++axis) {
    Index one = a.dim(axis, where), other = b.dim(axis, where);
    if (one.isConstant() && other.isConstant() && one.constant() == other.constant())
      continue;
    Cond equal = IndexOperand(one, where) == other;
    same = same ? CondOperand(*same, where) && equal : equal;
  }
  if (same)
    require(*same, message, where);
}

/// x between low and high: minimum(maximum(x, low), high). NaN stays NaN; where low is above high,
/// high.
inline Tile clamp(TileArg x, TileOperand low, TileOperand high, Where where = Where::current()) {
  return detail::madeOf(minimum(TileOperand(maximum(TileOperand(x.tile, where), low), where), high),
                        x, where);
}

/// x * sigmoid(x)
inline Tile silu(TileArg x, Where where = Where::current()) {
  return detail::madeOf(TileOperand(x.tile, where) * sigmoid(x.tile, where), x, where);
}

/// x / 2 * (1 + erf(x / sqrt(2)))
inline Tile gelu(TileArg x, Where where = Where::current()) {
  Tile inner = erf(TileOperand(x.tile, where) * 0.70710678118654752, where);
  return detail::madeOf(TileOperand(x.tile, where) * 0.5 * (TileOperand(inner, where) + 1), x,
                        where);
}

/// exp(x - max) / sum, row by row.
inline Tile softmax(TileArg x, Where where = Where::current()) {
  Tile e = exp(TileOperand(x.tile, where) - reduce_max(x.tile, 1, where), where);
  return detail::madeOf(TileOperand(e, where) / reduce_sum(e, 1, where), x, where);
}

/// x / sqrt(mean(x^2) + eps) * weight, row by row; `count` is the number of columns that count.
inline Tile rms_norm(TileArg x, const Tile &weight, TileOperand count, double eps,
                     Where where = Where::current()) {
  Tile mean = TileOperand(reduce_sum(TileOperand(x.tile, where) * x.tile, 1, where), where) / count;
  return detail::madeOf(
      TileOperand(x.tile, where) * rsqrt(TileOperand(mean, where) + eps, where) * weight, x, where);
}

/// (x - mean) / sqrt(variance + eps) * weight + bias, row by row, of tiles without padding.
inline Tile layer_norm(TileArg x, const Tile &weight, const Tile &bias, double eps,
                       Where where = Where::current()) {
  double scale = 1.0 / double(x.cols());
  Tile centred =
      TileOperand(x.tile, where) - TileOperand(reduce_sum(x.tile, 1, where), where) * scale;
  Tile variance =
      TileOperand(reduce_sum(TileOperand(centred, where) * centred, 1, where), where) * scale;
  return detail::madeOf(TileOperand(centred, where) *
                                rsqrt(TileOperand(variance, where) + eps, where) * weight +
                            bias,
                        x, where);
}

/// Rotary position embedding: turns each pair (x[i], x[i + D/2]) by the angle of column i. `cosine`
/// and `sine` have half as many columns as x.
inline Tile rope(TileArg x, const Tile &cosine, const Tile &sine, Where where = Where::current()) {
  int64_t half = x.cols() / 2;
  Tile low = extract(x.tile, 0, 0, {x.rows(), half}, where);
  Tile high = extract(x.tile, 0, half, {x.rows(), half}, where);
  return detail::madeOf(concat({TileOperand(low, where) * cosine - TileOperand(high, where) * sine,
                                TileOperand(high, where) * cosine + TileOperand(low, where) * sine},
                               1, where),
                        x, where);
}

/// softmax(scores) * values, a block of keys at a time, so that the scores are never stored: the
/// running maximum and sum of each row, and the output so far, which shrinks as larger scores turn
/// up. Begin with attention_start, add blocks with attention_step, divide by the sum at the end.
using AttentionState = std::tuple<Tile, Tile, Tile>;

inline AttentionState attention_start(int64_t rows, int64_t cols, Where where = Where::current()) {
  return {full(DType::F32, {rows, 1}, -INFINITY, where), full(DType::F32, {rows, 1}, 0, where),
          full(DType::F32, {rows, cols}, 0, where)};
}

/// `scores` is rows x keys in f32, and multiplied by `scale`; `values` keys x cols. Weights are
/// rounded to the type of the values.
inline AttentionState attention_step(const Tile &top, const Tile &sum, const Tile &acc,
                                     const Tile &scores, const Tile &values, double scale = 1,
                                     Where where = Where::current()) {
  auto scaled = [&](const Tile &x) { return scale == 1 ? x : TileOperand(x, where) * scale; };
  Tile next = maximum(TileOperand(top, where), scaled(reduce_max(scores, 1, where)));
  Tile weights = exp(TileOperand(scaled(scores), where) - next, where);
  Tile fade = exp(TileOperand(top, where) - next, where);
  Tile shares = values.dtype() == DType::F32 ? weights : cast(weights, values.dtype(), where);
  return {next, TileOperand(sum, where) * fade + reduce_sum(weights, 1, where),
          matmul_acc(TileOperand(acc, where) * fade, shares, values, no_trans, where)};
}

} // namespace kiln

#endif // KILN_LANGUAGE_LIBRARY_H
