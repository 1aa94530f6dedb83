// From a prepared program to native kernels: emit, optimise, generate code. Every function is an
// LLVM module of its own, so that all cores generate code at once; what comes out is the same
// whatever their number.
#include "kiln/Target/Llvm/Llvm.h"

#include "Builder/DebugInfo.h"
#include "Emit/KernelEmitter.h"
#include "Emit/OrchestrationEmitter.h"
#include "Optimize.h"
#include "Plan/FuseContractions.h"
#include "Plan/InlineCalls.h"
#include "Plan/Pipes.h"
#include "abi/Parallel.h"

#include "kiln/Machine/Machine.h"
#include "kiln/Program/Signature.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"

#include <numeric>

using namespace mlir;

namespace kiln {
namespace {

/// What LLVM compiles as one, with nobody else's memory.
struct Unit {
  std::string name;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvmir::DebugInfo> debug; ///< Null if nobody wants it.
};

/// The program as LLVM IR, with what the runtime needs to know about it.
struct Emitted {
  std::vector<Unit> units;
  CpuContents contents;
};

enum class Split { ByFunction, No };

/// Writes the functions of a program as LLVM IR.
class ProgramEmitter {
public:
  ProgramEmitter(ModuleOp program, const CpuOptions &options, const llvm::TargetMachine &machine,
                 Split split)
      : Program(program), Target(options.machine), Elsewhere(options.kernelsElsewhere),
        Traits(llvmir::traitsOf(machine)), Layout(machine.createDataLayout()),
        WantsDebugInfo(options.debugInfo), Places(options.places), How(split) {}

  Expected<Emitted> emit();

private:
  Unit &unitFor(const std::string &symbol);
  Status emitFunction(ir::FuncOp kernel, const std::string &symbol, uint64_t &workspaceBytes,
                      std::array<int64_t, KILN_MAX_GRID_DIMS> *blocksPerCall = nullptr);
  Status emitKernel(ir::FuncOp func);
  Status emitGroup(ir::FuncOp group);
  Status emitOrchestration(ir::FuncOp func);
  Status emitKernels(ArrayRef<ir::FuncOp> functions);
  Status nameKernels(ArrayRef<std::string> names);

