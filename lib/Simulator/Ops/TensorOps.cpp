// Tensors: views, allocation, and the operations that move data between them and a core.
#include "Simulator/Interpreter.h"
#include "Simulator/Watcher.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln::simulator {
namespace {

/// Puts a view into the op's result, or says what is wrong with it.
Status setView(Interpreter &in, Operation *op, const Expected<Tensor> &view) {
  if (!view)
    return fault(view.status().message() + "; the tensor is " +
                 describe(op->getOperand(0), in.tensor(op->getOperand(0))));
  in.set(op->getResult(0), *view);
  return Status::ok();
}

Status slice(Interpreter &in, ir::SliceOp op) {
  std::vector<int64_t> offsets = in.indices(op.getStaticOffsets(), op.getOffsets());
  std::vector<int64_t> sizes = in.indices(op.getStaticSizes(), op.getSizes());
  ArrayRef<int64_t> dropped = op.getDropped();
  return setView(
      in, op,
      in.tensor(op.getTensor()).slice(offsets, sizes, Dims(dropped.data(), dropped.size())));
}

Status transpose(Interpreter &in, ir::TransposeOp op) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  return setView(in, op,
                 in.tensor(op.getTensor()).transpose(Dims(permutation.data(), permutation.size())));
}

Status reshape(Interpreter &in, ir::ReshapeOp op) {
  return setView(in, op,
                 in.tensor(op.getTensor()).reshape(in.indices(op.getStaticSizes(), op.getSizes())));
}

Status dim(Interpreter &in, ir::DimOp op) {
  in.set(op.getResult(),
         ScalarBits::fromInt(DType::Index, in.tensor(op.getTensor()).extent(op.getDim())));
  return Status::ok();
}

Status alloc(Interpreter &in, ir::AllocOp op) {
  ir::TensorType type = op.getResult().getType();
  Expected<Tensor> tensor =
      in.host().alloc(*dtypeOf(type.getElementType()), in.indices(type.getShape(), op.getSizes()));
  if (!tensor)
    return tensor.status();
  if (Status bad = tensor->fillPoison();
      !bad.isOk()) // what nobody wrote is the same, and visible, in every run
    return bad;
  if (Watcher *watcher = in.memory().watcher())
    watcher->memoryIsAllocated(*tensor);
  in.set(op.getResult(), *tensor);
  return Status::ok();
}

template <typename Op> Access accessOf(Interpreter &in, Op op) {
  return {op,
          op.getTensor(),
          in.tensor(op.getTensor()),
          in.indices(op.getStaticIndices(), op.getIndices()),
          {},
          in.place().agent};
}

template <typename Op> Access tileAccessOf(Interpreter &in, Op op) {
  Access access = accessOf(in, op);
  if (op.getStaticValid())
    access.valid = in.indices(*op.getStaticValid(), op.getValid());
  return access;
}

Status read(Interpreter &in, ir::ReadOp op) {
  Expected<ScalarBits> value = in.memory().read(accessOf(in, op));
  if (!value)
    return value.status();
  in.set(op.getResult(), *value);
  return Status::ok();
}

Status write(Interpreter &in, ir::WriteOp op) {
  return in.memory().write(accessOf(in, op), in.scalar(op.getValue()));
}

Status load(Interpreter &in, tile::LoadOp op) {
  tile::TileType type = op.getResult().getType();
  ScalarBits pad = padValue(op.getPadAttr(), *dtypeOf(type.getElementType()));
  Access access = tileAccessOf(in, op);
  access.mayMiss = op.getOutside();
  Expected<TilePtr> tile = in.memory().load(access, type.getRows(), type.getCols(), pad);
  if (!tile)
    return tile.status();
  in.set(op.getResult(), *tile);
  return Status::ok();
}

Status store(Interpreter &in, tile::StoreOp op) {
  return in.memory().store(tileAccessOf(in, op), *in.tile(op.getTile()),
                           op.getAtomic().has_value());
}

/// A hint: nothing to do, and nothing to check.
Status prefetch(Interpreter &, tile::PrefetchOp) { return Status::ok(); }

} // namespace

void addTensorOps(OpTable &table) {
  table.add<ir::SliceOp, slice>();
  table.add<ir::TransposeOp, transpose>();
  table.add<ir::ReshapeOp, reshape>();
  table.add<ir::DimOp, dim>();
  table.add<ir::AllocOp, alloc>();
  table.add<ir::ReadOp, read>();
  table.add<ir::WriteOp, write>();
  table.add<tile::LoadOp, load>();
  table.add<tile::StoreOp, store>();
  table.add<tile::PrefetchOp, prefetch>();
}

} // namespace kiln::simulator
