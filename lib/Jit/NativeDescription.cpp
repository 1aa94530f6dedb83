#include "kiln/Jit/ProgramSource.h"
#include "kiln/Target/Llvm/Llvm.h"
#include "kiln/Target/Signature/Signature.h"

using namespace mlir;

namespace kiln {

static Expected<NativeKernel> describeKernel(ModuleOp module, const CpuKernel &kernel) {
  auto func = module.lookupSymbol<ir::FuncOp>(kernel.name);
  Expected<Signature> signature = signatureOf(func);
  if (!signature)
    return signature.status();
  return NativeKernel{kernel.name, kernel.symbol, kernel.workspaceBytes, std::move(*signature)};
}

Expected<NativeInfo> describeNative(ModuleOp prepared, const std::string &entryName,
                                    const CpuObject &object) {
  Expected<ir::FuncOp> entry = findEntry(prepared, entryName);
  if (!entry)
    return entry.status();
  if (entry->getKind() == ir::FuncKind::Orchestration)
    return Status(StatusCode::Unsupported,
                  "@" + entryName + " is an orchestration, which is not compiled yet",
                  sourceLocOf(entry->getLoc()));
  NativeInfo info;
  uint16_t next[2] = {0, 0};
  for (Type type : entry->getArgumentTypes()) {
    bool isTensor = isa<ir::TensorType>(type);
    info.parameters.push_back({isTensor, next[isTensor]++});
  }
  for (const CpuKernel &kernel : object.kernels) {
    if (kernel.name != entry->getSymName())
      continue;
    Expected<NativeKernel> described = describeKernel(prepared, kernel);
    if (!described)
      return described.status();
    info.entry = std::move(*described);
    return info;
  }
  return Status(StatusCode::Unsupported, "@" + entryName + " has no code of its own to start with",
                sourceLocOf(entry->getLoc()));
}

} // namespace kiln
