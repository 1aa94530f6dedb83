//===- kiln/runtime/timeline.h - what ran when, and why then -------------===//
//
// What: `Timeline`, the times an engine records with RunOptions::recordTimeline, and what is made
//   of it and the run's Trace: timeline.json (Chrome trace events, for Perfetto), graph.json and
//   graph.dot (tasks and edges, critical path marked), and a summary for the terminal. The files
//   are described in runtime/timeline/README.md.
//
// Ownership and threads: values and pure functions.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TIMELINE_H
#define KILN_RUNTIME_TIMELINE_H

#include "kiln/abi.h"
#include "kiln/runtime/status.h"
#include "kiln/runtime/task.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kiln {

struct TimelineEvent {
  enum class Kind : uint8_t {
    Submit, // the submitter looked for the task's producers and built its node
    Ready,  // nothing is left to wait for
    Task,   // a worker was busy with the task: kernel, predicate, dump
    Call,   // the kernel ran for `blocks`
    Arena   // `amount` bytes of intermediates are in use
  };
  Kind kind = Kind::Task;
  uint64_t amount = 0;        // the task's index, but for Arena
  int64_t begin = 0, end = 0; // ns since the run began; equal where there is no duration
  kiln_blocks blocks{};       // Call only
};

/// What one role of a mixed task did inside a call of its kernel.
struct TimelineRoleEvent {
  uint64_t task = 0;
  std::string role; // the instance: "aic", or "aiv#0" where the role has lanes
  std::string what; // the function it ran, or what it waited for
  bool isWait = false;
  int64_t begin = 0, end = 0;
};

/// How many slots of a pipe of a mixed task are in use from a moment on: pushed, and not freed.
struct TimelinePipeLevel {
  std::string pipe;
  uint64_t slots = 0, used = 0;
  int64_t time = 0; // ns since the run began
};

/// How a kernel calls its arguments, what a block touches of its tensors (empty: not known), and
/// the kernels a mixed task consists of.
struct TimelineKernel {
  std::vector<std::string> arguments, boxes, members;
};

struct Timeline {
  std::vector<std::vector<TimelineEvent>> workers;   // [0] is the submitter; in order of `end`
  std::vector<std::vector<TimelineRoleEvent>> roles; // by worker
  std::vector<std::vector<TimelinePipeLevel>> pipes; // by worker
  std::vector<TimelineEvent> collectives;            // from start to end; workers go on meanwhile
  std::map<std::string, TimelineKernel> kernels;     // those of the trace, by name
  int64_t length = 0;                                // of the run, ns

  bool isRecorded() const { return !workers.empty(); }
};

/// For whoever runs the roles of a mixed kernel (the simulator, fibers): what the call that is
/// running on this thread may add to the timeline. Null unless one is recorded.
class RoleTimeline {
public:
  virtual ~RoleTimeline() = default;
  /// Nanoseconds since the run began.
  virtual int64_t now() const = 0;
  /// The task is filled in. The slices of a role do not overlap.
  virtual void add(TimelineRoleEvent event) = 0;
  /// In order of time.
  virtual void add(TimelinePipeLevel level) = 0;

  static RoleTimeline *current();
};

/// Writes timeline.json, graph.json and graph.dot into `directory`, which is made if missing.
/// `title` says what ran where.
Status writeTimeline(const std::string &directory, const std::string &title,
                     const Timeline &timeline, const Trace &trace);

/// The same of several ranks, in one timeline.json with a group of tracks for each.
Status writeRankTimelines(const std::string &directory, const std::string &title,
                          std::span<const Timeline> timelines, std::span<const Trace> traces);

/// A few lines: shares of kernels, overhead and idle time, top kernels, critical path.
std::string summarize(const Timeline &timeline, const Trace &trace);

} // namespace kiln

#endif // KILN_RUNTIME_TIMELINE_H
