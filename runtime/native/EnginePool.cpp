#include "native/EnginePool.h"

#include "kiln/runtime/workers.h"

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

static std::atomic<unsigned> workerLimit{0}; ///< 0: none.

Status kiln::setWorkerLimit(unsigned limit) {
  if (limit > maxWorkers)
    return Status(StatusCode::InvalidArgument, "a call has at most " + std::to_string(maxWorkers) +
                                                   " threads, not " + std::to_string(limit));
  workerLimit.store(limit, std::memory_order_relaxed);
  return Status::ok();
}

/// The threads of a run beside `others`, of which one alone has `alone`.
static unsigned shareOf(unsigned alone, size_t others) {
  return std::max(1u, unsigned(alone / (others + 1)));
}

/// An engine for a run beside `others`.
static Expected<std::unique_ptr<Engine>> makeEngine(const KernelRegistry &registry, size_t others) {
  unsigned limit = workerLimit.load(std::memory_order_relaxed);
  Expected<unsigned> alone = limit ? Expected<unsigned>(limit) : defaultWorkers();
  if (!alone)
    return alone.status();
  EngineOptions options;
  options.workers = shareOf(*alone, others);
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
    unsigned limit = workerLimit.load(std::memory_order_relaxed);
    if (limit && slot.engine && slot.engine->workers() != shareOf(limit, number)) [[unlikely]]
      slot.engine.reset(); // made before the limit was set
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
