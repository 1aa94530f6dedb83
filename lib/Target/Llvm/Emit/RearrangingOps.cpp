// Ops that put elements elsewhere.
#include "Builder/Transpose.h"
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

/// The same memory under another type; see TilePlan.
void alias(KernelEmitter &, Operation *) {}

void transpose(KernelEmitter &e, tile::TransposeOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getOperand().getType();
  DType element = elementTypeOf(type);
  llvm::Type *memory = memoryType(b, element);
  llvm::Value *from = e.address(op.getOperand()), *to = e.address(op.getResult());
  llvm::Align align(sizeOf(element));
  emitTranspose(
      b, type.getRows(), type.getCols(),
      [&](llvm::Value *row, llvm::Value *col, unsigned width) {
        llvm::Value *at = b.offset(memory, from, b.add(b.mul(row, type.getCols()), col));
        return b.CreateAlignedLoad(Builder::vectorOf(memory, width), at, align);
      },
      [&](llvm::Value *vector, llvm::Value *row, llvm::Value *col) {
        llvm::Value *at = b.offset(memory, to, b.add(b.mul(row, type.getRows()), col));
        b.CreateAlignedStore(vector, at, align);
      });
}

/// The part of a tile's buffer from (row, col) on.
Matrix partOf(KernelEmitter &e, Value tile, llvm::Value *row, llvm::Value *col) {
  Builder &b = e.b;
  Matrix whole = e.matrix(tile);
  llvm::Type *memory = memoryType(b, elementTypeOf(tile.getType()));
  return {b.offset(memory, whole.data, b.add(b.mul(row, whole.rowStride), col)), whole.rowStride};
}

void insert(KernelEmitter &e, tile::InsertOp op) {
  Values at = e.indices(op.getStaticIndices(), op.getIndices());
  e.checkBox(op, at, op.getTile().getType(), op.getInto().getType());
  e.evalInto(op.getInto(), e.matrix(op.getResult()));
  e.evalInto(op.getTile(), partOf(e, op.getResult(), at[0], at[1]));
}

void concat(KernelEmitter &e, tile::ConcatOp op) {
  int64_t at = 0;
  for (Value part : op.getTiles()) {
    llvm::Value *start = e.b.index(at), *zero = e.b.index(0);
    bool isDown = op.getAxis() == 0;
    e.evalInto(part, partOf(e, op.getResult(), isDown ? start : zero, isDown ? zero : start));
    at += cast<tile::TileType>(part.getType()).getExtent(op.getAxis());
  }
}

} // namespace

void addRearrangingOps(OpTable &table) {
  table.add<tile::ReshapeOp, alias>();
  table.add<tile::MoveOp, alias>();
  table.add<tile::AwaitOp, alias>();
  table.add<tile::TransposeOp, transpose>();
  table.add<tile::InsertOp, insert>();
  table.add<tile::ConcatOp, concat>();
}

} // namespace kiln::llvmir
