//===- PartitionPlan.h - who does what in a kernel that is split over roles -----------===//
//
// The plan says for each operation of a kernel which roles execute it, and what roles have to tell
// each other: values that one makes and another uses, and the order of their accesses to memory. It
// reads the kernel and changes nothing; RoleBuilder makes the functions from it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_PARTITION_PARTITIONPLAN_H
#define KILN_LIB_TRANSFORMS_PARTITION_PARTITIONPLAN_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Machine/Machine.h"

namespace kiln {

/// How the tiles of the role that has lanes are divided between them.
struct LaneSplit {
  tile::Split split = tile::Split::None;
  int64_t lanes = 1;
  /// Tiles that every lane needs all of, such as the right operand of a product whose rows are
  /// divided.
  llvm::DenseSet<mlir::Value> needed = {};

  bool divides() const { return lanes > 1; }
  unsigned axis() const { return split == tile::Split::UpDown ? 0 : 1; }
  /// A tile of extent 1 along the axis is broadcast along it: there is nothing to divide.
  bool spans(tile::TileType tile) const { return tile.getExtent(axis()) > 1; }
  /// Whether every lane has all of a tile.
  bool isWhole(mlir::Value tile) const {
    return !divides() || !spans(llvm::cast<tile::TileType>(tile.getType())) ||
           needed.contains(tile);
  }
  /// What one lane has of a tile that is divided.
  tile::TileType shareOf(tile::TileType tile) const {
    return divides() && spans(tile) ? tile::laneShare(tile, split, lanes) : tile;
  }
};

/// Values that one role makes and another uses, sent together where the last of them is made. They
/// stand in one block, in this order.
struct Crossing {
  llvm::SmallVector<mlir::Value, 1> values;
  const Role *from, *to;
};

/// An order of memory accesses: `to` waits before one operation until `from` has done another. Both
/// stand in one block, so that both happen equally often.
struct Token {
  const Role *from, *to;
  mlir::Operation *after, *before;
};

class PartitionPlan {
public:
  PartitionPlan(ir::FuncOp kernel, const Machine &machine);
  /// Divides the tiles of the role that has lanes.
  void divide(tile::Split split, int64_t lanes);

  /// Why the kernel cannot be split, with the operation that is in the way; null if it can.
  mlir::Operation *obstacle() const { return Obstacle; }
  const std::string &reason() const { return Reason; }

  /// The role whose lanes can share its tiles.
  const Role *laneRole() const { return Vector; }
  /// The roles that have something to do, in the machine's order.
  mlir::ArrayRef<const Role *> roles() const { return Roles; }
  const LaneSplit &lanes() const { return Lanes; }
  mlir::ArrayRef<Crossing> crossings() const { return Crossings; }
  mlir::ArrayRef<Token> tokens() const { return Tokens; }

  bool runs(mlir::Operation *op, const Role *role) const { return Running.contains({op, role}); }
  /// Whether a role carries this result of a loop or branch.
  bool carries(mlir::OpResult result, const Role *role) const {
    return Carried.contains({result, role});
  }
  /// The lanes of one role, and how they share tiles.
  const LaneSplit &lanesOf(const Role *role) const { return role == Vector ? Lanes : Whole; }

private:
  bool findObstacle();
  /// The role that makes a value; null if every role that needs it makes its own.
  const Role *homeOf(mlir::Value value) const;
  const Role *homeOf(mlir::Value value, llvm::SmallPtrSetImpl<void *> &visited) const;
  const Role *homeOfEffect(mlir::Operation *op) const;

  void need(mlir::Value value, const Role *role);
  void make(mlir::Value value, const Role *role);
  void carry(mlir::OpResult result, const Role *role);
  void run(mlir::Operation *op, const Role *role);
  void runAround(mlir::Operation *op, const Role *role);

  void findCopies(const Machine &machine);
  void shareSlots();
  void orderMemory();
  void order(const tile::TensorAccess &first, const Role *firstRole,
             const tile::TensorAccess &second, const Role *secondRole);
  void addToken(const Token &token);

  ir::FuncOp Kernel;
  const Role *Matrix = nullptr, *Vector = nullptr, *Copy = nullptr;
  LaneSplit Lanes;
  const LaneSplit Whole; ///< Of the roles without lanes.
  /// Loads that the copying role makes.
  llvm::SmallPtrSet<mlir::Operation *, 4> Copies;
  mlir::Operation *Obstacle = nullptr;
  std::string Reason;
  llvm::SmallVector<const Role *, 2> Roles;
  llvm::DenseSet<std::pair<mlir::Value, const Role *>> Needed, Carried;
  llvm::DenseSet<std::pair<mlir::Operation *, const Role *>> Running;
  llvm::SmallVector<Crossing> Crossings;
  llvm::SmallVector<Token> Tokens;
};

/// The role of a machine that executes a class of work; null if none does.
const Role *roleFor(const Machine &machine, OpClass work);

/// What a value that a loop carries or a branch yields comes from; empty for any other. The value
/// that the body yields comes before the one the loop starts with.
llvm::SmallVector<mlir::Value, 2> sourcesOf(mlir::Value value);

/// Turns matmul_acc into matmul and add where the accumulator does not come from the matrix unit: a
/// tile of the vector role or of memory cannot be moved into it.
void splitForeignAccumulators(ir::FuncOp kernel);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PARTITION_PARTITIONPLAN_H
