#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/BlockAxes.h"
#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Dialect/Tile/Walk.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEPAIRBLOCKS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// What a role sends, and what of it neighbours may share.
struct Sent {
  SmallVector<std::pair<tile::LoadOp, unsigned>> loads; ///< With the axes that they vary along.
  unsigned axes = 0;                                    ///< All along which something varies.
  bool isEqual = true; ///< All blocks send the same in the same order.
};

struct PairBlocks : impl::TilePairBlocksBase<PairBlocks> {
  /// Whether the copy engine moves all of what a load asks for, whatever block asks.
  static bool isWhole(tile::LoadOp load) {
    return !load.getStaticValid() && !load.getPadAttr() &&
           load.getType().getSpace() == tile::Space::Mat &&
           load.getTensor().getType().getRank() >= 2;
  }

  static Sent sentBy(ir::FuncOp role) {
    Sent sent;
    role.walk([&](tile::PushOp push) {
      sent.isEqual &= blockAxesOfExecution(push) == 0;
      for (Value tile : push.getTiles()) {
        auto load = tile.getDefiningOp<tile::LoadOp>();
        if (!load)
          continue;
        unsigned varies = blockAxesOf(load.getTensor());
        for (Value index : load.getIndices())
          varies |= blockAxesOf(index);
        sent.axes |= varies;
        sent.loads.push_back({load, varies});
      }
    });
    return sent;
  }

  /// Of how much of the bytes that are sent again and again a neighbour asks for half. Neighbours
  /// differ along the first axis, or the only one.
  static bool isWorthIt(const Sent &sent) {
    unsigned along = 1u << llvm::countr_zero(sent.axes);
    int64_t all = 0, shared = 0;
    for (auto [load, varies] : sent.loads) {
      if (!load->getParentOfType<scf::ForOp>())
        continue;
      int64_t bytes = tile::bytesOf(load.getType());
      all += bytes;
      if (isWhole(load) && !(varies & along))
        shared += bytes;
    }
    return 2 * shared >= all && shared > 0;
  }

  /// Whether what roles compute takes less time than what they are sent takes to come: products
  /// that the matrix unit makes. Of few rows there are no neighbours along the first axis.
  static bool isFast(ArrayRef<ir::FuncOp> roles) {
    bool multiplies = false, hasFewRows = false;
    for (ir::FuncOp role : roles)
      role.walk([&](tile::ProductInterface product) {
        auto left = cast<tile::TileType>(product.getLhs().getType());
        multiplies |= left.getElementType().getIntOrFloatBitWidth() <= 16;
        hasFewRows |= product->hasAttr(tile::kExchangedAttr);
      });
    return multiplies && !hasFewRows;
  }

  void pairBlocksOf(ir::FuncOp group, ArrayRef<ir::FuncOp> roles) {
    // A single lane needs all registers, and has a smaller part of them.
    if (!isFast(roles) || group.getNumLanes() < 2)
      return;
    SmallVector<Sent> all;
    for (ir::FuncOp role : roles) {
      if (ir::findBarrier(role))
        return;
      Sent sent = sentBy(role);
      if (!sent.isEqual)
        return;
      if (sent.axes && isWorthIt(sent))
        all.push_back(sent);
    }
    if (all.size() != 1)
      return;
    const Sent &sent = all.front();
    MLIRContext *context = &getContext();
    group->setAttr(tile::kPairsBlocksAttr, UnitAttr::get(context));
    for (auto [load, varies] : sent.loads) {
      if (!isWhole(load) || varies == sent.axes)
        continue;
      SmallVector<int64_t> axes;
      for (int64_t axis = 0; axis < 3; ++axis)
        if (varies >> axis & 1)
          axes.push_back(axis);
      load->setAttr(tile::kVariesAlongAttr, DenseI64ArrayAttr::get(context, axes));
    }
  }

  void runOnOperation() override {
    for (auto group : getOperation().getOps<ir::FuncOp>()) {
      if (group.getKind() != ir::FuncKind::Group || group->hasAttr(tile::kHandsOutBlocksAttr))
        continue;
      SmallVector<ir::FuncOp> roles;
      for (ir::CallOp call : group.getOps<ir::CallOp>())
        roles.push_back(getOperation().lookupSymbol<ir::FuncOp>(call.getCallee()));
      pairBlocksOf(group, roles);
    }
  }
};
} // namespace
} // namespace kiln
