// Which store of a kernel can wait for the next block, and for which of its tiles.
#include "TilePlan.h"

#include "kiln/Dialect/Tile/TileInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::llvmir {

/// Functions of many operations, which keep the registers busy for longer than a line takes to be
/// written.
static bool isLongFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
#include "kiln/Dialect/Tile/Elementwise/LongFunctions.inc"
      .Default(false);
}

/// The tile with a buffer, computed together with a reduction and by such a function, that a value
/// is computed from; null if there is none.
Value TilePlan::arithmeticTileOf(Value value) const {
  auto isLong = [&](auto &self, Value part, bool isRoot) -> bool {
    Operation *op = part.getDefiningOp();
    if (!op || !(isRoot || isInline(part)))
      return false;
    return isLongFunction(op) || llvm::any_of(distinctOperands(op), [&](Value operand) {
             return self(self, operand, false);
           });
  };
  if (Reductions.contains(value))
    return isLong(isLong, value, true) ? value : Value();
  if (isInline(value))
    for (Value operand : distinctOperands(value.getDefiningOp()))
      if (Value found = arithmeticTileOf(operand))
        return found;
  return {};
}

/// Whether what a value is computed from is, in the next block, still there when `into` is replaced
/// place by place. `read` becomes the tiles that have to keep their memory.
bool TilePlan::canBeDelayed(Value value, Value into, SmallVectorImpl<Value> &read) const {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<tile::TileType>(value.getType());
  if (!type) // a scalar is the next block's by then
    return !op || op->hasTrait<OpTrait::ConstantLike>();
  if (isInline(value))
    return !isa<tile::ExtractOp>(op) && llvm::all_of(distinctOperands(op), [&](Value operand) {
      return canBeDelayed(operand, into, read);
    });
  bool isNumbers = op && type.getCols() == 1 && !isDeferred(value) && !Aliases.contains(value) &&
                   op->getBlock() == into.getDefiningOp()->getBlock() &&
                   into.getDefiningOp()->isBeforeInBlock(op) &&
                   (isPointwise(op) || isa<tile::ReduceOp>(op));
  if (value != into && !isNumbers)
    return false;
  read.push_back(value);
  return true;
}

void TilePlan::delayStore(ir::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return;
  Block &block = func.getBody().front();
  tile::StoreOp store;
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() > 0 || store || isa<ir::AllocOp>(op))
      return;
    if (tile::mayWriteMemory(&op) && !(store = dyn_cast<tile::StoreOp>(op)))
      return;
  }
  if (!store || store.getAtomic() || !isa<BlockArgument>(store.getTensor()))
    return;
  Value into = arithmeticTileOf(store.getTile());
  SmallVector<Value> read;
  if (!into || into.getType() != store.getTile().getType() ||
      cast<tile::TileType>(into.getType()).getCols() == 1 ||
      !canBeDelayed(store.getTile(), into, read))
    return;
  Delayed = store;
  DelayedInto = into;
  Kept.insert_range(read);
}

bool TilePlan::fitsNearest(tile::LoadOp load) const {
  tile::TileType type = load.getResult().getType();
  return !Raised && TouchedBytes + type.getNumElements() * sizeOf(elementTypeOf(type)) <=
                        uint64_t(Machine.nearestCacheBytes);
}

} // namespace kiln::llvmir
