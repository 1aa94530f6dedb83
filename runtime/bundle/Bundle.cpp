#include "kiln/runtime/bundle.h"

#include "ManifestText.h"
#include "abi/CpuFeatures.h"
#include "abi/FileIo.h"
#include "abi/TileRegisters.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace kiln;

static constexpr const char *kManifestName = "bundle.json";
/// No file of a bundle is larger; what claims to be is damaged.
static constexpr uint64_t kMaxFileBytes = uint64_t(4) << 30;

static std::string checksumOf(std::string_view bytes) {
  char text[48];
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  std::snprintf(text, sizeof text, "xxh3-128:%016llx%016llx", (unsigned long long)hash.high64,
                (unsigned long long)hash.low64);
  return text;
}

std::string kiln::manifestText(Json json) {
  json.erase("checksum");
  std::string body = jsonText(json);
  json["checksum"] = checksumOf(body);
  return jsonText(json) + "\n";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Status kiln::writeBundle(const std::string &directory, const BundleManifest &manifest,
                         const std::map<std::string, std::string> &files) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string manifestPath = directory + "/" + kManifestName;
  fs::remove(manifestPath, error);
  sweepTemporaries(directory);
  Json list = Json::object();
  for (const auto &[name, bytes] : files) {
    std::string path = directory + "/" + name;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (error)
      return Status(StatusCode::IoError,
                    "cannot make the folder of " + path + ": " + error.message());
    sweepTemporaries(fs::path(path).parent_path().string());
    if (Status failed = writeFileAtomically(path, bytes); !failed.isOk())
      return failed;
    list[name] = {{"bytes", bytes.size()}, {"checksum", checksumOf(bytes)}};
  }
  Json json{{"format", bundleFormat},          {"program", manifest.program},
            {"platform", manifest.platform},   {"arch", manifest.arch},
            {"toolchain", manifest.toolchain}, {"abi_version", KILN_ABI_VERSION},
            {"entry", manifest.entry},         {"kernels", manifest.kernels},
            {"arguments", manifest.arguments}, {"files", list}};
  if (manifest.native)
    json["native"] = parseJson(toJson(*manifest.native));
  if (!manifest.cuda.empty())
    json["cuda"] = parseJson(toJson(manifest.cuda));
  return writeFileAtomically(manifestPath, manifestText(json));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Status damaged(const std::string &path, const std::string &what) {
  return Status(StatusCode::InvalidArgument, path + " " + what);
}

/// A name from a manifest stays inside the folder.
static bool isInside(const std::string &name) {
  std::filesystem::path path(name);
  if (name.empty() || path.is_absolute() || name.find('\\') != std::string::npos)
    return false;
  for (const auto &part : path)
    if (part == ".." || part == "." || part.empty())
      return false;
  return true;
}

static Status verifyFile(const std::string &directory, const std::string &name, const Json &entry,
                         std::string &bytes) {
  std::string path = directory + "/" + name;
  if (!isInside(name))
    return damaged(directory + "/" + kManifestName, "names a file outside the bundle: " + name);
  if (!entry.is_object() || !entry.contains("bytes") || !entry["bytes"].is_number_unsigned() ||
      !entry.contains("checksum") || !entry["checksum"].is_string())
    return damaged(directory + "/" + kManifestName, "does not describe " + name);
  Expected<std::string> read = readFile(path, kMaxFileBytes);
  if (!read)
    return read.status().code() == StatusCode::NotFound
               ? damaged(path, "is missing from the bundle")
               : read.status();
  if (read->size() != entry["bytes"].get<uint64_t>())
    return damaged(path, "has " + std::to_string(read->size()) +
                             " bytes; the bundle was built with " +
                             std::to_string(entry["bytes"].get<uint64_t>()));
  if (checksumOf(*read) != entry["checksum"].get<std::string>())
    return damaged(path, "was altered after the bundle was built: its checksum does not match");
  bytes = std::move(*read);
  return Status::ok();
}

/// What is printed must not steer a terminal, nor fill it.
static bool isPrintable(const std::string &text) {
  constexpr size_t longest = 4096;
  return text.size() <= longest && std::ranges::none_of(text, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

/// The name of a CPU and, behind a space, its features: "generic +sse2,-avx".
static bool isArch(const std::string &text) {
  size_t space = std::min(text.find(' '), text.size());
  bool isGood = space > 0;
  std::istringstream features(space < text.size() ? text.substr(space + 1) : "");
  for (std::string word; std::getline(features, word, ',');)
    isGood &= word.size() > 1 && (word[0] == '+' || word[0] == '-') &&
              word.find_first_of(" +", 1) == std::string::npos;
  return isGood;
}

static Expected<BundleManifest> readManifest(const Json &json, const std::string &path) {
  BundleManifest manifest;
  auto text = [&](const char *name) {
    return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
  };
  manifest.program = text("program");
  manifest.platform = text("platform");
  manifest.entry = text("entry");
  manifest.arch = text("arch");
  manifest.toolchain = text("toolchain");
  for (const std::string *word : {&manifest.program, &manifest.platform, &manifest.entry,
                                  &manifest.arch, &manifest.toolchain})
    if (!isPrintable(*word))
      return damaged(path, "has names with control characters, or of more than 4096 bytes");
  if (manifest.platform.empty() || (json.contains("native") && !isArch(manifest.arch)))
    return damaged(path, "does not say which platform and which CPU it was built for");
  auto isName = [](const Json &name) {
    return name.is_string() && !name.get_ref<const std::string &>().empty();
  };
  if (!json.contains("kernels") || !json["kernels"].is_array() ||
      !std::ranges::all_of(json["kernels"], isName))
    return damaged(path, "does not list the kernels");
  for (const Json &kernel : json["kernels"])
    manifest.kernels.push_back(kernel.get<std::string>());
  if (json.contains("arguments")) {
    // No file: whoever makes a bundle has no business with those of the machine it runs on.
    auto isSpec = [](const Json &spec) {
      return spec.is_string() && !spec.get<std::string>().starts_with("file:");
    };
    if (!json["arguments"].is_object() || !std::ranges::all_of(json["arguments"], isSpec))
      return damaged(path, "does not say what the arguments are when none are given");
    for (const auto &[name, spec] : json["arguments"].items())
      manifest.arguments[name] = spec.get<std::string>();
  }
  if (json.contains("native")) {
    Expected<NativeInfo> native = parseNativeInfo(jsonText(json["native"], onOneLine));
    if (!native)
      return native.status().withPrefix(path);
    manifest.native = std::move(*native);
    if (manifest.native->entry.name != manifest.entry)
      return damaged(path, "names '" + manifest.entry + "' as its entry and describes '" +
                               manifest.native->entry.name + "'");
  }
  if (json.contains("cuda")) {
    Expected<std::vector<CudaKernel>> cuda = parseCudaKernels(jsonText(json["cuda"], onOneLine));
    if (!cuda)
      return cuda.status().withPrefix(path);
    manifest.cuda = std::move(*cuda);
    Status wrong = manifest.native
                       ? verifyCudaKernels(manifest.cuda, *manifest.native)
                       : Status(StatusCode::InvalidArgument, "nothing launches its kernels");
    if (!wrong.isOk())
      return wrong.withPrefix(path);
  }
  return manifest;
}

Expected<Bundle> Bundle::open(const std::string &directory) {
  std::string path = directory + "/" + kManifestName;
  Expected<std::string> text = readFile(path, uint64_t(64) << 20);
  if (!text)
    return text.status().code() == StatusCode::NotFound
               ? Status(StatusCode::NotFound,
                        path + " is missing: not a bundle (make one with kiln build)")
               : text.status();
  Json json = parseJson(*text);
  if (!json.is_object() || !json.contains("format") || !json["format"].is_number_integer())
    return damaged(path, "is damaged: it is no manifest of a bundle");
  if (json["format"].get<int64_t>() != bundleFormat)
    return damaged(path, "has format " + jsonText(json["format"], onOneLine) +
                             "; this build reads format " + std::to_string(bundleFormat));
  if (manifestText(json) != *text)
    return damaged(path, "was altered after the bundle was built: its checksum does not match");
  if (!json.contains("abi_version") || json["abi_version"] != KILN_ABI_VERSION)
    return damaged(path, "was made for another version of the kernel ABI");
  Bundle bundle;
  bundle.Directory = directory;
  if (!json.contains("files") || !json["files"].is_object())
    return damaged(path, "lists no files");
  for (const auto &[name, entry] : json["files"].items()) {
    std::string bytes;
    if (Status bad = verifyFile(directory, name, entry, bytes); !bad.isOk())
      return bad;
    if (name.ends_with(".so") || name.ends_with(".cubin"))
      bundle.Code[name] = std::move(bytes);
  }
  Expected<BundleManifest> manifest = readManifest(json, path);
  if (!manifest)
    return manifest.status();
  bundle.Manifest = std::move(*manifest);
  return bundle;
}

/// Maps the bytes that were verified, whatever has become of the file since. A checksum is no
/// signature: whoever makes up a bundle can compute it. So the object must also be one that the
/// linker can read, and the one that the description was made for.
static Expected<std::shared_ptr<SharedObject>> mapCode(const std::string &bytes,
                                                       const NativeInfo &info) {
  if (Status bad = verifyElf(bytes); !bad.isOk())
    return bad;
  Expected<std::shared_ptr<SharedObject>> object = SharedObject::fromBytes(bytes, info.entry.name);
  if (!object)
    return object;
  LinkedSymbol symbol = descriptionSymbol(info);
  if (reinterpret_cast<uintptr_t>((*object)->find(symbol.name)) != symbol.value)
    return Status(StatusCode::InvalidArgument,
                  "was not built for the description in bundle.json; build the bundle again");
  return object;
}

Expected<std::shared_ptr<const NativeProgram>> Bundle::load() const {
  std::string path = Directory + "/" + bundleCodePath;
  auto code = Code.find(bundleCodePath);
  if (!Manifest.native || code == Code.end())
    return Status(StatusCode::Unsupported,
                  "the bundle in " + Directory + " is for " + Manifest.platform +
                      " and has no code for a CPU; run its program with kiln run " + Directory +
                      "/program.mlir -p " + Manifest.platform + ", or build it with -p cpu");
  size_t space = Manifest.arch.find(' ');
  std::string features = space == std::string::npos ? "" : Manifest.arch.substr(space + 1);
  if (std::optional<std::string> missing = missingCpuFeature(features))
    return damaged(path, "was built for " + Manifest.arch.substr(0, space) +
                             ", and this CPU lacks " + *missing +
                             "; build the bundle on this machine, or with --cpu");
  Expected<std::shared_ptr<SharedObject>> object = mapCode(code->second, *Manifest.native);
  if (!object)
    return object.status().withPrefix(path);
  Expected<std::shared_ptr<const NativeProgram>> program =
      NativeProgram::load(std::move(*object), *Manifest.native);
  if (!program)
    return program.status().withPrefix(path);
  return program;
}

Expected<std::shared_ptr<const CudaProgram>> Bundle::loadCuda() const {
  if (!Manifest.isForGpu() || !Manifest.native)
    return Status(StatusCode::Unsupported, "the bundle in " + Directory + " is for " +
                                               Manifest.platform +
                                               " and has no code for a GPU; build it with -p h200");
  std::shared_ptr<SharedObject> object;
  if (auto code = Code.find(bundleOrchestrationPath); code != Code.end()) {
    Expected<std::shared_ptr<SharedObject>> mapped = mapCode(code->second, *Manifest.native);
    if (!mapped)
      return mapped.status().withPrefix(Directory + "/" + bundleOrchestrationPath);
    object = std::move(*mapped);
  }
  return CudaProgram::load(*Manifest.native, Manifest.cuda, Code, std::move(object));
}

//===----------------------------------------------------------------------===//
// This CPU
//===----------------------------------------------------------------------===//

std::optional<std::string> kiln::missingCpuFeature(const std::string &features) {
  std::istringstream wanted(features);
  for (std::string word; std::getline(wanted, word, ',');) {
    if (!word.starts_with('+'))
      continue;
    std::string name = word.substr(1);
    CpuFeature there = cpuFeature(name);
    if (there == CpuFeature::Missing && name.starts_with("amx") && !mayUseTileRegisters())
      return name + " (the system does not allow tile registers)";
    if (there == CpuFeature::Missing || there == CpuFeature::Unknown)
      return name;
  }
  return std::nullopt;
}
