//===- CudaBundle.cpp - the code of a bundle for a GPU ------------------------------------===//
#include "CudaBundle.h"

#include "../Cpu/NativeBundle.h"
#include "kiln/Target/Cuda/Cuda.h"

using namespace mlir;

namespace kiln {

/// What the host runs, for any x86-64: it only launches.
static Status addOrchestration(ModuleOp compiled, const std::vector<CudaUnit> &units,
                               BundleManifest &manifest, BundleFiles &files) {
  CpuOptions options;
  options.cpu = "x86-64";
  options.features = "+sse2";
  options.kernelsElsewhere.emplace();
  for (const CudaUnit &unit : units)
    options.kernelsElsewhere->push_back(unit.kernel.name);
  Expected<NativeObject> native = compileNative(compiled, manifest.entry, options);
  if (!native)
    return native.status();
  NativeInfo &info = native->info;
  if (info.kind == NativeInfo::Kind::Orchestration) {
    Expected<std::string> shared = linkSharedObject(native->object.bytes, descriptionSymbol(info));
    if (!shared)
      return shared.status();
    files[bundleOrchestrationPath] = std::move(*shared);
  }
  manifest.native = std::move(info);
  return Status::ok();
}

Status addCudaCode(ModuleOp compiled, const Machine &machine, BundleManifest &manifest,
                   BundleFiles &files) {
  Expected<std::vector<CudaUnit>> units = emitCuda(compiled, machine);
  if (!units)
    return units.status();
  Expected<std::string> compiler = cudaCompiler();
  if (!compiler)
    return compiler.status();
  if (Status failed = addOrchestration(compiled, *units, manifest, files); !failed.isOk())
    return failed;
  // In the order of the numbers by which the orchestration launches them.
  std::vector<std::string> order;
  for (const NativeKernel &kernel : manifest.native->kernels)
    order.push_back(kernel.name);
  if (manifest.native->kind == NativeInfo::Kind::Kernel)
    order.push_back(manifest.entry);
  for (const std::string &name : order) {
    auto unit = llvm::find_if(*units, [&](const CudaUnit &u) { return u.kernel.name == name; });
    if (unit == units->end())
      return Status(StatusCode::Internal, "no code was made for @" + name);
    Expected<std::string> cubin = compileCuda(*unit);
    if (!cubin)
      return cubin.status();
    files[unit->kernel.file] = std::move(*cubin);
    std::string source = unit->kernel.file;
    files[source.replace(source.rfind(".cubin"), std::string::npos, ".cu")] = unit->source();
    manifest.cuda.push_back(unit->kernel);
  }
  manifest.arch = "sm_90a";
  manifest.toolchain = toolchainId() + ", " + *compiler;
  return Status::ok();
}

} // namespace kiln
