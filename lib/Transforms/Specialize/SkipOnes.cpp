#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/MostlyOnes.h"
#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILESKIPONES
#include "kiln/Transforms/Passes.h.inc"

namespace {

using tile::TileType;

/// Fewer elements are multiplied sooner than 128 threads have asked each other.
constexpr int64_t kWorthAsking = 4096;

/// Without factors that are the same everywhere: 0 stays 0.
Value withoutScale(Value value) {
  while (auto product = value.getDefiningOp<tile::MulOp>()) {
    if (matchPattern(product.getRhs(), m_Constant()))
      value = product.getLhs();
    else if (matchPattern(product.getLhs(), m_Constant()))
      value = product.getRhs();
    else
      break;
  }
  return value;
}

/// Whether it is 1 wherever a select leaves what was: a power of the difference between that and
/// what is selected.
bool isMostlyOnes(Value value) {
  Operation *power = value.getDefiningOp();
  if (!isa_and_nonnull<tile::ExpOp, tile::Exp2Op>(power))
    return false;
  auto difference = withoutScale(power->getOperand(0)).getDefiningOp<tile::SubOp>();
  if (!difference)
    return false;
  auto keeps = [](Value chosen, Value before) {
    auto select = chosen.getDefiningOp<tile::SelectOp>();
    return select && llvm::is_contained(select->getOperands().drop_front(), before);
  };
  return keeps(difference.getRhs(), difference.getLhs()) ||
         keeps(difference.getLhs(), difference.getRhs());
}

struct SkipOnes : impl::TileSkipOnesBase<SkipOnes> {
  void runOnOperation() override {
    getOperation().walk([&](tile::MulOp op) {
      TileType type = op.getType();
      auto isLine = [&](Value factor) {
        auto tile = dyn_cast<TileType>(factor.getType());
        return tile && tile.getCols() == 1 && type.getCols() > 1;
      };
      if (type.getNumElements() < kWorthAsking || !type.getElementType().isF32())
        return;
      if (isLine(op.getLhs()) && isMostlyOnes(op.getLhs()))
        op->setOperands({op.getRhs(), op.getLhs()});
      if (isLine(op.getRhs()) && isMostlyOnes(op.getRhs()))
        op->setAttr(tile::kMostlyOnesAttr, UnitAttr::get(&getContext()));
    });
  }
};
} // namespace
} // namespace kiln
