//===- Pipe.h - a bounded FIFO of tiles between the instances of a group ---------------===//
//
// Messages are numbered as they are pushed; each end counts what it pushed, popped and freed, and
// the slot a message sits in is its number modulo the slots. All waiting rules of the language
// follow from comparing those counts:
//
//   | from -> to     | a push of lane p waits until ...      | a pop of lane c waits until ...  |
//   |----------------|---------------------------------------|----------------------------------|
//   | one -> one     | the consumer freed that slot          | the producer pushed it           |
//   | one -> lanes   | all lanes freed that slot             | the producer pushed it           |
//   | lanes -> one   | the consumer freed its part of it     | all lanes pushed their parts     |
//   | lanes -> lanes | lane p freed its part of it           | lane c pushed its part           |
//
// A pipe belongs to one run of a group; one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_PIPE_H
#define KILN_LIB_SIMULATOR_PIPE_H

#include "Interpreter.h"
#include "Order.h"

#include "kiln/Dialect/Tile/GlobalRing.h"

#include <deque>

namespace kiln::simulator {

/// One pipe's ring of one block, in global memory.
struct RingInMemory {
  Tensor rings; ///< Of all blocks and pipes of the launch.
  int64_t row;
  tile::GlobalRing where;
};

class Pipe {
public:
  /// `producers` and `consumers` are the lanes of the two roles; 1 for a role without lanes.
  Pipe(std::string name, tile::PipeType type, int64_t slots, int64_t producers, int64_t consumers);

  /// From now on tiles go through this memory.
  void keepIn(RingInMemory ring) { Ring = std::move(ring); }

  const std::string &name() const { return Name; }
  tile::PipeType type() const { return Type; }
  int64_t slots() const { return Slots; }

  /// The lanes of the consumer (producer) that a push (pop) by `lane` waits for; empty when it need
  /// not wait.
  llvm::SmallVector<int64_t> pushWaitsFor(int64_t lane) const;
  llvm::SmallVector<int64_t> popWaitsFor(int64_t lane) const;

  // Each orders its agent, if there is one, after whoever it had to wait for.
  /// `tiles` are the producer lane's share of one message. It must not have to wait.
  Status push(int64_t lane, std::vector<TilePtr> tiles, mlir::Operation *op, Agent *agent,
              GlobalMemory &memory);
  /// The consumer lane's share of its next message. It must not have to wait.
  Expected<std::vector<TilePtr>> pop(int64_t lane, mlir::Operation *op, Agent *agent,
                                     GlobalMemory &memory);
  /// Releases the oldest slot the lane popped; an error if it popped none.
  Status free(int64_t lane, mlir::Operation *op, Agent *agent);
  /// How many messages the lane has popped, and who freed one; null as long as nobody has.
  uint64_t popped(int64_t lane) const { return Consumers[lane].popped; }
  mlir::Operation *freeOf(int64_t lane, uint64_t message) const;

  /// How its slots stand as a push (pop) by `lane` sees it.
  std::string describeForPush(int64_t lane) const;
  std::string describeForPop(int64_t lane) const;

  /// Slots that hold a message which was pushed, whole or in part, and not freed by all.
  uint64_t used() const;

  /// What nobody popped, for when the group has ended: how many messages, and the pushes they came
  /// from, each once.
  struct Leftover {
    uint64_t messages = 0;
    llvm::SmallVector<mlir::Operation *> pushes;
  };
  Leftover leftover() const;

private:
  /// One producer lane's share of a message.
  struct Part {
    std::vector<TilePtr> tiles;
    mlir::Operation *op;
    Clock pushed; ///< What happened before it was pushed.
  };
  struct Producer {
    uint64_t pushed = 0;
    std::deque<Part> parts; ///< Those not freed yet; the last one is number pushed - 1.
    const Part &part(uint64_t number) const { return parts[number - (pushed - parts.size())]; }
  };
  struct Consumer {
    uint64_t popped = 0, freed = 0;
    /// By slot: who freed it last, and what happened before. Kept only for agents.
    struct Free {
      mlir::Operation *op = nullptr;
      Clock before;
    };
    std::vector<Free> frees;
  };
  std::string describe(uint64_t pushed, const Consumer &consumer) const;
  /// A role that talks to itself hands nothing to others: nobody tells its units of each other.
  bool ordersAgents() const { return Type.getFrom() != Type.getTo(); }
  using Lanes = llvm::iota_range<int64_t>;

  /// The lanes that see what `lane` pushes, and those whose parts make up what `lane` pops.
  Lanes consumersOf(int64_t lane) const;
  Lanes producersOf(int64_t lane) const;

  /// Tile `which` of a message in the ring, and where in it the share of `lane` of `lanes` begins.
  struct Place {
    Tensor tile;
    std::vector<int64_t> indices;
  };
  Expected<Place> placeInRing(uint64_t message, size_t which, int64_t lane, int64_t lanes) const;

  std::string Name;
  tile::PipeType Type;
  int64_t Slots;
  std::optional<RingInMemory> Ring; ///< None: a queue of values.
  std::vector<Producer> Producers;
  std::vector<Consumer> Consumers;
};

/// Whether a push, pop or free that `in` stands in front of can run now.
bool canExecutePipeOp(Interpreter &in, mlir::Operation *op);

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_PIPE_H
