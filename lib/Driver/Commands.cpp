//===- Commands.cpp - `kiln emit`, `kiln build` ---------------------------------------===//
#include "Driver.h"
#include "Terminal.h"
#include "abi/JsonOutput.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Orchestration/Orchestration.h"
#include "kiln/runtime/kernel_config.h"

#include <cstdio>
#include <filesystem>

using namespace mlir;

namespace kiln {

int worseOf(int one, int other) {
  constexpr int order[] = {kBadInput, kWrong, kIncomplete, kGood};
  return *llvm::find_if(order, [&](int code) { return code == one || code == other; });
}

int badInput(const std::string &message) {
  noteFailure(Status(StatusCode::InvalidArgument, message));
  Progress::hide();
  std::fflush(stdout);
  std::fputs(highlighted(stderr, "kiln: error: " + message + "\n").c_str(), stderr);
  return kBadInput;
}

void printErrors(const std::vector<Status> &errors, std::FILE *to) {
  Progress::hide();
  std::fflush(stdout);
  for (const Status &error : errors) {
    if (to == stderr)
      noteFailure(error);
    std::string line = (error.location().isKnown() ? "" : "kiln: ") + error.str() + "\n";
    std::fputs(highlighted(to, line + quoteLine(error.location())).c_str(), to);
  }
}

int badInput(const Status &status) {
  printErrors({status});
  return kBadInput;
}

/// What emitting a target starts from: the program as it was written, where nothing else is asked
/// for, else compiled for a platform.
static CompileSettings settingsFor(const Platform *emitter, const RunSettings &options) {
  CompileSettings settings = options;
  if (options.platform)
    return settings;
  if (emitter && emitter->machine())
    settings.platform = emitter;
  else if (!options.lastPass.empty())
    settings.platform = &defaultPlatform(Capability::Check);
  return settings;
}

int emitCommand(const Source &source, const std::string &target, const RunSettings &options) {
  if (!llvm::is_contained(targetNames(), target))
    return badInput("there is no target '" + target + "'; use " + inWords(targetNames(), "or"));
  bool isIr = target == kIrTarget, isOrchestration = target == kOrchestrationTarget;
  if (options.json && !isOrchestration)
    return badInput("--json is for --target orchestration; the other targets are text");
  bool needsEntry = isOrchestration;
  const Platform *emitter = emitterOf(target, options.platform, needsEntry);
  bool asWritten = isIr && options.lastPass.empty() && !options.platform;
  std::optional<CompiledProgram> compiled;
  if (!asWritten) {
    CompileSettings settings = settingsFor(emitter, options);
    settings.needsEntry = needsEntry;
    int status = kBadInput;
    if (!(compiled = compile(source, settings, status)))
      return status;
  }
  ModuleOp module = asWritten ? source.module : *compiled->module;
  Expected<std::string> text = [&]() -> Expected<std::string> {
    if (emitter)
      return emitter->emit(target, module, options.textOptions());
    if (isOrchestration) {
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
  const Platform &platform = *options.platform;
  const std::string &out = options.out;
  if (!platform.can(Capability::CpuName) && !options.cpu.empty())
    return badInput("--cpu is for -p " + platformNames(Capability::CpuName));
  int status = kBadInput;
  std::optional<CompiledProgram> compiled = compile(source, options, status);
  if (!compiled)
    return status;
  ir::FuncOp entry = compiled->entry;
  Expected<OrchestrationResult> orchestration = emitOrchestration(
      *compiled->module, {.program = source.name, .entry = entry.getSymName().str()});
  if (!orchestration) {
    printErrors({orchestration.status()});
    return kBadInput;
  }
  std::string orchestrationFile = "orchestration/" + fileNameFor(entry.getSymName()) + ".cpp";
  KernelConfig config =
      orchestration->kernelConfig(platform.name(), orchestrationFile, "program.mlir");
  Expected<std::string> json = renderKernelConfigJson(config);
  Expected<std::string> python = renderKernelConfigPython(config);
  for (const Expected<std::string> *text : {&json, &python})
    if (!*text)
      return badInput(text->status().message());
  BundleManifest manifest;
  manifest.program = source.name;
  manifest.platform = platform.name();
  manifest.entry = entry.getSymName().str();
  for (const KernelConfigEntry &kernel : config.kernels)
    manifest.kernels.push_back(kernel.name);
  // A file is of the machine that the bundle is built on.
  if (source.example)
    for (const auto &[name, spec] : source.example->args)
      if (!StringRef(spec).starts_with("file:"))
        manifest.arguments[name] = spec;
  BundleFiles files{{orchestrationFile, orchestration->code},
                    {"kernel_config.json", *json},
                    {"kernel_config.py", *python}};
  llvm::raw_string_ostream(files["program.mlir"]) << *compiled->module;
  for (const auto &[name, text] : compiled->passes)
    files["passes/" + name] = text;
  if (Status added =
          platform.addCode(*compiled->module, {options.cpu, options.isPersistent}, manifest, files);
      !added.isOk()) {
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
  std::printf("%s for %s: %s (%zu kernel%s)\n", source.name.c_str(), platform.name().c_str(),
              out.c_str(), manifest.kernels.size(), manifest.kernels.size() == 1 ? "" : "s");
  return kGood;
}

} // namespace kiln
