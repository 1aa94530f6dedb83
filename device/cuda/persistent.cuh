//===- persistent.cuh - the tasks of a program, one after the other, in one kernel ---------===//
//
// The host writes down the tasks of a program: which kernel each launches, its arguments, which
// tasks come before it. As many blocks as run at once walk that table, each with its share of every
// task. A task has a counter in global memory, to which each block comes that has a share and is
// done with it; who reads what the task wrote, or writes what it read, waits for that.
//
// Shared memory is one ring for all tasks: the pipes of each kernel lay it out as they need, on
// barriers that are all the same, so that phases survive from task to task.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "pipe.cuh"
#include "staged.cuh"

namespace kiln {

//===-- Tasks ---------------------------------------------------------------------------===//

/// As the host writes it (runtime/device/cuda/TaskTable.h). Places are in bytes behind the
/// beginning of the table.
struct Task {
  unsigned kernel;            ///< The number of what it launches.
  unsigned arguments;         ///< The place of its argument block.
  unsigned comers;            ///< How many blocks have a share, and come to its counter.
  unsigned before, numBefore; ///< The place of the numbers of the tasks that it waits for.
  unsigned unused;
};

struct Tasks {
  u64 *counters; ///< One for each task, 0 at first. Null: it is one task, and nobody waits.
  u64 *times;    ///< Of each task, when each block began and ended its share. Null: nobody asks.
  unsigned count, unused;

  __device__ const Task &operator[](unsigned number) const {
    return reinterpret_cast<const Task *>(this + 1)[number];
  }
  /// Nothing that is read through it is read before: what reads it does not know where it is.
  template <typename Args> __device__ const Args &arguments(const Task &task) const {
    unsigned place = task.arguments;
    ptx::forgetValue(place);
    return at<Args>(place);
  }
  template <typename T> __device__ const T &at(unsigned place) const {
    return *reinterpret_cast<const T *>(reinterpret_cast<const unsigned char *>(this) + place);
  }
  /// By one thread: writes down the time, of the beginning (0) or the end (1).
  __device__ void noteTime(unsigned number, int which) const {
    if (times)
      times[2 * (number * gridDim.x + blockIdx.x) + which] = ptx::globalTimer();
  }
  /// By one thread: until the tasks before are done.
  __device__ void awaitBefore(const Task &task) const {
    const unsigned *before = &at<unsigned>(task.before);
    for (unsigned k = 0; k < task.numBefore; ++k)
      await(before[k]);
  }
  /// The same by the warp that copies; the copy engine sees what they wrote, too.
  __device__ void awaitBeforeByWarp(const Task &task) const {
    if (threadInWarp() == 0)
      awaitBefore(task);
    __syncwarp();
    ptx::fenceProxyAsync();
  }

private:
  __device__ void await(unsigned number) const {
    u64 comers = (*this)[number].comers;
#ifdef KILN_BOUND_WAITS
    Deadline deadline;
#endif
    while (ptx::loadAcquiring(counters + number) < comers) {
      __nanosleep(32);
#ifdef KILN_BOUND_WAITS
      if (deadline.isOver())
        giveUp(Waits::ForTasks, "", int(number), {"", int(threadIdx.x / 128)});
#endif
    }
  }
};

/// The kernel's parameter.
template <int bytes> struct alignas(64) TaskTable : Tasks {
  unsigned char rest[bytes - sizeof(Tasks)];
};

/// All lanes meet; its number is behind those of lanes and their turns.
template <int lanes> __device__ void meetLanes() { ptx::barSync<lanes * kWarpgroup>(8); }

/// By all lanes, before and after their share of a task.
template <int lanes> __device__ void beginTask(const Tasks &tasks, unsigned number) {
  if (threadIdx.x == 0) {
    tasks.awaitBefore(tasks[number]);
    tasks.noteTime(number, 0);
  }
  meetLanes<lanes>();
}
template <int lanes> __device__ void finishTask(const Tasks &tasks, unsigned number) {
  meetLanes<lanes>();
  if (threadIdx.x == 0)
    tasks.noteTime(number, 1);
  if (threadIdx.x == 0 && tasks.counters) {
    ptx::fenceProxyAsync(); // other blocks' copy engines see it
    ptx::addOneReleasing(tasks.counters + number);
  }
}

//===-- One ring ------------------------------------------------------------------------===//

/// Each role has one, and counts what it does.
struct Ring {
  static constexpr int slots = kWarp; ///< One for each thread of the copying warp.
  static constexpr int barrierBytes = (2 * slots + 2) * 8;

  SharedAddress memory, barriers;
  unsigned parities = 0; ///< Of the next phase of each slot.
  unsigned next = 0;     ///< Where in memory it becomes free first.
  unsigned places = 0;   ///< Tasks so far that had memory beside their pipes.
  Cursor<2> said{};      ///< Of blocks that are handed out.
  /// Of the copying warp: each thread knows where the slot with its number lies, and the first two
  /// where the memory beside pipes is.
  unsigned from = 0, to = 0, placeFrom = 0, placeTo = 0;

  __device__ Ring(SharedAddress memory, SharedAddress barriers)
      : memory(memory), barriers(barriers) {}
  __device__ SharedAddress full(int slot) const { return barriers + 8 * slot; }
  __device__ SharedAddress empty(int slot) const { return barriers + 8 * (slots + slot); }
  __device__ SharedAddress left(int which) const { return barriers + 8 * (2 * slots + which); }

