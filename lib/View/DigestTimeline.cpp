// timeline.json by column. An event that is not what the file should hold is left out and counted.
#include "RunFolder.h"
#include "Strings.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace kiln::view {
namespace {

/// What slices are, as the page knows them; in the order in which they are kept if there are too
/// many.
const char *const kKinds[] = {"task", "collective", "role", "wait", "submit", "blocks"};
constexpr size_t kMostSlices = 400'000, kMostPoints = 400'000;

std::optional<int64_t> nanoseconds(const Json &event, const char *key) {
  auto value = event.find(key);
  if (value == event.end() || !value->is_number())
    return std::nullopt;
  double ns = value->get<double>() * 1000;
  if (!(std::abs(ns) < 9e15)) // what the page's numbers hold exactly
    return std::nullopt;
  return std::llround(ns);
}

std::optional<int64_t> integer(const Json &event, const char *key) {
  auto value = event.find(key);
  if (value == event.end() || !value->is_number_integer())
    return std::nullopt;
  return value->get<int64_t>();
}

std::string text(const Json &event, const char *key) {
  auto value = event.find(key);
  return value != event.end() && value->is_string() ? value->get<std::string>() : "";
}

/// A track is one of a process; each rank is one.
using TrackId = std::pair<int64_t, int64_t>;

struct Slice {
  size_t track, name;
  int64_t begin, length, task;
};

struct Counter {
  std::string unit;
  std::vector<std::pair<int64_t, double>> points;
};

class TimelineDigest {
public:
  void add(const Json &event) {
    std::string phase = event.is_object() ? text(event, "ph") : "";
    if (phase == "M")
      addName(event);
    else if (phase == "X")
      addSlice(event);
    else if (phase == "C")
      addCounter(event);
    else if (phase != "s" && phase != "f") // arrows: the graph has the edges
      ++NumBad;
  }

  Json take() {
    Json slices{{"track", Json::array()}, {"begin", Json::array()}, {"length", Json::array()},
                {"name", Json::array()},  {"task", Json::array()},  {"kind", Json::array()}};
    std::vector<size_t> order = orderTracks();
    size_t kept = 0, leftOut = 0;
    for (size_t kind = 0; kind < std::size(kKinds); ++kind) {
      std::ranges::stable_sort(Slices[kind], {}, &Slice::begin);
      for (const Slice &slice : Slices[kind]) {
        if (kept == kMostSlices) {
          ++leftOut;
          continue;
        }
        ++kept;
        slices["track"].push_back(order[slice.track]);
        slices["begin"].push_back(slice.begin);
        slices["length"].push_back(slice.length);
        slices["name"].push_back(slice.name);
        slices["task"].push_back(slice.task);
        slices["kind"].push_back(kind);
      }
    }
    Json tracks = Json::array();
    for (size_t i = 0; i < order.size(); ++i)
      tracks.push_back("");
    for (size_t i = 0; i < order.size(); ++i)
      tracks[order[i]] = hasRanks() ? rankOf(Processes[i]) + ": " + TrackNames[i] : TrackNames[i];
    return {{"title", Titles.empty() ? "" : Titles.begin()->second},
            {"kinds", kKinds},
            {"names", Names.list()},
            {"tracks", std::move(tracks)},
            {"slices", std::move(slices)},
            {"counters", takeCounters()},
            {"left_out", leftOut},
            {"not_understood", NumBad}};
  }

private:
  std::optional<TrackId> trackId(const Json &event) {
    std::optional<int64_t> pid = integer(event, "pid"), tid = integer(event, "tid");
    return tid ? std::optional(TrackId(pid.value_or(0), *tid)) : std::nullopt;
  }
  size_t trackOf(TrackId id) {
    auto [known, isNew] = Tracks.try_emplace(id, TrackNames.size());
    if (isNew) {
      TrackNames.push_back("track " + std::to_string(id.second));
      Processes.push_back(id.first);
    }
    return known->second;
  }
  bool hasRanks() const { return Titles.size() > 1; }
  /// With several ranks: which one this is, as its title says in the end.
  std::string rankOf(int64_t process) const {
    auto title = Titles.find(process);
    size_t at = title == Titles.end() ? std::string::npos : title->second.rfind(", rank ");
    return at == std::string::npos ? "process " + std::to_string(process)
                                   : title->second.substr(at + 2);
  }

