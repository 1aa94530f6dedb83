//===- Parking.h - where threads without work sleep ----------------------===//
//
// What: wakes sleeping workers when work is published, and the submitter when the task it waits for
//   has finished, without a lost wake-up and without costing the publisher a fence.
//
// Why no fence: "publish, then look for sleepers" against "register as a sleeper, then look for
//   work" needs a store-load fence on both sides. A publisher does this for every task, and its
//   fence would wait for cache misses on the task's block; a sleeper does it rarely. So the sleeper
//   fences on behalf of everybody, with membarrier(2); where that is missing publishers pay.
//
// A process has to register before it may use membarrier(2), which takes milliseconds where it has
//   several threads. So that no run waits for it, the first worker that goes to sleep does it, and
//   publishers pay until then. See SharedFence for why nobody is forgotten in between.
//
// Threads: any. Internal to the engine.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ENGINE_PARKING_H
#define KILN_RUNTIME_ENGINE_PARKING_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kiln {

/// Whether the process may fence on behalf of all its threads, and who may count on it.
///
/// Sleepers start to fence before publishers stop. A sleeper that does not fence yet has enrolled
/// before `sleepersFence` was set, so before `publishersRely` was: a publisher that sees the latter
/// sees the sleeper. All of this is sequentially consistent.
struct SharedFence {
  static inline std::atomic<bool> sleepersFence{false}, publishersRely{false};
  /// Registers the process, the first time it is called.
  static void prepare();
};

class Parking {
public:
  static constexpr uint64_t noTask = UINT64_MAX;

  /// To be called after publishing work: wakes one sleeper, if there is any.
  void notifyWork() {
    uint32_t sleepers;
    if (SharedFence::publishersRely.load(std::memory_order_seq_cst)) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      sleepers = Sleepers.load(std::memory_order_seq_cst);
    } else {
      sleepers = Sleepers.fetch_add(0, std::memory_order_seq_cst);
    }
    if (sleepers != 0)
      wakeOne();
  }

  /// To be called after sealing a task (which is a sequentially consistent exchange).
  void notifyFinished(uint64_t task) {
    if (Awaited.load(std::memory_order_seq_cst) == task)
      wakeSubmitter();
  }

  /// Sleeps until there is work, unless `isNeeded()` says that there is some already.
  template <typename IsNeeded> void sleep(IsNeeded isNeeded) {
    SharedFence::prepare();
    sleepAs(false, isNeeded);
  }

  /// The submitter's sleep: also ends when `task` finishes.
  template <typename IsNeeded> void sleepUntil(uint64_t task, IsNeeded isNeeded) {
    await(task);
    sleepAs(true, isNeeded);
    Awaited.store(noTask, std::memory_order_relaxed);
  }

  void wakeAll();

private:
  template <typename IsNeeded> void sleepAs(bool isSubmitter, IsNeeded isNeeded) {
    enroll();
    if (isNeeded())
      leave();
    else
      block(isSubmitter);
  }

  void await(uint64_t task);
  void enroll();
  void leave();
  void leaveLocked();
  void block(bool isSubmitter);
  void wakeOne();
  void wakeSubmitter();

  // Read by publishers all the time, written only around sleeping: a line of its own.
  alignas(64) std::atomic<uint32_t> Sleepers{0};
  std::atomic<uint64_t> Awaited{noTask};
  alignas(64) std::mutex Mutex;
  std::condition_variable Woken;
  // Enrolled threads are counted in Sleepers until somebody decides to wake one, then in Wakeups.
  uint32_t Wakeups = 0;
  bool HasFinished = false; // the awaited task
};

} // namespace kiln

#endif // KILN_RUNTIME_ENGINE_PARKING_H
