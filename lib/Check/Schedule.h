//===- Schedule.h - the last steps of a simulation ----------------------------------------===//
//
// Keeps what the instances of a simulation did last, so that a finding can show how it came about.
// A step is kept as it is and put into words only if a finding asks for it.
//
// Ownership: belongs to one simulation and borrows its operations. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_SCHEDULE_H
#define KILN_LIB_CHECK_SCHEDULE_H

#include "Simulator/Access.h"

#include "kiln/Check/CheckProgram.h"

#include <deque>

namespace kiln::simulator {

class Schedule {
public:
  using Kind = FindingStep::Kind;

  void add(const Agent &agent, Kind kind, mlir::Operation *op, std::string what = "");
  void addAccess(const Access &access, const Footprint &at, AccessKind kind);
  void addPipe(const Agent &agent, mlir::Operation *op, const std::string &pipe, uint64_t used,
               int64_t slots);

  /// The steps that are still known, the last one last. If the last one that `other` did at
  /// `otherOp` is not among them, it comes first.
  std::vector<FindingStep> steps(const Agent *other = nullptr,
                                 mlir::Operation *otherOp = nullptr) const;

private:
  struct Step {
    uint32_t agent;
    Kind kind;
    mlir::Operation *op;
    FindingStep words; ///< Without location.
  };
  static constexpr size_t most = 400;
  std::deque<Step> Steps;
};

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_SCHEDULE_H
