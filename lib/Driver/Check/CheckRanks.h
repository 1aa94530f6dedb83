//===- CheckRanks.h - what `kiln check` says of a program of several ranks ----------------===//
#ifndef KILN_LIB_DRIVER_CHECK_CHECKRANKS_H
#define KILN_LIB_DRIVER_CHECK_CHECKRANKS_H

#include "CheckVerdict.h"

namespace kiln {

/// Whether a number of ranks is given for a program that has ranks, so that what it does alone is
/// not asked. With very many ranks kernels do not run, and are looked at in a run of one.
bool runsOnRanksAlone(const Source &source, const RunSettings &options);

/// Proves that the ranks of a program do the same together, and simulates it with two, three and
/// four of them, or with as many as the options say. Nothing for a program without ranks.
Status checkRanksOf(const Source &source, const RunSettings &options,
                    const CompiledProgram &asWritten, const CompiledProgram &compiled,
                    CheckVerdict &verdict);

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_CHECKRANKS_H
