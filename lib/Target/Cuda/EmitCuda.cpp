// Kernels: the roles, the argument block, and all of it as one text.
#include "KernelEmitter.h"

#include "kiln/Program/Launched.h"
#include "kiln/Target/Text/Names.h"

using namespace mlir;

namespace kiln {
namespace cuda {

Expected<CudaUnit> KernelEmitter::emit() {
  if (Status failed = emitRoles(); !failed.isOk())
    return failed;
  return assemble();
}

Expected<KernelPart> KernelEmitter::emitPart() {
  if (Status failed = emitRoles(); !failed.isOk())
    return failed;
  Expected<CudaUnit> unit = assemble();
  if (!unit)
    return unit.status();
  KernelPart part{std::move(*unit), "kernel_" + Name, Lanes, tileBytes(), BytesBehind};
  part.slots = (BarrierBytes - (handsOutBlocks() ? kHandoutBytes : 0)) / 16;
  part.copies = copyingRole() != nullptr;
  part.lendsMemory = LaneBytes > 0;
  return part;
}

Status KernelEmitter::emitRoles() {
  if (Status failed = findRoles(); !failed.isOk())
    return failed;
  if (IsPart && Kernel.hasGuests)
    return refuse(Func, "its roles run beside one another, which they cannot in one kernel for "
                        "all tasks; run the program without --persistent");
  nameParameters();
  chooseLayout();
  // Who is handed a block does not know before whether there is another.
  Kernel.delaysStores = !Kernel.computesLater && !IsPart && !handsOutBlocks();
  if (Status failed = findPipes(); !failed.isOk())
    return failed;
  measureTiles();
  namePushed();
  for (RoleCall &role : Roles)
    if (Status failed = emitRole(role); !failed.isOk())
      return failed;
  return Status::ok();
}

Status KernelEmitter::emitRole(RoleCall &role) {
  SmallVector<std::string> names;
  SmallVector<int> origin;
  std::string parameters;
  if (role.call) {
    for (Value operand : role.call.getArgs()) {
      auto [name, number] = given(operand);
      names.push_back(name);
      origin.push_back(number);
    }
  } else {
    for (unsigned k = 0; k < Func.getNumArguments(); ++k) {
      names.push_back(Kernel.parameters[k]);
      origin.push_back(k);
    }
  }
  for (PipeText &pipe : Pipes)
    parameters += ", " + pipe.type + " &" + pipe.name;
  Kernel.lanes = role.lanes;
  Kernel.laneBytes = role.laneBytes;
  Expected<std::string> body = FunctionEmitter(role.func, Kernel, names, origin).emitBody();
  if (!body)
    return body.status();
  // In one kernel for all tasks it would hold up what others wait for.
  role.runsAhead = role.copies && !IsPart && canRunAhead(role.func);
  if (role.runsAhead) {
    Expected<std::string> ahead =
        FunctionEmitter(role.func, Kernel, names, origin, /*isAhead=*/true).emitBody();
    if (!ahead)
      return ahead.status();
    Functions += functionText(role.name + "_ahead", parameters, *ahead);
  }
  if (role.usesMemory = role.laneBytes > 0; role.usesMemory)
    parameters += ", SharedAddress memory";
  if (role.delaysStores = !role.copies && !Kernel.keeps.empty(); role.delaysStores)
    parameters += ", " + Kernel.keeps + " &delayed";
  if (ir::findBarrier(role.func))
    parameters += ", GridBarrier &allBlocks";
  for (PipeText &pipe : Pipes)
    if (Kernel.hasGuests && pipe.op.getPipe().getType().getFrom() == *role.func.getRole())
      *body += "  " + pipe.name + ".end(lane);\n";
  Functions += functionText(role.name, parameters, *body);
  return Status::ok();
}

std::string KernelEmitter::functionText(const std::string &name, const std::string &parameters,
                                        const std::string &body) const {
  return "__device__ __forceinline__ void " + name + "(const Args &args, const " +
         (Kernel.pairsBlocks ? "PairedBlock" : "Block") + " &block, i64 lane" +
         (Kernel.hasGuests ? ", i64 warpgroup" : "") + parameters + ") {\n" + body + "}\n\n";
}

std::string KernelEmitter::argumentBlock() const {
  std::string text = "struct Args {\n";
  if (!Kernel.maps.empty())
    text += "  TensorMap maps[" + std::to_string(Kernel.maps.size()) + "];\n";
  for (const std::string &name : TensorFields)
    text += "  Tensor " + name + ";\n";
  for (const std::string &name : ScalarFields)
    text += "  u64 " + name + ";\n";
  text += "  i64 grid[3];\n";
  if (Kernel.hasBarrier)
    text += "  u64 *arrivals;\n";
  if (handsOutBlocks())
    text += "  u64 *taken;\n";
  return text + "};\n\n";
}

Expected<CudaUnit> KernelEmitter::assemble() {
  bool copies = copyingRole();
  int64_t available = Target.findMemory("mat")->bytes;
  if (tileBytes() > available || BarrierBytes > kBarrierBytes)
    return refuse(Func, "its pipes and tiles take " + Twine(tileBytes()) +
                            " bytes of shared memory and " + Twine(BarrierBytes) +
                            " of barriers; there are " + Twine(available) + " and " +
                            Twine(kBarrierBytes) + ": use smaller tiles or fewer slots");
  if (handsOutBlocks())
    BarrierBytes += kHandoutBytes;
  int64_t shared = tileBytes() + std::max(BarrierBytes, BytesBehind);
  const std::string &name = Name;
  CudaUnit unit;
  unit.location = sourceLocOf(Func.getLoc());
  unit.kernel.name = Func.getSymName().str();
  unit.kernel.symbol = "kiln_" + name;
  unit.kernel.file = "kernels/" + name + ".cubin";
  unit.kernel.threads = kWarpgroup * (Lanes + copies);
  unit.kernel.sharedBytes = shared;
  unit.kernel.numTensors = Order.tensors.size();
  unit.kernel.numScalars = Order.scalars.size();
  unit.kernel.maps = Kernel.maps;
  unit.kernel.isPersistent = isPersistent();
  unit.kernel.hasBarrier = Kernel.hasBarrier;
  unit.kernel.handsOutBlocks = handsOutBlocks();
  unit.kernel.pairsBlocks = Kernel.pairsBlocks;
  unit.isMemoryBound = !copies && !Kernel.hasGuests;
  unit.movesRegisters = copies && kShares[Lanes].dma;
  unit.registersForTiles = registersForTiles();
  std::string text = "// @" + unit.kernel.name + "\nnamespace kernel_" + name + " {\n\n";
  text += "template <typename T, int R, int C> using Reg = Tile<T, " + Layout + ">;\n";
  for (const PipeText &pipe : Pipes)
    text += "using " + pipe.type + " = " + pipe.spelled + ";\n";
  text += "\n" + argumentBlock() + Functions;
  text += IsPart ? partFunctions() : entryFunction(unit.kernel.symbol, unit.kernel.threads);
  unit.text = Kernel.withLines(text + "\n} // namespace kernel_" + name + "\n");
  return unit;
}

Expected<std::vector<KernelPart>> emitParts(ModuleOp compiled, const Machine &machine,
                                            bool computesLater) {
  std::vector<KernelPart> parts;
  text::NameScope names(nameRules());
  for (ir::FuncOp func : launchedFunctions(compiled)) {
    std::string name = names.unique(func.getSymName());
    Expected<KernelPart> part =
        KernelEmitter(func, name, machine, computesLater, /*isPart=*/true).emitPart();
    if (!part)
      return part.status();
    parts.push_back(std::move(*part));
  }
  return parts;
}

} // namespace cuda

Expected<std::vector<CudaUnit>> emitCuda(ModuleOp compiled, const Machine &machine) {
  std::vector<CudaUnit> units;
  text::NameScope names(cuda::nameRules());
  for (ir::FuncOp func : launchedFunctions(compiled)) {
    std::string name = names.unique(func.getSymName());
    Expected<CudaUnit> unit = cuda::KernelEmitter(func, name, machine, false, false).emit();
    if (!unit)
      return unit.status();
    Expected<CudaUnit> frugal = cuda::KernelEmitter(func, name, machine, true, false).emit();
    if (frugal && frugal->text.text != unit->text.text)
      unit->frugalText = frugal->text;
    units.push_back(std::move(*unit));
  }
  return units;
}

} // namespace kiln
