//===- Emulator.h - a few multiprocessors of Hopper, on the host ------------------------------===//
//
// What: runs a kernel that was compiled with instructions.h. Every thread of a block is a fiber,
//   every block a thread of the host, and only one of all of them runs at a time; which, and when
//   copies land and products are made, is drawn from a seed. So a run is repeated exactly by its
//   seed, and another seed is another order.
//
//   It is strict: what hardware leaves undefined ends the launch with a message that names block,
//   thread and instruction (docs/hopper-backend.md has the list).
//
// Ownership and threads: `run` borrows what it is given and returns when the launch has ended. One
//   launch at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DEVICE_EMULATED_EMULATOR_H
#define KILN_DEVICE_EMULATED_EMULATOR_H

#include "SharedMemory.h"
#include "TensorMap.h"
#include "device/cpu/Fiber.h"
#include "instructions.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <semaphore>
#include <string>
#include <vector>

namespace kiln::emulated {

inline constexpr unsigned kWarp = 32, kWarpgroup = 128;

struct LaunchRequest {
  void (*kernel)(const void *args);
  const void *args;
  unsigned blocks, threads, sharedBytes;
  uint64_t seed;
  unsigned cluster = 1; ///< Blocks that can reach each other's shared memory.
  /// Runs the kernel before this one, if this one may begin early.
  std::function<void()> prerequisites = nullptr;
};

/// Empty, or what the kernel did wrong.
std::string run(const LaunchRequest &request);

/// The thread that runs, which is at this instruction.
struct Thread;
Thread &runningThread(const char *instruction);

/// "block 1, thread 37 (warp 1)" of the thread that runs, or nothing; for who reports a signal.
std::string whoRuns();

class Block;
class Launch;

/// Threads that have come to a place where they meet.
struct Meeting {
  const char *instruction = nullptr;
  unsigned expected = 0;
  std::vector<Thread *> here;
  unsigned arrived = 0; ///< Who have been here and need not wait.
  Clock told;           ///< What they knew.
};

/// A barrier in shared memory: a phase ends when as many threads have arrived, and as many bytes,
/// as it expects.
struct Mbarrier {
  int expected = 0, pending = 0; ///< Arrivals of a phase, and those that are missing.
  int64_t bytes = 0;             ///< That are missing.
  unsigned parity = 0;           ///< Of the phase that has not ended.
  bool isPublished = false;      ///< To the copy engine.
  Clock ended, next;             ///< What was known at the end of the last phase; of this so far.
  std::vector<Thread *> waiting;
};

/// Registers that the matrix unit is changing, and what they will hold.
struct Accumulator {
  float *high;
  std::vector<float> lowValues, highValues;
  uint64_t group; ///< Of the last product that changes them.
};

struct Thread {
  Thread(Block &block, unsigned index);

  Block &block;
  unsigned index; ///< In its block.
  unsigned id;    ///< Among all of its cluster.
  Clock clock;
  Fiber fiber;
  const char *instruction = "before its first instruction"; ///< That it is at.
  bool isDone = false, isWaiting = false;
  bool isTimed = false;          ///< It goes on when time has passed, too.
  unsigned barrier = 0;          ///< That it waits for.
  uint64_t given = 0, taken = 0; ///< By shuffles.
  unsigned source = 0;
  Product product;
  unsigned left[4];
  bool mayMultiply = false; ///< A fence came before.
  std::map<float *, Accumulator> inFlight;
  uint64_t groups = 0; ///< Of products, that were committed.
  uint64_t stores = 0; ///< Boxes that it stored.
};

/// What all threads of a warp asked the matrix unit for.
struct PendingProduct {
  struct Part {
    Product product;
    unsigned left[4];
  };
  std::vector<Part> parts;     ///< Of each thread.
  std::vector<unsigned> reads; ///< Pieces of 16 bytes.
  unsigned reader;             ///< The thread that is said to read them.
  uint64_t group;
};

struct Warp {
  Meeting meeting;
  unsigned live = kWarp;
  std::deque<PendingProduct> products;
  std::vector<Thread *> waiting; ///< For products.
  uint64_t multiplied = 0;
  bool isCommitted = true; ///< All of what it multiplied.
};

struct PendingCopy {
  unsigned to, barrier;
  TensorMapBits map;
  int at[5];
};

/// From shared memory to a tensor.
struct PendingStore {
  unsigned from;
  TensorMapBits map;
  int at[5];
  unsigned thread; ///< That asked for it.
  uint64_t group;  ///< Of its.
};

/// One thread block.
class Block {
public:
  Block(Launch &launch, unsigned index);

  /// On its own thread of the host, from when it gets the baton to its end.
  void run();
  bool hasWork() const {
    return !Ready.empty() || !Copies.empty() || !Stores.empty() || hasProducts();
  }

  bool hasTimed() const;
  /// Who waits for what.
  std::string stuck() const;
  void stop(const std::string &what); ///< `fail`, by nobody.

