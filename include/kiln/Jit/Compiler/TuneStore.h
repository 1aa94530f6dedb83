//===- TuneStore.h - what tuning found, kept for later runs -------------------------------===//
//
// One file for each key in the folder `tuned` of the cache. A key is what the best values depend
// on: the program with the values that the user chose, the platform and the exact machine, and the
// types and sizes of the arguments, sizes by powers of two.
//
// Invariants: a file appears whole or not at all. Folder and file are this user's, and nobody else
// may write to them, by the rule of the cache; what is not so is not used. A file only names values
// of parameters; whoever uses them records the program with them, which refuses what does not fit.
// So a file that was damaged can make a program slower, never wrong.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_JIT_COMPILER_TUNESTORE_H
#define KILN_JIT_COMPILER_TUNESTORE_H

#include "abi/Json.h"
#include "kiln/Jit/Jit.h"
#include "kiln/Platform/Platform.h"

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

using ConfigValues = ParameterValues;

/// What the best values depend on.
struct TuneSubject {
  mlir::ModuleOp module = {}; ///< Recorded with the values that the user chose.
  const Platform *platform = nullptr;
  std::string entry = {}, cpu = {}; ///< Empty: the program's, this machine's.
  /// Of each parameter of the entry; empty where nothing is known of it.
  std::vector<std::vector<int64_t>> extents = {};
};

/// The key as lines of text. None where nothing can be tuned: the platform measures nothing, or the
/// sizes of arguments are not known.
std::optional<std::string> tuneKey(const TuneSubject &subject);

class TuneStore {
public:
  /// Beside a cache of code; without that there is none.
  explicit TuneStore(const DiskCacheOptions &cache);
  static Expected<TuneStore> fromEnvironment();

  bool isEnabled() const { return !Cache.empty(); }
  /// Whether anything was ever kept: asking that is quick.
  bool isEmpty() const;
  std::optional<ConfigValues> find(const std::string &key) const;
  /// The same of a subject, unless KILN_UNTUNED=1 says that nothing is to be used.
  Expected<std::optional<ConfigValues>> valuesFor(const TuneSubject &subject) const;
  /// `about` is for people: what was tried, and how long it took.
  Status put(const std::string &key, const ConfigValues &values, const Json &about) const;
  std::string pathOf(const std::string &key) const;

private:
  std::string Cache, Folder; ///< Empty: no store.
};

} // namespace kiln

#endif // KILN_JIT_COMPILER_TUNESTORE_H
