#include "kiln/Jit/Compiler/TuneStore.h"

#include "abi/Environment.h"
#include "abi/FileIo.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/SHA256.h"

#include <bit>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;

namespace kiln {

/// "f32[256, <=1024]": what the program fixes as it is, the rest up to a power of two.
static std::optional<std::string> classOf(ir::TensorType type, ArrayRef<int64_t> given) {
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

std::optional<std::string> tuneKey(const TuneSubject &subject) {
  if (!subject.platform || !subject.platform->can(Capability::Jit))
    return std::nullopt;
  Expected<ir::FuncOp> entry = findEntry(subject.module, subject.entry);
  if (!entry)
    return std::nullopt;
  std::vector<std::string> names = parameterNames(*entry);
  std::string arguments;
  for (auto [number, type] : llvm::enumerate(entry->getArgumentTypes())) {
    auto tensor = dyn_cast<ir::TensorType>(type);
    if (!tensor)
      continue; // a number is no size
    bool isGiven = number < subject.extents.size();
    std::optional<std::string> shape =
        classOf(tensor, isGiven ? ArrayRef(subject.extents[number]) : ArrayRef<int64_t>());
    if (!shape)
      return std::nullopt;
    arguments += "argument " + names[number] + " " + *shape + "\n";
  }
  std::unique_ptr<JitBackend> backend = subject.platform->makeJitBackend(subject.cpu, "");
  if (!backend)
    return std::nullopt;
  ModuleOp module = subject.module;
  return "kiln-tune-key 1\nprogram " + module.getSymName().value_or("").str() + "\nhash " +
         programHash(subject.module) + "\nentry " + entry->getSymName().str() + "\nplatform " +
         subject.platform->name() + "\narch " + backend->arch() + "\n" + arguments;
}

TuneStore::TuneStore(const DiskCacheOptions &cache) {
  if (!cache.directory.empty())
    Folder = cache.directory + "/tuned";
}

Expected<TuneStore> TuneStore::fromEnvironment() {
  Expected<DiskCacheOptions> cache = DiskCacheOptions::fromEnvironment();
  return cache ? Expected(TuneStore(*cache)) : cache.status();
}

bool TuneStore::isEmpty() const {
  std::error_code error;
  return !isEnabled() || !std::filesystem::exists(Folder, error);
}

Expected<std::optional<ConfigValues>> TuneStore::valuesFor(const TuneSubject &subject) const {
  Expected<bool> isUnwanted = flagFromEnvironment("KILN_UNTUNED", false);
  if (!isUnwanted)
    return isUnwanted.status();
  if (*isUnwanted || isEmpty())
    return std::optional<ConfigValues>();
  std::optional<std::string> key = tuneKey(subject);
  return key ? find(*key) : std::nullopt;
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
  Json json{{"format", "kiln-tuned"}, {"version", 1}, {"key", key}, {"values", values}};
  json.update(about);
  Expected<std::unique_ptr<TemporaryFile>> file =
      TemporaryFile::create(pathOf(key), AT_FDCWD, S_IRUSR | S_IWUSR);
  if (!file)
    return file.status();
  Status written = (*file)->write(jsonText(json) + "\n");
  return written.isOk() ? (*file)->commit() : written;
}

} // namespace kiln
