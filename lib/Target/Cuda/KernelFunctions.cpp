// The functions that run a kernel's roles over the blocks: an entry, or parts of the one kernel
// that does all tasks.
#include "KernelEmitter.h"

using namespace mlir;

namespace kiln::cuda {

std::string KernelEmitter::walkText(const RoleCall &role) const {
  if (!handsOutBlocks())
    return std::string("for (") + (IsPart ? "unsigned" : "i64") +
           " number = blockIdx.x; number < blocks; number += gridDim.x)\n";
  return role.copies ? "for (unsigned number = handout.first(); number < blocks; number = "
                       "handout.next())\n"
                     : "for (unsigned number; handout.hear(number);)\n";
}

std::string KernelEmitter::looks(const RoleCall &role, StringRef indent) {
  std::string text;
  if (!role.copies && copyingRole())
    for (Value operand : ir::CallOp(role.call).getArgs())
      if (isa<ir::TensorType>(operand.getType()))
        text += indent.str() + "look(" + given(operand).first + ");\n";
  return text;
}

std::string KernelEmitter::mayRunAhead() const {
  std::string text = "blockIdx.x < blocks";
  for (size_t number = 0; number < TensorFields.size(); ++number)
    if (llvm::any_of(Kernel.maps,
                     [&](const CudaTensorMap &map) { return map.isAhead && map.tensor == number; }))
      text += " && mayReadAhead(args." + TensorFields[number] + ")";
  return text;
}

std::string KernelEmitter::leavePair(StringRef indent) const {
  return Kernel.pairsBlocks ? indent.str() + "leavePair();\n" : "";
}

std::string KernelEmitter::roleLoop(const RoleCall &role, StringRef lane, StringRef indent) {
  std::string arguments;
  for (const PipeText &pipe : Pipes)
    arguments += ", " + pipe.name;
  std::string rest;
  if (role.usesMemory)
    rest += role.memory ? ", memory + " + std::to_string(role.memory) : std::string(", memory");
  if (role.delaysStores)
    rest += ", delayed";
  if (ir::findBarrier(role.func))
    rest += ", allBlocks";
  auto blockAt = [&](StringRef number) {
    return std::string(Kernel.pairsBlocks ? "pairedBlockAt<" : "blockAt<") + rowsTogether() + ">(" +
           number.str() + (Kernel.pairsBlocks ? ", blocks" : "") + ", args.grid)";
  };
  std::string result;
  if (role.copies && !role.runsAhead && !IsPart && !handsOutBlocks() && !Kernel.pairsBlocks)
    return indent.str() + "Walk<" + rowsTogether() + "> walk(args.grid, blocks);\n" + indent.str() +
           "ptx::awaitPrerequisites();\n" + indent.str() +
           "for (; walk.isInside(); walk.next())\n" + indent.str() + "  " + role.name +
           "(args, walk.block, " + lane.str() + arguments + rest + ");\n";
  if (role.runsAhead)
    result = indent.str() + "if (" + mayRunAhead() + ")\n" + indent.str() + "  " + role.name +
             "_ahead(args, " + blockAt("i64(blockIdx.x)") + ", " + lane.str() + arguments + ");\n";
  if (!IsPart)
    result += looks(role, indent) + indent.str() + "ptx::awaitPrerequisites();\n";
  else if (role.copies)
    result += indent.str() + "tasks.awaitBeforeByWarp(task);\n";
  result += indent.str() + walkText(role);
  if (!Kernel.pairsBlocks && !role.delaysStores)
    return result + indent.str() + "  " + role.name + "(args, " + blockAt("number") + ", " +
           lane.str() + arguments + rest + ");\n";
  result.insert(result.size() - 1, " {");
  if (Kernel.pairsBlocks)
    result += indent.str() + "  PairedBlock block = " + blockAt("number") + ";\n";
  for (const PipeText &pipe : Pipes)
    if (pipe.isPaired)
      result += indent.str() + "  " + pipe.name + ".hasOther = block.hasOther;\n";
  if (role.delaysStores)
    result += indent.str() + "  delayed.hasNext = number + gridDim.x < blocks;\n";
  return result + indent.str() + "  " + role.name + "(args, " +
         (Kernel.pairsBlocks ? "block" : blockAt("number")) + ", " + lane.str() + arguments + rest +
         ");\n" + indent.str() + "}\n";
}

std::string KernelEmitter::entryFunction(StringRef symbol, int64_t threads) {
  const RoleCall *copies = nullptr, *computes = nullptr;
  for (const RoleCall &role : Roles)
    (role.copies ? copies : computes) = &role;
  std::string text = std::string("extern \"C\" __global__ void ") +
                     (Kernel.pairsBlocks ? "__cluster_dims__(2, 1, 1) " : "") +
                     "__launch_bounds__(" + std::to_string(threads) +
                     (copies || Kernel.hasGuests ? ", 1)\n" : ", KILN_BLOCKS_AT_ONCE)\n") +
                     symbol.str() + "(const __grid_constant__ Args args) {\n";
  if (threads == kWarpgroup)
    text += "  ptx::assumeThreads<" + std::to_string(threads) + ">();\n";
  if (tileBytes() > 0)
    text += "  extern __shared__ __align__(1024) unsigned char shared[];\n";
  if (LaneBytes > 0)
    text += "  SharedAddress memory = sharedAddress(shared);\n";
  text += "  i64 blocks = args.grid[0] * args.grid[1] * args.grid[2];\n";
  if (!Pipes.empty()) {
    text += "  SharedAddress ring = sharedAddress(shared), barriers = ring + " +
            std::to_string(tileBytes()) + ";\n";
    for (size_t k = 0; k < Pipes.size(); ++k) {
      tile::PipeType ends = Pipes[k].op.getPipe().getType();
      text +=
          "  " + Pipes[k].type + " " + Pipes[k].name + "(ring, barriers, \"" + Pipes[k].name +
          "\"" +
          (Kernel.hasGuests ? ", \"" + ends.getFrom().str() + "\", \"" + ends.getTo().str() + "\""
                            : "") +
          ");\n";
      if (k + 1 < Pipes.size())
        text += "  ring += " + Pipes[k].type + "::ringBytes, barriers += " + Pipes[k].type +
                "::barrierBytes;\n";
    }
    if (handsOutBlocks())
      text += "  Handout<" + std::to_string(Lanes) + "> handout(barriers + " + Pipes.back().type +
              "::barrierBytes, args.taken, blocks);\n";
    text += "  if (threadIdx.x == 0) {\n";
    if (!Kernel.maps.empty())
      text += "    prefetch(args.maps);\n";
    for (const PipeText &pipe : Pipes)
      text += "    " + pipe.name + ".init();\n";
    if (handsOutBlocks())
      text += "    handout.init();\n";
    text += "    barrier::publishInit();\n  }\n";
    text += Kernel.pairsBlocks ? "  enterPair();\n" : "  __syncthreads();\n";
  }
  text += "  int " + Kernel.warpgroup().str() + " = " +
          (copies || Lanes > 1 ? "warpgroupIndex()" : "0") + ";\n";
  if (Kernel.hasBarrier)
    text += "  GridBarrier allBlocks{args.arrivals, blocks * " + std::to_string(waiters()) + "};\n";
  if (mayHang())
    text += "  progress::begin();\n";
  std::string end = mayHang() ? "progress::end();\n" : "";
  if (Kernel.hasGuests)
    return text + "  ptx::launchDependents();\n" + guestsText() + "}\n";
  if (!copies) // it is short: the next kernel's weights may come beside it
    return text + "  ptx::launchDependents();\n" + roleLoop(*computes, "lane", "  ") +
           (end.empty() ? "" : "  " + end) + "}\n";
  RegisterShares shares = kShares[Lanes];
  text += "  if (lane == " + std::to_string(Lanes) + ") {\n";
  if (shares.dma)
    text += "    giveBackRegisters<" + std::to_string(shares.dma) + " + " +
            std::to_string(8 * Lanes) + " * KILN_REGISTERS_MOVED>();\n";
  // The next kernel does not compete for memory before all of this one's has been asked for.
  text += "    if (warpInGroup() == 0) {\n" + roleLoop(*copies, "0", "      ") +
          "      ptx::launchDependents();\n      " + end + leavePair("      ") +
          "    }\n  } else {\n";
  if (shares.compute)
    text +=
        "    takeRegisters<" + std::to_string(shares.compute) + " - 8 * KILN_REGISTERS_MOVED>();\n";
  if (Kernel.takesTurns)
    text += "    if (lane == " + std::to_string(Lanes - 1) + ") // the first lane comes first\n" +
            "      passTurn<" + std::to_string(Lanes) + ">(lane);\n";
  if (computes->delaysStores)
    text += "    " + Kernel.keeps + " delayed(" + Kernel.keepsGiven + ");\n";
  text += roleLoop(*computes, "lane", "    ");
  if (Kernel.stagesStores)
    text += "    awaitStaged();\n";
  return text + "    " + end + leavePair("    ") + "  }\n}\n";
}

std::string KernelEmitter::guestsText() {
  std::string text;
  for (const RoleCall &role : Roles) {
    bool isLast = &role == &Roles.back();
    std::string lane = "warpgroup" + (role.first ? " - " + std::to_string(role.first) : "");
    text +=
        isLast ? " {\n" : "if (warpgroup < " + std::to_string(role.first + role.lanes) + ") {\n";
    text += roleLoop(role, lane + ", warpgroup", "    ") + "    progress::end();\n  }" +
            (isLast ? "\n" : " else ");
  }
  return "  " + text;
}

std::string KernelEmitter::partFunction(const RoleCall &role) {
  std::string text = std::string("__device__ __forceinline__ void ") +
                     (role.copies ? "copies" : "computes") +
                     "(const Tasks &tasks, const Task &task, " + (role.copies ? "" : "int lane, ") +
                     "Ring &ring) {\n  const Args &args = tasks.arguments<Args>(task);\n" +
                     "  i64 blocks = args.grid[0] * args.grid[1] * args.grid[2];\n";
  if (LaneBytes > 0)
    text += role.copies ? "  ring.lend(" + std::to_string(Kernel.ringBytes) + ", " +
                              std::to_string(tileBytes()) + ");\n"
                        : "  SharedAddress memory = ring.memory;\n";
  for (const PipeText &pipe : Pipes)
    text += "  " + pipe.type + " " + pipe.name + "(ring, \"" + pipe.name + "\");\n";
  if (handsOutBlocks())
    text += "  Handout<" + std::to_string(Lanes) +
            "> handout(ring.barriers + Ring::barrierBytes, args.taken, blocks);\n" +
            "  handout.said = ring.said;\n";
  if (ir::findBarrier(role.func))
    text += "  GridBarrier allBlocks{args.arrivals, blocks * " + std::to_string(waiters()) + "};\n";
  bool takesTurns = Kernel.takesTurns && !role.copies;
  if (takesTurns)
    text += "  if (lane == " + std::to_string(Lanes - 1) + ") // the first lane comes first\n" +
            "    passTurn<" + std::to_string(Lanes) + ">(lane);\n";
  text += roleLoop(role, role.copies ? "0" : "lane", "  ");
  if (takesTurns)
    text += "  if (lane == 0) // nobody has the turn any more\n    takeTurn(lane);\n";
  if (!role.copies && Kernel.stagesStores)
    text += "  awaitWritten();\n";
  if (!role.copies && LaneBytes > 0)
    text += "  ring.giveBack<" + std::to_string(Lanes) + ">();\n";
  if (handsOutBlocks())
    text += "  ring.said = handout.said;\n";
  if (!Pipes.empty()) {
    const PipeText &largest = *llvm::max_element(
        Pipes, [](const PipeText &a, const PipeText &b) { return a.bytes < b.bytes; });
    text +=
        "  ring.next = " + largest.name + (role.copies ? ".nextPushed();\n" : ".nextFreed();\n");
  }
  return text + "}\n";
}

std::string KernelEmitter::partFunctions() {
  std::string text;
  for (const RoleCall &role : Roles)
    text += (text.empty() ? "" : "\n") + partFunction(role);
  if (LaneBytes > 0 && !copyingRole())
    text += "\n__device__ __forceinline__ void copies(const Tasks &, const Task &, Ring &ring) {\n"
            "  ring.lend(" +
            std::to_string(Kernel.ringBytes) + ", " + std::to_string(tileBytes()) + ");\n}\n";
  return text;
}

} // namespace kiln::cuda
