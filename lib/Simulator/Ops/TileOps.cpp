// What cores compute. Floats compute in f32 and round to the element type; integers wrap.
#include "TileOps.h"

#include "kiln/Program/PadValue.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace kiln::simulator {
namespace {

/// An operand that may be a scalar, as a tile.
TilePtr broadcastable(Interpreter &in, mlir::Value value) {
  if (isa<tile::TileType>(value.getType()))
    return in.tile(value);
  return splat(1, 1, in.scalar(value));
}

/// Reads a tile, whose extents may be 1, as if it had the extents of the result.
template <typename T> class Broadcast {
public:
  explicit Broadcast(const Tile &tile)
      : Elements(tile.elements<T>().data()), RowStep(tile.rows == 1 ? 0 : tile.cols),
        ColStep(tile.cols != 1) {}
  T operator()(int64_t row, int64_t col) const { return Elements[row * RowStep + col * ColStep]; }

private:
  const T *Elements;
  int64_t RowStep, ColStep;
};

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// `F` on each element, floats or integers.
template <typename F> Status map(Interpreter &in, Operation *op) {
  TilePtr x = in.tile(op->getOperand(0));
  NewTile result = makeTile(op->getResult(0));
  withElementType(x->dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_invocable_v<F, T>)
      std::transform(x->elements<T>().begin(), x->elements<T>().end(),
                     result->elements<T>().begin(),
                     [&](T value) { return canonical(result->dtype, static_cast<T>(F()(value))); });
  });
  return setResult(in, op, result);
}

/// `F` on each pair of elements, broadcast.
template <typename F> Status zip(Interpreter &in, Operation *op) {
  TilePtr lhs = broadcastable(in, op->getOperand(0)), rhs = broadcastable(in, op->getOperand(1));
  NewTile result = makeTile(op->getResult(0));
  withElementType(lhs->dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_invocable_v<F, T, T>) {
      Broadcast<T> a(*lhs), b(*rhs);
      fill<T>(*result, [&](int64_t r, int64_t c) {
        return canonical(result->dtype, F()(a(r, c), b(r, c)));
      });
    }
  });
  return setResult(in, op, result);
}

// Elements are kept sign-extended, so what leaves the low 64 bits has left every narrower type too.
int64_t shiftLeft(int64_t a, int64_t b) {
  bool isInside = b >= 0 && b < 64;
  return isInside ? static_cast<int64_t>(static_cast<uint64_t>(a) << b) : 0;
}
int64_t shiftRight(int64_t a, int64_t b) {
  bool isInside = b >= 0 && b < 64;
  return a >> (isInside ? b : 63);
}

// A function object for each row of the table, with an overload for floats, for integers or for
// both.
#include "kiln/Dialect/Tile/Elementwise/Formulas.inc"

/// A division, or its remainder; of integers only by what is not zero.
template <typename F> Status divide(Interpreter &in, Operation *op) {
  TilePtr divisor = broadcastable(in, op->getOperand(1));
  auto zero = llvm::find(divisor->ints, 0);
  if (zero != divisor->ints.end()) {
    int64_t at = zero - divisor->ints.begin();
    return fault("integer division by zero: element [" + std::to_string(at / divisor->cols) + ", " +
                 std::to_string(at % divisor->cols) + "] of the divisor");
  }
  return zip<F>(in, op);
}

template <typename T> bool holds(tile::CmpKind kind, T a, T b) {
  switch (kind) {
  case tile::CmpKind::Eq:
    return a == b;
  case tile::CmpKind::Ne:
    return a != b;
  case tile::CmpKind::Lt:
    return a < b;
  case tile::CmpKind::Le:
    return a <= b;
  case tile::CmpKind::Gt:
    return a > b;
  case tile::CmpKind::Ge:
    return a >= b;
  }
  return false;
}

Status compare(Interpreter &in, tile::CmpOp op) {
  TilePtr lhs = broadcastable(in, op.getLhs()), rhs = broadcastable(in, op.getRhs());
  NewTile result = makeTile(op->getResult(0));
  withElementType(lhs->dtype, [&](auto zero) {
    Broadcast<decltype(zero)> a(*lhs), b(*rhs);
    fill<int64_t>(*result,
                  [&](int64_t r, int64_t c) { return holds(op.getKind(), a(r, c), b(r, c)); });
  });
  return setResult(in, op, result);
}

