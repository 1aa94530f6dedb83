//===- PipeTrial.h - runs of a group with chosen values --------------------------------===//
//
// A trial gives every open value a number and executes the group. One that fails is a
// counterexample, with the numbers to show; a group without open values is decided by one trial.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_ANALYSIS_PIPETRIAL_H
#define KILN_LIB_ANALYSIS_PIPETRIAL_H

#include "PipeExecution.h"

namespace kiln::pipes {

/// A number for every open value of a group.
using Sample = Env;

/// The values that a group's trip counts and conditions are made of.
struct OpenValues {
  std::vector<Atom> integers;
  bool readsMemory = false; ///< Some are found in memory, where anything may be.
  bool isComputable = true; ///< All others can be computed from those.
};
OpenValues openValues(const GroupModel &model);

/// Numbers at which groups tend to go wrong: few iterations, the edges of a tile, and those at
/// which the conditions of the program change. Smallest first; all are admitted.
std::vector<Sample> samplesOf(GroupModel &model, const OpenValues &open);

/// Whether the types of the parameters and what the program requires of them allow a sample.
bool isAdmitted(GroupModel &model, const Sample &sample);

struct Trial {
  Execution run; ///< As it ended.
  std::vector<Stop> stops;

  bool isExhausted() const { return llvm::is_contained(stops, Stop::Exhausted); }
  bool isGood() const {
    return llvm::all_equal(stops) && stops.front() == Stop::Done && run.isBalanced();
  }
  /// Whether it ended where what memory holds decides how it goes on.
  bool isOpen() const {
    return llvm::any_of(stops,
                        [](Stop stop) { return stop == Stop::AtBranch || stop == Stop::AtLoop; }) &&
           !llvm::is_contained(stops, Stop::BadFree);
  }
};

/// The steps that trials may still make together. A trial makes no more than a part of them, so
/// that one that is long does not keep others from being tried.
struct TrialBudget {
  int64_t left;
  static constexpr int64_t perTrial = 1'500'000;
};

Trial tryOut(GroupModel &model, const std::vector<int64_t> &slots, const Sample &sample,
             TrialBudget &budget);
/// Runs everything without waiting, to see what there is.
Trial countOnly(GroupModel &model, const Sample &sample, TrialBudget &budget);

/// The numbers of a sample, such as "n = 3"; empty if nothing is open.
std::string describe(const GroupModel &model, const Sample &sample);

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPETRIAL_H
