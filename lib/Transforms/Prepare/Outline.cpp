#include "kiln/Program/OutlineRegion.h"
#include "kiln/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_KILNOUTLINE
#include "kiln/Transforms/Passes.h.inc"

namespace {
struct Outline : impl::KilnOutlineBase<Outline> {
  void runOnOperation() override {
    SmallVector<ir::IncoreOp> regions;
    getOperation().walk([&](ir::IncoreOp incore) { regions.push_back(incore); });
    for (ir::IncoreOp incore : regions) {
      OutlinedRegion outlined =
          outlineRegion(incore.getBody(), incore.getName(), ir::FuncKind::Incore, {});
      if (incore.getSplit())
        outlined.func.setSplit(incore.getSplit());
      outlined.func.setLanes(incore.getLanes());
      outlined.func.setSlots(incore.getSlots());
      OpBuilder builder(incore);
      auto submit = ir::SubmitOp::create(
          builder, incore.getLoc(), FlatSymbolRefAttr::get(outlined.func.getSymNameAttr()),
          outlined.args, incore.getGrid(), builder.getDenseI64ArrayAttr(incore.getStaticGrid()),
          incore.getDeps(), incore.getSyncStart(), incore.getPredicate(),
          incore.getPredicateIndices(), incore.getStaticPredicateIndicesAttr(),
          incore.getPredicateCmpAttr(), incore.getPredicateConstantAttr());
      incore.getTask().replaceAllUsesWith(submit.getTask());
      incore.erase();
    }
  }
};
} // namespace
} // namespace kiln
