// graph.json and graph.dot: tasks, and why each waited for which.
#include "dump/DumpFormat.h"
#include "timeline/Analysis.h"

using namespace kiln;

static double microseconds(int64_t ns) { return static_cast<double>(ns) / 1000; }

static Json argumentsOf(const Timeline &timeline, const TraceTask &task) {
  Json list = Json::array();
  for (size_t i = 0; i < task.tensors.size(); ++i) {
    const TraceTensor &tensor = task.tensors[i];
    list.push_back({{"name", argumentName(timeline, task, i)},
                    {"role", toString(tensor.direction)},
                    {"dtype", toString(tensor.dtype)},
                    {"shape", tensor.extents},
                    {"strides", tensor.strides},
                    {"buffer_id", tensor.bufferId},
                    {"byte_offset", tensor.byteOffset}});
    auto kernel = timeline.kernels.find(task.kernel);
    if (kernel != timeline.kernels.end() && i < kernel->second.boxes.size() &&
        !kernel->second.boxes[i].empty())
      list.back()["box"] = kernel->second.boxes[i];
  }
  for (size_t i = 0; i < task.scalars.size(); ++i)
    list.push_back({{"name", argumentName(timeline, task, task.tensors.size() + i)},
                    {"dtype", toString(task.scalars[i].type)},
                    {"value", dumpformat::scalarValue(task.scalars[i])}});
  return list;
}

static Json toJson(const TraceTask &task, const Timeline &timeline,
                   const TimelineAnalysis &analysis) {
  const TaskTimes &times = analysis.tasks[task.index];
  Json json{{"task", task.index},
            {"kernel", task.kernel},
            {"state", toString(task.state)},
            {"grid", task.grid},
            {"source", task.loc.str()},
            {"begin_us", times.ran() ? Json(microseconds(times.begin)) : Json()},
            {"duration_us", microseconds(times.duration())},
            {"critical", analysis.isCritical(task.index)},
            {"scope", task.scope}};
  if (auto kernel = timeline.kernels.find(task.kernel);
      kernel != timeline.kernels.end() && !kernel->second.members.empty())
    json["members"] = kernel->second.members;
  json["arguments"] = argumentsOf(timeline, task);
  return json;
}

std::string kiln::renderGraphJson(const std::string &title, const Timeline &timeline,
                                  const Trace &trace, const TimelineAnalysis &analysis) {
  Json root{{"format", "kiln-task-graph"}, {"version", 1}, {"title", title}};
  root["critical_path"] = {{"tasks", analysis.criticalPath},
                           {"duration_us", microseconds(analysis.criticalLength)}};
  std::string text = jsonText(root);
  text.erase(text.rfind("\n}"));
  // A task or an edge a line, so that grep works.
  auto addList = [&](const char *name, const auto &items, auto render) {
    text += std::string(",\n  \"") + name + "\": [";
    for (const auto &item : items)
      text += (&item == &items.front() ? "\n    " : ",\n    ") + dumpformat::toText(render(item));
    text += items.empty() ? "]" : "\n  ]";
  };
  addList("tasks", trace.tasks,
          [&](const TraceTask &task) { return toJson(task, timeline, analysis); });
  addList("edges", trace.edges, [&](const TraceEdge &edge) {
    return Json{{"from", edge.from},
                {"to", edge.to},
                {"kind", toString(edge.kind)},
                {"tensor", tensorOf(timeline, trace, edge)},
                {"arg_index", edge.arg < 0 ? Json() : Json(edge.arg)},
                {"buffer_id", edge.bufferId},
                {"critical", analysis.isCritical(edge)}};
  });
  return text + "\n}\n";
}

/// Inside a quoted string of dot.
static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return result;
}

std::string kiln::renderGraphDot(const std::string &title, const Timeline &timeline,
                                 const Trace &trace, const TimelineAnalysis &analysis) {
  const char *critical = " color=red penwidth=2";
  std::string text = "digraph tasks {\n  label=\"" + escaped(title) +
                     "\"\n  node [shape=box]\n"; // the critical path is red
  for (const TraceTask &task : trace.tasks)
    text += "  t" + std::to_string(task.index) + " [label=\"" + std::to_string(task.index) + ": " +
            escaped(kernelName(task)) + "\"" + (analysis.isCritical(task.index) ? critical : "") +
            "]\n";
  for (const TraceEdge &edge : trace.edges) {
    std::string tensor = tensorOf(timeline, trace, edge);
    text += "  t" + std::to_string(edge.from) + " -> t" + std::to_string(edge.to) + " [label=\"" +
            toString(edge.kind) + (tensor.empty() ? "" : " " + escaped(tensor)) + "\"" +
            (analysis.isCritical(edge) ? critical : "") + "]\n";
  }
  return text + "}\n";
}
