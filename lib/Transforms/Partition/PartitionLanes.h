//===- PartitionLanes.h - dividing the work of a role between its lanes -----------------===//
//
// Every tile of a role with lanes is divided along the axis of the split, except those of extent 1
// along it and those that some operation needs all of: each lane has these whole. So what a lane
// has of a tile is known for each tile, and each operation can be divided on its own.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_PARTITION_PARTITIONLANES_H
#define KILN_LIB_TRANSFORMS_PARTITION_PARTITIONLANES_H

#include "PartitionPlan.h"

namespace kiln {

/// What keeps lanes from sharing the work of a kernel.
struct LaneProblem {
  mlir::Operation *op;
  std::string what;
  mlir::Location noteLoc;
  std::string note = {};
};

/// The tiles that operations of the role with lanes need all of, and what they are made from.
llvm::DenseSet<mlir::Value> findNeededTiles(ir::FuncOp kernel, const PartitionPlan &plan);

/// What is in the way, if anything: an operation of the role with lanes that cannot be divided, or
/// memory that one lane writes and another accesses.
std::optional<LaneProblem> findLaneProblem(ir::FuncOp kernel, const PartitionPlan &plan);

/// Makes the operations of one role function work on the shares of a lane.
class LaneDivider {
public:
  /// `start` is where the function's operations will stand; what all of them need is made there.
  LaneDivider(const LaneSplit &lanes, mlir::OpBuilder &start, mlir::Location loc);

  /// Makes `clone`, a copy of `op`, work on a share. The builder stands behind the clone. What
  /// stands for the results of `op` is returned.
  mlir::SmallVector<mlir::Value> divide(mlir::OpBuilder &builder, mlir::Operation *op,
                                        mlir::Operation *clone);
  /// Whether only one lane may execute `op`: a side effect that is not divided.
  bool isForOneLane(mlir::Operation *op) const;
  /// Whether this is the lane that does.
  mlir::Value isFirstLane(mlir::OpBuilder &builder, mlir::Location loc) const;

  /// The share of a tile that this lane has whole.
  mlir::Value extractShare(mlir::OpBuilder &builder, mlir::Value whole) const {
    return extractShare(builder, whole, Lanes.axis());
  }

private:
  mlir::OpFoldResult startOf(mlir::OpBuilder &builder, mlir::Location loc, int64_t part) const;
  mlir::OpFoldResult startOf(mlir::OpBuilder &builder, mlir::Location loc,
                             tile::TileType tile) const;
  template <typename Op>
  void divideValid(mlir::OpBuilder &builder, Op op, tile::TileType tile,
                   mlir::OpFoldResult left) const;
  template <typename Op> void divideAccess(mlir::OpBuilder &builder, Op whole, Op op) const;
  mlir::Value extractShare(mlir::OpBuilder &builder, mlir::Value whole, unsigned axis) const;
  void divideOperands(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Operation *clone) const;

  const LaneSplit &Lanes;
  mlir::Value Lane;
};

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PARTITION_PARTITIONLANES_H
