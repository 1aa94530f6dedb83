// What a program promises, held against what it does: parallel loops are independent, launches that
// start all blocks at once fit the machine, and outputs are written whole.
#include "Checker.h"
#include "Simulator/GlobalMemory.h"

#include "kiln/Program/Signature.h"

#include <cmath>

using namespace mlir;

namespace kiln::simulator {

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

void Checker::memoryIsAllocated(const Tensor &tensor) {
  Shadow.addAllocation(tensor);
  auto *begin = static_cast<const std::byte *>(tensor.buffer()->data());
  Padded.forget(begin, begin + tensor.buffer()->bytes());
  llvm::erase_if(Loops, [](const auto &loop) { return loop.expired(); });
  for (const std::weak_ptr<ParallelLoop> &loop : Loops)
    loop.lock()->forget(begin, begin + tensor.buffer()->bytes());
}

void Checker::parallelLoopStarts(const Agent *agent, scf::ForOp loop) {
  auto started = std::make_shared<ParallelLoop>(loop);
  Loops.push_back(started);
  (agent ? OfAgents[agent->number] : OfOrchestration).push_back({std::move(started), 0});
}

void Checker::parallelIterationEnds(const Agent *agent, bool isLast) {
  Iterations &running = agent ? OfAgents[agent->number] : OfOrchestration;
  if (isLast)
    running.pop_back();
  else
    ++running.back().number;
}

void Checker::checkIterations(const Access &access, const Footprint &at, AccessKind kind,
                              const Iterations &iterations) {
  for (const auto &[loop, number] : iterations) {
    std::optional<ParallelLoop::Conflict> conflict = loop->access(at, kind, number, access.op);
    if (!conflict)
      continue;
    Finding *finding = Found.add(FindingKind::BrokenPromise, access.op, loop->op());
    if (!finding)
      continue;
    setPlace(*finding, *access.agent);
    Access element = access;
    element.indices = indicesOf(access, at, conflict->row, conflict->col);
    finding->message = "iteration " + std::to_string(number) + " of a parallel loop " + verb(kind) +
                       " " + describeElement(element) + ", which iteration " +
                       std::to_string(conflict->iteration) + " " + verb(conflict->kind);
    finding->notes.push_back({"the loop promises here that its iterations are independent; let "
                              "each have elements of its own, or leave out 'parallel'",
                              sourceLocOf(loop->op().getLoc())});
    finding->notes.push_back(
        {"the other iteration " + std::string(verb(conflict->kind)) + " it here",
         sourceLocOf(conflict->op->getLoc())});
  }
}

//===----------------------------------------------------------------------===//
// Blocks that start at once
//===----------------------------------------------------------------------===//

void Checker::blocksStartAtOnce(Operation *submit, ArrayRef<int64_t> grid, const Machine &machine) {
  __int128 blocks = 1;
  for (int64_t extent : grid)
    blocks = std::min<__int128>(blocks * extent, INT64_MAX);
  if (blocks <= machine.coreGroups)
    return;
  Finding *finding = Found.add(FindingKind::BrokenPromise, submit);
  if (!finding)
    return;
  finding->message = "a launch with sync_start starts " + std::to_string(int64_t(blocks)) +
                     " blocks at once, but " + std::string(machine.platform) + " has " +
                     std::to_string(machine.coreGroups) +
                     " core groups: the others would never start, and a barrier would wait for "
                     "them forever";
  finding->notes.push_back({"launch at most so many blocks and let each do several parts in a "
                            "loop, or say with a require which extents are allowed",
                            {}});
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Operation *Checker::writerOf(ir::FuncOp entry, unsigned number, const Tensor &tensor) {
  if (std::optional<ShadowMemory::Record> last = Shadow.lastWriteTo(tensor)) {
    Operation *submit = Submits[Happens.agent(last->moment.agent).task];
    return submit ? submit : last->op;
  }
  // Nobody wrote any of it: a launch that is given it to write, if there is one.
  Operation *found = nullptr;
  mlir::Value parameter = entry.getArgument(number);
  entry.walk([&](ir::SubmitOp submit) {
    auto callee = submit.getCallee() ? SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(
                                           entry, submit.getCalleeAttr().getAttr())
                                     : ir::FuncOp();
    for (auto [index, arg] : llvm::enumerate(submit.getArgs()))
      if (callee && isa<ir::TensorType>(arg.getType()) && ir::rootOf(arg) == parameter &&
          callee.getArgDirection(index) != ir::Direction::In)
        found = submit;
  });
  return found;
}

/// "elements [8:9, 0:16]"
static std::string describeBox(const ShadowMemory::Unwritten &unwritten) {
  std::string text = unwritten.count == 1 ? "element [" : "elements [";
  for (size_t axis = 0; axis < unwritten.begin.size(); ++axis) {
    text += axis ? ", " : "";
    text += unwritten.count == 1
                ? std::to_string(unwritten.begin[axis])
                : std::to_string(unwritten.begin[axis]) + ":" + std::to_string(unwritten.end[axis]);
  }
  return text + "]";
}

void Checker::tellUnwrittenOutput(ir::FuncOp entry, unsigned number, const Tensor &tensor,
                                  const ShadowMemory::Unwritten &unwritten) {
  bool isPromised = !Found.isUndeclared(number);
  FindingKind kind = isPromised ? FindingKind::UnwrittenOutput : FindingKind::UndeclaredOutput;
  Operation *writer = writerOf(entry, number, tensor);
  Finding *finding = Found.add(kind, writer ? writer : entry, entry, number);
  if (!finding)
    return;
  std::string name = describe(entry.getArgument(number), tensor);
  bool isAll = unwritten.count == tensor.numElements();
  finding->message = "nobody writes " + describeBox(unwritten) + " of " + name +
                     (isPromised ? ", which is out" : "") + ": " +
                     (isAll ? "none of its " + std::to_string(unwritten.count) + " elements is"
                            : std::to_string(unwritten.count) + " of " +
                                  std::to_string(tensor.numElements()) + " elements are not") +
                     " written";
  if (writer)
    finding->notes.push_back(
        {isAll ? "this is given the tensor to write it" : "this is the last that writes the tensor",
         sourceLocOf(writer->getLoc())});
  finding->notes.push_back(
      {isPromised ? "write every element; or declare it inout if what it held before shall stay"
                  : "declare it out if every element is to be written, or inout if what it held "
                    "before shall stay",
       sourceLocOf(entry.getLoc())});
}

void Checker::tellWrongResult(ir::FuncOp entry, unsigned number, const Tensor &tensor,
                              const WrongElement &wrong) {
  std::vector<int64_t> one(wrong.at.size(), 1);
  Expected<Tensor> element = tensor.slice(wrong.at, one);
  std::optional<ShadowMemory::Record> last =
      element ? Shadow.lastWriteTo(*element) : std::optional<ShadowMemory::Record>();
  Finding *finding = Found.add(FindingKind::WrongResult, last ? last->op : entry, entry, number);
  if (!finding)
    return;
  finding->message = wrong.message;
  if (!last)
    return;
  setPlace(*finding, Happens.agent(last->moment.agent));
  finding->notes.push_back({"this is what wrote the element last; follow back from there what it "
                            "was made of",
                            {}});
}

void Checker::outputIsDone(ir::FuncOp entry, unsigned number, const Tensor &tensor) {
  if (Found.findWrong)
    if (std::optional<WrongElement> wrong = (*Found.findWrong)(number))
      tellWrongResult(entry, number, tensor, *wrong);
  if (std::optional<ShadowMemory::Unwritten> unwritten = Shadow.findUnwritten(tensor))
    tellUnwrittenOutput(entry, number, tensor, *unwritten);
  judgePaddingIn(entry, number, tensor);
  if (!isFloat(tensor.dtype()) || Found.hasNanInOutput)
    return;
  Shadow.forEachWritten(tensor, [&](ArrayRef<int64_t>, const std::byte *element) {
    Found.hasNanInOutput |= std::isnan(loadElement(tensor.dtype(), element));
  });
}

} // namespace kiln::simulator
