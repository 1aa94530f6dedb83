// `kiln dump`: look into a dump.
#include "abi/FileIo.h"
#include "abi/JsonOutput.h"
#include "dump/DumpDiff.h"
#include "dump/DumpFormat.h"
#include "kiln/runtime/npy.h"
#include "kiln/runtime/shown.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>

using namespace kiln;

static constexpr int exitGood = 0, exitDiffer = 1, exitBadInput = 2;
/// `--print` shows this many rows and columns; what lies between the first and last is left out.
static constexpr int64_t maxShown = 8;

namespace {

struct Request {
  std::string directory;
  std::optional<uint64_t> task;
  std::string kernel, stage, arg, exportAs, output, diff;
  bool json = false, print = false;

  bool isFiltered() const { return task || !kernel.empty() || !stage.empty() || !arg.empty(); }
};

using Selection = std::vector<const DumpEntry *>;

} // namespace

static int complain(const std::string &message) {
  noteFailure(Status(StatusCode::InvalidArgument, message));
  std::cerr << "kiln dump: " << message << "\n";
  return exitBadInput;
}

static bool isNumber(const std::string &text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

static bool matches(const DumpEntry &entry, const Request &request) {
  if (request.task && entry.task != *request.task)
    return false;
  if (!request.kernel.empty() && request.kernel != entry.kernel)
    return false;
  if (!request.stage.empty() && request.stage != toString(entry.stage))
    return false;
  if (request.arg.empty() || request.arg == entry.argName)
    return true;
  return isNumber(request.arg) && request.arg == std::to_string(entry.argIndex);
}

static std::string valueColumn(const DumpEntry &entry) {
  if (entry.isScalar)
    return "= " + entry.scalar.str();
  std::string text =
      entry.metadataOnly ? "metadata only" : std::to_string(entry.binSize) + " bytes";
  if (!entry.contiguous)
    text += ", strides " + toString(Dims(entry.strides));
  if (entry.truncated)
    text += ", truncated";
  return text;
}

static std::string kernelColumn(const DumpEntry &entry) {
  std::string text = entry.kernel;
  if (entry.kernels.size() != 1 || entry.kernels[0] != entry.kernel) {
    text += " (";
    for (size_t i = 0; i < entry.kernels.size(); ++i)
      text += (i ? " + " : "") + entry.kernels[i];
    text += ")";
  }
  return entry.hasSignature ? text : text + " [unsigned]";
}

/// Text from a file may hold control characters; a terminal must not see them.
static std::string printable(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return shown(text);
}

static void printTable(const DumpFile &file, const Selection &selection) {
  std::vector<std::vector<std::string>> rows{
      {"task", "kernel", "stage", "arg", "name", "role", "type", "value"}};
  for (const DumpEntry *entry : selection) {
    std::string type = toString(entry->dtype);
    if (!entry->isScalar)
      type += toString(Dims(entry->shape));
    rows.push_back({std::to_string(entry->task), kernelColumn(*entry), toString(entry->stage),
                    std::to_string(entry->argIndex), entry->argName,
                    entry->isScalar ? "scalar" : toString(entry->role), type, valueColumn(*entry)});
  }
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += printable(row[i]) +
              (i + 1 < row.size() ? std::string(widths[i] - row[i].size() + 2, ' ') : "");
    std::cout << line << "\n";
  }
  std::cout << "\n"
            << selection.size() << " of " << file.entries().size() << " records, "
            << file.binBytes() << " bytes of payload, level " << file.level() << ", program '"
            << printable(file.program()) << "' on " << printable(file.platform()) << ", run "
            << printable(file.runStatus());
  if (!file.runError().empty())
    std::cout << ": " << printable(file.runError());
  std::cout << "\n";
  if (file.unsignedTasks() != 0)
    std::cout << file.unsignedTasks() << " tasks ran kernels without a signature [unsigned]\n";
}

static std::string elementText(const Tensor &tensor, int64_t index) {
  DType type = tensor.dtype();
  const std::byte *element = tensor.dataAs<std::byte>() + index * sizeOf(type);
  return (isFloat(type) ? ScalarBits::fromDouble(type, loadElement(type, element))
                        : ScalarBits::fromInt(type, loadElementInt(type, element)))
      .str();
}

/// Calls `body(i)` for each of `count` numbers, or for the first and last `most / 2` with `gap()`
/// in between.
static void forSome(int64_t count, int64_t most, const std::function<void(int64_t)> &body,
                    const std::function<void()> &gap) {
  for (int64_t i = 0; i < count; ++i) {
    if (count > most && i == most / 2) {
      gap();
      i = count - most / 2;
    }
    body(i);
  }
}

