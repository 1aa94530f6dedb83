// Reports of ranks that wait: what of them together is a deadlock, and what only looks like one.
#include "ranks/RankWatch.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {

RankReport::Pending message(int32_t peer, bool sends, uint64_t number) {
  return {{}, peer, sends, number, (sends ? "send to " : "recv from ") + std::to_string(peer)};
}
RankReport::Pending collective(RankLine line, uint64_t number) {
  return {line, -1, false, number, "all_reduce"};
}

std::vector<std::optional<RankReport>> reportsOf(int32_t ranks) {
  std::vector<std::optional<RankReport>> all(static_cast<size_t>(ranks));
  for (int32_t rank = 0; rank < ranks; ++rank) {
    all[static_cast<size_t>(rank)].emplace();
    all[static_cast<size_t>(rank)]->rank = rank;
  }
  return all;
}

/// Everybody sends to the next one.
std::vector<std::optional<RankReport>> ring(int32_t ranks) {
  auto all = reportsOf(ranks);
  for (int32_t rank = 0; rank < ranks; ++rank) {
    RankReport &report = *all[static_cast<size_t>(rank)];
    report.pending = {message((rank + 1) % ranks, true, 0)};
    report.messages[{(rank + 1) % ranks, true}].add(0);
  }
  return all;
}

TEST(RankWatch, ARingOfSendsIsADeadlock) {
  std::optional<std::string> found = findDeadlock(ring(3));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found,
            "rank 0 waits in send to 1; rank 1 waits in send to 2; rank 2 waits in send to 0");
}

TEST(RankWatch, ARecvThatHasStartedAnywhereBreaksTheRing) {
  auto all = ring(3);
  all[1]->messages[{0, false}].add(0);
  EXPECT_FALSE(findDeadlock(all));
}

TEST(RankWatch, ARankThatDoesNotWaitOrIsInAnotherRunGoesOn) {
  auto all = ring(3);
  all[2].reset();
  EXPECT_FALSE(findDeadlock(all));
  all = ring(3);
  all[2]->run = 1;
  EXPECT_FALSE(findDeadlock(all));
}

TEST(RankWatch, WhoHasEndedWillNotCome) {
  auto all = reportsOf(2);
  all[0]->hasLeft = true;
  all[1]->pending = {message(0, false, 4)};
  all[1]->messages[{0, false}].add(4);
  EXPECT_EQ(findDeadlock(all), "rank 0 has ended; rank 1 waits in recv from 0");
  // It has sent before it ended: the message is on its way.
  for (uint64_t number : {4, 0, 1, 3, 2})
    all[0]->messages[{1, true}].add(number);
  EXPECT_FALSE(findDeadlock(all));
}

TEST(RankWatch, WhoEndedBeforeTheRunWillNotComeEither) {
  auto all = reportsOf(2);
  all[0]->run = 2;
  all[0]->pending = {message(1, false, 0)};
  all[1]->run = 1;
  all[1]->messages[{0, true}].add(0); // in the run before
  EXPECT_FALSE(findDeadlock(all));    // it may come to this one
  all[1]->hasLeft = true;
  EXPECT_EQ(findDeadlock(all), "rank 0 waits in recv from 1; rank 1 has ended");
  // It is the other one that has not come to the run yet.
  all[1]->run = 3;
  EXPECT_FALSE(findDeadlock(all));
}

TEST(RankWatch, CollectivesWaitForEveryRankOfTheirLine) {
  RankLine line{0, 2, 2}; // ranks 0 and 2
  auto all = reportsOf(3);
  all[0]->pending = {collective(line, 1)};
  all[0]->collectives[line] = 2;
  all[2]->collectives[line] = 2;
  all[1]->hasLeft = all[2]->hasLeft = true;
  EXPECT_FALSE(findDeadlock(all)); // both have started it
  all[2]->collectives[line] = 1;
  EXPECT_TRUE(findDeadlock(all));
}

TEST(RankWatch, RanksThatHaveAllEndedAreNoDeadlock) {
  auto all = reportsOf(2);
  all[0]->hasLeft = all[1]->hasLeft = true;
  EXPECT_FALSE(findDeadlock(all));
}

TEST(RankWatch, ReportsComeBackFromText) {
  RankReport report;
  report.rank = 3;
  report.run = 7;
  report.collectives[{0, 2, 4}] = 9;
  for (uint64_t number : {0, 1, 5, 3})
    report.messages[{2, true}].add(number);
  report.pending = {message(2, true, 5), collective({0, 2, 4}, 8)};
  std::optional<RankReport> read = RankReport::parse(report.str());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->str(), report.str());
  EXPECT_TRUE(read->messages[(std::pair{2, true})].has(3));
  EXPECT_FALSE(read->messages[(std::pair{2, true})].has(2));
}

TEST(RankWatch, WhatIsNoReportIsNone) {
  for (const char *text :
       {"", "r 1 0 0\n", "x 1\nend\n", "c 1\nend\n", "m 1 1\nend\n", "w 0 1\nend\n"})
    EXPECT_FALSE(RankReport::parse(text)) << text;
}

} // namespace
