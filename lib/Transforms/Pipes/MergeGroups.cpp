#include "GroupMerger.h"

#include "PassMachine.h"
#include "kiln/Analysis/PipeProof.h"
#include "kiln/Transforms/Passes.h"
#include "kiln/Transforms/PlaceFrees.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNMERGEGROUPS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// What one function cannot do for several.
std::string findObstacle(ir::FuncOp group) {
  if (ir::findBarrier(group))
    return "its blocks meet at a barrier, and each role waits there by itself";
  std::string found;
  for (auto call : group.getBody().getOps<ir::CallOp>())
    SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(group, call.getCalleeAttr())
        .walk([&](scf::ForOp loop) {
          if (!loop.getInductionVar().getType().isIndex())
            found = "it has a loop whose index is no index";
        });
  return found;
}

struct MergeGroups : impl::KilnMergeGroupsBase<MergeGroups> {
  using KilnMergeGroupsBase::KilnMergeGroupsBase;

  void runOnOperation() override {
    const Machine *model = nullptr;
    if (!machine.empty() && !(model = machineOf(getOperation(), machine)))
      return signalPassFailure();
    llvm::SmallSetVector<Operation *, 4> members;
    for (auto func : getOperation().getOps<ir::FuncOp>())
      if (func.getKind() == ir::FuncKind::Group && (!model || hasForeignRole(func, *model)))
        merge(func, defaultSlotsOf(model), members);
    SymbolTable symbols(getOperation());
    for (Operation *member : members)
      if (symbols.symbolKnownUseEmpty(member, getOperation()))
        symbols.erase(member);
  }

  /// Whether a member has a role that the machine does not have.
  static bool hasForeignRole(ir::FuncOp group, const Machine &model) {
    return llvm::any_of(group.getBody().getOps<ir::CallOp>(), [&](ir::CallOp call) {
      auto member = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(group, call.getCalleeAttr());
      return !model.findRole(member.getRole().value_or(""));
    });
  }

  void merge(ir::FuncOp group, int64_t defaultSlots,
             llvm::SmallSetVector<Operation *, 4> &members) {
    std::string reason = findObstacle(group);
    std::optional<ScheduleSteps> schedule;
    for (auto call : group.getBody().getOps<ir::CallOp>())
      placeFrees(SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(group, call.getCalleeAttr()));
    if (reason.empty())
      schedule = schedulePipes(group, defaultSlots, reason);
    if (!schedule)
      return sayWhyNot(group, defaultSlots, reason);
    if (report)
      emitRemark(group.getLoc()) << "members of @" << group.getSymName() << " are one function";
    for (auto call : group.getBody().getOps<ir::CallOp>())
      members.insert(SymbolTable::lookupNearestSymbolFrom(group, call.getCalleeAttr()));
    mergeGroup(group, *schedule);
  }

  void sayWhyNot(ir::FuncOp group, int64_t defaultSlots, const std::string &reason) {
    if (!report)
      return;
    InFlightDiagnostic diagnostic = emitRemark(group.getLoc())
                                    << "members of @" << group.getSymName()
                                    << " stay functions of their own: " << reason;
    PipeProof proof = provePipes(group, defaultSlots);
    if (!proof.condition.empty())
      diagnostic.attachNote() << "its pipes are proved only if " << proof.condition;
    for (const PipeFinding &finding : proof.findings)
      diagnostic.attachNote(finding.what.loc) << "its pipes are wrong: " << finding.what.text;
    for (const PipeMessage &message : proof.reasons)
      diagnostic.attachNote(message.loc) << "its pipes are not proved: " << message.text;
  }
};
} // namespace
} // namespace kiln
