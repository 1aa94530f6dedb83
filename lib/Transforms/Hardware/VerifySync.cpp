#include "PassMachine.h"
#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/SyncProof.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEVERIFYSYNC
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct VerifySync : impl::TileVerifySyncBase<VerifySync> {
  using TileVerifySyncBase::TileVerifySyncBase;

  LogicalResult verify(ir::FuncOp func, const Machine &target) {
    if (std::optional<SyncFault> fault = findSyncFault(func, target)) {
      InFlightDiagnostic diag = fault->at->emitOpError(fault->message);
      if (fault->other)
        diag.attachNote(fault->other->getLoc()) << "this one (" << fault->other->getName() << ")";
      return diag;
    }
    if (!mutants)
      return success();
    std::vector<llvm::DenseSet<Operation *>> all = syncMutants(func, target);
    LogicalResult result = success();
    for (const llvm::DenseSet<Operation *> &without : all)
      if (!findSyncFault(func, target, without))
        result = (*without.begin())
                     ->emitOpError("can be left out: everything stays in order without it");
    if (failed(result))
      return failure();
    func.emitRemark("@") << func.getSymName() << ": " << all.size()
                         << " flags, barriers and parts of flags were left out in turn, and each "
                            "was missed";
    return success();
  }

  void runOnOperation() override {
    auto check = [this](ir::FuncOp func, const Machine &target) { return verify(func, target); };
    if (failed(forRolesWithInstructions(getOperation(), machine, check)))
      signalPassFailure();
  }
};

} // namespace
} // namespace kiln
