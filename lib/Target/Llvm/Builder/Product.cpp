#include "Product.h"

#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace kiln::llvmir {

/// A block of 6 x 4 vectors needs 10 loads for 24 products, one of 12 x 2 needs 14: 8 % slower
/// where two threads share a core's ports.
static int64_t panelVectors(const MachineTraits &machine) {
  return machine.accumulators >= 16 ? 4 : 1;
}
int64_t panelWidth(const MachineTraits &machine) { return panelVectors(machine) * kWidth; }

namespace {

class ProductEmitter {
public:
  ProductEmitter(Builder &builder, const MachineTraits &machine, const Product &product)
      : b(builder), Machine(machine), P(product), Element(memoryType(b, P.type)) {}

  void emit() {
    // Columns outside: their part of the right side stays in the nearest cache for all rows.
    int64_t wide = panelWidth(Machine), whole = P.cols / wide * wide;
    b.loop(0, whole, wide, [&](Value *col) {
      emitRows(col, SmallVector<unsigned>(panelVectors(Machine), kWidth));
    });
    SmallVector<unsigned> rest;
    for (int64_t left = P.cols - whole; left > 0; left -= rest.back())
      rest.push_back(std::min<int64_t>(left, kWidth));
    if (!rest.empty())
      emitRows(b.index(whole), rest);
  }

private:
  /// As few blocks of rows as registers allow, and as equal: 64 rows are 9 x 6 + 2 x 5.
  void emitRows(Value *col, ArrayRef<unsigned> widths) {
    int64_t most = std::max<int64_t>(1, Machine.accumulators / int64_t(widths.size()));
    int64_t count = (P.rows + most - 1) / most, fewer = P.rows / count, larger = P.rows % count;
    int64_t split = larger * (fewer + 1);
    Value *before = P.fetch.from ? b.mul(P.fetch.part, count) : nullptr;
    auto block = [&](Value *row, int64_t rows) {
      Value *line = P.fetch.from ? firstLine(b.add(before, b.CreateUDiv(row, b.index(rows))),
                                             int64_t(widths.size()))
                                 : nullptr;
      emitBlock(row, rows, col, widths, line);
    };
    b.loop(0, split, fewer + 1, [&](Value *row) { block(row, fewer + 1); });
    b.loop(split, P.rows, fewer, [&](Value *row) { block(row, fewer); });
  }

  /// Where block `number` begins to fetch: one vector of every `unroll`-th row.
  Value *firstLine(Value *number, int64_t vectors) {
    Value *vector = b.CreateURem(number, b.index(vectors));
    Value *row = b.CreateURem(b.CreateUDiv(number, b.index(vectors)), b.index(P.unroll));
    return b.offset(P.fetch.element, P.fetch.from,
                    b.add(b.mul(row, P.fetch.rowStride), b.mul(vector, kWidth)));
  }

  Value *multiplyAdd(Value *x, Value *y, Value *sum) {
    if (isFloat(P.type))
      return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {x, y, sum});
    return b.CreateAdd(sum, b.CreateMul(x, y));
  }

  /// The part of the result from (row, col) on: `rows` rows of vectors of these widths.
  void emitBlock(Value *row, int64_t rows, Value *col, ArrayRef<unsigned> widths, Value *line) {
    SmallVector<Value *> targets;
    Values sums;
    for (int64_t i = 0; i < rows; ++i) {
      Value *at = b.add(b.mul(b.add(row, i), P.cRow), col);
      for (unsigned width : widths) {
        targets.push_back(b.offset(Element, P.c, at));
        sums.push_back(P.accumulates ? loadElements(b, targets.back(), P.type, width)
                                     : Constant::getNullValue(Builder::vectorOf(Element, width)));
        at = b.add(at, width);
      }
    }
    Value *left = b.offset(Element, P.a, b.mul(row, P.aRow)), *right = b.offset(Element, P.b, col);
    sums = b.loop(b.index(0), P.depth, P.unroll, sums, [&](Value *k, ArrayRef<Value *> old) {
      if (line)
        emitPrefetch(b, b.offset(P.fetch.element, line, b.mul(k, P.fetch.rowStride)));
      Values next(old);
      for (int64_t step = 0; step < P.unroll; ++step)
        next = emitStep(left, right, b.add(k, step), rows, widths, next);
      return next;
    });
    for (auto [target, sum] : zip_equal(targets, sums))
      storeElements(b, sum, target, P.type);
  }

  Values emitStep(Value *left, Value *right, Value *k, int64_t rows, ArrayRef<unsigned> widths,
                  ArrayRef<Value *> old) {
    SmallVector<Value *> panel;
    Value *at = b.mul(k, P.bStep);
    for (unsigned width : widths) {
      panel.push_back(loadElements(b, b.offset(Element, right, at), P.type, width));
      at = b.add(at, width);
    }
    Values next;
    for (int64_t i = 0; i < rows; ++i) {
      Value *from = b.add(b.mul(k, P.aStep), i * P.aRow);
      Value *one = b.CreateAlignedLoad(Element, b.offset(Element, left, from), Align(4));
      for (auto [vector, width] : enumerate(widths))
        next.push_back(
            multiplyAdd(b.splat(width, one), panel[vector], old[i * widths.size() + vector]));
    }
    return next;
  }

  Builder &b;
  const MachineTraits &Machine;
  const Product &P;
  Type *Element;
};

} // namespace

void emitProduct(Builder &b, const MachineTraits &machine, const Product &product) {
  ProductEmitter(b, machine, product).emit();
}

} // namespace kiln::llvmir
