// All tasks of a program as one kernel: its parts are the program's kernels, and its entry walks
// the table of tasks that the host writes.
#include "KernelPart.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Dialect/Kiln/KilnDialect.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/Signature.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr int64_t kWarpgroup = 128;
/// Ring::barrierBytes and those of a Handout (device/cuda).
constexpr int64_t kRingBarrierBytes = 528, kHandoutBytes = 48, kRingSlots = 32;
/// How often a launch in a loop is expected to run, where the table is as large as that asks for.
constexpr int64_t kTasksOfLoop = 4;

/// What the host would have to look at before it knows all tasks, in words; null if nothing.
Status findDecision(ModuleOp module) {
  Status found;
  module.walk([&](Operation *op) {
    std::string what;
    if (auto get = dyn_cast<ir::GetOp>(op))
      what = "it reads what tasks have made (kiln.get)";
    else if (auto submit = dyn_cast<ir::SubmitOp>(op); submit && submit.getPredicate())
      what = "a task runs only if another's result says so (a predicate)";
    else if (ir::collectiveOf(op) || isa<ir::RankIdOp, ir::RankCountOp>(op))
      what = "it works with other ranks";
    else
      return WalkResult::advance();
    found = Status(StatusCode::Unsupported,
                   "the program cannot be one persistent kernel, for its tasks are not all known "
                   "before the first begins: " +
                       what + "; run it without --persistent",
                   sourceLocOf(op->getLoc()));
    return WalkResult::interrupt();
  });
  return found;
}

class PersistentEmitter {
public:
  PersistentEmitter(ModuleOp module, std::vector<cuda::KernelPart> parts)
      : Module(module), Parts(std::move(parts)) {
    for (const cuda::KernelPart &part : Parts) {
      Lanes = std::max(Lanes, part.lanes);
      Copies |= part.copies;
      HandsOut |= part.unit.kernel.handsOutBlocks;
      TileBytes = std::max(TileBytes, part.tileBytes);
    }
    TileBytes = llvm::alignTo(TileBytes, 1024);
    for (const cuda::KernelPart &part : Parts)
      DifferInLanes |= part.copies && part.lanes < Lanes;
  }

  CudaText text() const {
    CudaText all;
    add(all, "#include \"persistent.cuh\"\n\n");
    for (const cuda::KernelPart &part : Parts) {
      all.text += part.unit.text.text + "\n";
      llvm::append_range(all.lines, part.unit.text.lines);
      all.lines.emplace_back();
    }
    add(all, entry());
    return all;
  }

  Expected<CudaUnit> unit() const {
    CudaUnit unit;
    unit.kernel.name = "(all tasks)";
    unit.kernel.symbol = "kiln_all_tasks";
    unit.kernel.file = "kernels/all_tasks.cubin";
    unit.kernel.threads = threads();
    int64_t shared = TileBytes + barrierBytes();
    for (const cuda::KernelPart &part : Parts) {
      shared = std::max(shared, part.tileBytes + part.bytesBehind);
      unit.registersForTiles = std::max(unit.registersForTiles, part.unit.registersForTiles);
    }
    unit.kernel.sharedBytes = shared;
    unit.kernel.tableBytes = tableBytes();
    unit.isMemoryBound = !Copies;
    unit.movesRegisters = Copies && cuda::kShares[Lanes].dma;
    if (!Parts.empty())
      unit.location = Parts.front().unit.location;
    unit.text = text();
    return unit;
  }

  /// Descriptions of the parts, as the host launches them.
  std::vector<CudaKernel> kernels(const CudaUnit &whole) const {
    std::vector<CudaKernel> list;
    for (auto [number, part] : llvm::enumerate(Parts)) {
      CudaKernel kernel = part.unit.kernel;
      kernel.symbol = whole.kernel.symbol;
      kernel.file = whole.kernel.file;
      kernel.threads = whole.kernel.threads;
      kernel.sharedBytes = whole.kernel.sharedBytes;
      kernel.tableBytes = whole.kernel.tableBytes;
      kernel.part = number;
      list.push_back(std::move(kernel));
    }
    return list;
  }

private:
  static void add(CudaText &all, const std::string &text) {
    all.text += text;
    all.lines.resize(all.lines.size() + llvm::count(text, '\n'));
  }

  int64_t threads() const { return kWarpgroup * (Lanes + Copies); }
  int64_t barrierBytes() const { return kRingBarrierBytes + (HandsOut ? kHandoutBytes : 0); }

  /// Room for all tasks, as far as their number is known here; what has no room in it takes more
  /// launches.
  int64_t tableBytes() const {
    llvm::StringMap<int64_t> needed;
    int64_t largest = 0, sum = 0;
    for (const cuda::KernelPart &part : Parts) {
      int64_t bytes = taskBytes(part.unit.kernel);
      needed[part.unit.kernel.name] = bytes;
      largest = std::max(largest, bytes);
    }
    Module.walk([&](ir::SubmitOp submit) {
      if (!submit.getCallee())
        return;
      bool isRepeated = submit->getParentOfType<LoopLikeOpInterface>() != nullptr;
      sum += needed.lookup(*submit.getCallee()) * (isRepeated ? kTasksOfLoop : 1);
    });
    return std::clamp<uint64_t>(
        llvm::alignTo(taskTableHead + taskTableLine + std::max(sum, largest), taskTableLine), 1024,
        mostTaskTableBytes);
  }

  std::string walk(const std::string &indent, const std::string &body) const {
    return indent + "for (unsigned number = 0; number < tasks.count; ++number) {\n" + indent +
           "  const Task &task = tasks[number];\n" + indent + "  if (blockIdx.x >= task.comers)\n" +
           indent + "    continue;\n" + body + indent + "}\n";
  }

