#include "LoopSkewer.h"

#include "PassMachine.h"
#include "kiln/Analysis/PipeProof.h"
#include "kiln/Transforms/Passes.h"
#include "kiln/Transforms/PlaceFrees.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNSKEWPIPELINE
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// The slots of the pipe that each parameter of a role stands for in its group; 0 for no pipe.
SmallVector<int64_t> slotsOfParameters(ir::CallOp call, int64_t defaultSlots) {
  SmallVector<int64_t> slots;
  for (Value argument : call.getArgs()) {
    auto pipe = argument.getDefiningOp<tile::PipeOp>();
    slots.push_back(pipe ? pipe.getSlots().value_or(defaultSlots) : 0);
  }
  return slots;
}

/// What was done to a loop, or why nothing was.
struct SkewedLoop {
  Location loc;
  SmallVector<Location> pushes;
  int64_t depth = 0;
  std::string reason;
};

/// Skews the loops of one role function; they are found in the same order in a copy of it.
SmallVector<SkewedLoop> skewLoops(ir::FuncOp role, ArrayRef<int64_t> slots) {
  SmallVector<scf::ForOp> loops;
  role.walk([&](scf::ForOp loop) {
    if (auto kind = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr);
        kind && kind.getKind() == ir::LoopKind::Pipeline && kind.getStages() > 1)
      loops.push_back(loop);
  });
  SmallVector<SkewedLoop> done;
  for (scf::ForOp loop : loops) {
    if (!LoopSkewer::pushesAndPops(loop))
      continue;
    SkewedLoop record{loop.getLoc(), {}, 0, ""};
    int64_t limit = loop->getAttrOfType<ir::LoopAttr>(ir::kLoopAttr).getStages() - 1;
    while (record.depth < limit) {
      LoopSkewer skewer(loop);
      if (!skewer.canSkew()) {
        record.reason = skewer.reason();
        break;
      }
      for (tile::PushOp push : skewer.pushes()) {
        unsigned parameter = cast<BlockArgument>(push.getPipe()).getArgNumber();
        limit = std::min(limit, slots[parameter] - 1);
        if (record.depth == 0)
          record.pushes.push_back(push.getLoc());
      }
      if (limit <= record.depth) {
        record.reason = "its pipes have one slot";
        break;
      }
      loop = skewer.skew();
      ++record.depth;
    }
    // Nothing is left to do; what follows must not do it again.
    if (record.depth > 0)
      loop->setAttr(ir::kLoopAttr, ir::LoopAttr::get(loop.getContext(), ir::LoopKind::Pipeline, 1));
    done.push_back(std::move(record));
  }
  return done;
}

struct SkewPipeline : impl::KilnSkewPipelineBase<SkewPipeline> {
  using KilnSkewPipelineBase::KilnSkewPipelineBase;

  void runOnOperation() override {
    const Machine *model = machineOf(getOperation(), machine);
    if (!model)
      return signalPassFailure();
    if (failed(tile::requireFacts(getOperation(), "which tensors it reads and writes")))
      return signalPassFailure();
    for (auto func : getOperation().getOps<ir::FuncOp>())
      if (func.getKind() == ir::FuncKind::Group)
        skewGroup(func, model->defaultSlots);
  }

  /// Tries it on a copy: only what is proved afterwards is done.
  void skewGroup(ir::FuncOp group, int64_t defaultSlots) {
    OwningOpRef<ModuleOp> trial = getOperation().clone();
    auto copy = trial->lookupSymbol<ir::FuncOp>(group.getSymName());
    SmallVector<SkewedLoop> loops = skewRoles(copy, defaultSlots);
    bool anySkewed = llvm::any_of(loops, [](const SkewedLoop &loop) { return loop.depth > 0; });
    if (anySkewed) {
      trial->walk([](ir::FuncOp func) { placeFrees(func); });
      if (provePipes(copy, defaultSlots).verdict == PipeProof::Verdict::Proved)
        (void)skewRoles(group, defaultSlots);
      else
        for (SkewedLoop &loop : loops)
          if (loop.depth > 0) {
            loop.depth = 0;
            loop.reason = "the pipes could not be proved afterwards";
          }
    }
    for (const SkewedLoop &loop : loops)
      describe(loop);
  }

  SmallVector<SkewedLoop> skewRoles(ir::FuncOp group, int64_t defaultSlots) {
    SmallVector<SkewedLoop> loops;
    auto module = group->getParentOfType<ModuleOp>();
    for (auto call : group.getBody().front().getOps<ir::CallOp>()) {
      auto role = module.lookupSymbol<ir::FuncOp>(call.getCallee());
      // A function of two groups would have to fit both.
      auto uses = SymbolTable::getSymbolUses(role, module);
      if (role.getKind() == ir::FuncKind::Role && uses && llvm::hasSingleElement(*uses))
        llvm::append_range(loops, skewLoops(role, slotsOfParameters(call, defaultSlots)));
    }
    return loops;
  }

  void describe(const SkewedLoop &loop) {
    if (!report)
      return;
    if (loop.depth == 0) {
      emitRemark(loop.loc) << "no push of this loop runs ahead: " << loop.reason;
      return;
    }
    InFlightDiagnostic diag = emitRemark(loop.loc)
                              << loop.pushes.size()
                              << (loop.pushes.size() == 1 ? " push runs " : " pushes run ")
                              << loop.depth << (loop.depth == 1 ? " iteration" : " iterations")
                              << " ahead";
    for (Location push : loop.pushes)
      diag.attachNote(push) << "this one";
  }
};
} // namespace
} // namespace kiln
