//===- TuneStore.h - what tuning found, kept for later runs -------------------------------===//
//
// One file for each key in the folder `tuned` of the cache. A key is what the best values depend
// on: the program with the values that the user chose, the platform and the exact machine, and the
// types and sizes of the arguments, sizes by powers of two.
//
// Invariants: a file appears whole or not at all. It only names values of parameters; whoever uses
// them records the program with them, which refuses what does not fit. So a file that somebody
// changed can make a program slower, never wrong.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_TUNESTORE_H
#define KILN_LIB_DRIVER_TUNE_TUNESTORE_H

#include "Driver.h"

#include "abi/Json.h"

namespace kiln {

using ConfigValues = std::map<std::string, std::string>;

/// The key as lines of text. None where nothing can be tuned: the platform measures nothing, or the
/// sizes of arguments are not known. `source` is recorded with the values that the user chose.
std::optional<std::string> tuneKey(const Source &source, const RunSettings &options);

/// What tuning found for a program, arguments and machine like these; none if there is nothing.
Expected<std::optional<ConfigValues>> tunedValues(const Source &source, const RunSettings &options);

class TuneStore {
public:
  /// Beside the cache of code; without that there is none.
  static Expected<TuneStore> fromEnvironment();

  bool isEnabled() const { return !Folder.empty(); }
  /// Whether anything was ever kept: asking that is quick.
  bool isEmpty() const;
  std::optional<ConfigValues> find(const std::string &key) const;
  /// `about` is for people: what was tried, and how long it took.
  Status put(const std::string &key, const ConfigValues &values, const Json &about) const;
  std::string pathOf(const std::string &key) const;

private:
  std::string Folder; ///< Empty: no store.
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_TUNESTORE_H
