#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/Turns.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILETAKETURNS
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct TakeTurns : impl::TileTakeTurnsBase<TakeTurns> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      SmallVector<tile::MatmulStartOp> together;
      for (Operation &op : *loop.getBody()) {
        if (auto start = dyn_cast<tile::MatmulStartOp>(op))
          together.push_back(start);
        else if (isa<tile::AwaitOp>(op))
          break;
      }
      if (together.size() < 2)
        return;
      UnitAttr is = UnitAttr::get(loop.getContext());
      together.front()->setAttr(tile::kTakesTurnAttr, is);
      together.back()->setAttr(tile::kPassesTurnAttr, is);
    });
  }
};
} // namespace
} // namespace kiln
