#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/BlockAxes.h"
#include "kiln/Dialect/Kiln/KilnDialect.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileDialect.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEDELAYSTORES
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Of the sum and the packed tile, in bytes for a lane: of the 240 registers that a thread of two
/// lanes has, 192 of 128 threads. The rest is for addresses and counts.
constexpr int64_t kMostBytes = 192 * 4 * 128, kMostLanes = 2;

struct DelayStores : impl::TileDelayStoresBase<DelayStores> {
  /// The only loop of products of a role; null if there is none, or other products.
  static scf::ForOp onlyLoopOfProducts(ir::FuncOp role) {
    scf::ForOp loop;
    int count = 0;
    role.walk([&](tile::ProductInterface product) {
      ++count;
      // Sums of 8-bit floats are put together by the threads.
      auto sum = dyn_cast<tile::MatmulAccOp>(product.getOperation());
      if (sum &&
          cast<tile::TileType>(sum.getLhs().getType()).getElementType().getIntOrFloatBitWidth() ==
              16)
        loop = dyn_cast<scf::ForOp>(sum->getParentOp());
    });
    return count == 1 && loop && loop->getParentOp() == role ? loop : nullptr;
  }

  static bool canBeDelayed(ir::FuncOp role, tile::StoreOp store) {
    scf::ForOp loop = onlyLoopOfProducts(role);
    if (!loop || store->getParentOp() != role || !loop->isBeforeInBlock(store) ||
        (blockAxesOf(loop.getLowerBound()) | blockAxesOf(loop.getUpperBound())) != 0)
      return false;
    int64_t bytes = tile::bytesOf(store.getTile().getType());
    for (Value carried : loop.getResults())
      if (auto tile = dyn_cast<tile::TileType>(carried.getType()))
        bytes += tile::bytesOf(tile);
    return bytes <= kMostBytes;
  }

  void runOnOperation() override {
    for (auto group : getOperation().getOps<ir::FuncOp>()) {
      if (group.getKind() != ir::FuncKind::Group || group.getNumLanes() > kMostLanes)
        continue;
      for (ir::CallOp call : group.getOps<ir::CallOp>()) {
        auto role = getOperation().lookupSymbol<ir::FuncOp>(call.getCallee());
        role.walk([&](tile::StoreOp store) {
          if (store->hasAttr(tile::kStagedAttr) && canBeDelayed(role, store))
            store->setAttr(tile::kDelayedAttr, UnitAttr::get(&getContext()));
        });
      }
    }
  }
};
} // namespace
} // namespace kiln
