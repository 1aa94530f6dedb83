#include "kiln/Jit/Jit.h"

#include "CallPath.h"

#include <cstdio>
#include <cstdlib>

namespace kiln {

bool JitOptions::checkFromEnvironment() {
  const char *value = std::getenv("KILN_CHECK");
  return value && std::string_view(value) == "1";
}

void JitOptions::logToStderr(const std::string &line) {
  std::fprintf(stderr, "kiln: %s\n", line.c_str());
}

Jit::Jit(JitOptions options)
    : Cache(std::make_shared<ArtifactCache>(std::move(options.cache), std::move(options.log))),
      Check(options.check) {}

Compiled Jit::compile(std::shared_ptr<const JitSource> source) {
  return Compiled(std::make_shared<Compiled::Impl>(std::move(source), Cache, Check));
}

JitCounters Jit::counters() const { return Cache->counters(); }
const DiskCache &Jit::diskCache() const { return Cache->disk(); }

} // namespace kiln
