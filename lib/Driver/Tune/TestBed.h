//===- TestBed.h - what all candidates are called with, what must come out, and the clock ---===//
//
// All are called with the same arguments in the same memory. Whoever computes something else than
// the formula says, or the usual choice computes, is refused before anybody takes its time.
//
// Threads: the one that tunes. `forCalls` may be read by those that compile.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_TESTBED_H
#define KILN_LIB_DRIVER_TUNE_TESTBED_H

#include "Driver.h"
#include "Tune/Budget.h"

#include "kiln/Jit/Jit.h"
#include "kiln/Platform/PlacedArguments.h"

namespace kiln {

class TestBed {
public:
  /// With the arguments that the command line, or else the example, says. `entry` outlives it.
  static Expected<std::unique_ptr<TestBed>> make(const Source &source, ir::FuncOp entry,
                                                 const RunSettings &options, Budget &budget);

  const std::vector<CallArg> &forCalls() const { return Call; }
  /// Whether what is measured leaves the cores of this machine alone.
  bool runsElsewhere() const { return RunsElsewhere; }

  /// Calls it once, with the arguments as they were at first, and looks at all that it wrote: what
  /// is wrong, or nothing. What the first that is right writes is what others are held against.
  std::string check(const Compiled &compiled);

  /// The time of a call, in seconds: of those that fit into so short a stretch of time, or of one.
  Expected<double> stretch(const Compiled &compiled) const;
  /// The fastest of the stretches of a visit, which are so short that some lie between two
  /// disturbances; where calls run elsewhere there is one long stretch.
  Expected<double> visit(const Compiled &compiled) const;

private:
  TestBed(ir::FuncOp entry, const RunSettings &options, Budget &budget);
  std::string findDifference(std::span<const Argument> args);

  ir::FuncOp Entry;
  Budget &Time;
  bool RunsElsewhere;
  std::vector<Argument> Results; ///< What the usual choice makes.
  std::optional<FormulaResult> Formula;
  std::unique_ptr<PlacedArguments> Args;
  std::vector<CallArg> Call;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_TESTBED_H
