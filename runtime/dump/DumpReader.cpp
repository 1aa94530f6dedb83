// Reading a dump. Everything in the manifest is somebody else's input until it has been checked
// here.
#include "abi/FileIo.h"
#include "dump/DumpFormat.h"

#include <filesystem>

using namespace kiln;

// An entry takes about 500 bytes, so this is two million of them.
static constexpr uint64_t maxManifestBytes = uint64_t{1} << 30;

static Status bad(const std::string &message) {
  return Status(StatusCode::InvalidArgument, message);
}

namespace {

/// Typed access to the members of one JSON object; the first problem is kept and everything after
/// it is skipped.
class Fields {
public:
  Fields(const Json &object, std::string where) : Object(object), Where(std::move(where)) {
    if (!object.is_object())
      fail("is not an object");
  }

  std::string text(const char *key) {
    const Json *value = find(key);
    if (value && !value->is_string())
      fail(std::string("'") + key + "' is not a string");
    return Good ? value->get<std::string>() : "";
  }
  bool has(const char *key) const { return Object.is_object() && Object.contains(key); }
  bool flag(const char *key) {
    const Json *value = find(key);
    if (value && !value->is_boolean())
      fail(std::string("'") + key + "' is neither true nor false");
    return Good && value->get<bool>();
  }
  uint64_t number(const char *key, uint64_t max = UINT64_MAX) {
    const Json *value = find(key);
    if (value && !(value->is_number_unsigned() && value->get<uint64_t>() <= max))
      fail(std::string("'") + key + "' is not a whole number between 0 and " + std::to_string(max));
    return Good ? value->get<uint64_t>() : 0;
  }
  std::vector<int64_t> numbers(const char *key, size_t maxCount) {
    std::vector<int64_t> result;
    const Json *value = array(key, maxCount);
    for (size_t i = 0; Good && i < value->size(); ++i) {
      const Json &item = (*value)[i];
      if (!item.is_number_unsigned() || item.get<uint64_t>() > INT64_MAX)
        fail(std::string("'") + key + "' holds something other than whole numbers of 63 bits");
      else
        result.push_back(item.get<int64_t>());
    }
    return result;
  }
  std::vector<std::string> texts(const char *key, size_t maxCount) {
    std::vector<std::string> result;
    const Json *value = array(key, maxCount);
    for (size_t i = 0; Good && i < value->size(); ++i) {
      if (!(*value)[i].is_string())
        fail(std::string("'") + key + "' holds something other than strings");
      else
        result.push_back((*value)[i].get<std::string>());
    }
    return result;
  }
  /// One of several words; the index of the one found.
  size_t word(const char *key, std::initializer_list<const char *> words) {
    std::string found = text(key);
    size_t i = 0;
    for (const char *candidate : words) {
      if (found == candidate)
        return i;
      ++i;
    }
    fail(std::string("'") + key + "' has the unknown value '" + found + "'");
    return 0;
  }
  const Json *find(const char *key) {
    if (!Good)
      return nullptr;
    auto it = Object.find(key);
    if (it != Object.end())
      return &*it;
    fail(std::string("'") + key + "' is missing");
    return nullptr;
  }
  void fail(const std::string &message) {
    if (Good)
      Problem = Where + ": " + message;
    Good = false;
  }

  bool isGood() const { return Good; }
  Status status() const { return Good ? Status::ok() : bad(Problem); }

private:
  const Json *array(const char *key, size_t maxCount) {
    const Json *value = find(key);
    if (value && !value->is_array())
      fail(std::string("'") + key + "' is not a list");
    else if (value && value->size() > maxCount)
      fail(std::string("'") + key + "' has " + std::to_string(value->size()) + " items; at most " +
           std::to_string(maxCount) + " are possible");
    return value;
  }

  const Json &Object;
  std::string Where, Problem;
  bool Good = true;
};

} // namespace

namespace kiln {

class DumpParser {
public:
  explicit DumpParser(DumpFile &file) : File(file) {}

