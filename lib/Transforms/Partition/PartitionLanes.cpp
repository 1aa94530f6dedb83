#include "PartitionLanes.h"

#include "kiln/Analysis/TensorBox.h"

#include "kiln/Dialect/IndexRange.h"
#include "kiln/Dialect/Tile/TileCombine.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// What can be divided
//===----------------------------------------------------------------------===//

/// The axis of a tensor that an axis of a tile runs along.
static int64_t tensorAxis(ir::TensorType tensor, unsigned tileAxis) {
  return tensor.getRank() == 1 ? 0 : tensor.getRank() - 2 + tileAxis;
}

/// The axis along which an operand of a divided operation is divided; nothing if each lane needs
/// all of it.
static std::optional<unsigned> dividedAxis(OpOperand &operand, const LaneSplit &lanes) {
  auto op = dyn_cast<tile::TileOpInterface>(operand.getOwner());
  return op ? op.getDividedAxis(operand, lanes.axis()) : lanes.axis();
}

llvm::DenseSet<Value> findNeededTiles(ir::FuncOp kernel, const PartitionPlan &plan) {
  const LaneSplit &lanes = plan.lanes();
  llvm::DenseSet<Value> needed;
  SmallVector<Value> work;
  if (!lanes.divides())
    return needed;
  kernel.walk([&](Operation *op) {
    if (plan.runs(op, plan.laneRole()))
      for (OpOperand &operand : op->getOpOperands())
        if (dividedAxis(operand, lanes) != lanes.axis())
          work.push_back(operand.get());
  });
  // What a whole tile is made from is whole too; a loop carries it whole, all the way round.
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!isa<tile::TileType>(value.getType()) || !needed.insert(value).second)
      continue;
    llvm::append_range(work, sourcesOf(value));
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
      work.push_back(loop.getTiedLoopResult(argument));
    } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      work.push_back(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)));
    } else if (Operation *op = value.getDefiningOp();
               op->getNumRegions() == 0 && plan.runs(op, plan.laneRole())) {
      llvm::append_range(work, op->getOperands());
    }
  }
  return needed;
}

/// Why an operation cannot be divided; empty if it can, or need not be.
static StringRef whyNotDivided(Operation *op, const LaneSplit &lanes) {
  auto facts = dyn_cast<tile::TileOpInterface>(op);
  bool isNeeded = op->getNumResults() > 0 && llvm::all_of(op->getResults(), [&](Value result) {
                    return lanes.needed.contains(result);
                  });
  if (!facts || isNeeded)
    return "";
  auto isWhole = [&](Value tile) { return lanes.isWhole(tile); };
  auto spans = [&](Type type) { return lanes.spans(cast<tile::TileType>(type)); };
  return facts.whyNotDivided({lanes.axis(), isWhole, spans});
}

static LaneProblem notDivided(Operation *op, const LaneSplit &lanes, const Twine &why) {
  return {op,
          ("cannot be divided with split(" + tile::stringifySplit(lanes.split) + "): " + why).str(),
          op->getLoc()};
}

/// Whether each lane makes its part of an access.
static bool isDivided(Operation *op, const LaneSplit &lanes) {
  return llvm::any_of(tile::tensorAccesses(op), [&](const tile::TensorAccess &access) {
    if (!access.tile)
      return false;
    bool isMade = access.tile.getDefiningOp() == op;
    return isMade ? !lanes.isWhole(access.tile)
                  : lanes.spans(cast<tile::TileType>(access.tile.getType()));
  });
}

/// Whether only the first lane executes an operation: a side effect that is not divided.
static bool isForOneLane(Operation *op, const LaneSplit &lanes) {
  bool writes = llvm::any_of(tile::tensorAccesses(op),
                             [](const tile::TensorAccess &access) { return access.writes; });
  return isa<ir::DumpOp>(op) || (writes && !isDivided(op, lanes));
}

