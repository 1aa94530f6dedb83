// Matrix products: a block of the result stays in registers while k runs. Operands of other types
// than f32 are widened into the scratch first, and a transposed right side is turned.
#include "KernelEmitter.h"
#include "Transpose.h"

#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace kiln::cpu {
namespace {

using V = llvm::Value;

/// Rows and vectors of the register block: 16 accumulators leave room for both operands in 32
/// registers of AVX-512, and hide the latency of the multiply-add on two units.
constexpr int64_t kBlockRows = 8, kBlockVectors = 2;

/// Everything one product needs; strides in elements.
struct Product {
  int64_t m, n, k;
  V *a, *b, *c;
  int64_t aRow, aCol; ///< From row to row of the left side, and from k to k.
  DType type;         ///< Of all three in memory: f32 or i32.
  bool accumulates;
};

class MatmulEmitter {
public:
  MatmulEmitter(Builder &builder, const Product &product) : b(builder), P(product) {}

  void emit() {
    // Columns outside: their panel of the right side stays in the nearest cache for all rows.
    int64_t wide = kBlockVectors * kWidth, whole = P.n / wide * wide;
    b.loop(0, whole, wide, [&](V *col) { emitRows(col, {kWidth, kWidth}); });
    SmallVector<unsigned> rest;
    for (int64_t left = P.n - whole; left > 0; left -= rest.back())
      rest.push_back(std::min<int64_t>(left, kWidth));
    if (!rest.empty())
      emitRows(b.index(whole), rest);
  }

private:
  void emitRows(V *col, ArrayRef<unsigned> widths) {
    int64_t whole = P.m / kBlockRows * kBlockRows;
    b.loop(0, whole, kBlockRows, [&](V *row) { emitBlock(row, kBlockRows, col, widths); });
    if (P.m > whole)
      emitBlock(b.index(whole), P.m - whole, col, widths);
  }

  V *multiplyAdd(V *x, V *y, V *sum) {
    if (isFloat(P.type))
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, sum});
    return b.CreateAdd(sum, b.CreateMul(x, y));
  }

  /// The part of the result from (row, col) on: `rows` rows of vectors of these widths.
  void emitBlock(V *row, int64_t rows, V *col, ArrayRef<unsigned> widths) {
    llvm::Type *element = memoryType(b, P.type);
    SmallVector<V *> targets;
    Values sums;
    for (int64_t i = 0; i < rows; ++i) {
      V *at = b.add(b.mul(b.add(row, i), P.n), col);
      for (unsigned width : widths) {
        targets.push_back(b.offset(element, P.c, at));
        sums.push_back(P.accumulates
                           ? loadElements(b, targets.back(), P.type, width)
                           : llvm::Constant::getNullValue(Builder::vectorOf(element, width)));
        at = b.add(at, width);
      }
    }
    V *left = b.offset(element, P.a, b.mul(row, P.aRow)), *right = b.offset(element, P.b, col);
    sums = b.loop(b.index(0), b.index(P.k), 1, sums, [&](V *k, ArrayRef<V *> old) {
      Values next;
      SmallVector<V *> panel;
      V *at = b.mul(k, P.n);
      for (unsigned width : widths) {
        panel.push_back(loadElements(b, b.offset(element, right, at), P.type, width));
        at = b.add(at, width);
      }
      for (int64_t i = 0; i < rows; ++i) {
        V *from = b.add(b.mul(k, P.aCol), i * P.aRow);
        V *one = b.CreateAlignedLoad(element, b.offset(element, left, from), llvm::Align(4));
        for (auto [vector, width] : llvm::enumerate(widths))
          next.push_back(
              multiplyAdd(b.splat(width, one), panel[vector], old[i * widths.size() + vector]));
      }
      return next;
    });
    for (auto [target, sum] : llvm::zip_equal(targets, sums))
      storeElements(b, sum, target, P.type);
  }

  Builder &b;
  const Product &P;
};

/// A tile's elements, widened to `wide`, in scratch of the op; turned if asked for.
V *widened(KernelEmitter &e, Operation *op, unsigned number, Value tile, DType wide, bool turned) {
  Builder &b = e.b;
  auto type = cast<tile::TileType>(tile.getType());
  DType element = elementTypeOf(type);
  if (!e.plan().hasExtra(op, number))
    return e.address(tile);
  V *from = e.address(tile), *to = e.extra(op, number);
  llvm::Type *memory = memoryType(b, wide);
  auto load = [&](V *place, unsigned width) {
    V *at = b.offset(memoryType(b, element), from, place);
    return convert(b, loadElements(b, at, element, width), element, wide);
  };
  if (!turned)
    b.chunks(type.getNumElements(), kWidth, [&](V *at, unsigned width) {
      storeElements(b, load(at, width), b.offset(memory, to, at), wide);
    });
  else
    emitTranspose(
        b, type.getRows(), type.getCols(),
        [&](V *row, V *col, unsigned width) {
          return load(b.add(b.mul(row, type.getCols()), col), width);
        },
        [&](V *vector, V *row, V *col) {
          V *at = b.add(b.mul(row, type.getRows()), col);
          storeElements(b, vector, b.offset(memory, to, at), wide);
        });
  return to;
}

template <typename Op> void multiply(KernelEmitter &e, Op op, bool accumulates) {
  tile::TileType left = op.getLhs().getType(), result = op.getResult().getType();
  Product product;
  product.type = elementTypeOf(result);
  product.m = result.getRows();
  product.n = result.getCols();
  product.k = op.getTransA() ? left.getRows() : left.getCols();
  product.aRow = op.getTransA() ? 1 : left.getCols();
  product.aCol = op.getTransA() ? left.getCols() : 1;
  product.a = widened(e, op, 0, op.getLhs(), product.type, false);
  product.b = widened(e, op, 1, op.getRhs(), product.type, op.getTransB());
  product.c = e.address(op.getResult());
  product.accumulates = accumulates;
  MatmulEmitter(e.b, product).emit();
}

void matmul(KernelEmitter &e, tile::MatmulOp op) { multiply(e, op, false); }

void matmulAcc(KernelEmitter &e, tile::MatmulAccOp op) {
  if (!e.plan().isInline(op.getAcc()) && e.plan().isSameBuffer(op.getAcc(), op.getResult()))
    return multiply(e, op, true);
  e.evalInto(op.getAcc(), e.matrix(op.getResult()));
  multiply(e, op, true);
}

} // namespace

void addMatmuls(OpTable &table) {
  table.add<tile::MatmulOp, matmul>();
  table.add<tile::MatmulAccOp, matmulAcc>();
}

} // namespace kiln::cpu
