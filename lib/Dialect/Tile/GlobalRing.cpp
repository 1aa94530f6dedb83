#include "kiln/Dialect/Tile/GlobalRing.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::ir {

bool isInternal(FuncOp func, unsigned index) {
  return func.getArgAttr(index, kInternalAttr) != nullptr;
}

bool isInternal(AllocOp alloc) {
  return !alloc->use_empty() && llvm::all_of(alloc->getUses(), [](OpOperand &use) {
    auto submit = dyn_cast<SubmitOp>(use.getOwner());
    if (!submit || !submit.getCallee())
      return false;
    auto callee = SymbolTable::lookupNearestSymbolFrom<FuncOp>(submit, submit.getCalleeAttr());
    unsigned first = submit.getArgs().getBeginOperandIndex();
    unsigned index = use.getOperandNumber() - first;
    return callee && use.getOperandNumber() >= first && index < callee.getNumArguments() &&
           isInternal(callee, index);
  });
}

unsigned numUserParameters(FuncOp func) {
  unsigned number = func.getNumArguments();
  while (number > 0 && isInternal(func, number - 1))
    --number;
  return number;
}

} // namespace kiln::ir

namespace kiln::tile {

int64_t bytesOf(TileType tile) {
  int64_t element = llvm::divideCeil(tile.getElementType().getIntOrFloatBitWidth(), 8);
  return tile.getNumElements() * element;
}

int64_t copiesInSlot(PipeOp pipe) {
  auto group = cast<ir::FuncOp>(pipe->getParentOp());
  PipeType type = pipe.getPipe().getType();
  if (type.getSplit() != Split::None || group.getLanesOf(type.getFrom()) == 1 ||
      group.getLanesOf(type.getTo()) == 1)
    return 1;
  return group.getNumLanes();
}

std::optional<GlobalRing> ringOf(PipeOp pipe) {
  auto places = pipe->getAttrOfType<DenseI64ArrayAttr>(kRingAttr);
  if (!places)
    return std::nullopt;
  auto group = cast<ir::FuncOp>(pipe->getParentOp());
  return GlobalRing{group.getArguments().back(), places[0],
                    SmallVector<int64_t>(places.asArrayRef().drop_front()),
                    group->hasAttr(kSharedRingAttr)};
}

LogicalResult verifyRing(Operation *op, Attribute ring) {
  auto pipe = dyn_cast<PipeOp>(op);
  auto places = dyn_cast<DenseI64ArrayAttr>(ring);
  auto group = dyn_cast<ir::FuncOp>(op->getParentOp());
  if (!pipe || !places || !group || !pipe.getSlots())
    return op->emitOpError("only a tile.pipe with slots(n) has a ")
           << kRingAttr << ", a list of i64";
  unsigned count = group.getNumArguments();
  auto bytes = count ? dyn_cast<ir::TensorType>(group.getArgumentTypes().back()) : ir::TensorType();
  if (!bytes || !ir::isInternal(group, count - 1) || bytes.getRank() != 2 ||
      !bytes.getElementType().isInteger(8) || bytes.isDynamicDim(1))
    return op->emitOpError("has a ") << kRingAttr << ", but the last parameter of @"
                                     << group.getSymName() << " is no internal tensor ?xNxi8";
  ArrayRef<TileType> payload = pipe.getPipe().getType().getPayload();
  if (places.size() != int64_t(payload.size()) + 1)
    return op->emitOpError("has a ring for ")
           << places.size() - 1 << " tiles, but carries " << payload.size();
  int64_t stride = places[0], slots = *pipe.getSlots(), row = bytes.getShape()[1];
  for (auto [tile, at] : llvm::zip(payload, places.asArrayRef().drop_front())) {
    int64_t size = bytesOf(tile) * copiesInSlot(pipe);
    // Sizes and slots are bounded by their types, so only what is written here can overflow.
    int64_t last = 0, end = 0;
    if (at < 0 || stride < size || llvm::MulOverflow(stride, slots - 1, last) ||
        llvm::AddOverflow(last, at, end) || llvm::AddOverflow(end, size, end) || end > row)
      return op->emitOpError("has a ring that does not fit: ")
             << slots << " slots of " << size << " bytes, " << stride << " apart, from byte " << at
             << " of " << row;
  }
  return success();
}

} // namespace kiln::tile
