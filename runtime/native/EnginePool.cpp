#include "native/EnginePool.h"

using namespace kiln;

/// Idle engines that are kept: as many as runs that are likely to begin at the same time.
static constexpr size_t maxIdle = 8;

EnginePool &EnginePool::get() {
  // Never destroyed: at the end of a process that was forked there are no threads to wait for.
  static auto *pool = new EnginePool;
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
