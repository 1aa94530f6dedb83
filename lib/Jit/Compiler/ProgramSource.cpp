#include "kiln/Jit/Compiler/ProgramSource.h"

#include "EntryFile.h"
#include "kiln/Language/ProgramAccess.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Llvm/Llvm.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Config/llvm-config.h"

#include "CompilerId.h"

#include <unistd.h>

using namespace mlir;

namespace kiln {

std::string toolchainId() { return "kiln-" KILN_COMPILER_ID " llvm-" LLVM_VERSION_STRING; }

std::string programHash(ModuleOp module) {
  // The generic form has every attribute, and nothing of where it was written.
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return hashText(text);
}

namespace {

/// Sizes that code may be blocked for.
std::string cacheSizes() {
  std::string text;
  for (int name : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE})
    text += " " + std::to_string(sysconf(name));
  return text;
}

/// Runs passes; the first error they report, with the user's line.
Status runPasses(ModuleOp module, llvm::function_ref<void(PassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  std::vector<Status> errors;
  DiagnosticCollector collector(module.getContext(), errors);
  if (succeeded(passes.run(module)))
    return Status::ok();
  return errors.empty() ? Status(StatusCode::Internal, "a pass failed without saying why")
                        : errors.front();
}

class ProgramSource : public JitSource {
public:
  Status init(ModuleOp module, const ProgramSourceOptions &options);

  const Signature &signature() const override { return Entry; }
  std::span<const ParamRef> parameters() const override { return Parameters; }
  const std::string &identity() const override { return Identity; }
  Expected<Artifact> compile(std::span<const TensorFacts> facts) const override;

private:
  Expected<Artifact> lower(ModuleOp module) const;

  std::string Bytecode, EntryName, Identity;
  CpuOptions Cpu;
  Signature Entry;
  std::vector<ParamRef> Parameters;
};

Status ProgramSource::init(ModuleOp module, const ProgramSourceOptions &options) {
  if (options.platform != "cpu")
    return Status(StatusCode::Unsupported,
                  "the JIT compiles for cpu so far, not for '" + options.platform + "'");
  OwningOpRef<ModuleOp> prepared = module.clone();
  if (Status failed = runPasses(*prepared, [](PassManager &pm) { buildPreparePipeline(pm); });
      !failed.isOk())
    return failed;
  Expected<ir::FuncOp> entry = findEntry(*prepared, options.entry);
  if (!entry)
    return entry.status();
  Expected<Signature> signature = signatureOf(*entry);
  if (!signature)
    return signature.status();
  Entry = std::move(*signature);
  EntryName = entry->getSymName().str();
  uint16_t next[2] = {0, 0};
  for (Type type : entry->getArgumentTypes()) {
    bool isTensor = isa<ir::TensorType>(type);
    Parameters.push_back({isTensor, next[isTensor]++});
  }
  Cpu.cpu = options.cpu.empty() ? hostCpu() : options.cpu;
  Cpu.features = options.cpu.empty() ? hostCpuFeatures() : options.features;
  // A region of an orchestration is a function only once the program has been prepared.
  ModuleOp start = module.lookupSymbol(EntryName) ? module : *prepared;
  llvm::raw_string_ostream stream(Bytecode);
  if (failed(writeBytecodeToFile(start, stream)))
    return Status(StatusCode::Internal, "the program cannot be copied");
  std::string name = module.getSymName().value_or("-").str();
  Identity = "program " + name + " " + programHash(module) + "\nentry " + EntryName +
             "\ntoolchain " + toolchainId() + "\nplatform " + options.platform + "\narch " +
             Cpu.cpu + " " + Cpu.features + "\ncaches" + cacheSizes() + "\n";
  return Status::ok();
}

Expected<Artifact> ProgramSource::compile(std::span<const TensorFacts> facts) const {
  DialectRegistry registry;
  registerKilnDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(Bytecode, ParserConfig(&context), "program");
  if (!module)
    return Status(StatusCode::Internal, "the copy of the program cannot be read");
  KilnSpecializeOptions specialize;
  specialize.entry = EntryName;
  for (const TensorFacts &fact : facts)
    specialize.facts += (specialize.facts.empty() ? "" : ";") + fact.str();
  Status prepared = runPasses(*module, [&](PassManager &pm) {
    pm.addPass(createKilnSpecialize(specialize));
    PipelineOptions pipeline;
    pipeline.machine = findMachine("cpu");
    pipeline.entry = EntryName;
    buildPipeline(pm, pipeline);
  });
  return prepared.isOk() ? lower(*module) : Expected<Artifact>(prepared);
}

Expected<Artifact> ProgramSource::lower(ModuleOp module) const {
  Expected<CpuObject> object = emitCpuObject(module, Cpu);
  if (!object)
    return object.status();
  Expected<NativeInfo> info = describeNative(module, EntryName, *object);
  if (!info)
    return info.status();
  Expected<std::string> shared = linkSharedObject(object->bytes);
  if (!shared)
    return shared.status();
  return Artifact{std::move(*info), std::move(*shared)};
}

} // namespace

Expected<std::shared_ptr<const JitSource>> makeProgramSource(ModuleOp module,
                                                             const ProgramSourceOptions &options) {
  auto source = std::make_shared<ProgramSource>();
  if (Status failed = source->init(module, options); !failed.isOk())
    return failed;
  return std::shared_ptr<const JitSource>(std::move(source));
}

} // namespace kiln
