#include "kiln/Jit/Compiler/TuneStore.h"

#include "OwnFolder.h"
#include "abi/Environment.h"
#include "abi/FileIo.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Program/Signature.h"

#include "llvm/Support/SHA256.h"

#include <bit>
#include <filesystem>
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

static constexpr OwnFolder::Words kCacheWords = {"cache directory", "choose what is run", ""},
                                  kWords = {"folder", "choose what is run", ""};
constexpr uint64_t kMostBytes = 1 << 24;

TuneStore::TuneStore(const DiskCacheOptions &cache) : Cache(cache.directory) {
  if (isEnabled())
    Folder = Cache + "/tuned";
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

static std::string nameOf(const std::string &key) {
  auto digest =
      llvm::SHA256::hash(ArrayRef(reinterpret_cast<const uint8_t *>(key.data()), key.size()));
  return llvm::toHex(ArrayRef(digest).take_front(16), /*LowerCase=*/true) + ".json";
}

std::string TuneStore::pathOf(const std::string &key) const { return Folder + "/" + nameOf(key); }

/// The values in the text of a file, if it was kept for this key.
static std::optional<ConfigValues> valuesIn(const std::string &text, const std::string &key) {
  Json json = parseJson(text);
  if (!json.is_object() || !json.contains("key") || json["key"] != key ||
      !json.contains("values") || !json["values"].is_object())
    return std::nullopt;
  ConfigValues values;
  for (const auto &[name, value] : json["values"].items()) {
    if (!value.is_string()) // nobody has measured the others without it
      return std::nullopt;
    values[name] = value.get<std::string>();
  }
  return values;
}

std::optional<ConfigValues> TuneStore::find(const std::string &key) const {
  if (!isEnabled())
    return std::nullopt;
  // Who may write to the cache can exchange what is in it.
  Expected<OwnFolder> cache = OwnFolder::open(Cache, kCacheWords);
  Expected<OwnFolder> folder = cache ? OwnFolder::open(Folder, kWords) : cache.status();
  int fd = folder ? folder->openFile(nameOf(key), O_RDONLY) : -1;
  if (fd < 0)
    return std::nullopt;
  Expected<std::string> text = readOwnFile(fd, kMostBytes);
  ::close(fd);
  return text ? valuesIn(*text, key) : std::nullopt;
}

Status TuneStore::put(const std::string &key, const ConfigValues &values, const Json &about) const {
  Expected<OwnFolder> cache = OwnFolder::openOrMake(Cache, kCacheWords);
  Expected<OwnFolder> folder = cache ? OwnFolder::openOrMake(Folder, kWords) : cache.status();
  if (!folder)
    return folder.status();
  sweepTemporaries(folder->fd());
  Json json{{"format", "kiln-tuned"}, {"version", 1}, {"key", key}, {"values", values}};
  json.update(about);
  Expected<std::unique_ptr<TemporaryFile>> file =
      TemporaryFile::create(nameOf(key), folder->fd(), S_IRUSR | S_IWUSR);
  Status done = file ? (*file)->write(jsonText(json) + "\n") : file.status();
  if (done.isOk())
    done = (*file)->commit();
  return done.isOk() ? done : done.withPrefix("in " + Folder);
}

} // namespace kiln
