//===- NpyFuzzer.cpp - fuzzes the reader of .npy files -------------------------------===//
//
// The input is a whole file, and also a header that is given its magic and its length.
//
//===----------------------------------------------------------------------------===//
#include "Target.h"
#include "kiln/runtime/npy.h"

using namespace kiln;
using fuzz::report;

static void read(std::string_view bytes) {
  Expected<Tensor> tensor = parseNpy(std::as_bytes(std::span(bytes)), "input");
  if (!tensor) {
    if (tensor.status().message().find("input") == std::string::npos)
      report("a file was refused without naming it", bytes);
    return;
  }
  if (tensor->numBytes() > bytes.size() || !tensor->validate().isOk())
    report("more was read than there is", bytes);
  // Written and read again it is the same.
  static const fuzz::Folder folder;
  std::string path = folder.path() + "/again.npy";
  if (!writeNpy(path, *tensor).isOk())
    report("what was read cannot be written", bytes);
  Expected<Tensor> again = readNpy(path);
  if (!again || again->str() != tensor->str() || *again->gatherBytes() != *tensor->gatherBytes())
    report("what was written reads otherwise", bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  read(bytes);
  std::string header = "{" + std::string(bytes.substr(0, bytes.find('}'))) + "}";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += char(header.size() & 255);
  file += char(header.size() >> 8 & 255);
  read(file + header + std::string(bytes.substr(std::min(bytes.size(), header.size()))));
  return 0;
}