  Status parse(const Json &root) {
    Fields top(root, "'" + File.ManifestPath + "'");
    if (top.text("format") != dumpformat::formatName)
      top.fail("not a manifest of a tensor dump");
    uint64_t version = top.number("version");
    if (version != dumpformat::formatVersion)
      top.fail("format version " + std::to_string(version) + "; this Kiln reads version " +
               std::to_string(dumpformat::formatVersion));
    File.Level = static_cast<int>(top.number("level", 3));
    File.BinBytes = top.number("bin_bytes");
    const Json *run = top.find("run"), *totals = top.find("totals"), *entries = top.find("entries");
    if (entries && !entries->is_array())
      top.fail("'entries' is not a list");
    if (!top.isGood())
      return top.status();
    if (Status error = parseRun(*run, *totals, entries->size()); !error.isOk())
      return error;
    if (Status error = checkPayload(); !error.isOk())
      return error;
    for (size_t i = 0; i < entries->size(); ++i)
      if (Status error = parseEntry((*entries)[i], i); !error.isOk())
        return error;
    return Status::ok();
  }

private:
  Status parseRun(const Json &runObject, const Json &totalsObject, size_t numEntries) {
    Fields run(runObject, "'" + File.ManifestPath + "', run");
    File.Program = run.text("program");
    File.Platform = run.text("platform");
    File.RunStatus = run.text("status");
    File.RunError = run.text("error");
    if (!run.isGood())
      return run.status();
    Fields totals(totalsObject, "'" + File.ManifestPath + "', totals");
    File.UnsignedTasks = totals.number("unsigned");
    uint64_t records = totals.number("records");
    if (records != numEntries)
      totals.fail(std::to_string(records) + " records are announced, " +
                  std::to_string(numEntries) + " are there");
    return totals.status();
  }

  /// The name of the payload is fixed, so a manifest cannot point outside its directory.
  Status checkPayload() {
    File.BinPath =
        (std::filesystem::path(File.ManifestPath).parent_path() / dumpformat::payloadFile).string();
    Expected<InputFile> payload = InputFile::open(File.BinPath, Links::Refuse);
    if (!payload)
      return payload.status();
    if (payload->size() != File.BinBytes)
      return bad("'" + File.BinPath + "' has " + std::to_string(payload->size()) +
                 " bytes, the manifest says " + std::to_string(File.BinBytes));
    return Status::ok();
  }

  Status parseEntry(const Json &object, size_t index) {
    Fields fields(object, "'" + File.ManifestPath + "', entry " + std::to_string(index));
    DumpEntry entry;
    entry.task = fields.number("task");
    entry.kernel = fields.text("kernel");
    entry.kernels = fields.texts("kernels", 4096);
    entry.argIndex =
        static_cast<uint32_t>(fields.number("arg_index", KILN_MAX_TENSORS + KILN_MAX_SCALARS - 1));
    entry.argName = fields.text("arg_name");
    entry.isScalar = fields.word("kind", {"tensor", "scalar"}) == 1;
    entry.role = static_cast<Direction>(fields.word("role", {"in", "out", "inout"}));
    entry.stage =
        static_cast<DumpStage>(fields.word("stage", {"before_dispatch", "after_completion"}));
    std::optional<DType> dtype = parseDType(fields.text("dtype"));
    if (!dtype || (!entry.isScalar && !info(*dtype).isElement))
      fields.fail("'dtype' is not a type that can be here");
    entry.dtype = dtype.value_or(DType::F32);
    entry.hasSignature = !fields.flag("unsigned");
    entry.binOffset = fields.number("bin_offset");
    entry.binSize = fields.number("bin_size");
    entry.truncated = fields.flag("truncated");
    if (entry.isScalar)
      parseScalar(fields, entry);
    else
      parseTensor(fields, entry);
    if (!fields.isGood())
      return fields.status();
    File.Entries.push_back(std::move(entry));
    return Status::ok();
  }

  void parseScalar(Fields &fields, DumpEntry &entry) {
    entry.scalar = {fields.number("scalar_value"), entry.dtype};
    fields.find("value"); // for people; the bits are what counts
    if (entry.binSize != 0)
      fields.fail("a scalar has no payload, yet 'bin_size' is not 0");
  }

