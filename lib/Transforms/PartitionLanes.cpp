#include "PartitionLanes.h"

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

/// Whether a box of a tile covers it along an axis.
static bool covers(tile::TileType box, tile::TileType tile, ArrayRef<int64_t> indices,
                   unsigned axis) {
  return box.getExtent(axis) == tile.getExtent(axis) && indices[axis] == 0;
}

/// Why an operation cannot be divided; empty if it can.
static StringRef whyNotDivided(Operation *op, const LaneSplit &lanes) {
  unsigned axis = lanes.axis();
  auto isWhole = [&](Value tile) { return lanes.isWhole(cast<tile::TileType>(tile.getType())); };
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<tile::ReduceOp>([&](auto reduce) {
        return reduce.getAxis() != axis || isWhole(reduce.getOperand())
                   ? ""
                   : "reduces along the axis that is divided between the lanes";
      })
      .Case<tile::TransposeOp>([&](auto transpose) {
        return isWhole(transpose.getOperand()) && isWhole(transpose.getResult())
                   ? ""
                   : "turns the axis that is divided between the lanes into the other";
      })
      .Case<tile::ReshapeOp>([&](auto reshape) {
        // Elements stay in order, row by row: a lane's rows are one run of them before and after.
        bool isRun = axis == 0 && !isWhole(reshape.getOperand()) && !isWhole(reshape.getResult());
        bool isAll = isWhole(reshape.getOperand()) && isWhole(reshape.getResult());
        return isRun || isAll ? "" : "moves elements from one lane's part into another's";
      })
      .Case<tile::ExtractOp>([&](auto extract) {
        return isWhole(extract.getTile()) || covers(extract.getType(), extract.getTile().getType(),
                                                    extract.getStaticIndices(), axis)
                   ? ""
                   : "takes a box that does not cover the axis divided between the lanes";
      })
      .Case<tile::InsertOp>([&](auto insert) {
        return isWhole(insert.getInto()) || covers(insert.getTile().getType(), insert.getType(),
                                                   insert.getStaticIndices(), axis)
                   ? ""
                   : "replaces a box that does not cover the axis divided between the lanes";
      })
      .Case<tile::ConcatOp, tile::GatherOp>([&](auto along) {
        return along.getAxis() != axis ? "" : "works along the axis divided between the lanes";
      })
      .Case<tile::SortRowsOp, tile::TopkRowsOp>(
          [&](auto) { return axis == 0 ? "" : "orders along the axis divided between the lanes"; })
      .Case<tile::ScatterRowsOp>([&](auto scatter) {
        return isWhole(scatter.getTile()) ? "" : "writes rows that cannot be divided";
      })
      .Case<tile::ElementOp>([&](auto element) {
        return isWhole(element.getTile()) ? "" : "takes an element that only one lane has";
      })
      .Default([](Operation *) { return StringRef(); });
}

static InFlightDiagnostic reportNotDivided(Operation *op, const LaneSplit &lanes) {
  InFlightDiagnostic diag = op->emitOpError();
  diag << "cannot be divided with split(" << tile::stringifySplit(lanes.split) << "): ";
  diag.attachNote(op->getLoc()) << "try split("
                                << tile::stringifySplit(lanes.axis() == 0 ? tile::Split::LeftRight
                                                                          : tile::Split::UpDown)
                                << "), or split(none), which uses one lane";
  return diag;
}

/// Whether two accesses of one tensor touch the same part of it in each lane.
static bool areDividedAlike(const TensorAccess &a, const TensorAccess &b, const LaneSplit &lanes) {
  struct Place {
    OpFoldResult start;
    tile::TileType tile;
  };
  auto placeOf = [&](const TensorAccess &access) -> Place {
    auto place = [&](auto op, Type type) -> Place {
      int64_t axis = tensorAxis(cast<ir::TensorType>(access.tensor.getType()), lanes.axis());
      return {getMixedValues(op.getStaticIndices(), op.getIndices(), op.getContext())[axis],
              cast<tile::TileType>(type)};
    };
    if (auto load = dyn_cast<tile::LoadOp>(access.op))
      return place(load, load.getType());
    if (auto store = dyn_cast<tile::StoreOp>(access.op))
      return place(store, store.getTile().getType());
    return {};
  };
  Place first = placeOf(a), second = placeOf(b);
  return a.tensor == b.tensor && first.tile && second.tile && !lanes.isWhole(first.tile) &&
         first.tile.getExtent(lanes.axis()) == second.tile.getExtent(lanes.axis()) &&
         isEqualConstantIntOrValue(first.start, second.start);
}

static LogicalResult verifyMemory(ir::FuncOp kernel, const PartitionPlan &plan, const Role *role) {
  SmallVector<TensorAccess> accesses;
  kernel.walk([&](Operation *op) {
    if (plan.runs(op, role))
      llvm::append_range(accesses, tensorAccesses(op));
  });
  for (const TensorAccess &write : accesses)
    for (const TensorAccess &other : accesses) {
      if (!write.writes || write.op == other.op ||
          ir::rootOf(write.tensor) != ir::rootOf(other.tensor) ||
          areDividedAlike(write, other, plan.lanes()))
        continue;
      InFlightDiagnostic diag =
          other.op->emitOpError("may touch what another lane writes, and lanes cannot wait for "
                                "each other; use split(none), or two kernels");
      diag.attachNote(write.op->getLoc()) << "it is written here";
      return diag;
    }
  return success();
}

