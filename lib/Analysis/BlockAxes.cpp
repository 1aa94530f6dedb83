#include "kiln/Analysis/BlockAxes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {

static constexpr unsigned kAllAxes = 0b111;

unsigned blockAxesOf(Value number) {
  llvm::SmallSetVector<Value, 16> parts;
  parts.insert(number);
  unsigned axes = 0;
  for (size_t next = 0; next < parts.size(); ++next) {
    Value part = parts[next];
    if (Operation *op = part.getDefiningOp()) {
      if (auto index = dyn_cast<tile::BlockIdxOp>(op))
        axes |= 1u << index.getDim();
      else if (op->getNumRegions() > 0) // what it makes is decided inside
        axes |= kAllAxes;
      parts.insert_range(op->getOperands());
      continue;
    }
    Operation *parent = part.getParentBlock()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop && part == loop.getInductionVar()) {
      parts.insert(loop.getLowerBound());
      parts.insert(loop.getUpperBound());
      parts.insert(loop.getStep());
    } else if (!isa<ir::FuncOp>(parent)) { // what a loop carries
      axes |= kAllAxes;
    }
  }
  return axes;
}

unsigned blockAxesOfExecution(Operation *op) {
  unsigned axes = 0;
  for (Operation *around = op->getParentOp(); !isa<ir::FuncOp>(around);
       around = around->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(around))
      axes |= blockAxesOf(loop.getLowerBound()) | blockAxesOf(loop.getUpperBound()) |
              blockAxesOf(loop.getStep());
    else if (auto branch = dyn_cast<scf::IfOp>(around))
      axes |= blockAxesOf(branch.getCondition());
    else
      axes |= kAllAxes;
  }
  return axes;
}

} // namespace kiln
