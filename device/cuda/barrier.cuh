//===- barrier.cuh - who waits for whom ----------------------------------------------===//
//
// An mbarrier is a word in shared memory with a phase that flips when as many arrivals, and as many
// bytes, have come as it expects. Whoever waits names the parity of the phase whose end it wants.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "types.cuh"

namespace kiln {

/// Addresses in shared memory are 32 bits wide, as the instructions want them.
using SharedAddress = unsigned;

inline __device__ SharedAddress sharedAddress(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

namespace barrier {

inline __device__ void init(SharedAddress barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes fresh barriers visible to the copy engine; every thread synchronises afterwards.
inline __device__ void publishInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}

inline __device__ void arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives, and makes the phase wait for so many bytes of the copy engine.
inline __device__ void arriveExpecting(SharedAddress barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Whether the phase with this parity has ended; takes a while to say no.
inline __device__ bool hasEnded(SharedAddress barrier, unsigned parity) {
  unsigned ended;
  asm volatile("{\n"
               ".reg .pred done;\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
               "selp.u32 %0, 1, 0, done;\n"
               "}\n"
               : "=r"(ended)
               : "r"(barrier), "r"(parity)
               : "memory");
  return ended != 0;
}

/// Waits for the end of the phase with this parity.
inline __device__ void wait(SharedAddress barrier, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}\n" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

/// All threads of a warpgroup; one number for each of them.
inline __device__ void meet(int number) {
  asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
}

} // namespace barrier

//===-- Waits that give up -----------------------------------------------------------------===//
//
// In checked builds (KILN_BOUND_WAITS: nanoseconds) a thread that waits for too long writes down
// what for, in memory that the host reads, and ends. So do all that wait for it, and the kernel
// ends.

enum class Waits : int { ForTiles, ForSpace, ForBlocks };

#ifdef KILN_BOUND_WAITS
/// As the host has it, too (runtime/device/cuda/Hang.h).
struct Hang {
  unsigned isTaken; ///< 1: somebody writes; 2: it is written.
  int waits, slot, warpgroup;
  i64 block[3];
  char pipe[64];
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

inline __device__ void giveUp(Waits waits, const char *pipe, int slot) {
  if (kilnHang && atomicCAS_system(&kilnHang->isTaken, 0u, 1u) == 0) {
    kilnHang->waits = int(waits);
    kilnHang->slot = slot;
    kilnHang->warpgroup = int(threadIdx.x / 128);
    for (int axis = 0; axis < 3; ++axis)
      kilnHang->block[axis] = blockOfWarpgroup()[axis];
    int at = 0;
    for (; pipe[at] && at < 63; ++at)
      kilnHang->pipe[at] = pipe[at];
    kilnHang->pipe[at] = 0;
    __threadfence_system();
    *const_cast<volatile unsigned *>(&kilnHang->isTaken) = 2;
    __threadfence_system();
  }
  asm volatile("exit;");
}

struct Deadline {
  u64 began = now();

  static __device__ u64 now() {
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  }
  __device__ bool isOver() const { return now() - began > KILN_BOUND_WAITS; }
};
#endif

namespace barrier {

/// The same, as the wait for a slot of a pipe.
inline __device__ void wait(SharedAddress barrier, unsigned parity, [[maybe_unused]] Waits waits,
                            [[maybe_unused]] const char *pipe, [[maybe_unused]] int slot) {
#ifdef KILN_BOUND_WAITS
  for (Deadline deadline; !hasEnded(barrier, parity);)
    if (deadline.isOver())
      giveUp(waits, pipe, slot);
#else
  wait(barrier, parity);
#endif
}

} // namespace barrier

/// What threads wrote to shared memory becomes visible to the matrix unit and the copy engine.
inline __device__ void publishToAsyncUnits() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Registers of each thread of this warpgroup from here on.
template <int count> __device__ __forceinline__ void giveBackRegisters() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0,
                "a warpgroup has between 24 and 256 registers, a multiple of 8");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> __device__ __forceinline__ void takeRegisters() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0,
                "a warpgroup has between 24 and 256 registers, a multiple of 8");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

} // namespace kiln
