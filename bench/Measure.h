//===- Measure.h - timing for the benchmarks -----------------------------===//
//
// What: repeats a piece of work, keeps the median and the spread of its time, and reports rows: a
//   table for people, a list in a JSON file for machines. Benchmarks only.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_BENCH_MEASURE_H
#define KILN_BENCH_MEASURE_H

#include "Places.h"

#include "kiln/runtime/status.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::bench {

/// Ends the program unless `status` is good: a benchmark measures what works.
inline void must(const Status &status) {
  if (status.isOk())
    return;
  std::fprintf(stderr, "%s\n", status.str().c_str());
  std::exit(1);
}
template <typename T> T take(Expected<T> value) {
  must(value.status());
  return std::move(*value);
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Work of a given length.
inline void spin(double seconds) {
  for (double end = now() + seconds; now() < end;) {
  }
}

/// A whole number of at least 1 that a command line gives, or 0 where it gives something else.
inline int countFrom(std::string_view text) {
  int count = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0 ? count : 0;
}

/// The quartiles are the spread.
struct Sample {
  double median = 0, low = 0, high = 0;
};

inline Sample sampleOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() / 4], times[times.size() * 3 / 4]};
}

/// Measures several things in turns, so that other load on the machine meets all alike. Each
/// `work()` returns the time of an item; in each round it runs once to warm up and then counts
/// `repeats` times. The median of all, not the best of some: a scheduler that is fast only now and
/// then, say while one of its threads happens to be asleep, is not a fast one. `beforeEach` comes
/// before the turn of each, `whenWarm` behind its warming up.
template <typename BeforeEach, typename WhenWarm, typename... Work>
std::vector<Sample> measureTurns(int rounds, int repeats, BeforeEach beforeEach, WhenWarm whenWarm,
                                 Work &...work) {
  std::vector<std::vector<double>> times(sizeof...(work));
  for (int round = 0; round < rounds; ++round) {
    size_t i = 0;
    auto measure = [&](auto &one) {
      beforeEach();
      one();
      whenWarm();
      for (int k = 0; k < repeats; ++k)
        times[i].push_back(one());
      ++i;
    };
    (measure(work), ...);
  }
  std::vector<Sample> samples;
  for (std::vector<double> &each : times)
    samples.push_back(sampleOf(std::move(each)));
  return samples;
}

/// Work on threads that stay: each has a core of its own, and begins when others have come to rest.
template <typename... Work>
std::vector<Sample> measureInTurns(int rounds, int repeats, Work... work) {
  giveCoresToOthers();
  ((work(), giveCoresToOthers()), ...); // pools are made
  PinnedCaller pinned;
  return measureTurns(rounds, repeats, waitForOthers, giveCoresToOthers, work...);
}

/// Work that makes threads of its own each time, which would stay where their maker is.
template <typename... Work>
std::vector<Sample> measureMakingThreads(int rounds, int repeats, Work... work) {
  auto nothing = [] {};
  return measureTurns(rounds, repeats, nothing, nothing, work...);
}

inline void check(bool isRight, const char *what) {
  if (isRight)
    return;
  std::fprintf(stderr, "wrong result: %s\n", what);
  std::exit(1);
}

/// What a row is to reach: so many units at most, or so many times as good as the peer at least.
struct Target {
  enum class Kind { None, AtMost, Ratio } kind = Kind::None;
  double number = 0;

  static Target atMost(double value) { return {Kind::AtMost, value}; }
  static Target ratio(double value) { return {Kind::Ratio, value}; }
};

struct Row {
  std::string name;
  Sample kiln;
  std::string unit;
  std::string peer; // empty: none
  double peerValue = 0;
  Target bar, goal;

  /// Above 1: Kiln is better. All units here are times.
  double ratio() const { return peer.empty() ? 0 : peerValue / kiln.median; }
  bool reaches(const Target &target) const;
  /// "goal", "bar", "no", or "-" where there is no bar.
  const char *reached() const;
  std::string textOf(const Target &target) const;
};

/// The rows of one program.
class Report {
public:
  void add(Row row) { Rows.push_back(std::move(row)); }
  void print() const;
  /// Adds the rows to the list in `path`, which is made if missing; rows of the same name and peer
  /// are replaced. Exits when that fails.
  void write(const std::string &path) const;

private:
  std::vector<Row> Rows;
};

} // namespace kiln::bench

#endif // KILN_BENCH_MEASURE_H