  ModuleOp Program;
  const Machine *Target; ///< May be null.
  std::optional<std::vector<std::string>> Elsewhere;
  llvmir::MachineTraits Traits;
  llvm::DataLayout Layout;
  bool WantsDebugInfo;
  size_t Places;
  Split How;
  Emitted Result;
};

/// Where the function of this name is written.
Unit &ProgramEmitter::unitFor(const std::string &symbol) {
  if (How == Split::No && !Result.units.empty())
    return Result.units.front();
  Unit &unit = Result.units.emplace_back();
  unit.name = How == Split::No ? "kiln" : symbol;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>(unit.name, *unit.context);
  unit.module->setDataLayout(Layout);
  if (Places > 0)
    llvmir::addPlaces(*unit.module, Places);
  if (WantsDebugInfo)
    unit.debug = std::make_unique<llvmir::DebugInfo>(*unit.module);
  return unit;
}

/// A kernel may be called like a function of libm; a dot keeps the names apart.
std::string symbolOf(ir::FuncOp func) {
  bool isOrchestration = func.getKind() == ir::FuncKind::Orchestration;
  return (isOrchestration ? "kiln.orchestration." : "kiln.") + func.getSymName().str();
}

/// Whether a kernel calls kiln_block_functions, so that it must be run as a group.
bool needsGroup(ir::FuncOp kernel) {
  auto needs = [](Operation *op) {
    auto alloc = dyn_cast<ir::AllocOp>(op);
    bool isOne =
        isa<tile::BarrierOp>(op) || (alloc && !alloc.getResult().getType().hasStaticShape());
    return isOne ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(needs).wasInterrupted();
}

Status ProgramEmitter::emitFunction(ir::FuncOp kernel, const std::string &symbol,
                                    uint64_t &workspaceBytes,
                                    std::array<int64_t, KILN_MAX_GRID_DIMS> *blocksPerCall) {
  llvmir::inlineCalls(kernel);
  llvmir::fuseContractions(kernel);
  Unit &unit = unitFor(symbol);
  llvmir::KernelEmitter emitter(kernel, *unit.module, symbol, unit.debug.get(), Traits);
  workspaceBytes = emitter.plan().bytes();
  if (const llvmir::Contraction *product = emitter.plan().contraction();
      product && blocksPerCall && product->rowDim >= 0)
    (*blocksPerCall)[product->rowDim] = product->maxRows;
  return emitter.emit();
}

Status ProgramEmitter::emitKernel(ir::FuncOp func) {
  CpuKernel kernel{func.getSymName().str(), symbolOf(func), 0, nullptr, std::nullopt};
  llvmir::inlineCalls(func);
  Status bad;
  if (needsGroup(func)) {
    RoleSpec role;
    role.name = kernel.name;
    role.meets = ir::findBarrier(func) != nullptr;
    bad = emitFunction(func, kernel.symbol + "." + role.name, role.workspaceBytes);
    kernel.group = GroupSpec{{std::move(role)}, {}};
  } else {
    bad = emitFunction(func, kernel.symbol, kernel.workspaceBytes, &kernel.blocksPerCall);
  }
  Result.contents.kernels.push_back(std::move(kernel));
  return bad;
}

/// The index of the member of a group that plays a role.
uint32_t memberOf(ArrayRef<ir::CallOp> calls, StringRef role) {
  for (unsigned number = 0; number < calls.size(); ++number) {
    ir::CallOp call = calls[number];
    auto callee = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(call, call.getCalleeAttr());
    if (callee.getRole() == role)
      return number;
  }
  return 0; // the verifier knows every end of a pipe
}

PipeSpec pipeOf(tile::PipeOp op, ArrayRef<ir::CallOp> calls, const Machine *machine) {
  auto type = cast<tile::PipeType>(op.getPipe().getType());
  PipeSpec pipe;
  pipe.name = pipeName(op);
  pipe.from = memberOf(calls, type.getFrom());
  pipe.to = memberOf(calls, type.getTo());
  pipe.slots = op.getSlots().value_or(defaultSlotsOf(machine));
  pipe.split = static_cast<PipeSplit>(type.getSplit());
  pipe.payloadBytes = llvmir::payloadOffset(type, type.getPayload().size());
  return pipe;
}

/// Every member of a group is compiled with the group's own parameters: a copy of the group in
/// which only its call is left, and inlined.
Status ProgramEmitter::emitGroup(ir::FuncOp group) {
  CpuKernel kernel{group.getSymName().str(), symbolOf(group), 0, nullptr, GroupSpec()};
  SmallVector<ir::CallOp> calls(group.getBody().getOps<ir::CallOp>());
  for (unsigned number = 0; number < calls.size(); ++number) {
    auto callee =
        SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(group, calls[number].getCalleeAttr());
    OpBuilder builder(group);
    auto member = cast<ir::FuncOp>(builder.clone(*group));
    SmallVector<ir::CallOp> copies(member.getBody().getOps<ir::CallOp>());
    for (unsigned other = 0; other < copies.size(); ++other)
      if (other != number)
        copies[other].erase();
    RoleSpec role;
    role.name = callee.getSymName().str();
    role.lanes = group.getLanesOf(*callee.getRole());
    role.meets = ir::findBarrier(callee) != nullptr;
    Status bad = emitFunction(member, kernel.symbol + "." + role.name, role.workspaceBytes);
    member.erase();
    if (!bad.isOk())
      return bad;
    kernel.group->roles.push_back(std::move(role));
  }
  for (tile::PipeOp pipe : group.getBody().getOps<tile::PipeOp>()) {
    PipeSpec spec = pipeOf(pipe, calls, Target);
    uint64_t lanes =
        std::max(kernel.group->roles[spec.from].lanes, kernel.group->roles[spec.to].lanes);
    spec.payloadBytes = llvm::alignTo(spec.payloadBytes, lanes); // which share a message evenly
    kernel.group->pipes.push_back(std::move(spec));
  }
  Result.contents.kernels.push_back(std::move(kernel));
  return Status::ok();
}

Status ProgramEmitter::emitOrchestration(ir::FuncOp func) {
  std::vector<std::string> names;
  for (const CpuKernel &kernel : Result.contents.kernels)
    names.push_back(kernel.name);
  llvmir::inlineCalls(func);
  Unit &unit = unitFor(symbolOf(func));
  llvmir::OrchestrationEmitter emitter(func, *unit.module, symbolOf(func), unit.debug.get(), names,
                                       Traits);
  Result.contents.orchestrations.push_back({func.getSymName().str(), symbolOf(func), nullptr});
  return emitter.emit();
}

/// Kernels that somebody else compiles only have a name and a number here.
Status ProgramEmitter::nameKernels(ArrayRef<std::string> names) {
  for (const std::string &name : names) {
    auto func = Program.lookupSymbol<ir::FuncOp>(name);
    if (!func)
      return Status(StatusCode::InvalidArgument, "there is no kernel @" + name);
    Result.contents.kernels.push_back({name, symbolOf(func), 0, nullptr, std::nullopt});
  }
  return Status::ok();
}

Status ProgramEmitter::emitKernels(ArrayRef<ir::FuncOp> functions) {
  for (ir::FuncOp func : functions) {
    Status bad;
    if (func.getKind() == ir::FuncKind::Group)
      bad = emitGroup(func);
    else if (func.isKernel() && !func.hasPipeParameter())
      bad = emitKernel(func);
    if (!bad.isOk())
      return bad;
  }
  return Status::ok();
}

Expected<Emitted> ProgramEmitter::emit() {
  // Copies: emitting changes functions, and a group makes new ones for a moment.
  SmallVector<ir::FuncOp> functions(Program.getOps<ir::FuncOp>());
  if (Status bad = Elsewhere ? nameKernels(*Elsewhere) : emitKernels(functions); !bad.isOk())
    return bad;
  for (ir::FuncOp func : functions)
    if (func.getKind() == ir::FuncKind::Orchestration)
      if (Status bad = emitOrchestration(func); !bad.isOk())
        return bad;
  for (Unit &unit : Result.units)
    if (unit.debug)
      unit.debug->finish();
  return std::move(Result);
}

Expected<Emitted> emitProgram(ModuleOp prepared, const CpuOptions &options,
                              const llvm::TargetMachine &machine, Split split) {
  OwningOpRef<ModuleOp> copy = prepared.clone();
  return ProgramEmitter(*copy, options, machine, split).emit();
}

/// The last step before the optimiser, which takes anything for valid.
Status prepareUnit(llvm::TargetMachine &machine, Unit &unit) {
  llvmir::prepareFor(machine, *unit.module);
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (llvm::verifyModule(*unit.module, &stream))
    return Status(StatusCode::Internal, "the cpu backend made invalid LLVM IR: " + wrong);
  return Status::ok();
}

/// On a thread of its own. So the machine is one too: generating code changes its settings.
Expected<std::string> compileUnit(const CpuOptions &options, Unit unit) {
  Expected<std::unique_ptr<llvm::TargetMachine>> machine = llvmir::targetMachineFor(options);
  if (!machine)
    return machine.status();
  if (Status bad = prepareUnit(**machine, unit); !bad.isOk())
    return bad;
  llvmir::optimize(**machine, *unit.module);
  return llvmir::emitObjectFile(**machine, *unit.module);
}

/// The longest first, so that no thread begins a long one when the others have nothing left.
std::vector<size_t> longestFirst(ArrayRef<Unit> units) {
  std::vector<size_t> order(units.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](size_t one, size_t other) {
    return units[one].module->getInstructionCount() > units[other].module->getInstructionCount();
  });
  return order;
}

/// The objects as members of an archive.
Expected<std::string> packObjects(ArrayRef<std::string> names, ArrayRef<std::string> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (auto [name, object] : llvm::zip_equal(names, objects))
    members.emplace_back(llvm::MemoryBufferRef(object, name));
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return Status(StatusCode::Internal,
                  "objects cannot be packed: " + llvm::toString(archive.takeError()));
  return (*archive)->getBuffer().str();
}

} // namespace

Expected<CpuObject> emitCpuObject(ModuleOp prepared, const CpuOptions &options) {
  Expected<std::unique_ptr<llvm::TargetMachine>> machine = llvmir::targetMachineFor(options);
  if (!machine)
    return machine.status();
  Expected<Emitted> emitted = emitProgram(prepared, options, **machine, Split::ByFunction);
  if (!emitted)
    return emitted.status();
  std::vector<Unit> &units = emitted->units;
  std::vector<size_t> order = longestFirst(units);
  std::vector<std::string> names;
  for (const Unit &unit : units)
    names.push_back(unit.name);
  std::vector<Status> failures(units.size());
  std::vector<std::string> objects(units.size());
  parallelFor(units.size(), options.threads, [&](size_t i) {
    size_t number = order[i];
    Expected<std::string> object = compileUnit(options, std::move(units[number]));
    if (object)
      objects[number] = std::move(*object);
    else
      failures[number] = object.status();
  });
  for (const Status &failure : failures)
    if (!failure.isOk())
      return failure;
  Expected<std::string> bytes = packObjects(names, objects);
  if (!bytes)
    return bytes.status();
  return CpuObject{std::move(emitted->contents), std::move(*bytes)};
}

Expected<CpuModule> compileForCpu(ModuleOp prepared, const CpuOptions &options) {
  Expected<CpuObject> object = emitCpuObject(prepared, options);
  if (!object)
    return object.status();
  return loadCpuObject(std::move(*object));
}

Expected<std::string> emitLlvmIr(ModuleOp prepared, const CpuOptions &options, bool optimized) {
  Expected<std::unique_ptr<llvm::TargetMachine>> machine = llvmir::targetMachineFor(options);
  if (!machine)
    return machine.status();
  Expected<Emitted> emitted = emitProgram(prepared, options, **machine, Split::No);
  if (!emitted)
    return emitted.status();
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Unit &unit : emitted->units) {
    if (Status bad = prepareUnit(**machine, unit); !bad.isOk())
      return bad;
    if (optimized)
      llvmir::optimize(**machine, *unit.module);
    unit.module->print(stream, nullptr);
  }
  return text;
}

bool isLoweredForCpu(OperationName name) {
  const llvmir::OpTable &table = llvmir::OpTable::get();
  return table.lowering(name) || table.pointwise(name) || llvmir::isLoweredInOrchestrations(name);
}

} // namespace kiln
