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

/// Where in the program the innermost of some lines of its text comes from.
static SourceLoc placeOf(ArrayRef<int64_t> lines, ArrayRef<SourceLoc> places) {
  for (int64_t line : lines)
    if (line >= 1 && size_t(line) <= places.size() && places[line - 1].isKnown())
      return places[line - 1];
  return {};
}

static Status runReference(ModuleOp module, const TorchOptions &torchOptions,
                           std::span<const Argument> args) {
  std::vector<SourceLoc> places;
  Expected<std::string> text = emitTorch(module, torchOptions, &places);
  if (!text)
    return text.status();
  Expected<std::string> function = torchEntryName(module, torchOptions);
  if (!function)
    return function.status();
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (!worker)
    return worker.status();
  Status done = (*worker)->run(*text, *function, args);
  return done.isOk() ? done : done.withLocation(placeOf((*worker)->failedLines(), places));
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
