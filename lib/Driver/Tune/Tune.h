//===- Tune.h - `kiln tune`: the values of a program's parameters that are fastest here ----===//
//
// A program says which values its parameters may have. Tuning records it with some of them, checks
// that the results are right, measures, and keeps the winner (TuneStore.h). See docs/tuning.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_TUNE_H
#define KILN_LIB_DRIVER_TUNE_TUNE_H

#include "Tune/TuneStore.h"
#include "WrittenProgram.h"

namespace kiln {

struct TuneSettings {
  double seconds = 30;           ///< After which nothing more is tried.
  bool isExhaustive = false;     ///< Try every choice, however long it takes.
  std::vector<std::string> vary; ///< Parameters besides those that are lists of integers.
};

int tuneCommand(const WrittenProgram &written, const ConfigValues &given,
                const RunSettings &options, const TuneSettings &settings);

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_TUNE_H