Status select(Interpreter &in, tile::SelectOp op) {
  TilePtr condition = in.tile(op.getCondition());
  TilePtr lhs = broadcastable(in, op.getLhs()), rhs = broadcastable(in, op.getRhs());
  NewTile result = makeTile(op->getResult(0));
  withElementType(result->dtype, [&](auto zero) {
    Broadcast<int64_t> first(*condition);
    Broadcast<decltype(zero)> a(*lhs), b(*rhs);
    fill<decltype(zero)>(*result,
                         [&](int64_t r, int64_t c) { return first(r, c) ? a(r, c) : b(r, c); });
  });
  return setResult(in, op, result);
}

//===----------------------------------------------------------------------===//
// Make and rearrange
//===----------------------------------------------------------------------===//

Status full(Interpreter &in, tile::FullOp op) {
  tile::TileType type = op.getResult().getType();
  return setResult(in, op, splat(type.getRows(), type.getCols(), in.scalar(op.getValue())));
}

Status iota(Interpreter &in, tile::IotaOp op) {
  NewTile result = makeTile(op->getResult(0));
  withElementType(result->dtype, [&](auto zero) {
    using T = decltype(zero);
    fill<T>(*result, [&](int64_t r, int64_t c) {
      return canonical(result->dtype, static_cast<T>(op.getAxis() == 0 ? r : c));
    });
  });
  return setResult(in, op, result);
}

Status reshape(Interpreter &in, Operation *op) {
  auto type = cast<tile::TileType>(op->getResult(0).getType());
  return setResult(in, op, reshaped(*in.tile(op->getOperand(0)), type.getRows(), type.getCols()));
}

Status transpose(Interpreter &in, tile::TransposeOp op) {
  return setResult(in, op, transposed(*in.tile(op.getOperand())));
}

Status castTo(Interpreter &in, tile::CastOp op) {
  return setResult(
      in, op,
      converted(*in.tile(op.getOperand()), *dtypeOf(op.getResult().getType().getElementType())));
}

/// That a box at `at` lies inside a tile.
Status checkBox(const Tile &tile, ArrayRef<int64_t> at, int64_t rows, int64_t cols) {
  if (at[0] >= 0 && at[1] >= 0 && at[0] <= tile.rows - rows && at[1] <= tile.cols - cols)
    return Status::ok();
  return fault("a box of " + std::to_string(rows) + "x" + std::to_string(cols) + " at " +
               toString(Dims(at.data(), at.size())) + " lies outside the tile of " +
               std::to_string(tile.rows) + "x" + std::to_string(tile.cols));
}

Status extract(Interpreter &in, tile::ExtractOp op) {
  TilePtr tile = in.tile(op.getTile());
  tile::TileType type = op.getResult().getType();
  std::vector<int64_t> at = in.indices(op.getStaticIndices(), op.getIndices());
  if (Status bad = checkBox(*tile, at, type.getRows(), type.getCols()); !bad.isOk())
    return bad;
  return setResult(in, op, extractBox(*tile, at[0], at[1], type.getRows(), type.getCols()));
}

Status insert(Interpreter &in, tile::InsertOp op) {
  TilePtr tile = in.tile(op.getTile()), into = in.tile(op.getInto());
  std::vector<int64_t> at = in.indices(op.getStaticIndices(), op.getIndices());
  if (Status bad = checkBox(*into, at, tile->rows, tile->cols); !bad.isOk())
    return bad;
  return setResult(in, op, insertBox(*tile, *into, at[0], at[1]));
}

Status element(Interpreter &in, tile::ElementOp op) {
  TilePtr tile = in.tile(op.getTile());
  std::vector<int64_t> at = in.indices(op.getStaticIndices(), op.getIndices());
  if (Status bad = checkBox(*tile, at, 1, 1); !bad.isOk())
    return bad;
  if (Watcher *watcher = in.memory().watcher())
    watcher->elementIsTaken(in, op, *tile, at);
  in.set(op.getResult(), elementAt(*tile, at[0], at[1]));
  return Status::ok();
}

Status concat(Interpreter &in, tile::ConcatOp op) {
  SmallVector<TilePtr> tiles;
  for (mlir::Value value : op.getTiles())
    tiles.push_back(in.tile(value));
  return setResult(in, op, concatenate(tiles, op.getAxis()));
}

//===----------------------------------------------------------------------===//
// Reduce, multiply, mask
//===----------------------------------------------------------------------===//

/// Combines along an axis in index order; floats in f32, rounded once at the end.
template <typename F> NewTile reduceWith(const Tile &tile, unsigned axis) {
  auto result =
      std::make_shared<Tile>(axis == 0 ? 1 : tile.rows, axis == 0 ? tile.cols : 1, tile.dtype);
  withElementType(tile.dtype, [&](auto zero) {
    using T = decltype(zero);
    Broadcast<T> x(tile);
    fill<T>(*result, [&](int64_t r, int64_t c) {
      T total = x(r, c);
      for (int64_t i = 1; i < (axis == 0 ? tile.rows : tile.cols); ++i)
        total = F()(total, axis == 0 ? x(i, c) : x(r, i));
      return canonical(tile.dtype, total);
    });
  });
  return result;
}

