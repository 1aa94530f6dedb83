//===- Measure.h - timing for the benchmarks -----------------------------===//
//
// What: repeats a piece of work and keeps the median and the spread of its time. Benchmarks only.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_BENCH_MEASURE_H
#define KILN_BENCH_MEASURE_H

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace kiln::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Sample {
  double median = 0, low = 0, high = 0;
};

/// `work()` returns the nanoseconds an item took. The quartiles are the spread.
template <typename Work> Sample measure(int repeats, Work work) {
  work(); // warm
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i)
    times.push_back(work());
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() / 4], times[times.size() * 3 / 4]};
}

/// Other load on the machine only ever makes things slower, so of several medians the best counts.
inline Sample better(const Sample &a, const Sample &b) {
  return a.median != 0 && a.median < b.median ? a : b;
}
template <typename Work> Sample bestOf(int rounds, int repeats, Work work) {
  Sample best;
  for (int i = 0; i < rounds; ++i)
    best = better(best, measure(repeats, work));
  return best;
}

inline void check(bool isRight, const char *what) {
  if (isRight)
    return;
  std::fprintf(stderr, "wrong result: %s\n", what);
  std::exit(1);
}

struct Row {
  std::string what;
  Sample kiln;
  double peer = 0; // 0: none
  std::string unit, bar, goal;
};

/// The result column is peer / kiln: above 1, Kiln is better.
inline void printTable(const std::vector<Row> &rows) {
  std::printf("\n%-44s %10s %22s %10s %7s  %-16s %s\n", "what", "kiln", "quartiles", "peer",
              "ratio", "first bar", "goal");
  for (const Row &row : rows) {
    char spread[40], peer[24] = "-", ratio[16] = "-";
    std::snprintf(spread, sizeof(spread), "%.1f .. %.1f", row.kiln.low, row.kiln.high);
    if (row.peer > 0) {
      std::snprintf(peer, sizeof(peer), "%.1f", row.peer);
      std::snprintf(ratio, sizeof(ratio), "%.2fx", row.peer / row.kiln.median);
    }
    std::printf("%-44s %7.1f %-2s %22s %10s %7s  %-16s %s\n", row.what.c_str(), row.kiln.median,
                row.unit.c_str(), spread, peer, ratio, row.bar.c_str(), row.goal.c_str());
  }
}

} // namespace kiln::bench

#endif // KILN_BENCH_MEASURE_H
