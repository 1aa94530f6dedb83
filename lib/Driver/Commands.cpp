//===- Commands.cpp - `kiln emit`, `kiln build`, `kiln machines` ----------------------===//
#include "Driver.h"

#include "kiln/Target/Orchestration/Orchestration.h"
#include "kiln/Target/Signature/Signature.h"
#include "kiln/Target/Torch/Torch.h"
#include "kiln/Transforms/Passes.h"
#include "kiln/runtime/kernel_config.h"

#include <nlohmann/json.hpp>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace mlir;

namespace kiln {

int badInput(const std::string &message) {
  std::fflush(stdout);
  std::fprintf(stderr, "kiln: error: %s\n", message.c_str());
  return kBadInput;
}

void printErrors(const std::vector<Status> &errors, std::FILE *to) {
  std::fflush(stdout);
  for (const Status &error : errors) {
    std::fprintf(to, "%s\n", error.str().c_str());
    std::fputs(quoteLine(error.location()).c_str(), to);
  }
}

OwningOpRef<ModuleOp> prepare(const Source &source, const std::string &lastPass, int &status,
                              std::unique_ptr<PassInstrumentation> instrumentation) {
  status = kBadInput;
  OwningOpRef<ModuleOp> module = ModuleOp(source.module).clone();
  MLIRContext *context = module->getContext();
  PassManager passes(context);
  if (instrumentation)
    passes.addInstrumentation(std::move(instrumentation));
  std::vector<std::string> names;
  if (!buildPreparePipeline(passes, lastPass, &names)) {
    badInput("there is no pass '" + lastPass +
             "'; the passes are, in order: " + llvm::join(names, ", "));
    return {};
  }
  std::vector<Status> errors;
  DiagnosticCollector collector(context, errors);
  if (failed(passes.run(*module))) {
    if (errors.empty())
      errors.emplace_back(StatusCode::Internal, "a pass failed without saying why");
    printErrors(errors);
    return {};
  }
  status = kGood;
  return module;
}

int emitCommand(const Source &source, const std::string &target, const std::string &lastPass,
                const std::string &entry, const RunSettings &options) {
  if (target == "ir" && lastPass.empty()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    ModuleOp module = source.module;
    module.print(os);
    std::printf("%s", text.c_str());
    return kGood;
  }
  int status = kBadInput;
  OwningOpRef<ModuleOp> module = prepare(source, lastPass, status);
  if (!module)
    return status;
  std::string text;
  if (target == "ir") {
    llvm::raw_string_ostream os(text);
    module->print(os);
  } else if (target == "torch") {
    Expected<std::string> emitted =
        emitTorch(*module, {entry, options.unboundedSlots, options.checkShapes});
    if (!emitted) {
      printErrors({emitted.status()});
      return kBadInput;
    }
    text = *emitted;
  } else if (target == "orchestration") {
    Expected<OrchestrationResult> emitted = emitOrchestration(*module, {source.name, entry});
    if (!emitted) {
      printErrors({emitted.status()});
      return kBadInput;
    }
    text = options.json ? emitted->json() : emitted->code;
  } else {
    return badInput("there is no target '" + target + "'; use ir, torch or orchestration");
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kGood;
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

static std::string checksum(const std::string &bytes) {
  char text[48];
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  std::snprintf(text, sizeof text, "xxh3-128:%016llx%016llx", (unsigned long long)hash.high64,
                (unsigned long long)hash.low64);
  return text;
}

static bool readWhole(const std::filesystem::path &path, std::string &bytes) {
  std::ifstream file(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  return file.good() || file.eof();
}

/// Writes beside the file and renames, so that a reader sees all of it or nothing.
static bool writeWhole(const std::filesystem::path &path, const std::string &bytes) {
  std::filesystem::path temporary = path.string() + ".tmp";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  std::error_code error;
  if (!file.fail())
    std::filesystem::rename(temporary, path, error);
  bool good = !file.fail() && !error;
  if (!good)
    std::filesystem::remove(temporary, error);
  return good;
}

/// A symbol may hold any character; a file's name should not.
static std::string fileNameFor(StringRef symbol) {
  std::string name;
  for (char c : symbol)
    name += llvm::isAlnum(c) || c == '_' ? c : '_';
  return name;
}

int buildCommand(const Source &source, const std::string &platform, const std::string &entryName,
                 const std::string &out) {
  if (platform != "a2a3sim" && platform != "a5sim")
    return badInput("bundles can be built for a2a3sim and a5sim so far, not for '" + platform +
                    "'");
  int status = kBadInput;
  OwningOpRef<ModuleOp> module = prepare(source, "", status);
  if (!module)
    return status;
  Expected<ir::FuncOp> entry = findEntry(*module, entryName);
  if (!entry)
    return badInput(entry.status().message());
  Expected<OrchestrationResult> orchestration =
      emitOrchestration(*module, {source.name, entry->getSymName().str()});
  if (!orchestration) {
    printErrors({orchestration.status()});
    return kBadInput;
  }
  std::string orchestrationFile = "orchestration/" + fileNameFor(entry->getSymName()) + ".cpp";
  KernelConfig config = orchestration->kernelConfig(platform, orchestrationFile, "program.mlir");
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(fs::path(out) / "orchestration", error);
  if (error)
    return badInput("cannot make the folder " + out + ": " + error.message());
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  if (!writeWhole(fs::path(out) / "program.mlir", text))
    return badInput("cannot write " + out + "/program.mlir");
  if (!writeWhole(fs::path(out) / orchestrationFile, orchestration->code))
    return badInput("cannot write " + out + "/" + orchestrationFile);
  if (Status failed = writeKernelConfig(config, out); !failed.isOk())
    return badInput(failed.message());
  nlohmann::ordered_json bundle{{"format", 1},
                                {"program", source.name},
                                {"platform", platform},
                                {"entry", entry->getSymName().str()}};
  for (const KernelConfigEntry &kernel : config.kernels)
    bundle["kernels"].push_back(kernel.name);
  for (const std::string &name :
       {std::string("program.mlir"), orchestrationFile, std::string("kernel_config.json"),
        std::string("kernel_config.py")}) {
    std::string bytes;
    if (!readWhole(fs::path(out) / name, bytes))
      return badInput("cannot read back " + out + "/" + name);
    bundle["files"][name] = {{"bytes", bytes.size()}, {"checksum", checksum(bytes)}};
  }
  if (!writeWhole(fs::path(out) / "bundle.json", bundle.dump(2) + "\n"))
    return badInput("cannot write " + out + "/bundle.json");
  std::printf("%s for %s: %s (%zu kernel%s)\n", source.name.c_str(), platform.c_str(), out.c_str(),
              config.kernels.size(), config.kernels.size() == 1 ? "" : "s");
  return kGood;
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

int machinesCommand(bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Machine &machine : machines()) {
    nlohmann::ordered_json roles, memories, paths;
    for (const Role &role : machine.roles)
      roles.push_back({{"name", role.name},
                       {"max_lanes", role.maxLanes},
                       {"matrix", bool(role.executes & MatrixWork)},
                       {"vector", bool(role.executes & VectorWork)},
                       {"copy", bool(role.executes & CopyWork)}});
    for (const Memory &memory : machine.memories)
      memories.push_back(
          {{"name", memory.name}, {"bytes", memory.bytes}, {"alignment", memory.alignment}});
    for (const Path &path : machine.paths)
      paths.push_back(std::string(path.from) + " -> " + std::string(path.to));
    list.push_back({{"name", machine.name},
                    {"platform", machine.platform},
                    {"core_groups", machine.coreGroups},
                    {"roles", roles},
                    {"memories", memories},
                    {"paths", paths},
                    {"pipes", toString(machine.pipeStorage)},
                    {"default_slots", machine.defaultSlots}});
  }
  if (json) {
    std::printf("%s\n", list.dump(2).c_str());
    return kGood;
  }
  for (const auto &machine : list) {
    std::printf("%s (platform %s)\n", machine["name"].get<std::string>().c_str(),
                machine["platform"].get<std::string>().c_str());
    for (const auto &role : machine["roles"])
      std::printf("  role %-8s up to %d lane(s):%s%s%s\n", role["name"].get<std::string>().c_str(),
                  role["max_lanes"].get<int>(), role["matrix"] ? " matrix" : "",
                  role["vector"] ? " vector" : "", role["copy"] ? " copy" : "");
    for (const auto &memory : machine["memories"])
      if (memory["bytes"] > 0)
        std::printf(
            "  memory %-6s %4ld KiB, aligned to %ld\n", memory["name"].get<std::string>().c_str(),
            long(memory["bytes"].get<int64_t>() / 1024), long(memory["alignment"].get<int64_t>()));
    std::printf("  pipes: %s, %d slots by default\n", machine["pipes"].get<std::string>().c_str(),
                machine["default_slots"].get<int>());
  }
  return kGood;
}

} // namespace kiln
