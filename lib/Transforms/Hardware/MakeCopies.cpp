// What a loop carries and what a branch yields is brought to its place by an operation of its own.
#include "PassMachine.h"
#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/Instructions.h"
#include "kiln/Dialect/Tile/TileMemory.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEMAKECOPIES
#include "kiln/Transforms/Passes.h.inc"

namespace {

struct MakeCopies : impl::TileMakeCopiesBase<MakeCopies> {
  using TileMakeCopiesBase::TileMakeCopiesBase;

  /// Copies an operand of `at` to where `result` lies, unless it is there.
  LogicalResult bring(OpOperand &operand, Value result, Operation *at, const Machine &target) {
    auto type = dyn_cast<tile::TileType>(result.getType());
    if (!type)
      return success();
    std::optional<TilePlace> from = placeOf(operand.get(), target), to = placeOf(result, target);
    if (!from || !to || from->from == to->from)
      return success();
    if (type.getSpace() != tile::Space::Vec)
      return at->emitOpError("cannot be compiled for ")
             << target.platform << ": it carries a tile of "
             << tile::stringifySpace(type.getSpace())
             << " to another place, and no instruction copies within "
             << tile::stringifySpace(type.getSpace());
    if (slotOf(operand.get())) // which may be free by then
      return at->emitOpError("cannot be compiled for ")
             << target.platform << ": it carries on a tile that lies in the slot of a pipe";
    OpBuilder builder(at);
    auto copy = tile::MoveOp::create(builder, at->getLoc(), type, operand.get());
    copy->setAttr(tile::kAddressAttr, builder.getDenseI64ArrayAttr({to->from}));
    operand.set(copy);
    return success();
  }

  LogicalResult bringAll(MutableArrayRef<OpOperand> operands, ValueRange results, Operation *at,
                         const Machine &target) {
    for (auto [operand, result] : llvm::zip_equal(operands, results))
      if (failed(bring(operand, result, at, target)))
        return failure();
    return success();
  }

  LogicalResult makeCopies(ir::FuncOp func, const Machine &target) {
    SmallVector<Operation *> around;
    func.walk([&](Operation *op) {
      if (isa<scf::ForOp, scf::IfOp>(op))
        around.push_back(op);
    });
    for (Operation *op : around) {
      if (auto loop = dyn_cast<scf::ForOp>(op);
          loop && failed(bringAll(loop.getInitArgsMutable(), loop.getResults(), loop, target)))
        return failure();
      for (Region &region : op->getRegions())
        if (!region.empty()) {
          Operation *yield = region.front().getTerminator();
          if (failed(bringAll(yield->getOpOperands(), op->getResults(), yield, target)))
            return failure();
        }
    }
    return tile::verifyMemoryPlan(func, target);
  }

  void runOnOperation() override {
    auto copy = [this](ir::FuncOp func, const Machine &target) { return makeCopies(func, target); };
    if (failed(forRolesWithInstructions(getOperation(), machine, copy)))
      signalPassFailure();
  }
};

} // namespace
} // namespace kiln
