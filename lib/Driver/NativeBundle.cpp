//===- NativeBundle.cpp - the code of a bundle for the CPU ----------------------------===//
#include "NativeBundle.h"

#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Target/Llvm/Llvm.h"

#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace kiln {

/// What the code may use, so that a machine without it can say so.
static Expected<CpuOptions> optionsFor(const std::string &cpu) {
  CpuOptions options;
  if (cpu.empty() || cpu == "native") {
    options.cpu = hostCpu();
    options.features = hostCpuFeatures();
    return options;
  }
  SmallVector<StringRef> known, features;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (!llvm::is_contained(known, cpu))
    return Status(StatusCode::InvalidArgument,
                  "--cpu " + cpu +
                      ": no such CPU; use native, x86-64-v3 or another name that "
                      "LLVM knows, such as sapphirerapids");
  llvm::X86::getFeaturesForCPU(cpu, features);
  options.cpu = cpu;
  for (StringRef feature : features)
    options.features += (options.features.empty() ? "+" : ",+") + feature.str();
  return options;
}

Status addNativeCode(ModuleOp prepared, const std::string &cpu, BundleManifest &manifest,
                     std::map<std::string, std::string> &files) {
  Expected<CpuOptions> options = optionsFor(cpu);
  if (!options)
    return options.status();
  Expected<CpuObject> object = emitCpuObject(prepared, *options);
  if (!object)
    return object.status();
  Expected<NativeInfo> info = describeNative(prepared, manifest.entry, *object);
  if (!info)
    return info.status();
  Expected<std::string> shared = linkSharedObject(object->bytes, descriptionSymbol(*info));
  if (!shared)
    return shared.status();
  Expected<std::string> readable = emitLlvmIr(prepared, *options);
  if (!readable)
    return readable.status();
  manifest.arch = options->cpu + " " + options->features;
  manifest.toolchain = toolchainId();
  manifest.native = std::move(*info);
  files[bundleCodePath] = std::move(*shared);
  files["kernels/kernels.ll"] = std::move(*readable);
  return Status::ok();
}

} // namespace kiln
