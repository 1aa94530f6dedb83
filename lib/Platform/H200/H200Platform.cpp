#include "../CachedCode.h"
#include "../Platforms.h"
#include "CudaCode.h"
#include "GpuArguments.h"

#include "kiln/Target/Cuda/Cuda.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr const char *kArch = "sm_90a";

Expected<Artifact> compileArtifact(ModuleOp compiled, const std::string &entry,
                                   const Machine &machine, CudaCodeOptions options) {
  Expected<CudaCode> code = compileCudaCode(compiled, entry, machine, options);
  if (!code)
    return code.status();
  return Artifact{std::move(code->info), packCuda(code->kernels, code->files)};
}

Expected<std::shared_ptr<const LoadedProgram>>
loadArtifact(const NativeInfo &info, std::string_view object, std::span<const SourceLoc> places) {
  NativeInfo here = info;
  setPlaces(here, places);
  Expected<std::shared_ptr<const CudaProgram>> program =
      CudaProgram::loadPacked(std::move(here), object, bundleOrchestrationPath, places);
  if (!program)
    return program.status();
  return std::shared_ptr<const LoadedProgram>(std::move(*program));
}

class CudaBackend final : public JitBackend {
public:
  CudaBackend(const Machine &machine, std::string arch) : Target(machine), Arch(std::move(arch)) {}

  const std::string &arch() const override { return Arch; }
  /// Extents, strides and tensor maps are arguments of each launch: one artifact serves all.
  FactSet reads() const override { return {Fact::Static, Fact::Divisible}; }
  Expected<Artifact> compile(ModuleOp compiled, const std::string &entry,
                             size_t places) const override {
    // The same program elsewhere in a file has the same artifact: its kernels know no lines.
    return compileArtifact(compiled, entry, Target, {.places = places});
  }
  Expected<std::shared_ptr<const LoadedProgram>>
  load(const NativeInfo &info, std::string_view object,
       std::span<const SourceLoc> places) const override {
    return loadArtifact(info, object, places);
  }

private:
  const Machine &Target;
  std::string Arch;
};

class H200Platform final : public Platform {
public:
  using Platform::Platform;

  Status usableHere() const override { return CudaProgram::usableHere(); }

  Status run(const RunRequest &request, RunReport &report) const override {
    // Compiling takes a second or more: who has no GPU learns it before.
    if (Status missing = usableHere(); !missing.isOk())
      return missing;
    // A run is there to find out whether the program is right, so it ends where a kernel would
    // hang.
    CodeMaker maker{name(), arch() + " checked" + (request.isPersistent ? " persistent" : ""),
                    [&](const std::string &entry) {
                      return compileArtifact(request.module, entry, *machine(),
                                             {.isChecked = true,
                                              .hasLines = true,
                                              .isPersistent = request.isPersistent});
                    },
                    [](const NativeInfo &info, std::string_view object) {
                      return loadArtifact(info, object, {});
                    }};
    return runCompiled(request, maker, report);
  }

  Status addCode(ModuleOp compiled, const CodeOptions &options, BundleManifest &manifest,
                 BundleFiles &files) const override {
    Expected<CudaCode> code =
        compileCudaCode(compiled, manifest.entry, *machine(),
                        {.hasLines = true, .isPersistent = options.isPersistent});
    if (!code)
      return code.status();
    files.merge(code->files);
    manifest.native = std::move(code->info);
    manifest.cuda = std::move(code->kernels);
    manifest.arch = kArch;
    manifest.toolchain = toolchainId() + ", " + cudaCompilerName();
    return Status::ok();
  }

  Expected<std::string> emit(const std::string &, ModuleOp module,
                             const EmitOptions &options) const override {
    if (options.isPersistent) {
      Expected<PersistentCuda> persistent = emitPersistentCuda(module, *machine());
      return persistent ? Expected<std::string>(cudaSource({persistent->unit}))
                        : persistent.status();
    }
    Expected<std::vector<CudaUnit>> units = emitCuda(module, *machine());
    if (!units)
      return units.status();
    llvm::append_range(*units, emitRankKernels(module));
    return cudaSource(*units);
  }

  Expected<std::unique_ptr<PlacedArguments>>
  place(std::span<const Argument> args, const std::vector<bool> &isWritten) const override {
    return placeOnGpu(args, isWritten);
  }

  std::unique_ptr<JitBackend> makeJitBackend(const std::string &,
                                             const std::string &) const override {
    return std::make_unique<CudaBackend>(*machine(), arch());
  }

private:
  /// What compiles kernels; without one compiling fails, and says what is missing.
  static std::string cudaCompilerName() {
    Expected<std::string> compiler = cudaCompiler();
    return compiler ? *compiler : "no CUDA compiler";
  }
  static std::string arch() { return std::string(kArch) + " " + cudaCompilerName(); }
};

} // namespace

std::unique_ptr<Platform> makeH200Platform() {
  using enum Capability;
  Platform::Description about;
  about.name = "h200";
  about.machine = findMachine("hopper");
  about.can = {Run, Check, Build, Jit, Dump, Timeline, Large, Ranks, Persistent};
  about.texts = {{"cuda"}};
  about.memory = TensorMemory::Gpu;
  return std::make_unique<H200Platform>(std::move(about));
}

} // namespace kiln
