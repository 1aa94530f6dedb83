//===- Tune.h - `kiln tune`: the values of a program's parameters that are fastest here ----===//
//
// A program says which values its parameters may have. Tuning records it with some of them, checks
// that the results are right, measures, and keeps the winner (TuneStore.h). See docs/tuning.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_TUNE_H
#define KILN_LIB_DRIVER_TUNE_TUNE_H

#include "WrittenProgram.h"

#include "kiln/Jit/Compiler/TuneStore.h"

namespace kiln {

/// What tuning found for a program and arguments that the command line, or else the example, says;
/// none if there is nothing.
Expected<std::optional<ConfigValues>> tunedValues(const Source &source, const RunSettings &options);
/// What that depends on. `source` is recorded with the values that the user chose.
TuneSubject tuneSubjectOf(const Source &source, const RunSettings &options);

struct TuneSettings {
  double seconds = 30;           ///< After which nothing more is tried.
  bool isExhaustive = false;     ///< Try every choice, however long it takes.
  std::vector<std::string> vary; ///< Parameters besides those that are lists of integers.
};

int tuneCommand(const WrittenProgram &written, const ConfigValues &given,
                const RunSettings &options, const TuneSettings &settings);

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_TUNE_H
