//===- CheckRanks.h - what `kiln check` says of a program of several ranks ----------------===//
#ifndef KILN_LIB_DRIVER_CHECK_CHECKRANKS_H
#define KILN_LIB_DRIVER_CHECK_CHECKRANKS_H

#include "CheckPlan.h"

namespace kiln {

/// Whether a number of ranks is given for a program that has ranks, so that what it does alone is
/// not asked. With very many ranks kernels do not run, and are looked at in a run of one.
bool runsOnRanksAlone(const Source &source, const RunSettings &options);

/// Proves that the ranks of a program do the same together, and simulates it with two to
/// five of them, or with as many as the options say; where no arguments are given, with those of
/// the plan's first case. Nothing for a program without ranks.
Status checkRanksOf(const Source &source, const RunSettings &options, const CheckPlan &plan,
                    const CompiledProgram &asWritten, const CompiledProgram &compiled,
                    CheckVerdict &verdict);

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_CHECKRANKS_H
