// Matrix products of tiles. Sides that are not yet the words that the machine multiplies are packed
// into the scratch first.
#include "Builder/Product.h"
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using V = llvm::Value;

/// A side of a product as words, packed into scratch of the op where they are not words already.
/// `pitch`: from row to row of what is packed.
V *packed(KernelEmitter &e, Operation *op, unsigned number, Value tile, const Multiplier &how,
          PackedSide::Order order, int64_t pitch) {
  Builder &b = e.b;
  if (!e.plan().hasExtra(op, number))
    return e.address(tile);
  auto type = cast<tile::TileType>(tile.getType());
  DType element = elementTypeOf(type);
  V *from = e.address(tile), *to = e.extra(op, number);
  emitPack(
      b, how, {element, type.getRows(), type.getCols(), order, number == 0},
      [&](V *row, V *col, unsigned width) {
        V *at = b.add(b.mul(row, type.getCols()), col);
        return loadElements(b, b.offset(memoryType(b, element), from, at), element, width);
      },
      [&](V *words, V *i, V *j) {
        V *at = b.add(b.mul(i, pitch), j);
        b.CreateAlignedStore(words, b.offset(wordType(b, how), to, at), llvm::Align(4));
      });
  return to;
}

template <typename Op> void multiply(KernelEmitter &e, Op op, bool accumulates) {
  tile::TileType left = op.getLhs().getType(), result = op.getResult().getType();
  ProductSides sides = sidesOf(op, e.machine());
  Product product;
  product.how = sides.how;
  product.rows = result.getRows();
  product.cols = result.getCols();
  product.depth = e.b.index(sides.depth);
  product.unroll = sides.how.unrolled(sides.depth);
  product.aRow = e.b.index(op.getTransA() ? 1 : sides.depth);
  product.aStep = op.getTransA() ? left.getCols() : 1;
  product.bStep = sides.rightPitch;
  product.cRow = result.getCols();
  product.a = packed(e, op, 0, op.getLhs(), sides.how,
                     op.getTransA() ? PackedSide::Down : PackedSide::Across,
                     op.getTransA() ? left.getCols() : sides.depth);
  product.b = packed(e, op, 1, op.getRhs(), sides.how,
                     op.getTransB() ? PackedSide::Turned : PackedSide::Down, sides.rightPitch);
  product.c = e.address(op.getResult());
  product.accumulates = accumulates;
  if (sides.how.shiftsLeft()) {
    product.excess = e.extra(op, 2);
    emitExcess(e.b, product, product.excess);
  }
  emitProduct(e.b, e.machine(), product);
}

void matmul(KernelEmitter &e, tile::MatmulOp op) { multiply(e, op, false); }

template <typename Op> void matmulAcc(KernelEmitter &e, Op op) {
  Value acc = op.getAccumulator()->get();
  if (e.plan().isInline(acc) || !e.plan().isSameBuffer(acc, op.getResult()))
    e.evalInto(acc, e.matrix(op.getResult()));
  multiply(e, op, true);
}

/// Nothing works beside the core: the product is made at once.
void matmulStart(KernelEmitter &e, tile::MatmulStartOp op) {
  if (op.getAccumulator())
    matmulAcc(e, op);
  else
    multiply(e, op, false);
}

} // namespace

void addMatmuls(OpTable &table) {
  table.add<tile::MatmulOp, matmul>();
  table.add<tile::MatmulAccOp, matmulAcc<tile::MatmulAccOp>>();
  table.add<tile::MatmulStartOp, matmulStart>();
}

} // namespace kiln::llvmir
