// Views of tensors, single elements of them, and where a kernel runs.
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

void slice(KernelEmitter &e, ir::SliceOp op) {
  Builder &b = e.b;
  TensorView from = e.tensor(op.getTensor()), to;
  Values offsets = e.indices(op.getStaticOffsets(), op.getOffsets());
  Values sizes = e.indices(op.getStaticSizes(), op.getSizes());
  to.type = from.type;
  checkSlice(e, op, offsets, sizes);
  llvm::Value *start = b.index(0);
  for (unsigned axis = 0; axis < offsets.size(); ++axis) {
    start = b.add(start, b.mul(offsets[axis], from.strides[axis]));
    if (llvm::is_contained(op.getDropped(), axis))
      continue;
    to.extents.push_back(sizes[axis]);
    to.strides.push_back(from.strides[axis]);
  }
  to.data = b.offset(memoryType(b, from.type), from.data, start);
  e.setTensor(op.getResult(), std::move(to));
}

void transpose(KernelEmitter &e, ir::TransposeOp op) {
  TensorView from = e.tensor(op.getTensor()), to;
  to.data = from.data;
  to.type = from.type;
  for (int64_t axis : op.getPermutation()) {
    to.extents.push_back(from.extents[axis]);
    to.strides.push_back(from.strides[axis]);
  }
  e.setTensor(op.getResult(), std::move(to));
}

/// Strides of a tensor without gaps.
Values denseStrides(Builder &b, ArrayRef<llvm::Value *> extents) {
  Values strides(extents.size());
  llvm::Value *stride = b.index(1);
  for (int axis = extents.size() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride = b.mul(stride, extents[axis]);
  }
  return strides;
}

void reshape(KernelEmitter &e, ir::ReshapeOp op) {
  Builder &b = e.b;
  TensorView from = e.tensor(op.getTensor()), to;
  to.data = from.data;
  to.type = from.type;
  to.extents = e.indices(op.getStaticSizes(), op.getSizes());
  to.strides = denseStrides(b, to.extents);
  llvm::Value *count = b.index(1), *wanted = b.index(1), *zero = b.index(0);
  for (llvm::Value *extent : from.extents)
    count = b.mul(count, extent);
  Values fine;
  for (llvm::Value *extent : to.extents) {
    wanted = b.mul(wanted, extent);
    fine.push_back(b.CreateICmpSGE(extent, zero));
  }
  fine.push_back(b.CreateICmpEQ(count, wanted));
  e.check(b.allOf(fine), op, "the sizes do not hold as many elements as the tensor has");
  Values dense = denseStrides(b, from.extents);
  llvm::Value *isDense = b.CreateICmpEQ(count, zero); // nothing, or every axis in its place
  Values inPlace;
  for (auto [extent, stride, expected] : llvm::zip_equal(from.extents, from.strides, dense))
    inPlace.push_back(
        b.CreateOr(b.CreateICmpSLE(extent, b.index(1)), b.CreateICmpEQ(stride, expected)));
  e.check(b.CreateOr(isDense, b.allOf(inPlace)), op, "the tensor is not contiguous");
  e.setTensor(op.getResult(), std::move(to));
}

void dim(KernelEmitter &e, ir::DimOp op) {
  e.setScalar(op.getResult(), e.tensor(op.getTensor()).extents[op.getDim()]);
}

/// The bytes of a tensor of run-time shape; fails the kernel if there cannot be one.
llvm::Value *countBytes(KernelEmitter &e, ir::AllocOp op, const TensorView &view) {
  Builder &b = e.b;
  llvm::Value *bytes = b.index(sizeOf(view.type)), *fits = b.getTrue();
  for (llvm::Value *extent : view.extents) {
    e.check(b.CreateICmpSGE(extent, b.index(0)), op,
            Message("one of the extents ")
                << ArrayRef(view.extents) << std::string(" is negative"));
    llvm::Value *product =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, bytes, extent);
    bytes = b.CreateExtractValue(product, 0);
    // Beside an extent of 0 any other is fine.
    fits = b.CreateOr(b.CreateAnd(fits, b.CreateNot(b.CreateExtractValue(product, 1))),
                      b.CreateICmpEQ(extent, b.index(0)));
  }
  e.check(fits, op, "there is no memory for the tensor");
  return bytes;
}

void alloc(KernelEmitter &e, ir::AllocOp op) {
  ir::TensorType type = op.getResult().getType();
  TensorView view;
  view.type = elementTypeOf(type);
  view.extents = e.indices(type.getShape(), op.getSizes());
  view.strides = denseStrides(e.b, view.extents);
  view.data = type.hasStaticShape() ? e.extra(op) : e.allocate(op, countBytes(e, op, view));
  e.setTensor(op.getResult(), std::move(view));
}

