// graph.json with names once. An edge that is not what the file should hold is left out and
// counted, a task has nothing but its number then; edges go from earlier tasks to later ones, as
// the engine submits them.
#include "RunFolder.h"
#include "Strings.h"

#include <cmath>
#include <vector>

namespace kiln::view {
namespace {

/// More than a browser lays out; the first are kept, which the later ones wait for.
constexpr size_t kMostTasks = 200'000, kMostEdges = 400'000;

std::string text(const Json &object, const char *key) {
  auto value = object.find(key);
  return value != object.end() && value->is_string() ? value->get<std::string>() : "";
}

double number(const Json &object, const char *key, double fallback) {
  auto value = object.find(key);
  double result = value != object.end() && value->is_number() ? value->get<double>() : fallback;
  return std::isfinite(result) ? result : fallback;
}

bool flag(const Json &object, const char *key) {
  auto value = object.find(key);
  return value != object.end() && value->is_boolean() && value->get<bool>();
}

/// "64x128"; empty for a scalar, or what is no list of numbers.
std::string shapeOf(const Json &argument) {
  auto shape = argument.find("shape");
  std::string result;
  if (shape == argument.end() || !shape->is_array())
    return result;
  for (const Json &extent : *shape)
    result += (result.empty() ? "" : "x") +
              (extent.is_number_integer() ? std::to_string(extent.get<int64_t>()) : "?");
  return result;
}

double bytesOf(const Json &argument) {
  auto shape = argument.find("shape");
  if (shape == argument.end() || !shape->is_array())
    return 0;
  std::optional<DType> dtype = parseDType(text(argument, "dtype"));
  double bytes = dtype && info(*dtype).isElement ? static_cast<double>(sizeOf(*dtype)) : 0;
  for (const Json &extent : *shape)
    bytes *= extent.is_number() ? extent.get<double>() : 0;
  return std::isfinite(bytes) ? bytes : 0;
}

class GraphDigest {
public:
  void addTask(const Json &member) {
    if (Tasks.size() == kMostTasks) {
      ++NumLeftOut;
      return;
    }
    // Edges and dumps name tasks by their place, so one that is not understood keeps its own.
    static const Json nothing = Json::object();
    NumBad += !member.is_object();
    const Json &task = member.is_object() ? member : nothing;
    Json arguments = Json::array();
    if (auto list = task.find("arguments"); list != task.end() && list->is_array())
      for (const Json &argument : *list)
        if (argument.is_object())
          arguments.push_back(digest(argument));
    std::string grid;
    if (auto list = task.find("grid"); list != task.end() && list->is_array())
      for (const Json &extent : *list)
        grid += (grid.empty() ? "" : "x") + jsonText(extent, onOneLine);
    Tasks.push_back({{"kernel", Names(text(task, "kernel"))},
                     {"state", text(task, "state")},
                     {"grid", Names(grid)},
                     {"source", Names(text(task, "source"))},
                     {"begin", number(task, "begin_us", -1)},
                     {"length", number(task, "duration_us", 0)},
                     {"critical", flag(task, "critical")},
                     {"scope", number(task, "scope", 0)},
                     {"arguments", std::move(arguments)}});
  }

  void addEdge(const Json &edge) {
    Read.push_back({edge.is_object() ? number(edge, "from", -1) : -1,
                    edge.is_object() ? number(edge, "to", -1) : -1, Names(text(edge, "kind")),
                    Names(text(edge, "tensor")), edge.is_object() && flag(edge, "critical")});
  }

  Json take(const Json &file) {
    for (const Edge &edge : Read)
      check(edge);
    return {{"title", text(file, "title")},  {"names", Names.list()},
            {"tasks", std::move(Tasks)},     {"edges", std::move(Edges)},
            {"critical_us", critical(file)}, {"left_out", NumLeftOut},
            {"not_understood", NumBad}};
  }

private:
  /// As it is read: the tasks need not come first.
  struct Edge {
    double from, to;
    size_t kind, tensor;
    bool isCritical;
  };

  void check(const Edge &edge) {
    auto size = static_cast<double>(Tasks.size());
    if (Edges.size() == kMostEdges || (NumLeftOut > 0 && edge.to >= size))
      return;
    if (!(edge.from >= 0 && edge.from < edge.to && edge.to < size) ||
        edge.from != std::floor(edge.from) || edge.to != std::floor(edge.to)) {
      ++NumBad;
      return;
    }
    Edges.push_back({edge.from, edge.to, edge.kind, edge.tensor, edge.isCritical ? 1 : 0});
  }

  Json digest(const Json &argument) {
    Json result{{"name", Names(text(argument, "name"))}, {"type", Names(text(argument, "dtype"))}};
    if (!argument.contains("shape")) {
      auto value = argument.find("value");
      result["value"] = value == argument.end() ? ""
                        : value->is_string()    ? value->get<std::string>()
                        : value->is_primitive() ? jsonText(*value, onOneLine)
                                                : "?";
      return result;
    }
    result["shape"] = Names(shapeOf(argument));
    result["role"] = Names(text(argument, "role"));
    result["buffer"] = number(argument, "buffer_id", 0);
    result["bytes"] = bytesOf(argument);
    return result;
  }

  static double critical(const Json &file) {
    auto path = file.find("critical_path");
    return path != file.end() && path->is_object() ? number(*path, "duration_us", 0) : 0;
  }

  Strings Names;
  std::vector<Edge> Read;
  Json Tasks = Json::array(), Edges = Json::array();
  size_t NumBad = 0, NumLeftOut = 0;
};

} // namespace

Expected<Json> digestGraph(const std::string &text) {
  GraphDigest digest;
  constexpr std::string_view lists[] = {"tasks", "edges"};
  Expected<Json> rest = readLists(text, lists, [&](std::string_view list, const Json &member) {
    if (list == "tasks")
      digest.addTask(member);
    else
      digest.addEdge(member);
  });
  return rest ? digest.take(*rest) : rest;
}

} // namespace kiln::view
