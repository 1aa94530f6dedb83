#include "kiln/Dialect/Tile/PartialSums.h"

#include "kiln/Dialect/Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln::tile {

/// The first use of what threads have parts of that needs all of it; null if there is none.
static Operation *findOtherUse(Value parts, llvm::SmallPtrSetImpl<void *> &seen) {
  if (!seen.insert(parts.getAsOpaquePointer()).second)
    return nullptr;
  for (OpOperand &use : parts.getUses()) {
    Operation *user = use.getOwner(), *other = user;
    if (isa<AddOp, MulOp>(user)) {
      other = findOtherUse(user->getResult(0), seen);
    } else if (auto loop = dyn_cast<scf::ForOp>(user); loop && loop.getTiedLoopResult(&use)) {
      other = findOtherUse(loop.getTiedLoopRegionIterArg(&use), seen);
      if (!other)
        other = findOtherUse(loop.getTiedLoopResult(&use), seen);
    } else if (isa<scf::YieldOp>(user)) {
      Operation *around = user->getParentOp();
      if (auto outer = dyn_cast<scf::ForOp>(around))
        other = findOtherUse(outer.getRegionIterArg(use.getOperandNumber()), seen);
      if (isa<scf::IfOp>(around) || (isa<scf::ForOp>(around) && !other))
        other = findOtherUse(around->getResult(use.getOperandNumber()), seen);
    } else if (user->hasAttr(kSumOfPartsAttr)) {
      other = nullptr;
    }
    if (other)
      return other;
  }
  return nullptr;
}

LogicalResult verifyPartialSum(Operation *op, StringAttr name, Attribute value) {
  auto reduce = dyn_cast<ReduceOp>(op);
  bool isSum = reduce && reduce.getKind() == ReduceKind::Sum && reduce.getAxis() == 1 &&
               reduce.getType().getElementType().isF32();
  if (!isSum || !isa<UnitAttr>(value))
    return op->emitOpError() << name << " belongs to sums of columns in f32";
  bool isOneColumn = reduce.getOperand().getType() == reduce.getType();
  if (name == kSumOfPartsAttr)
    return isOneColumn ? success() : op->emitOpError() << name << " belongs to a sum of one column";
  llvm::SmallPtrSet<void *, 8> seen;
  if (Operation *other = findOtherUse(reduce.getResult(), seen))
    return op->emitOpError() << name << " makes parts of a sum, which '" << other->getName()
                             << "' needs whole: put a tile.reduce sum with " << kSumOfPartsAttr
                             << " before it";
  return success();
}

} // namespace kiln::tile
