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
    auto insert = [this](ir::FuncOp func, const Machine &target) -> LogicalResult {
      if (hasSync(func))
        return success();
      SyncPlan plan(func, target);
      if (failed(plan.make()))
        return failure();
      plan.write();
      if (report)
        func.emitRemark("@") << func.getSymName() << " has " << plan.numFlags() << " flags and "
                             << plan.numBarriers() << " barriers for " << plan.numInstructions()
                             << " instructions";
      return success();
    };
    if (failed(forRolesWithInstructions(getOperation(), machine, insert)))
      signalPassFailure();
  }
};

} // namespace
} // namespace kiln
