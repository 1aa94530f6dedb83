#include "kiln/Platform/CpuPlatform.h"

#include "../CachedCode.h"
#include "NativeBundle.h"

using namespace mlir;

namespace kiln {
namespace {

class CpuBackend final : public JitBackend {
public:
  explicit CpuBackend(CpuOptions options) : Options(std::move(options)), Arch(archOf(Options)) {}

  const std::string &arch() const override { return Arch; }

  // Offsets are computed with 64 bits, which costs nothing here.
  FactSet reads() const override { return {Fact::Leading, Fact::Static, Fact::Divisible}; }

  Expected<Artifact> compile(ModuleOp compiled, const std::string &entry,
                             size_t places) const override {
    CpuOptions options = Options;
    options.places = places;
    Expected<NativeObject> native = compileNative(compiled, entry, options);
    if (!native)
      return native.status();
    Expected<std::string> shared = linkSharedObject(native->object.bytes);
    if (!shared)
      return shared.status();
    return Artifact{std::move(native->info), std::move(*shared)};
  }

private:
  CpuOptions Options;
  std::string Arch;
};

/// Links an object into this process. Not a shared object as the JIT's: the linker in the process
/// tells debuggers and profilers of it.
Expected<std::shared_ptr<const LoadedProgram>> link(const NativeInfo &info,
                                                    std::string_view object) {
  CpuObject code;
  code.bytes = object;
  Expected<CpuModule> linked = loadCpuObject(std::move(code));
  if (!linked)
    return linked.status();
  Expected<std::shared_ptr<const NativeProgram>> program =
      NativeProgram::load(linked->image(), info);
  if (!program)
    return program.status();
  return std::shared_ptr<const LoadedProgram>(std::move(*program));
}

class CpuPlatform final : public Platform {
public:
  using Platform::Platform;

  Status run(const RunRequest &request, RunReport &report) const override {
    CpuOptions target = optionsFor(hostCpu(), hostCpuFeatures());
    CodeMaker maker{name(), archOf(target),
                    [&](const std::string &entry) -> Expected<Artifact> {
                      Expected<NativeObject> native = compileNative(request.module, entry, target);
                      if (!native)
                        return native.status();
                      return Artifact{std::move(native->info), std::move(native->object.bytes)};
                    },
                    link};
    return runCompiled(request, maker, report);
  }

  Status addCode(ModuleOp compiled, const CodeOptions &code, BundleManifest &manifest,
                 BundleFiles &files) const override {
    Expected<CpuOptions> options = optionsForName(code.cpu);
    if (!options)
      return options.status();
    options->machine = machine();
    return addNativeCode(compiled, *options, manifest, files);
  }

  Expected<std::string> emit(const std::string &, ModuleOp module,
                             const EmitOptions &) const override {
    return emitLlvmIr(module, optionsFor("", ""));
  }

  std::unique_ptr<JitBackend> makeJitBackend(const std::string &cpu,
                                             const std::string &features) const override {
    return std::make_unique<CpuBackend>(cpu.empty() ? optionsFor(hostCpu(), hostCpuFeatures())
                                                    : optionsFor(cpu, features));
  }

private:
  CpuOptions optionsFor(std::string cpu, std::string features) const {
    CpuOptions options;
    options.cpu = std::move(cpu);
    options.features = std::move(features);
    options.machine = machine();
    return options;
  }
};

} // namespace

std::unique_ptr<Platform> makeCpuPlatform(std::string name, const Machine &machine) {
  using enum Capability;
  Platform::Description about;
  about.name = std::move(name);
  about.machine = &machine;
  about.can = {Run, Check, Build, Jit, Dump, Timeline, Fibers, CpuName, Large, Ranks};
  about.texts = {{"llvm"}};
  return std::make_unique<CpuPlatform>(std::move(about));
}

} // namespace kiln
