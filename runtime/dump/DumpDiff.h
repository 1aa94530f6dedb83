//===- DumpDiff.h - where two runs part ----------------------------------===//
//
// What: the first task whose outputs differ between two dumps of one program. Tasks are matched by
//   their index, which submission gives and no schedule or platform changes; values are compared by
//   the rules of compare.h. Pure, but for reading the payloads. Internal to the dump.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DUMP_DUMPDIFF_H
#define KILN_RUNTIME_DUMP_DUMPDIFF_H

#include "kiln/runtime/dump.h"

#include <functional>
#include <optional>

namespace kiln {

struct DumpDifference {
  uint64_t task = 0;
  std::string kernel;
  std::string argument;      // empty when the tasks themselves differ
  std::string element;       // empty when not a value differs but the type, the shape, the task
  std::string first, second; // what each dump has
  /// The inputs of the task that differ already; if there are none its kernel is to blame.
  std::vector<std::string> inputs;
};

struct DumpComparison {
  std::optional<DumpDifference> difference; // none: equal
  uint64_t tasks = 0;                       // with outputs that were compared
  uint64_t compared = 0;                    // output tensors
  uint64_t withoutPayload = 0;              // output tensors with metadata only, in one or both
  uint64_t onlyInOne = 0; // tasks and outputs that a dump at level 1 does not list, so not known
};

/// Looks at the entries that `isSelected`.
Expected<DumpComparison> compareDumps(const DumpFile &first, const DumpFile &second,
                                      const std::function<bool(const DumpEntry &)> &isSelected);

} // namespace kiln

#endif // KILN_RUNTIME_DUMP_DUMPDIFF_H
