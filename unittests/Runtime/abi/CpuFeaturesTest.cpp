#include "abi/CpuFeatures.h"

#include "kiln/runtime/bundle.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace kiln;

#if defined(__x86_64__)
/// The flags that the system lists.
static std::set<std::string> flagsOfSystem() {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string line; std::getline(file, line) && flags.empty();)
    if (line.starts_with("flags")) {
      std::istringstream words(line.substr(line.find(':') + 1));
      for (std::string word; words >> word;)
        flags.insert(word);
    }
  return flags;
}

TEST(CpuFeatures, AgreeWithWhatTheSystemLists) {
  std::set<std::string> flags = flagsOfSystem();
  if (flags.empty())
    GTEST_SKIP() << "no flags in /proc/cpuinfo";
  // What Linux has listed for years, and LLVM's name for it.
  for (auto [flag, name] : {std::pair("pni", "sse3"),
                            {"sse4_2", "sse4.2"},
                            {"sse4a", "sse4a"},
                            {"bmi1", "bmi"},
                            {"abm", "lzcnt"},
                            {"f16c", "f16c"},
                            {"fma", "fma"},
                            {"avx", "avx"},
                            {"avx2", "avx2"},
                            {"avx512f", "avx512f"},
                            {"avx512vl", "avx512vl"},
                            {"avx512_vnni", "avx512vnni"},
                            {"avx512_bf16", "avx512bf16"},
                            {"avx_vnni", "avxvnni"}})
    EXPECT_EQ(cpuFeature(name) == CpuFeature::Present, flags.contains(flag)) << name;
}
#endif

TEST(CpuFeatures, WhatNobodyKnowsIsMissing) {
#if defined(__x86_64__)
  EXPECT_EQ(cpuFeature("avx1024"), CpuFeature::Unknown);
  EXPECT_EQ(missingCpuFeature("+sse2,+amx-of-tomorrow,+avx1024"), "amx-of-tomorrow");
#endif
  EXPECT_EQ(cpuFeature("cx8"), CpuFeature::NeverNeeded);
  EXPECT_EQ(missingCpuFeature("+cx8,-avx1024"), std::nullopt);
}
