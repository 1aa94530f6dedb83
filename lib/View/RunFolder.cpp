#include "RunFolder.h"

#include "abi/FileIo.h"

#include <algorithm>
#include <filesystem>

namespace kiln::view {

namespace {

const char *const kBlanks = " \t\r\n";

/// Goes once through a text, parses the members of its lists one by one, and keeps the text around
/// them. What is no JSON is noticed where something is parsed: a member, or the rest.
class ListReader {
public:
  ListReader(std::string_view text, std::span<const std::string_view> lists,
             const std::function<void(std::string_view, const Json &)> &take)
      : Text(text), Lists(lists), Take(take) {}

  /// The text without the members; none if one of them is no JSON.
  std::optional<std::string> rest() {
    int depth = 0;
    for (size_t i = 0; i < Text.size() && !IsBad; ++i) {
      char c = Text[i];
      if (c == '"')
        i = readString(i + 1);
      else if (c == '[' || c == '{') {
        if (++depth == 2 && c == '[')
          begin(i + 1);
      } else if (!List.empty() && depth == 2 && (c == ',' || c == ']' || c == '}'))
        member(i, /*isLast=*/c != ',');
      if (c == ']' || c == '}')
        --depth;
    }
    if (IsBad)
      return std::nullopt;
    if (List.empty())
      Rest += Text.substr(Kept);
    return std::move(Rest);
  }

private:
  /// To the quote that ends it.
  size_t readString(size_t from) {
    size_t end = from;
    while (end < Text.size() && Text[end] != '"')
      end += Text[end] == '\\' ? 2 : 1;
    Name = Text.substr(from, end - from);
    return end;
  }
  void begin(size_t at) {
    auto found = std::ranges::find(Lists, Name);
    if (found == Lists.end())
      return;
    List = *found;
    Rest += Text.substr(Kept, at - Kept);
    Member = at;
  }
  void member(size_t end, bool isLast) {
    std::string_view text = Text.substr(Member, end - Member);
    bool isEmptyList =
        isLast && Text[Member - 1] == '[' && text.find_first_not_of(kBlanks) == text.npos;
    if (!isEmptyList) {
      Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
      if ((IsBad = parsed.is_discarded()))
        return;
      Take(List, parsed);
    }
    Member = end + 1;
    Kept = end;
    if (isLast)
      List = {};
  }

  std::string_view Text, List, Name; ///< List: the one whose members come. Name: the last string.
  std::span<const std::string_view> Lists;
  const std::function<void(std::string_view, const Json &)> &Take;
  std::string Rest;
  size_t Kept = 0, Member = 0; ///< Where what is to be kept begins, and the next member.
  bool IsBad = false;
};

} // namespace

Expected<Json> readLists(const std::string &text, std::span<const std::string_view> lists,
                         const std::function<void(std::string_view, const Json &)> &take) {
  if (std::string why = whyNotParsed(text); !why.empty())
    return Status(StatusCode::InvalidArgument, why);
  std::optional<std::string> left = ListReader(text, lists, take).rest();
  Json rest = left ? Json::parse(*left, nullptr, /*allow_exceptions=*/false)
                   : Json(Json::value_t::discarded);
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
  if (hasDump && std::filesystem::is_symlink(manifest, error)) {
    tell("tensor_dump",
         Status(StatusCode::InvalidArgument, "it is a link; put the folder itself there"));
    hasSome = true;
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
