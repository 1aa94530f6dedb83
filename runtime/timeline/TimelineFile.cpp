// timeline.json in the Chrome trace event format, and writing all files.
#include "abi/FileIo.h"
#include "dump/DumpFormat.h"
#include "timeline/Analysis.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

using namespace kiln;
using Kind = TimelineEvent::Kind;

namespace {

/// Renders one event a line. Times are microseconds with the nanoseconds as decimals.
class TraceEvents {
public:
  /// `process` is the number of the group of tracks.
  TraceEvents(const Timeline &timeline, const Trace &trace, const TimelineAnalysis &analysis,
              int process = 1)
      : Times(timeline), Graph(trace), Analysis(analysis), Process(process),
        Slices(trace.tasks.size()) {}

  std::string render(const std::string &title) { return inFile(lines(title)); }
  static std::string inFile(const std::string &lines) {
    return "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n" + lines + "\n]}\n";
  }

  /// The events, one a line.
  std::string lines(const std::string &title) {
    nameTracks(title);
    for (size_t worker = 0; worker < Times.workers.size(); ++worker)
      addWorker(worker);
    for (size_t worker = 0; worker < Times.roles.size(); ++worker)
      addRoles(worker);
    addCollectives();
    addFlows();
    addCounter("ready tasks", "tasks", readyTasks());
    addCounter("arena", "bytes", arenaUse());
    for (size_t worker = 0; worker < Times.pipes.size(); ++worker)
      addPipes(worker);
    return Lines;
  }

private:
  /// Submissions have a track of their own: the submitter may be at work in between.
  static constexpr size_t submitTrack = 0;
  static size_t trackOf(size_t worker) { return worker + 1; }
  static double microseconds(int64_t ns) { return static_cast<double>(ns) / 1000; }

  /// A slice of a task on a worker's track, which flows may be tied to.
  struct Slice {
    size_t track = 0;
    int64_t begin = 0, end = -1;
  };
  using Samples = std::vector<std::pair<int64_t, int64_t>>; // time, value

  void add(const Json &event) { Lines += (Lines.empty() ? "" : ",\n") + dumpformat::toText(event); }
  Json event(const char *phase, const std::string &name, size_t track, int64_t time) {
    return {{"ph", phase},
            {"name", name},
            {"pid", Process},
            {"tid", track},
            {"ts", microseconds(time)}};
  }
  void addSlice(const std::string &name, const char *category, size_t track, int64_t begin,
                int64_t end, Json args) {
    Json slice = event("X", name, track, begin);
    slice["dur"] = microseconds(end - begin);
    slice["cat"] = category;
    slice["args"] = std::move(args);
    add(slice);
  }

  void nameTrack(const char *what, size_t track, const std::string &text) {
    add({{"ph", "M"},
         {"name", what},
         {"pid", Process},
         {"tid", track},
         {"args", {{"name", text}}}});
  }

  void nameTracks(const std::string &title) {
    nameTrack("process_name", 0, title);
    nameTrack("thread_name", submitTrack, "submit");
    for (size_t worker = 0; worker < Times.workers.size(); ++worker)
      nameTrack("thread_name", trackOf(worker), "worker " + std::to_string(worker));
  }

  /// The track of a role of the mixed tasks of a worker, which is named when it is first needed.
  size_t roleTrack(size_t worker, const std::string &role) {
    auto [track, isNew] =
        RoleTracks.try_emplace({worker, role}, trackOf(Times.workers.size()) + RoleTracks.size());
    if (isNew)
      nameTrack("thread_name", track->second, "worker " + std::to_string(worker) + " " + role);
    return track->second;
  }

  void addRoles(size_t worker) {
    for (const TimelineRoleEvent &event : Times.roles[worker])
      addSlice(event.what, event.isWait ? "wait" : "role", roleTrack(worker, event.role),
               event.begin, event.end, {{"task", event.task}});
  }