  std::string copyingWalk() const {
    std::string cases;
    for (auto [number, part] : llvm::enumerate(Parts))
      if (part.copies || part.lendsMemory)
        cases += "        case " + std::to_string(number) + ":\n          " + part.space +
                 "::copies(tasks, task, ring);\n          break;\n";
    return walk("      ", "        switch (task.kernel) {\n" + cases + "        }\n");
  }

  std::string computingWalk(const std::string &indent) const {
    std::string inner = indent + "  ", cases;
    std::string lanes = std::to_string(Lanes);
    for (auto [number, part] : llvm::enumerate(Parts)) {
      cases += inner + "case " + std::to_string(number) + ":\n";
      if (part.lanes < Lanes)
        cases += inner + "  if (lane < " + std::to_string(part.lanes) + ")\n  ";
      cases += inner + "  " + part.space + "::computes(tasks, task, lane, ring);\n";
      if (part.lendsMemory)
        cases += inner + "  ++ring.places;\n";
      cases += inner + "  break;\n";
    }
    std::string body = inner + "beginTask<" + lanes + ">(tasks, number);\n" + inner +
                       "switch (task.kernel) {\n" + cases + inner + "}\n";
    if (DifferInLanes)
      body += inner + "tellLanes(ring);\n";
    body += inner + "finishTask<" + lanes + ">(tasks, number);\n";
    if (DifferInLanes)
      body += inner + "hearOfRing(ring);\n";
    return walk(indent, body);
  }

  std::string entry() const {
    std::string lanes = std::to_string(Lanes);
    std::string text = "// All tasks of the program\nnamespace kernel_all_tasks {\n\n";
    text += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads()) +
            (Copies ? ", 1)\n" : ", KILN_BLOCKS_AT_ONCE)\n") +
            "kiln_all_tasks(const __grid_constant__ TaskTable<" + std::to_string(tableBytes()) +
            "> tasks) {\n  extern __shared__ __align__(1024) unsigned char shared[];\n" +
            "  Ring ring(sharedAddress(shared), sharedAddress(shared) + " +
            std::to_string(TileBytes) + ");\n  if (threadIdx.x == 0) {\n    ring.init();\n";
    if (HandsOut)
      text += "    Handout<1>(ring.barriers + Ring::barrierBytes, nullptr, 0).init();\n";
    text += "    barrier::publishInit();\n  }\n  __syncthreads();\n  int lane = " +
            std::string(threads() > kWarpgroup ? "warpgroupIndex()" : "0") + ";\n";
    text += "  progress::begin();\n";
    if (!Copies)
      return text + computingWalk("  ") +
             "  progress::end();\n}\n\n} // namespace kernel_all_tasks\n";
    cuda::RegisterShares shares = cuda::kShares[Lanes];
    text += "  if (lane == " + lanes + ") {\n";
    if (shares.dma)
      text += "    giveBackRegisters<" + std::to_string(shares.dma) + " + " +
              std::to_string(8 * Lanes) + " * KILN_REGISTERS_MOVED>();\n";
    text += "    if (warpInGroup() == 0) {\n" + copyingWalk() +
            "      progress::end();\n    }\n  } else {\n";
    if (shares.compute)
      text += "    takeRegisters<" + std::to_string(shares.compute) +
              " - 8 * KILN_REGISTERS_MOVED>();\n";
    return text + computingWalk("    ") +
           "    progress::end();\n  }\n}\n\n} // namespace kernel_all_tasks\n";
  }

  mutable ModuleOp Module;
  std::vector<cuda::KernelPart> Parts;
  int64_t Lanes = 1, TileBytes = 0;
  bool Copies = false, HandsOut = false, DifferInLanes = false;
};

} // namespace

Expected<PersistentCuda> emitPersistentCuda(ModuleOp compiled, const Machine &machine) {
  if (Status decides = findDecision(compiled); !decides.isOk())
    return decides;
  Expected<std::vector<cuda::KernelPart>> parts =
      cuda::emitParts(compiled, machine, /*computesLater=*/false);
  if (!parts)
    return parts.status();
  for (const cuda::KernelPart &part : *parts) {
    auto refuse = [&](const std::string &why) {
      return Status(StatusCode::Unsupported,
                    "@" + part.unit.kernel.name + " cannot be part of a persistent kernel: " + why +
                        "; run the program without --persistent",
                    part.unit.location);
    };
    if (part.slots > kRingSlots)
      return refuse("its pipes have " + std::to_string(part.slots) + " slots, and there are " +
                    std::to_string(kRingSlots) + " for all tasks");
    if (taskTableHead + taskTableLine + taskBytes(part.unit.kernel) > mostTaskTableBytes)
      return refuse("its arguments take " + std::to_string(taskBytes(part.unit.kernel)) +
                    " bytes, and a kernel's parameter has no more than " +
                    std::to_string(mostTaskTableBytes));
  }
  PersistentEmitter emitter(compiled, std::move(*parts));
  Expected<CudaUnit> unit = emitter.unit();
  if (!unit)
    return unit.status();
  Expected<std::vector<cuda::KernelPart>> frugal =
      cuda::emitParts(compiled, machine, /*computesLater=*/true);
  if (frugal) {
    CudaText text = PersistentEmitter(compiled, std::move(*frugal)).text();
    if (text.text != unit->text.text)
      unit->frugalText = std::move(text);
  }
  std::vector<CudaKernel> kernels = emitter.kernels(*unit);
  return PersistentCuda{std::move(*unit), std::move(kernels)};
}

} // namespace kiln