/// A running sum or the like along an axis; floats in f32, rounded for each element.
template <typename F> Status scanWith(Interpreter &in, tile::ScanOp op) {
  TilePtr tile = in.tile(op.getOperand());
  NewTile result = makeTile(op->getResult(0));
  TilePtr start = splat(1, 1, neutralValue(op.getKind(), tile->dtype));
  bool down = op.getAxis() == 0;
  withElementType(tile->dtype, [&](auto zero) {
    using T = decltype(zero);
    int64_t lines = down ? tile->cols : tile->rows, count = down ? tile->rows : tile->cols;
    for (int64_t line = 0; line < lines; ++line) {
      T total = 0;
      for (int64_t i = 0; i < count; ++i) {
        int64_t place = op.getReverse() ? count - 1 - i : i;
        size_t at = down ? place * tile->cols + line : line * tile->cols + place;
        T before = i == 0 ? start->elements<T>()[0] : total;
        total = i == 0 ? tile->elements<T>()[at] : F()(total, tile->elements<T>()[at]);
        result->elements<T>()[at] = canonical(tile->dtype, op.getExclusive() ? before : total);
      }
    }
  });
  return setResult(in, op, result);
}

Status scan(Interpreter &in, tile::ScanOp op) {
  switch (op.getKind()) {
  case tile::ReduceKind::Sum:
    return scanWith<Add>(in, op);
  case tile::ReduceKind::Max:
    return scanWith<Max>(in, op);
  case tile::ReduceKind::Min:
    return scanWith<Min>(in, op);
  case tile::ReduceKind::Prod:
    return scanWith<Mul>(in, op);
  case tile::ReduceKind::ArgMax:
  case tile::ReduceKind::ArgMin:
    break;
  }
  llvm_unreachable("the verifier knows what a scan combines by");
}

/// The index along an axis of the first NaN, else of the first element that is `AtLeast` as good as
/// all others.
template <typename AtLeast> NewTile argReduce(const Tile &tile, unsigned axis) {
  auto result =
      std::make_shared<Tile>(axis == 0 ? 1 : tile.rows, axis == 0 ? tile.cols : 1, DType::I32);
  withElementType(tile.dtype, [&](auto zero) {
    Broadcast<decltype(zero)> x(tile);
    fill<int64_t>(*result, [&](int64_t r, int64_t c) {
      auto at = [&](int64_t i) { return axis == 0 ? x(i, c) : x(r, i); };
      int64_t best = 0;
      for (int64_t i = 1; i < (axis == 0 ? tile.rows : tile.cols); ++i) {
        bool isNaN = at(best) != at(best);
        if (!isNaN && !AtLeast()(at(best), at(i)))
          best = i;
      }
      return best;
    });
  });
  return result;
}

Status reduce(Interpreter &in, tile::ReduceOp op) {
  TilePtr tile = in.tile(op.getOperand());
  switch (op.getKind()) {
  case tile::ReduceKind::Sum:
    return setResult(in, op, reduceWith<Add>(*tile, op.getAxis()));
  case tile::ReduceKind::Max:
    return setResult(in, op, reduceWith<Max>(*tile, op.getAxis()));
  case tile::ReduceKind::Min:
    return setResult(in, op, reduceWith<Min>(*tile, op.getAxis()));
  case tile::ReduceKind::Prod:
    return setResult(in, op, reduceWith<Mul>(*tile, op.getAxis()));
  case tile::ReduceKind::ArgMax:
    return setResult(in, op, argReduce<std::greater_equal<>>(*tile, op.getAxis()));
  case tile::ReduceKind::ArgMin:
    return setResult(in, op, argReduce<std::less_equal<>>(*tile, op.getAxis()));
  }
  llvm_unreachable("every kind of reduction is above");
}

/// to += factor * from. In chunks of a constant length, which compilers turn into vectors also at
/// -O2.
template <typename T>
void addScaled(T factor, const T *__restrict from, T *__restrict to, int64_t count) {
  constexpr int64_t chunk = 16;
  int64_t i = 0;
  for (; i + chunk <= count; i += chunk)
    for (int64_t j = 0; j < chunk; ++j)
      to[i + j] += factor * from[i + j];
  for (; i < count; ++i)
    to[i] += factor * from[i];
}

