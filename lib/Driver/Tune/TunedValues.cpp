// What tuning found, for the arguments that a command line names.
#include "Tune/Tune.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {

/// Extents of an argument as `--arg` says them; empty if it does not.
static std::vector<int64_t> extentsIn(StringRef spec) {
  std::vector<int64_t> extents;
  SmallVector<StringRef> parts;
  spec.split(':').first.split(parts, 'x');
  for (StringRef part : parts)
    if (part.getAsInteger(10, extents.emplace_back()))
      return {};
  return extents;
}

TuneSubject tuneSubjectOf(const Source &source, const RunSettings &options) {
  TuneSubject subject{source.module, options.platform, options.entry, options.cpu};
  if (Expected<ir::FuncOp> entry = findEntry(source.module, options.entry)) {
    ArgSpecs specs = specsOf(source, options);
    for (const std::string &name : parameterNames(*entry))
      subject.extents.push_back(extentsIn(specs[name]));
  }
  return subject;
}

Expected<std::optional<ConfigValues>> tunedValues(const Source &source,
                                                  const RunSettings &options) {
  Expected<TuneStore> store = TuneStore::fromEnvironment();
  if (!store)
    return std::optional<ConfigValues>(); // whoever needs the cache says what is wrong with it
  bool hasParameters = source.config && !source.config->declared.empty();
  Expected<std::optional<ConfigValues>> found =
      store->valuesFor(hasParameters ? tuneSubjectOf(source, options) : TuneSubject());
  // What the user says wins, and nobody has measured the other values beside it.
  if (found && *found && contradict(source.config->values, **found))
    found->reset();
  return found;
}

} // namespace kiln
