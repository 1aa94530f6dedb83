#include "TogetherRun.h"

#include "Hang.h"
#include "Orchestrate.h"
#include "Watch.h"

#include <algorithm>
#include <tuple>

using namespace kiln;
using namespace kiln::cuda;

std::shared_ptr<Buffer> TogetherRun::keep(std::shared_ptr<Buffer> memory) {
  return Memory.emplace_back(std::move(memory));
}

/// Zeros.
Expected<DevicePointer> TogetherRun::allocate(uint64_t bytes) {
  Expected<std::shared_ptr<Buffer>> memory = allocateOn(*On.driver, Place.stream, bytes);
  if (!memory)
    return memory.status();
  DevicePointer address = addressOf(keep(*memory)->data());
  if (Status failed = On.driver->check(On.driver->fillBytes(address, 0, bytes, Place.stream),
                                       "cuMemsetD8Async");
      !failed.isOk())
    return failed;
  return address;
}

Status TogetherRun::add(const LoadedKernel &kernel, const Signature &signature,
                        const kiln_args &args, std::span<const int64_t, 3> blocks) {
  if (Status bad = verifyCounts(kernel.description, args.num_tensors, args.num_scalars);
      !bad.isOk())
    return bad;
  Expected<unsigned> started = blocksToStart(On, kernel, blocks);
  if (!started || *started == 0)
    return started.status();
  Launch &added = Launches.emplace_back(kernel, *started, args, blocks);
  for (size_t i = 0; i < args.num_tensors; ++i) {
    added.arguments.setData(*On.driver, i, args.tensors[i].data);
    added.writes.push_back(kiln::writes(signature.tensors[i].direction));
  }
  if (needsCounter(kernel.description, blocks, *started)) {
    Expected<DevicePointer> word = allocate(sizeof(uint64_t));
    if (!word)
      return word.status();
    added.arguments.setArrivals(*word);
  }
  // It gets its times at the end; only now the timeline knows which task it is.
  if (RoleTimeline *timeline = RoleTimeline::current()) {
    TimelineRoleEvent slice;
    slice.role = "gpu " + std::to_string(On.number);
    slice.what = kernel.description.name;
    timeline->add(std::move(slice));
  }
  return Status::ok();
}

Status TogetherRun::launch(TaskTable &table, std::vector<Span> &spans) {
  const Driver &cuda = *On.driver;
  size_t tasks = table.entries().size(), blocks = table.blocks();
  std::vector<uint64_t> times(2 * tasks * blocks);
  Expected<DevicePointer> counters = allocate(tasks * sizeof(uint64_t)),
                          written = allocate(times.size() * sizeof(uint64_t));
  for (const Expected<DevicePointer> *memory : {&counters, &written})
    if (!*memory)
      return memory->status();
  table.write(*counters, *written);
  Result result = startTable(cuda, table, Place);
  if (result == 0 && Place.watched)
    Place.watched->launched(table);
  result = result ? result
                  : cuda.copyToHost(times.data(), *written, times.size() * sizeof(uint64_t),
                                    Place.stream);
  if (Status failed = cuda.check(result, "cuLaunchKernelEx"); !failed.isOk())
    return failed;
  if (Status failed = cuda.check(cuda.streamSynchronize(Place.stream), "the kernels failed");
      !failed.isOk())
    return failed;
  for (size_t task = 0; task < tasks; ++task) {
    Span span{UINT64_MAX, 0};
    for (size_t block = 0; block < table.entries()[task].comers; ++block) {
      const uint64_t *of = &times[2 * (task * blocks + block)];
      span = {std::min(span.begin, of[0]), std::max(span.end, of[1])};
    }
    spans.push_back(span);
  }
  return takeHang(On);
}

Expected<std::vector<TogetherRun::Span>> TogetherRun::launch() {
  std::vector<PartLaunch> launches;
  for (Launch &launch : Launches)
    launches.push_back({&launch.kernel, launch.blocks, &launch.arguments, &launch.writes});
  std::vector<Span> spans;
  for (TaskTable &table : tablesOf(launches))
    if (Status failed = launch(table, spans); !failed.isOk())
      return failed;
  return spans;
}

Status TogetherRun::finish(Timeline &timeline) {
  if (Launches.empty())
    return Status::ok();
  Expected<std::vector<Span>> spans = launch();
  if (!spans || !timeline.isRecorded())
    return spans.status();
  uint64_t first = UINT64_MAX;
  for (const Span &span : *spans)
    first = std::min(first, span.begin);
  // The GPU begins when the host has said everything. A task that begins before others have ended
  // is on another track.
  const int64_t launched = timeline.length;
  std::vector<TimelineRoleEvent> slices = std::exchange(timeline.roles[0], {});
  std::map<uint64_t, std::pair<size_t, const TimelineRoleEvent *>> places; // by task
  std::vector<int64_t> ends;                                               // of each track
  for (size_t number = 0; number < std::min(spans->size(), slices.size()); ++number) {
    TimelineRoleEvent &slice = slices[number];
    slice.begin = launched + static_cast<int64_t>((*spans)[number].begin - first);
    slice.end = launched + static_cast<int64_t>((*spans)[number].end - first);
    size_t track = 0;
    while (track < ends.size() && ends[track] > slice.begin)
      ++track;
    ends.resize(std::max(ends.size(), track + 1));
    ends[track] = slice.end;
    places[slice.task] = {track, &slice};
    timeline.length = std::max(timeline.length, slice.end);
  }
  size_t tracks = std::max(timeline.workers.size(), ends.size());
  timeline.workers.resize(tracks);
  timeline.roles.resize(tracks);
  timeline.pipes.resize(tracks);
  for (TimelineEvent &event : std::exchange(timeline.workers[0], {})) {
    auto found = places.find(event.amount);
    bool isRun = event.kind == TimelineEvent::Kind::Task || event.kind == TimelineEvent::Kind::Call;
    if (!isRun || found == places.end()) {
      timeline.workers[0].push_back(event);
      continue;
    }
    auto [track, slice] = found->second;
    event.begin = slice->begin, event.end = slice->end;
    timeline.workers[track].push_back(event);
  }
  for (auto &[task, place] : places)
    timeline.roles[place.first].push_back(*place.second);
  for (std::vector<TimelineEvent> &events : timeline.workers)
    std::ranges::stable_sort(events, {}, &TimelineEvent::end);
  return Status::ok();
}
