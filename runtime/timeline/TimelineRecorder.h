//===- TimelineRecorder.h - takes the times of one run -------------------===//
//
// What: an event buffer per worker. Recording is a look at the clock and an append to memory of
//   the worker's own: no lock, no shared cache line. Without a recorder it is one test of a
//   pointer.
//
// Ownership: one recorder per run, made when it begins.
//
// Threads: record() by worker `worker` only, and for a task before that task is sealed, so that
//   whoever has seen all tasks finish may take(). Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TIMELINE_TIMELINERECORDER_H
#define KILN_RUNTIME_TIMELINE_TIMELINERECORDER_H

#include "kiln/runtime/timeline.h"

#include <chrono>
#include <mutex>

namespace kiln {

class TimelineRecorder {
public:
  explicit TimelineRecorder(unsigned numWorkers) : Lanes(numWorkers) {}

  /// Nanoseconds since the run began.
  int64_t now() const { return (Clock::now() - Start) / std::chrono::nanoseconds(1); }

  void record(unsigned worker, const TimelineEvent &event) {
    Lanes[worker].events.push_back(event);
  }
  void recordNow(unsigned worker, TimelineEvent::Kind kind, uint64_t amount) {
    int64_t time = now();
    record(worker, {kind, amount, time, time, {}});
  }

  /// What others did for a task of this run; any thread.
  void recordCollective(const TimelineEvent &event) {
    std::lock_guard lock(Mutex);
    Collectives.push_back(event);
  }

  void recordRole(unsigned worker, TimelineRoleEvent event) {
    Lanes[worker].roles.push_back(std::move(event));
  }
  void recordLevel(unsigned worker, TimelinePipeLevel level) {
    Lanes[worker].pipes.push_back(std::move(level));
  }

  /// What was recorded, without the kernels.
  Timeline take() {
    Timeline timeline;
    timeline.length = now();
    for (Lane &lane : Lanes) {
      timeline.workers.push_back(std::move(lane.events));
      timeline.roles.push_back(std::move(lane.roles));
      timeline.pipes.push_back(std::move(lane.pipes));
    }
    timeline.collectives = std::move(Collectives);
    return timeline;
  }

private:
  using Clock = std::chrono::steady_clock;
  /// A line of its own: workers fill theirs at the same time.
  struct alignas(64) Lane {
    std::vector<TimelineEvent> events;
    std::vector<TimelineRoleEvent> roles;
    std::vector<TimelinePipeLevel> pipes;
  };
  const Clock::time_point Start = Clock::now();
  std::vector<Lane> Lanes;
  std::mutex Mutex;
  std::vector<TimelineEvent> Collectives;
};

/// Records the time from its construction to its end; does nothing without a recorder. While a call
/// of a kernel is timed, the roles of that kernel find their timeline on its thread.
class TimelineSpan final : RoleTimeline {
public:
  TimelineSpan(TimelineRecorder *recorder, unsigned worker, TimelineEvent::Kind kind, uint64_t task,
               const kiln_blocks *blocks = nullptr)
      : Recorder(recorder), Worker(worker), Kind(kind), Task(task), Blocks(blocks),
        Begin(recorder ? recorder->now() : 0) {
    if (Recorder && Kind == TimelineEvent::Kind::Call)
      enter(this);
  }
  ~TimelineSpan() override {
    if (Recorder)
      end();
  }
  TimelineSpan(const TimelineSpan &) = delete;
  TimelineSpan &operator=(const TimelineSpan &) = delete;

private:
  int64_t now() const override { return Recorder->now(); }
  void add(TimelineRoleEvent event) override {
    event.task = Task;
    Recorder->recordRole(Worker, std::move(event));
  }
  void add(TimelinePipeLevel level) override { Recorder->recordLevel(Worker, std::move(level)); }
  /// Makes it what RoleTimeline::current() returns on this thread.
  static void enter(RoleTimeline *timeline);
  void end();

  TimelineRecorder *const Recorder;
  const unsigned Worker;
  const TimelineEvent::Kind Kind;
  const uint64_t Task;
  const kiln_blocks *const Blocks;
  const int64_t Begin;
};

} // namespace kiln

#endif // KILN_RUNTIME_TIMELINE_TIMELINERECORDER_H