  // What the thread that runs does. None of them returns after a mistake.
  [[noreturn]] void fail(const std::string &what);
  void check(const std::string &wrong) {
    if (!wrong.empty())
      fail(wrong);
  }
  void meet(Thread &thread, Meeting &meeting, unsigned expected, bool synchronizes);
  /// The same without waiting.
  void arrive(Thread &thread, Meeting &meeting, unsigned expected);
  void suspend(Thread &thread);
  void wake(Thread &thread);
  void mayYield(Thread &thread);
  [[noreturn]] void end(Thread &thread);
  Mbarrier &mbarrierAt(unsigned address);
  void arrive(Thread &thread, unsigned address, unsigned bytes);
  bool await(Thread &thread, unsigned address, unsigned parity, bool mayGiveUp);
  /// To the memory of this block, by a thread of its cluster.
  void copy(Thread &thread, const PendingCopy &copy);
  void store(Thread &thread, PendingStore store);
  /// All that it stored but the last `pending`.
  void awaitStores(Thread &thread, unsigned pending);
  void multiply(Thread &thread);
  /// All groups but the last `pending`.
  void awaitProducts(Thread &thread, unsigned pending);
  /// What the launch comes behind.
  void awaitPrerequisites(Thread &thread);
  Warp &warpOf(const Thread &thread) { return Warps[thread.index / kWarp]; }
  Meeting &named(int number) { return Named[number]; }
  unsigned live() const { return Live; }
  /// The block with this number in the cluster, which has not ended.
  Block &neighbour(unsigned number);
  /// Until all threads of the cluster that are left have come.
  void meetCluster(Thread &thread);

  Launch &launch;
  const unsigned index;
  const unsigned first; ///< The number of its first thread among all of its cluster.
  SharedMemory memory;
  std::map<unsigned, Mbarrier> mbarriers;
  std::binary_semaphore baton{0};
  uint64_t seen = ~uint64_t(0); ///< Of the launch's changes, when it last had nothing to do.
  Thread *current = nullptr;

private:
  void step();
  void resume(Thread &thread);
  void rest();
  void finishClusterIfAll();
  bool wakeTimed();
  bool hasProducts() const;
  void finish(Meeting &meeting, bool synchronizes);
  void landOne();
  void storeOne();
  void makeOne();
  void endPhase(Mbarrier &barrier);
  void checkEnd();
  unsigned draw(uint64_t below) { return static_cast<unsigned>(Random() % below); }

  std::mt19937_64 Random;
  std::deque<Thread> Threads;
  std::vector<Warp> Warps;
  std::map<int, Meeting> Named;
  std::vector<Thread *> Ready;
  std::vector<PendingCopy> Copies;
  std::vector<PendingStore> Stores;
  std::vector<Thread *> Storing; ///< Who wait for them.
  unsigned Live = 0;
  uint32_t Landed = 0;
  Fiber Scheduler;
};

/// All blocks that are on the machine at once. One of them has the baton.
class Launch {
public:
  explicit Launch(const LaunchRequest &request) : request(request), Random(request.seed) {}
  std::string run();

  void passBaton(Block &from);
  void leave(Block &block);
  /// A block has nothing to do: another goes on, or time passes.
  void idle(Block &block);
  /// When all that can be done without them is done, or at the end.
  void runPrerequisites();
  bool hasPrerequisites() const { return HasPrerequisites && request.prerequisites; }
  void noteChange() {
    ++changes;
    ChangedAt = time;
  }

  void fail(const std::string &what) {
    if (!isOver)
      Failure = what;
    isOver = true;
  }

  Block &blockAt(unsigned number) { return *Blocks[number]; }
  /// Who have come to where all of a cluster meet.
  std::vector<Thread *> &atClusterBarrier(unsigned cluster) { return AtClusterBarrier[cluster]; }

  const LaunchRequest &request;
  std::vector<Thread *> behindPrerequisites; ///< Who wait for them.
  bool isOver = false;                       ///< Nobody goes on.
  bool hasExited = false; ///< A thread has given up: nobody has to come to a barrier any more.
  uint64_t changes = 0;   ///< Of what threads may wait for.
  uint64_t time = 1;      ///< Nanoseconds; passes only when nothing else can happen.

private:
  std::vector<std::unique_ptr<Block>> Blocks;
  std::vector<Block *> Live;
  std::map<unsigned, std::vector<Thread *>> AtClusterBarrier;
  std::mt19937_64 Random;
  uint64_t ChangedAt = 0;
  bool HasPrerequisites = true; ///< They have not run.
  std::string Failure;
};

/// What a product reads, and what it makes of that (Wgmma.cpp). The first says what is wrong.
std::string findPieces(const Product &product, unsigned warpInGroup, std::vector<unsigned> &pieces);
void makeProduct(const SharedMemory &memory, const PendingProduct &product, unsigned warpInGroup,
                 Accumulator *const (&accumulators)[kWarp]);

} // namespace kiln::emulated

#endif // KILN_DEVICE_EMULATED_EMULATOR_H
