#include "TensorAccess.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

SmallVector<TensorAccess, 2> tensorAccesses(Operation *op) {
  SmallVector<TensorAccess, 2> accesses;
  auto note = [&](Value tensor, bool reads, bool writes) {
    accesses.push_back({op, tensor, reads, writes});
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<tile::LoadOp, ir::ReadOp, ir::GetOp>(
          [&](auto access) { note(access.getTensor(), true, false); })
      .Case<tile::StoreOp>(
          [&](auto store) { note(store.getTensor(), bool(store.getAtomic()), true); })
      .Case<tile::GatherRowsOp>([&](auto gather) {
        note(gather.getTensor(), true, false);
        note(gather.getRows(), true, false);
      })
      .Case<tile::ScatterRowsOp>([&](auto scatter) {
        note(scatter.getTensor(), bool(scatter.getAtomic()), true);
        note(scatter.getRows(), true, false);
      })
      .Case<ir::WriteOp>([&](auto write) { note(write.getTensor(), false, true); });
  return accesses;
}

} // namespace kiln
