#include "Peers.h"

#include "Measure.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#ifdef KILN_BENCH_TBB
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>
#endif

using namespace kiln::bench;

#ifdef _OPENMP
std::string kiln::bench::libgompName() { return "libgomp"; }
template <typename Work>
static double runLibgompTasks(std::vector<float> &values, int64_t count, Work work) {
  double start = now();
  auto size = static_cast<int64_t>(values.size());
  float *data = values.data();
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int64_t i = 0; i < count; ++i) {
    float *x = data + i * 16 % size;
#pragma omp task depend(inout : x[0]) firstprivate(x)
    work(x);
  }
  return (now() - start) / static_cast<double>(count) * 1e9;
}
double kiln::bench::runLibgomp(std::vector<float> &values, int64_t count) {
  return runLibgompTasks(values, count, [](float *x) { *x += 1; });
}
double kiln::bench::runLibgompSlow(std::vector<float> &values, int64_t count) {
  return runLibgompTasks(values, count, [](float *x) {
    spin(1e-6);
    *x += 1;
  });
}
#else
std::string kiln::bench::libgompName() { return ""; }
double kiln::bench::runLibgomp(std::vector<float> &, int64_t) { return 0; }
double kiln::bench::runLibgompSlow(std::vector<float> &, int64_t) { return 0; }
#endif

#ifdef KILN_BENCH_TBB
std::string kiln::bench::tbbName() { return "oneTBB " TBB_VERSION_STRING; }
double kiln::bench::runTbb(std::vector<float> &values, int64_t count) {
  static oneapi::tbb::task_arena arena(2);
  auto size = static_cast<int64_t>(values.size());
  float *data = values.data();
  double start = now();
  arena.execute([&] {
    oneapi::tbb::task_group tasks;
    for (int64_t i = 0; i < count; ++i) {
      float *x = data + i * 16 % size;
      tasks.run([x] { *x += 1; });
    }
    tasks.wait();
  });
  return (now() - start) / static_cast<double>(count) * 1e9;
}
#else
std::string kiln::bench::tbbName() { return ""; }
double kiln::bench::runTbb(std::vector<float> &, int64_t) { return 0; }
#endif

namespace {

class BoundedQueue {
public:
  explicit BoundedQueue(size_t places) : Places(places) {}
  void push(float value) {
    std::unique_lock lock(Mutex);
    Changed.wait(lock, [&] { return Values.size() < Places; });
    Values.push_back(value);
    Changed.notify_one();
  }
  float pop() {
    std::unique_lock lock(Mutex);
    Changed.wait(lock, [&] { return !Values.empty(); });
    float value = Values.front();
    Values.pop_front();
    Changed.notify_one();
    return value;
  }

private:
  const size_t Places;
  std::mutex Mutex;
  std::condition_variable Changed;
  std::deque<float> Values;
};

} // namespace

double kiln::bench::runThreads(int64_t count, int slots, bool answers) {
  BoundedQueue there(static_cast<size_t>(slots)), back(static_cast<size_t>(slots));
  float sum = 0;
  double start = now();
  std::thread consumer([&] {
    takeSecondCore();
    for (int64_t i = 0; i < count; ++i) {
      sum += there.pop();
      if (answers)
        back.push(sum);
    }
  });
  for (int64_t i = 0; i < count; ++i) {
    there.push(1);
    if (answers)
      (void)back.pop();
  }
  consumer.join();
  double time = now() - start;
  check(sum == static_cast<float>(count), "hand-over between threads");
  return time / static_cast<double>(answers ? 2 * count : count) * 1e9;
}
