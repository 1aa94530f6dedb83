#include "abi/RunFiles.h"
#include "TestSupport.h"

using namespace kiln;
using namespace kiln::test;

namespace {

TEST(RunFiles, WhatAnEarlierRunLeftAboutItselfIsRemovedAndNothingElse) {
  TempDir dir;
  std::string folder = dir / "out";
  EXPECT_OK(writeRunFile(folder, "run.json", {{"program", "p"}}, onOneLine));
  EXPECT_OK(writeRunFile(folder, "graph.json", Json::array()));
  EXPECT_OK(writeRunFile(folder, "mine.json", Json::array()));
  EXPECT_EQ(readText(folder + "/run.json"), "{\"program\":\"p\"}\n");
  EXPECT_OK(beginRunFolder(folder));
  std::vector<std::string> left;
  for (const auto &item : std::filesystem::directory_iterator(folder))
    left.push_back(item.path().filename().string());
  EXPECT_EQ(left, std::vector<std::string>{"mine.json"});
}

TEST(RunFiles, WhatKilledRunsWereWritingIsSwept) {
  TempDir dir;
  writeText(dir / ("run.json.0.tmp" + std::to_string(deadProcess())), "{");
  EXPECT_OK(beginRunFolder(dir.str()));
  EXPECT_TRUE(std::filesystem::is_empty(dir.str()));
}

TEST(RunFiles, AFolderThatCannotBeMadeIsNamed) {
  TempDir dir;
  EXPECT_OK(writeRunFile(dir.str(), "file", Json::array()));
  std::string inside = dir / "file/out";
  for (const Status &failed : {beginRunFolder(inside), writeRunFile(inside, "run.json", Json())}) {
    EXPECT_EQ(failed.code(), StatusCode::IoError);
    EXPECT_NE(failed.message().find("cannot make the folder " + inside), std::string::npos)
        << failed.message();
  }
}

TEST(RunFiles, TimesAreInUtc) {
  EXPECT_EQ(utcText(0), "1970-01-01 00:00:00");
  EXPECT_EQ(startTime().size(), std::string("1970-01-01 00:00:00 UTC").size());
}

} // namespace
