//===- EntryFuzzer.cpp - fuzzes the reader of cache entries --------------------------===//
//
// The input is a whole entry, and also, because no mutation gets past a checksum, the description
// inside one.
//
//===----------------------------------------------------------------------------===//
#include "EntryFile.h"
#include "Target.h"

using namespace kiln;
using fuzz::report;

/// What is accepted is consistent, and survives being written and read again.
static void checkDescription(std::string_view text) {
  Expected<NativeInfo> info = parseNativeInfo(text);
  if (!info) {
    if (info.status().message().empty())
      report("a description was refused without a message", text);
    return;
  }
  if (!info->verify().isOk())
    report("a description was accepted that is not consistent", text);
  std::string again = toJson(*info);
  Expected<NativeInfo> back = parseNativeInfo(again);
  if (!back || toJson(*back) != again)
    report("a description does not survive being written", text);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  checkDescription(bytes);
  Expected<EntryParts> parts = parseEntry(bytes);
  if (!parts) {
    if (parts.status().message().empty())
      report("an entry was refused without a message", bytes);
    return 0;
  }
  // Whole, so it is what would be written for these parts.
  Artifact artifact{parts->info, std::string(parts->object)};
  checkDescription(toJson(parts->info));
  if (!bytes.starts_with(artifact.object))
    report("the object of an entry is not at its beginning", bytes);
  return 0;
}