/// Whether two accesses never touch one element from two lanes, whichever iterations they belong
/// to: one lane makes both, their boxes have nothing in common, or both are divided alike.
static bool areLanesApart(const tile::TensorAccess &a, const tile::TensorAccess &b,
                          const LaneSplit &lanes) {
  if ((isForOneLane(a.op, lanes) && isForOneLane(b.op, lanes)) || (a.isAtomic() && b.isAtomic()))
    return true;
  std::optional<TensorBox> first = boxOf(a), second = boxOf(b);
  if (!first || !second)
    return false;
  if (areDisjoint(*first, *second))
    return true;
  auto axisOf = [&](const TensorBox &box) { return lanes.axis() == 0 ? box.rowAxis : box.colAxis; };
  int axis = axisOf(*first);
  return isDivided(a.op, lanes) && isDivided(b.op, lanes) && axis == axisOf(*second) &&
         areSameOrApart(*first, *second, axis);
}

static std::optional<LaneProblem> findSharedMemory(ir::FuncOp kernel, const PartitionPlan &plan) {
  SmallVector<tile::TensorAccess> accesses;
  kernel.walk([&](Operation *op) {
    if (plan.runs(op, plan.laneRole()))
      llvm::append_range(accesses, tile::tensorAccesses(op));
  });
  for (const tile::TensorAccess &write : accesses)
    for (const tile::TensorAccess &other : accesses)
      if (write.writes && ir::rootOf(write.tensor) == ir::rootOf(other.tensor) &&
          !areLanesApart(write, other, plan.lanes()))
        return LaneProblem{other.op,
                           "may touch what another lane writes, and lanes cannot wait for each "
                           "other, as two kernels can",
                           write.op->getLoc(),
                           write.op == other.op ? "in another iteration" : "it is written here"};
  return std::nullopt;
}

std::optional<LaneProblem> findLaneProblem(ir::FuncOp kernel, const PartitionPlan &plan) {
  const LaneSplit &lanes = plan.lanes();
  std::optional<LaneProblem> problem;
  auto checkTile = [&](Value value) {
    auto tile = dyn_cast<tile::TileType>(value.getType());
    if (problem || !tile || lanes.isWhole(value) || tile.getExtent(lanes.axis()) % lanes.lanes == 0)
      return;
    Operation *op =
        value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
    std::string text;
    llvm::raw_string_ostream(text)
        << "'" << Type(tile) << "' does not divide evenly over " << lanes.lanes << " lanes";
    problem = notDivided(op, lanes, text);
  };
  kernel.walk([&](Operation *op) {
    if (problem || !plan.runs(op, plan.laneRole()))
      return;
    if (StringRef why = whyNotDivided(op, lanes); !why.empty())
      problem = notDivided(op, lanes, "it " + why);
    for (Value result : op->getResults())
      checkTile(result);
  });
  for (const Crossing &crossing : plan.crossings())
    for (Value value : crossing.values)
      checkTile(value);
  return problem ? problem : findSharedMemory(kernel, plan);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

LaneDivider::LaneDivider(const LaneSplit &lanes, OpBuilder &start, Location loc) : Lanes(lanes) {
  if (Lanes.divides())
    Lane = tile::LaneOp::create(start, loc);
}

static OpFoldResult constant(OpBuilder &builder, int64_t value) {
  return builder.getIndexAttr(value);
}

template <typename ArithOp>
static OpFoldResult compute(OpBuilder &builder, Location loc, OpFoldResult lhs, OpFoldResult rhs) {
  Value left = getValueOrCreateConstantIndexOp(builder, loc, lhs);
  Value right = getValueOrCreateConstantIndexOp(builder, loc, rhs);
  return getAsOpFoldResult(builder.createOrFold<ArithOp>(loc, left, right));
}

/// Where the part of this lane starts, if each has `part` elements.
OpFoldResult LaneDivider::startOf(OpBuilder &builder, Location loc, int64_t part) const {
  return compute<arith::MulIOp>(builder, loc, Lane, constant(builder, part));
}

OpFoldResult LaneDivider::startOf(OpBuilder &builder, Location loc, tile::TileType tile) const {
  return startOf(builder, loc, Lanes.shareOf(tile).getExtent(Lanes.axis()));
}

/// Sets the valid extents of a share, of which `left` elements are left along the axis.
template <typename Op>
void LaneDivider::divideValid(OpBuilder &builder, Op op, tile::TileType tile,
                              OpFoldResult left) const {
  SmallVector<OpFoldResult> valid{constant(builder, tile.getRows()),
                                  constant(builder, tile.getCols())};
  if (std::optional<ArrayRef<int64_t>> given = op.getStaticValid())
    valid = getMixedValues(*given, op.getValid(), op.getContext());
  valid[Lanes.axis()] = compute<arith::MaxSIOp>(builder, op.getLoc(), left, constant(builder, 0));
  SmallVector<Value> values;
  SmallVector<int64_t> constants;
  dispatchIndexOpFoldResults(valid, values, constants);
  op.getValidMutable().assign(values);
  op.setStaticValid(constants);
}

/// `left`, or none where a share that starts at this index ends before its tensor begins.
static OpFoldResult unlessBefore(OpBuilder &builder, Location loc, OpFoldResult index,
                                 int64_t extent, OpFoldResult left) {
  OpFoldResult end = compute<arith::AddIOp>(builder, loc, index, constant(builder, extent));
  Value none = arith::ConstantIndexOp::create(builder, loc, 0);
  Value reaches = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::sgt, getValueOrCreateConstantIndexOp(builder, loc, end), none);
  return getAsOpFoldResult(builder.createOrFold<arith::SelectOp>(
      loc, reaches, getValueOrCreateConstantIndexOp(builder, loc, left), none));
}

