#include "kiln/Jit/Jit.h"

#include "CallPath.h"
#include "CallRecorder.h"
#include "abi/Environment.h"

#include "kiln/runtime/workers.h"

#include <cstdio>

namespace kiln {

JitOptions::JitOptions() {
  Expected<DiskCacheOptions> disk = DiskCacheOptions::fromEnvironment();
  Expected<bool> isChecked = flagFromEnvironment("KILN_CHECK", false);
  Expected<RecordOptions> recorded = RecordOptions::fromEnvironment();
  if (disk)
    cache = std::move(*disk);
  if (isChecked)
    check = *isChecked;
  if (recorded)
    record = std::move(*recorded);
  environment = !disk ? disk.status() : !isChecked ? isChecked.status() : recorded.status();
}

void JitOptions::logToStderr(const std::string &line) {
  std::fprintf(stderr, "kiln: %s\n", line.c_str());
}

Jit::Jit(JitOptions options)
    : Cache(std::make_shared<ArtifactCache>(std::move(options.cache), std::move(options.log))),
      Recorder(options.record.isOn()
                   ? std::make_shared<CallRecorder>(
                         std::move(options.record),
                         [cache = Cache](const std::string &line) { cache->log(line); })
                   : nullptr),
      Check(options.check), Environment(std::move(options.environment)) {
  if (options.workers != 0)
    if (Status bad = setWorkerLimit(options.workers); !bad.isOk() && Environment.isOk())
      Environment = std::move(bad);
}

Compiled Jit::compile(std::shared_ptr<const JitSource> source) {
  return Compiled(
      std::make_shared<Compiled::Impl>(std::move(source), Cache, Recorder, Check, Environment));
}

JitCounters Jit::counters() const { return Cache->counters(); }
const DiskCache &Jit::diskCache() const { return Cache->disk(); }

} // namespace kiln
