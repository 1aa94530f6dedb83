#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/BlockAxes.h"
#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Dialect/Tile/Walk.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEHANDOUTBLOCKS
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct HandOutBlocks : impl::TileHandOutBlocksBase<HandOutBlocks> {
  /// Whether a role sends unequally much in different blocks.
  static bool sendsUnequally(ir::FuncOp role) {
    return role
        .walk([](tile::PushOp push) {
          for (auto loop = push->getParentOfType<scf::ForOp>(); loop;
               loop = loop->getParentOfType<scf::ForOp>())
            if (blockAxesOf(loop.getLowerBound()) | blockAxesOf(loop.getUpperBound()))
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
