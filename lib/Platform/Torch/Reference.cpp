#include "kiln/Platform/Reference.h"

#include "kiln/Target/Torch/Torch.h"
#include "kiln/runtime/interrupt.h"

using namespace mlir;

namespace kiln {

Expected<std::unique_ptr<TorchWorker>> &torchWorker() {
  static Expected<std::unique_ptr<TorchWorker>> worker = TorchWorker::start();
  if (worker && !(*worker)->isAlive() && !isInterrupted())
    worker = TorchWorker::start(); // a run before this one took too long, or killed it
  return worker;
}

static Status runReference(ModuleOp module, const TorchOptions &torchOptions,
                           std::span<const Argument> args) {
  Expected<std::string> text = emitTorch(module, torchOptions);
  if (!text)
    return text.status();
  Expected<std::string> function = torchEntryName(module, torchOptions);
  if (!function)
    return function.status();
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  return worker ? (*worker)->run(*text, *function, args) : worker.status();
}

Status runReference(ModuleOp module, ir::FuncOp entry, const EmitOptions &options,
                    std::span<const Argument> args) {
  return runReference(
      module, {entry.getSymName().str(), options.unboundedSlots, options.checkShapes}, args);
}

Status runReferenceOfRanks(ModuleOp module, ir::FuncOp entry, const EmitOptions &options,
                           std::span<const std::vector<Argument>> args) {
  TorchOptions torchOptions{entry.getSymName().str(), options.unboundedSlots, options.checkShapes};
  torchOptions.ranks = true;
  std::vector<Argument> all{ScalarBits::fromInt(DType::I64, static_cast<int64_t>(args.size()))};
  for (const std::vector<Argument> &ofRank : args)
    all.insert(all.end(), ofRank.begin(), ofRank.end());
  return runReference(module, torchOptions, all);
}

} // namespace kiln
