#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Kiln/KilnDialect.h"
#include "kiln/Dialect/Tile/Staged.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Machine/Machine.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILESTAGESTORES
#include "kiln/Transforms/Passes.h.inc"

namespace {

using tile::TileType;

/// Whether a tile is made of panels.
bool isMadeOfPanels(TileType type) {
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  if (!isa<FloatType>(type.getElementType()) || bits != 16)
    return false;
  return type.getRows() % tile::kStagedRows == 0 &&
         type.getCols() % (tile::kStagedRowBytes * 8 / bits) == 0;
}

struct StageStores : impl::TileStageStoresBase<StageStores> {
  /// Whether a role has products whose results lie in registers in rows, as they were asked for.
  static bool hasProducts(ir::FuncOp role) {
    bool multiplies = false, isExchanged = false;
    role.walk([&](tile::ProductInterface product) {
      multiplies = true;
      isExchanged |= product->hasAttr(tile::kExchangedAttr);
    });
    return multiplies && !isExchanged;
  }

  /// Whether nobody in the group does anything else with what a role calls `tensor` than to ask for
  /// its extents. Which memory two tensors of a program share is the caller's to say: those that
  /// are written lie apart from all others.
  bool isOnlyStored(ir::FuncOp group, ir::FuncOp role, BlockArgument tensor, Operation *store) {
    std::optional<unsigned> parameter;
    auto isAlone = [&](BlockArgument argument) {
      return llvm::all_of(argument.getUsers(),
                          [&](Operation *user) { return user == store || isa<ir::DimOp>(user); });
    };
    auto calls = group.getOps<ir::CallOp>();
    for (ir::CallOp call : calls)
      if (call.getCallee() == role.getSymName())
        if (auto given = dyn_cast<BlockArgument>(call.getArgs()[tensor.getArgNumber()]))
          parameter = given.getArgNumber();
    if (!parameter)
      return false;
    for (ir::CallOp call : calls)
      for (auto [number, given] : llvm::enumerate(call.getArgs()))
        if (given == group.getArgument(*parameter) &&
            !isAlone(getOperation().lookupSymbol<ir::FuncOp>(call.getCallee()).getArgument(number)))
          return false;
    return true;
  }

  bool canBeStaged(ir::FuncOp group, ir::FuncOp role, tile::StoreOp store) {
    auto tensor = dyn_cast<BlockArgument>(store.getTensor());
    TileType type = store.getTile().getType();
    bool isInRegisters = type.getSpace() == tile::Space::Vec || type.getSpace() == tile::Space::Acc;
    return tensor && tensor.getOwner()->isEntryBlock() && !store.getAtomic() && isInRegisters &&
           store.getTensor().getType().getRank() >= 2 && isMadeOfPanels(type) &&
           isOnlyStored(group, role, tensor, store);
  }

  void runOnOperation() override {
    for (auto group : getOperation().getOps<ir::FuncOp>()) {
      if (group.getKind() != ir::FuncKind::Group)
        continue;
      SmallVector<ir::FuncOp> roles;
      bool hasBarrier = false, copies = false;
      for (ir::CallOp call : group.getOps<ir::CallOp>()) {
        roles.push_back(getOperation().lookupSymbol<ir::FuncOp>(call.getCallee()));
        hasBarrier |= bool(ir::findBarrier(roles.back()));
        copies |= findRole(*roles.back().getRole())->executes == CopyWork;
      }
      // Behind a barrier other blocks read what was written. Where no role copies, blocks do not go
      // on with the next one.
      if (hasBarrier || !copies)
        continue;
      for (ir::FuncOp role : roles)
        if (hasProducts(role))
          stageIn(group, role);
    }
  }

  /// One store of a role: each would have a scratch of its own.
  void stageIn(ir::FuncOp group, ir::FuncOp role) {
    SmallVector<tile::StoreOp> stores;
    role.walk([&](tile::StoreOp store) { stores.push_back(store); });
    if (stores.size() == 1 && canBeStaged(group, role, stores.front()))
      stores.front()->setAttr(tile::kStagedAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
} // namespace kiln
