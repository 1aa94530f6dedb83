//===- TerminalTest.cpp - what progress says -------------------------------------------===//
#include "lib/Driver/Terminal.h"

#include <gtest/gtest.h>

using namespace kiln;

TEST(ProgressLine, SaysHowFarItIsAndHowLongItTakes) {
  EXPECT_EQ(progressLine("checking", 3, 12, 7, "--arg x=9x16", 80),
            "checking: 3 of 12, 0:07, about 0:21 left (--arg x=9x16)");
}

TEST(ProgressLine, DoesNotGuessBeforeTheFirstStepAfterTheLastOrWithoutATotal) {
  EXPECT_EQ(progressLine("checking", 0, 12, 7, "", 80), "checking: 0 of 12, 0:07");
  EXPECT_EQ(progressLine("checking", 12, 12, 61, "", 80), "checking: 12 of 12, 1:01");
  EXPECT_EQ(progressLine("running", 5, 0, 3600, "", 80), "running: 5, 60:00");
}

TEST(ProgressLine, FitsTheTerminal) {
  std::string line = progressLine("checking", 1, 2, 1, std::string(200, 'x'), 40);
  EXPECT_LT(line.size(), 40u);
  EXPECT_TRUE(line.ends_with("..."));
}

TEST(Highlighted, LeavesFilesAlone) {
  std::FILE *file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(highlighted(file, "a.mlir:1:2: error: no\n"), "a.mlir:1:2: error: no\n");
  EXPECT_EQ(verdict(file, "PASS", true), "PASS");
  std::fclose(file);
}
