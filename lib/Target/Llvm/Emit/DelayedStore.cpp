// A store at the end of a block that is done while the next block computes. It is decided at run
// time whether one is delayed: only a store past the caches is, because others do not wait.
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::llvmir {

void KernelEmitter::delayStore(llvm::Value *to) { b.CreateStore(to, extra(Plan.delayedStore())); }

llvm::Value *KernelEmitter::takeDelayed() {
  llvm::Value *place = extra(Plan.delayedStore());
  llvm::Value *due = b.CreateLoad(b.getPtrTy(), place);
  b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), place);
  return due;
}

llvm::Value *KernelEmitter::evalStored(Value value, const Cursor &at) {
  Value computed = std::exchange(Root, Value());
  llvm::Value *made = eval(value, at);
  Root = computed;
  return made;
}

void KernelEmitter::storeDelayed(llvm::Value *to, const Cursor &at) {
  tile::StoreOp store = Plan.delayedStore();
  const TensorView &tensor = this->tensor(store.getTensor());
  llvm::Value *offset = at.col;
  if (at.rows > 1)
    offset = b.add(b.mul(at.row, tensor.strides[tensor.strides.size() - 2]), offset);
  llvm::DebugLoc users = b.getCurrentDebugLocation();
  locate(store);
  streamElements(b, evalStored(store.getTile(), at),
                 b.offset(memoryType(b, tensor.type), to, offset), tensor.type);
  b.SetCurrentDebugLocation(users);
  setStreams();
}

void KernelEmitter::withDelayed(Value tile, bool isFast,
                                llvm::function_ref<void(llvm::Value *)> body) {
  if (tile != Plan.delayedInto())
    return body(nullptr);
  if (!isFast) {
    flushDelayed();
    return body(nullptr);
  }
  llvm::Value *due = takeDelayed();
  b.branch(b.CreateIsNotNull(due), [&] { body(due); }, [&] { body(nullptr); });
}

void KernelEmitter::flushDelayed() {
  if (!Plan.delayedStore())
    return;
  tile::TileType type = Plan.delayedStore().getTile().getType();
  llvm::Value *due = takeDelayed();
  b.branch(b.CreateIsNotNull(due), [&] {
    overElements(type.getRows(), type.getCols(), false,
                 [&](const Cursor &at) { storeDelayed(due, at); });
  });
}

} // namespace kiln::llvmir
