// A run from end to end: kernels registered with the engine, the orchestration called or the entry
// launched, and what happened reported.
#include "kiln/Target/Llvm/Llvm.h"

#include "kiln/Dialect/Kiln/Members.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/compiled_orchestration.h"

using namespace mlir;

namespace kiln {

static Status registerKernels(const CpuModule &code, ModuleOp program, KernelRegistry &registry) {
  for (const CpuKernel &kernel : code.kernels()) {
    auto func = program.lookupSymbol<ir::FuncOp>(kernel.name);
    if (!func)
      return Status(StatusCode::InvalidArgument,
                    "the code was compiled from another program: there is no @" + kernel.name);
    Expected<Signature> signature = signatureOf(func);
    if (!signature)
      return signature.status().withLocation(sourceLocOf(func.getLoc()));
    KernelRecord record;
    record.name = kernel.name;
    record.function = kernel.function;
    record.signature = std::move(*signature);
    record.workspaceBytes = kernel.workspaceBytes;
    record.group = kernel.group;
    if (!record.group)
      record.members = ir::membersOf(func);
    if (Expected<int32_t> id = registry.add(std::move(record)); !id)
      return id.status().withLocation(sourceLocOf(func.getLoc()));
  }
  return Status::ok();
}

/// Tensors and scalars in task order.
static std::pair<std::vector<Tensor>, std::vector<ScalarBits>>
inTaskOrder(ir::FuncOp entry, std::span<const Argument> args) {
  ParameterOrder order = parameterOrder(entry);
  std::pair<std::vector<Tensor>, std::vector<ScalarBits>> ordered;
  for (unsigned number : order.tensors)
    ordered.first.push_back(std::get<Tensor>(args[number]));
  for (unsigned number : order.scalars)
    ordered.second.push_back(
        {std::get<ScalarBits>(args[number]).bits, *dtypeOf(entry.getArgumentTypes()[number])});
  return ordered;
}

static Status launch(Engine &engine, const KernelRecord &kernel, ir::FuncOp entry,
                     std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) {
  Task task(kernel);
  llvm::BitVector marked = markedParameters(entry);
  ParameterOrder order = parameterOrder(entry);
  for (auto [tensor, number] : llvm::zip_equal(tensors, order.tensors))
    task.addTensor(tensor, static_cast<Direction>(*entry.getArgDirection(number)), marked[number]);
  for (const ScalarBits &scalar : scalars)
    task.addScalar(scalar);
  return engine.submit(task.at(sourceLocOf(entry.getLoc()))).status();
}

static Status start(Engine &engine, const CpuModule &code, const KernelRegistry &registry,
                    ir::FuncOp entry, std::span<const Argument> args) {
  auto [tensors, scalars] = inTaskOrder(entry, args);
  if (entry.getKind() != ir::FuncKind::Orchestration) {
    const KernelRecord *kernel = registry.find(entry.getSymName().str());
    return kernel
               ? launch(engine, *kernel, entry, tensors, scalars)
               : Status(StatusCode::NotFound, "@" + entry.getSymName().str() + " was not compiled");
  }
  const CpuOrchestration *orchestration = code.orchestration(entry.getSymName());
  if (!orchestration)
    return Status(StatusCode::NotFound, "@" + entry.getSymName().str() + " was not compiled");
  std::vector<const KernelRecord *> kernels;
  for (const CpuKernel &kernel : code.kernels())
    kernels.push_back(registry.find(kernel.name));
  return runOrchestration(engine, orchestration->function, kernels, tensors, scalars);
}

Status runOnCpu(const CpuModule &code, ir::FuncOp entry, std::span<const Argument> args,
                const CpuRunOptions &options, CpuRunReport *report) {
  if (Status bad = checkArguments(entry, args); !bad.isOk())
    return bad;
  KernelRegistry registry;
  if (Status bad = registerKernels(code, entry->getParentOfType<ModuleOp>(), registry); !bad.isOk())
    return bad;
  EngineOptions engineOptions;
  if (options.seed != 0)
    engineOptions.seed = options.seed;
  engineOptions.arenaBytes = 0; // whatever the program needs
  engineOptions.recordTrace = report != nullptr;
  Expected<std::unique_ptr<Engine>> engine = Engine::create(registry, engineOptions);
  if (!engine)
    return engine.status();
  bool recordsTimeline = report && options.recordTimeline;
  if (Status bad = (*engine)->begin({options.program, options.platform, options.dump, recordsTimeline});
      !bad.isOk())
    return bad;
  Status started = start(**engine, code, registry, entry, args);
  // Also after a failure: what was submitted drains, the dump is written.
  Status finished = (*engine)->finish();
  if (report) {
    report->trace = (*engine)->trace();
    report->timeline = (*engine)->timeline();
    report->failure = (*engine)->lastFailure();
  }
  return started.isOk() ? finished : started;
}

} // namespace kiln
