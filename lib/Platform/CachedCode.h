//===- CachedCode.h - the code of runs, kept between them -----------------------------------===//
//
// `kiln run` compiles a program once: what it is compiled to goes into the same cache as the JIT's
// artifacts, and later runs of the same program load it into their process. The same on every
// platform that compiles.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_PLATFORM_CACHEDCODE_H
#define KILN_LIB_PLATFORM_CACHEDCODE_H

#include "kiln/Platform/Platform.h"

namespace kiln {

/// How a platform makes code for a run, and brings it into the process.
struct CodeMaker {
  std::string platform; ///< Its name.
  std::string arch;     ///< Exactly what the code is for.
  std::function<Expected<Artifact>(const std::string &entry)> compile;
  std::function<Expected<std::shared_ptr<const LoadedProgram>>(const NativeInfo &,
                                                               std::string_view object)>
      load;
};

/// Runs what `maker` makes of the program, or what an earlier run has left in the cache.
Status runCompiled(const RunRequest &request, const CodeMaker &maker, RunReport &report);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_CACHEDCODE_H
