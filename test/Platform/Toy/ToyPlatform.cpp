//===- ToyPlatform.cpp - a whole platform in one file ---------------------------------------===//
//
// The CPU under another name, with a machine that has one role less, which is none at all, and one
// slot more for each pipe. It is compiled into test tools only, and shows that the driver, the
// passes and the conformance suite take a platform that they have never heard of.
//
//===----------------------------------------------------------------------------===//
#include "kiln/Platform/CpuPlatform.h"

#include <cstdio>

using namespace kiln;

static constexpr Memory kMemories[] = {
    {"vec", 0, 64, "cache"}, {"acc", 0, 64, "registers"}, {"gm", 0, 64}};
static constexpr Machine kMachine = {
    "toybox", "toy", 0, /*roles=*/{}, kMemories, /*paths=*/{}, PipeStorage::Heap, 3};

// The linker's names (--wrap=main): the program's own main, and what is called in its place.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" int __real_main(int argc, char **argv);
extern "C" int __wrap_main(int argc, char **argv) {
  if (Status bad = registerPlatform(makeCpuPlatform("toy", kMachine)); !bad.isOk()) {
    std::fprintf(stderr, "%s\n", bad.str().c_str());
    return 2;
  }
  return __real_main(argc, argv);
}
// NOLINTEND(bugprone-reserved-identifier)
