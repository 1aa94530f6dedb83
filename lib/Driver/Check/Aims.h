//===- Aims.h - tries what no case has reached ---------------------------------------------===//
//
// The cases of a plan are made of tiles and of a few numbers; which sides of its decisions a
// program takes with them shows when they run. For what was not taken this class looks for
// arguments that the program allows, and in the end says what is still not taken.
//
// Ownership: borrows the plan's arguments and the decisions. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_CHECK_AIMS_H
#define KILN_LIB_DRIVER_CHECK_AIMS_H

#include "CheckPlan.h"

namespace kiln {

class Aims {
public:
  Aims(const Decisions &decisions, const PlanArguments &arguments)
      : Made(decisions), Arguments(arguments) {}

  /// Cases at the limits of tensors and integers whose size is fixed.
  std::vector<CheckCase> limits();
  /// Cases for sides that were not taken; each is made once.
  std::vector<CheckCase> next(const TakenSides &taken);
  /// Cases in which two decisions are taken each way at once, and each way meets extents that are
  /// no multiples of tiles: what each shows alone is known by then.
  std::vector<CheckCase> together();
  /// What was not taken in the end.
  std::vector<Gap> untaken(const TakenSides &taken) const;

private:
  std::vector<Choice> search(const Decisions::Decision &decision, unsigned side) const;
  /// The nearest numbers that the program allows and that take the side.
  std::optional<Choice> adjust(const Decisions::Decision &decision, unsigned side,
                               const Choice &choice) const;
  /// Any numbers that do.
  std::optional<Choice> scan(const Decisions::Decision &decision, unsigned side) const;
  bool isGood(const Decisions::Decision &decision, unsigned side, const Choice &choice) const;
  void add(const Choice &choice, std::vector<CheckCase> &cases);
  /// A side of a decision, and arguments that take it.
  struct Way {
    const Decisions::Decision &decision;
    unsigned side;
    Choice choice;
  };
  std::vector<Way> findWays() const;
  /// Adds what takes a way and has something else besides.
  void addBoth(const Way &way, const Choice &other, std::vector<CheckCase> &cases);

  const Decisions &Made;
  const PlanArguments &Arguments;
  std::set<Choice> Tried;
  mutable uint64_t Tries = 0; ///< To find arguments that are allowed and take a side.
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_AIMS_H
