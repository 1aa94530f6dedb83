//===- Analysis.h - what a timeline says about each task -----------------===//
//
// What: when each task ran, and the critical path: the chain of dependent tasks that took longest.
//   Shared by the files and the summary. Pure. Internal to the timeline.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TIMELINE_ANALYSIS_H
#define KILN_RUNTIME_TIMELINE_ANALYSIS_H

#include "kiln/runtime/timeline.h"

namespace kiln {

struct TaskTimes {
  // Nanoseconds since the run began; -1: never.
  int64_t taken = -1; // a worker took it from the ready tasks
  int64_t begin = -1; // its kernel was called first
  int64_t end = -1;   // its kernel returned last
  int64_t calls = 0;  // in its kernel, over all workers

  bool ran() const { return end >= 0; }
  int64_t duration() const { return ran() ? end - begin : 0; }
};

struct TimelineAnalysis {
  TimelineAnalysis(const Timeline &timeline, const Trace &trace);

  std::vector<TaskTimes> tasks; // by index
  std::vector<uint64_t> criticalPath;
  int64_t criticalLength = 0; // ns

  bool isCritical(uint64_t task) const;
  /// Whether the critical path leads from one to the other directly.
  bool isCritical(const TraceEdge &edge) const;
};

/// "add", or "(dummy)"
std::string kernelName(const TraceTask &task);
/// How the task's kernel calls an argument (task order).
std::string argumentName(const Timeline &timeline, const TraceTask &task, size_t index);
/// What made `edge.to` wait: an argument of it, its predicate, or nothing for an explicit edge.
std::string tensorOf(const Timeline &timeline, const Trace &trace, const TraceEdge &edge);

/// The text of graph.json and graph.dot.
std::string renderGraphJson(const std::string &title, const Timeline &timeline, const Trace &trace,
                            const TimelineAnalysis &analysis);
std::string renderGraphDot(const std::string &title, const Timeline &timeline, const Trace &trace,
                           const TimelineAnalysis &analysis);

} // namespace kiln

#endif // KILN_RUNTIME_TIMELINE_ANALYSIS_H
