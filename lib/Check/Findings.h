//===- Findings.h - collects what the checks find --------------------------------------===//
//
// The same fault shows in many elements, blocks, iterations and seeds. It is told once, with the
// first seed that showed it, and counted after that. A value; one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_FINDINGS_H
#define KILN_LIB_CHECK_FINDINGS_H

#include "Schedule.h"

#include "kiln/Check/CheckProgram.h"

#include "llvm/ADT/BitVector.h"

#include <map>
#include <tuple>

namespace kiln::simulator {

class Findings {
public:
  /// Of the simulation that runs now.
  uint64_t seed = 0;
  /// Whether the birth of NaN is to be found.
  bool wantsNan = false;
  /// Whether an output of a run holds NaN that the program put there.
  bool hasNanInOutput = false;
  /// The parameters of the entry whose direction the program leaves open.
  llvm::BitVector undeclared;
  /// What the simulation that runs now has done; null: nobody asked.
  const Schedule *schedule = nullptr;
  /// Which sides of its decisions the program took; null if nobody asks.
  TakenSides *sides = nullptr;
  /// See CheckOptions; null if nobody asks of the simulation that runs now.
  const std::function<std::optional<WrongElement>(unsigned)> *findWrong = nullptr;

  /// A finding at `op`, to be filled in; null if it has been told already. `other` is the other
  /// side of a race; `number` tells apart what one operation may do wrong more than once.
  Finding *add(FindingKind kind, mlir::Operation *op, mlir::Operation *other = nullptr,
               unsigned number = 0);
  /// What stopped a simulation.
  void addFailure(const Status &failure);

  std::vector<Finding> take() { return std::move(List); }

  bool isUndeclared(unsigned parameter) const {
    return parameter < undeclared.size() && undeclared[parameter];
  }

private:
  std::vector<Finding> List;
  /// Where in the list a kind of finding at two operations is.
  std::map<std::tuple<FindingKind, mlir::Operation *, mlir::Operation *, unsigned>, size_t> Told;
};

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_FINDINGS_H
