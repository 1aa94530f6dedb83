//===- Checker.h - the checks of one simulation -----------------------------------------===//
//
// Watches a simulation, decides what is wrong and puts that into words; the simulation itself goes
// on.
//
// Ownership: belongs to one simulation; borrows the findings. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_CHECKER_H
#define KILN_LIB_CHECK_CHECKER_H

#include "Findings.h"
#include "PaddedMemory.h"
#include "ParallelLoop.h"
#include "Schedule.h"
#include "ShadowMemory.h"
#include "Simulator/Watcher.h"
#include "TaskBoxes.h"

namespace kiln::simulator {

struct Harm;

class Checker final : public Watcher {
public:
  /// `schedule`, if given, gets what happens.
  explicit Checker(Findings &findings, Schedule *schedule = nullptr)
      : Found(findings), Steps(schedule), Shadow(Happens) {}

  //===-- Tasks and blocks ------------------------------------------------------------===//
  void argumentIsGiven(ir::FuncOp entry, unsigned number, const Tensor &tensor) override;
  void taskIsSubmitted(mlir::Operation *op, std::optional<Access> predicate) override;
  void taskStarts(uint64_t task, const Trace &trace) override;
  void argumentsAre(const Signature &signature, const kiln_args &args) override {
    Boxes = {signature, args};
  }
  void collectiveRuns(const Collective &collective, int32_t rank) override;
  void orchestrationReads(const Access &access, const Trace &trace) override;
  void blocksStartAtOnce(mlir::Operation *submit, llvm::ArrayRef<int64_t> grid,
                         const Machine &machine) override;
  void blockStarts(std::array<int64_t, 3> block) override {
    Happens.beginBlock(CurrentTask, block);
  }
  Agent &addAgent(std::string name) override;

  //===-- What happens ----------------------------------------------------------------===//
  void sideIsTaken(mlir::Operation *op, Side side) override {
    if (Found.sides)
      (*Found.sides)[op] |= static_cast<uint8_t>(side);
  }
  void memoryIsAllocated(const Tensor &tensor) override;
  void parallelLoopStarts(const Agent *agent, mlir::scf::ForOp loop) override;
  void parallelIterationEnds(const Agent *agent, bool isLast) override;
  void memoryIsAccessed(const Access &access, const Footprint &at, AccessKind kind) override;
  void tileIsLoaded(const Footprint &at, Tile &tile) override { Padded.mark(at, tile); }
  void tileIsStored(const Access &access, const Footprint &at, AccessKind kind,
                    const Tile &tile) override;
  void elementIsTaken(Interpreter &in, mlir::Operation *op, const Tile &tile,
                      llvm::ArrayRef<int64_t> place) override;
  void tileIsComputed(Interpreter &in, mlir::Operation *op, Tile &result) override;
  void linesAreCombined(Interpreter &in, tile::CombiningInterface op) override;
  void scalarIsNan(Interpreter &in, mlir::Operation *op) override { tellNan(in, op, {0, 0}); }
  void freedSlotIsUsed(const Agent &agent, mlir::Operation *op, tile::PopOp pop,
                       mlir::Operation *free, const std::string &pipe) override;
  void pipeIsUsed(const Agent &agent, mlir::Operation *op, const std::string &pipe, uint64_t used,
                  int64_t slots) override {
    if (Steps)
      Steps->addPipe(agent, op, pipe, used, slots);
  }
  void unitsAreOutOfOrder(const Agent &agent, mlir::Operation *op, const std::string &what,
                          mlir::Operation *other) override;
  void agentIsBlocked(const Agent &agent, mlir::Operation *op, const std::string &why) override {
    if (Steps)
      Steps->add(agent, Schedule::Kind::Blocked, op, why);
  }

  //===-- What must hold in the end ---------------------------------------------------===//
  void outputIsDone(ir::FuncOp entry, unsigned number, const Tensor &tensor) override;

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
  /// What wrote an element of an output wrote something else than it should.
  void tellWrongResult(ir::FuncOp entry, unsigned number, const Tensor &tensor,
                       const WrongElement &wrong);
  /// Padding that an output holds: as it was filled up, or what somebody made of it.
  void judgePaddingIn(ir::FuncOp entry, unsigned number, const Tensor &tensor);
  void tellMissingData(Origin origin, unsigned number, const std::string &element,
                       const std::string &value);
  void tellStoredPadding(Origin origin, unsigned number, const std::string &element,
                         const std::string &value);
  /// The launch or operation that writes a parameter of the entry, for a report.
  mlir::Operation *writerOf(ir::FuncOp entry, unsigned number, const Tensor &tensor);
  void tellRace(const Access &element, AccessKind kind, const ShadowMemory::Record &other);
  void tellUnwritten(const Access &element);
  void tellUndeclaredSum(const Access &element);
  void tellBrokenBox(const Access &access, const std::string &promise);
  void tellPadding(const Agent &agent, mlir::Operation *op, const Harm &harm, const Tile &tile);
  /// A scalar is taken out of a tile or of memory; where it is padding, nobody follows it.
  void scalarIsTaken(mlir::Operation *op, const Agent *agent, Origin origin,
                     const std::string &what);
  void tellNotAssociative(Interpreter &in, mlir::Operation *op, const std::string &example);
  /// Unless an operand has NaN already.
  void tellNan(Interpreter &in, mlir::Operation *op, std::array<int64_t, 2> element);

  Findings &Found;
  Schedule *Steps; ///< Null: nobody asked.
  Order Happens;
  ShadowMemory Shadow;
  PaddedMemory Padded;
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
