#include "kiln/Transforms/PlaceFrees.h"

#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEPLACEFREES
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Whether `op` pops from `pipe` somewhere inside.
bool popsInside(Operation *op, Value pipe) {
  return op
      ->walk([&](tile::PopOp pop) {
        return pop.getPipe() == pipe ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Where the slot of a pop may be freed: before the op returned. After the last use of the popped
/// tiles, or of what aliases them, in the pop's own block; but before
/// - a loop that carries one of them, which starts with a copy,
/// - an op that pops from the same pipe inside, whose frees would release this slot instead,
/// - the end of the block: a yield copies.
Operation *freeBefore(tile::PopOp pop) {
  Block *block = pop->getBlock();
  Operation *last = pop;
  Operation *limit = block->getTerminator();
  auto tighten = [&](Operation *op) {
    if (op->isBeforeInBlock(limit))
      limit = op;
  };
  SmallVector<Value> work(pop.getTiles());
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (isa<scf::ForOp, scf::WhileOp>(user) && user == here)
        tighten(here);
      if (last->isBeforeInBlock(here))
        last = here;
      if (isa<tile::ReshapeOp>(user))
        work.push_back(user->getResult(0));
    }
  }
  for (Operation *op = pop->getNextNode(); op && op != limit && op->isBeforeInBlock(limit);
       op = op->getNextNode())
    if (op->getNumRegions() > 0 && popsInside(op, pop.getPipe()))
      tighten(op);
  return last->isBeforeInBlock(limit) ? last->getNextNode() : limit;
}

struct PlaceFrees : impl::TilePlaceFreesBase<PlaceFrees> {
  void runOnOperation() override {
    getOperation().walk([](ir::FuncOp func) { placeFrees(func); });
  }
};
} // namespace

void placeFrees(ir::FuncOp func) {
  llvm::SmallPtrSet<Value, 4> written;
  SmallVector<tile::PopOp> pops;
  func.walk([&](Operation *op) {
    if (auto free = dyn_cast<tile::FreeOp>(op))
      written.insert(free.getPipe());
    else if (auto pop = dyn_cast<tile::PopOp>(op))
      pops.push_back(pop);
  });
  // A free releases the oldest popped slot, so within a block the frees of a pipe come in the order
  // of its pops: none before the one of an earlier pop.
  llvm::DenseMap<std::pair<Value, Block *>, Operation *> previous;
  for (tile::PopOp pop : pops) {
    if (written.contains(pop.getPipe()))
      continue;
    Operation *before = freeBefore(pop);
    Operation *&earlier = previous[{pop.getPipe(), pop->getBlock()}];
    if (earlier && before->isBeforeInBlock(earlier))
      before = earlier->getNextNode();
    OpBuilder builder(before);
    earlier = tile::FreeOp::create(builder, pop.getLoc(), pop.getPipe());
  }
}

} // namespace kiln
