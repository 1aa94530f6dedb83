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
#include "GlobalMemory.h"
#include "Order.h"
#include "ShadowMemory.h"
#include "TaskBoxes.h"

namespace kiln::sim {

class Interpreter;
struct Harm;

class Checker {
public:
  explicit Checker(Findings &findings) : Found(findings), Shadow(Happens) {}

  ShadowMemory &memory() { return Shadow; }

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
  void blockStarts(std::array<int64_t, 3> block) { Happens.beginBlock(CurrentTask, block); }
  Agent &addAgent(std::string name) { return Happens.addAgent(std::move(name)); }

  //===-- What happens ----------------------------------------------------------------===//
  /// Without an agent nothing is checked: the body of a group accesses no memory.
  void memoryIsAccessed(const Access &access, const Footprint &at, AccessKind kind);
  /// The result of an operation on tiles; gets the origins of its elements.
  void tileIsComputed(Interpreter &in, mlir::Operation *op, Tile &result);
  /// The result of an operation on scalars is NaN.
  void scalarIsNan(Interpreter &in, mlir::Operation *op) { tellNan(in, op, {0, 0}); }
  /// A tile was used that `pop` took from a slot which `free` has released since.
  void freedSlotIsUsed(const Agent &agent, mlir::Operation *op, tile::PopOp pop,
                       mlir::Operation *free, const std::string &pipe);

private:
  void tellRace(const Access &element, AccessKind kind, const ShadowMemory::Record &other);
  void tellUnwritten(const Access &element);
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
};

} // namespace kiln::sim

#endif // KILN_LIB_CHECK_CHECKER_H
