#include "RunFolder.h"

#include "abi/FileIo.h"

#include <filesystem>

namespace kiln::view {

/// How deep lists and objects are nested. Looked at before anything is built: what writes and
/// destroys JSON goes down as deep as it is.
static int depthOf(const std::string &text) {
  int depth = 0, deepest = 0;
  bool isInText = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isInText && c == '\\')
      ++i;
    else if (c == '"')
      isInText = !isInText;
    else if (!isInText && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!isInText && (c == ']' || c == '}'))
      --depth;
  }
  return deepest;
}

Expected<Json> readJson(const std::string &path, uint64_t maxBytes) {
  Expected<std::string> text = readFile(path, maxBytes);
  return text ? readJsonText(*text) : text.status();
}

Expected<Json> readJsonText(const std::string &text) {
  constexpr int deepest = 64;
  if (depthOf(text) > deepest)
    return Status(StatusCode::InvalidArgument,
                  "nested more than " + std::to_string(deepest) + " levels deep");
  Json json = parseJson(text);
  if (json.is_discarded())
    return Status(StatusCode::InvalidArgument, "not valid JSON: truncated, or of something else");
  return json;
}

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 29;

/// A reader of one file, and what the page calls its data.
struct Source {
  const char *file, *key;
  Expected<Json> (*digest)(const Json &file);
};

/// Files that the page shows as they are.
Expected<Json> asIs(const Json &file) {
  if (!file.is_object())
    return Status(StatusCode::InvalidArgument, "not an object");
  return file;
}

constexpr Source kSources[] = {{kRunFile, "run", asIs},
                               {kCheckFile, "check", asIs},
                               {kCodeFile, "code", asIs},
                               {kMemoryFile, "memory", asIs},
                               {kGraphFile, "graph", digestGraph},
                               {kTimelineFile, "timeline", digestTimeline}};

} // namespace

Expected<Json> digestFile(std::string_view name, const Json &file) {
  for (const Source &source : kSources)
    if (name == source.file)
      return source.digest(file);
  return Status(StatusCode::InvalidArgument, "the page shows no such file");
}

Expected<RunFolder> RunFolder::open(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return Status(StatusCode::NotFound,
                  std::filesystem::exists(path, error)
                      ? path + " is no folder; give the folder that a run wrote its files to"
                      : "there is no folder " + path);
  RunFolder folder;
  folder.path = path;
  Json problems = Json::array();
  bool hasSome = false;
  auto tell = [&](const std::string &file, const Status &status) {
    problems.push_back({{"file", file}, {"message", status.message()}});
  };
  for (const Source &source : kSources) {
    std::string file = path + "/" + source.file;
    if (!std::filesystem::exists(file, error))
      continue;
    hasSome = true;
    Expected<Json> json = readJson(file, kMostBytes);
    if (json)
      json = source.digest(*json);
    if (json)
      folder.data[source.key] = std::move(*json);
    else
      tell(source.file, json.status());
  }
  std::string manifest = dumpDirectory(path);
  bool hasDump = std::filesystem::exists(manifest, error);
  if (auto run = folder.data.find("run"); hasDump && run != folder.data.end() &&
                                          run->contains("dump_level") &&
                                          (*run)["dump_level"] == 0) {
    tell("tensor_dump",
         Status(StatusCode::InvalidArgument, "it is of an earlier run; this one was not dumped"));
    hasDump = false;
  }
  if (hasDump) {
    hasSome = true;
    Expected<DumpFile> dump = DumpFile::open(path);
    if (dump)
      folder.dump = std::move(*dump);
    else
      tell("tensor_dump", dump.status());
  }
  if (!hasSome)
    return Status(StatusCode::NotFound,
                  path + " holds nothing to look at; kiln run PROG --record --out " + path +
                      " writes it");
  folder.data["folder"] = path;
  folder.data["problems"] = std::move(problems);
  return folder;
}

} // namespace kiln::view
