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
