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

/// What a pop's own block says about the lives of its tiles.
struct SlotUse {
  /// The last op that uses the tiles, or what some machine keeps where they lie.
  Operation *last;
  /// Whether somebody keeps them for longer than that: a loop that carries one of them in, or a
  /// yield.
  bool isHandedOn = false;
};

SlotUse findUse(tile::PopOp pop) {
  Block *block = pop->getBlock();
  SlotUse use{pop};
  SmallVector<Value> work(pop.getTiles());
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (use.last->isBeforeInBlock(here))
        use.last = here;
      use.isHandedOn |=
          isa<scf::ForOp, scf::WhileOp>(user) || user->hasTrait<OpTrait::IsTerminator>();
      if (auto facts = dyn_cast<tile::TileOpInterface>(user);
          facts && (facts.getView() != tile::View::None || facts.readsUntilUsed()))
        work.push_back(user->getResult(0));
    }
  return use;
}

/// Whether the popped tiles need their own memory: they are handed on, or an op up to their last
/// use pops from the same pipe inside, and its frees, which release the oldest slot, would release
/// this one.
bool mustCopy(tile::PopOp pop, const SlotUse &use) {
  if (use.isHandedOn)
    return true;
  for (Operation *op = pop; op != use.last;) {
    op = op->getNextNode();
    if (op->getNumRegions() > 0 && popsInside(op, pop.getPipe()))
      return true;
  }
  return false;
}

struct PlaceFrees : impl::TilePlaceFreesBase<PlaceFrees> {
  void runOnOperation() override {
    if (failed(tile::requireFacts(getOperation(), "whether it makes a view of a tile")))
      return signalPassFailure();
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
    SlotUse use = findUse(pop);
    if (mustCopy(pop, use))
      pop.setCopy(true);
    Operation *after = pop.getCopy() ? pop.getOperation() : use.last;
    Operation *&earlier = previous[{pop.getPipe(), pop->getBlock()}];
    if (earlier && after->isBeforeInBlock(earlier))
      after = earlier;
    OpBuilder builder(pop.getContext());
    builder.setInsertionPointAfter(after);
    earlier = tile::FreeOp::create(builder, pop.getLoc(), pop.getPipe());
  }
}

} // namespace kiln
