//===- Node.h - a submitted task in memory -------------------------------===//
//
// What: the block of memory one task occupies from submit to retirement: a one-line header that
//   workers share, the kernel's arguments right behind it, and a cold part for what is needed only
//   when something is dumped, blamed or released.
//
// Ownership: blocks live in the TaskWindow. The submitter builds and retires them; in between the
//   block belongs to whichever worker runs the task. `Node::successors` ends that: exchanging
//   `sealed` into it is the last time a worker touches the node, so the submitter may reuse the
//   memory of every sealed node.
//
// Threads: fields say who writes them. Everything not atomic is written before the node is
//   published (or, `state` and `ticket`, before it is sealed) and read after. Internal to the
//   engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_NODE_H
#define KILN_RUNTIME_ENGINE_NODE_H

#include "kiln/abi.h"
#include "kiln/runtime/signature.h"
#include "kiln/runtime/task.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

namespace kiln {

class GroupRunner;
struct Node;

/// "`consumer` waits for the task in whose list this is." Lives in the consumer's block: a consumer
/// cannot retire before each of its producers has let go of it.
struct Edge {
  Node *consumer;
  Edge *next;
};

/// What must hold for the task to run, reduced to one element. See Predicate.
struct NodePredicate {
  const void *element;
  ScalarBits constant;
  DType type;
  Compare compare;
};

/// A launch of several blocks. Whoever works on it first fixes how it is cut into pieces.
struct GridLaunch {
  std::array<int64_t, 3> extent;
  // Pieces are `chunk` blocks along `axis` and whole along the axes after it: rectangles.
  int axis;
  int64_t chunk, piecesPerLine, numPieces;
  bool isWhole;   // all blocks in one call, or together where they meet
  bool isStarted; // set by the first worker before it invites others
  std::atomic<int64_t> nextPiece;
  std::atomic<uint32_t> participants; // queue entries and workers that may still touch this
  std::atomic<bool> hasFailed;
  // Of blocks that meet. Who starts the task makes it, who finishes it takes it back.
  GroupRunner *together;
  std::atomic<bool> isInvited; // there is an entry in a queue for one more worker
};

/// A source location without ownership: the engine keeps the file name.
struct NodeLoc {
  const char *file = nullptr;
  int32_t line = 0, col = 0;

  SourceLoc toSourceLoc() const { return file ? SourceLoc{file, line, col} : SourceLoc(); }
};

/// The cold part.
struct NodeDetail {
  GridLaunch *grid;                 // null: one block
  NodePredicate *predicate;         // null: none
  std::shared_ptr<Buffer> *buffers; // of the tensors, then of the predicate
  Direction *directions;            // of the tensors
  bool *marks;                      // which tensors the program wants in the dump
  DType *scalarTypes;
  Edge *edges; // to its producers; in the block unless there are too many
  NodeLoc loc;
  uint64_t ticket; // its place in the order of finishing; only with a trace
  uint32_t numBuffers;
  bool hasHeapEdges;
};

/// Has a cache line brought to this core to be written, which takes it from all others.
inline void prefetchToWrite(const void *line) {
#if defined(__x86_64__)
  // What __builtin_prefetch makes for every x86-64 is a prefetch to read: writing would have to go
  // to the other core again. Where the CPU does not know this instruction it does nothing.
  asm volatile("prefetchw (%0)" : : "r"(line));
#else
  __builtin_prefetch(line, 1);
#endif
}

struct alignas(64) Node {
  std::atomic<Edge *> successors;
  std::atomic<uint32_t> unmet; // producers that have not finished
  std::atomic<bool> isDoomed;  // a producer failed or was cancelled
  TaskState state;             // by whoever finishes the task, before sealing it
  uint8_t numTensors, numScalars;
  uint64_t index;
  const KernelRecord *kernel; // null for a dummy
  uint64_t *scalars;
  NodeDetail *detail;
  uint64_t lastSuccessor; // the submitter's: the task that was last made to wait for this one
  bool isPlain;           // one block, no predicate: `detail` is not needed to run it
  bool isEpoch;       // no task, see ReaderEpochs.h: of the fields above only the first four matter
  uint16_t timesSlot; // what its time says something about, see KernelTimes.h; 0: it is not timed
  uint32_t nanoseconds; // if it is timed; written like `state`

