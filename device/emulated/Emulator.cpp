#include "Emulator.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>
#include <tuple>
#include <utility>

using namespace kiln;
using namespace kiln::emulated;

Index emulated::thread, emulated::block, emulated::threads, emulated::blocks;

static Block *running = nullptr; ///< The block that has the baton.

static std::string nameOf(const Block &block, const Thread &thread) {
  return "block " + std::to_string(block.index) + ", thread " + std::to_string(thread.index) +
         " (warp " + std::to_string(thread.index / kWarp) + ")";
}

Thread &emulated::runningThread(const char *instruction) {
  running->current->instruction = instruction;
  return *running->current;
}

std::string emulated::whoRuns() {
  return running && running->current ? nameOf(*running, *running->current) : "";
}

static std::string hex(unsigned address) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", address);
  return text;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static void enter(void *argument) {
  Thread &self = *static_cast<Thread *>(argument);
  self.block.launch.request.kernel(self.block.launch.request.args);
  self.block.end(self);
}

/// Those of a block, and its copy engine.
static unsigned clocksOf(const LaunchRequest &request) { return request.threads + 1; }

Thread::Thread(Block &block, unsigned index)
    : block(block), index(index), id(block.first + index),
      clock(size_t{block.launch.request.cluster} * clocksOf(block.launch.request)),
      fiber(enter, this) {
  clock.advance(id);
}

void Block::suspend(Thread &thread) { thread.fiber.switchTo(Scheduler); }

/// Somebody else may go on first.
void Block::mayYield(Thread &thread) {
  if (draw(4) != 0)
    return;
  Ready.push_back(&thread);
  suspend(thread);
}

void Block::wake(Thread &thread) {
  thread.isWaiting = thread.isTimed = false;
  Ready.push_back(&thread);
}

void Block::fail(const std::string &what) {
  Block &here = *running; // another, if one of its threads reaches into this one's memory
  launch.fail(nameOf(here, *here.current) + ", " + here.current->instruction + ": " +
              (&here == this ? "" : "in block " + std::to_string(index) + ": ") + what);
  for (;;)
    here.suspend(*here.current);
}

void Block::stop(const std::string &what) {
  launch.fail("block " + std::to_string(index) + ": " + what);
}

void Block::end(Thread &thread) {
  thread.isDone = true;
  --Live;
  launch.noteChange();
  Warp &warp = warpOf(thread);
  --warp.live;
  if (warp.live > 0 && warp.meeting.here.size() == warp.live)
    finish(warp.meeting, true);
  finishClusterIfAll();
  for (;;)
    suspend(thread);
}

/// Waits until so many have come. `synchronizes`: each then knows what all others did before.
void Block::arrive(Thread &thread, Meeting &meeting, unsigned expected) {
  if (meeting.here.empty() && meeting.arrived == 0) {
    meeting.instruction = "bar.sync";
    meeting.expected = expected;
  }
  if (meeting.expected != expected)
    fail("others wait there for " + std::to_string(meeting.expected) + " threads");
  ++meeting.arrived;
  meeting.told.join(thread.clock);
  thread.clock.advance(thread.id);
  if (meeting.here.size() + meeting.arrived == expected)
    finish(meeting, true);
}

void Block::meet(Thread &thread, Meeting &meeting, unsigned expected, bool synchronizes) {
  if (meeting.here.empty() && meeting.arrived == 0) {
    meeting.instruction = thread.instruction;
    meeting.expected = expected;
  }
  if (std::strcmp(meeting.instruction, thread.instruction) != 0 || meeting.expected != expected)
    fail("thread " +
         std::to_string((meeting.here.empty() ? &thread : meeting.here.front())->index) +
         " is at " + meeting.instruction + " of " + std::to_string(meeting.expected) +
         " threads: they have diverged");
  meeting.here.push_back(&thread);
  if (meeting.here.size() + meeting.arrived == expected) {
    finish(meeting, synchronizes);
  } else {
    thread.isWaiting = true;
    suspend(thread);
  }
}

void Block::finish(Meeting &meeting, bool synchronizes) {
  std::vector<Thread *> all;
  all.swap(meeting.here);
  if (synchronizes) {
    Clock known;
    known.join(meeting.told);
    for (Thread *thread : all)
      known.join(thread->clock);
    for (Thread *thread : all) {
      thread->clock.join(known);
      thread->clock.advance(thread->id);
    }
  }
  meeting.arrived = 0;
  meeting.told = Clock();
  for (Thread *thread : all) {
    unsigned first = thread->index / kWarp * kWarp;
    thread->taken = Threads[first + thread->source % kWarp].given;
    if (thread->isWaiting)
      wake(*thread);
  }
  launch.noteChange();
}

