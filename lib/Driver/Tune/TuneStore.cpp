#include "TuneStore.h"

#include "Record.h"

#include "abi/FileIo.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Jit/DiskCache.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/SHA256.h"

#include <bit>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace kiln {
namespace {

/// Extents of an argument as `--arg` says them; empty if it does not.
SmallVector<int64_t> extentsIn(StringRef spec) {
  SmallVector<int64_t> extents;
  SmallVector<StringRef> parts;
  spec.split(':').first.split(parts, 'x');
  for (StringRef part : parts)
    if (part.getAsInteger(10, extents.emplace_back()))
      return {};
  return extents;
}

/// "f32[256, <=1024]": what the program fixes as it is, the rest up to a power of two.
std::optional<std::string> classOf(ir::TensorType type, const std::string &spec) {
  SmallVector<int64_t> given = extentsIn(spec);
  std::string text = toString(*dtypeOf(type.getElementType())) + std::string("[");
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    text += axis ? ", " : "";
    if (!ShapedType::isDynamic(extent)) {
      text += std::to_string(extent);
      continue;
    }
    if (given.size() != type.getShape().size() || given[axis] < 0)
      return std::nullopt;
    text += "<=" + std::to_string(std::bit_ceil(static_cast<uint64_t>(given[axis])));
  }
  return text + "]";
}

} // namespace

std::optional<std::string> tuneKey(const Source &source, const RunSettings &options) {
  if (!options.platform || !options.platform->can(Capability::Jit))
    return std::nullopt;
  Expected<ir::FuncOp> entry = findEntry(source.module, options.entry);
  if (!entry)
    return std::nullopt;
  ArgSpecs specs = specsOf(source, options);
  std::vector<std::string> names = parameterNames(*entry);
  std::string arguments;
  for (auto [number, type] : llvm::enumerate(entry->getArgumentTypes())) {
    auto tensor = dyn_cast<ir::TensorType>(type);
    if (!tensor)
      continue; // a number is no size
    std::optional<std::string> shape = classOf(tensor, specs[names[number]]);
    if (!shape)
      return std::nullopt;
    arguments += "argument " + names[number] + " " + *shape + "\n";
  }
  std::unique_ptr<JitBackend> backend = options.platform->makeJitBackend(options.cpu, "");
  if (!backend)
    return std::nullopt;
  return "kiln-tune-key 1\nprogram " + source.name + "\nhash " + programHash(source.module) +
         "\nentry " + entry->getSymName().str() + "\nplatform " + options.platform->name() +
         "\narch " + backend->arch() + "\n" + arguments;
}

Expected<TuneStore> TuneStore::fromEnvironment() {
  Expected<DiskCacheOptions> cache = DiskCacheOptions::fromEnvironment();
  if (!cache)
    return cache.status();
  TuneStore store;
  if (!cache->directory.empty())
    store.Folder = cache->directory + "/tuned";
  return store;
}

bool TuneStore::isEmpty() const {
  std::error_code error;
  return !isEnabled() || !std::filesystem::exists(Folder, error);
}

Expected<std::optional<ConfigValues>> tunedValues(const Source &source,
                                                  const RunSettings &options) {
  const char *variable = std::getenv("KILN_UNTUNED");
  std::string_view untuned = variable ? variable : "";
  if (!untuned.empty() && untuned != "0" && untuned != "1")
    return Status(StatusCode::InvalidArgument,
                  "KILN_UNTUNED='" + std::string(untuned) + "': expected 0 or 1");
  if (untuned == "1")
    return std::optional<ConfigValues>();
  Expected<TuneStore> store = TuneStore::fromEnvironment();
  if (!store || store->isEmpty() || !source.config || source.config->declared.empty())
    return std::optional<ConfigValues>();
  std::optional<std::string> key = tuneKey(source, options);
  return key ? store->find(*key) : std::nullopt;
}

std::string TuneStore::pathOf(const std::string &key) const {
  auto digest =
      llvm::SHA256::hash(ArrayRef(reinterpret_cast<const uint8_t *>(key.data()), key.size()));
  return Folder + "/" + llvm::toHex(ArrayRef(digest).take_front(16), /*LowerCase=*/true) + ".json";
}

std::optional<ConfigValues> TuneStore::find(const std::string &key) const {
  struct stat info;
  std::string path = pathOf(key);
  // As in the cache: only this user's own files, which nobody else can write.
  if (!isEnabled() || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) || info.st_size > 1 << 24)
    return std::nullopt;
  Expected<std::string> text = readFile(path, 1 << 24);
  if (!text)
    return std::nullopt;
  Json json = parseJson(*text);
  if (!json.is_object() || !json.contains("key") || json["key"] != key ||
      !json.contains("values") || !json["values"].is_object())
    return std::nullopt;
  ConfigValues values;
  for (const auto &[name, value] : json["values"].items())
    if (value.is_string())
      values[name] = value.get<std::string>();
  return values;
}

Status TuneStore::put(const std::string &key, const ConfigValues &values, const Json &about) const {
  std::error_code error;
  std::filesystem::create_directories(Folder, error);
  std::filesystem::permissions(Folder, std::filesystem::perms::owner_all, error);
  std::string path = pathOf(key);
  size_t slash = path.rfind('/');
  Json json{{"format", "kiln-tuned"}, {"version", 1}, {"key", key}, {"values", values}};
  json.update(about);
  if (Status bad = writeRecordFile(path.substr(0, slash), path.substr(slash + 1), json);
      !bad.isOk())
    return bad;
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
  return Status::ok();
}

} // namespace kiln
