//===- instructions.cuh - the instructions that C++ has no words for -----------------------===//
//
// One function for each, named after it; all inline assembler of the device library is here and in
// wgmma_shapes.cuh. What is written on top of them is plain CUDA C++, so a header that stands for
// this one (KILN_INSTRUCTIONS names it) makes emitted kernels run elsewhere: see device/emulated.
//
//===----------------------------------------------------------------------------===//
#pragma once

#ifdef KILN_INSTRUCTIONS
#include KILN_INSTRUCTIONS
#else

namespace kiln {

/// Addresses in shared memory are 32 bits wide, as the instructions want them.
using SharedAddress = unsigned;

/// What the driver's cuTensorMapEncodeTiled makes of a tensor and a box.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

namespace ptx {

#define KILN_INSTRUCTION __device__ __forceinline__

//===-- Numbers -------------------------------------------------------------------------===//

KILN_INSTRUCTION float f32FromF16(unsigned short bits) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
  return wide;
}
KILN_INSTRUCTION unsigned f16PairFromE4m3(unsigned short pair) {
  unsigned wide;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide) : "h"(pair));
  return wide;
}
KILN_INSTRUCTION unsigned f16PairFromE5m2(unsigned short pair) {
  unsigned wide;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(wide) : "h"(pair));
  return wide;
}
KILN_INSTRUCTION unsigned short e4m3PairFromF32(float x) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(pair) : "f"(x));
  return pair;
}
KILN_INSTRUCTION unsigned short e5m2PairFromF32(float x) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;" : "=h"(pair) : "f"(x));
  return pair;
}
KILN_INSTRUCTION unsigned short bf16FromF32(float x) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
KILN_INSTRUCTION unsigned short f16FromF32(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
KILN_INSTRUCTION unsigned bf16PairFromF32(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
KILN_INSTRUCTION unsigned f16PairFromF32(float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
/// Toward zero; saturates, but NaN is not 0.
KILN_INSTRUCTION long long s64FromF32(float x) {
  long long wide;
  asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(wide) : "f"(x));
  return wide;
}
KILN_INSTRUCTION unsigned pack(unsigned short low, unsigned short high) {
  unsigned pair;
  asm("mov.b32 %0, {%1, %2};" : "=r"(pair) : "h"(low), "h"(high));
  return pair;
}
KILN_INSTRUCTION void unpack(unsigned pair, unsigned short &low, unsigned short &high) {
  asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(pair));
}
KILN_INSTRUCTION float maxNan(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
KILN_INSTRUCTION float minNan(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
KILN_INSTRUCTION float exp2Approx(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

//===-- What the compiler is not to know ------------------------------------------------===//

KILN_INSTRUCTION void forgetValue(int &x) { asm volatile("" : "+r"(x)); }
KILN_INSTRUCTION void forgetValue(unsigned &x) { asm volatile("" : "+r"(x)); }
KILN_INSTRUCTION void forgetValue(long long &x) { asm volatile("" : "+l"(x)); }
KILN_INSTRUCTION void forgetValues(long long &x, long long &y) {
  asm volatile("" : "+l"(x), "+l"(y));
}
/// It is read here, wherever else it is used.
KILN_INSTRUCTION void look(const void *x) { asm volatile("" ::"l"(x)); }
KILN_INSTRUCTION void look(long long x) { asm volatile("" ::"l"(x)); }
/// It stays in its register, and is made before whatever comes next.
KILN_INSTRUCTION void pin(float &x) { asm volatile("" : "+f"(x)::"memory"); }
KILN_INSTRUCTION void pin(unsigned &x) { asm volatile("" : "+r"(x)::"memory"); }
KILN_INSTRUCTION void pin(long long &x) { asm volatile("" : "+l"(x)::"memory"); }

//===-- Global memory -------------------------------------------------------------------===//

/// What comes is the first to leave the caches again.
KILN_INSTRUCTION uint4 loadStreaming(const uint4 *from) {
  uint4 read;
  asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(read.x), "=r"(read.y), "=r"(read.z), "=r"(read.w)
      : "l"(from));
  return read;
}
KILN_INSTRUCTION void storeStreaming(uint4 *to, uint4 value) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
}

/// Adds one, after everything that this thread and those it has met did; and looks, before
/// everything that they do next.
KILN_INSTRUCTION void addOneReleasing(unsigned long long *to) {
  asm volatile("fence.acq_rel.gpu;\nred.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(to) : "memory");
}
KILN_INSTRUCTION unsigned long long loadAcquiring(const unsigned long long *from) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

//===-- Threads -------------------------------------------------------------------------===//

template <int threads> KILN_INSTRUCTION void barSync(int number) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(threads) : "memory");
}
/// The same for those who need not wait.
template <int threads> KILN_INSTRUCTION void barArrive(int number) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "n"(threads) : "memory");
}
/// The compiler may rely on a block having so many threads.
template <int threads> KILN_INSTRUCTION void assumeThreads() {
  __builtin_assume(threadIdx.x < threads);
}
KILN_INSTRUCTION void exitThread() { asm volatile("exit;"); }
/// Nanoseconds.
KILN_INSTRUCTION unsigned long long globalTimer() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}
template <int count> KILN_INSTRUCTION void decreaseRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count> KILN_INSTRUCTION void increaseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

