#include "CudaFunction.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

// Branches in which every tile is whole: `tile-single-trips` makes them of kernels along a row.

namespace kiln::cuda {

using tile::TileType;

/// Declares the windows of what a block loads and stores, and asks of all whether they are whole:
/// in such a block nothing asks again, so loads move to where there are registers for them.
std::string FunctionEmitter::wholeText(Block &block) {
  SmallVector<std::string> conditions;
  if (Kernel.computesLater)
    return "";
  WholeBlock = &block;
  auto isInside = [&](Value value) {
    return value.getDefiningOp() && value.getParentBlock() == &block;
  };
  auto add = [&](auto op, TileType type) {
    if (!isInRegisters(type) || llvm::any_of(op->getOperands(), [&](Value value) {
          return !isa<TileType>(value.getType()) && isInside(value);
        }))
      return;
    std::string name = Whole[op] = freshName("w");
    line("auto " + name + " = " +
         windowText(type, op.getTensor(), op.getStaticIndices(), op.getIndices(),
                    op.getStaticValid(), op.getValid()) +
         ";");
    conditions.push_back("isWhole<" + registerType(type) + ">(" + name + ")");
  };
  for (Operation &op : block) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      add(load, load.getType());
    else if (auto store = dyn_cast<tile::StoreOp>(op); store && !store.getAtomic())
      add(store, store.getTile().getType());
  }
  return llvm::join(conditions, " && ");
}

/// Where a row is longer than a tile, each piece of it that is stored asks for itself: whole tiles
/// are computed as those of a row of one tile are, all others element by element. So both need few
/// registers. False: there is nothing to ask.
bool FunctionEmitter::emitWholeOrNot(scf::ForOp loop) {
  Block &body = *loop.getBody();
  if (!IsBesideWhole || Kernel.computesLater || loop.getNumResults() > 0 ||
      body.getOps<tile::StoreOp>().empty())
    return false;
  std::string whole = wholeText(body);
  if (whole.empty())
    return false;
  line("if (" + whole + ") {");
  Out.indented([&] { emitBlock(body); });
  line("} else {");
  for (Operation &op : body) {
    Whole.erase(&op);
    Again.erase(&op);
  }
  WholeBlock = nullptr;
  llvm::SaveAndRestore later(Kernel.computesLater, true);
  Out.indented([&] { emitBlock(body); });
  line("}");
  return true;
}

/// Whether the last of several indices is 0.
static bool isZeroIndex(ArrayRef<int64_t> constants, ValueRange values) {
  return ShapedType::isDynamic(constants.back()) ? matchPattern(values.back(), m_Zero())
                                                 : constants.back() == 0;
}

/// Whether a mask cuts off nothing where the tiles of its block are whole: it keeps the columns
/// that a tensor has, of which a tile as wide begins at the first.
bool FunctionEmitter::isIdleWhereWhole(tile::MaskOp mask) {
  if (mask->getBlock() != WholeBlock || mask.getValid().size() != 1 ||
      !ShapedType::isDynamic(mask.getStaticValid()[1]) ||
      mask.getStaticValid()[0] < mask.getType().getRows())
    return false;
  auto extent = mask.getValid()[0].getDefiningOp<ir::DimOp>();
  return extent && llvm::any_of(Whole, [&](auto &entry) {
           auto load = dyn_cast<tile::LoadOp>(entry.first);
           return load && load.getTensor() == extent.getTensor() &&
                  int64_t(extent.getDim()) + 1 == load.getTensor().getType().getRank() &&
                  isZeroIndex(load.getStaticIndices(), load.getIndices()) &&
                  load.getType().getCols() >= mask.getType().getCols();
         });
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
