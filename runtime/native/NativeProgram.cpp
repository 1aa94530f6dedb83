#include "kiln/runtime/native_program.h"

#include "kiln/runtime/compiled_orchestration.h"

#include "native/EnginePool.h"

using namespace kiln;

Expected<std::shared_ptr<const NativeProgram>>
NativeProgram::load(std::shared_ptr<SharedObject> object, NativeInfo info) {
  if (Status wrong = info.verify(); !wrong.isOk())
    return wrong;
  std::shared_ptr<NativeProgram> program(new NativeProgram);
  program->Object = std::move(object);
  program->Info = std::move(info);
  if (Status failed = program->resolve(); !failed.isOk())
    return failed;
  return std::shared_ptr<const NativeProgram>(std::move(program));
}

static Status missing(const std::string &symbol, const std::string &name) {
  return Status(StatusCode::NotFound, "the code has no symbol '" + symbol + "' for '" + name + "'");
}

/// The function of a kernel or role.
static Status findKernel(const SharedObject &object, const std::string &symbol,
                         const std::string &name, kiln_kernel_fn &function) {
  function = reinterpret_cast<kiln_kernel_fn>(object.find(symbol));
  return function ? Status::ok() : missing(symbol, name);
}

Status NativeProgram::addKernel(const NativeKernel &kernel) {
  KernelRecord record;
  record.name = kernel.name;
  record.signature = kernel.signature;
  record.workspaceBytes = kernel.workspaceBytes;
  record.group = kernel.group;
  record.members = kernel.members;
  Status found;
  if (!record.group)
    found = findKernel(*Object, kernel.symbol, kernel.name, record.function);
  else
    for (RoleSpec &role : record.group->roles)
      if (found.isOk())
        found = findKernel(*Object, kernel.symbol + "." + role.name, role.name, role.function);
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
  Orchestration = reinterpret_cast<kiln_orchestration_fn>(Object->find(Info.entry.symbol));
  if (!Orchestration)
    return missing(Info.entry.symbol, Info.entry.name);
  for (const NativeKernel &kernel : Info.kernels)
    if (Status failed = addKernel(kernel); !failed.isOk())
      return failed;
  return Status::ok();
}

/// An orchestration is no task, so no engine verifies what it is called with.
static Status verifyArguments(const Signature &signature, std::span<const Tensor> tensors,
                              std::span<const ScalarBits> scalars) {
  auto wrong = [&](size_t index, const std::string &message) {
    return Status(StatusCode::InvalidArgument,
                  "argument '" + signature.argName(index) + "' " + message);
  };
  if (tensors.size() != signature.tensors.size() || scalars.size() != signature.scalars.size())
    return Status(StatusCode::InvalidArgument,
                  "'" + signature.name + "' takes " + std::to_string(signature.tensors.size()) +
                      " tensors and " + std::to_string(signature.scalars.size()) + " numbers");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorParam &param = signature.tensors[i];
    if (Status bad = tensors[i].validate(); !bad.isOk())
      return wrong(i, bad.message());
    bool fits = tensors[i].dtype() == param.dtype && tensors[i].rank() == param.rank();
    for (int axis = 0; fits && axis < param.rank(); ++axis)
      fits = param.extents[axis] == dynamicExtent || param.extents[axis] == tensors[i].extent(axis);
    if (!fits)
      return wrong(i, "does not fit the program; given: " + tensors[i].str());
    if (writes(param.direction) && tensors[i].isReadOnly())
      return wrong(i, "is written, but is read-only");
  }
  for (size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i].type != signature.scalars[i].type)
      return wrong(tensors.size() + i,
                   std::string("is a number of type ") + toString(signature.scalars[i].type));
  return signature.checkRequirements(tensors, scalars);
}

Status NativeProgram::runOn(Engine &engine, std::span<const Tensor> tensors,
                            std::span<const ScalarBits> scalars) const {
  if (Status bad = verifyArguments(*Info.entry.signature, tensors, scalars); !bad.isOk())
    return bad;
  if (Orchestration)
    return runOrchestration(engine, Orchestration, Kernels, tensors, scalars);
  Task task(*Kernels.front());
  for (size_t i = 0; i < tensors.size(); ++i)
    task.addTensor(tensors[i], Info.entry.signature->tensors[i].direction);
  for (const ScalarBits &scalar : scalars)
    task.addScalar(scalar);
  return engine.run(task);
}

Status NativeProgram::run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                          const RunOptions &options) const {
  Expected<std::unique_ptr<Engine>> engine = EnginePool::get().take(Registry);
  if (!engine)
    return engine.status();
  Status done = (*engine)->begin(options);
  if (done.isOk()) {
    done = runOn(**engine, tensors, scalars);
    // Everything that was launched before a failure still has to end.
    Status finished = (*engine)->finish();
    if (done.isOk())
      done = finished;
  }
  EnginePool::get().giveBack(std::move(*engine));
  return done;
}
