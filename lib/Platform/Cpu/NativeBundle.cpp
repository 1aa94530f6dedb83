//===- NativeBundle.cpp - the code of a bundle for the CPU ----------------------------===//
#include "NativeBundle.h"

#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace kiln {

Expected<CpuOptions> optionsForName(const std::string &cpu) {
  CpuOptions options; // features too, so that a machine without them can say so
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

Expected<NativeObject> compileNative(ModuleOp prepared, const std::string &entry,
                                     const CpuOptions &options) {
  Expected<CpuObject> object = emitCpuObject(prepared, options);
  if (!object)
    return object.status();
  Expected<NativeInfo> info = describeNative(prepared, entry, *object);
  if (!info)
    return info.status();
  return NativeObject{std::move(*object), std::move(*info)};
}

std::string archOf(const CpuOptions &options) { return options.cpu + " " + options.features; }

Status addNativeCode(ModuleOp prepared, const CpuOptions &options, BundleManifest &manifest,
                     BundleFiles &files) {
  Expected<NativeObject> native = compileNative(prepared, manifest.entry, options);
  if (!native)
    return native.status();
  Expected<std::string> shared =
      linkSharedObject(native->object.bytes, descriptionSymbol(native->info));
  if (!shared)
    return shared.status();
  Expected<std::string> readable = emitLlvmIr(prepared, options);
  if (!readable)
    return readable.status();
  manifest.arch = archOf(options);
  manifest.toolchain = toolchainId();
  manifest.native = std::move(native->info);
  files[bundleCodePath] = std::move(*shared);
  files["kernels/kernels.ll"] = std::move(*readable);
  return Status::ok();
}

} // namespace kiln
