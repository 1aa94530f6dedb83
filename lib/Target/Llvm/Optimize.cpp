#include "Optimize.h"

#include "abi/CpuFeatures.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

using namespace llvm;

namespace kiln {

std::string hostCpu() { return sys::getHostCPUName().str(); }

std::string hostCpuFeatures() {
  SubtargetFeatures features;
  // What the runtime cannot ask for, code must not need: a bundle is refused where something is
  // missing.
  for (const auto &[name, isOn] : sys::getHostCPUFeatures()) {
    CpuFeature there = cpuFeature(std::string_view(name.data(), name.size()));
    features.AddFeature(name, isOn && there != CpuFeature::Missing && there != CpuFeature::Unknown);
  }
  std::vector<std::string> sorted = features.getFeatures();
  llvm::sort(sorted); // the order of a hash map is no fact about the machine
  return join(sorted, ",");
}

namespace llvmir {

/// Sets what LLVM's code generator takes from a command line only. An LLVM that does not know it
/// only takes longer.
static void setForCodeGeneration(StringRef name, StringRef value) {
  if (cl::Option *option = cl::getRegisteredOptions().lookup(name))
    option->addOccurrence(0, name, value);
}

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    // Addresses are made as loops want them. Loop strength reduction was a quarter of the time, and
    // the products of few rows were slower after it.
    setForCodeGeneration("disable-lsr", "true");
    // Follows values of variables, of which there are none, through the whole function.
    setForCodeGeneration("experimental-debug-variable-locations", "false");
  });
}

kiln::Expected<std::unique_ptr<TargetMachine>> targetMachineFor(const CpuOptions &options) {
  initializeTarget();
  Triple triple(sys::getProcessTriple());
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status(StatusCode::Unsupported, "LLVM has no code generator for this machine: " + error);
  std::string cpu = options.cpu.empty() ? hostCpu() : options.cpu;
  std::string features =
      options.cpu.empty() && options.features.empty() ? hostCpuFeatures() : options.features;
  TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = FPOpFusion::Strict; // results do not depend on what is fused
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(triple, cpu, features, targetOptions, Reloc::PIC_,
                                  CodeModel::Small, CodeGenOptLevel::Default, /*JIT=*/false));
}

MachineTraits traitsOf(const TargetMachine &machine) {
  // Asked of the subtarget, because a CPU's name implies features that are not in the string.
  const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  MachineTraits traits;
  traits.isX86 = machine.getTargetTriple().isX86();
  traits.hasAvx512 = traits.isX86 && subtarget.checkFeatures("+avx512f");
  auto has = [&](const char *features) {
    return traits.isX86 && subtarget.checkFeatures(features);
  };
  bool hasAvx2 = has("+avx2");
  traits.accumulators = traits.hasAvx512 ? 24 : hasAvx2 ? 6 : 3;
  traits.bf16DotLanes = has("+avx512bf16") ? 16 : 0;
  traits.byteDotLanes = has("+avx512vnni") ? 16 : has("+avxvnni") ? 8 : 0;
  traits.shortDotLanes = has("+avx512bw") ? 16 : hasAvx2 ? 8 : 0;
  bool isAmd = has("+sse4a"); // which alone has it
  traits.wantsFarRowsFetched = traits.losesFetches = isAmd;
  // AMD's, since Zen 5: two products of 512 bits a cycle. The choice was measured there only.
  traits.wantsPanelsNear = isAmd && has("+avx512f,+avxvnni");
  if (has("+avx512vbmi2") && !isAmd) // Intel's, since Ice Lake
    traits.nearestCacheBytes = int64_t(48) << 10;
  traits.hasBf16Tiles = has("+amx-tile,+amx-bf16");
  traits.hasByteTiles = has("+amx-tile,+amx-int8");
  return traits;
}

void prepareFor(TargetMachine &machine, Module &module) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  module.setPICLevel(PICLevel::BigPIC);
  bool isWide = traitsOf(machine).hasAvx512;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.setUWTableKind(UWTableKind::Async); // so that debuggers can walk through
    function.setDoesNotThrow();
    if (isWide) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
}

/// Whether a function has so many blocks, about a thousand loops in a row, that only what takes
/// time in proportion to its length is done to it: most passes ask of each block what dominates it.
static bool isLong(const Function &function) { return function.size() > 4000; }

static FunctionPassManager passesFor(const Function &function) {
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  if (isLong(function))
    return passes;
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  LoopPassManager loopPasses;
  loopPasses.addPass(LICMPass(LICMOptions()));
  loopPasses.addPass(IndVarSimplifyPass());
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loopPasses), /*UseMemorySSA=*/true));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(ADCEPass());
  return passes;
}

void optimize(TargetMachine &machine, Module &module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  for (Function &function : module)
    if (!function.isDeclaration())
      passesFor(function).run(function, functions);
}

kiln::Expected<std::string> emitObjectFile(TargetMachine &machine, Module &module) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  if (any_of(module, isLong))
    machine.setOptLevel(CodeGenOptLevel::None);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile,
                                  /*DisableVerify=*/true))
    return Status(StatusCode::Internal, "LLVM cannot write objects for this machine");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace llvmir
} // namespace kiln
