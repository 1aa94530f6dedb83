//===- kiln/runtime/record.h - what a run writes down about itself -------===//
//
// What: `RecordOptions`, whether runs leave a dump and a timeline, and where. `kiln run`,
//   `kiln exec` and the JIT ask for them in the same way, by option or by variable.
//
// Environment: KILN_DUMP, a level from 0 to 3; KILN_TIMELINE, 0 or 1; KILN_OUT, a folder. An option
//   wins over its variable; a value that means nothing is an error that names the variable.
//
// Ownership and threads: values.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_RECORD_H
#define KILN_RUNTIME_RECORD_H

#include "kiln/runtime/dump.h"

namespace kiln {

struct RecordOptions {
  int dumpLevel = 0; ///< As in DumpOptions.
  bool timeline = false;
  std::string out = "kiln-out"; ///< The folder for both.

  bool isOn() const { return dumpLevel > 0 || timeline; }
  static Expected<RecordOptions> fromEnvironment();
};

} // namespace kiln

#endif // KILN_RUNTIME_RECORD_H
