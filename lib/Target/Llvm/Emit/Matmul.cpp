// Matrix products of tiles. Operands of other types than f32 are widened into the scratch first,
// and a transposed right side is turned.
#include "Builder/Product.h"
#include "Builder/Transpose.h"
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

using V = llvm::Value;

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
  int64_t depth = op.getTransA() ? left.getRows() : left.getCols();
  product.type = elementTypeOf(result);
  product.rows = result.getRows();
  product.cols = result.getCols();
  product.depth = e.b.index(depth);
  product.unroll = depth % 4 == 0 ? 4 : 1;
  product.aRow = op.getTransA() ? 1 : left.getCols();
  product.aStep = op.getTransA() ? left.getCols() : 1;
  product.bStep = product.cRow = result.getCols();
  product.a = widened(e, op, 0, op.getLhs(), product.type, false);
  product.b = widened(e, op, 1, op.getRhs(), product.type, op.getTransB());
  product.c = e.address(op.getResult());
  product.accumulates = accumulates;
  emitProduct(e.b, e.machine(), product);
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

} // namespace kiln::llvmir
