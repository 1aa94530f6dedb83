#include "engine/Parking.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace kiln;

static bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

void SharedFence::prepare() {
  static std::atomic<bool> isBegun{false};
  if (isBegun.load(std::memory_order_relaxed) || isBegun.exchange(true))
    return;
  // A forked process has one thread, and begins anew.
  pthread_atfork(nullptr, nullptr, [] {
    isBegun = false;
    sleepersFence = publishersRely = false;
  });
  if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
    return;
  sleepersFence.store(true, std::memory_order_seq_cst);
  publishersRely.store(true, std::memory_order_seq_cst);
}

void Parking::await(uint64_t task) {
  {
    std::lock_guard lock(Mutex);
    HasFinished = false;
  }
  Awaited.store(task, std::memory_order_seq_cst);
}

void Parking::enroll() {
  Sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (SharedFence::sleepersFence.load(std::memory_order_seq_cst))
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void Parking::leaveLocked() {
  if (Sleepers.load(std::memory_order_relaxed) != 0)
    Sleepers.fetch_sub(1, std::memory_order_relaxed);
  else
    --Wakeups; // somebody meant to wake one of us: that was this thread
}

void Parking::leave() {
  std::lock_guard lock(Mutex);
  leaveLocked();
}

void Parking::block(bool isSubmitter) {
  std::unique_lock lock(Mutex);
  Woken.wait(lock, [&] { return Wakeups != 0 || (isSubmitter && HasFinished); });
  if (Wakeups != 0)
    --Wakeups;
  else
    leaveLocked();
}

void Parking::wakeOne() {
  std::lock_guard lock(Mutex);
  if (Sleepers.load(std::memory_order_relaxed) == 0)
    return; // somebody else has just done it
  Sleepers.fetch_sub(1, std::memory_order_relaxed);
  ++Wakeups;
  Woken.notify_one();
}

void Parking::wakeSubmitter() {
  std::lock_guard lock(Mutex);
  HasFinished = true;
  Woken.notify_all();
}

void Parking::wakeAll() {
  std::lock_guard lock(Mutex);
  Wakeups += Sleepers.exchange(0, std::memory_order_relaxed);
  Woken.notify_all();
}
