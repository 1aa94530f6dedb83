//===- PipeReport.h - says what went wrong in a trial -----------------------------------===//
#ifndef KILN_LIB_ANALYSIS_PIPEREPORT_H
#define KILN_LIB_ANALYSIS_PIPEREPORT_H

#include "PipeTrial.h"

namespace kiln::pipes {

/// A trial that failed.
struct Counterexample {
  Sample sample;
  Trial trial;
};

/// Says whether the group runs well with other slots, whatever its parameters.
using WorksWithSlots = llvm::function_ref<bool(const std::vector<int64_t> &slots)>;

std::vector<PipeFinding> explain(GroupModel &model, const Counterexample &example,
                                 WorksWithSlots works);

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPEREPORT_H
