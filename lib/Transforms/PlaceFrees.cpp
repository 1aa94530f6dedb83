#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEPLACEFREES
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// The last op in the pop's block that uses the popped tiles, or what aliases them; the pop itself
/// if none.
Operation *lastUse(tile::PopOp pop) {
  Block *block = pop->getBlock();
  Operation *last = pop;
  SmallVector<Value> work(pop.getTiles());
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (last->isBeforeInBlock(here))
        last = here;
      if (isa<tile::ReshapeOp>(user))
        work.push_back(user->getResult(0));
    }
  }
  return last;
}

struct PlaceFrees : impl::TilePlaceFreesBase<PlaceFrees> {
  void runOnOperation() override {
    getOperation().walk([](ir::FuncOp func) {
      llvm::SmallPtrSet<Value, 4> written;
      SmallVector<tile::PopOp> pops;
      func.walk([&](Operation *op) {
        if (auto free = dyn_cast<tile::FreeOp>(op))
          written.insert(free.getPipe());
        else if (auto pop = dyn_cast<tile::PopOp>(op))
          pops.push_back(pop);
      });
      for (tile::PopOp pop : pops) {
        if (written.contains(pop.getPipe()))
          continue;
        Operation *last = lastUse(pop);
        OpBuilder builder(pop);
        if (last->hasTrait<OpTrait::IsTerminator>())
          builder.setInsertionPoint(last);
        else
          builder.setInsertionPointAfter(last);
        tile::FreeOp::create(builder, pop.getLoc(), pop.getPipe());
      }
    });
  }
};
} // namespace
} // namespace kiln