//===-- Kernels -------------------------------------------------------------------------===//

/// The next kernel may begin where there is room, if it was launched so.
KILN_INSTRUCTION void launchDependents() { asm volatile("griddepcontrol.launch_dependents;"); }
/// All that the kernels before this one did is done, and can be seen.
KILN_INSTRUCTION void awaitPrerequisites() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

//===-- mbarrier ------------------------------------------------------------------------===//

KILN_INSTRUCTION void mbarrierInit(SharedAddress barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
KILN_INSTRUCTION void mbarrierArrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
KILN_INSTRUCTION void mbarrierArrive(SharedAddress barrier, int times) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(times)
               : "memory");
}
KILN_INSTRUCTION void mbarrierExpect(SharedAddress barrier, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
KILN_INSTRUCTION void mbarrierArriveExpecting(SharedAddress barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
KILN_INSTRUCTION bool mbarrierTryWait(SharedAddress barrier, unsigned parity) {
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
/// The same, again and again.
KILN_INSTRUCTION void mbarrierWait(SharedAddress barrier, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}\n" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

//===-- Clusters ------------------------------------------------------------------------===//

/// All threads of all blocks of the cluster; what each did before, all see.
KILN_INSTRUCTION void meetCluster() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
/// Arrives at the barrier that has this address in the block with this number in the cluster. Not
/// `release.cluster`, which is a fence that waits for all memory, at each slot: what a warp has
/// read of shared memory it has read before its message to another block leaves.
KILN_INSTRUCTION void mbarrierArriveIn(unsigned block, SharedAddress barrier) {
  asm volatile("{\n"
               ".reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
               "}\n" ::"r"(barrier),
               "r"(block)
               : "memory");
}

//===-- Fences --------------------------------------------------------------------------===//

KILN_INSTRUCTION void fenceMbarrierInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Between what threads and what asynchronous units do, in all memory and in shared memory.
KILN_INSTRUCTION void fenceProxyAsync() { asm volatile("fence.proxy.async;" ::: "memory"); }
KILN_INSTRUCTION void fenceProxyAsyncShared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

//===-- Shared memory -------------------------------------------------------------------===//

KILN_INSTRUCTION void loadShared(SharedAddress from, unsigned long long &to) {
  asm volatile("ld.shared.b64 %0, [%1];" : "=l"(to) : "r"(from) : "memory");
}
KILN_INSTRUCTION void loadShared(SharedAddress from, unsigned &to) {
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to) : "r"(from) : "memory");
}
KILN_INSTRUCTION void loadShared(SharedAddress from, unsigned short &to) {
  asm volatile("ld.shared.b16 %0, [%1];" : "=h"(to) : "r"(from) : "memory");
}
KILN_INSTRUCTION void loadShared(SharedAddress from, unsigned char &to) {
  unsigned short wide;
  asm volatile("ld.shared.u8 %0, [%1];" : "=h"(wide) : "r"(from) : "memory");
  to = static_cast<unsigned char>(wide);
}
KILN_INSTRUCTION void loadShared(SharedAddress from, float (&to)[2]) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(to[0]), "=f"(to[1])
               : "r"(from)
               : "memory");
}
KILN_INSTRUCTION void loadShared(SharedAddress from, float (&to)[4]) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from)
               : "memory");
}
KILN_INSTRUCTION void loadShared(SharedAddress from, unsigned (&to)[4]) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}
KILN_INSTRUCTION void storeShared(SharedAddress to, unsigned long long value) {
  asm volatile("st.shared.b64 [%0], %1;" ::"r"(to), "l"(value) : "memory");
}
KILN_INSTRUCTION void storeShared(SharedAddress to, unsigned value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}
KILN_INSTRUCTION void storeShared(SharedAddress to, unsigned short value) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(to), "h"(value) : "memory");
}
KILN_INSTRUCTION void storeShared(SharedAddress to, unsigned char value) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(to), "h"(static_cast<unsigned short>(value))
               : "memory");
}
KILN_INSTRUCTION void storeShared(SharedAddress to, const unsigned (&value)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value[0]), "r"(value[1]),
               "r"(value[2]), "r"(value[3])
               : "memory");
}

