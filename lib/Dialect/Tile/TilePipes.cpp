//===- TilePipes.cpp - verifiers of pipes and their ends ------------------------------===//
#include "kiln/Dialect/Tile/TilePipes.h"

#include "TileRules.h"

#include "kiln/Machine/Machine.h"

using namespace mlir;

namespace kiln::tile {

void PipeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getName())
    setName(getPipe(), *getName());
}

/// Adds which split divides the tiles of a pipe evenly over so many lanes.
static void adviseSplit(InFlightDiagnostic &diag, PipeType type, int64_t lanes) {
  for (auto [axis, split] : {std::pair(0u, Split::UpDown), std::pair(1u, Split::LeftRight)})
    if (llvm::all_of(type.getPayload(), [axis = axis, lanes](TileType tile) {
          return tile.getExtent(axis) % lanes == 0;
        })) {
      diag << "; split " << stringifySplit(split) << " would work";
      return;
    }
  diag << "; no split would work, so use one lane";
}

LogicalResult PipeOp::verify() {
  auto group = cast<ir::FuncOp>((*this)->getParentOp());
  PipeType type = getPipe().getType();
  // The accessor of an I64Attr is unsigned.
  if (int64_t slots = getSlots().value_or(1); slots < 1 || slots > ir::kMaxSlots)
    return emitOpError("a pipe has 1 to ") << ir::kMaxSlots << " slots, not " << slots;
  int64_t lanes = group.getNumLanes();
  bool fromLanes = findRole(type.getFrom())->maxLanes > 1,
       toLanes = findRole(type.getTo())->maxLanes > 1;
  if (lanes == 1)
    return success();
  if (type.getSplit() == Split::None) {
    if (fromLanes && !toLanes) {
      InFlightDiagnostic diag = emitOpError("split none cannot join what ")
                                << lanes << " lanes of " << type.getFrom() << " push";
      adviseSplit(diag, type, lanes);
      return diag;
    }
    return success();
  }
  if (!fromLanes && !toLanes)
    return emitOpError("has split ") << stringifySplit(type.getSplit()) << ", but neither "
                                     << type.getFrom() << " nor " << type.getTo() << " has lanes";
  for (TileType tile : type.getPayload())
    if (int64_t extent = tile.getExtent(type.getSplitAxis()); extent % lanes != 0) {
      InFlightDiagnostic diag = emitOpError("split ")
                                << stringifySplit(type.getSplit()) << " cannot divide the extent "
                                << extent << " evenly over " << lanes << " lanes";
      adviseSplit(diag, type, lanes);
      return diag;
    }
  return success();
}

/// What decides the value of a block argument of a loop; empty for a parameter of a function.
static SmallVector<Value> sourcesOf(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    SmallVector<Value> sources{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    if (index > 0) {
      sources.push_back(loop.getInitArgs()[index - 1]);
      sources.push_back(loop.getYieldedValues()[index - 1]);
    }
    return sources;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    scf::ConditionOp condition = loop.getConditionOp();
    if (argument.getOwner() == loop.getAfterBody())
      return {condition.getArgs()[index], condition.getCondition()};
    return {loop.getInits()[index], loop.getYieldOp().getOperand(index)};
  }
  return {};
}

bool dependsOnLane(Value value) {
  SmallVector<Value> work{value};
  llvm::SmallPtrSet<void *, 16> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next.getAsOpaquePointer()).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      llvm::append_range(work, sourcesOf(argument));
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (isa<LaneOp>(op))
      return true;
    if (auto pop = dyn_cast<PopOp>(op); pop && pop.getPipe().getType().getSplit() != Split::None)
      return true;
    llvm::append_range(work, op->getOperands());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          llvm::append_range(work, block.getTerminator()->getOperands());
  }
  return false;
}

bool isPipeUse(Operation *op) { return isa<PushOp, PopOp, FreeOp>(op); }

Operation *findPipeUse(Region &region) {
  Operation *found = nullptr;
  region.walk([&](Operation *op) {
    if (!isPipeUse(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

Operation *findLaneDependentControl(Operation *op) {
  for (Operation *around = op->getParentOp(); around && !isa<ir::FuncOp>(around);
       around = around->getParentOp()) {
    SmallVector<Value> deciders;
    if (auto branch = dyn_cast<scf::IfOp>(around))
      deciders = {branch.getCondition()};
    else if (auto loop = dyn_cast<scf::ForOp>(around))
      deciders = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    else if (auto loop = dyn_cast<scf::WhileOp>(around))
      deciders = {loop.getConditionOp().getCondition()};
    if (llvm::any_of(deciders, dependsOnLane))
      return around;
  }
  return nullptr;
}

/// The role of the function around a pipe op, and that it is the right end of the pipe.
static LogicalResult verifyEnd(Operation *op, PipeType type, StringRef end, StringRef verb) {
  auto func = op->getParentOfType<ir::FuncOp>();
  if (!func || func.getKind() != ir::FuncKind::Role)
    return op->emitOpError("stands outside a role function");
  if (*func.getRole() != end)
    return op->emitOpError("a function of role ")
           << *func.getRole() << " cannot " << verb << " " << type << "; role " << end << " does";
  return success();
}

/// Tiles against payload: the full tile, or an even share of it where the role may have lanes.
static LogicalResult verifyShares(Operation *op, PipeType type, TypeRange tiles, StringRef role) {
  if (tiles.size() != type.getPayload().size())
    return op->emitOpError("handles ")
           << tiles.size() << " tiles, but " << type << " carries " << type.getPayload().size();
  bool mayHaveLanes = findRole(role)->maxLanes > 1 && type.getSplit() != Split::None;
  for (auto [full, other] : llvm::zip(type.getPayload(), tiles)) {
    auto tile = cast<TileType>(other);
    bool fits = tile.getElementType() == full.getElementType();
    for (unsigned axis : {0u, 1u}) {
      bool shared = mayHaveLanes && axis == type.getSplitAxis();
      fits &= shared ? full.getExtent(axis) % tile.getExtent(axis) == 0
                     : full.getExtent(axis) == tile.getExtent(axis);
    }
    if (!fits)
      return op->emitOpError("handles ")
             << tile << ", but " << type << " carries " << full
             << (mayHaveLanes ? " or an even share of it per lane" : "");
  }
  return success();
}

LogicalResult PushOp::verify() {
  PipeType type = getPipe().getType();
  if (failed(verifyEnd(*this, type, type.getFrom(), "push into")))
    return failure();
  return verifyShares(*this, type, getTiles().getTypes(), type.getFrom());
}

LogicalResult PopOp::verify() {
  PipeType type = getPipe().getType();
  if (failed(verifyEnd(*this, type, type.getTo(), "pop from")))
    return failure();
  return verifyShares(*this, type, getTiles().getTypes(), type.getTo());
}

LogicalResult FreeOp::verify() {
  return verifyEnd(*this, getPipe().getType(), getPipe().getType().getTo(), "free a slot of");
}

} // namespace kiln::tile
