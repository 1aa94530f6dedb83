//===- Commands.cpp - `kiln emit`, `kiln build`, `kiln machines` ----------------------===//
#include "CudaBundle.h"
#include "Driver.h"
#include "NativeBundle.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/Target/Llvm/Llvm.h"
#include "kiln/Target/Orchestration/Orchestration.h"
#include "kiln/Target/Torch/Torch.h"
#include "kiln/runtime/kernel_config.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>

using namespace mlir;

namespace kiln {

int worseOf(int one, int other) {
  constexpr int order[] = {kBadInput, kWrong, kIncomplete, kGood};
  return *llvm::find_if(order, [&](int code) { return code == one || code == other; });
}

int badInput(const std::string &message) {
  std::fflush(stdout);
  std::fprintf(stderr, "kiln: error: %s\n", message.c_str());
  return kBadInput;
}

void printErrors(const std::vector<Status> &errors, std::FILE *to) {
  std::fflush(stdout);
  for (const Status &error : errors) {
    std::fprintf(to, "%s%s\n", error.location().isKnown() ? "" : "kiln: ", error.str().c_str());
    std::fputs(quoteLine(error.location()).c_str(), to);
  }
}

int badInput(const Status &status) {
  printErrors({status});
  return kBadInput;
}

int emitCommand(const Source &source, const std::string &target, const RunSettings &options) {
  if (target != "ir" && target != "torch" && target != "llvm" && target != "cuda" &&
      target != "orchestration")
    return badInput("there is no target '" + target +
                    "'; use ir, torch, orchestration, llvm or cuda");
  if (options.json && target != "orchestration")
    return badInput("--json is for --target orchestration; the other targets are text");
  bool asWritten = target == "ir" && options.lastPass.empty() && options.platform.empty();
  std::optional<CompiledProgram> compiled;
  if (!asWritten) {
    CompileSettings settings = options;
    settings.needsEntry = target != "ir" && target != "torch"; // which can be read all the same
    if (options.platform.empty() && target == "llvm")
      settings.platform = "cpu";
    else if (options.platform.empty() && target == "cuda")
      settings.platform = "h200";
    else if (options.platform.empty() && !options.lastPass.empty())
      settings.platform = CompileSettings().platform;
    int status = kBadInput;
    if (!(compiled = compile(source, settings, status)))
      return status;
  }
  ModuleOp module = asWritten ? source.module : *compiled->module;
  Expected<std::string> text = [&]() -> Expected<std::string> {
    if (target == "llvm")
      return emitLlvmIr(module);
    if (target == "cuda") {
      Expected<std::vector<CudaUnit>> units = emitCuda(module);
      if (!units)
        return units.status();
      return cudaSource(*units);
    }
    if (target == "torch")
      return emitTorch(module, {options.entry, options.unboundedSlots, options.checkShapes});
    if (target == "orchestration") {
      Expected<OrchestrationResult> emitted =
          emitOrchestration(module, {source.name, compiled->entry.getSymName().str()});
      if (!emitted)
        return emitted.status();
      return options.json ? emitted->json() : emitted->code;
    }
    std::string printed;
    llvm::raw_string_ostream os(printed);
    module.print(os);
    return printed;
  }();
  if (!text) {
    printErrors({text.status()});
    return kBadInput;
  }
  std::fwrite(text->data(), 1, text->size(), stdout);
  return kGood;
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

/// A symbol may hold any character; a file's name should not.
static std::string fileNameFor(StringRef symbol) {
  std::string name;
  for (char c : symbol)
    name += llvm::isAlnum(c) || c == '_' ? c : '_';
  return name;
}

int buildCommand(const Source &source, const RunSettings &options) {
  const std::string &platform = options.platform, &out = options.out;
  if (platform != "cpu" && platform != "h200" && platform != "a2a3sim" && platform != "a5sim")
    return badInput("bundles can be built for cpu, h200, a2a3sim and a5sim so far, not for '" +
                    platform + "'");
  if (platform != "cpu" && !options.cpu.empty())
    return badInput("--cpu is for -p cpu");
  int status = kBadInput;
  std::optional<CompiledProgram> compiled = compile(source, options, status);
  if (!compiled)
    return status;
  ir::FuncOp entry = compiled->entry;
  Expected<OrchestrationResult> orchestration =
      emitOrchestration(*compiled->module, {source.name, entry.getSymName().str()});
  if (!orchestration) {
    printErrors({orchestration.status()});
    return kBadInput;
  }
  std::string orchestrationFile = "orchestration/" + fileNameFor(entry.getSymName()) + ".cpp";
  KernelConfig config = orchestration->kernelConfig(platform, orchestrationFile, "program.mlir");
  Expected<std::string> json = renderKernelConfigJson(config);
  Expected<std::string> python = renderKernelConfigPython(config);
  for (const Expected<std::string> *text : {&json, &python})
    if (!*text)
      return badInput(text->status().message());
  BundleManifest manifest;
  manifest.program = source.name;
  manifest.platform = platform;
  manifest.entry = entry.getSymName().str();
  for (const KernelConfigEntry &kernel : config.kernels)
    manifest.kernels.push_back(kernel.name);
  std::map<std::string, std::string> files{{orchestrationFile, orchestration->code},
                                           {"kernel_config.json", *json},
                                           {"kernel_config.py", *python}};
  llvm::raw_string_ostream(files["program.mlir"]) << *compiled->module;
  for (const auto &[name, text] : compiled->passes)
    files["passes/" + name] = text;
  Status added = platform == "cpu" ? addNativeCode(*compiled->module, options.cpu, manifest, files)
                 : platform == "h200" ? addCudaCode(*compiled->module, manifest, files)
                                      : Status::ok();
  if (!added.isOk()) {
    printErrors({added});
    return kBadInput;
  }
  // Only now: whatever was refused above leaves the bundle of yesterday as it is.
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error)
    return badInput("cannot make the folder " + out + ": " + error.message());
  if (Status failed = writeBundle(out, manifest, files); !failed.isOk())
    return badInput(failed.message());
  std::printf("%s for %s: %s (%zu kernel%s)\n", source.name.c_str(), platform.c_str(), out.c_str(),
              config.kernels.size(), config.kernels.size() == 1 ? "" : "s");
  return kGood;
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

static nlohmann::ordered_json toJson(const Machine &machine) {
  nlohmann::ordered_json roles, memories, paths = nlohmann::ordered_json::array();
  for (const Role &role : machine.roles)
    roles.push_back({{"name", role.name},
                     {"max_lanes", role.maxLanes},
                     {"matrix", bool(role.executes & MatrixWork)},
                     {"vector", bool(role.executes & VectorWork)},
                     {"copy", bool(role.executes & CopyWork)}});
  for (const Memory &memory : machine.memories) {
    memories.push_back(
        {{"name", memory.name}, {"bytes", memory.bytes}, {"alignment", memory.alignment}});
    if (!memory.inside.empty())
      memories.back()["inside"] = memory.inside;
  }
  for (const Path &path : machine.paths)
    paths.push_back(std::string(path.from) + " -> " + std::string(path.to));
  return {{"name", machine.name},
          {"platform", machine.platform},
          {"core_groups", machine.coreGroups},
          {"roles", roles},
          {"memories", memories},
          {"paths", paths},
          {"pipes", toString(machine.pipeStorage)},
          {"default_slots", machine.defaultSlots},
          {"slots_fill_memory", machine.slotsFillMemory}};
}

static void print(const Machine &machine) {
  std::string groups = machine.coreGroups ? std::to_string(machine.coreGroups) + " core groups"
                                          : "as many core groups as threads";
  std::printf("%s (platform %s): %s\n", std::string(machine.name).c_str(),
              std::string(machine.platform).c_str(), groups.c_str());
  for (const Role &role : machine.roles)
    std::printf("  role %-8s up to %d lane(s):%s%s%s\n", std::string(role.name).c_str(),
                int(role.maxLanes), role.executes & MatrixWork ? " matrix" : "",
                role.executes & VectorWork ? " vector" : "",
                role.executes & CopyWork ? " copy" : "");
  for (const Memory &memory : machine.memories) {
    std::string size = memory.bytes             ? std::to_string(memory.bytes / 1024) + " KiB"
                       : !memory.inside.empty() ? "in " + std::string(memory.inside)
                                                : "not planned";
    std::printf("  memory %-6s %12s, aligned to %d\n", std::string(memory.name).c_str(),
                size.c_str(), int(memory.alignment));
  }
  std::string paths;
  for (const Path &path : machine.paths)
    paths += (paths.empty() ? "" : ", ") + std::string(path.from) + ">" + std::string(path.to);
  std::printf("  paths: %s\n", paths.empty() ? "none" : paths.c_str());
  std::printf("  pipes: %s, %d slots by default%s\n",
              std::string(toString(machine.pipeStorage)).c_str(), int(machine.defaultSlots),
              machine.slotsFillMemory ? ", more where memory allows" : "");
}

int machinesCommand(bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Machine &machine : machines()) {
    if (json)
      list.push_back(toJson(machine));
    else
      print(machine);
  }
  if (json)
    std::printf("%s\n", list.dump(2).c_str());
  return kGood;
}

} // namespace kiln