static tile::TileType tileOf(tile::LoadOp load) { return load.getType(); }
static tile::TileType tileOf(tile::StoreOp store) { return store.getTile().getType(); }

/// Makes `op`, a copy of a load or store, one of the lane's share. Where the tile may hang over its
/// tensor a share may lie wholly outside; then none of it is valid.
template <typename Op> void LaneDivider::divideAccess(OpBuilder &builder, Op whole, Op op) const {
  Location loc = op.getLoc();
  tile::TileType tile = tileOf(whole);
  auto tensor = cast<ir::TensorType>(op.getTensor().getType());
  int64_t axis = tensorAxis(tensor, Lanes.axis()), extent = tile.getExtent(Lanes.axis());
  SmallVector<OpFoldResult> indices =
      getMixedValues(op.getStaticIndices(), op.getIndices(), op.getContext());
  std::optional<int64_t> first = getConstantIntValue(indices[axis]);
  bool isInside = first && *first >= 0 && !tensor.isDynamicDim(axis) &&
                  *first + extent <= tensor.getShape()[axis];
  if constexpr (std::is_same_v<Op, tile::LoadOp>)
    isInside |= op.getOutside(); // and so may the share
  OpFoldResult start = startOf(builder, loc, tile);
  OpFoldResult index = compute<arith::AddIOp>(builder, loc, indices[axis], start);
  std::optional<OpFoldResult> left;
  if (op.getStaticValid())
    left = compute<arith::SubIOp>(
        builder, loc,
        getMixedValues(*op.getStaticValid(), op.getValid(), op.getContext())[Lanes.axis()], start);
  if (!isInside) {
    Value end = builder.createOrFold<ir::DimOp>(loc, op.getTensor(), axis);
    OpFoldResult inTensor = compute<arith::SubIOp>(builder, loc, OpFoldResult(end), index);
    left = left ? compute<arith::MinSIOp>(builder, loc, *left, inTensor) : inTensor;
    // The copy may be in a loop that is not complete yet.
    if (mayBeNegative(
            getMixedValues(whole.getStaticIndices(), whole.getIndices(), op.getContext())[axis]))
      left = unlessBefore(builder, loc, index, Lanes.shareOf(tile).getExtent(Lanes.axis()), *left);
  }
  if (left)
    divideValid(builder, op, tile, *left);
  indices[axis] = index;
  SmallVector<Value> values;
  SmallVector<int64_t> constants;
  dispatchIndexOpFoldResults(indices, values, constants);
  op.getIndicesMutable().assign(values);
  op.setStaticIndices(constants);
}

Value LaneDivider::extractShare(OpBuilder &builder, Value whole, unsigned axis) const {
  auto type = cast<tile::TileType>(whole.getType());
  tile::Split split = axis == 0 ? tile::Split::UpDown : tile::Split::LeftRight;
  tile::TileType share = tile::laneShare(type, split, Lanes.lanes);
  SmallVector<OpFoldResult> indices(2, constant(builder, 0));
  indices[axis] = startOf(builder, whole.getLoc(), share.getExtent(axis));
  SmallVector<Value> values;
  SmallVector<int64_t> constants;
  dispatchIndexOpFoldResults(indices, values, constants);
  return tile::ExtractOp::create(builder, whole.getLoc(), share, whole, values, constants);
}

