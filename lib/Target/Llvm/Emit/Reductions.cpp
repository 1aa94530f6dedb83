// Reductions: along rows with several independent vectors of partial results, down columns a vector
// of columns at a time. Floats combine in f32 and round once at the end.
#include "KernelEmitter.h"

#include "kiln/Program/PadValue.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using V = llvm::Value;
using B = Builder;
using Kind = tile::ReduceKind;

V *combine(Builder &b, Kind kind, V *x, V *y) {
  bool isFloat = x->getType()->isFPOrFPVectorTy(), isBool = x->getType()->isIntOrIntVectorTy(1);
  switch (kind) {
  case Kind::Sum:
    return isFloat ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
  case Kind::Prod:
    return isFloat ? b.CreateFMul(x, y) : b.CreateMul(x, y);
  default:
    break;
  }
  bool isMax = kind == Kind::Max;
  if (isBool)
    return isMax ? b.CreateOr(x, y) : b.CreateAnd(x, y);
  if (!isFloat)
    return b.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, x, y);
  V *better = isMax ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, b.CreateSelect(better, x, y));
}

/// All lanes of a vector as one scalar, by halves.
V *horizontal(Builder &b, Kind kind, V *vector) {
  unsigned width = Builder::widthOf(vector);
  auto part = [&](unsigned from, unsigned count) { return b.lanesOf(vector, from, count); };
  if (width == 1)
    return b.CreateExtractElement(vector, uint64_t(0));
  V *odd = width % 2 ? b.CreateExtractElement(vector, width - 1) : nullptr;
  V *rest = horizontal(b, kind, combine(b, kind, part(0, width / 2), part(width / 2, width / 2)));
  return odd ? combine(b, kind, rest, odd) : rest;
}

/// One row, or one column taken as a row of its own; `at` makes some of its elements.
V *reduceRow(KernelEmitter &e, tile::ReduceOp op, llvm::function_ref<V *(V *, unsigned)> at) {
  Builder &b = e.b;
  tile::TileType type = op.getOperand().getType();
  Kind kind = op.getKind();
  int64_t cols = type.getCols(), width = std::min<int64_t>(kChunk, cols);
  // Several sums at a time, because one has to wait for the addition before it.
  int64_t count = std::min<int64_t>(2, cols / width), stride = count * width;
  // The larger of two floats by one instruction, which forgets a NaN; whether there was one is
  // remembered besides.
  bool isExtreme = isFloat(elementTypeOf(type)) && (kind == Kind::Max || kind == Kind::Min);
  auto join = [&](V *x, V *y) {
    if (!isExtreme)
      return combine(b, kind, x, y);
    V *isBetter = kind == Kind::Max ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
    return b.CreateSelect(isBetter, x, y);
  };
  Values sums;
  for (int64_t i = 0; i < count; ++i)
    sums.push_back(at(b.index(i * width), width));
  auto addNaNs = [&](V *found, ArrayRef<V *> made) {
    for (size_t i = 0; i < made.size(); i += 2) // one comparison tells of two vectors
      found = b.CreateOr(found, b.CreateFCmpUNO(made[i], made[std::min(i + 1, made.size() - 1)]));
    return found;
  };
  if (isExtreme)
    sums.push_back(addNaNs(llvm::Constant::getNullValue(B::vectorOf(b.getInt1Ty(), width)), sums));
  int64_t whole = cols / stride * stride;
  sums = b.loop(b.index(stride), b.index(whole), stride, sums, [&](V *col, ArrayRef<V *> old) {
    Values made, next;
    for (int64_t i = 0; i < count; ++i) {
      made.push_back(at(b.add(col, i * width), width));
      next.push_back(join(old[i], made[i]));
    }
    if (isExtreme)
      next.push_back(addNaNs(old[count], made));
    return next;
  });
  V *hasNaN = isExtreme ? sums.pop_back_val() : nullptr;
  for (int64_t col = whole; col + width <= cols; col += width) {
    V *more = at(b.index(col), width);
    sums[0] = join(sums[0], more);
    hasNaN = hasNaN ? addNaNs(hasNaN, {more}) : nullptr;
  }
  while (sums.size() > 1) {
    V *last = sums.pop_back_val();
    sums.back() = join(sums.back(), last);
  }
  V *total = horizontal(b, kind, sums[0]);
  if (hasNaN)
    total =
        b.CreateSelect(b.CreateOrReduce(hasNaN), llvm::ConstantFP::getNaN(total->getType()), total);
  if (int64_t tail = cols % width)
    total = combine(b, kind, total, horizontal(b, kind, at(b.index(cols - tail), tail)));
  return total;
}

/// Reduces every row of a tile whose elements `at` makes.
void reduceRows(KernelEmitter &e, tile::ReduceOp op, llvm::function_ref<V *(const Cursor &at)> at) {
  Builder &b = e.b;
  tile::TileType type = op.getOperand().getType();
  DType element = elementTypeOf(type);
  V *to = e.address(op.getResult());
  b.loop(0, type.getRows(), 1, [&](V *row) {
    V *total = reduceRow(e, op, [&](V *col, unsigned width) {
      return at({row, col, width, type.getRows(), type.getCols()});
    });
    storeElements(b, b.splat(1, round(b, total, element)),
                  b.offset(memoryType(b, element), to, row), element);
  });
}

/// Starts and goes on along an axis of a tile: the element at `i`, or a vector of them side by
/// side.
void overAxis(
    KernelEmitter &e, TypedValue<tile::TileType> tile, int64_t axis,
    llvm::function_ref<void(V *place, unsigned width, llvm::function_ref<V *(V *i)> element)>
        body) {
  Builder &b = e.b;
  tile::TileType type = tile.getType();
  if (axis == 0)
    return b.chunks(type.getCols(), kWidth, [&](V *col, unsigned width) {
      body(col, width,
           [&](V *i) { return e.eval(tile, {i, col, width, type.getRows(), type.getCols()}); });
    });
  b.loop(0, type.getRows(), 1, [&](V *row) {
    body(row, 1, [&](V *i) { return e.eval(tile, {row, i, 1, type.getRows(), type.getCols()}); });
  });
}

