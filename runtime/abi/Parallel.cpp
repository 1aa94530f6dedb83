#include "Parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

static std::atomic<kiln::ParallelWatcher> watcher = nullptr;

void kiln::watchParallelWork(ParallelWatcher watch) { watcher = watch; }

void kiln::parallelFor(size_t count, unsigned threads, const std::function<void(size_t)> &work,
                       const char *what) {
  std::atomic<size_t> next = 0;
  ParallelWatcher watch = what ? watcher.load() : nullptr;
  static std::mutex telling;
  size_t done = 0;
  if (watch) {
    std::lock_guard turn(telling);
    watch(what, 0, count);
  }
  auto takeAll = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      work(i);
      if (watch) {
        std::lock_guard turn(telling);
        watch(what, ++done, count);
      }
    }
  };
  if (threads == 0)
    threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  try {
    for (size_t i = 1; i < std::min<size_t>(threads, count); ++i)
      others.emplace_back(takeAll);
  } catch (const std::exception &) { // NOLINT(bugprone-empty-catch)
    // No thread, or no memory for one, is to be had: those that are there do everything.
  }
  takeAll();
}