  void addName(const Json &event) {
    auto args = event.find("args");
    std::string name = args != event.end() && args->is_object() ? text(*args, "name") : "";
    if (text(event, "name") == "process_name")
      Titles[integer(event, "pid").value_or(0)] = name;
    else if (std::optional<TrackId> id = trackId(event); id && text(event, "name") == "thread_name")
      TrackNames[trackOf(*id)] = name;
  }

  void addSlice(const Json &event) {
    auto kind = std::ranges::find(kKinds, text(event, "cat"),
                                  [](const char *word) { return std::string(word); });
    std::optional<TrackId> id = trackId(event);
    std::optional<int64_t> begin = nanoseconds(event, "ts"), length = nanoseconds(event, "dur");
    if (kind == std::end(kKinds) || !id || !begin || !length || *length < 0) {
      ++NumBad;
      return;
    }
    auto args = event.find("args");
    std::optional<int64_t> task;
    if (args != event.end() && args->is_object())
      task = integer(*args, "task");
    Slices[kind - std::begin(kKinds)].push_back(
        {trackOf(*id), Names(text(event, "name")), *begin, *length, task.value_or(-1)});
  }

  void addCounter(const Json &event) {
    std::optional<int64_t> time = nanoseconds(event, "ts");
    auto args = event.find("args");
    if (!time || args == event.end() || !args->is_object() || args->size() != 1 ||
        !args->begin()->is_number()) {
      ++NumBad;
      return;
    }
    Counter &counter = Counters[{integer(event, "pid").value_or(0), text(event, "name")}];
    counter.unit = args->begin().key();
    counter.points.emplace_back(*time, args->begin()->get<double>());
  }

  /// A worker's roles come below it: where each track goes.
  std::vector<size_t> orderTracks() const {
    std::vector<size_t> places(TrackNames.size()), order(TrackNames.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    // "worker 10" behind "worker 9": numbers compare by their length first.
    auto key = [&](size_t track) {
      const std::string &name = TrackNames[track];
      std::string number;
      size_t at = std::string("worker ").size();
      if (name.starts_with("worker "))
        while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])))
          number += name[at++];
      return std::tuple(Processes[track], name.starts_with("worker ") ? 1 : 0, number.size(),
                        number, number.empty() ? name : name.substr(at));
    };
    std::ranges::stable_sort(order, {}, key);
    for (size_t i = 0; i < order.size(); ++i)
      places[order[i]] = i;
    return places;
  }

  Json takeCounters() {
    Json list = Json::array();
    for (auto &[id, counter] : Counters) {
      std::string name = hasRanks() ? rankOf(id.first) + ": " + id.second : id.second;
      std::ranges::stable_sort(counter.points, {}, [](const auto &point) { return point.first; });
      // Of far too many points every n-th is drawn; the greatest between two is kept.
      size_t step = counter.points.size() / kMostPoints + 1;
      Json points = Json::array();
      for (size_t i = 0; i < counter.points.size(); i += step) {
        auto end = counter.points.begin() + std::min(i + step, counter.points.size());
        auto most = std::max_element(counter.points.begin() + i, end,
                                     [](auto &a, auto &b) { return a.second < b.second; });
        points.push_back(most->first);
        points.push_back(most->second);
      }
      list.push_back({{"name", name}, {"unit", counter.unit}, {"points", std::move(points)}});
    }
    return list;
  }

  std::map<int64_t, std::string> Titles; // by process
  std::map<TrackId, size_t> Tracks;
  std::vector<std::string> TrackNames;
  std::vector<int64_t> Processes; // of each track
  std::vector<Slice> Slices[std::size(kKinds)];
  std::map<std::pair<int64_t, std::string>, Counter> Counters;
  Strings Names;
  size_t NumBad = 0;
};

} // namespace

Expected<Json> digestTimeline(const std::string &text) {
  TimelineDigest digest;
  constexpr std::string_view lists[] = {"traceEvents"};
  Expected<Json> rest =
      readLists(text, lists, [&](std::string_view, const Json &event) { digest.add(event); });
  return rest ? digest.take() : rest;
}

} // namespace kiln::view