/// A line a row; of long rows and of many rows at most `most` are shown.
static std::string renderText(const DumpEntry &entry, const Tensor &tensor,
                              int64_t most = INT64_MAX) {
  std::string text = "# task " + std::to_string(entry.task) + ", " + printable(entry.kernel) +
                     ", " + toString(entry.stage) + ", " + printable(entry.argName) + ": " +
                     tensor.str() + "\n";
  int64_t columns = std::max<int64_t>(tensor.extent(tensor.rank() - 1), 1);
  auto addRow = [&](int64_t row) {
    forSome(
        columns, most,
        [&](int64_t column) {
          text += (column == 0 ? "" : " ") + elementText(tensor, row * columns + column);
        },
        [&] { text += " ..."; });
    text += "\n";
  };
  forSome(tensor.numElements() / columns, most, addRow, [&] { text += "...\n"; });
  return text;
}

static Status printValues(const DumpFile &file, const Selection &selection) {
  for (const DumpEntry *entry : selection) {
    if (!entry->hasPayload())
      continue;
    Expected<Tensor> tensor = file.load(*entry);
    if (!tensor)
      return tensor.status();
    std::cout << "\n" << renderText(*entry, *tensor, maxShown);
  }
  return Status::ok();
}

static Status exportEntry(const DumpFile &file, const DumpEntry &entry, const std::string &format,
                          const std::string &path) {
  Expected<Tensor> tensor = file.load(entry);
  if (!tensor)
    return tensor.status();
  if (format == "npy")
    return writeNpy(path, *tensor);
  return writeFileAtomically(path, renderText(entry, *tensor));
}

/// What both names of a file may take of its own.
static std::string shortened(const std::string &name) { return name.substr(0, 80); }

