// The instructions that instructions.h does not carry out by itself. Each names itself, so that
// what goes wrong is told with it.
#include "Emulator.h"

using namespace kiln;
using namespace kiln::emulated;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

uint64_t emulated::shuffle(uint64_t value, unsigned from) {
  Thread &thread = runningThread("shfl.sync");
  thread.given = value;
  thread.source = from;
  Warp &warp = thread.block.warpOf(thread);
  thread.block.meet(thread, warp.meeting, warp.live, true);
  return thread.taken;
}

void emulated::syncWarp(const char *instruction) {
  Thread &thread = runningThread(instruction);
  Warp &warp = thread.block.warpOf(thread);
  thread.block.meet(thread, warp.meeting, warp.live, true);
}

static Meeting &namedBarrier(Thread &thread, int number) {
  if (number < 0 || number > 15)
    thread.block.fail("there is no barrier " + std::to_string(number));
  return thread.block.named(number);
}

void emulated::barSync(int number, int count) {
  Thread &thread = runningThread("bar.sync");
  thread.block.meet(thread, namedBarrier(thread, number), static_cast<unsigned>(count), true);
}

void emulated::barArrive(int number, int count) {
  Thread &thread = runningThread("bar.arrive");
  thread.block.arrive(thread, namedBarrier(thread, number), static_cast<unsigned>(count));
}

void emulated::syncThreads() {
  Thread &thread = runningThread("bar.sync");
  thread.block.meet(thread, thread.block.named(0), thread.block.live(), true);
}

void emulated::exitThread() {
  Thread &thread = runningThread("exit");
  thread.block.launch.hasExited = true;
  thread.block.end(thread);
}

uint64_t emulated::now() { return runningThread("mov %globaltimer").block.launch.time; }

void emulated::sleep() {
  Thread &thread = runningThread("nanosleep");
  thread.isWaiting = thread.isTimed = true;
  thread.block.suspend(thread);
}

void emulated::noteChange() { runningThread("atom").block.launch.noteChange(); }

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Of dynamic shared memory only the address counts, and it is the first.
unsigned emulated::offsetInShared(const void *) { return SharedMemory::kBegin; }

void emulated::load(unsigned from, void *to, unsigned bytes) {
  Thread &thread = runningThread("ld.shared");
  thread.block.check(thread.block.memory.read({thread.id, thread.clock}, from, to, bytes));
}

void emulated::store(unsigned to, const void *from, unsigned bytes) {
  Thread &thread = runningThread("st.shared");
  thread.block.check(thread.block.memory.write({thread.id, thread.clock}, to, from, bytes));
}

//===----------------------------------------------------------------------===//
// mbarrier, the copy engine
//===----------------------------------------------------------------------===//

void emulated::mbarrierInit(unsigned barrier, int arrivals) {
  Thread &thread = runningThread("mbarrier.init");
  thread.block.check(thread.block.memory.markBarrier({thread.id, thread.clock}, barrier));
  Mbarrier &fresh = thread.block.mbarriers[barrier] = Mbarrier();
  fresh.expected = fresh.pending = arrivals;
}

void emulated::mbarrierArrive(unsigned barrier, unsigned bytes, const char *instruction) {
  Thread &thread = runningThread(instruction);
  thread.block.arrive(thread, barrier, bytes);
  thread.block.mayYield(thread);
}

bool emulated::mbarrierTryWait(unsigned barrier, unsigned parity, bool mayGiveUp) {
  Thread &thread = runningThread("mbarrier.try_wait");
  return thread.block.await(thread, barrier, parity, mayGiveUp);
}

void emulated::mbarrierExpect(unsigned barrier, unsigned bytes) {
  Thread &thread = runningThread("mbarrier.expect_tx");
  thread.block.mbarrierAt(barrier).bytes += bytes;
}

void emulated::mbarrierArriveIn(unsigned block, unsigned barrier) {
  Thread &thread = runningThread("mbarrier.arrive in a cluster");
  thread.block.neighbour(block).arrive(thread, barrier, 0);
  thread.block.mayYield(thread);
}

