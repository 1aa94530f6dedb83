#include "timeline/Analysis.h"

#include <algorithm>

using namespace kiln;

static void addTimes(std::vector<TaskTimes> &tasks, const TimelineEvent &event) {
  using Kind = TimelineEvent::Kind;
  if ((event.kind != Kind::Task && event.kind != Kind::Call) || event.amount >= tasks.size())
    return;
  TaskTimes &task = tasks[event.amount];
  auto earlier = [](int64_t known, int64_t time) {
    return known < 0 ? time : std::min(known, time);
  };
  if (event.kind == Kind::Task) {
    task.taken = earlier(task.taken, event.begin);
    return;
  }
  task.begin = earlier(task.begin, event.begin);
  task.end = std::max(task.end, event.end);
  task.calls += event.end - event.begin;
}

TimelineAnalysis::TimelineAnalysis(const Timeline &timeline, const Trace &trace)
    : tasks(trace.tasks.size()) {
  for (const std::vector<TimelineEvent> &events : timeline.workers)
    for (const TimelineEvent &event : events)
      addTimes(tasks, event);

  // Edges come sorted by `to` and point forward, so one pass suffices.
  std::vector<int64_t> longest(tasks.size(), 0);
  std::vector<uint64_t> before(tasks.size(), UINT64_MAX);
  size_t edge = 0;
  uint64_t last = UINT64_MAX;
  for (uint64_t task = 0; task < tasks.size(); ++task) {
    for (; edge < trace.edges.size() && trace.edges[edge].to == task; ++edge) {
      uint64_t from = trace.edges[edge].from;
      if (before[task] == UINT64_MAX || longest[from] > longest[before[task]])
        before[task] = from;
    }
    longest[task] =
        tasks[task].duration() + (before[task] == UINT64_MAX ? 0 : longest[before[task]]);
    if (last == UINT64_MAX || longest[task] > longest[last])
      last = task;
  }
  if (last == UINT64_MAX)
    return;
  criticalLength = longest[last];
  for (uint64_t task = last; task != UINT64_MAX; task = before[task])
    criticalPath.push_back(task);
  std::reverse(criticalPath.begin(), criticalPath.end());
}

bool TimelineAnalysis::isCritical(uint64_t task) const {
  return std::binary_search(criticalPath.begin(), criticalPath.end(), task);
}

bool TimelineAnalysis::isCritical(const TraceEdge &edge) const {
  auto at = std::lower_bound(criticalPath.begin(), criticalPath.end(), edge.to);
  return at != criticalPath.end() && at != criticalPath.begin() && *at == edge.to &&
         *std::prev(at) == edge.from;
}

std::string kiln::kernelName(const TraceTask &task) {
  return task.kernel.empty() ? "(dummy)" : task.kernel;
}

std::string kiln::argumentName(const Timeline &timeline, const TraceTask &task, size_t index) {
  auto kernel = timeline.kernels.find(task.kernel);
  if (kernel != timeline.kernels.end() && index < kernel->second.arguments.size())
    return kernel->second.arguments[index];
  return "arg" + std::to_string(index);
}

std::string kiln::tensorOf(const Timeline &timeline, const Trace &trace, const TraceEdge &edge) {
  if (edge.kind == EdgeKind::Explicit)
    return "";
  if (edge.arg < 0)
    return "predicate";
  return argumentName(timeline, trace.tasks[edge.to], static_cast<size_t>(edge.arg));
}
