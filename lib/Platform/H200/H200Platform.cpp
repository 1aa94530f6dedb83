#include "../Platforms.h"
#include "CudaCode.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/runtime/interrupt.h"

#include <chrono>

using namespace mlir;

namespace kiln {
namespace {

class H200Platform final : public Platform {
public:
  using Platform::Platform;

  Status usableHere() const override { return CudaProgram::usableHere(); }

  Status run(const RunRequest &request, RunReport &report) const override {
    // Compiling takes a second or more: who has no GPU learns it before.
    if (Status missing = usableHere(); !missing.isOk())
      return missing;
    if (Status bad = checkArguments(request.entry, request.args); !bad.isOk())
      return bad;
    auto start = std::chrono::steady_clock::now();
    Expected<CudaCode> code =
        compileCudaCode(request.module, ir::FuncOp(request.entry).getSymName().str(), *machine());
    if (!code)
      return code.status();
    report.compileSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Expected<std::shared_ptr<const CudaProgram>> program = loadCudaCode(*code);
    if (!program)
      return program.status();
    TimeLimit limit(request.timeout, "the run");
    TaskArguments ordered = inTaskOrder(request.entry, request.args);
    if (request.dump.level == 0 && !request.timeline)
      return (*program)->run(ordered.tensors, ordered.scalars);
    NativeRunOptions options;
    options.run = {request.program, name(), request.dump, request.timeline};
    options.location = sourceLocOf(ir::FuncOp(request.entry).getLoc());
    NativeRunReport recorded;
    Status done = (*program)->runRecorded(ordered.tensors, ordered.scalars, options, &recorded);
    report.timeline = std::move(recorded.timeline);
    report.trace = std::move(recorded.trace);
    return done;
  }

  Status addCode(ModuleOp compiled, const std::string &, BundleManifest &manifest,
                 BundleFiles &files) const override {
    Expected<CudaCode> code = compileCudaCode(compiled, manifest.entry, *machine());
    if (!code)
      return code.status();
    files.merge(code->files);
    manifest.native = std::move(code->info);
    manifest.cuda = std::move(code->kernels);
    manifest.arch = "sm_90a";
    manifest.toolchain = toolchainId() + ", " + code->compiler;
    return Status::ok();
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
  about.can = {Run, Check, Build, Dump, Timeline, Large};
  about.texts = {{"cuda"}};
  return std::make_unique<H200Platform>(std::move(about));
}

} // namespace kiln
