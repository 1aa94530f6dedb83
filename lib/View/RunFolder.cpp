#include "RunFolder.h"

#include "abi/FileIo.h"

#include <algorithm>
#include <filesystem>

namespace kiln::view {

Expected<Json> readLists(const std::string &text, std::span<const std::string_view> lists,
                         const std::function<void(std::string_view, const Json &)> &take) {
  if (isNestedTooDeep(text))
    return Status(StatusCode::InvalidArgument,
                  "nested more than " + std::to_string(mostNestedJson) + " levels deep");
  std::string_view list; // the one whose members come
  auto keep = [&](int depth, Json::parse_event_t event, Json &parsed) {
    using enum Json::parse_event_t;
    if (event == key && depth == 1) {
      auto found = std::ranges::find(lists, parsed.get_ref<const std::string &>());
      list = found == lists.end() ? std::string_view() : *found;
    }
    if (list.empty() || depth != 2 || (event != object_end && event != array_end && event != value))
      return true;
    take(list, parsed);
    return false;
  };
  Json rest = Json::parse(text, keep, /*allow_exceptions=*/false);
  if (rest.is_discarded())
    return Status(StatusCode::InvalidArgument, "not valid JSON: truncated, or of something else");
  if (!rest.is_object())
    return Status(StatusCode::InvalidArgument, "not an object");
  for (std::string_view each : lists)
    if (auto found = rest.find(each); found == rest.end() || !found->is_array())
      return Status(StatusCode::InvalidArgument, "it has no list '" + std::string(each) + "'");
  return rest;
}

namespace {

/// Of a file that grows with the tasks of a run, and of one that does not.
constexpr uint64_t kMostBytes = uint64_t{1} << 29, kMostShownBytes = uint64_t{1} << 26;

/// A reader of one file, and what the page calls its data.
struct Source {
  const char *file, *key;
  Expected<Json> (*digest)(const std::string &text);
};

/// Files that the page shows as they are.
Expected<Json> asIs(const std::string &text) { return readLists(text, {}, nullptr); }

constexpr Source kSources[] = {{kRunFile, "run", asIs},
                               {kCheckFile, "check", asIs},
                               {kCodeFile, "code", asIs},
                               {kMemoryFile, "memory", asIs},
                               {kGraphFile, "graph", digestGraph},
                               {kTimelineFile, "timeline", digestTimeline}};

} // namespace

Expected<Json> digestFile(std::string_view name, const std::string &text) {
  for (const Source &source : kSources)
    if (name == source.file)
      return source.digest(text);
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
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, error)))
      continue;
    hasSome = true;
    Expected<std::string> text =
        readFile(file, source.digest == asIs ? kMostShownBytes : kMostBytes, Links::Refuse);
    Expected<Json> json = text ? source.digest(*text) : text.status();
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
