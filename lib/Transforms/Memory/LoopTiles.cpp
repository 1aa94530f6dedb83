#include "LoopTiles.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {

static bool isTile(Value value) { return isa<tile::TileType>(value.getType()); }

/// Whether each tile that it carries or hands on is the other as well, at the same place.
static bool handsOnWhatItCarries(scf::WhileOp loop) {
  ValueRange carried = loop.getBeforeArguments(), handed = loop.getConditionOp().getArgs();
  for (size_t i = 0; i < std::max(carried.size(), handed.size()); ++i) {
    Value before = i < carried.size() ? carried[i] : Value(),
          after = i < handed.size() ? handed[i] : Value();
    if (before != after && ((before && isTile(before)) || (after && isTile(after))))
      return false;
  }
  return true;
}

/// Hands on all that the loop carries, at the same places, and what else it handed on behind that.
/// False: it hands on a tile that it does not carry, or tiles in another order.
static bool completeWhatIsHandedOn(scf::WhileOp loop) {
  SmallVector<Value> handed(loop.getBeforeArguments());
  SmallVector<unsigned> place; // of each result so far
  unsigned next = 0;           // where the next tile may be
  for (Value value : loop.getConditionOp().getArgs()) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isCarried = argument && argument.getOwner() == loop.getBeforeBody();
    if (isTile(value)) {
      if (!isCarried || argument.getArgNumber() < next)
        return false;
      next = argument.getArgNumber() + 1;
    }
    place.push_back(isCarried ? argument.getArgNumber() : handed.size());
    if (!isCarried)
      handed.push_back(value);
  }
  OpBuilder builder(loop);
  auto complete =
      scf::WhileOp::create(builder, loop.getLoc(), TypeRange(ValueRange(handed)), loop.getInits());
  complete->setAttrs(loop->getAttrs());
  complete.getBefore().takeBody(loop.getBefore());
  complete.getAfter().takeBody(loop.getAfter());
  complete.getConditionOp().getArgsMutable().assign(handed);
  Block &after = *complete.getAfterBody();
  for (Value value : handed)
    after.addArgument(value.getType(), value.getLoc());
  for (auto [number, at] : llvm::enumerate(place)) {
    after.getArgument(number).replaceAllUsesWith(after.getArgument(place.size() + at));
    loop.getResult(number).replaceAllUsesWith(complete.getResult(at));
  }
  after.eraseArguments(0, place.size());
  loop.erase();
  return true;
}

/// A copy of the operations that decide whether to go on, with `carried` for what the loop carries:
/// whether it does, and what is handed on.
static SmallVector<Value> decide(OpBuilder &builder, scf::WhileOp loop, ValueRange carried) {
  IRMapping map;
  map.map(loop.getBeforeArguments(), carried);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    builder.clone(op, map);
  SmallVector<Value> result;
  for (Value value : loop.getConditionOp()->getOperands())
    result.push_back(map.lookupOrDefault(value));
  return result;
}

/// The loop that decides before it begins, and then at the end of each iteration: what it carries
/// is what it hands on, and whether to go on.
static void decideAtTheEnd(scf::WhileOp loop) {
  OpBuilder builder(loop);
  SmallVector<Value> first = decide(builder, loop, loop.getInits());
  auto turned = scf::WhileOp::create(builder, loop.getLoc(), TypeRange(ValueRange(first)), first);
  turned->setAttrs(loop->getAttrs());
  SmallVector<Location> locations(first.size(), loop.getLoc());
  Block *before =
      builder.createBlock(&turned.getBefore(), {}, TypeRange(ValueRange(first)), locations);
  scf::ConditionOp::create(builder, loop.getConditionOp().getLoc(), before->getArgument(0),
                           before->getArguments());
  Block *after =
      builder.createBlock(&turned.getAfter(), {}, TypeRange(ValueRange(first)), locations);
  IRMapping map;
  map.map(loop.getAfterArguments(), after->getArguments().drop_front());
  for (Operation &op : loop.getAfterBody()->without_terminator())
    builder.clone(op, map);
  SmallVector<Value> carried;
  for (Value value : loop.getYieldOp()->getOperands())
    carried.push_back(map.lookupOrDefault(value));
  scf::YieldOp::create(builder, loop.getYieldOp().getLoc(), decide(builder, loop, carried));
  loop.replaceAllUsesWith(turned.getResults().drop_front());
  loop.erase();
}

void handOnWhatIsCarried(ir::FuncOp func) {
  while (true) {
    scf::WhileOp found;
    func.walk([&](scf::WhileOp loop) { found = handsOnWhatItCarries(loop) ? found : loop; });
    if (!found)
      return;
    if (!completeWhatIsHandedOn(found))
      decideAtTheEnd(found);
  }
}

/// Copies each operand of a yield that is a tile which the loop carries at another place, and which
/// instructions can copy. `carried` are the body's, in the order of the yield.
static void copyMoved(Operation *yield, ValueRange carried) {
  for (auto [operand, here] : llvm::zip(yield->getOpOperands(), carried)) {
    auto type = dyn_cast<tile::TileType>(operand.get().getType());
    if (!type || type.getSpace() != tile::Space::Vec || operand.get() == here ||
        !llvm::is_contained(carried, operand.get()))
      continue;
    OpBuilder builder(yield);
    operand.set(tile::MoveOp::create(builder, yield->getLoc(), type, operand.get()));
  }
}

void copyWhatChangesPlaces(ir::FuncOp func) {
  func.walk([](scf::ForOp loop) {
    copyMoved(loop.getBody()->getTerminator(), loop.getRegionIterArgs());
  });
  func.walk([](scf::WhileOp loop) { copyMoved(loop.getYieldOp(), loop.getAfterArguments()); });
}

} // namespace kiln
