#include "bundle/BundleProgram.h"

#include <chrono>

using namespace kiln;

namespace {

class NativeBundleProgram final : public BundleProgram {
public:
  explicit NativeBundleProgram(std::shared_ptr<const NativeProgram> program)
      : Program(std::move(program)) {}

  Status run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
             const NativeRunOptions &options, NativeRunReport *report,
             double &seconds) const override {
    auto start = std::chrono::steady_clock::now();
    Status done = Program->runRecorded(tensors, scalars, options, report);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return done;
  }

private:
  std::shared_ptr<const NativeProgram> Program;
};

/// Loaded when it is run, so that what is wrong with the arguments is said where there is no GPU.
class CudaBundleProgram final : public BundleProgram {
public:
  explicit CudaBundleProgram(const Bundle &bundle) : Folder(bundle) {}

  Status run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
             const NativeRunOptions &options, NativeRunReport *report,
             double &seconds) const override {
    Expected<std::shared_ptr<const CudaProgram>> program = Folder.loadCuda();
    if (!program)
      return program.status();
    if (options.run.dump.level > 0 || options.run.recordTimeline)
      return (*program)->runRecorded(tensors, scalars, options, report);
    return (*program)->run(tensors, scalars, &seconds, options.run.ranks, options.run.program);
  }

private:
  const Bundle &Folder;
};

} // namespace

Expected<std::unique_ptr<const BundleProgram>> kiln::loadProgram(const Bundle &bundle) {
  if (bundle.manifest().isForGpu())
    return std::unique_ptr<const BundleProgram>(std::make_unique<CudaBundleProgram>(bundle));
  Expected<std::shared_ptr<const NativeProgram>> program = bundle.load();
  if (!program)
    return program.status();
  return std::unique_ptr<const BundleProgram>(
      std::make_unique<NativeBundleProgram>(std::move(*program)));
}
