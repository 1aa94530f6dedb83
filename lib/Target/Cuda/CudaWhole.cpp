#include "CudaFunction.h"

using namespace mlir;

// Branches in which every tile is whole: `tile-single-trips` makes them of kernels along a row.

namespace kiln::cuda {

using tile::TileType;

/// Declares the windows of what a branch loads and stores, and asks of all whether they are whole:
/// in such a branch nothing asks again, so loads move to where there are registers for them.
std::string FunctionEmitter::wholeText(scf::IfOp branch) {
  std::string condition;
  if (Kernel.computesLater)
    return condition;
  WholeBlock = branch.thenBlock();
  auto isInside = [&](Value value) { return value.getParentBlock() == branch.thenBlock(); };
  auto add = [&](auto op, TileType type) {
    if (!isInRegisters(type) || isMadeLater(op) ||
        llvm::any_of(op->getOperands(), [&](Value value) {
          return !isa<TileType>(value.getType()) && isInside(value);
        }))
      return;
    std::string name = Whole[op] = freshName("w");
    line("auto " + name + " = " +
         windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(),
                    op.getStaticValid(), op.getValid()) +
         ";");
    condition += " && isWhole<" + registerType(type) + ">(" + name + ")";
  };
  for (Operation &op : *branch.thenBlock()) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      add(load, load.getType());
    else if (auto store = dyn_cast<tile::StoreOp>(op); store && !store.getAtomic())
      add(store, store.getTile().getType());
  }
  return condition;
}

/// Whether a tile is widened from one that was loaded, by operations that cost less than keeping
/// it.
static bool isWidened(Value tile) {
  Operation *op = tile.getDefiningOp();
  auto type = dyn_cast<TileType>(tile.getType());
  if (!type || type.getCols() == 1 || !op)
    return false;
  if (auto cast = dyn_cast<tile::CastOp>(op)) {
    auto load = cast.getOperand().getDefiningOp<tile::LoadOp>();
    return load && load->getBlock() == op->getBlock() &&
           load.getType().getElementType().getIntOrFloatBitWidth() <
               type.getElementType().getIntOrFloatBitWidth();
  }
  auto isOfVectors = [&](Value operand) {
    auto given = dyn_cast<TileType>(operand.getType());
    return !given || given.getCols() == 1 ||
           (isWidened(operand) && operand.getParentBlock() == op->getBlock());
  };
  return isa<tile::AddOp, tile::SubOp, tile::MulOp>(op) &&
         llvm::all_of(op->getOperands(), isOfVectors);
}

/// Whether threads wait for one another between two operations of a block.
static bool isReducedBetween(Operation *from, Operation *to) {
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode())
    if (isa<tile::ReduceOp>(op))
      return true;
  return false;
}

/// What an operation reads of a row on the other side of a reduction is computed for it again: up
/// to there only the narrow elements wait, in half the registers.
void FunctionEmitter::widenAgain(Operation *user) {
  if (user->getBlock() != WholeBlock)
    return;
  for (Value tile : user->getOperands())
    if (isWidened(tile) && isReducedBetween(tile.getDefiningOp(), user))
      computeAgain(tile, user);
}

void FunctionEmitter::computeAgain(Value tile, Operation *user) {
  Operation *op = tile.getDefiningOp();
  Again[op] = user;
  for (Value operand : op->getOperands())
    if (isWidened(operand))
      computeAgain(operand, op);
  emitTile(op);
}

} // namespace kiln::cuda
