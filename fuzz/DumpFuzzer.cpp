//===- DumpFuzzer.cpp - fuzzes the reader of dumps -----------------------------------===//
//
// The input is the manifest, beside a payload of 4 KiB.
//
//===----------------------------------------------------------------------------===//
#include "Target.h"
#include "kiln/runtime/dump.h"

using namespace kiln;
using fuzz::report;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::Folder folder;
  static bool isFilled = (folder.write("tensor_dump.bin", std::string(4096, '\1')), true);
  (void)isFilled;
  std::string_view manifest(reinterpret_cast<const char *>(data), size);
  folder.write("tensor_dump.json", manifest);
  Expected<DumpFile> dump = DumpFile::open(folder.path());
  if (!dump) {
    if (dump.status().message().empty())
      report("a dump was refused without a message", manifest);
    return 0;
  }
  for (const DumpEntry &entry : dump->entries())
    if (Expected<Tensor> tensor = dump->load(entry); tensor && tensor->numBytes() > 4096)
      report("more was read than there is", manifest);
  return 0;
}
