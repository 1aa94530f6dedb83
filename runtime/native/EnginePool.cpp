#include "native/EnginePool.h"

#include <pthread.h>

using namespace kiln;

/// Idle engines that are kept: as many as runs that are likely to begin at the same time.
static constexpr size_t maxIdle = 8;

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

Expected<std::unique_ptr<Engine>> EnginePool::take(const KernelRegistry &registry) {
  std::unique_ptr<Engine> engine;
  {
    std::lock_guard lock(Mutex);
    if (!Idle.empty()) {
      engine = std::move(Idle.back());
      Idle.pop_back();
    }
  }
  if (engine) {
    if (Status bad = engine->rebind(registry); !bad.isOk())
      return bad;
    return engine;
  }
  EngineOptions options;
  options.recordTrace = false;
  options.arenaBytes = 0; // whatever the program needs
  return Engine::create(registry, options);
}

void EnginePool::giveBack(std::unique_ptr<Engine> engine) {
  std::lock_guard lock(Mutex);
  if (Idle.size() < maxIdle)
    Idle.push_back(std::move(engine));
}
