//===- barrier.cuh - who waits for whom ----------------------------------------------===//
//
// An mbarrier is a word in shared memory with a phase that flips when as many arrivals, and as many
// bytes, have come as it expects. Whoever waits names the parity of the phase whose end it wants.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "types.cuh"

namespace kiln {

inline __device__ SharedAddress sharedAddress(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

namespace barrier {

inline __device__ void init(SharedAddress barrier, int arrivals) {
  ptx::mbarrierInit(barrier, arrivals);
}

/// Makes fresh barriers visible to the copy engine; every thread synchronises afterwards.
inline __device__ void publishInit() {
  ptx::fenceMbarrierInit();
  ptx::fenceProxyAsync();
}

inline __device__ void arrive(SharedAddress barrier) { ptx::mbarrierArrive(barrier); }
/// The same, as so many.
inline __device__ void arrive(SharedAddress barrier, int times) {
  ptx::mbarrierArrive(barrier, times);
}
/// At the same barrier of a block of the cluster, this one or another.
inline __device__ void arriveIn(int block, SharedAddress barrier) {
  ptx::mbarrierArriveIn(unsigned(block), barrier);
}

/// Makes the phase wait for so many bytes of the copy engine.
inline __device__ void expect(SharedAddress barrier, unsigned bytes) {
  ptx::mbarrierExpect(barrier, bytes);
}

/// Arrives, and makes the phase wait for so many bytes of the copy engine.
inline __device__ void arriveExpecting(SharedAddress barrier, unsigned bytes) {
  ptx::mbarrierArriveExpecting(barrier, bytes);
}

/// Whether the phase with this parity has ended; takes a while to say no.
inline __device__ bool hasEnded(SharedAddress barrier, unsigned parity) {
  return ptx::mbarrierTryWait(barrier, parity);
}

/// Waits for the end of the phase with this parity.
inline __device__ void wait(SharedAddress barrier, unsigned parity) {
  ptx::mbarrierWait(barrier, parity);
}

/// All threads of a warpgroup; one number for each of them.
inline __device__ void meet(int number) { ptx::barSync<kWarpgroup>(number); }

} // namespace barrier

/// Where kernels of one, two and three lanes use one barrier, it expects the same of all: each warp
/// comes as often as there are fewer lanes.
inline constexpr int kComersOfLane = 6, kComers = kComersOfLane * kWarpgroup / kWarp;

/// Lanes take turns in asking the matrix unit: while one computes, another multiplies. The last
/// lane passes the turn on before the first takes it.
constexpr int kFirstTurn = 4; ///< Numbers before it are for the meetings of each lane.
inline __device__ void takeTurn(i64 lane) { ptx::barSync<2 * kWarpgroup>(kFirstTurn + int(lane)); }
template <int lanes> __device__ __forceinline__ void passTurn(i64 lane) {
  ptx::barArrive<2 * kWarpgroup>(kFirstTurn + (int(lane) + 1 == lanes ? 0 : int(lane) + 1));
}

//===-- Waits that give up -----------------------------------------------------------------===//
//
// In checked builds (KILN_BOUND_WAITS: nanoseconds) a thread that waits for too long writes down
// what for, in memory that the host reads, and ends. So do all that wait for it, and the kernel
// ends.

enum class Waits : int { ForTiles, ForSpace, ForBlocks, ForPops, ForTasks };

/// Who waits, where the number of the warpgroup does not say it.
struct Waiter {
  const char *role;
  int lane;
};

#ifdef KILN_BOUND_WAITS
/// As the host has it, too (runtime/device/cuda/Hang.h).
struct Hang {
  unsigned isTaken; ///< 1: somebody writes; 2: it is written.
  int waits, slot, lane;
  i64 block[3];
  char pipe[64], role[16];
};

/// Where kernels of this module write; the host sets it.
extern "C" {
__device__ Hang *kilnHang;
}

/// The block at which a warpgroup is; each has an entry.
inline __device__ i64 (&blockOfWarpgroup())[3] {
  __shared__ i64 blocks[8][3];
  return blocks[threadIdx.x / 128];
}

template <int size> __device__ void note(char (&to)[size], const char *text) {
  int at = 0;
  for (; text[at] && at < size - 1; ++at)
    to[at] = text[at];
  to[at] = 0;
}

inline __device__ void giveUp(Waits waits, const char *pipe, int slot, Waiter who) {
  if (kilnHang && atomicCAS_system(&kilnHang->isTaken, 0u, 1u) == 0) {
    kilnHang->waits = int(waits);
    kilnHang->slot = slot;
    kilnHang->lane = who.lane;
    for (int axis = 0; axis < 3; ++axis)
      kilnHang->block[axis] = blockOfWarpgroup()[axis];
    note(kilnHang->pipe, pipe);
    note(kilnHang->role, who.role);
    __threadfence_system();
    *const_cast<volatile unsigned *>(&kilnHang->isTaken) = 2;
    __threadfence_system();
  }
  ptx::exitThread();
}

struct Deadline {
  u64 began = ptx::globalTimer();

  __device__ bool isOver() const { return ptx::globalTimer() - began > KILN_BOUND_WAITS; }
};
#endif

namespace barrier {

/// The same, as the wait for a slot of a pipe.
inline __device__ void wait(SharedAddress barrier, unsigned parity, [[maybe_unused]] Waits waits,
                            [[maybe_unused]] const char *pipe, [[maybe_unused]] int slot,
                            [[maybe_unused]] Waiter who = {"", int(threadIdx.x / 128)}) {
#ifdef KILN_BOUND_WAITS
  for (Deadline deadline; !hasEnded(barrier, parity);)
    if (deadline.isOver())
      giveUp(waits, pipe, slot, who);
#else
  wait(barrier, parity);
#endif
}

} // namespace barrier

//===-- Kernels that do not end ------------------------------------------------------------===//
//
// Kernels that wait, or loop for as long as data says, count what of them has begun and what has
// ended, warpgroup by warpgroup. The host looks now and then (runtime/device/cuda/Progress.h).

/// Of this module: how many have begun, and ended.
extern "C" {
__device__ unsigned kilnProgress[2];
}

namespace progress {

/// By one thread of a warpgroup.
inline __device__ void count([[maybe_unused]] int which, [[maybe_unused]] unsigned thread) {
#ifndef KILN_BOUND_WAITS // who gives up would never end
  if (threadIdx.x % 128 == thread)
    atomicAdd(&kilnProgress[which], 1u);
#endif
}
/// By a warp that has nothing to do yet, while the first one of a copying role begins to copy.
inline __device__ void begin() { count(0, kWarp); }
inline __device__ void end() { count(1, 0); }

} // namespace progress

/// What threads wrote to shared memory becomes visible to the matrix unit and the copy engine.
inline __device__ void publishToAsyncUnits() { ptx::fenceProxyAsyncShared(); }

/// Registers of each thread of this warpgroup from here on.
template <int count> __device__ __forceinline__ void giveBackRegisters() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0,
                "a warpgroup has between 24 and 256 registers, a multiple of 8");
  ptx::decreaseRegisters<count>();
}
template <int count> __device__ __forceinline__ void takeRegisters() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0,
                "a warpgroup has between 24 and 256 registers, a multiple of 8");
  ptx::increaseRegisters<count>();
}

} // namespace kiln
