// Flags and barriers for every two instructions of a role of which one touches what the other
// writes.
#include "PassMachine.h"
#include "SyncPlan.h"
#include "kiln/Transforms/Passes.h"

#include "kiln/Dialect/Sync/SyncDialect.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEINSERTSYNC
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct InsertSync : impl::TileInsertSyncBase<InsertSync> {
  using TileInsertSyncBase::TileInsertSyncBase;

  static bool hasSync(ir::FuncOp func) {
    return func
        .walk([](Operation *op) {
          return isa_and_nonnull<sync::SyncDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void runOnOperation() override {
    const Machine *target = machineOf(getOperation(), machine);
    if (!target)
      return signalPassFailure();
    if (!hardwareOf(*target))
      return;
    for (auto func : getOperation().getOps<ir::FuncOp>()) {
      if (func.getKind() != ir::FuncKind::Role || hasSync(func))
        continue;
      SyncPlan plan(func, *target);
      if (failed(plan.make()))
        return signalPassFailure();
      plan.write();
      if (report)
        func.emitRemark("@") << func.getSymName() << " has " << plan.numFlags() << " flags and "
                             << plan.numBarriers() << " barriers for " << plan.numInstructions()
                             << " instructions";
    }
  }
};

} // namespace
} // namespace kiln
