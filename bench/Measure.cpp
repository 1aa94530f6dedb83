#include "Measure.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace kiln::bench;

static std::string format(const char *pattern, double value) {
  char text[48];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

bool Row::reaches(const Target &target) const {
  switch (target.kind) {
  case Target::Kind::AtMost:
    return kiln.median <= target.number;
  case Target::Kind::Ratio:
    return ratio() >= target.number;
  case Target::Kind::None:
    break;
  }
  return true;
}

std::string Row::textOf(const Target &target) const {
  switch (target.kind) {
  case Target::Kind::AtMost:
    return format("%g ", target.number) + unit;
  case Target::Kind::Ratio:
    return format("%.2fx", target.number);
  case Target::Kind::None:
    break;
  }
  return "-";
}

const char *Row::reached() const {
  if (bar.kind == Target::Kind::None)
    return "-";
  if (!reaches(bar))
    return "no";
  return goal.kind != Target::Kind::None && reaches(goal) ? "goal" : "bar";
}

void Report::print() const {
  std::printf("\n%-46s %11s %18s  %-16s %9s %6s  %-8s %-8s %s\n", "what", "kiln", "quartiles",
              "peer", "its time", "ratio", "bar", "goal", "reached");
  for (const Row &row : Rows) {
    std::string value = format("%.1f ", row.kiln.median) + row.unit;
    std::string spread = format("%.1f", row.kiln.low) + " .. " + format("%.1f", row.kiln.high);
    bool hasPeer = !row.peer.empty();
    std::printf("%-46s %11s %18s  %-16s %9s %6s  %-8s %-8s %s\n", row.name.c_str(), value.c_str(),
                spread.c_str(), hasPeer ? row.peer.c_str() : "-",
                hasPeer ? format("%.1f", row.peerValue).c_str() : "-",
                hasPeer ? format("%.2fx", row.ratio()).c_str() : "-", row.textOf(row.bar).c_str(),
                row.textOf(row.goal).c_str(), row.reached());
  }
}

static nlohmann::ordered_json toJson(const Row &row) {
  nlohmann::ordered_json entry;
  bool hasPeer = !row.peer.empty();
  entry["name"] = row.name;
  entry["value"] = row.kiln.median;
  entry["unit"] = row.unit;
  entry["peer"] = hasPeer ? nlohmann::ordered_json(row.peer) : nullptr;
  entry["peer_value"] = hasPeer ? nlohmann::ordered_json(row.peerValue) : nullptr;
  entry["ratio"] = hasPeer ? nlohmann::ordered_json(row.ratio()) : nullptr;
  entry["bar"] = row.textOf(row.bar);
  entry["goal"] = row.textOf(row.goal);
  entry["reached"] = row.reached();
  entry["spread"] = {row.kiln.low, row.kiln.high};
  return entry;
}

void Report::write(const std::string &path) const {
  auto rows = nlohmann::ordered_json::array();
  if (std::ifstream old(path); old) {
    auto parsed = nlohmann::ordered_json::parse(old, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_array())
      rows = std::move(parsed);
  }
  for (const Row &row : Rows) {
    nlohmann::ordered_json entry = toJson(row);
    auto isSame = [&](const nlohmann::ordered_json &old) {
      return old.is_object() && old.contains("name") && old["name"] == entry["name"] &&
             old.contains("peer") && old["peer"] == entry["peer"];
    };
    auto place = std::find_if(rows.begin(), rows.end(), isSame);
    if (place == rows.end())
      rows.push_back(std::move(entry));
    else
      *place = std::move(entry);
  }
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream file(path);
  file << rows.dump(2) << "\n";
  file.close();
  if (!file) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}
