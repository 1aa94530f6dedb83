//===- EmittedLines.h - which line of the source a line of emitted code comes from --------===//
//
// Read from the text itself, by what it says for people and debuggers: debug information of LLVM
// IR, `{"file.cpp", 3, 9}` of an orchestration, and comments `// file.cpp:3` of CUDA C++ and of
// Ascend kernels, which hold until the next one or the end of the function.
//
// Pure functions; any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_EMITTEDLINES_H
#define KILN_LIB_DRIVER_EMITTEDLINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln {

struct EmittedLine {
  size_t file; ///< Its number among the files that were given.
  int line;
  friend bool operator==(const EmittedLine &, const EmittedLine &) = default;
};

/// For each line of `text` the place that it comes from, as far as it is known and in one of
/// `files`, which are paths.
std::vector<std::optional<EmittedLine>> placesOfEmitted(llvm::StringRef text,
                                                        llvm::ArrayRef<std::string> files);

} // namespace kiln

#endif // KILN_LIB_DRIVER_EMITTEDLINES_H
