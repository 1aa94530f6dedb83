// A run's times in a few lines for the terminal.
#include "timeline/Analysis.h"

#include <algorithm>
#include <cstdio>

using namespace kiln;

static constexpr size_t maxKernels = 5, maxPathTasks = 8;

template <typename... Args> static std::string format(const char *pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof(text), pattern, args...);
  return text;
}

static double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

static std::string duration(int64_t ns) {
  if (ns < 1000000)
    return format("%.1f us", static_cast<double>(ns) / 1e3);
  return format("%.1f ms", static_cast<double>(ns) / 1e6);
}

/// Kernels are useful; submission and what surrounds a kernel's call is overhead; the rest is idle.
static std::string shares(const Timeline &timeline, const Trace &trace) {
  using Kind = TimelineEvent::Kind;
  int64_t spent[5] = {};
  for (const std::vector<TimelineEvent> &events : timeline.workers)
    for (const TimelineEvent &event : events)
      spent[static_cast<size_t>(event.kind)] += event.end - event.begin;
  auto of = [&](Kind kind) { return spent[static_cast<size_t>(kind)]; };
  size_t workers = timeline.workers.size();
  int64_t whole = timeline.length * static_cast<int64_t>(workers), kernels = of(Kind::Call);
  int64_t overhead = of(Kind::Submit) + of(Kind::Task) - kernels;
  return format("  %zu task%s on %zu worker%s in %s: %.1f %% kernels, %.1f %% overhead, "
                "%.1f %% idle\n",
                trace.tasks.size(), trace.tasks.size() == 1 ? "" : "s", workers,
                workers == 1 ? "" : "s", duration(timeline.length).c_str(), percent(kernels, whole),
                percent(overhead, whole),
                percent(std::max<int64_t>(whole - kernels - overhead, 0), whole));
}

static std::string topKernels(const Trace &trace, const TimelineAnalysis &analysis) {
  struct Total {
    std::string kernel;
    uint64_t tasks = 0;
    int64_t time = 0;
  };
  std::map<std::string, Total> byName;
  int64_t all = 0;
  for (const TraceTask &task : trace.tasks) {
    if (!analysis.tasks[task.index].ran())
      continue;
    Total &total = byName[task.kernel];
    total.kernel = task.kernel;
    ++total.tasks;
    total.time += analysis.tasks[task.index].calls;
    all += analysis.tasks[task.index].calls;
  }
  std::vector<Total> totals;
  for (auto &[name, total] : byName)
    totals.push_back(total);
  std::stable_sort(totals.begin(), totals.end(),
                   [](const Total &a, const Total &b) { return a.time > b.time; });
  std::string text;
  for (size_t i = 0; i < std::min(totals.size(), maxKernels); ++i)
    text +=
        format("    %-24.80s %6llu task%s %12s %5.1f %%\n", totals[i].kernel.c_str(),
               static_cast<unsigned long long>(totals[i].tasks), totals[i].tasks == 1 ? " " : "s",
               duration(totals[i].time).c_str(), percent(totals[i].time, all));
  if (totals.size() > maxKernels)
    text += format("    and %zu more kernels\n", totals.size() - maxKernels);
  return text;
}

static std::string criticalPath(const Trace &trace, const TimelineAnalysis &analysis) {
  const std::vector<uint64_t> &path = analysis.criticalPath;
  std::string text = format("  critical path: %zu of %zu tasks, %s:", path.size(),
                            trace.tasks.size(), duration(analysis.criticalLength).c_str());
  for (size_t i = 0; i < std::min(path.size(), maxPathTasks); ++i)
    text +=
        (i == 0 ? " " : " -> ") + std::to_string(path[i]) + " " + kernelName(trace.tasks[path[i]]);
  return text + (path.size() > maxPathTasks ? " -> ...\n" : "\n");
}

std::string kiln::summarize(const Timeline &timeline, const Trace &trace) {
  TimelineAnalysis analysis(timeline, trace);
  std::string text = shares(timeline, trace) + topKernels(trace, analysis);
  return trace.tasks.empty() ? text : text + criticalPath(trace, analysis);
}