void emulated::meetCluster() {
  Thread &thread = runningThread("barrier.cluster");
  thread.block.meetCluster(thread);
}

void emulated::fenceMbarrierInit() {
  for (auto &[address, barrier] : runningThread("fence.mbarrier_init").block.mbarriers)
    barrier.isPublished = true;
}

void emulated::fenceProxyAsync() {
  Thread &thread = runningThread("fence.proxy.async");
  thread.block.memory.noteFence(thread.id);
  thread.block.mayYield(thread);
}

static PendingCopy describe(Thread &thread, unsigned to, unsigned barrier, const void *map,
                            const int *at, int rank) {
  PendingCopy copy{to, barrier, *static_cast<const TensorMapBits *>(map), {}};
  if (copy.map.rank != rank)
    thread.block.fail("the tensor map has " + std::to_string(copy.map.rank) + " axes, not " +
                      std::to_string(rank));
  std::copy_n(at, rank, copy.at);
  return copy;
}

void emulated::copyBox(unsigned to, unsigned barrier, const void *map, const int *at, int rank) {
  Thread &thread = runningThread("cp.async.bulk.tensor");
  thread.block.copy(thread, describe(thread, to, barrier, map, at, rank));
  thread.block.mayYield(thread);
}

/// What comes to one block does not come to another at the same time.
void emulated::copyBoxToAll(unsigned to, unsigned barrier, const void *map, const int *at, int rank,
                            unsigned blocks) {
  Thread &thread = runningThread("cp.async.bulk.tensor to a cluster");
  PendingCopy copy = describe(thread, to, barrier, map, at, rank);
  for (unsigned number = 0; blocks >> number != 0; ++number)
    if (blocks >> number & 1)
      thread.block.neighbour(number).copy(thread, copy);
  thread.block.mayYield(thread);
}

void emulated::storeBox(const void *map, const int *at, int rank, unsigned from) {
  Thread &thread = runningThread("cp.async.bulk.tensor to global memory");
  PendingStore store{from, *static_cast<const TensorMapBits *>(map), {}, thread.index, 0};
  if (store.map.rank != rank)
    thread.block.fail("the tensor map has " + std::to_string(store.map.rank) + " axes, not " +
                      std::to_string(rank));
  std::copy_n(at, rank, store.at);
  thread.block.store(thread, store);
  thread.block.mayYield(thread);
}

void emulated::awaitStoredBoxes(unsigned pending) {
  Thread &thread = runningThread("cp.async.bulk.wait_group");
  thread.block.awaitStores(thread, pending);
}

//===----------------------------------------------------------------------===//
// The kernels before this one
//===----------------------------------------------------------------------===//

/// They run when nobody can do anything else, which is as late as they can: whoever has looked at
/// what they make was too early.
void emulated::awaitPrerequisites() {
  Thread &thread = runningThread("griddepcontrol.wait");
  thread.block.awaitPrerequisites(thread);
}

//===----------------------------------------------------------------------===//
// The matrix unit
//===----------------------------------------------------------------------===//

void emulated::wgmma(const Product &product) {
  Thread &thread = runningThread("wgmma.mma_async");
  thread.product = product;
  if (product.leftRegisters)
    std::copy_n(product.leftRegisters, 4, thread.left);
  thread.block.multiply(thread);
}

void emulated::wgmmaFence() {
  syncWarp("wgmma.fence");
  runningThread("wgmma.fence").mayMultiply = true;
}

void emulated::wgmmaCommit() {
  syncWarp("wgmma.commit_group");
  Thread &thread = runningThread("wgmma.commit_group");
  thread.block.warpOf(thread).isCommitted = true;
  ++thread.groups;
}

void emulated::wgmmaWait(unsigned pending) {
  Thread &thread = runningThread("wgmma.wait_group");
  thread.block.awaitProducts(thread, pending);
}
