// Elements from anywhere in a tile, and the order of rows.
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using V = llvm::Value;

V *loadOne(Builder &b, V *base, V *number, DType type) {
  V *at = b.offset(memoryType(b, type), base, number);
  return b.CreateExtractElement(loadElements(b, at, type, 1), uint64_t(0));
}

void gather(KernelEmitter &e, tile::GatherOp op) {
  Builder &b = e.b;
  tile::TileType from = op.getOperand().getType(), type = op.getResult().getType();
  DType element = elementTypeOf(from), wide = elementTypeOf(op.getIndex().getType());
  llvm::Type *memory = memoryType(b, element);
  V *source = e.address(op.getOperand()), *index = e.address(op.getIndex());
  V *to = e.address(op.getResult());
  bool isDown = op.getAxis() == 0;
  llvm::Align align(sizeOf(element));
  e.overElements(type.getRows(), type.getCols(), false, [&](const Cursor &at) {
    V *place = b.add(b.mul(at.row, type.getCols()), at.col);
    V *number = loadElements(b, b.offset(memoryType(b, wide), index, place), wide, at.width);
    number = b.CreateSExt(number, Builder::vectorOf(b.getInt64Ty(), at.width));
    V *isInside = b.CreateICmpULT(number, b.bits(number, from.getExtent(op.getAxis())));
    e.check(b.CreateAndReduce(isInside), op, "an index lies outside the tile");
    V *lanes = b.lanes(at.width);
    V *row = b.splat(at.width, at.row), *col = b.splat(at.width, at.col);
    (at.down ? row : col) = b.CreateAdd(at.down ? row : col, lanes);
    V *offsets = isDown ? b.CreateAdd(b.CreateMul(number, b.bits(number, from.getCols())), col)
                        : b.CreateAdd(b.CreateMul(row, b.bits(row, from.getCols())), number);
    V *bits = b.CreateMaskedGather(Builder::vectorOf(memory, at.width),
                                   b.CreateGEP(memory, source, offsets), align);
    b.CreateAlignedStore(bits, b.offset(memory, to, place), align);
  });
}

/// Whether `x` comes strictly before `y`. NaN is last either way.
V *comesBefore(Builder &b, V *x, V *y, bool isDescending) {
  if (x->getType()->isFloatTy()) {
    V *isNaNLast = b.CreateAnd(b.CreateFCmpUNO(y, y), b.CreateFCmpORD(x, x));
    return b.CreateOr(isNaNLast, isDescending ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y));
  }
  if (x->getType()->isIntegerTy(1))
    return isDescending ? b.CreateICmpUGT(x, y) : b.CreateICmpULT(x, y);
  return isDescending ? b.CreateICmpSGT(x, y) : b.CreateICmpSLT(x, y);
}

/// Sorts the columns of one row by a merge sort, which is stable; returns the sorted list.
V *sortColumns(Builder &b, V *row, int64_t count, DType type, bool isDescending, V *one, V *other) {
  llvm::Type *i32 = b.getInt32Ty();
  auto column = [&](V *list, V *at) { return b.CreateLoad(i32, b.offset(i32, list, at)); };
  auto value = [&](V *column) {
    return loadOne(b, row, b.CreateSExt(column, b.getInt64Ty()), type);
  };
  b.loop(0, count, 1,
         [&](V *at) { b.CreateStore(b.CreateTrunc(at, i32), b.offset(i32, one, at)); });
  unsigned rounds = llvm::Log2_64_Ceil(count);
  V *length = b.index(count), *last = b.index(count - 1);
  Values lists =
      b.loop(b.index(0), b.index(rounds), 1, {one, other}, [&](V *round, ArrayRef<V *> list) {
        V *half = b.CreateShl(b.index(1), round), *both = b.mul(half, 2);
        V *pairs = b.CreateUDiv(b.add(length, b.add(both, -1)), both);
        b.loop(b.index(0), pairs, 1, [&](V *pair) {
          V *begin = b.mul(pair, both), *middle = b.min(b.add(begin, half), length);
          V *end = b.min(b.add(begin, both), length);
          b.loop(begin, end, 1, {begin, middle}, [&](V *to, ArrayRef<V *> next) {
            V *left = column(list[0], b.min(next[0], last));
            V *right = column(list[0], b.min(next[1], last));
            V *isRight =
                b.CreateAnd(b.CreateICmpSLT(next[1], end),
                            b.CreateOr(b.CreateICmpSGE(next[0], middle),
                                       comesBefore(b, value(right), value(left), isDescending)));
            b.CreateStore(b.CreateSelect(isRight, right, left), b.offset(i32, list[1], to));
            V *step = b.CreateZExt(isRight, b.getInt64Ty());
            return Values{b.add(next[0], b.CreateSub(b.index(1), step)), b.add(next[1], step)};
          });
        });
        return Values{list[1], list[0]};
      });
  return lists[0];
}

template <typename Op> void orderRows(KernelEmitter &e, Op op, bool isDescending) {
  Builder &b = e.b;
  tile::TileType from = op.getOperand().getType(), to = op.getValues().getType();
  DType type = elementTypeOf(from);
  llvm::Type *memory = memoryType(b, type), *i32 = b.getInt32Ty();
  V *source = e.address(op.getOperand());
  V *values = e.address(op.getValues()), *columns = e.address(op.getIndices());
  V *one = e.extra(op), *other = b.offset(i32, one, b.index(from.getCols()));
  b.loop(0, from.getRows(), 1, [&](V *row) {
    V *start = b.offset(memory, source, b.mul(row, from.getCols()));
    V *sorted = sortColumns(b, start, from.getCols(), type, isDescending, one, other);
    b.loop(0, to.getCols(), 1, [&](V *at) {
      V *column = b.CreateLoad(i32, b.offset(i32, sorted, at));
      V *place = b.add(b.mul(row, to.getCols()), at);
      V *bits = b.CreateLoad(memory, b.offset(memory, start, b.CreateSExt(column, b.getInt64Ty())));
      b.CreateStore(bits, b.offset(memory, values, place));
      b.CreateStore(column, b.offset(i32, columns, place));
    });
  });
}

void sortRows(KernelEmitter &e, tile::SortRowsOp op) { orderRows(e, op, op.getDescending()); }
void topkRows(KernelEmitter &e, tile::TopkRowsOp op) { orderRows(e, op, true); }

} // namespace

void addGatherOps(OpTable &table) {
  table.add<tile::GatherOp, gather>();
  table.add<tile::SortRowsOp, sortRows>();
  table.add<tile::TopkRowsOp, topkRows>();
}

} // namespace kiln::llvmir