/// Appends the paths written to `paths`.
static Status exportAll(const DumpFile &file, const Selection &selection, const Request &request,
                        std::vector<std::string> &paths) {
  std::string directory = request.output.empty() ? "." : request.output;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return Status(StatusCode::IoError,
                  "cannot create directory '" + directory + "': " + error.message());
  FileNames fileName;
  for (const DumpEntry *entry : selection) {
    if (!entry->hasPayload())
      continue;
    std::string path =
        directory + "/" +
        fileName("task" + std::to_string(entry->task) + "_" + shortened(entry->kernel) + "_" +
                 toString(entry->stage) + "_" + shortened(entry->argName)) +
        "." + request.exportAs;
    if (Status bad = exportEntry(file, *entry, request.exportAs, path); !bad.isOk())
      return bad;
    paths.push_back(path);
  }
  if (paths.empty())
    return Status(StatusCode::InvalidArgument,
                  "nothing to export: no selected record has a payload");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// --diff
//===----------------------------------------------------------------------===//

static void printDifference(const DumpDifference &found, const Request &request) {
  auto has = [&](const std::string &directory, const std::string &what) {
    std::cout << "  " << directory << ": " << printable(what) << "\n";
  };
  std::cout << "the first difference is in task " << found.task << ", kernel '"
            << printable(found.kernel) << "'";
  if (!found.argument.empty())
    std::cout << ", argument '" << printable(found.argument) << "'";
  if (!found.element.empty())
    std::cout << ", element " << found.element;
  std::cout << "\n";
  has(request.directory, found.first);
  has(request.diff, found.second);
  if (found.element.empty())
    return;
  if (found.inputs.empty()) {
    std::cout << "its recorded inputs are equal: look at the kernel\n";
    return;
  }
  std::cout << "its inputs differ already:";
  for (const std::string &input : found.inputs)
    std::cout << " " << printable(input);
  std::cout << "\n";
}

static Json toJson(const DumpComparison &comparison) {
  Json json{{"equal", !comparison.difference},
            {"tasks", comparison.tasks},
            {"tensors", comparison.compared},
            {"without_payload", comparison.withoutPayload},
            {"not_recorded", comparison.onlyInOne}};
  if (const auto &found = comparison.difference)
    json["difference"] = {{"task", found->task},
                          {"kernel", found->kernel},
                          {"arg_name", found->argument},
                          {"element", found->element},
                          {"first", found->first},
                          {"second", found->second},
                          {"different_inputs", found->inputs}};
  return json;
}

static int diff(const DumpFile &file, const Request &request) {
  Expected<DumpFile> other = DumpFile::open(request.diff);
  if (!other)
    return complain(printable(other.status().message()));
  Expected<DumpComparison> comparison =
      compareDumps(file, *other, [&](const DumpEntry &entry) { return matches(entry, request); });
  if (!comparison)
    return complain(printable(comparison.status().message()));
  if (!comparison->difference && comparison->compared == 0)
    return complain("nothing to compare: no output that both dumps have comes with its payload; "
                    "level 1 records only what the program marked, level 2 everything");
  if (request.json)
    printJson(toJson(*comparison));
  else if (comparison->difference)
    printDifference(*comparison->difference, request);
  else
    std::cout << "equal: " << comparison->compared << " outputs of " << comparison->tasks
              << " tasks (" << comparison->withoutPayload << " without payload"
              << (comparison->onlyInOne ? ", " + std::to_string(comparison->onlyInOne) +
                                              " that one dump did not record"
                                        : "")
              << ")\n";
  return comparison->difference ? exitDiffer : exitGood;
}

static int run(const Request &request) {
  Expected<DumpFile> file = DumpFile::open(request.directory);
  if (!file)
    return complain(printable(file.status().message()));
  if (!request.diff.empty())
    return diff(*file, request);
  Selection selection;
  for (const DumpEntry &entry : file->entries())
    if (matches(entry, request))
      selection.push_back(&entry);
  if (selection.empty() && request.isFiltered())
    return complain("none of the " + std::to_string(file->entries().size()) +
                    " records matches; without --task, --kernel, --stage and --arg all are listed");

  std::vector<std::string> paths;
  if (!request.exportAs.empty())
    if (Status bad = exportAll(*file, selection, request, paths); !bad.isOk())
      return complain(printable(bad.message()));

  if (request.json) {
    Json root;
    root["manifest"] = file->manifestPath();
    root["level"] = file->level();
    root["status"] = file->runStatus();
    root["entries"] = Json::array();
    for (const DumpEntry *entry : selection)
      root["entries"].push_back(dumpformat::toJson(*entry));
    root["exported"] = paths;
    printJson(root);
  } else if (request.exportAs.empty()) {
    printTable(*file, selection);
    if (request.print)
      if (Status bad = printValues(*file, selection); !bad.isOk())
        return complain(printable(bad.message()));
  } else {
    for (const std::string &path : paths)
      std::cout << path << "\n";
  }
  return exitGood;
}

int kiln::dumpCommand(int argc, const char *const *argv) {
  // CLI11 and the standard library may throw; this is the boundary where that ends.
  try {
    Request request;
    CLI::App app("Lists, filters, prints, exports and compares the arguments that runs dumped with "
                 "--dump-args.",
                 "kiln dump");
    app.add_option("DIR", request.directory, "The run's output directory (or its tensor_dump)")
        ->required();
    app.add_option("--task", request.task, "Only this task");
    app.add_option("--kernel", request.kernel, "Only tasks of this kernel");
    auto *stage = app.add_option("--stage", request.stage, "Only this stage");
    const char *before = toString(DumpStage::BeforeDispatch),
               *after = toString(DumpStage::AfterCompletion);
    stage->check(CLI::IsMember({"before", "after", before, after}));
    app.add_option("--arg", request.arg, "Only this argument, by name or index");
    auto *format =
        app.add_option("--export", request.exportAs, "Write each selected tensor to a file")
            ->check(CLI::IsMember({"npy", "txt"}));
    app.add_option("-o,--output", request.output, "Where to export to (default: here)")
        ->needs(format);
    auto *print =
        app.add_flag("--print", request.print, "Also print the values, of large tensors some");
    app.add_option(
           "--diff", request.diff,
           "Find the first task whose outputs differ in this other dump; exit code 1 if any")
        ->excludes(format)
        ->excludes(print)
        ->excludes(stage);
    app.add_flag("--json", request.json, "Machine-readable output");
    app.footer("Examples:\n"
               "  kiln dump out --task 1 --print\n"
               "  kiln dump out --kernel add --export npy -o values\n"
               "  kiln dump right --diff wrong");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
      if (error.get_exit_code() == 0)
        return app.exit(error); // --help
      return complain(std::string(error.what()) + "; see kiln dump --help");
    }
    if (request.stage == "before" || request.stage == "after")
      request.stage = request.stage == "before" ? before : after;
    return run(request);
  } catch (const std::exception &error) {
    return complain(error.what());
  }
}
