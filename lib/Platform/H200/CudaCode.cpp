//===- CudaCode.cpp - compiles a program for a GPU ----------------------------------------===//
#include "CudaCode.h"

#include "../Cpu/NativeBundle.h"
#include "abi/Parallel.h"
#include "kiln/Target/Cuda/Cuda.h"

using namespace mlir;

namespace kiln {

/// What the host runs, for any x86-64: it only launches.
static Status addOrchestration(ModuleOp compiled, const std::string &entry,
                               const std::vector<CudaUnit> &units, size_t places, CudaCode &code) {
  CpuOptions options;
  options.places = places;
  options.cpu = "x86-64";
  options.features = "+sse2";
  options.kernelsElsewhere.emplace();
  for (const CudaUnit &unit : units)
    options.kernelsElsewhere->push_back(unit.kernel.name);
  Expected<NativeObject> native = compileNative(compiled, entry, options);
  if (!native)
    return native.status();
  code.info = std::move(native->info);
  if (code.info.kind == NativeInfo::Kind::Orchestration) {
    Expected<std::string> shared =
        linkSharedObject(native->object.bytes, descriptionSymbol(code.info));
    if (!shared)
      return shared.status();
    code.files[bundleOrchestrationPath] = std::move(*shared);
  }
  return Status::ok();
}

/// What is launched, in the order of the numbers by which the orchestration launches it. Kernels
/// that nobody launches are not compiled.
static Expected<std::vector<const CudaUnit *>> inOrder(const std::vector<CudaUnit> &units,
                                                       const NativeInfo &info) {
  std::vector<std::string> names;
  for (const NativeKernel &kernel : info.kernels)
    names.push_back(kernel.name);
  if (info.kind == NativeInfo::Kind::Kernel)
    names.push_back(info.entry.name);
  std::vector<const CudaUnit *> order;
  for (const std::string &name : names) {
    auto unit = llvm::find_if(units, [&](const CudaUnit &u) { return u.kernel.name == name; });
    if (unit == units.end())
      return Status(StatusCode::Internal, "no code was made for @" + name);
    order.push_back(&*unit);
  }
  return order;
}

static std::vector<Expected<CompiledCuda>> compileAll(const std::vector<const CudaUnit *> &units) {
  std::vector<Expected<CompiledCuda>> compiled(units.size(), CompiledCuda());
  parallelFor(
      units.size(), 0, [&](size_t i) { compiled[i] = compileCuda(*units[i]); },
      "compiling kernels");
  return compiled;
}

static void addFiles(const CudaUnit &unit, CompiledCuda compiled, CudaCode &code) {
  std::string source = unit.kernel.file;
  code.files[source.replace(source.rfind(".cubin"), std::string::npos, ".cu")] =
      std::move(compiled.source);
  code.files[unit.kernel.file] = std::move(compiled.cubin);
}

/// All kernels in one: a file, and what each of them is in it.
static Status compilePersistent(ModuleOp compiled, const std::string &entry, const Machine &machine,
                                CudaCodeOptions options, CudaCode &code) {
  Expected<PersistentCuda> made = emitPersistentCuda(compiled, machine);
  if (!made)
    return made.status();
  std::vector<CudaUnit> parts;
  for (CudaKernel &kernel : made->kernels) {
    kernel.isChecked = options.isChecked;
    parts.emplace_back().kernel = kernel;
  }
  made->unit.kernel.isChecked = options.isChecked;
  made->unit.hasLines = options.hasLines;
  if (Status failed = addOrchestration(compiled, entry, parts, options.places, code);
      !failed.isOk())
    return failed;
  Expected<std::vector<const CudaUnit *>> order = inOrder(parts, code.info);
  if (!order)
    return order.status();
  for (const CudaUnit *unit : *order)
    code.kernels.push_back(unit->kernel);
  Expected<CompiledCuda> all = compileCuda(made->unit);
  if (!all)
    return all.status();
  addFiles(made->unit, std::move(*all), code);
  return Status::ok();
}

Expected<CudaCode> compileCudaCode(ModuleOp compiled, const std::string &entry,
                                   const Machine &machine, CudaCodeOptions options) {
  CudaCode code;
  if (options.isPersistent) {
    if (Status failed = compilePersistent(compiled, entry, machine, options, code); !failed.isOk())
      return failed;
    return code;
  }
  Expected<std::vector<CudaUnit>> units = emitCuda(compiled, machine);
  if (!units)
    return units.status();
  for (CudaUnit &unit : *units) {
    unit.kernel.isChecked = options.isChecked;
    unit.hasLines = options.hasLines;
  }
  if (Status failed = addOrchestration(compiled, entry, *units, options.places, code);
      !failed.isOk())
    return failed;
  Expected<std::vector<const CudaUnit *>> order = inOrder(*units, code.info);
  if (!order)
    return order.status();
  std::vector<CudaUnit> ofRanks = emitRankKernels(compiled);
  for (const CudaUnit &unit : ofRanks)
    order->push_back(&unit);
  std::vector<Expected<CompiledCuda>> all = compileAll(*order);
  for (auto [unit, made] : llvm::zip_equal(*order, all)) {
    if (!made)
      return made.status();
    addFiles(*unit, std::move(*made), code);
    code.kernels.push_back(unit->kernel);
  }
  return code;
}

} // namespace kiln
