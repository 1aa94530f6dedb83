//===- EnginePool.h - engines for compiled programs ----------------------===//
//
// What: the engines on which orchestrations of compiled programs run, shared by all programs of the
//   process. A run that is alone has a thread for each core; of runs at the same time the second
//   has half as many, the third a third, and so on down to one, the caller's own. So the number of
//   threads is bounded whatever is loaded and whoever calls, and cores are not fought over.
//
// Ownership: who takes an engine has it for himself until the lease goes. Engines stay, so that
//   their threads are started once.
//
// Threads: any. Taking one and giving it back waits for nobody.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_NATIVE_ENGINEPOOL_H
#define KILN_RUNTIME_NATIVE_ENGINEPOOL_H

#include "kiln/runtime/engine.h"

#include <array>
#include <atomic>
#include <utility>

namespace kiln {

class EnginePool {
  /// A place for an engine; whoever set `isTaken` may look at the rest.
  struct alignas(64) Slot {
    std::atomic<bool> isTaken{false};
    std::unique_ptr<Engine> engine;
  };

public:
  /// An engine for one run.
  class Lease {
  public:
    Lease(Lease &&other) noexcept
        : From(std::exchange(other.From, nullptr)), Own(std::move(other.Own)) {}
    Lease &operator=(Lease &&) = delete;
    ~Lease() {
      if (From)
        From->isTaken.store(false, std::memory_order_release);
    }
    Engine &operator*() const { return From ? *From->engine : *Own; }
    Engine *operator->() const { return &**this; }

  private:
    friend class EnginePool;
    explicit Lease(Slot *from) : From(from) {}
    Slot *From;                  ///< Null: more runs at once than there are places.
    std::unique_ptr<Engine> Own; ///< Then this.
  };

  static EnginePool &get();

  /// An engine without an open run, for the kernels of this registry.
  Expected<Lease> take(const KernelRegistry &registry);

private:
  /// More runs at once than this have engines that are made for them, without threads.
  static constexpr size_t numSlots = 64;
  std::array<Slot, numSlots> Slots;
};

} // namespace kiln

#endif // KILN_RUNTIME_NATIVE_ENGINEPOOL_H
