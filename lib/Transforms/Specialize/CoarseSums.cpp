#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/CoarseSums.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Dialect/Tile/TileElementwise.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILECOARSESUMS
#include "kiln/Transforms/Passes.h.inc"

namespace {

bool isFloatOf(Value tile, unsigned fewest, unsigned most) {
  auto element = dyn_cast<FloatType>(cast<tile::TileType>(tile.getType()).getElementType());
  return element && element.getWidth() >= fewest && element.getWidth() <= most;
}

/// The values that hold what a loop or branch is given or yields.
void addHolders(OpOperand &use, llvm::SetVector<Value> &values) {
  Operation *user = use.getOwner();
  auto addCarried = [&](scf::ForOp loop, unsigned number) {
    values.insert(loop.getRegionIterArg(number));
    values.insert(loop.getResult(number));
  };
  if (auto loop = dyn_cast<scf::ForOp>(user))
    addCarried(loop, loop.getTiedLoopResult(&use).getResultNumber());
  else if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
    addCarried(loop, use.getOperandNumber());
  else
    values.insert(user->getParentOp()->getResult(use.getOperandNumber()));
}

/// Whether a use of a sum rounds it, or makes of each element one that is then looked at in the
/// same way (`values`).
bool keepsOrRounds(OpOperand &use, llvm::SetVector<Value> &values) {
  Operation *user = use.getOwner();
  if (isa<scf::ForOp>(user) ||
      (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(user->getParentOp()))) {
    addHolders(use, values);
    return true;
  }
  auto product = dyn_cast<tile::ProductInterface>(user);
  bool isAdded = product && product.getAccumulator() == &use;
  if ((!isAdded && !tile::isElementwise(user)) || user->getNumResults() != 1)
    return false;
  Value result = user->getResult(0);
  if (isa<tile::CastOp>(user) && isFloatOf(result, 8, 16))
    return true;
  values.insert(result);
  return isFloatOf(result, 32, 32);
}

bool isRounded(Value sum) {
  llvm::SetVector<Value> values;
  values.insert(sum);
  for (size_t next = 0; next < values.size(); ++next)
    for (OpOperand &use : values[next].getUses())
      if (!keepsOrRounds(use, values))
        return false;
  return true;
}

struct CoarseSums : impl::TileCoarseSumsBase<CoarseSums> {
  void runOnOperation() override {
    getOperation().walk([&](tile::ProductInterface product) {
      if (isFloatOf(product.getLhs(), 8, 8) && isFloatOf(product.getRhs(), 8, 8) &&
          isFloatOf(product->getResult(0), 32, 32) && isRounded(product->getResult(0)))
        product->setAttr(tile::kCoarseAttr, UnitAttr::get(&getContext()));
    });
  }
};
} // namespace
} // namespace kiln