/// Takes the shares of operands that this lane has whole, where it works on shares.
void LaneDivider::divideOperands(OpBuilder &builder, Operation *op, Operation *clone) const {
  bool worksOnShares = isDivided(op, Lanes) || llvm::any_of(op->getResults(), [&](Value result) {
                         return isa<tile::TileType>(result.getType()) && !Lanes.isWhole(result);
                       });
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> axis = dividedAxis(operand, Lanes);
    if (worksOnShares && axis && Lanes.needed.contains(operand.get()) &&
        cast<tile::TileType>(operand.get().getType()).getExtent(*axis) > 1) {
      unsigned number = operand.getOperandNumber();
      clone->setOperand(number, extractShare(builder, clone->getOperand(number), *axis));
    }
  }
}

SmallVector<Value> LaneDivider::divide(OpBuilder &builder, Operation *op, Operation *clone) {
  SmallVector<Value> results(clone->getResults());
  if (!Lanes.divides())
    return results;
  if (auto facts = dyn_cast<tile::TileOpInterface>(op); facts && facts.isMadeWhole()) {
    if (!Lanes.isWhole(op->getResult(0)))
      results[0] = extractShare(builder, results[0]);
    return results;
  }
  for (auto [was, result] : llvm::zip(op->getResults(), results))
    if (auto tile = dyn_cast<tile::TileType>(was.getType()); tile && !Lanes.isWhole(was))
      result.setType(Lanes.shareOf(tile));
  OpBuilder before(clone);
  divideOperands(before, op, clone);
  if (auto combining = dyn_cast<tile::CombiningInterface>(clone))
    tile::resizeBody(combining);
  Location loc = op->getLoc();
  auto isWhole = [&](Value tile) { return Lanes.isWhole(tile); };
  if (auto load = dyn_cast<tile::LoadOp>(op); load && !isWhole(load.getResult())) {
    divideAccess(before, load, cast<tile::LoadOp>(clone));
  } else if (auto store = dyn_cast<tile::StoreOp>(op);
             store && Lanes.spans(store.getTile().getType())) {
    divideAccess(before, store, cast<tile::StoreOp>(clone));
  } else if (auto mask = dyn_cast<tile::MaskOp>(op); mask && !isWhole(mask.getResult())) {
    auto share = cast<tile::MaskOp>(clone);
    OpFoldResult valid =
        getMixedValues(share.getStaticValid(), share.getValid(), op->getContext())[Lanes.axis()];
    // Where no line of the whole is cut off, none of a share is.
    int64_t lines = Lanes.shareOf(mask.getType()).getExtent(Lanes.axis());
    bool cuts = getConstantIntValue(valid).value_or(0) < mask.getType().getExtent(Lanes.axis());
    OpFoldResult start = startOf(before, loc, mask.getType());
    divideValid(before, share, mask.getType(),
                cuts ? compute<arith::SubIOp>(before, loc, valid, start) : constant(before, lines));
  } else if (auto mask = dyn_cast<tile::MaskDiagOp>(op); mask && !isWhole(mask.getResult())) {
    auto share = cast<tile::MaskDiagOp>(clone);
    OpFoldResult start = startOf(before, loc, mask.getType()), offset = share.getOffset();
    offset = Lanes.axis() == 0 ? compute<arith::AddIOp>(before, loc, offset, start)
                               : compute<arith::SubIOp>(before, loc, offset, start);
    share.getOffsetMutable().assign(getValueOrCreateConstantIndexOp(before, loc, offset));
  } else if (auto iota = dyn_cast<tile::IotaOp>(op);
             iota && iota.getAxis() == Lanes.axis() && !isWhole(iota.getResult())) {
    clone->getResult(0).setType(iota.getType());
    results[0] = extractShare(builder, clone->getResult(0));
  }
  return results;
}

bool LaneDivider::isForOneLane(Operation *op) const {
  return Lanes.divides() && kiln::isForOneLane(op, Lanes);
}

Value LaneDivider::isFirstLane(OpBuilder &builder, Location loc) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, Lane, zero);
}

} // namespace kiln
