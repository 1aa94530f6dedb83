//===- ShadowMemory.h - who wrote and who read each element ----------------------------===//
//
// Beside every allocation lies a flat array with one cell per element: the last plain write, and
// the reads and atomic updates since. A cell is two numbers; what they stand for is kept once per
// access of a tile, not per element. Elements with equal cells make the same transition, so a tile
// costs one comparison per element and one decision per run of elements with one history.
//
// Ownership: knows addresses, holds no memory alive: an allocation replaces whatever lay at its
// addresses before. Belongs to one simulation; one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_SHADOWMEMORY_H
#define KILN_LIB_CHECK_SHADOWMEMORY_H

#include "Order.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>

namespace kiln::sim {

enum class AccessKind : uint8_t { Read, Write, AtomicAdd };

/// The elements an access touches: rows and columns with their distances in bytes.
struct Footprint {
  const std::byte *origin = nullptr;
  int64_t rows = 0, cols = 0;
  int64_t rowStride = 0, colStride = 0;
  int64_t elementSize = 0;
  /// For reports: the axes of the tensor that are rows and columns, -1 if there is none, and where
  /// the first of them lies from the indices of the access.
  int rowAxis = -1, colAxis = -1;
  int64_t top = 0, left = 0;
};

class ShadowMemory {
public:
  explicit ShadowMemory(const Order &order);

  /// The bytes behind a tensor are new: nobody wrote them.
  void addAllocation(const Tensor &tensor);
  /// The caller's memory, which several arguments may share; written unless it is for results only.
  void addArgument(const Tensor &tensor, bool isWritten);

  /// An access that was made: by which operation, by whom and when.
  struct Record {
    mlir::Operation *op;
    Moment moment;
    AccessKind kind;
  };
  /// What is wrong with an access, at one of its elements.
  struct Problem {
    std::optional<Record> other; ///< What it races with; none: it reads what nobody wrote.
    int64_t row, col;
  };
  /// Records an access and says what is wrong with it, each earlier access it races with once.
  llvm::SmallVector<Problem, 0> access(const Footprint &at, AccessKind kind, const Agent &agent,
                                       mlir::Operation *op);
  /// Whether anybody wrote the element at this address.
  bool isWritten(const std::byte *at);

private:
  using RecordId = uint32_t;
  static constexpr RecordId kNobody = 0, kBeforeTheRun = 1;

  /// A list of the accesses since the last plain write, latest first; 0 is the empty one. Lists
  /// share their tails.
  using ListId = uint32_t;
  struct ListNode {
    RecordId access;
    ListId below;
    ListId otherKind; ///< The first node below that is a read, if this is an update; or reversed.
  };

  struct Cell {
    RecordId write = kNobody;
    ListId since = 0;
    friend bool operator==(Cell, Cell) = default;
  };
  struct Allocation {
    const std::byte *end;
    int64_t granule; ///< Bytes per cell: the size of the smallest element that lies here.
    std::vector<Cell> cells;
  };
  using Allocations = std::map<const std::byte *, Allocation>;

  class Transition;
  RecordId recordOf(AccessKind kind, const Agent &agent, mlir::Operation *op);
  ListId prepend(RecordId access, ListId list, const Agent &agent);
  /// The first atomic update in a list; 0 if there is none.
  ListId firstUpdate(ListId list) const;
  Allocations::iterator allocationAt(const std::byte *address);
  /// One allocation of these bytes and of all that overlap them, whose cells it inherits.
  Allocations::iterator merge(const std::byte *begin, const std::byte *end, int64_t granule);

  const Order &Happens;
  Allocations Known; ///< By first address; disjoint.
  std::vector<Record> Records;
  std::vector<ListNode> Lists;
  /// The record of an agent's operation; good for as long as the agent has released nothing since.
  llvm::DenseMap<std::pair<uint32_t, mlir::Operation *>, RecordId> Latest;
};

} // namespace kiln::sim

#endif // KILN_LIB_CHECK_SHADOWMEMORY_H