  void parseTensor(Fields &fields, DumpEntry &entry) {
    entry.shape = fields.numbers("shape", KILN_MAX_RANK);
    entry.strides = fields.numbers("strides", KILN_MAX_RANK);
    entry.offset = fields.number("offset");
    entry.contiguous = fields.flag("contiguous");
    entry.address = fields.text("address");
    entry.bufferId = fields.number("buffer_id");
    if (fields.has("box"))
      entry.box = fields.text("box");
    entry.internal = fields.flag("internal");
    entry.marked = fields.flag("marked");
    entry.metadataOnly =
        entry.internal || (File.Level == dumpformat::payloadOfMarked && !entry.marked);
    if (!fields.isGood())
      return;
    if (entry.shape.empty() || entry.strides.size() != entry.shape.size())
      return fields.fail("'shape' and 'strides' must have equal length, 1 to " +
                         std::to_string(KILN_MAX_RANK));
    unsigned __int128 bytes = static_cast<unsigned __int128>(sizeOf(entry.dtype));
    bool hasZero = false;
    for (int64_t extent : entry.shape)
      hasZero |= extent == 0;
    for (int64_t extent : entry.shape) {
      bytes = hasZero ? 0 : bytes * static_cast<uint64_t>(extent);
      if (bytes > INT64_MAX)
        return fields.fail("'shape' overflows 64 bits");
    }
    if (entry.hasPayload() && entry.binSize != bytes)
      return fields.fail("'bin_size' is " + std::to_string(entry.binSize) +
                         ", shape and type need " + std::to_string(static_cast<uint64_t>(bytes)));
    if (entry.metadataOnly && entry.binSize != 0)
      return fields.fail(std::string(entry.internal ? "an internal tensor"
                                                    : "a tensor that is not marked, at level 3,") +
                         " has no payload, yet 'bin_size' is not 0");
    if (entry.binOffset > File.BinBytes || entry.binSize > File.BinBytes - entry.binOffset)
      fields.fail("'bin_offset' " + std::to_string(entry.binOffset) + " and 'bin_size' " +
                  std::to_string(entry.binSize) + " reach beyond the payload of " +
                  std::to_string(File.BinBytes) + " bytes");
  }

  DumpFile &File;
};

} // namespace kiln

static Expected<std::string> findManifest(const std::string &where) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path(where);
  if (!fs::exists(path, error))
    return Status(StatusCode::NotFound, "'" + where + "' does not exist");
  if (!fs::is_directory(path, error))
    return path.string();
  for (const fs::path &candidate : {path / dumpformat::subdirectory / dumpformat::manifestFile,
                                    path / dumpformat::manifestFile})
    if (fs::exists(candidate, error))
      return candidate.string();
  return Status(StatusCode::NotFound, "'" + where + "' holds no " + dumpformat::subdirectory + "/" +
                                          dumpformat::manifestFile +
                                          "; was the run made with --dump-args?");
}

Expected<DumpFile> DumpFile::open(const std::string &directory) {
  Expected<std::string> path = findManifest(directory);
  if (!path)
    return path.status();
  Expected<std::string> text = readFile(*path, maxManifestBytes, Links::Refuse);
  if (!text)
    return text.status();
  if (std::string why = whyNotParsed(*text); !why.empty())
    return bad("'" + *path + "': " + why + ", so it is not a manifest");
  Json root = parseJson(*text);
  if (root.is_discarded())
    return bad("'" + *path + "' is not valid JSON: truncated, or not a manifest");
  DumpFile file;
  file.ManifestPath = *path;
  if (Status error = DumpParser(file).parse(root); !error.isOk())
    return error;
  return file;
}

Expected<Tensor> DumpFile::load(const DumpEntry &entry) const {
  if (!entry.hasPayload())
    return Status(StatusCode::FailedPrecondition, "task " + std::to_string(entry.task) + ", '" +
                                                      entry.argName +
                                                      "': only metadata was dumped");
  Expected<Tensor> tensor = Tensor::empty(entry.dtype, entry.shape);
  if (!tensor)
    return tensor;
  if (tensor->numBytes() != entry.binSize)
    return bad("the entry does not belong to this dump");
  Expected<InputFile> payload = InputFile::open(BinPath, Links::Refuse);
  if (!payload)
    return payload.status();
  Status read = payload->read(entry.binOffset, {tensor->dataAs<std::byte>(), tensor->numBytes()});
  if (!read.isOk())
    return read;
  return tensor;
}
