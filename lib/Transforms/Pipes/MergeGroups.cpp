#include "GroupMerger.h"

#include "PassMachine.h"
#include "kiln/Analysis/PipeProof.h"
#include "kiln/Machine/Guests.h"
#include "kiln/Transforms/Passes.h"
#include "kiln/Transforms/PlaceFrees.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNMERGEGROUPS
#include "kiln/Transforms/Passes.h.inc"

namespace {

ir::FuncOp memberOf(ir::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(call, call.getCalleeAttr());
}

/// What one function cannot do for several.
std::string findObstacle(ir::FuncOp group) {
  if (ir::findBarrier(group))
    return "its blocks meet at a barrier, and each role waits there by itself";
  std::string found;
  for (auto call : group.getBody().getOps<ir::CallOp>())
    memberOf(call).walk([&](scf::ForOp loop) {
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
    llvm::SmallSetVector<Operation *, 4> members, guests;
    for (auto func : getOperation().getOps<ir::FuncOp>()) {
      if (func.getKind() != ir::FuncKind::Group || (model && !hasForeignRole(func, *model)))
        continue;
      std::string reason = merge(func, defaultSlotsOf(model), members);
      bool isSplitAnew = model && model->roles.size() > 1;
      if (isSplitAnew && !reason.empty()) {
        if (!canRunSideBySide(func, *model))
          return refuse(func, *model, reason);
        for (auto call : func.getBody().getOps<ir::CallOp>())
          guests.insert(memberOf(call));
        continue;
      }
      if (isSplitAnew)
        func->removeAttr(ir::kMembersAttr); // it will have others
    }
    if (model && model->roles.size() > 1)
      adoptLoneRoles(*model, guests.getArrayRef());
    SymbolTable symbols(getOperation());
    for (Operation *member : members)
      if (symbols.symbolKnownUseEmpty(member, getOperation()))
        symbols.erase(member);
  }

  /// The first member whose role the machine does not have.
  static ir::FuncOp findForeignMember(ir::FuncOp group, const Machine &model) {
    for (auto call : group.getBody().getOps<ir::CallOp>()) {
      auto member = memberOf(call);
      if (!model.findRole(member.getRole().value_or("")))
        return member;
    }
    return nullptr;
  }
  static bool hasForeignRole(ir::FuncOp group, const Machine &model) {
    return findForeignMember(group, model) != nullptr;
  }

  /// The first member whose role is no guest of the machine.
  static ir::FuncOp findNoGuest(ir::FuncOp group, const Machine &model) {
    for (auto call : group.getBody().getOps<ir::CallOp>())
      if (ir::FuncOp member = memberOf(call); !findGuest(model, member.getRole().value_or("")))
        return member;
    return nullptr;
  }

  /// Whether the machine has all roles of a group as guests, who wait for each other as they run,
  /// and not for ever.
  static bool canRunSideBySide(ir::FuncOp group, const Machine &model) {
    return provePipes(group, defaultSlotsOf(&model)).verdict != PipeProof::Verdict::Refuted &&
           !findNoGuest(group, model);
  }

  void refuse(ir::FuncOp group, const Machine &model, const std::string &reason) {
    ir::FuncOp member = findForeignMember(group, model), other = findNoGuest(group, model);
    InFlightDiagnostic diagnostic = member.emitError("role ")
                                    << *member.getRole() << " of @" << member.getSymName()
                                    << " does not exist on " << model.platform
                                    << ", and the members of @" << group.getSymName()
                                    << " cannot be one kernel: " << reason;
    if (other)
      diagnostic << "; they cannot run side by side, because role " << *other.getRole() << " of @"
                 << other.getSymName() << " would have to stand beside it";
    noteProof(diagnostic, group, defaultSlotsOf(&model));
    signalPassFailure();
  }

  /// A function of a role that the machine does not have, and that talks to nobody, is a kernel.
  void adoptLoneRoles(const Machine &model, ArrayRef<Operation *> guests) {
    for (auto func : getOperation().getOps<ir::FuncOp>())
      if (func.getKind() == ir::FuncKind::Role && !model.findRole(*func.getRole()) &&
          !func.hasPipeParameter() && !llvm::is_contained(guests, func)) {
        func.setKind(ir::FuncKind::Incore);
        func.removeRoleAttr();
      }
  }

  /// Says why not, if it cannot be done.
  std::string merge(ir::FuncOp group, int64_t defaultSlots,
                    llvm::SmallSetVector<Operation *, 4> &members) {
    std::string reason = findObstacle(group);
    std::optional<PipeSchedule> schedule;
    for (auto call : group.getBody().getOps<ir::CallOp>())
      placeFrees(memberOf(call));
    if (reason.empty())
      schedule = schedulePipes(group, defaultSlots, reason);
    if (!schedule) {
      sayWhyNot(group, defaultSlots, reason);
      return reason;
    }
    if (report)
      emitRemark(group.getLoc()) << "members of @" << group.getSymName() << " are one function";
    for (auto call : group.getBody().getOps<ir::CallOp>())
      members.insert(memberOf(call));
    mergeGroup(group, schedule->steps);
    requireCounts(group, schedule->counts);
    return "";
  }

  /// The order holds only for counts, so a launch with something else does not begin.
  void requireCounts(ir::FuncOp group, ArrayRef<BlockArgument> counts) {
    OpBuilder builder(group.getBody());
    Location loc = group.getLoc();
    for (BlockArgument count : counts) {
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value isCount = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, count, zero);
      ir::RequireOp::create(builder, loc, isCount, "its roles would wait for each other for ever");
    }
  }

  void sayWhyNot(ir::FuncOp group, int64_t defaultSlots, const std::string &reason) {
    if (!report)
      return;
    InFlightDiagnostic diagnostic = emitRemark(group.getLoc())
                                    << "members of @" << group.getSymName()
                                    << " stay functions of their own: " << reason;
    noteProof(diagnostic, group, defaultSlots);
  }

  /// What the proof says of the pipes: what a program would have to require, or repair.
  static void noteProof(InFlightDiagnostic &diagnostic, ir::FuncOp group, int64_t defaultSlots) {
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
