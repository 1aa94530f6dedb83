#include "engine/TaskWindow.h"

#include <gtest/gtest.h>

using namespace kiln;

/// The block of so many bytes in front of one.
static Node *before(Node *node, uint32_t bytes) {
  return reinterpret_cast<Node *>(reinterpret_cast<std::byte *>(node) - bytes);
}

/// A window is made for many tasks. As few as are in it at a time, so little of its memory is
/// touched, however many come one after the other.
TEST(TaskWindow, BeginsAnewWhereItIsEmpty) {
  constexpr uint32_t bytes = 448;
  TaskWindow window(1 << 15);
  Node *first = window.draft(bytes);
  for (int round = 0; round < 1000; ++round) {
    for (int task = 0; task < 3; ++task) {
      EXPECT_EQ(reinterpret_cast<std::byte *>(window.push(bytes)) -
                    reinterpret_cast<std::byte *>(first),
                task * int64_t(bytes));
      EXPECT_EQ(&window[window.end() - 1], before(window.draft(bytes), bytes));
    }
    for (int task = 0; task < 3; ++task)
      window.pop();
    EXPECT_TRUE(window.isEmpty());
    EXPECT_EQ(window.draft(bytes), first);
  }
  EXPECT_EQ(window.end(), 3000U);
}

/// Tasks that need no block take none, also beside others.
TEST(TaskWindow, SettledTasksTakeNoMemory) {
  constexpr uint32_t bytes = 448;
  TaskWindow window(64);
  window.pushSettled();
  EXPECT_TRUE(window.isEmpty());
  Node *first = window.push(bytes);
  window.pushSettled();
  EXPECT_TRUE(window[2].isSealed());
  EXPECT_EQ(before(window.push(bytes), bytes), first);
  for (int task = 0; task < 3; ++task)
    window.pop();
  EXPECT_EQ(window.draft(bytes), first);
}
