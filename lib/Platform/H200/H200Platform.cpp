#include "../Platforms.h"
#include "CudaBundle.h"

#include "kiln/Target/Cuda/Cuda.h"

using namespace mlir;

namespace kiln {
namespace {

class H200Platform final : public Platform {
public:
  using Platform::Platform;

  Status addCode(ModuleOp compiled, const std::string &, BundleManifest &manifest,
                 BundleFiles &files) const override {
    return addCudaCode(compiled, *machine(), manifest, files);
  }

  Expected<std::string> emit(const std::string &, ModuleOp module,
                             const EmitOptions &) const override {
    Expected<std::vector<CudaUnit>> units = emitCuda(module, *machine());
    if (!units)
      return units.status();
    return cudaSource(*units);
  }
};

} // namespace

std::unique_ptr<Platform> makeH200Platform() {
  using enum Capability;
  Platform::Description about;
  about.name = "h200";
  about.machine = findMachine("hopper");
  about.can = {Check, Build};
  about.texts = {{"cuda"}};
  about.bundlesRun = "where the GPU is";
  return std::make_unique<H200Platform>(std::move(about));
}

} // namespace kiln
