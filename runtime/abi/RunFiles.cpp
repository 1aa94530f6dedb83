#include "RunFiles.h"

#include "FileIo.h"

#include <filesystem>

using namespace kiln;

static Status makeFolder(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error ? Status(StatusCode::IoError,
                        "cannot make the folder " + folder + ": " + error.message())
               : Status::ok();
}

Status kiln::beginRunFolder(const std::string &folder) {
  if (Status failed = makeFolder(folder); !failed.isOk())
    return failed;
  std::error_code ignored;
  for (const char *stale :
       {"run.json", "code.json", "memory.json", "timeline.json", "graph.json", "graph.dot"})
    std::filesystem::remove(folder + "/" + stale, ignored);
  sweepTemporaries(folder); // of runs that were killed while they wrote one
  return Status::ok();
}

Status kiln::writeRunFile(const std::string &folder, const std::string &name, const Json &json,
                          int indent) {
  if (Status failed = makeFolder(folder); !failed.isOk())
    return failed;
  return writeFileAtomically(folder + "/" + name, jsonText(json, indent) + "\n");
}

std::string kiln::utcText(std::time_t time) {
  std::tm parts{};
  char text[32] = "?";
  if (gmtime_r(&time, &parts))
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string kiln::startTime() { return utcText(std::time(nullptr)) + " UTC"; }
