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

Status runReference(ModuleOp module, ir::FuncOp entry, const EmitOptions &options,
                    std::span<const Argument> args) {
  TorchOptions torchOptions{entry.getSymName().str(), options.unboundedSlots, options.checkShapes};
  Expected<std::string> text = emitTorch(module, torchOptions);
  if (!text)
    return text.status();
  Expected<std::string> function = torchEntryName(module, torchOptions);
  if (!function)
    return function.status();
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  return worker ? (*worker)->run(*text, *function, args) : worker.status();
}

} // namespace kiln