template <typename Op> llvm::Value *elementAddress(KernelEmitter &e, Op op) {
  Builder &b = e.b;
  const TensorView &tensor = e.tensor(op.getTensor());
  Values at = e.indices(op.getStaticIndices(), op.getIndices());
  checkElement(e, op, op.getTensor(), at);
  llvm::Value *offset = b.index(0);
  for (unsigned axis = 0; axis < at.size(); ++axis)
    offset = b.add(offset, b.mul(at[axis], tensor.strides[axis]));
  return b.offset(memoryType(b, tensor.type), tensor.data, offset);
}

void read(KernelEmitter &e, ir::ReadOp op) {
  DType type = e.tensor(op.getTensor()).type;
  llvm::Value *one = loadElements(e.b, elementAddress(e, op), type, 1);
  e.setScalar(op.getResult(), e.b.CreateExtractElement(one, uint64_t(0)));
}

void write(KernelEmitter &e, ir::WriteOp op) {
  DType type = e.tensor(op.getTensor()).type;
  storeElements(e.b, e.b.splat(1, e.scalar(op.getValue())), elementAddress(e, op), type);
}

void element(KernelEmitter &e, tile::ElementOp op) {
  Builder &b = e.b;
  tile::TileType type = op.getTile().getType();
  DType element = elementTypeOf(type);
  Values at = e.indices(op.getStaticIndices(), op.getIndices());
  e.checkBox(op, at, type.withShape(1, 1), type);
  llvm::Value *number = b.add(b.mul(at[0], type.getCols()), at[1]);
  llvm::Value *from = b.offset(memoryType(b, element), e.address(op.getTile()), number);
  e.setScalar(op.getResult(),
              b.CreateExtractElement(loadElements(b, from, element, 1), uint64_t(0)));
}

void blockIdx(KernelEmitter &e, tile::BlockIdxOp op) {
  e.setScalar(op.getResult(), e.blockIndex(op.getDim()));
}

void blockCount(KernelEmitter &e, tile::BlockCountOp op) {
  e.setScalar(op.getResult(),
              e.context(offsetof(kiln_context, grid) + 8 * op.getDim(), e.b.getInt64Ty()));
}

void lane(KernelEmitter &e, tile::LaneOp op) {
  llvm::Value *lane = e.context(offsetof(kiln_context, lane), e.b.getInt32Ty());
  e.setScalar(op.getResult(), e.b.CreateZExt(lane, e.b.getInt64Ty()));
}

} // namespace

void checkElement(KernelEmitter &e, Operation *op, Value tensor, ArrayRef<llvm::Value *> at) {
  Values inside;
  for (auto [index, extent] : llvm::zip_equal(at, e.extentsOf(tensor)))
    inside.push_back(e.b.CreateICmpULT(index, extent)); // negative as unsigned is beyond them all
  Message message("element ");
  message << at << std::string(" is outside ");
  e.checkAll(inside, op, e.describe(message, tensor));
}

void checkSlice(KernelEmitter &e, ir::SliceOp op, ArrayRef<llvm::Value *> offsets,
                ArrayRef<llvm::Value *> sizes) {
  Builder &b = e.b;
  llvm::Value *zero = b.index(0);
  for (auto [axis, extent] : llvm::enumerate(e.extentsOf(op.getTensor()))) {
    llvm::Value *offset = offsets[axis], *size = sizes[axis];
    Message message("slice [");
    message << offset << std::string(", +") << size
            << ") of axis " + std::to_string(axis) + " is outside its extent " << extent
            << std::string("; the tensor is ");
    e.check(b.allOf({b.CreateICmpSGE(offset, zero), b.CreateICmpSGE(size, zero),
                     b.CreateICmpSLE(offset, extent),
                     b.CreateICmpSLE(size, b.CreateSub(extent, offset))}),
            op, e.describe(message, op.getTensor()));
    if (llvm::is_contained(op.getDropped(), axis))
      e.check(b.CreateICmpEQ(size, b.index(1)), op,
              "axis " + std::to_string(axis) + " is dropped but its size is not 1");
  }
}

void addTensorOps(OpTable &table) {
  table.add<ir::SliceOp, slice>();
  table.add<ir::TransposeOp, transpose>();
  table.add<ir::ReshapeOp, reshape>();
  table.add<ir::DimOp, dim>();
  table.add<ir::AllocOp, alloc>();
  table.add<ir::ReadOp, read>();
  table.add<ir::WriteOp, write>();
  table.add<tile::ElementOp, element>();
  table.add<tile::BlockIdxOp, blockIdx>();
  table.add<tile::BlockCountOp, blockCount>();
  table.add<tile::LaneOp, lane>();
}

} // namespace kiln::llvmir
