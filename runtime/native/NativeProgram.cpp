#include "kiln/runtime/native_program.h"

#include "kiln/runtime/compiled_orchestration.h"
#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/ranks.h"

#include "native/EnginePool.h"

#include <algorithm>

using namespace kiln;

Status LoadedProgram::launchOn(const kiln_args &, const GpuPlace &) const {
  return Status(StatusCode::Unsupported,
                "'" + Info.entry.name + "' is compiled for the CPU and cannot run on a GPU");
}

Expected<std::shared_ptr<const NativeProgram>>
NativeProgram::load(std::shared_ptr<const CodeImage> code, NativeInfo info) {
  if (Status wrong = info.verify(); !wrong.isOk())
    return wrong;
  std::shared_ptr<NativeProgram> program(new NativeProgram(std::move(info)));
  program->Code = std::move(code);
  if (Status failed = program->resolve(); !failed.isOk())
    return failed;
  return std::shared_ptr<const NativeProgram>(std::move(program));
}

static Status missing(const std::string &symbol, const std::string &name) {
  return Status(StatusCode::NotFound, "the code has no symbol '" + symbol + "' for '" + name + "'");
}

/// The function of a kernel or role.
static Status findKernel(const CodeImage &code, const std::string &symbol, const std::string &name,
                         kiln_kernel_fn &function) {
  function = reinterpret_cast<kiln_kernel_fn>(code.find(symbol));
  return function ? Status::ok() : missing(symbol, name);
}

Status NativeProgram::addKernel(const NativeKernel &kernel) {
  KernelRecord record;
  record.name = kernel.name;
  record.signature = kernel.signature;
  record.workspaceBytes = kernel.workspaceBytes;
  record.group = kernel.group;
  record.members = kernel.members;
  record.blocksPerCall = kernel.blocksPerCall;
  Status found;
  // The user pointer of compiled code is a byte that its loops look at: not 0, and they end.
  if (!record.group) {
    record.user = &detail::isInterrupted;
    found = findKernel(*Code, kernel.symbol, kernel.name, record.function);
  } else {
    for (RoleSpec &role : record.group->roles) {
      role.user = &detail::isInterrupted;
      if (found.isOk())
        found = findKernel(*Code, kernel.symbol + "." + role.name, role.name, role.function);
    }
  }
  if (!found.isOk())
    return found;
  Expected<int32_t> id = Registry.add(std::move(record));
  if (!id)
    return id.status();
  Kernels.push_back(Registry.find(*id));
  return Status::ok();
}

Status NativeProgram::resolve() {
  if (Info.kind == NativeInfo::Kind::Kernel) {
    Status added = addKernel(Info.entry);
    Kernel = added.isOk() ? Kernels.front()->function : nullptr;
    return added;
  }
  Orchestration = reinterpret_cast<kiln_orchestration_fn>(Code->find(Info.entry.symbol));
  if (!Orchestration)
    return missing(Info.entry.symbol, Info.entry.name);
  for (const NativeKernel &kernel : Info.kernels)
    if (Status failed = addKernel(kernel); !failed.isOk())
      return failed;
  return Status::ok();
}

Task NativeProgram::taskOf(std::span<const Tensor> tensors,
                           std::span<const ScalarBits> scalars) const {
  Task task(*Kernels.front());
  for (size_t i = 0; i < tensors.size(); ++i)
    task.addTensor(tensors[i], Info.entry.signature->tensors[i].direction,
                   std::binary_search(Info.marked.begin(), Info.marked.end(), i));
  for (const ScalarBits &scalar : scalars)
    task.addScalar(scalar);
  return task;
}

// An orchestration is no task, so no engine verifies what it is called with: both ways to run do.

Status NativeProgram::run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                          const RunOptions &options) const {
  // Ranks that are threads have a core each, and are known to wait where they run no other task.
  if (Transport *ranks = currentRanks(); ranks && !ranks->isAmongProcesses())
    return runRecorded(tensors, scalars, {options, {}, /*workers=*/1, {}}, nullptr);
  if (Status bad = Info.entry.signature->verifyArguments(tensors, scalars); !bad.isOk())
    return bad;
  Expected<EnginePool::Lease> engine = EnginePool::get().take(Registry);
  if (!engine)
    return engine.status();
  RunOptions waitsAtOnce = options;
  waitsAtOnce.keepsLast = true;
  Status done = (*engine)->begin(std::move(waitsAtOnce));
  if (done.isOk()) {
    done = Orchestration ? runOrchestration(**engine, Orchestration, Kernels, tensors, scalars)
                         : (*engine)->run(taskOf(tensors, scalars));
    // Everything that was launched before a failure still has to end.
    Status finished = (*engine)->finish();
    if (done.isOk())
      done = finished;
  }
  return done;
}

Status NativeProgram::runRecorded(std::span<const Tensor> tensors,
                                  std::span<const ScalarBits> scalars,
                                  const NativeRunOptions &options, NativeRunReport *report) const {
  if (Status bad = Info.entry.signature->verifyArguments(tensors, scalars); !bad.isOk())
    return bad;
  EngineOptions engineOptions;
  engineOptions.seed = options.seed;
  engineOptions.workers = options.workers;
  engineOptions.arenaBytes = 0; // whatever the program needs
  engineOptions.recordTrace = report != nullptr;
  Expected<std::unique_ptr<Engine>> engine = Engine::create(Registry, engineOptions);
  if (!engine)
    return engine.status();
  if (Status bad = (*engine)->begin(options.run); !bad.isOk())
    return bad;
  Status started = Orchestration
                       ? runOrchestration(**engine, Orchestration, Kernels, tensors, scalars)
                       : (*engine)->submit(taskOf(tensors, scalars).at(options.location)).status();
  return finishRun(**engine, started, report);
}
