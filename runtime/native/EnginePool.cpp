#include "native/EnginePool.h"

#include <algorithm>
#include <pthread.h>

using namespace kiln;

/// Never destroyed: at the end of a process that was forked there are no threads to wait for.
static EnginePool *pool;

EnginePool &EnginePool::get() {
  // A forked process has the engines but not their threads, so it begins with a pool of its own.
  static const bool isMade = [] {
    pool = new EnginePool;
    pthread_atfork(nullptr, nullptr, [] { pool = new EnginePool; });
    return true;
  }();
  (void)isMade;
  return *pool;
}

/// An engine for a run beside `others`.
static Expected<std::unique_ptr<Engine>> makeEngine(const KernelRegistry &registry, size_t others) {
  Expected<unsigned> alone = defaultWorkers();
  if (!alone)
    return alone.status();
  EngineOptions options;
  options.workers = std::max(1u, unsigned(*alone / (others + 1)));
  options.recordTrace = false;
  options.arenaBytes = 0; // whatever the program needs
  return Engine::create(registry, options);
}

Expected<EnginePool::Lease> EnginePool::take(const KernelRegistry &registry) {
  for (size_t number = 0; number < numSlots; ++number) {
    Slot &slot = Slots[number];
    if (slot.isTaken.load(std::memory_order_relaxed) ||
        slot.isTaken.exchange(true, std::memory_order_acquire))
      continue;
    Lease lease(&slot);
    if (slot.engine) {
      if (Status bad = slot.engine->rebind(registry); !bad.isOk())
        return bad;
      return lease;
    }
    Expected<std::unique_ptr<Engine>> made = makeEngine(registry, number);
    if (!made)
      return made.status();
    slot.engine = std::move(*made);
    return lease;
  }
  Expected<std::unique_ptr<Engine>> made = makeEngine(registry, maxWorkers);
  if (!made)
    return made.status();
  Lease lease(nullptr);
  lease.Own = std::move(*made);
  return lease;
}
