//===- PartitionLanes.h - dividing the work of a role between its lanes -----------------===//
//
// Every tile of a role with lanes is divided along the axis of the split, except those of extent 1
// along it, which each lane has whole. So the type of a tile says what a lane has of it, and each
// operation can be divided on its own.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_PARTITIONLANES_H
#define KILN_LIB_TRANSFORMS_PARTITIONLANES_H

#include "PartitionPlan.h"

namespace kiln {

/// That lanes can share the work of `role`: each of its operations can be divided, and no lane
/// accesses memory that another writes. Reports what is in the way.
mlir::LogicalResult verifyLanes(ir::FuncOp kernel, const PartitionPlan &plan, const Role *role);

/// Makes the operations of one role function work on the shares of a lane.
class LaneDivider {
public:
  /// `start` is where the function's operations will stand; what all of them need is made there.
  LaneDivider(const LaneSplit &lanes, mlir::OpBuilder &start, mlir::Location loc);

  /// Makes `clone`, a copy of `op` whose operands are shares already, work on a share. The builder
  /// stands behind the clone. What stands for the results of `op` is returned.
  mlir::SmallVector<mlir::Value> divide(mlir::OpBuilder &builder, mlir::Operation *op,
                                        mlir::Operation *clone);
  /// Whether only one lane may execute `op`: a side effect that is not divided.
  bool isForOneLane(mlir::Operation *op) const;
  /// Whether this is the lane that does.
  mlir::Value isFirstLane(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  mlir::OpFoldResult startOf(mlir::OpBuilder &builder, mlir::Location loc, int64_t part) const;
  mlir::OpFoldResult startOf(mlir::OpBuilder &builder, mlir::Location loc,
                             tile::TileType tile) const;
  template <typename Op>
  void divideValid(mlir::OpBuilder &builder, Op op, tile::TileType tile,
                   mlir::OpFoldResult left) const;
  template <typename Op>
  void divideAccess(mlir::OpBuilder &builder, Op op, tile::TileType tile) const;
  mlir::Value extractShare(mlir::OpBuilder &builder, mlir::Value whole) const;

  LaneSplit Lanes;
  mlir::Value Lane;
};

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PARTITIONLANES_H
