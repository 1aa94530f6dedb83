// Kernels and an orchestration for the `simpler` runtime. Nothing of it runs here: what is written
// is compiled and run with that runtime (docs/ascend.md).
#include "../Platforms.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Ascend/Ascend.h"
#include "kiln/Target/Orchestration/Orchestration.h"
#include "kiln/runtime/kernel_config.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr const char *kOrchestrationFile = "orchestration/main.cpp";

/// What is written for a program.
struct AscendProgram {
  std::vector<AscendKernel> kernels; ///< A kernel's number is its place.
  OrchestrationResult orchestration;
};

class AscendPlatform final : public Platform {
public:
  using Platform::Platform;

  Status addCode(ModuleOp compiled, const CodeOptions &, BundleManifest &manifest,
                 BundleFiles &files) const override {
    Expected<AscendProgram> program = write(compiled, manifest.program, manifest.entry);
    if (!program)
      return program.status();
    Expected<KernelConfig> config = configOf(compiled, *program);
    if (!config)
      return config.status();
    Expected<std::string> json = renderKernelConfigJson(*config),
                          python = renderKernelConfigPython(*config);
    for (const Expected<std::string> *text : {&json, &python})
      if (!*text)
        return text->status();
    // What launches and describes the tasks of Kiln's own runtime has no use here.
    for (auto file = files.begin(); file != files.end();)
      file = StringRef(file->first).starts_with("orchestration/") ? files.erase(file)
                                                                  : std::next(file);
    files["kernel_config.json"] = *json;
    files["kernel_config.py"] = *python;
    files[kOrchestrationFile] = program->orchestration.code;
    manifest.kernels.clear();
    for (const AscendKernel &kernel : program->kernels) {
      files[kernel.file] = kernel.source;
      manifest.kernels.push_back(kernel.name);
    }
    manifest.arch = name();
    manifest.toolchain = toolchainId();
    return Status::ok();
  }

  Expected<std::string> emit(const std::string &, ModuleOp module,
                             const EmitOptions &options) const override {
    Expected<AscendProgram> program =
        write(module, module.getSymName().value_or("program").str(), options.entry);
    if (!program)
      return program.status();
    std::string text;
    for (const AscendKernel &kernel : program->kernels)
      text += "//===-- " + kernel.file + " --===//\n" + kernel.source + "\n";
    return text + "//===-- " + kOrchestrationFile + " --===//\n" + program->orchestration.code;
  }

private:
  Expected<AscendProgram> write(ModuleOp compiled, const std::string &program,
                                const std::string &entry) const {
    Expected<std::vector<AscendKernel>> kernels = emitAscend(compiled, *machine());
    if (!kernels)
      return kernels.status();
    std::vector<SimplerTask> tasks;
    for (auto [number, kernel] : llvm::enumerate(*kernels)) {
      if (tasks.empty() || tasks.back().name != kernel.task)
        tasks.push_back({kernel.task});
      (kernel.role == "aic" ? tasks.back().aic : tasks.back().aiv) = int32_t(number);
      tasks.back().vectorCores += kernel.vectorCores;
    }
    Expected<OrchestrationResult> orchestration =
        emitOrchestration(compiled, {program, entry, tasks});
    if (!orchestration)
      return orchestration.status();
    return AscendProgram{std::move(*kernels), std::move(*orchestration)};
  }

  /// Both kernels of a group get the arguments of its task.
  Expected<KernelConfig> configOf(ModuleOp compiled, const AscendProgram &program) const {
    KernelConfig config;
    config.runtime = {{"runtime", std::string("tensormap_and_ringbuffer")},
                      {"platform", name()},
                      {"aicpu_thread_num", int64_t{4}},
                      {"block_dim", machine()->coreGroups}};
    config.orchestration = {kOrchestrationFile, program.orchestration.entrySymbol,
                            program.orchestration.orchestrationSignature};
    for (auto [number, kernel] : llvm::enumerate(program.kernels)) {
      Expected<Signature> signature = signatureOf(compiled.lookupSymbol<ir::FuncOp>(kernel.task));
      if (!signature)
        return signature.status();
      signature->name = kernel.name;
      config.kernels.push_back(
          {int32_t(number), kernel.name, kernel.file, kernel.role, std::move(*signature)});
    }
    return config;
  }
};

} // namespace

std::unique_ptr<Platform> makeAscendPlatform(std::string name, const Machine &machine) {
  using enum Capability;
  Platform::Description about;
  about.name = std::move(name);
  about.machine = &machine;
  about.can = {Check, Build};
  about.texts = {{"ascend"}};
  return std::make_unique<AscendPlatform>(std::move(about));
}

} // namespace kiln
