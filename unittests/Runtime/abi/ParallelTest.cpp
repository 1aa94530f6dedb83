#include "abi/Parallel.h"

#include "gtest/gtest.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <vector>

using namespace kiln;

TEST(Parallel, EveryPieceIsDoneOnceWhateverTheNumberOfThreads) {
  for (size_t count : {0, 1, 2, 1000})
    for (unsigned threads : {0u, 1u, 2u, 7u, 5000u}) {
      std::vector<std::atomic<int>> done(count);
      parallelFor(count, threads, [&](size_t i) { ++done[i]; });
      for (const std::atomic<int> &times : done)
        EXPECT_EQ(times, 1);
    }
}

TEST(Parallel, TellsHowFarWorkWithANameIs) {
  static std::vector<size_t> told;
  watchParallelWork([](const char *what, size_t done, size_t count) {
    EXPECT_STREQ(what, "counting");
    EXPECT_EQ(count, 20u);
    told.push_back(done);
  });
  auto nothing = [](size_t) {};
  parallelFor(7, 4, nothing); // has none
  parallelFor(20, 4, nothing, "counting");
  watchParallelWork(nullptr);
  parallelFor(20, 4, nothing, "counting");
  std::vector<size_t> each(21);
  std::iota(each.begin(), each.end(), size_t(0));
  EXPECT_EQ(told, each) << "one after the other, from nothing to all";
}

TEST(Parallel, OneThreadKeepsTheOrder) {
  std::vector<size_t> order;
  parallelFor(5, 1, [&](size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

// In a process of its own, whose address space has no room for another stack.
TEST(Parallel, WithoutThreadsTheCallerDoesEverything) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer ends the process where there is no memory";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "a sanitizer ends the process where there is no memory";
#endif
#endif
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit none{1, 1};
    setrlimit(RLIMIT_AS, &none);
    int done = 0; // no other thread may touch it
    parallelFor(3, 8, [&](size_t) { ++done; });
    _exit(done == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