/// The index of the first NaN, else of the first element that no other beats.
void argReduce(KernelEmitter &e, tile::ReduceOp op, tile::TileType type, V *to) {
  Builder &b = e.b;
  bool isMax = op.getKind() == Kind::ArgMax;
  int64_t extent = type.getExtent(op.getAxis());
  auto reduced = op.getOperand();
  overAxis(e, reduced, op.getAxis(),
           [&](V *place, unsigned width, llvm::function_ref<V *(V *)> element) {
             V *first = element(b.index(0));
             V *none = llvm::Constant::getNullValue(Builder::vectorOf(b.getInt32Ty(), width));
             Values found = b.loop(
                 b.index(1), b.index(extent), 1, {first, none}, [&](V *i, ArrayRef<V *> best) {
                   V *x = element(i), *isBetter;
                   bool isBool = x->getType()->isIntOrIntVectorTy(1);
                   if (x->getType()->isFPOrFPVectorTy())
                     isBetter = b.CreateAnd(b.CreateFCmpORD(best[0], best[0]),
                                            isMax ? b.CreateFCmpULT(best[0], x)
                                                  : b.CreateFCmpUGT(best[0], x));
                   else if (isBool)
                     isBetter = isMax ? b.CreateICmpULT(best[0], x) : b.CreateICmpUGT(best[0], x);
                   else
                     isBetter = isMax ? b.CreateICmpSLT(best[0], x) : b.CreateICmpSGT(best[0], x);
                   V *here = b.splat(width, b.CreateTrunc(i, b.getInt32Ty()));
                   return Values{b.CreateSelect(isBetter, x, best[0]),
                                 b.CreateSelect(isBetter, here, best[1])};
                 });
             storeElements(b, found[1], b.offset(b.getInt32Ty(), to, place), DType::I32);
           });
}

void reduce(KernelEmitter &e, tile::ReduceOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getOperand().getType();
  DType element = elementTypeOf(type);
  V *to = e.address(op.getResult());
  if (e.plan().isComputedWithTile(op))
    return;
  auto body = [&](bool) {
    if (op.getKind() == Kind::ArgMax || op.getKind() == Kind::ArgMin)
      return argReduce(e, op, type, to);
    if (op.getAxis() == 1 && type.getCols() > 1)
      return reduceRows(e, op, [&](const Cursor &at) { return e.eval(op.getOperand(), at); });
    overAxis(e, op.getOperand(), op.getAxis(),
             [&](V *place, unsigned, llvm::function_ref<V *(V *)> at) {
               Values total = b.loop(b.index(1), b.index(type.getExtent(op.getAxis())), 1,
                                     {at(b.index(0))}, [&](V *i, ArrayRef<V *> sum) {
                                       return Values{combine(b, op.getKind(), sum[0], at(i))};
                                     });
               storeElements(b, round(b, total[0], element),
                             b.offset(memoryType(b, element), to, place), element);
             });
  };
  e.withLoads(op.getOperand(), body, nullptr, nullptr, op);
}

/// A scan: along an axis one after the other, several lines at a time where they lie side by side.
void scan(KernelEmitter &e, tile::ScanOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getType();
  DType element = elementTypeOf(type);
  V *to = e.address(op.getResult());
  overAxis(e, op.getOperand(), op.getAxis(),
           [&](V *line, unsigned width, llvm::function_ref<V *(V *)> at) {
             int64_t extent = type.getExtent(op.getAxis());
             auto placeOf = [&](V *i) {
               return op.getReverse() ? b.CreateSub(b.index(extent - 1), i) : i;
             };
             auto store = [&](V *i, V *sum) {
               V *row = op.getAxis() == 0 ? placeOf(i) : line;
               V *col = op.getAxis() == 0 ? line : placeOf(i);
               V *place = b.add(b.mul(row, type.getCols()), col);
               storeElements(b, round(b, sum, element), b.offset(memoryType(b, element), to, place),
                             element);
             };
             V *first = at(placeOf(b.index(0)));
             V *neutral = b.splat(width, constant(b, neutralValue(op.getKind(), element)));
             store(b.index(0), op.getExclusive() ? neutral : first);
             b.loop(b.index(1), b.index(extent), 1, {first}, [&](V *i, ArrayRef<V *> sum) {
               V *next = combine(b, op.getKind(), sum[0], at(placeOf(i)));
               store(i, op.getExclusive() ? sum[0] : next);
               return Values{next};
             });
           });
}

} // namespace

void emitRowsWithReduction(KernelEmitter &e, Value tile, tile::ReduceOp op, V *due) {
  Builder &b = e.b;
  Matrix to = e.matrix(tile);
  DType element = elementTypeOf(tile.getType());
  reduceRows(e, op, [&](const Cursor &at) {
    V *made = e.eval(tile, at), *place = b.add(b.mul(at.row, to.rowStride), at.col);
    // Behind the long function: before it, the loads of the next block were found to wait (on AMD,
    // softmax took 1.7 times as long).
    if (due)
      e.storeDelayed(due, at);
    storeElements(b, made, b.offset(memoryType(b, element), to.data, place), element);
    return op.getOperand() == tile ? made : e.evalStored(op.getOperand(), at);
  });
}

void addReductions(OpTable &table) {
  table.add<tile::ReduceOp, reduce>();
  table.add<tile::ScanOp, scan>();
}

} // namespace kiln::llvmir
