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

#include "Simulator/Access.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

namespace kiln::simulator {

class ShadowMemory {
public:
  explicit ShadowMemory(const Order &order);

  /// The bytes behind a tensor are new: nobody wrote them.
  void addAllocation(const Tensor &tensor);
  /// What the caller's memory holds when a run starts: nothing (it is for results only), its own
  /// values, or nobody said which.
  enum class Content : uint8_t { Nothing, Undeclared, Values };
  /// The caller's memory, which several arguments may share.
  void addArgument(const Tensor &tensor, Content content);

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
    bool isUndeclared = false; ///< It adds to what the caller may or may not have set.
  };
  /// Records an access and says what is wrong with it, each earlier access it races with once.
  llvm::SmallVector<Problem, 0> access(const Footprint &at, AccessKind kind, const Agent &agent,
                                       mlir::Operation *op);
  /// Whether anybody wrote the element at this address.
  bool isWritten(const std::byte *at);

  /// The elements of a tensor that nobody wrote.
  struct Unwritten {
    int64_t count = 0;
    std::vector<int64_t> first;      ///< In row-major order.
    std::vector<int64_t> begin, end; ///< The smallest box that has them all.
  };
  std::optional<Unwritten> findUnwritten(const Tensor &tensor);
  /// Calls `visit` with the indices and the address of every element that somebody wrote.
  void forEachWritten(const Tensor &tensor,
                      llvm::function_ref<void(llvm::ArrayRef<int64_t>, const std::byte *)> visit);
  /// The last access that wrote an element of a tensor, if one did.
  std::optional<Record> lastWriteTo(const Tensor &tensor);

private:
  using RecordId = uint32_t;
  static constexpr RecordId kNobody = 0, kUndeclared = 1, kBeforeTheRun = 2;

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
  /// Memory of zeros, which the system gives page by page when it is used: of what a program
  /// allocates, a case may use little.
  struct FreeMemory {
    void operator()(void *memory) const { std::free(memory); }
  };
  using Cells = std::unique_ptr<Cell[], FreeMemory>;
  static Cells untouchedCells(size_t count);

  struct Allocation {
    const std::byte *end;
    int64_t granule; ///< Bytes per cell: the size of the smallest element that lies here.
    size_t count;    ///< Of cells.
    Cells cells;
  };
  using Allocations = std::map<const std::byte *, Allocation>;

  class Transition;
  RecordId recordOf(AccessKind kind, const Agent &agent, mlir::Operation *op);
  ListId prepend(RecordId access, ListId list, const Agent &agent);
  /// The first atomic update in a list; 0 if there is none.
  ListId firstUpdate(ListId list) const;
  Allocations::iterator allocationAt(const std::byte *address);
  /// Calls `visit` with every element of a tensor that lies in known memory: its index, address and
  /// cell.
  template <typename Visit> void forEachCell(const Tensor &tensor, Visit visit);
  bool isWritten(const Cell &cell) const {
    return cell.write != kNobody || firstUpdate(cell.since) != 0;
  }
  /// One allocation of these bytes and of all that overlap them, whose cells it inherits.
  Allocations::iterator merge(const std::byte *begin, const std::byte *end, int64_t granule);

  const Order &Happens;
  Allocations Known; ///< By first address; disjoint.
  std::vector<Record> Records;
  std::vector<ListNode> Lists;
  /// The record of an agent's operation; good for as long as the agent has released nothing since.
  llvm::DenseMap<std::pair<uint32_t, mlir::Operation *>, RecordId> Latest;
};

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_SHADOWMEMORY_H