  kiln_tensor *tensors() { return reinterpret_cast<kiln_tensor *>(this + 1); }
  const kiln_tensor *tensors() const { return reinterpret_cast<const kiln_tensor *>(this + 1); }

  /// The header, to write to it.
  void prefetchHeader() const { prefetchToWrite(this); }
  /// What running it reads first: the header, which finishing it writes, and the first tensor.
  void prefetch() const {
    prefetchHeader();
    __builtin_prefetch(this + 1);
    __builtin_prefetch(this + 2);
  }

  /// Where the first of its tensors begin.
  void prefetchData() const {
    for (unsigned i = 0; i < std::min<unsigned>(numTensors, 4); ++i)
      if (tensors()[i].flags & KILN_TENSOR_READ_ONLY)
        __builtin_prefetch(tensors()[i].data);
      else
        prefetchToWrite(tensors()[i].data);
  }

  static Edge *sealed() { return reinterpret_cast<Edge *>(1); }
  bool isSealed() const { return successors.load(std::memory_order_seq_cst) == sealed(); }
  bool isBad() const { return state == TaskState::Failed || state == TaskState::Cancelled; }

  /// Finishes an epoch whose readers all have; who waits for it.
  Edge *sealEpoch() {
    state = isDoomed.load(std::memory_order_relaxed) ? TaskState::Cancelled : TaskState::Done;
    return successors.exchange(sealed(), std::memory_order_acq_rel);
  }

  /// False when this task has finished: there is nothing to wait for.
  bool addSuccessor(Edge &edge) {
    Edge *head = successors.load(std::memory_order_acquire);
    do {
      if (head == sealed())
        return false;
      edge.next = head;
    } while (!successors.compare_exchange_weak(head, &edge, std::memory_order_acq_rel,
                                               std::memory_order_acquire));
    return true;
  }
};
static_assert(sizeof(Node) == 64, "what workers share of a task is one cache line");

/// Where the parts of a block are, for given counts.
struct NodeLayout {
  /// More edges than this go to the heap, so that a block's size is bounded before its
  /// dependencies are known.
  static constexpr uint32_t maxInlineEdges = 8;

  uint32_t scalars, detail, grid, predicate, buffers, edges, directions, marks, scalarTypes, size;

  /// No block for so many arguments is larger, whatever its edges, grid and predicate.
  static constexpr uint32_t bound(uint32_t numTensors, uint32_t numScalars) {
    return sizeof(Node) + sizeof(NodeDetail) + sizeof(GridLaunch) + sizeof(NodePredicate) +
           maxInlineEdges * sizeof(Edge) + sizeof(std::shared_ptr<Buffer>) + alignof(Node) +
           numTensors * (sizeof(kiln_tensor) + sizeof(std::shared_ptr<Buffer>) + 2) +
           numScalars * (sizeof(uint64_t) + 1);
  }

  NodeLayout(uint32_t numTensors, uint32_t numScalars, uint32_t numEdges, bool hasGrid,
             bool hasPredicate) {
    uint32_t at = sizeof(Node) + numTensors * sizeof(kiln_tensor);
    auto take = [&](uint32_t bytes) { return std::exchange(at, at + bytes); };
    scalars = take(numScalars * sizeof(uint64_t));
    edges = take(std::min(numEdges, maxInlineEdges) * sizeof(Edge));
    detail = take(sizeof(NodeDetail));
    grid = take(hasGrid ? sizeof(GridLaunch) : 0);
    predicate = take(hasPredicate ? sizeof(NodePredicate) : 0);
    buffers = take((numTensors + hasPredicate) * sizeof(std::shared_ptr<Buffer>));
    directions = take(numTensors);
    marks = take(numTensors);
    scalarTypes = take(numScalars);
    size = (at + alignof(Node) - 1) & ~static_cast<uint32_t>(alignof(Node) - 1);
  }
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_NODE_H
