#include "kiln/Dialect/Kiln/Members.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Llvm/Llvm.h"

using namespace mlir;

namespace kiln {

static Expected<NativeKernel> describeKernel(ModuleOp module, const CpuKernel &kernel) {
  auto func = module.lookupSymbol<ir::FuncOp>(kernel.name);
  Expected<Signature> signature = signatureOf(func);
  if (!signature)
    return signature.status();
  NativeKernel native{kernel.name, kernel.symbol, kernel.workspaceBytes, std::move(*signature),
                      kernel.group};
  if (!native.group)
    native.members = ir::membersOf(func);
  return native;
}

/// The kernels by their numbers, and the orchestration that launches them.
static Status describeOrchestration(ModuleOp module, ir::FuncOp entry, const CpuObject &object,
                                    NativeInfo &info) {
  info.kind = NativeInfo::Kind::Orchestration;
  for (const CpuKernel &kernel : object.kernels) {
    Expected<NativeKernel> described = describeKernel(module, kernel);
    if (!described)
      return described.status();
    info.kernels.push_back(std::move(*described));
  }
  Expected<Signature> signature = signatureOf(entry);
  if (!signature)
    return signature.status();
  for (const CpuOrchestration &orchestration : object.orchestrations)
    if (orchestration.name == entry.getSymName())
      info.entry = {orchestration.name, orchestration.symbol, 0, std::move(*signature)};
  return Status::ok();
}

Expected<NativeInfo> describeNative(ModuleOp prepared, const std::string &entryName,
                                    const CpuObject &object) {
  Expected<ir::FuncOp> entry = findEntry(prepared, entryName);
  if (!entry)
    return entry.status();
  NativeInfo info;
  uint16_t next[2] = {0, 0};
  for (Type type : entry->getArgumentTypes()) {
    bool isTensor = isa<ir::TensorType>(type);
    info.parameters.push_back({isTensor, next[isTensor]++});
  }
  if (entry->getKind() == ir::FuncKind::Orchestration) {
    if (Status failed = describeOrchestration(prepared, *entry, object, info); !failed.isOk())
      return failed;
  } else {
    for (const CpuKernel &kernel : object.kernels) {
      if (kernel.name != entry->getSymName())
        continue;
      Expected<NativeKernel> described = describeKernel(prepared, kernel);
      if (!described)
        return described.status();
      info.entry = std::move(*described);
    }
  }
  if (info.entry.symbol.empty())
    return Status(StatusCode::Unsupported,
                  "@" + entryName + " has no code of its own to start with",
                  sourceLocOf(entry->getLoc()));
  return info;
}

} // namespace kiln
