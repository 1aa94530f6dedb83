#include "PassMachine.h"
#include "kiln/Analysis/PipeProof.h"
#include "kiln/Transforms/Passes.h"
#include "kiln/Transforms/PlaceFrees.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNCHECKPIPES
#include "kiln/Transforms/Passes.h.inc"

namespace {

void attachNotes(InFlightDiagnostic &diagnostic, ArrayRef<PipeMessage> notes, ir::FuncOp group) {
  for (const PipeMessage &note : notes)
    diagnostic.attachNote(note.loc) << note.text;
  diagnostic.attachNote(group.getLoc()) << "in group @" << group.getSymName();
}

struct CheckPipes : impl::KilnCheckPipesBase<CheckPipes> {
  using KilnCheckPipesBase::KilnCheckPipesBase;

  void runOnOperation() override {
    const Machine *model = nullptr;
    if (!machine.empty() && !(model = machineOf(getOperation(), machine)))
      return signalPassFailure();
    OwningOpRef<ModuleOp> module = getOperation().clone();
    module->walk([](ir::FuncOp func) { placeFrees(func); });
    for (auto func : module->getOps<ir::FuncOp>())
      if (func.getKind() == ir::FuncKind::Group)
        check(func, defaultSlotsOf(model));
    markAllAnalysesPreserved();
  }

  void check(ir::FuncOp group, int64_t defaultSlots) {
    PipeProof proof = provePipes(group, defaultSlots);
    switch (proof.verdict) {
    case PipeProof::Verdict::Proved:
      if (report)
        emitRemark(group.getLoc()) << "pipes of @" << group.getSymName() << " proved"
                                   << (proof.condition.empty() ? "" : " if ") << proof.condition;
      return;
    case PipeProof::Verdict::Refuted:
      for (const PipeFinding &finding : proof.findings) {
        InFlightDiagnostic diagnostic = emitError(finding.what.loc) << finding.what.text;
        attachNotes(diagnostic, finding.notes, group);
      }
      return signalPassFailure();
    case PipeProof::Verdict::Undecided:
      for (const PipeMessage &reason : proof.reasons) {
        InFlightDiagnostic diagnostic = emitWarning(reason.loc)
                                        << "pipes not proved: " << reason.text;
        attachNotes(diagnostic, {}, group);
      }
      return;
    }
  }
};
} // namespace
} // namespace kiln
