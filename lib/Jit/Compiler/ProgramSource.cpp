#include "kiln/Jit/Compiler/ProgramSource.h"

#include "EntryFile.h"
#include "kiln/Language/ProgramAccess.h"
#include "kiln/Platform/Platform.h"
#include "kiln/Program/Places.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace kiln {

std::string programHash(ModuleOp module) {
  // The generic form has every attribute, and nothing of where it was written.
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return hashText(text);
}

namespace {

/// Runs passes; the first error they report, with the user's line.
Status runPasses(ModuleOp module, llvm::function_ref<void(PassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  std::vector<Status> errors;
  DiagnosticCollector collector(module.getContext(), errors);
  if (succeeded(passes.run(module)) && errors.empty()) // who reads an undeclared fact only says so
    return Status::ok();
  return errors.empty() ? Status(StatusCode::Internal, "a pass failed without saying why")
                        : errors.front();
}

class ProgramSource : public JitSource {
public:
  Status init(ModuleOp module, const ProgramSourceOptions &options);

  const std::string &program() const override { return Name; }
  const std::string &platform() const override { return Target->name(); }
  const Signature &signature() const override { return Entry; }
  std::span<const ParamRef> parameters() const override { return Parameters; }
  const std::string &identity() const override { return Identity; }
  FactSet reads() const override { return Backend->reads(); }
  Expected<Artifact> compile(std::span<const TensorFacts> facts) const override;
  TensorMemory memory() const override { return Target->memory(); }
  Expected<std::shared_ptr<const LoadedProgram>> load(const NativeInfo &info,
                                                      std::string_view object) const override {
    return Backend->load(info, object, Places);
  }
  std::span<const SourceLoc> places() const override { return Places; }
  SourceLoc location() const override { return Location; }

private:
  std::string Bytecode, Name, EntryName, Identity;
  const Platform *Target = nullptr;
  std::unique_ptr<JitBackend> Backend;
  Signature Entry;
  SourceLoc Location;
  std::vector<SourceLoc> Places;
  std::vector<ParamRef> Parameters;
};

Status ProgramSource::init(ModuleOp module, const ProgramSourceOptions &options) {
  Target =
      options.platform.empty() ? &defaultPlatform(Capability::Jit) : findPlatform(options.platform);
  if (!Target || !Target->can(Capability::Jit))
    return Status(StatusCode::Unsupported, "the JIT compiles for " +
                                               platformNames(Capability::Jit, "and") +
                                               " so far, not for '" + options.platform + "'");
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
  Location = sourceLocOf(entry->getLoc());
  EntryName = entry->getSymName().str();
  Parameters = parametersOf(*entry);
  Backend = Target->makeJitBackend(options.cpu, options.features);
  // A region of an orchestration is a function only once the program has been prepared.
  ModuleOp start = module.lookupSymbol(EntryName) ? module : *prepared;
  Places = placesOf(start);
  llvm::raw_string_ostream stream(Bytecode);
  if (failed(writeBytecodeToFile(start, stream)))
    return Status(StatusCode::Internal, "the program cannot be copied");
  Name = module.getSymName().value_or(EntryName).str();
  Identity = CodeIdentity{module.getSymName().value_or("-").str(), programHash(module), EntryName,
                          Target->name(), Backend->arch()}
                 .str();
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
  numberPlaces(*module);
  KilnSpecializeOptions specialize;
  specialize.entry = EntryName;
  for (const TensorFacts &fact : facts)
    specialize.facts += (specialize.facts.empty() ? "" : ";") + fact.str();
  specialize.reads = reads().str();
  Status prepared = runPasses(*module, [&](PassManager &pm) {
    pm.addPass(createKilnSpecialize(specialize));
    PipelineOptions pipeline;
    pipeline.machine = Target->machine();
    pipeline.entry = EntryName;
    buildPipeline(pm, pipeline);
  });
  if (!prepared.isOk())
    return prepared;
  std::vector<Status> errors;
  DiagnosticCollector collector(&context, errors);
  Expected<Artifact> artifact = Backend->compile(*module, EntryName, Places.size());
  return artifact && !errors.empty() ? Expected<Artifact>(errors.front()) : std::move(artifact);
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
