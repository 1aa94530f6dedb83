// Pipes between the roles of a group and barriers between its blocks, as kiln/abi.h describes them.
// A tile is computed right into the slot it is pushed through, and used in the slot it was popped
// from.
#include "KernelEmitter.h"

#include "Plan/Pipes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::llvmir {

uint64_t payloadOffset(tile::PipeType pipe, unsigned number) {
  uint64_t offset = 0;
  for (tile::TileType tile : pipe.getPayload().take_front(number))
    offset += llvm::alignTo(tile.getNumElements() * sizeOf(elementTypeOf(tile)), 64);
  return offset;
}

namespace {

using V = llvm::Value;

/// Calls a function of the context's table on a pipe; `waiting` is the operation that may have to
/// wait there, whose place is told.
V *callPipe(KernelEmitter &e, size_t function, llvm::Type *result, Value pipe,
            Operation *waiting = nullptr) {
  Builder &b = e.b;
  V *table = e.context(offsetof(kiln_context, pipe_functions), b.getPtrTy());
  V *callee = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getInt8Ty(), table, function));
  SmallVector<V *> arguments{e.contextPointer(), e.scalar(pipe)};
  if (waiting)
    arguments.push_back(e.source(waiting));
  SmallVector<llvm::Type *> types;
  for (V *argument : arguments)
    types.push_back(argument->getType());
  return b.CreateCall(llvm::FunctionType::get(result, types, false), callee, arguments);
}

/// Returns from the role if the group has ended; the runtime knows why.
void returnUnless(KernelEmitter &e, V *goesOn) {
  Builder &b = e.b;
  llvm::BasicBlock *ended = b.block("ended"), *next = b.block("next");
  b.CreateCondBr(goesOn, next, ended);
  b.SetInsertPoint(ended);
  b.CreateRet(b.getInt32(KILN_FAIL));
  b.SetInsertPoint(next);
}

/// Where a lane's part of tile `number` of a message lies.
Matrix partOf(KernelEmitter &e, tile::PipeType pipe, unsigned number, tile::TileType part,
              V *message) {
  Builder &b = e.b;
  tile::TileType full = pipe.getPayload()[number];
  V *start = b.CreateConstGEP1_64(b.getInt8Ty(), message, payloadOffset(pipe, number));
  if (part.getNumElements() == full.getNumElements())
    return {start, full.getCols()};
  V *lane = b.CreateZExt(e.context(offsetof(kiln_context, lane), b.getInt32Ty()), b.getInt64Ty());
  int64_t step =
      part.getRows() != full.getRows() ? part.getRows() * full.getCols() : part.getCols();
  return {b.offset(memoryType(b, elementTypeOf(full)), start, b.mul(lane, step)), full.getCols()};
}

void pipe(KernelEmitter &e, tile::PipeOp op) {
  // Its number is its place among the group's pipes.
  unsigned number = 0;
  for (Operation *other = op->getPrevNode(); other; other = other->getPrevNode())
    number += isa<tile::PipeOp>(other);
  Builder &b = e.b;
  V *pipes = e.context(offsetof(kiln_context, pipes), b.getPtrTy());
  e.setScalar(op.getPipe(),
              b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), pipes, number)));
}

void push(KernelEmitter &e, tile::PushOp op) {
  Builder &b = e.b;
  auto type = cast<tile::PipeType>(op.getPipe().getType());
  V *message =
      callPipe(e, offsetof(kiln_pipe_functions, begin_push), b.getPtrTy(), op.getPipe(), op);
  returnUnless(e, b.CreateIsNotNull(message));
  for (auto [number, tile] : llvm::enumerate(op.getTiles()))
    e.evalInto(tile, partOf(e, type, number, cast<tile::TileType>(tile.getType()), message));
  V *status = callPipe(e, offsetof(kiln_pipe_functions, end_push), b.getInt32Ty(), op.getPipe());
  returnUnless(e, b.CreateICmpEQ(status, b.getInt32(0)));
}

void pop(KernelEmitter &e, tile::PopOp op) {
  Builder &b = e.b;
  auto type = cast<tile::PipeType>(op.getPipe().getType());
  V *message = callPipe(e, offsetof(kiln_pipe_functions, pop), b.getPtrTy(), op.getPipe(), op);
  returnUnless(e, b.CreateIsNotNull(message));
  for (auto [number, tile] : llvm::enumerate(op.getTiles())) {
    auto part = cast<tile::TileType>(tile.getType());
    Matrix from = partOf(e, type, number, part, message);
    if (!isCopied(op, number)) {
      e.setAddress(tile, from.data);
      continue;
    }
    llvm::Type *memory = memoryType(b, elementTypeOf(part));
    V *to = e.address(tile);
    b.loop(0, part.getRows(), 1, [&](V *row) {
      b.CreateMemCpy(b.offset(memory, to, b.mul(row, part.getCols())), llvm::Align(1),
                     b.offset(memory, from.data, b.mul(row, from.rowStride)), llvm::Align(1),
                     part.getCols() * sizeOf(elementTypeOf(part)));
    });
  }
}

void free(KernelEmitter &e, tile::FreeOp op) {
  Builder &b = e.b;
  V *status = callPipe(e, offsetof(kiln_pipe_functions, free), b.getInt32Ty(), op.getPipe());
  returnUnless(e, b.CreateICmpEQ(status, b.getInt32(0)));
}

void barrier(KernelEmitter &e, tile::BarrierOp op) {
  Builder &b = e.b;
  V *status =
      e.callBlockFunction(offsetof(kiln_block_functions, meet), b.getInt32Ty(), {e.source(op)});
  returnUnless(e, b.CreateICmpEQ(status, b.getInt32(0)));
}

} // namespace

void addPipeOps(OpTable &table) {
  table.add<tile::BarrierOp, barrier>();
  table.add<tile::PipeOp, pipe>();
  table.add<tile::PushOp, push>();
  table.add<tile::PopOp, pop>();
  table.add<tile::FreeOp, free>();
}

} // namespace kiln::llvmir