Block &Block::neighbour(unsigned number) {
  if (number >= launch.request.cluster)
    fail("its cluster has no block " + std::to_string(number));
  Block &other = launch.blockAt(index / launch.request.cluster * launch.request.cluster + number);
  if (other.Live == 0)
    fail("block " + std::to_string(other.index) + " of its cluster has ended");
  return other;
}

void Block::finishClusterIfAll() {
  unsigned size = launch.request.cluster, number = index / size, live = 0;
  std::vector<Thread *> &here = launch.atClusterBarrier(number);
  for (unsigned block = 0; block < size; ++block)
    live += launch.blockAt(number * size + block).Live;
  if (here.empty() || here.size() != live)
    return;
  Clock known;
  for (Thread *thread : here)
    known.join(thread->clock);
  for (Thread *thread : std::exchange(here, {})) {
    thread->clock.join(known);
    thread->clock.advance(thread->id);
    thread->block.wake(*thread);
  }
  launch.noteChange();
}

void Block::meetCluster(Thread &thread) {
  launch.atClusterBarrier(index / launch.request.cluster).push_back(&thread);
  thread.isWaiting = true;
  finishClusterIfAll();
  suspend(thread);
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory, the copy engine
//===----------------------------------------------------------------------===//

Mbarrier &Block::mbarrierAt(unsigned address) {
  auto found = mbarriers.find(address);
  if (found == mbarriers.end())
    fail("there is no barrier at " + hex(address));
  return found->second;
}

void Block::endPhase(Mbarrier &barrier) {
  launch.noteChange();
  if (barrier.pending != 0 || barrier.bytes != 0)
    return;
  barrier.parity ^= 1;
  barrier.pending = barrier.expected;
  barrier.ended = barrier.next;
  for (Thread *thread : barrier.waiting)
    if (thread->isWaiting)
      wake(*thread);
  barrier.waiting.clear();
}

void Block::arrive(Thread &thread, unsigned address, unsigned bytes) {
  Mbarrier &barrier = mbarrierAt(address);
  if (barrier.pending == 0)
    fail("all " + std::to_string(barrier.expected) + " arrivals of this phase of the barrier at " +
         hex(address) + " have come already");
  barrier.next.join(thread.clock);
  thread.clock.advance(thread.id);
  barrier.bytes += bytes;
  --barrier.pending;
  endPhase(barrier);
}

bool Block::await(Thread &thread, unsigned address, unsigned parity, bool mayGiveUp) {
  Mbarrier &barrier = mbarrierAt(address);
  while (barrier.parity == parity) {
    if (std::find(barrier.waiting.begin(), barrier.waiting.end(), &thread) == barrier.waiting.end())
      barrier.waiting.push_back(&thread);
    thread.isWaiting = true;
    thread.isTimed = mayGiveUp;
    thread.barrier = address;
    suspend(thread);
    if (mayGiveUp)
      break;
  }
  if (barrier.parity == parity)
    return false;
  thread.clock.join(barrier.ended);
  return true;
}

/// What the copy engine does not take, of what lies in shared memory at `address`.
static std::string wrongBox(const TensorMapBits &map, unsigned address) {
  if (map.magic != TensorMapBits::kMagic)
    return "the tensor map is none";
  if (map.swizzleBytes != map.rowBytes())
    return "rows of " + std::to_string(map.rowBytes()) + " bytes with a swizzle of " +
           std::to_string(map.swizzleBytes) + " are not emulated";
  return address % 128 == 0 ? ""
                            : "the copy engine takes multiples of 128 bytes, not " + hex(address);
}

void Block::copy(Thread &thread, const PendingCopy &copy) {
  const TensorMapBits &map = copy.map;
  check(wrongBox(map, copy.to));
  if (!mbarrierAt(copy.barrier).isPublished)
    fail("the barrier at " + hex(copy.barrier) + " has not been made visible to the copy engine");
  for (unsigned at = 0; at < map.bytes(); at += 16)
    check(memory.beginCopy({thread.id, thread.clock}, swizzled(copy.to + at, map.rowBytes()), 16));
  Copies.push_back(copy);
}

/// Until it is done the engine reads the box.
void Block::store(Thread &thread, PendingStore store) {
  const TensorMapBits &map = store.map;
  check(wrongBox(map, store.from));
  for (unsigned at = 0; at < map.bytes(); at += 16)
    check(memory.beginReading({thread.id, thread.clock}, swizzled(store.from + at, map.rowBytes()),
                              16, "the copy engine"));
  store.group = ++thread.stores;
  Stores.push_back(store);
}

/// A box in flight is in global memory.
void Block::storeOne() {
  unsigned which = draw(Stores.size());
  PendingStore store = Stores[which];
  Stores.erase(Stores.begin() + which);
  std::vector<unsigned char> box(store.map.bytes());
  const Thread &reader = Threads[store.thread];
  for (unsigned at = 0; at < box.size(); at += 16) {
    unsigned piece = swizzled(store.from + at, store.map.rowBytes());
    std::copy_n(memory.at(piece), 16, &box[at]);
    memory.finishReading({reader.id, reader.clock}, piece, 16);
  }
  writeBox(store.map, store.at, box.data());
  launch.noteChange();
  for (Thread *thread : Storing)
    wake(*thread);
  Storing.clear();
}

void Block::awaitStores(Thread &thread, unsigned pending) {
  auto isAwaited = [&](const PendingStore &store) {
    return store.thread == thread.index && store.group + pending <= thread.stores;
  };
  while (std::any_of(Stores.begin(), Stores.end(), isAwaited)) {
    Storing.push_back(&thread);
    thread.isWaiting = true;
    suspend(thread);
  }
}

/// A copy in flight is done.
void Block::landOne() {
  unsigned which = draw(Copies.size());
  PendingCopy copy = Copies[which];
  Copies.erase(Copies.begin() + which);
  unsigned bytes = copy.map.bytes();
  std::vector<unsigned char> box(bytes);
  readBox(copy.map, copy.at, box.data());
  ++Landed;
  for (unsigned at = 0; at < bytes; at += 16)
    memory.finishCopy(swizzled(copy.to + at, copy.map.rowBytes()), &box[at], 16, Landed);
  Mbarrier &barrier = mbarriers.find(copy.barrier)->second;
  barrier.next.join(Clock(size_t{launch.request.cluster} * clocksOf(launch.request)));
  barrier.next.set(first + static_cast<unsigned>(Threads.size()), Landed);
  barrier.bytes -= bytes;
  // What another block sends may come before this one expects it, but not when all is expected.
  if (barrier.bytes < 0 && barrier.pending == 0)
    return stop("the copy engine has brought " + std::to_string(-barrier.bytes) +
                " bytes more than the barrier at " + hex(copy.barrier) + " expects");
  endPhase(barrier);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool Block::hasProducts() const {
  return std::any_of(Warps.begin(), Warps.end(),
                     [](const Warp &warp) { return !warp.products.empty(); });
}

static void takeRegisters(Thread &thread) {
  const Product &product = thread.product;
  auto [entry, isNew] = thread.inFlight.try_emplace(product.low);
  entry->second.group = thread.groups;
  if (!isNew)
    return;
  int count = product.columns / 4;
  Accumulator &accumulator = entry->second;
  accumulator.high = product.high;
  accumulator.lowValues.assign(product.low, product.low + count);
  accumulator.highValues.assign(product.high, product.high + count);
  // Nobody is to look at them before the product is done.
  std::fill_n(product.low, count, std::numeric_limits<float>::quiet_NaN());
  std::fill_n(product.high, count, std::numeric_limits<float>::quiet_NaN());
}

/// When all threads of a warp have asked for it, the product is in flight.
void Block::multiply(Thread &thread) {
  if (!thread.mayMultiply)
    fail("no wgmma.fence came before it");
  Warp &warp = warpOf(thread);
  takeRegisters(thread);
  if (warp.meeting.here.size() + 1 == warp.live) {
    unsigned first = thread.index / kWarp * kWarp, number = thread.index % kWarpgroup / kWarp;
    PendingProduct pending;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      Thread &other = Threads[first + lane];
      pending.parts.push_back({other.product, {}});
      std::copy_n(other.left, 4, pending.parts.back().left);
      if (other.product.right != thread.product.right || other.product.left != thread.product.left)
        fail("the threads of the warp describe different operands");
    }
    check(findPieces(thread.product, number, pending.reads));
    pending.reader = first + draw(kWarp);
    pending.group = thread.groups;
    const Thread &reader = Threads[pending.reader];
    for (unsigned piece : pending.reads)
      check(memory.beginReading({reader.id, reader.clock}, piece, 16, "the product"));
    warp.products.push_back(std::move(pending));
    ++warp.multiplied;
    warp.isCommitted = false;
  }
  meet(thread, warp.meeting, warp.live, false);
}

/// The oldest product of some warp is made.
void Block::makeOne() {
  unsigned number = draw(Warps.size());
  while (Warps[number].products.empty())
    number = (number + 1) % Warps.size();
  Warp &warp = Warps[number];
  PendingProduct product = std::move(warp.products.front());
  warp.products.pop_front();
  Accumulator *accumulators[kWarp];
  for (unsigned lane = 0; lane < kWarp; ++lane)
    accumulators[lane] =
        &Threads[number * kWarp + lane].inFlight.at(product.parts[lane].product.low);
  makeProduct(memory, product, number % (kWarpgroup / kWarp), accumulators);
  const Thread &reader = Threads[product.reader];
  for (unsigned piece : product.reads)
    memory.finishReading({reader.id, reader.clock}, piece, 16);
  launch.noteChange();
  for (Thread *thread : warp.waiting)
    wake(*thread);
  warp.waiting.clear();
}

void Block::awaitProducts(Thread &thread, unsigned pending) {
  Warp &warp = warpOf(thread);
  meet(thread, warp.meeting, warp.live, true);
  if (!warp.isCommitted)
    fail("a product was not committed");
  auto isAwaited = [&](uint64_t group) { return group + pending < thread.groups; };
  while (!warp.products.empty() && isAwaited(warp.products.front().group)) {
    warp.waiting.push_back(&thread);
    thread.isWaiting = true;
    suspend(thread);
  }
  std::erase_if(thread.inFlight, [&](auto &entry) {
    auto &[low, accumulator] = entry;
    if (!isAwaited(accumulator.group))
      return false;
    std::copy(accumulator.lowValues.begin(), accumulator.lowValues.end(), low);
    std::copy(accumulator.highValues.begin(), accumulator.highValues.end(), accumulator.high);
    return true;
  });
  thread.mayMultiply = false;
}

void Block::awaitPrerequisites(Thread &thread) {
  if (!launch.hasPrerequisites())
    return;
  launch.behindPrerequisites.push_back(&thread);
  thread.isWaiting = true;
  suspend(thread);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Block::Block(Launch &launch, unsigned index)
    : launch(launch), index(index),
      first(index % launch.request.cluster * clocksOf(launch.request)),
      memory(launch.request.sharedBytes, launch.request.threads, first),
      Random(launch.request.seed * 1000003 + index), Warps(launch.request.threads / kWarp),
      Live(launch.request.threads) {
  for (unsigned k = 0; k < launch.request.threads; ++k) {
    Threads.emplace_back(*this, k);
    if (!Threads.back().fiber.isUsable())
      stop("there is no memory for its threads");
    Ready.push_back(&Threads.back());
  }
}

void Block::resume(Thread &thread) {
  running = this;
  current = &thread;
  emulated::thread = {thread.index, 0, 0};
  emulated::block = {index, 0, 0};
  emulated::threads = {launch.request.threads, 1, 1};
  emulated::blocks = {launch.request.blocks, 1, 1};
  Scheduler.switchTo(thread.fiber);
  current = nullptr;
}

void Block::step() {
  bool hasThings = !Copies.empty() || hasProducts();
  // What is stored is read late: it is found who has not waited for that.
  if (!Stores.empty() && ((Ready.empty() && !hasThings) || draw(4096) == 0)) {
    storeOne();
  } else if (hasThings && (Ready.empty() || draw(16) == 0)) {
    if (!Copies.empty() && (!hasProducts() || draw(2) == 0))
      landOne();
    else
      makeOne();
  } else if (!Ready.empty()) {
    unsigned which = draw(Ready.size());
    Thread *thread = Ready[which];
    Ready[which] = Ready.back();
    Ready.pop_back();
    resume(*thread);
  } else {
    rest();
  }
}

bool Block::hasTimed() const {
  return std::any_of(Threads.begin(), Threads.end(),
                     [](const Thread &thread) { return thread.isWaiting && thread.isTimed; });
}

bool Block::wakeTimed() {
  bool found = false;
  for (Thread &thread : Threads)
    if (thread.isWaiting && thread.isTimed) {
      wake(thread);
      found = true;
    }
  return found;
}

/// Nobody here can go on. Who waits for a time looks again where something has changed.
void Block::rest() {
  if (seen != launch.changes) {
    seen = launch.changes;
    if (wakeTimed())
      return;
  }
  launch.idle(*this);
}

std::string Block::stuck() const {
  std::map<std::string, std::vector<unsigned>> waits;
  for (const Thread &thread : Threads) {
    if (thread.isDone)
      continue;
    std::string what = thread.instruction;
    if (auto found = mbarriers.find(thread.barrier);
        found != mbarriers.end() && what.starts_with("mbarrier"))
      what += " of the barrier at " + hex(thread.barrier) + ", to which " +
              std::to_string(found->second.pending) + " arrivals and " +
              std::to_string(found->second.bytes) + " bytes have not come";
    waits[what].push_back(thread.index);
  }
  std::string text = "nobody can go on:";
  for (const auto &[what, all] : waits)
    text += std::string(&what == &waits.begin()->first ? " " : "; ") + std::to_string(all.size()) +
            " threads from " + std::to_string(all.front()) + " on wait at " + what;
  return text;
}

void Block::checkEnd() {
  if (launch.isOver || launch.hasExited)
    return;
  if (!Copies.empty())
    stop("it has ended while the copy engine writes to its memory");
  if (!Stores.empty())
    stop("it has ended while the copy engine reads its memory");
  for (size_t k = 0; k < Warps.size(); ++k) {
    if (!Warps[k].products.empty())
      stop("it has ended while the matrix unit multiplies");
    if (Warps[k].multiplied != Warps[k / 4 * 4].multiplied)
      stop("the warps of a warpgroup have not executed the same wgmma instructions");
  }
}

void Block::run() {
  baton.acquire();
  while (Live > 0 && !launch.isOver) {
    if (draw(256) == 0)
      launch.passBaton(*this);
    else
      step();
  }
  checkEnd();
  launch.leave(*this);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Nanoseconds after which nobody waits any longer.
static constexpr uint64_t kPatience = 20'000'000'000;

void Launch::passBaton(Block &from) {
  Block &to = *Live[Random() % Live.size()];
  if (&to == &from)
    return;
  to.baton.release();
  from.baton.acquire();
}

void Launch::leave(Block &block) {
  std::erase(Live, &block);
  noteChange();
  if (!Live.empty())
    Live[Random() % Live.size()]->baton.release();
}

void Launch::idle(Block &block) {
  for (Block *other : Live)
    if (other != &block && (other->seen != changes || other->hasWork())) {
      other->baton.release();
      block.baton.acquire();
      return;
    }
  if (!behindPrerequisites.empty()) {
    runPrerequisites();
    for (Thread *thread : std::exchange(behindPrerequisites, {}))
      thread->block.wake(*thread);
    return noteChange();
  }
  // Nothing can happen anywhere before some time has passed.
  bool isTimed =
      std::any_of(Live.begin(), Live.end(), [](const Block *other) { return other->hasTimed(); });
  if (isTimed && time - ChangedAt < kPatience) {
    time += kPatience / 200;
    ++changes;
  } else if (hasExited) {
    isOver = true; // those who are left wait for those who gave up
  } else {
    block.stop(block.stuck());
  }
}

void Launch::runPrerequisites() {
  if (!hasPrerequisites())
    return;
  HasPrerequisites = false;
  Block *before = running;
  std::array places = {emulated::thread, emulated::block, emulated::threads, emulated::blocks};
  request.prerequisites();
  running = before;
  std::tie(emulated::thread, emulated::block, emulated::threads, emulated::blocks) =
      std::tuple_cat(places);
}

std::string Launch::run() {
  for (unsigned k = 0; k < request.blocks; ++k) {
    Blocks.push_back(std::make_unique<Block>(*this, k));
    Live.push_back(Blocks.back().get());
  }
  std::vector<std::thread> hosts;
  for (auto &block : Blocks)
    hosts.emplace_back([&block] { block->run(); });
  Blocks.front()->baton.release();
  for (std::thread &host : hosts)
    host.join();
  runPrerequisites();
  running = nullptr;
  return Failure;
}

std::string emulated::run(const LaunchRequest &request) {
  if (request.threads % kWarp != 0 || request.threads == 0 || request.threads > 1024)
    return "blocks of " + std::to_string(request.threads) + " threads are not emulated";
  if (request.blocks % request.cluster != 0)
    return std::to_string(request.blocks) + " blocks are no clusters of " +
           std::to_string(request.cluster);
  return Launch(request).run();
}
