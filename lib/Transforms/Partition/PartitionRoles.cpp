#include "PartitionEmit.h"
#include "PartitionLanes.h"

#include "PassMachine.h"
#include "kiln/Dialect/Kiln/CompilerChoices.h"
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
    const Machine *model = machineOf(getOperation(), machine);
    if (!model)
      return signalPassFailure();
    if (failed(tile::requireFacts(getOperation(), "how it divides over lanes")))
      return signalPassFailure();
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
    const Role *matrix = roleFor(model, MatrixWork), *vector = roleFor(model, VectorWork);
    if (matrix != vector)
      splitForeignAccumulators(*body);
    PartitionPlan plan(*body, model);
    const Role *whole = matrix == vector || !multiplies(kernel) ? vector : nullptr;
    if (plan.obstacle())
      return leave(kernel, plan, whole);
    if (plan.roles().empty()) {
      remark(kernel) << "@" << kernel.getSymName() << " is not split over roles: it writes nothing";
      if (whole)
        giveTo(kernel, whole);
      return success();
    }
    if (failed(chooseLanes(kernel, *body, plan, model)))
      return failure();
    if (plan.roles().size() == 1 && !plan.lanesOf(plan.roles().front()).divides()) {
      giveTo(kernel, plan.roles().front());
      return success();
    }
    describe(kernel, plan);
    emitGroup(kernel, *body, plan);
    return success();
  }

  static bool multiplies(ir::FuncOp kernel) {
    return kernel
        ->walk([](Operation *op) {
          return isa<tile::ProductInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// A kernel that cannot be split: all of it is `role`'s, or it stays.
  LogicalResult leave(ir::FuncOp kernel, const PartitionPlan &plan, const Role *role) {
    bool asksForLanes = kernel.getSplit().value_or(tile::Split::None) != tile::Split::None;
    if (asksForLanes || kernel.getNumLanes() > 1)
      return kernel.emitOpError("cannot be divided between lanes: ").append(plan.reason());
    if (role && !isa<ir::CallOp, tile::LaneOp>(plan.obstacle())) {
      remark(kernel) << "@" << kernel.getSymName() << " is not split over roles: " << plan.reason();
      giveTo(kernel, role);
      return success();
    }
    // No role can execute it, so nothing further down can say where its tiles are.
    InFlightDiagnostic diag = emitWarning(kernel.getLoc());
    diag << "@" << kernel.getSymName() << " stays whole, without a memory plan: " << plan.reason();
    diag.attachNote(plan.obstacle()->getLoc())
        << "this is in the way; no core can execute the kernel";
    return success();
  }

  /// Divides the work as the kernel asks for. Where it does not, and lanes execute everything, by
  /// rows if that is possible.
  LogicalResult chooseLanes(ir::FuncOp kernel, ir::FuncOp body, PartitionPlan &plan,
                            const Machine &model) {
    const Role *role = plan.laneRole();
    if (kernel.getNumLanes() > role->maxLanes)
      return kernel.emitOpError("asks for ") << kernel.getNumLanes() << " lanes, but role "
                                             << role->name << " has at most " << role->maxLanes;
    bool lanesDoAll = role->executes & MatrixWork && role->maxLanes > 1;
    bool isChosen = lanesDoAll && !kernel.getSplit();
    tile::Split split =
        isChosen ? tile::Split::UpDown : kernel.getSplit().value_or(tile::Split::None);
    int64_t number =
        kernel.getLanes() ? kernel.getNumLanes() : std::min<int64_t>(lanes, role->maxLanes);
    if (isChosen && !kernel.getLanes()) {
      // Where each lane of a product has the rows of one instruction, there are as many lanes.
      int64_t worthwhile = lanesWorthwhile(body, model);
      bool isExact =
          worthwhile <= role->maxLanes && productRows(body) == worthwhile * model.matrixRows;
      if (std::optional<int64_t> told = ir::CompilerChoices::of(kernel).lanes)
        number = std::min({*told, role->maxLanes, worthwhile});
      else
        number = isExact ? worthwhile : std::min(number, worthwhile);
    }
    if (number < 2 || !llvm::is_contained(plan.roles(), role))
      return success();
    if (split == tile::Split::None)
      return kernel.getLanes() ? refuseLanesWithoutSplit(kernel, body, plan) : success();
    plan.divide(split, number);
    std::optional<LaneProblem> problem = findLaneProblem(body, plan);
    if (!problem)
      return success();
    if (isChosen && !kernel.getLanes()) {
      remark(kernel) << "@" << kernel.getSymName() << " runs on one lane of " << role->name << ": '"
                     << problem->op->getName() << "' " << problem->what;
      plan.divide(tile::Split::None, 1);
      return success();
    }
    InFlightDiagnostic diag = problem->op->emitOpError(problem->what);
    if (!problem->note.empty())
      diag.attachNote(problem->noteLoc) << problem->note;
    adviseSplit(diag.attachNote(problem->op->getLoc()), kernel, body, plan);
    return diag;
  }

  /// How many lanes find rows to work on: each of a product as many as an instruction makes, of
  /// other tiles one.
  static int64_t lanesWorthwhile(ir::FuncOp body, const Machine &model) {
    if (int64_t rows = productRows(body))
      return std::max<int64_t>(rows / model.matrixRows, 1);
    int64_t rows = 1;
    body.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tile = dyn_cast<tile::TileType>(type))
          rows = std::max(rows, tile.getRows());
    });
    return rows;
  }

  /// The most rows of a product; 0 if there is none.
  static int64_t productRows(ir::FuncOp body) {
    int64_t rows = 0;
    body.walk([&](tile::ProductInterface product) {
      rows = std::max(rows, cast<tile::TileType>(product->getResult(0).getType()).getRows());
    });
    return rows;
  }

  LogicalResult refuseLanesWithoutSplit(ir::FuncOp kernel, ir::FuncOp body, PartitionPlan &plan) {
    InFlightDiagnostic diag = kernel.emitOpError("asks for ")
                              << kernel.getNumLanes()
                              << " lanes, but for no split by which they would share the work";
    adviseSplit(diag.attachNote(kernel.getLoc()), kernel, body, plan);
    return diag;
  }

  /// Says which split works, having tried, and what does if none does.
  void adviseSplit(Diagnostic &note, ir::FuncOp kernel, ir::FuncOp body, PartitionPlan &plan) {
    int64_t number = kernel.getLanes() ? kernel.getNumLanes()
                                       : std::min<int64_t>(lanes, plan.laneRole()->maxLanes);
    std::string oneLane = (kernel.getLanes() ? "split(none) and lanes(1), which use one lane"
                                             : "split(none), which uses one lane");
    for (tile::Split split : {tile::Split::UpDown, tile::Split::LeftRight}) {
      plan.divide(split, number);
      if (findLaneProblem(body, plan))
        continue;
      note << "try split(" << tile::stringifySplit(split) << "), or " << oneLane;
      return;
    }
    note << "no split works; use " << oneLane;
  }

  /// All work is one role's: the kernel is that role's function, launched as before.
  void giveTo(ir::FuncOp kernel, const Role *role) {
    remark(kernel) << "@" << kernel.getSymName() << " has work for " << role->name << " only";
    kernel.setKind(ir::FuncKind::Role);
    kernel.setRole(role->name);
    kernel.removeSplitAttr();
    kernel.removeLanesAttr();
    kernel.removeSlotsAttr();
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
    SmallVector<unsigned> shared = sharedPipes(plan, pipes);
    for (auto [index, crossing] : llvm::enumerate(plan.crossings())) {
      Diagnostic &note = diag.attachNote(crossing.values.back().getLoc());
      llvm::interleave(
          crossing.values, [&](Value value) { note << value.getType(); }, [&] { note << " and "; });
      note << (crossing.values.size() == 1 ? " goes from " : " go together from ")
           << crossing.from->name << " to " << crossing.to->name << ", ";
      if (shared[index] == index)
        note << bytesOf(pipes[index]) << " bytes a slot";
      else
        note << "through the pipe of the loop before";
    }
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
