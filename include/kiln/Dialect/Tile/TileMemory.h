//===- TileMemory.h - tiles at addresses of a core's memories -----------------------===//
//
// Once memory is planned, each operation that makes tiles says where: `kiln.address`, one byte
// address for each tile among its results, in the memory of the tile's type; -1 for a tile that
// lies in the slot of a pipe or in a memory nobody plans. What a loop carries and what a branch
// yields is copied to the address of the loop's or branch's result, unless it is there already.
//
// TileMemory remembers which tile lies where and notices when a tile is used after another took its
// place. The verifier of the plan and the simulator both execute functions with it, and neither
// knows how the planner came to its addresses.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_TILEMEMORY_H
#define KILN_DIALECT_TILE_TILEMEMORY_H

#include "kiln/Dialect/Tile/TileDialect.h"

#include <map>

namespace kiln {
struct Machine;
} // namespace kiln

namespace kiln::tile {

inline constexpr llvm::StringLiteral kAddressAttr = "kiln.address";
/// On a load or store of what no block touches again; the unit attribute `kiln.streams`.
inline constexpr llvm::StringLiteral kStreamsAttr = "kiln.streams";
/// On a product whose columns are the rows of the matrix instructions; the unit attribute
/// `kiln.exchanged`.
inline constexpr llvm::StringLiteral kExchangedAttr = "kiln.exchanged";
/// How many bytes behind a right operand's the matrix unit reads for an exchanged product: it
/// always reads 64 rows.
int64_t bytesReadBehind(mlir::Operation *op);
/// Whether the matrix unit finds rows of a tile in place: in panels of 128 bytes, each of which
/// begins where the pattern of swizzling does. What is left of the tile's last KB may be between
/// them.
bool hasPanelsInPlace(TileType type);
/// The address, in `vec`, of the bytes that an operation needs for itself while it works; the
/// attribute `kiln.scratch`, on machines whose instructions need any.
inline constexpr llvm::StringLiteral kScratchAttr = "kiln.scratch";

/// Where the ring of a pipe lies in its consumer's memory, the bytes of a slot and the slots; the
/// attribute `kiln.local_ring`, of the pipe and of what the consumer does with it, on machines
/// whose instructions are written.
inline constexpr llvm::StringLiteral kLocalRingAttr = "kiln.local_ring";

/// The bytes of a tile in the memory of its type: all its blocks, where the machine has blocks.
int64_t bytesOn(const Machine &machine, TileType type);

/// That there is one address for each tile among the results.
mlir::LogicalResult verifyAddresses(mlir::Operation *op, mlir::Attribute addresses);

/// That it is of a pipe or its user, and three numbers that a memory could have.
mlir::LogicalResult verifyLocalRing(mlir::Operation *op, mlir::Attribute ring);

class TileMemory {
public:
  explicit TileMemory(const Machine &machine) : Target(&machine) {}

  struct Fault {
    std::string message;
    mlir::Operation *other = nullptr; ///< What made the tile that is in the way.
  };
  /// What is wrong with the tiles `op` uses, if anything is.
  std::optional<Fault> use(mlir::Operation *op) const;
  /// Puts down what `op` makes, or what it yields to the loop or branch around it.
  std::optional<Fault> make(mlir::Operation *op);
  /// Puts down everything that `loop` makes inside, and then what it carries: what any iteration
  /// but the first finds, so that following one iteration is enough.
  void enter(mlir::Operation *loop);
  /// Keeps only what lies in both: after a branch.
  void meet(const TileMemory &other);

private:
  struct Area {
    int64_t end;
    mlir::Value tile;
    mlir::Operation *maker;
  };
  /// By space and first address; disjoint.
  using Areas = std::map<std::pair<Space, int64_t>, Area>;

  std::optional<Fault> put(mlir::Value tile, int64_t address, mlir::Operation *maker);

  const Machine *Target;
  Areas Content;
};

/// Replays a planned function, each operation once: whether every tile is still there when it is
/// used, and every address lies inside its memory and is aligned.
mlir::LogicalResult verifyMemoryPlan(ir::FuncOp func, const Machine &machine);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TILEMEMORY_H