LogicalResult verifyLanes(ir::FuncOp kernel, const PartitionPlan &plan, const Role *role) {
  const LaneSplit &lanes = plan.lanes();
  if (!lanes.divides())
    return success();
  auto verifyTile = [&](Value value) -> LogicalResult {
    auto tile = dyn_cast<tile::TileType>(value.getType());
    if (!tile || lanes.isWhole(tile) || tile.getExtent(lanes.axis()) % lanes.lanes == 0)
      return success();
    Operation *op =
        value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
    return reportNotDivided(op, lanes)
           << tile << " does not divide evenly over " << lanes.lanes << " lanes";
  };
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    if (!plan.runs(op, role))
      return WalkResult::advance();
    if (StringRef why = whyNotDivided(op, lanes); !why.empty())
      return reportNotDivided(op, lanes) << "it " << why;
    for (Value result : op->getResults())
      if (failed(verifyTile(result)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (const Crossing &crossing : plan.crossings())
    if (failed(verifyTile(crossing.value)))
      return failure();
  return verifyMemory(kernel, plan, role);
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

/// Makes a load or store of `tile` one of the lane's share. Where the tile may hang over its tensor
/// a share may lie wholly outside; then none of it is valid.
template <typename Op>
void LaneDivider::divideAccess(OpBuilder &builder, Op op, tile::TileType tile) const {
  Location loc = op.getLoc();
  auto tensor = cast<ir::TensorType>(op.getTensor().getType());
  int64_t axis = tensorAxis(tensor, Lanes.axis()), extent = tile.getExtent(Lanes.axis());
  SmallVector<OpFoldResult> indices =
      getMixedValues(op.getStaticIndices(), op.getIndices(), op.getContext());
  std::optional<int64_t> first = getConstantIntValue(indices[axis]);
  bool isInside = first && *first >= 0 && !tensor.isDynamicDim(axis) &&
                  *first + extent <= tensor.getShape()[axis];
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

Value LaneDivider::extractShare(OpBuilder &builder, Value whole) const {
  auto type = cast<tile::TileType>(whole.getType());
  SmallVector<OpFoldResult> indices(2, constant(builder, 0));
  indices[Lanes.axis()] = startOf(builder, whole.getLoc(), type);
  SmallVector<Value> values;
  SmallVector<int64_t> constants;
  dispatchIndexOpFoldResults(indices, values, constants);
  return tile::ExtractOp::create(builder, whole.getLoc(), Lanes.shareOf(type), whole, values,
                                 constants);
}

SmallVector<Value> LaneDivider::divide(OpBuilder &builder, Operation *op, Operation *clone) {
  SmallVector<Value> results(clone->getResults());
  if (!Lanes.divides())
    return results;
  // What comes in an order of its own is made whole; each lane takes its part of it.
  if (isa<tile::RandomOp, tile::GatherRowsOp>(op)) {
    if (!Lanes.isWhole(cast<tile::TileType>(op->getResult(0).getType())))
      results[0] = extractShare(builder, results[0]);
    return results;
  }
  for (Value result : results)
    if (auto tile = dyn_cast<tile::TileType>(result.getType()))
      result.setType(Lanes.shareOf(tile));
  OpBuilder before(clone);
  Location loc = op->getLoc();
  auto isWhole = [&](Value tile) { return Lanes.isWhole(cast<tile::TileType>(tile.getType())); };
  if (auto load = dyn_cast<tile::LoadOp>(op); load && !isWhole(load.getResult())) {
    divideAccess(before, cast<tile::LoadOp>(clone), load.getType());
  } else if (auto store = dyn_cast<tile::StoreOp>(op); store && !isWhole(store.getTile())) {
    divideAccess(before, cast<tile::StoreOp>(clone), store.getTile().getType());
  } else if (auto mask = dyn_cast<tile::MaskOp>(op); mask && !isWhole(mask.getResult())) {
    auto share = cast<tile::MaskOp>(clone);
    OpFoldResult valid =
        getMixedValues(share.getStaticValid(), share.getValid(), op->getContext())[Lanes.axis()];
    divideValid(before, share, mask.getType(),
                compute<arith::SubIOp>(before, loc, valid, startOf(before, loc, mask.getType())));
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
  } else if (auto extract = dyn_cast<tile::ExtractOp>(op); extract && isWhole(extract.getTile())) {
    clone->getResult(0).setType(extract.getType());
  }
  return results;
}

bool LaneDivider::isForOneLane(Operation *op) const {
  if (!Lanes.divides())
    return false;
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return Lanes.isWhole(store.getTile().getType());
  return isa<ir::WriteOp, tile::ScatterRowsOp, ir::DumpOp>(op);
}

Value LaneDivider::isFirstLane(OpBuilder &builder, Location loc) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, Lane, zero);
}

} // namespace kiln