  /// Collectives have tracks of their own, as many as are in flight at a time: workers go on.
  void addCollectives() {
    std::vector<TimelineEvent> events = Times.collectives;
    std::sort(events.begin(), events.end(), [](const TimelineEvent &a, const TimelineEvent &b) {
      return std::tie(a.begin, a.amount) < std::tie(b.begin, b.amount);
    });
    size_t first = trackOf(Times.workers.size()) + RoleTracks.size();
    std::vector<int64_t> ends; // of each track
    for (const TimelineEvent &event : events) {
      size_t lane = 0;
      while (lane < ends.size() && ends[lane] > event.begin)
        ++lane;
      if (lane == ends.size()) {
        ends.push_back(0);
        nameTrack("thread_name", first + lane, "communication " + std::to_string(lane));
      }
      ends[lane] = event.end;
      const TraceTask &task = Graph.tasks[event.amount];
      addSlice(kernelName(task), "collective", first + lane, event.begin, event.end,
               argumentsOf(task));
      Slices[event.amount].push_back({first + lane, event.begin, event.end});
    }
  }

  Json argumentsOf(const TraceTask &task) {
    Json args{{"task", task.index}, {"state", toString(task.state)}, {"grid", task.grid}};
    if (task.loc.isKnown())
      args["source"] = task.loc.str();
    if (auto kernel = Times.kernels.find(task.kernel);
        kernel != Times.kernels.end() && !kernel->second.members.empty())
      args["members"] = kernel->second.members;
    for (size_t i = 0; i < task.tensors.size(); ++i)
      args[argumentName(Times, task, i)] = std::string(toString(task.tensors[i].direction)) + " " +
                                           toString(task.tensors[i].dtype) +
                                           toString(Dims(task.tensors[i].extents));
    for (size_t i = 0; i < task.scalars.size(); ++i)
      args[argumentName(Times, task, task.tensors.size() + i)] =
          dumpformat::scalarValue(task.scalars[i]);
    return args;
  }

  void addWorker(size_t worker) {
    // A task's event follows those of its calls on that worker.
    bool hasCalls = false;
    for (const TimelineEvent &event : Times.workers[worker]) {
      if (event.kind == Kind::Submit)
        addSlice("submit " + kernelName(Graph.tasks[event.amount]), "submit", submitTrack,
                 event.begin, event.end, {{"task", event.amount}});
      if (event.kind == Kind::Call) {
        addBlocks(worker, event);
        hasCalls = true;
      }
      if (event.kind == Kind::Task && std::exchange(hasCalls, false))
        addTask(worker, event);
    }
  }

  void addTask(size_t worker, const TimelineEvent &event) {
    const TraceTask &task = Graph.tasks[event.amount];
    addSlice(kernelName(task), "task", trackOf(worker), event.begin, event.end, argumentsOf(task));
    Slices[event.amount].push_back({trackOf(worker), event.begin, event.end});
  }

  void addBlocks(size_t worker, const TimelineEvent &event) {
    std::string range;
    for (int axis = 0; axis < 3; ++axis)
      range += (axis == 0 ? "" : ", ") + std::to_string(event.blocks.begin[axis]) + ".." +
               std::to_string(event.blocks.end[axis]);
    addSlice("blocks [" + range + ")", "blocks", trackOf(worker), event.begin, event.end,
             {{"task", event.amount}});
  }

  /// One arrow for two tasks, however many tensors tie them; none from or to what did not run.
  void addFlows() {
    std::set<std::pair<uint64_t, uint64_t>> drawn;
    for (const TraceEdge &edge : Graph.edges) {
      const std::vector<Slice> &from = Slices[edge.from], &to = Slices[edge.to];
      if (from.empty() || to.empty() || !drawn.insert({edge.from, edge.to}).second)
        continue;
      const Slice &last = *std::max_element(
          from.begin(), from.end(), [](const Slice &a, const Slice &b) { return a.end < b.end; });
      const Slice &first = *std::min_element(
          to.begin(), to.end(), [](const Slice &a, const Slice &b) { return a.begin < b.begin; });
      addFlow(edge, last, first);
    }
  }

  void addFlow(const TraceEdge &edge, const Slice &from, const Slice &to) {
    std::string tensor = tensorOf(Times, Graph, edge);
    std::string name = toString(edge.kind) + (tensor.empty() ? "" : " " + tensor);
    // Just inside the slice: a viewer ties an arrow to what lies at its ends.
    Json start = event("s", name, from.track, std::max(from.begin, from.end - 1));
    Json finish = event("f", name, to.track, to.begin);
    finish["bp"] = "e";
    ++NumFlows;
    for (Json *end : {&start, &finish}) {
      (*end)["cat"] = "dependency";
      (*end)["id"] = NumFlows;
      add(*end);
    }
  }