/// Four matrices of 8 x 8 elements of 16 bits, by a warp: thread t says where row t % 8 of matrix
/// t / 8 is to lie, and has two neighbours of row t / 4 of each.
KILN_INSTRUCTION void storeMatrices(SharedAddress row, const unsigned (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

//===-- The copy engine -----------------------------------------------------------------===//

/// The engine reads what a tensor map says before it is asked for a box.
KILN_INSTRUCTION void prefetchMap(const TensorMap &map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
/// How long the L2 cache keeps what is copied: policies as `createpolicy` makes them, of normal
/// priority and evict_first.
enum class Kept : unsigned long long { Long = 0x1000000000000000, Briefly = 0x12f0000000000000 };

/// A box whose first element is at `at`, outermost axis first, to shared memory.
KILN_INSTRUCTION void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                              const int (&at)[2], Kept kept) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(to),
               "l"(&map), "r"(barrier), "l"(kept), "r"(at[1]), "r"(at[0])
               : "memory");
}
KILN_INSTRUCTION void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                              const int (&at)[3], Kept kept) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(to),
               "l"(&map), "r"(barrier), "l"(kept), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
KILN_INSTRUCTION void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                              const int (&at)[4], Kept kept) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(to),
               "l"(&map), "r"(barrier), "l"(kept), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
KILN_INSTRUCTION void copyBox(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                              const int (&at)[5], Kept kept) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(to),
               "l"(&map), "r"(barrier), "l"(kept), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]),
               "r"(at[0])
               : "memory");
}
/// The same to one place in each of the blocks of the cluster that `blocks` has a bit for, and to
/// the barrier of each.
KILN_INSTRUCTION void copyBoxToAll(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                                   const int (&at)[2], unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(at[1]), "r"(at[0]), "h"(blocks)
               : "memory");
}
KILN_INSTRUCTION void copyBoxToAll(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                                   const int (&at)[3], unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(at[2]), "r"(at[1]), "r"(at[0]), "h"(blocks)
               : "memory");
}
KILN_INSTRUCTION void copyBoxToAll(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                                   const int (&at)[4], unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]), "h"(blocks)
               : "memory");
}
KILN_INSTRUCTION void copyBoxToAll(SharedAddress to, SharedAddress barrier, const TensorMap &map,
                                   const int (&at)[5], unsigned short blocks) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(to),
               "l"(&map), "r"(barrier), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]),
               "h"(blocks)
               : "memory");
}

/// A box in shared memory to where its first element is at `at`; a group of its own.
KILN_INSTRUCTION void storeBox(const TensorMap &map, const int (&at)[2], SharedAddress from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];\n"
               "cp.async.bulk.commit_group;" ::"l"(&map),
               "r"(from), "r"(at[1]), "r"(at[0])
               : "memory");
}
KILN_INSTRUCTION void storeBox(const TensorMap &map, const int (&at)[3], SharedAddress from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];\n"
               "cp.async.bulk.commit_group;" ::"l"(&map),
               "r"(from), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
KILN_INSTRUCTION void storeBox(const TensorMap &map, const int (&at)[4], SharedAddress from) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];\n"
      "cp.async.bulk.commit_group;" ::"l"(&map),
      "r"(from), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
KILN_INSTRUCTION void storeBox(const TensorMap &map, const int (&at)[5], SharedAddress from) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];\n"
      "cp.async.bulk.commit_group;" ::"l"(&map),
      "r"(from), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
/// Until all but the last `pending` boxes that this thread stored have been read.
template <int pending> KILN_INSTRUCTION void awaitStoredBoxes() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
/// Until all boxes that this thread stored are in global memory.
KILN_INSTRUCTION void awaitWrittenBoxes() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

//===-- The matrix unit: see also wgmma_shapes.cuh --------------------------------------===//

KILN_INSTRUCTION void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
KILN_INSTRUCTION void wgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// For all groups but the last `pending`.
template <int pending = 0> KILN_INSTRUCTION void wgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

#undef KILN_INSTRUCTION

} // namespace ptx
} // namespace kiln

#include "wgmma_shapes.cuh"

#endif // KILN_INSTRUCTIONS
