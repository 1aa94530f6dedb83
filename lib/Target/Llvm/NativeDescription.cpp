// What the runtime has to know of code to run it.
#include "kiln/Target/Llvm/Llvm.h"

#include "kiln/Dialect/Kiln/Members.h"
#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {

static Expected<NativeKernel> describeKernel(ModuleOp module, const CpuKernel &kernel) {
  auto func = module.lookupSymbol<ir::FuncOp>(kernel.name);
  if (!func)
    return Status(StatusCode::InvalidArgument,
                  "the code was compiled from another program: there is no @" + kernel.name);
  Expected<Signature> signature = signatureOf(func);
  if (!signature)
    return signature.status().withLocation(sourceLocOf(func.getLoc()));
  NativeKernel native{kernel.name, kernel.symbol, kernel.workspaceBytes, std::move(*signature),
                      kernel.group};
  native.blocksPerCall = kernel.blocksPerCall;
  // The roles of a group that is compiled elsewhere are nothing that this code runs.
  if (!native.group && func.getKind() != ir::FuncKind::Group)
    native.members = ir::membersOf(func);
  return native;
}

/// Which tensors of an entry that is a kernel are marked for dumps.
static std::vector<uint16_t> markedTensors(ir::FuncOp entry) {
  std::vector<uint16_t> marked;
  llvm::BitVector parameters = markedParameters(entry);
  for (auto [tensor, parameter] : llvm::enumerate(parameterOrder(entry).tensors))
    if (parameters[parameter])
      marked.push_back(uint16_t(tensor));
  return marked;
}

/// The kernels by their numbers, and the orchestration that launches them.
static Status describeOrchestration(ModuleOp module, ir::FuncOp entry, const CpuContents &contents,
                                    NativeInfo &info) {
  info.kind = NativeInfo::Kind::Orchestration;
  for (const CpuKernel &kernel : contents.kernels) {
    Expected<NativeKernel> described = describeKernel(module, kernel);
    if (!described)
      return described.status();
    info.kernels.push_back(std::move(*described));
  }
  Expected<Signature> signature = signatureOf(entry);
  if (!signature)
    return signature.status();
  for (const CpuOrchestration &orchestration : contents.orchestrations)
    if (orchestration.name == entry.getSymName())
      info.entry = {orchestration.name, orchestration.symbol, 0, std::move(*signature)};
  return Status::ok();
}

Expected<NativeInfo> describeNative(ModuleOp prepared, const std::string &entryName,
                                    const CpuContents &contents) {
  Expected<ir::FuncOp> entry = findEntry(prepared, entryName);
  if (!entry)
    return entry.status();
  NativeInfo info;
  info.parameters = parametersOf(*entry);
  if (entry->getKind() == ir::FuncKind::Orchestration) {
    if (Status failed = describeOrchestration(prepared, *entry, contents, info); !failed.isOk())
      return failed;
  } else {
    info.marked = markedTensors(*entry);
    for (const CpuKernel &kernel : contents.kernels) {
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
