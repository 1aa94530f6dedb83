#include "Parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

void kiln::parallelFor(size_t count, unsigned threads, const std::function<void(size_t)> &work) {
  std::atomic<size_t> next = 0;
  auto takeAll = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      work(i);
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
