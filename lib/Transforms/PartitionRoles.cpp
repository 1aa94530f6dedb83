#include "PartitionEmit.h"
#include "PartitionLanes.h"

#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNPARTITIONROLES
#include "kiln/Transforms/Passes.h.inc"

namespace {

int64_t bytesOf(tile::PipeType pipe) {
  int64_t bits = 0;
  for (tile::TileType tile : pipe.getPayload())
    bits += tile.getNumElements() * tile.getElementType().getIntOrFloatBitWidth();
  return (bits + 7) / 8;
}

struct PartitionRoles : impl::KilnPartitionRolesBase<PartitionRoles> {
  using KilnPartitionRolesBase::KilnPartitionRolesBase;

  void runOnOperation() override {
    const Machine *model = findMachine(machine);
    if (!model) {
      emitError(getOperation().getLoc())
          << "there is no machine '" << machine << "'; kiln machines lists them";
      return signalPassFailure();
    }
    llvm::SmallPtrSet<Attribute, 4> called;
    getOperation().walk([&](ir::CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
    SmallVector<ir::FuncOp> kernels;
    for (auto func : getOperation().getOps<ir::FuncOp>())
      if (func.getKind() == ir::FuncKind::Incore && !called.contains(func.getSymNameAttr()))
        kernels.push_back(func);
    for (ir::FuncOp kernel : kernels)
      if (failed(partition(kernel, *model)))
        return signalPassFailure();
  }

  LogicalResult partition(ir::FuncOp kernel, const Machine &model) {
    // The kernel stays as it is if it cannot be split.
    OwningOpRef<ir::FuncOp> body = kernel.clone();
    if (roleFor(model, MatrixWork) != roleFor(model, VectorWork))
      splitForeignAccumulators(*body);
    PartitionPlan plan(*body, model);
    if (plan.obstacle()) {
      remark(kernel) << "@" << kernel.getSymName() << " is not split over roles: " << plan.reason();
      return success();
    }
    if (plan.roles().empty()) {
      remark(kernel) << "@" << kernel.getSymName() << " is not split over roles: it writes nothing";
      return success();
    }
    for (const Role *role : plan.roles())
      if (plan.lanesOf(role).divides() && failed(verifyLanes(*body, plan, role)))
        return failure();
    if (plan.roles().size() == 1 && !plan.lanesOf(plan.roles().front()).divides()) {
      giveTo(kernel, plan.roles().front());
      return success();
    }
    describe(kernel, plan);
    emitGroup(kernel, *body, plan);
    return success();
  }

  /// All work is one role's: the kernel is that role's function, launched as before.
  void giveTo(ir::FuncOp kernel, const Role *role) {
    remark(kernel) << "@" << kernel.getSymName() << " has work for " << role->name << " only";
    kernel.setKind(ir::FuncKind::Role);
    kernel.setRole(role->name);
    kernel.removeSplitAttr();
  }

  void describe(ir::FuncOp kernel, const PartitionPlan &plan) {
    if (!report)
      return;
    InFlightDiagnostic diag = remark(kernel);
    diag << "@" << kernel.getSymName() << " is split over ";
    llvm::interleave(
        plan.roles(), [&](const Role *role) { diag << role->name; }, [&] { diag << " and "; });
    if (plan.lanes().divides())
      diag << ", " << plan.lanes().lanes << " lanes " << tile::stringifySplit(plan.lanes().split);
    SmallVector<tile::PipeType> pipes = pipesOf(plan, &getContext());
    for (auto [crossing, pipe] : llvm::zip(plan.crossings(), pipes))
      diag.attachNote(crossing.value.getLoc())
          << crossing.value.getType() << " goes from " << crossing.from->name << " to "
          << crossing.to->name << ", " << bytesOf(pipe) << " bytes a slot";
    for (const Token &token : plan.tokens())
      diag.attachNote(token.before->getLoc()) << token.to->name << " waits here for "
                                              << token.from->name << ", which uses the same memory";
  }

  InFlightDiagnostic remark(ir::FuncOp kernel) {
    return report ? emitRemark(kernel.getLoc()) : InFlightDiagnostic();
  }
};
} // namespace
} // namespace kiln
