//===- PlayOff.h - which of those that looked fast is the fastest -------------------------===//
//
// Successive halving in rounds. In a round each is measured once, so that what disturbs the machine
// disturbs all; whoever is behind goes, and those that are left are measured for longer. All that
// are compared with each other were visited equally often.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_PLAYOFF_H
#define KILN_LIB_DRIVER_TUNE_PLAYOFF_H

#include "Tune/Candidates.h"

#include <functional>

namespace kiln {

/// Who takes more than this share of another's time is not faster.
inline constexpr double kGain = 0.98;

struct PlayOff {
  /// Appends one more time to a candidate's, or refuses it.
  std::function<void(Candidate &)> visit;
  /// What is left of the time for all of it.
  std::function<double()> secondsLeft;
  unsigned rounds =
      8; ///< Before the first halving, if there is time; then twice as many, and so on.

  /// The winner among `left`: the fastest, or the usual choice if none is faster than it. That, the
  /// first of `stay`, and the others of `stay` are measured up to the end. Null if the usual choice
  /// was refused.
  Candidate *run(std::vector<Candidate *> left, const std::vector<Candidate *> &stay) const;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_PLAYOFF_H
