#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Dialect/Tile/Walk.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEHANDOUTBLOCKS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Whether a number differs from block to block: the index of the block is in what it is made of.
bool dependsOnBlock(Value number) {
  llvm::SmallSetVector<Value, 16> parts;
  parts.insert(number);
  for (size_t next = 0; next < parts.size(); ++next) {
    Value part = parts[next];
    if (Operation *op = part.getDefiningOp()) {
      if (isa<tile::BlockIdxOp>(op))
        return true;
      parts.insert_range(op->getOperands());
    } else if (auto loop = dyn_cast<scf::ForOp>(part.getParentBlock()->getParentOp());
               loop && part == loop.getInductionVar()) {
      parts.insert(loop.getLowerBound());
      parts.insert(loop.getUpperBound());
    }
  }
  return false;
}

struct HandOutBlocks : impl::TileHandOutBlocksBase<HandOutBlocks> {
  /// Whether a role sends unequally much in different blocks.
  static bool sendsUnequally(ir::FuncOp role) {
    return role
        .walk([](tile::PushOp push) {
          for (auto loop = push->getParentOfType<scf::ForOp>(); loop;
               loop = loop->getParentOfType<scf::ForOp>())
            if (dependsOnBlock(loop.getLowerBound()) || dependsOnBlock(loop.getUpperBound()))
              return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  void runOnOperation() override {
    for (auto group : getOperation().getOps<ir::FuncOp>()) {
      if (group.getKind() != ir::FuncKind::Group)
        continue;
      bool isUnequal = false, hasBarrier = false;
      group.walk([&](ir::CallOp call) {
        auto role = getOperation().lookupSymbol<ir::FuncOp>(call.getCallee());
        isUnequal |= sendsUnequally(role);
        hasBarrier |= bool(ir::findBarrier(role));
      });
      bool handsOut = ir::CompilerChoices::of(group).handsOutBlocks.value_or(isUnequal);
      if (handsOut && !hasBarrier) // at a barrier each block has been started
        group->setAttr(tile::kHandsOutBlocksAttr, UnitAttr::get(&getContext()));
    }
  }
};
} // namespace
} // namespace kiln
