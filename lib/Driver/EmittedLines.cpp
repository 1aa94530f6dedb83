#include "EmittedLines.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace kiln {
namespace {

/// The files by their paths, and by their names where only one has that name.
class Files {
public:
  explicit Files(llvm::ArrayRef<std::string> paths) {
    for (size_t number = 0; number < paths.size(); ++number) {
      Paths.try_emplace(paths[number], number);
      auto [named, isNew] = Names.try_emplace(llvm::sys::path::filename(paths[number]), number);
      if (!isNew)
        named->second = kSeveral;
    }
  }
  std::optional<size_t> ofPath(StringRef path) const {
    auto found = Paths.find(path);
    return found == Paths.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<size_t> ofName(StringRef name) const {
    auto found = Names.find(name);
    return found == Names.end() || found->second == kSeveral ? std::nullopt
                                                             : std::optional(found->second);
  }

private:
  static constexpr size_t kSeveral = SIZE_MAX;
  llvm::StringMap<size_t> Paths, Names;
};

std::optional<EmittedLine> place(std::optional<size_t> file, StringRef line) {
  int number;
  if (!file || line.getAsInteger(10, number) || number < 1)
    return std::nullopt;
  return EmittedLine{*file, number};
}

/// `// file.cpp:3` at the end of a line.
std::optional<EmittedLine> placeOfComment(StringRef line, const Files &files) {
  size_t at = line.rfind("// ");
  if (at == StringRef::npos)
    return std::nullopt;
  auto [name, number] = line.drop_front(at + 3).trim().rsplit(':');
  return place(files.ofName(name), number);
}

/// `"/path/file.cpp", 3, 9` anywhere in a line.
std::optional<EmittedLine> placeOfLiteral(StringRef line, const Files &files) {
  llvm::SmallVector<StringRef> parts;
  line.split(parts, '"');
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    StringRef after = parts[i + 1];
    if (!after.consume_front(", "))
      continue;
    if (auto found = place(files.ofPath(parts[i]), after.take_while(llvm::isDigit)))
      return found;
  }
  return std::nullopt;
}

/// Nodes of debug information: `!9 = !DILocation(line: 26, column: 9, scope: !5)`.
class DebugNodes {
public:
  DebugNodes(StringRef text, const Files &files) : Known(files) {
    for (StringRef line : llvm::split(text, '\n')) {
      unsigned number;
      if (line.consume_front("!") && !line.consumeInteger(10, number) && line.consume_front(" = "))
        Nodes.try_emplace(number, line);
    }
  }

  /// Of the location that a line ends with: `..., !dbg !9`.
  std::optional<EmittedLine> placeOf(StringRef line) const {
    auto [instruction, rest] = line.split("!dbg !");
    unsigned number;
    if (rest.consumeInteger(10, number))
      return std::nullopt;
    StringRef location = node(number);
    return location.starts_with("!DILocation(") ? place(fileOf(location), field(location, "line: "))
                                                : std::nullopt;
  }

private:
  StringRef node(unsigned number) const { return Nodes.lookup(number); }
  /// The value of a field: a number, the number of a node, or a text.
  static StringRef field(StringRef node, StringRef name) {
    StringRef value = node.split(name).second;
    value.consume_front("!");
    if (value.consume_front("\""))
      return value.take_until([](char c) { return c == '"'; });
    return value.take_while(llvm::isDigit);
  }
  /// The file of the scope that a location is in: the nearest one around it that has a file.
  std::optional<size_t> fileOf(StringRef location) const {
    StringRef scope = location;
    constexpr int deepest = 64;
    for (int depth = 0; depth < deepest; ++depth) {
      unsigned number;
      if (field(scope, "scope: ").getAsInteger(10, number))
        return std::nullopt;
      scope = node(number);
      if (field(scope, "file: ").getAsInteger(10, number))
        continue;
      StringRef name = field(node(number), "filename: ");
      llvm::SmallString<128> path(field(node(number), "directory: "));
      llvm::sys::path::append(path, name);
      std::optional<size_t> found = Known.ofPath(path);
      return found ? found : Known.ofPath(name);
    }
    return std::nullopt;
  }

  const Files &Known;
  llvm::DenseMap<unsigned, StringRef> Nodes;
};

} // namespace

std::vector<std::optional<EmittedLine>> placesOfEmitted(StringRef text,
                                                        llvm::ArrayRef<std::string> files) {
  Files known(files);
  DebugNodes nodes(text, known);
  std::vector<std::optional<EmittedLine>> places;
  std::optional<EmittedLine> commented;
  for (StringRef line : llvm::split(text, '\n')) {
    if (auto found = placeOfComment(line, known))
      commented = found;
    else if (line.empty() || line.starts_with("}"))
      commented.reset();
    if (auto found = nodes.placeOf(line))
      places.push_back(found);
    else if (auto found = placeOfLiteral(line, known))
      places.push_back(found);
    else
      places.push_back(commented);
  }
  return places;
}

} // namespace kiln
