//===- BundleFuzzer.cpp - fuzzes the reader of bundles -------------------------------===//
//
// The input is bundle.json, as it is and with its checksum put right, in a folder with a file.
//
//===----------------------------------------------------------------------------===//
#include "Target.h"
#include "bundle/ManifestText.h"
#include "kiln/runtime/bundle.h"

using namespace kiln;
using fuzz::report;

static const fuzz::Folder &folder() {
  static const fuzz::Folder made;
  static bool isFilled = (made.write("program.mlir", "module {}\n"), true);
  (void)isFilled;
  return made;
}

static void open(std::string_view manifest) {
  folder().write("bundle.json", manifest);
  Expected<Bundle> bundle = Bundle::open(folder().path());
  if (!bundle && bundle.status().message().find(folder().path()) == std::string::npos)
    report("a bundle was refused without naming a file", manifest);
  if (bundle && bundle->manifest().native && !bundle->manifest().native->verify().isOk())
    report("a bundle was accepted whose description is not consistent", manifest);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  open(text);
  using Json = nlohmann::ordered_json;
  auto isShallow = [](int depth, Json::parse_event_t, Json &) { return depth < 32; };
  Json json = Json::parse(text, isShallow, /*allow_exceptions=*/false);
  if (json.is_object())
    open(manifestText(json));
  return 0;
}
