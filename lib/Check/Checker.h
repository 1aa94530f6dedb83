//===- Checker.h - the checks of one simulation -----------------------------------------===//
//
// Watches a simulation: GlobalMemory tells it of every access, the interpreter of every tile that
// was computed and of every use of a popped tile, the engine of every task that starts. It decides
// what is wrong and puts that into words; the simulation itself goes on. A simulation without
// checks has none, and asks no more than whether there is one.
//
// Ownership: belongs to one simulation; borrows the findings. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_CHECKER_H
#define KILN_LIB_CHECK_CHECKER_H

#include "Findings.h"
#include "ParallelLoop.h"
#include "ShadowMemory.h"
#include "Simulator/GlobalMemory.h"
#include "Simulator/Order.h"
#include "TaskBoxes.h"

#include "kiln/Machine/Machine.h"

namespace kiln::simulator {

class Interpreter;
struct Harm;

class Checker {
public:
  explicit Checker(Findings &findings) : Found(findings), Shadow(Happens) {}

  ShadowMemory &memory() { return Shadow; }
  bool isUndeclared(unsigned parameter) const { return Found.isUndeclared(parameter); }

  //===-- Tasks and blocks ------------------------------------------------------------===//
  /// The next task is about to be submitted: by which operation, if it is not the entry itself, and
  /// with what its predicate reads, if it has one.
  void taskIsSubmitted(mlir::Operation *op, std::optional<Access> predicate = std::nullopt);
  /// Before its predicate is read and its blocks run.
  void taskStarts(uint64_t task, const Trace &trace);
  /// What the kernel promises of the blocks that come next.
  void argumentsAre(TaskBoxes boxes) { Boxes = std::move(boxes); }
  /// kiln.get: waits for whoever may write the element, then reads it.
  void orchestrationReads(const Access &access, const Trace &trace);
  /// A launch starts all its blocks at once, on a machine that has so many core groups.
  void blocksStartAtOnce(mlir::Operation *submit, llvm::ArrayRef<int64_t> grid,
                         const Machine &machine);
  void blockStarts(std::array<int64_t, 3> block) { Happens.beginBlock(CurrentTask, block); }
  Agent &addAgent(std::string name) { return Happens.addAgent(std::move(name)); }

  //===-- What happens ----------------------------------------------------------------===//
  void memoryIsAllocated(const Tensor &tensor);
  /// A loop that promises independent iterations; without an agent: of the orchestration.
  void parallelLoopStarts(const Agent *agent, mlir::scf::ForOp loop);
  void parallelIterationEnds(const Agent *agent, bool isLast);
  /// Without an agent nothing is checked: the body of a group accesses no memory.
  void memoryIsAccessed(const Access &access, const Footprint &at, AccessKind kind);
  /// The result of an operation on tiles; gets the origins of its elements.
  void tileIsComputed(Interpreter &in, mlir::Operation *op, Tile &result);
  /// The result of an operation on scalars is NaN.
  void scalarIsNan(Interpreter &in, mlir::Operation *op) { tellNan(in, op, {0, 0}); }
  /// A tile was used that `pop` took from a slot which `free` has released since.
  void freedSlotIsUsed(const Agent &agent, mlir::Operation *op, tile::PopOp pop,
                       mlir::Operation *free, const std::string &pipe);

  //===-- What must hold in the end ---------------------------------------------------===//
  /// The run has ended well: what it left of a tensor of the entry for results.
  void outputIsDone(ir::FuncOp entry, unsigned number, const Tensor &tensor);

private:
  /// An iteration of a parallel loop that is running.
  struct Iteration {
    std::shared_ptr<ParallelLoop> loop;
    uint64_t number = 0;
  };
  using Iterations = llvm::SmallVector<Iteration, 0>; ///< Of nested loops, the outermost first.

  /// Holds an access against the parallel loops it happens in.
  void checkIterations(const Access &access, const Footprint &at, AccessKind kind,
                       const Iterations &iterations);
  void tellUnwrittenOutput(ir::FuncOp entry, unsigned number, const Tensor &tensor,
                           const ShadowMemory::Unwritten &unwritten);
  /// The launch or operation that writes a parameter of the entry, for a report.
  mlir::Operation *writerOf(ir::FuncOp entry, unsigned number, const Tensor &tensor);
  void tellRace(const Access &element, AccessKind kind, const ShadowMemory::Record &other);
  void tellUnwritten(const Access &element);
  void tellUndeclaredSum(const Access &element);
  void tellBrokenBox(const Access &access, const std::string &promise);
  void tellPaddedReduction(Interpreter &in, mlir::Operation *op, const Harm &harm);
  /// Unless an operand has NaN already.
  void tellNan(Interpreter &in, mlir::Operation *op, std::array<int64_t, 2> element);

  Findings &Found;
  Order Happens;
  ShadowMemory Shadow;
  uint64_t CurrentTask = 0;
  TaskBoxes Boxes;
  std::vector<mlir::Operation *> Submits; ///< By task.
  /// What the predicate of a task that has not started reads. Unlike an Access it keeps the tensor.
  struct Predicate {
    mlir::Operation *op;
    mlir::Value name;
    Tensor tensor;
    std::vector<int64_t> indices;
  };
  std::map<uint64_t, Predicate> Predicates;
  std::vector<std::weak_ptr<ParallelLoop>> Loops; ///< Of which somebody may still run an iteration.
  Iterations OfOrchestration;
  std::vector<Iterations> OfTasks; ///< In which each task was submitted.
  llvm::DenseMap<uint32_t, Iterations> OfAgents;
};

//===-- Words that the parts of the checker share -------------------------------------===//

/// Where a row and column of a footprint lie in the tensor.
std::vector<int64_t> indicesOf(const Access &access, const Footprint &at, int64_t row, int64_t col);
void setPlace(Finding &finding, const Agent &agent);
/// "reads", "writes", "adds to"
const char *verb(AccessKind kind);
/// "element [0, 5] of 'x' (f32[4, 8])"
std::string describeElement(const Access &access);

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_CHECKER_H