  /// By one thread, before anybody uses it.
  __device__ void init() const {
    constexpr int warps = kComers * (everyThreadArrives ? kWarp : 1);
    for (int slot = 0; slot < slots; ++slot) {
      barrier::init(full(slot), everyThreadArrives ? kWarp : 1);
      barrier::init(empty(slot), warps);
    }
    for (int which = 0; which < 2; ++which)
      barrier::init(left(which), warps);
  }

  /// By the copying warp: a slot is to lie there. Waits until nobody uses that memory any more,
  /// whatever slot of whatever task it was.
  __device__ void takeOver(int slot, unsigned begin, unsigned end, const char *name) {
    int own = threadInWarp();
    if (own == slot || (from < end && begin < to))
      barrier::wait(empty(own), parityOf(own) ^ 1, Waits::ForSpace, name, own);
    if (own < 2 && placeFrom < end && begin < placeTo)
      barrier::wait(left(own), (((places + 1 - own) >> 1) - 1) & 1, Waits::ForSpace, name, own);
    __syncwarp();
    if (own == slot)
      from = begin, to = end;
  }

  /// By the copying warp: the lanes have this memory beside the pipes of a task. It takes it from
  /// nobody, for the lanes are done with all tasks before when they use it.
  __device__ void lend(unsigned begin, unsigned end) {
    int which = int(places & 1);
    if (threadInWarp() == which) {
      barrier::wait(left(which), ((places >> 1) & 1) ^ 1, Waits::ForSpace, "(memory)", which);
      placeFrom = begin, placeTo = end;
    }
    __syncwarp();
    ++places;
  }
  /// By each of its lanes, at the end of such a task.
  template <int lanes> __device__ void giveBack() {
    publishToAsyncUnits();
    __syncwarp();
    if (everyThreadArrives || threadInWarp() == 0)
      barrier::arrive(left(int(places & 1)), kComersOfLane / lanes);
  }

  __device__ unsigned parityOf(int slot) const { return parities >> slot & 1; }
  __device__ void turn(int slot) { parities ^= 1u << slot; }
};

/// A pipe of a task in the ring: `numSlots` from memory `place` and from slot number `first` on.
template <int place, int first, int numSlots, int lanes, typename... T> struct View {
  static constexpr int slotBytes = (alignedTo1024(T::bytes) + ... + 0);
  static_assert(first + numSlots <= Ring::slots, "the ring has barriers for so many slots");

  Ring &ring;
  const char *name; ///< For reports.
  int pushed, popped, freed;

  /// It begins where memory becomes free first.
  __device__ View(Ring &ring, const char *name) : ring(ring), name(name) {
    int slot = int(ring.next) <= place ? 0 : ceilDivConstant(int(ring.next) - place, slotBytes);
    pushed = popped = freed = slot < numSlots ? slot : 0;
  }
  __device__ static int after(int slot) { return slot + 1 == numSlots ? 0 : slot + 1; }
  __device__ static unsigned placeOf(int slot) { return unsigned(place + slot * slotBytes); }
  /// Where it becomes free first when all has been freed; the same for both ends.
  __device__ unsigned nextPushed() const { return placeOf(pushed); }
  __device__ unsigned nextFreed() const { return placeOf(freed); }

  /// By a whole warp: waits for a free slot and starts the transfers that fill it.
  template <typename... R> __device__ void push(const R &...requests) {
    static_assert((isSame<typename R::Tile, T> && ...), "what is pushed is what the pipe carries");
    int slot = first + pushed;
    ring.takeOver(slot, placeOf(pushed), placeOf(pushed) + slotBytes, name);
    auto begin = [done = ring.full(slot)](const auto &request, auto to) {
      request.start(to, done);
    };
    fillSlot(ring.memory + placeOf(pushed), ring.full(slot), Fill::All, begin, requests...);
    ring.turn(slot);
    pushed = after(pushed);
  }

  /// By a whole lane: waits for the next tiles, which stay until they are freed.
  __device__ Tiles<T...> pop() {
    int slot = first + popped;
    barrier::wait(ring.full(slot), ring.parityOf(slot), Waits::ForTiles, name, popped);
    SharedAddress at = ring.memory + placeOf(popped);
    ring.turn(slot);
    popped = after(popped);
    return tilesAt<T...>(at);
  }

  /// Frees the oldest tiles that were popped.
  __device__ void free() {
    __syncwarp();
    if (everyThreadArrives || threadInWarp() == 0)
      barrier::arrive(ring.empty(first + freed), kComersOfLane / lanes);
    freed = after(freed);
  }
};

/// What a lane that had no part in a task does not know of the ring.
struct RingNews {
  unsigned parities, next;
  int said;
};
inline __device__ RingNews &ringNews() {
  __shared__ RingNews news;
  return news;
}
/// By the first lane before all lanes meet at the end of a task, and by others afterwards.
inline __device__ void tellLanes(const Ring &ring) {
  if (threadIdx.x == 0)
    ringNews() = {ring.parities, ring.next, ring.said.at};
}
inline __device__ void hearOfRing(Ring &ring) {
  RingNews news = ringNews();
  ring.parities = news.parities, ring.next = news.next, ring.said.at = news.said;
}

} // namespace kiln