/// result += a * b, with k in order for every element and the inner loop along rows.
template <typename T> void accumulate(const Tile &a, const Tile &b, Tile &result) {
  const T *lhs = a.elements<T>().data(), *rhs = b.elements<T>().data();
  T *to = result.elements<T>().data();
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.cols; ++k)
      addScaled(lhs[i * a.cols + k], rhs + k * b.cols, to + i * b.cols, b.cols);
}

template <typename Op> Status multiply(Interpreter &in, Op op, NewTile result) {
  TilePtr a = in.tile(op.getLhs()), b = in.tile(op.getRhs());
  if (op.getTransA())
    a = transposed(*a);
  if (op.getTransB())
    b = transposed(*b);
  withElementType(result->dtype, [&](auto zero) { accumulate<decltype(zero)>(*a, *b, *result); });
  for (int64_t &value : result->ints)
    value = canonical(result->dtype, value);
  return setResult(in, op, result);
}

Status matmul(Interpreter &in, tile::MatmulOp op) {
  return multiply(in, op, makeTile(op->getResult(0)));
}
Status matmulAcc(Interpreter &in, tile::MatmulAccOp op) {
  return multiply(in, op, std::make_shared<Tile>(*in.tile(op.getAcc())));
}
Status matmulStart(Interpreter &in, tile::MatmulStartOp op) {
  OpOperand *acc = op.getAccumulator();
  return multiply(in, op,
                  acc ? std::make_shared<Tile>(*in.tile(acc->get())) : makeTile(op->getResult(0)));
}

/// Keeps the elements for which `keep(row, col)` holds; the others become the pad value.
template <typename Op, typename F> Status maskWith(Interpreter &in, Op op, F keep) {
  NewTile result = std::make_shared<Tile>(*in.tile(op.getOperand()));
  TilePtr pad = splat(1, 1, padValue(op.getPadAttr(), result->dtype));
  bool isChecked = in.memory().watcher();
  withElementType(result->dtype, [&](auto zero) {
    using T = decltype(zero);
    fill<T>(*result, [&](int64_t r, int64_t c) {
      size_t at = r * result->cols + c;
      if (keep(r, c))
        return result->elements<T>()[at];
      if (isChecked)
        result->fillUp(at, op);
      return pad->elements<T>()[0];
    });
  });
  return setResult(in, op, result);
}

Status mask(Interpreter &in, tile::MaskOp op) {
  std::vector<int64_t> valid = in.indices(op.getStaticValid(), op.getValid());
  return maskWith(in, op, [&](int64_t r, int64_t c) { return r < valid[0] && c < valid[1]; });
}

Status maskDiag(Interpreter &in, tile::MaskDiagOp op) {
  int64_t offset = in.index(op.getOffset());
  return maskWith(in, op, [&](int64_t r, int64_t c) { return c - r <= offset; });
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

Status setIndex(Interpreter &in, Operation *op, int64_t value) {
  in.set(op->getResult(0), ScalarBits::fromInt(DType::Index, value));
  return Status::ok();
}

Status blockIdx(Interpreter &in, tile::BlockIdxOp op) {
  return setIndex(in, op, in.place().block[op.getDim()]);
}
Status blockCount(Interpreter &in, tile::BlockCountOp op) {
  return setIndex(in, op, in.place().grid[op.getDim()]);
}
Status lane(Interpreter &in, tile::LaneOp op) { return setIndex(in, op, in.place().lane); }

} // namespace

void addTileOps(OpTable &table) {
  table.add<tile::FullOp, full>();
  table.add<tile::IotaOp, iota>();
  table.add<tile::MoveOp, reshape>();
  table.add<tile::AwaitOp, reshape>();
  table.add<tile::ReshapeOp, reshape>();
  table.add<tile::TransposeOp, transpose>();
  table.add<tile::CastOp, castTo>();
  table.add<tile::ExtractOp, extract>();
  table.add<tile::InsertOp, insert>();
  table.add<tile::ElementOp, element>();
  table.add<tile::ConcatOp, concat>();

#include "kiln/Dialect/Tile/Elementwise/Simulator.inc"
  table.add<tile::CmpOp, compare>();
  table.add<tile::SelectOp, select>();

  table.add<tile::ReduceOp, reduce>();
  table.add<tile::ScanOp, scan>();
  table.add<tile::MatmulOp, matmul>();
  table.add<tile::MatmulAccOp, matmulAcc>();
  table.add<tile::MatmulStartOp, matmulStart>();
  table.add<tile::MaskOp, mask>();
  table.add<tile::MaskDiagOp, maskDiag>();

  table.add<tile::BlockIdxOp, blockIdx>();
  table.add<tile::BlockCountOp, blockCount>();
  table.add<tile::LaneOp, lane>();
}

} // namespace kiln::simulator