  Samples readyTasks() const {
    Samples changes;
    for (const std::vector<TimelineEvent> &events : Times.workers)
      for (const TimelineEvent &event : events)
        if (event.kind == Kind::Ready) {
          changes.push_back({event.begin, 1});
          if (int64_t taken = Analysis.tasks[event.amount].taken; taken >= 0)
            changes.push_back({std::max(taken, event.begin), -1});
        }
    // At one moment, first those that become ready.
    std::sort(changes.begin(), changes.end(), [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    int64_t ready = 0;
    for (auto &[time, value] : changes)
      value = ready += value;
    return changes;
  }

  Samples arenaUse() const {
    Samples samples;
    for (const TimelineEvent &event : Times.workers.front())
      if (event.kind == Kind::Arena)
        samples.push_back({event.begin, static_cast<int64_t>(event.amount)});
    return samples;
  }

  void addCounter(const std::string &name, const std::string &unit, const Samples &samples) {
    for (const auto &[time, value] : samples) {
      Json counter = event("C", name, 0, time);
      counter["args"] = {{unit, value}};
      add(counter);
    }
  }

  /// Levels that follow one another at one moment count as the last of them.
  void addPipes(size_t worker) {
    std::map<std::pair<std::string, uint64_t>, Samples> levels; // by pipe and slots
    for (const TimelinePipeLevel &level : Times.pipes[worker]) {
      Samples &samples = levels[{level.pipe, level.slots}];
      auto used = static_cast<int64_t>(level.used);
      if (!samples.empty() && samples.back().second == used)
        continue;
      if (!samples.empty() && samples.back().first == level.time)
        samples.back().second = used;
      else
        samples.push_back({level.time, used});
    }
    for (const auto &[pipe, samples] : levels)
      addCounter("worker " + std::to_string(worker) + " pipe " + pipe.first,
                 "of " + std::to_string(pipe.second) + (pipe.second == 1 ? " slot" : " slots"),
                 samples);
  }

  const Timeline &Times;
  const Trace &Graph;
  const TimelineAnalysis &Analysis;
  const int Process;
  std::vector<std::vector<Slice>> Slices; // by task
  std::map<std::pair<size_t, std::string>, size_t> RoleTracks;
  uint64_t NumFlows = 0;
  std::string Lines;
};

} // namespace

Status kiln::writeTimeline(const std::string &directory, const std::string &title,
                           const Timeline &timeline, const Trace &trace) {
  if (!timeline.isRecorded())
    return Status(StatusCode::FailedPrecondition, "no timeline was recorded");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return Status(StatusCode::IoError,
                  "cannot create directory '" + directory + "': " + error.message());
  TimelineAnalysis analysis(timeline, trace);
  const std::pair<const char *, std::string> files[] = {
      {"timeline.json", TraceEvents(timeline, trace, analysis).render(title)},
      {"graph.json", renderGraphJson(title, timeline, trace, analysis)},
      {"graph.dot", renderGraphDot(title, timeline, trace, analysis)}};
  for (const auto &[name, text] : files)
    if (Status bad = writeFileAtomically(directory + "/" + name, text); !bad.isOk())
      return bad;
  return Status::ok();
}

Status kiln::writeRankTimelines(const std::string &directory, const std::string &title,
                                std::span<const Timeline> timelines,
                                std::span<const Trace> traces) {
  std::string lines;
  for (size_t rank = 0; rank < timelines.size(); ++rank) {
    if (!timelines[rank].isRecorded())
      continue;
    TimelineAnalysis analysis(timelines[rank], traces[rank]);
    std::string its =
        TraceEvents(timelines[rank], traces[rank], analysis, static_cast<int>(rank) + 1)
            .lines(title + ", rank " + std::to_string(rank));
    lines += (lines.empty() ? "" : ",\n") + its;
  }
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return Status(StatusCode::IoError,
                  "cannot create directory '" + directory + "': " + error.message());
  return writeFileAtomically(directory + "/timeline.json", TraceEvents::inFile(lines));
}
