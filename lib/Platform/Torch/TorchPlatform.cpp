#include "../Platforms.h"
#include "TorchTasks.h"

#include "kiln/Platform/Reference.h"
#include "kiln/Target/Torch/Torch.h"

using namespace mlir;

namespace kiln {
namespace {

class TorchPlatform final : public Platform {
public:
  using Platform::Platform;

  Status run(const RunRequest &request, RunReport &) const override {
    if (request.transport)
      return Status(StatusCode::Unsupported,
                    "the torch platform runs all ranks in one process: use --ranks without mpirun");
    if (!request.rankArgs.empty() && request.dump.level > 0)
      return Status(StatusCode::Unsupported,
                    "the torch platform dumps programs of one rank only; use another for --ranks");
    if (!request.rankArgs.empty())
      return runReferenceOfRanks(request.module, request.entry, request.text, request.rankArgs);
    if (request.dump.level > 0)
      return runReferenceByTask(*this, request);
    return runReference(request.module, request.entry, request.text, request.args);
  }

  Expected<std::string> emit(const std::string &, ModuleOp module,
                             const EmitOptions &options) const override {
    return emitTorch(module, {options.entry, options.unboundedSlots, options.checkShapes});
  }
};

} // namespace

std::unique_ptr<Platform> makeTorchPlatform() {
  using enum Capability;
  Platform::Description about;
  about.name = "torch";
  about.can = {Run, Dump, Large, Reference, Ranks};
  about.texts = {{"torch", /*needsEntry=*/false}};
  return std::make_unique<TorchPlatform>(std::move(about));
}

} // namespace kiln
