// From a prepared program to native kernels: emit, optimise, generate code, link.
#include "kiln/Target/Llvm/Llvm.h"

#include "Builder/DebugInfo.h"
#include "Emit/KernelEmitter.h"
#include "Emit/OrchestrationEmitter.h"
#include "Optimize.h"
#include "Plan/FuseContractions.h"
#include "Plan/InlineCalls.h"
#include "Plan/Pipes.h"
#include "abi/Environment.h"
#include "abi/TileRegisters.h"

#include "kiln/Machine/Machine.h"
#include "kiln/Program/Signature.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ExecutionEngine/JITEventListener.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace kiln {
namespace {

/// The program as LLVM IR, with what the runtime needs to know about it.
struct Emitted {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  CpuContents contents;
};

/// Writes the functions of a program into one LLVM module.
class ProgramEmitter {
public:
  ProgramEmitter(ModuleOp program, const CpuOptions &options, llvm::TargetMachine &machine)
      : Program(program), Target(options.machine), Elsewhere(options.kernelsElsewhere),
        Traits(llvmir::traitsOf(machine)) {
    Result.context = std::make_unique<llvm::LLVMContext>();
    Result.module = std::make_unique<llvm::Module>("kiln", *Result.context);
    Result.module->setDataLayout(machine.createDataLayout());
    if (options.debugInfo)
      Debug.emplace(*Result.module);
  }

  Expected<Emitted> emit();

private:
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
  Emitted Result;
  std::optional<llvmir::DebugInfo> Debug;
};

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
  llvmir::KernelEmitter emitter(kernel, *Result.module, symbol, Debug ? &*Debug : nullptr, Traits);
  workspaceBytes = emitter.plan().bytes();
  if (const llvmir::Contraction *product = emitter.plan().contraction();
      product && blocksPerCall && product->rowDim >= 0)
    (*blocksPerCall)[product->rowDim] = product->maxRows; // which share their right sides
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
  llvmir::OrchestrationEmitter emitter(func, *Result.module, symbolOf(func),
                                       Debug ? &*Debug : nullptr, names, Traits);
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
  if (Debug)
    Debug->finish();
  return std::move(Result);
}

Expected<Emitted> emitModule(ModuleOp prepared, const CpuOptions &options,
                             llvm::TargetMachine &machine) {
  OwningOpRef<ModuleOp> copy = prepared.clone();
  Expected<Emitted> emitted = ProgramEmitter(*copy, options, machine).emit();
  if (!emitted)
    return emitted;
  llvmir::prepareFor(machine, *emitted->module);
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (llvm::verifyModule(*emitted->module, &stream))
    return Status(StatusCode::Internal, "the cpu backend made invalid LLVM IR: " + wrong);
  return emitted;
}

std::string textOf(llvm::Error error) { return llvm::toString(std::move(error)); }

} // namespace

struct CpuModule::Code final : CodeImage {
  std::unique_ptr<llvm::orc::LLJIT> jit;

  void *find(const std::string &symbol) const override {
    llvm::Expected<llvm::orc::ExecutorAddr> address = jit->lookupLinkerMangled(symbol);
    if (address)
      return address->toPtr<void *>();
    llvm::consumeError(address.takeError());
    return nullptr;
  }
};

CpuModule::CpuModule() = default;
CpuModule::~CpuModule() = default;
CpuModule::CpuModule(CpuModule &&) noexcept = default;
CpuModule &CpuModule::operator=(CpuModule &&) noexcept = default;

const CpuKernel *CpuModule::lookup(llvm::StringRef name) const {
  for (const CpuKernel &kernel : Contents.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

std::shared_ptr<const CodeImage> CpuModule::image() const { return Linked; }

/// Links objects into this process and tells debuggers and profilers about them.
static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> makeLinker(bool isProfiled) {
  llvmir::initializeTarget();
  return llvm::orc::LLJITBuilder()
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform) // kernels have no constructors
      .setObjectLinkingLayerCreator([=](llvm::orc::ExecutionSession &session) {
        auto layer = std::make_unique<llvm::orc::RTDyldObjectLinkingLayer>(
            session, [](const llvm::MemoryBuffer &) {
              // In one piece: code refers to its constants by 32-bit distances, and pieces that the
              // system chose one by one may lie further apart.
              return std::make_unique<llvm::SectionMemoryManager>(nullptr, /*ReserveAlloc=*/true);
            });
        if (auto *gdb = llvm::JITEventListener::createGDBRegistrationListener())
          layer->registerJITEventListener(*gdb);
        // Only who profiles wants files in the home directory; null if LLVM was built without.
        if (isProfiled)
          if (auto *perf = llvm::JITEventListener::createPerfJITEventListener())
            layer->registerJITEventListener(*perf);
        return llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>>(std::move(layer));
      })
      .create();
}

Expected<CpuModule> loadCpuObject(CpuObject object) {
  mayUseTileRegisters(); // asks for them: code for a CPU that was named may use them
  Expected<bool> isProfiled = flagFromEnvironment("KILN_PERF", false);
  if (!isProfiled)
    return isProfiled.status();
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = makeLinker(*isProfiled);
  if (!jit)
    return Status(StatusCode::Internal, "cannot link in this process: " + textOf(jit.takeError()));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object.bytes, "kiln");
  if (llvm::Error error = (*jit)->addObjectFile(std::move(buffer)))
    return Status(StatusCode::InvalidArgument, "not an object: " + textOf(std::move(error)));
  Status failed;
  auto find = [&](const std::string &symbol, auto &function) {
    llvm::Expected<llvm::orc::ExecutorAddr> address = (*jit)->lookupLinkerMangled(symbol);
    if (address)
      function = address->toPtr<std::remove_reference_t<decltype(function)>>();
    else
      failed = Status(StatusCode::NotFound,
                      symbol + " cannot be linked: " + textOf(address.takeError()));
  };
  for (CpuKernel &kernel : object.kernels) {
    if (!kernel.group)
      find(kernel.symbol, kernel.function);
    else
      for (RoleSpec &role : kernel.group->roles)
        find(kernel.symbol + "." + role.name, role.function);
  }
  for (CpuOrchestration &orchestration : object.orchestrations)
    find(orchestration.symbol, orchestration.function);
  if (!failed.isOk())
    return failed;
  CpuModule module;
  module.Contents = std::move(static_cast<CpuContents &>(object));
  auto code = std::make_shared<CpuModule::Code>();
  code->jit = std::move(*jit);
  module.Linked = std::move(code);
  return module;
}

Expected<CpuObject> emitCpuObject(ModuleOp prepared, const CpuOptions &options) {
  Expected<std::unique_ptr<llvm::TargetMachine>> machine = llvmir::targetMachineFor(options);
  if (!machine)
    return machine.status();
  Expected<Emitted> emitted = emitModule(prepared, options, **machine);
  if (!emitted)
    return emitted.status();
  llvmir::optimize(**machine, *emitted->module);
  Expected<std::string> bytes = llvmir::emitObjectFile(**machine, *emitted->module);
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
  Expected<Emitted> emitted = emitModule(prepared, options, **machine);
  if (!emitted)
    return emitted.status();
  if (optimized)
    llvmir::optimize(**machine, *emitted->module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  emitted->module->print(stream, nullptr);
  return text;
}

bool isLoweredForCpu(OperationName name) {
  const llvmir::OpTable &table = llvmir::OpTable::get();
  return table.lowering(name) || table.pointwise(name) || llvmir::isLoweredInOrchestrations(name);
}

} // namespace kiln
