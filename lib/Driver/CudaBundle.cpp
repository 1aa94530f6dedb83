//===- CudaBundle.cpp - the code of a bundle for a GPU ------------------------------------===//
#include "CudaBundle.h"

#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/Target/Llvm/Llvm.h"

using namespace mlir;

namespace kiln {

/// The program as far as the host runs it: kernels have a name and parameters, and do nothing.
static OwningOpRef<ModuleOp> withoutKernels(ModuleOp compiled, const std::vector<CudaUnit> &units) {
  OwningOpRef<ModuleOp> host = compiled.clone();
  for (auto func : llvm::make_early_inc_range(host->getOps<ir::FuncOp>())) {
    if (func.getKind() == ir::FuncKind::Orchestration)
      continue;
    if (llvm::none_of(
            units, [&](const CudaUnit &unit) { return unit.kernel.name == func.getSymName(); })) {
      func.erase(); // a role: its group stands for it
      continue;
    }
    func.setKind(ir::FuncKind::Incore);
    func.removeRoleAttr();
    func.removeLanesAttr();
    func.removeSplitAttr();
    Block &body = func.getBody().front();
    while (&body.front() != body.getTerminator())
      std::prev(body.getTerminator()->getIterator())->erase();
  }
  return host;
}

/// What the host runs, for any x86-64: it only launches.
static Status addOrchestration(ModuleOp compiled, const std::vector<CudaUnit> &units,
                               BundleManifest &manifest,
                               std::map<std::string, std::string> &files) {
  OwningOpRef<ModuleOp> host = withoutKernels(compiled, units);
  CpuOptions options;
  options.cpu = "x86-64";
  options.features = "+sse2";
  Expected<CpuObject> object = emitCpuObject(*host, options);
  if (!object)
    return object.status();
  Expected<NativeInfo> info = describeNative(*host, manifest.entry, *object);
  if (!info)
    return info.status();
  auto describe = [&](NativeKernel &kernel) -> Status { // as the program has it, not without bodies
    Expected<Signature> signature = signatureOf(compiled.lookupSymbol<ir::FuncOp>(kernel.name));
    if (signature)
      kernel.signature = std::move(*signature);
    return signature.status();
  };
  for (NativeKernel &kernel : info->kernels)
    if (Status failed = describe(kernel); !failed.isOk())
      return failed;
  if (info->kind == NativeInfo::Kind::Orchestration) {
    Expected<std::string> shared = linkSharedObject(object->bytes, descriptionSymbol(*info));
    if (!shared)
      return shared.status();
    files[bundleOrchestrationPath] = std::move(*shared);
  } else if (Status failed = describe(info->entry); !failed.isOk()) {
    return failed;
  }
  manifest.native = std::move(*info);
  return Status::ok();
}

Status addCudaCode(ModuleOp compiled, BundleManifest &manifest,
                   std::map<std::string, std::string> &files) {
  Expected<std::vector<CudaUnit>> units = emitCuda(compiled);
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
