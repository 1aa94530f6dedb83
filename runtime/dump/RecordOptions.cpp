#include "kiln/runtime/record.h"

#include "abi/Environment.h"

using namespace kiln;

Expected<RecordOptions> RecordOptions::fromEnvironment() {
  RecordOptions options;
  Expected<int> level = dumpLevelFromEnvironment(0);
  if (!level)
    return level.status();
  Expected<bool> timeline = flagFromEnvironment("KILN_TIMELINE", false);
  if (!timeline)
    return timeline.status();
  options.dumpLevel = *level;
  options.timeline = *timeline;
  if (std::string out = textFromEnvironment("KILN_OUT"); !out.empty())
    options.out = out;
  return options;
}
