#include "abi/JsonOutput.h"

#include "abi/ParseNumber.h"
#include "kiln/runtime/tool_output.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace kiln;

static struct {
  bool isWanted = false, isPrinted = false;
  std::vector<Status> failures;
} output;

void kiln::beginOutput(std::span<const std::string> words) {
  output = {std::find(words.begin(), words.end(), "--json") != words.end(), false, {}};
}

void kiln::beginOutput(int argc, const char *const *argv) {
  beginOutput(std::vector<std::string>(argv, argv + argc));
}

void kiln::noteJsonPrinted() { output.isPrinted = true; }

/// The number of this process among those that mpirun, or something like it, started. Null: it did
/// not.
static const char *launchedRank() {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char *text = std::getenv(name); text && *text)
      return text;
  return nullptr;
}

std::string kiln::documentText(const Json &document, int indent) {
  return jsonText(document, launchedRank() ? onOneLine : indent) + "\n";
}

void kiln::printJson(const Json &document, int indent) {
  noteJsonPrinted();
  std::cout << documentText(document, indent);
}

void kiln::noteFailure(const Status &status) { output.failures.push_back(status); }

static Json describe(const Status &status) {
  Json error{{"message", status.message()}};
  if (const SourceLoc &at = status.location(); at.isKnown())
    error["location"] = {{"file", at.file}, {"line", at.line}, {"column", at.col}};
  return error;
}

std::string kiln::failureJson(int code) {
  if (code == 0 || !output.isWanted || output.isPrinted)
    return "";
  std::vector<Status> failures = output.failures;
  if (failures.empty())
    failures.emplace_back(StatusCode::Internal, "it failed; standard error may say why");
  const char *rank = launchedRank();
  if (rank && code > 128 && failures.front().code() == StatusCode::Interrupted)
    return "";
  Json document{{"error", describe(failures.front())}, {"exit_code", code}};
  if (int64_t number = 0; rank && parseAll(rank, number))
    document["rank"] = number;
  for (size_t i = 1; i < failures.size(); ++i)
    document["more_errors"].push_back(describe(failures[i]));
  return documentText(document);
}

void kiln::finishJson(int code) {
  if (std::string text = failureJson(code); !text.empty()) {
    noteJsonPrinted();
    std::cout << text << std::flush;
  }
}
