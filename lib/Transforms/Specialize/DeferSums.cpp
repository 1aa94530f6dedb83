#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Tile/PartialSums.h"
#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEDEFERSUMS
#include "kiln/Transforms/Passes.h.inc"

namespace {

using tile::TileType;

bool isZero(Value value) {
  auto full = value.getDefiningOp<tile::FullOp>();
  return full && matchPattern(full.getValue(), m_AnyZeroFloat());
}

/// The sum of rows that an iteration adds to what the loop carries as `sum`: `sum + s`, or
/// `sum * f + s`, and nobody else reads either.
tile::ReduceOp addedTo(BlockArgument sum, Value yielded) {
  auto added = yielded.getDefiningOp<tile::AddOp>();
  if (!added || !added->hasOneUse() || !sum.hasOneUse() || added->getBlock() != sum.getOwner())
    return nullptr;
  for (auto [kept, part] :
       {std::pair(added.getLhs(), added.getRhs()), std::pair(added.getRhs(), added.getLhs())}) {
    auto reduce = part.getDefiningOp<tile::ReduceOp>();
    if (!reduce || reduce.getKind() != tile::ReduceKind::Sum || reduce.getAxis() != 1 ||
        !reduce->hasOneUse() || reduce->getBlock() != added->getBlock())
      continue;
    auto faded = kept.getDefiningOp<tile::MulOp>();
    bool isFaded =
        faded && faded->hasOneUse() && (faded.getLhs() == sum) != (faded.getRhs() == sum);
    if (kept == sum || isFaded)
      return reduce;
  }
  return nullptr;
}

void defer(scf::ForOp loop) {
  for (auto [number, sum] : llvm::enumerate(loop.getRegionIterArgs())) {
    auto type = dyn_cast<TileType>(sum.getType());
    if (!type || type.getCols() != 1 || !type.getElementType().isF32() ||
        !isZero(loop.getInits()[number]))
      continue;
    tile::ReduceOp reduce = addedTo(sum, loop.getYieldedValues()[number]);
    // Of one column, or of a tile that is broadcast, threads do not have parts.
    if (!reduce || cast<TileType>(reduce.getOperand().getType()).getCols() == 1 ||
        reduce->hasAttr(tile::kSumOfPartsAttr))
      continue;
    OpBuilder builder(loop.getContext());
    reduce->setAttr(tile::kPartOfSumAttr, builder.getUnitAttr());
    builder.setInsertionPointAfter(loop);
    Value parts = loop.getResult(number);
    auto whole =
        tile::ReduceOp::create(builder, reduce.getLoc(), type, tile::ReduceKind::Sum, parts, 1);
    whole->setAttr(tile::kSumOfPartsAttr, builder.getUnitAttr());
    parts.replaceAllUsesExcept(whole, whole);
  }
}

struct DeferSums : impl::TileDeferSumsBase<DeferSums> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) { defer(loop); });
  }
};
} // namespace
} // namespace kiln
