#include "ranks/RankWatch.h"

#include <algorithm>
#include <sstream>

using namespace kiln;

void NumberSet::add(uint64_t number) {
  if (number >= Below)
    Beyond.insert(number);
  while (!Beyond.empty() && *Beyond.begin() == Below) {
    Beyond.erase(Beyond.begin());
    ++Below;
  }
}

//===----------------------------------------------------------------------===//
// Reports as text
//===----------------------------------------------------------------------===//

// One line for each thing, by its first letter: the rank itself, the collectives of a line, the
// messages with another rank, and what it waits for.

static std::string textOf(const RankLine &line) {
  return std::to_string(line.first) + " " + std::to_string(line.stride) + " " +
         std::to_string(line.count);
}

std::string RankReport::str() const {
  std::string text = "r " + std::to_string(rank) + " " + std::to_string(run) + " " +
                     std::to_string(hasLeft) + "\n";
  for (const auto &[line, count] : collectives)
    text += "c " + textOf(line) + " " + std::to_string(count) + "\n";
  for (const auto &[key, numbers] : messages) {
    text += "m " + std::to_string(key.first) + " " + std::to_string(key.second) + " " +
            std::to_string(numbers.below());
    for (uint64_t number : numbers.beyond())
      text += " " + std::to_string(number);
    text += "\n";
  }
  for (const Pending &each : pending)
    text += "w " + textOf(each.line) + " " + std::to_string(each.peer) + " " +
            std::to_string(each.sends) + " " + std::to_string(each.number) + " " + each.text + "\n";
  return text + "end\n";
}

static std::istream &operator>>(std::istream &in, RankLine &line) {
  return in >> line.first >> line.stride >> line.count;
}

static bool parseLine(const std::string &text, RankReport &report) {
  std::istringstream in(text.substr(std::min<size_t>(2, text.size())));
  switch (text.empty() ? ' ' : text[0]) {
  case 'r':
    return bool(in >> report.rank >> report.run >> report.hasLeft);
  case 'c': {
    RankLine line;
    uint64_t count = 0;
    bool isGood = bool(in >> line >> count);
    report.collectives[line] = count;
    return isGood;
  }
  case 'm': {
    std::pair<int32_t, bool> key;
    uint64_t below = 0;
    bool isGood = bool(in >> key.first >> key.second >> below);
    NumberSet &numbers = report.messages[key] = NumberSet(below);
    for (uint64_t number = 0; in >> number;)
      numbers.add(number);
    return isGood;
  }
  case 'w': {
    RankReport::Pending each;
    bool isGood = bool(in >> each.line >> each.peer >> each.sends >> each.number);
    std::getline(in >> std::ws, each.text);
    report.pending.push_back(std::move(each));
    return isGood;
  }
  default:
    return false;
  }
}

std::optional<RankReport> RankReport::parse(const std::string &text) {
  RankReport report;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "end")
      return report;
    if (!parseLine(line, report))
      return std::nullopt;
  }
  return std::nullopt; // cut off
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

/// Whether everybody else has started their part.
static bool canEnd(const RankReport::Pending &pending, const RankReport &of,
                   std::span<const std::optional<RankReport>> all) {
  if (pending.peer >= 0) {
    if (static_cast<size_t>(pending.peer) >= all.size())
      return true; // not understood, so nothing is claimed
    const RankReport &other = *all[static_cast<size_t>(pending.peer)];
    auto started = other.messages.find({of.rank, !pending.sends});
    return other.run == of.run && started != other.messages.end() &&
           started->second.has(pending.number);
  }
  for (int32_t place = 0; place < pending.line.count; ++place) {
    auto rank = static_cast<size_t>(pending.line.at(place));
    if (rank >= all.size())
      return true;
    auto started = all[rank]->collectives.find(pending.line);
    if (started == all[rank]->collectives.end() || started->second <= pending.number)
      return false;
  }
  return true;
}

static std::string describe(std::span<const std::optional<RankReport>> reports) {
  constexpr size_t most = 8;
  std::string text;
  for (const std::optional<RankReport> &report : reports.first(std::min(most, reports.size())))
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(report->rank) +
            (report->hasLeft           ? " has ended"
             : report->pending.empty() ? " waits"
                                       : " waits in " + report->pending.front().text);
  return reports.size() > most ? text + "; and so on" : text;
}

std::optional<std::string> kiln::findDeadlock(std::span<const std::optional<RankReport>> reports) {
  bool isAnyWaiting = false;
  uint64_t run = 0;
  for (const std::optional<RankReport> &report : reports) {
    if (!report)
      return std::nullopt;
    isAnyWaiting |= !report->hasLeft;
    run = std::max(run, report->run);
  }
  // Who has ended may have done so before this run.
  for (const std::optional<RankReport> &report : reports)
    if (report->run != run && !report->hasLeft)
      return std::nullopt;
  if (!isAnyWaiting)
    return std::nullopt;
  for (const std::optional<RankReport> &report : reports)
    for (const RankReport::Pending &pending : report->pending)
      if (canEnd(pending, *report, reports))
        return std::nullopt;
  return describe(reports);
}
