// A report as text and as JSON.
#include "kiln/Check/CheckProgram.h"

#include "abi/Json.h"

#include <algorithm>
#include <fstream>

namespace kiln {

const char *toString(FindingKind kind) {
  switch (kind) {
  case FindingKind::Race:
    return "race";
  case FindingKind::UnwrittenRead:
    return "unwritten-read";
  case FindingKind::UseAfterFree:
    return "use-after-free";
  case FindingKind::NanBirth:
    return "nan-birth";
  case FindingKind::PaddedReduction:
    return "padded-reduction";
  case FindingKind::UnwrittenOutput:
    return "unwritten-output";
  case FindingKind::UndeclaredOutput:
    return "undeclared-output";
  case FindingKind::PaddingTaken:
    return "padding-taken";
  case FindingKind::MissingData:
    return "missing-data";
  case FindingKind::PaddingStored:
    return "padding-stored";
  case FindingKind::BrokenPromise:
    return "broken-promise";
  case FindingKind::WrongResult:
    return "wrong-result";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Fault:
    return "fault";
  }
  return "unknown";
}

/// At most 200 bytes of a line, with the column in their middle; no character is cut in two.
static std::string partAround(const std::string &line, int32_t column) {
  constexpr size_t most = 200;
  if (line.size() <= most)
    return line;
  auto isInside = [&](size_t at) { return at < line.size() && (line[at] & 0xC0) == 0x80; };
  size_t at = size_t(std::max(column, 1)) - 1;
  size_t begin = std::min(at > most / 2 ? at - most / 2 : 0, line.size() - most);
  size_t end = begin + most;
  while (isInside(begin))
    ++begin;
  while (isInside(end))
    --end;
  return (begin > 0 ? "..." : "") + line.substr(begin, end - begin) +
         (end < line.size() ? "..." : "");
}

std::string quoteLine(const SourceLoc &location) {
  std::ifstream file(location.file);
  std::string line;
  for (int32_t number = 1; std::getline(file, line); ++number)
    if (number == location.line) {
      if (line.ends_with('\r'))
        line.pop_back();
      char prefix[24];
      std::snprintf(prefix, sizeof prefix, "  %5d | ", number);
      return prefix + partAround(line, location.col) + "\n";
    }
  return "";
}

static std::string replayOf(const std::string &command, const Finding &finding) {
  return command + " --seeds 1 --seed " + std::to_string(finding.seed);
}

/// "file:line:col: error: message", and the line.
static std::string diagnostic(const SourceLoc &location, const char *severity,
                              const std::string &message) {
  std::string where = location.isKnown() ? location.str() + ": " : "  ";
  return where + severity + ": " + message + "\n" + quoteLine(location);
}

/// " (in vec#1, block [0, 0, 0] of task 3)". What stopped a run says it in its own message.
static std::string placeOf(const Finding &finding) {
  if (!finding.task)
    return "";
  return " (in " + finding.instance + ", block " + toString(Dims(std::span(finding.block))) +
         " of task " + std::to_string(*finding.task) + ")";
}

std::string toText(const CheckReport &report, const std::string &replay) {
  std::string text;
  for (const Finding &finding : report.findings) {
    std::string again =
        finding.count > 1 ? "; found " + std::to_string(finding.count) + " times" : "";
    text += diagnostic(finding.location, "error", finding.message + placeOf(finding) + again);
    for (const Finding::Note &note : finding.notes)
      text += diagnostic(note.location, "note", note.message);
    if (!replay.empty())
      text += "  replay: " + replayOf(replay, finding) + "\n";
  }
  return text;
}

static Json json(const SourceLoc &location) {
  if (!location.isKnown())
    return nullptr;
  return {{"file", location.file}, {"line", location.line}, {"column", location.col}};
}

static Json json(const Finding &finding, const std::string &replay) {
  Json entry{{"kind", toString(finding.kind)},
             {"severity", "error"},
             {"message", finding.message},
             {"location", json(finding.location)}};
  if (finding.task) {
    entry["task"] = *finding.task;
    entry["block"] = finding.block;
    entry["instance"] = finding.instance;
  }
  entry["notes"] = Json::array();
  for (const Finding::Note &note : finding.notes)
    entry["notes"].push_back({{"message", note.message}, {"location", json(note.location)}});
  entry["seed"] = finding.seed;
  entry["count"] = finding.count;
  if (!replay.empty())
    entry["replay"] = replayOf(replay, finding);
  return entry;
}

const char *toString(FindingStep::Kind kind) {
  switch (kind) {
  case FindingStep::Kind::Start:
    return "start";
  case FindingStep::Kind::Read:
    return "read";
  case FindingStep::Kind::Write:
    return "write";
  case FindingStep::Kind::AtomicAdd:
    return "add";
  case FindingStep::Kind::Push:
    return "push";
  case FindingStep::Kind::Pop:
    return "pop";
  case FindingStep::Kind::Free:
    return "free";
  case FindingStep::Kind::Blocked:
    return "blocked";
  }
  return "unknown";
}

std::string scheduleJson(const Finding &finding) {
  Json lanes = Json::array(), steps = lanes;
  std::vector<std::tuple<uint64_t, std::array<int64_t, 3>, std::string>> known;
  for (const FindingStep &step : finding.schedule) {
    std::tuple who(step.task, step.block, step.instance);
    auto lane = std::find(known.begin(), known.end(), who);
    if (lane == known.end()) {
      lanes.push_back({{"task", step.task}, {"block", step.block}, {"instance", step.instance}});
      lane = known.insert(known.end(), who);
    }
    steps.push_back({{"lane", lane - known.begin()},
                     {"kind", toString(step.kind)},
                     {"what", step.what},
                     {"location", json(step.location)}});
  }
  return jsonText({{"lanes", lanes}, {"steps", steps}}, onOneLine);
}

std::string toJson(const CheckReport &report, const std::string &replay) {
  Json all{{"first_seed", report.firstSeed},
           {"seeds", report.seeds},
           {"blocks", report.blocks},
           {"operations", report.operations},
           {"ok", !report.hasErrors()}};
  all["findings"] = Json::array();
  for (const Finding &finding : report.findings)
    all["findings"].push_back(json(finding, replay));
  return jsonText(all);
}

} // namespace kiln
