#include "kiln/Dialect/Sync/SyncDialect.h"

#include "kiln/Dialect/Tile/TileDialect.h"

using namespace mlir;

#include "kiln/Dialect/Sync/SyncDialect.cpp.inc"
#include "kiln/Dialect/Sync/SyncEnums.cpp.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Sync/SyncOps.cpp.inc"

namespace kiln::sync {

static_assert(unsigned(UnitKind::FIX) == unsigned(Unit::FIX) &&
              unsigned(UnitKind::All) == numUnits);

void SyncDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "kiln/Dialect/Sync/SyncOps.cpp.inc"
      >();
}

/// Units belong to a core, and a core executes a role.
static LogicalResult verifyPlace(Operation *op) {
  auto func = op->getParentOfType<ir::FuncOp>();
  return func && func.getKind() == ir::FuncKind::Role
             ? success()
             : op->emitOpError("belongs to a role, which is what the units of one core execute");
}

template <typename Flag> static LogicalResult verifyFlag(Flag op) {
  if (op.getFrom() == UnitKind::All || op.getTo() == UnitKind::All || op.getFrom() == op.getTo())
    return op.emitOpError("tells one unit of another; within a unit there are barriers");
  if (int64_t(op.getId()) < 0)
    return op.emitOpError("numbers its flags from 0 on");
  return verifyPlace(op);
}

LogicalResult SetOp::verify() { return verifyFlag(*this); }
LogicalResult WaitOp::verify() { return verifyFlag(*this); }
LogicalResult BarrierOp::verify() { return verifyPlace(*this); }

} // namespace kiln::sync
