#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/TensorBox.h"
#include "kiln/Dialect/Kiln/LoopAttributes.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/Program/IndexForm.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEMARKSTREAMS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// Whether the box of an access begins at another place for each of these indices.
bool dependsOn(const tile::TensorAccess &access, ArrayRef<Value> indices) {
  auto isIndex = [&](Value value) { return llvm::is_contained(indices, value); };
  return llvm::all_of(indices, [&](Value index) {
    return llvm::any_of(access.indices, [&](OpFoldResult start) {
      return formOf(start, isIndex).sum.coefficient(index) != 0;
    });
  });
}

/// The indices of the loops around an operation.
SmallVector<Value> loopIndices(Operation *op) {
  SmallVector<Value> indices;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    indices.push_back(loop.getInductionVar());
  return indices;
}

/// Whether the one's loop has the last rounds of the other's, peeled from it: what a round reads no
/// other round does.
bool arePeeled(Operation *op, Operation *from) {
  auto loop = op->getParentOfType<scf::ForOp>(), other = from->getParentOfType<scf::ForOp>();
  if (!loop || !other || !loop->hasAttr(ir::kPeeledAttr))
    return false;
  Operation *before = loop->getPrevNode();
  while (before && !isa<scf::ForOp>(before))
    before = before->getPrevNode();
  return before == other;
}

struct MarkStreams : impl::TileMarkStreamsBase<MarkStreams> {
  void mark(ir::FuncOp func) {
    SmallVector<tile::TensorAccess> accesses;
    SmallVector<Value> blocks;
    func.walk([&](Operation *op) {
      llvm::append_range(accesses, tile::tensorAccesses(op));
      if (auto index = dyn_cast<tile::BlockIdxOp>(op))
        blocks.push_back(index);
    });
    for (auto [place, access] : llvm::enumerate(accesses)) {
      if (!isa<tile::LoadOp, tile::StoreOp>(access.op) || !access.hasBox() || access.isAtomic())
        continue;
      SmallVector<Value> indices = loopIndices(access.op);
      indices.append(blocks);
      bool isLast = true;
      for (auto [otherPlace, other] : llvm::enumerate(accesses))
        isLast &= other.op == access.op || ir::rootOf(other.tensor) != ir::rootOf(access.tensor) ||
                  areAlternatives(access.op, other.op) || arePeeled(access.op, other.op) ||
                  arePeeled(other.op, access.op) ||
                  (otherPlace < place && !shareLoop(access.op, other.op));
      if (isLast && !blocks.empty() && dependsOn(access, indices))
        access.op->setAttr(tile::kStreamsAttr, UnitAttr::get(&getContext()));
    }
  }

  void runOnOperation() override {
    // Where a role copies, what the others touch is what they could not have copied.
    DenseSet<StringRef> fed;
    for (auto func : getOperation().getOps<ir::FuncOp>())
      func.walk([&](ir::CallOp call) {
        if (func.getKind() == ir::FuncKind::Group && !func.getBody().getOps<tile::PipeOp>().empty())
          fed.insert(call.getCallee());
      });
    for (auto func : getOperation().getOps<ir::FuncOp>())
      if (func.getRole() && (func.getRole() == "dma" || !fed.contains(func.getSymName())))
        mark(func);
  }
};
} // namespace
} // namespace kiln
