// Two processes that lend each other memory: what each sees while it is lent, and afterwards.
#include "ranks/Lending.h"
#include "RankTestSupport.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using kiln::test::filled;

namespace {

/// One of the two processes.
class Side {
public:
  Side(int rank, int socket) : rank(rank), Socket(socket) {
    FileAddress mine = lending.open();
    lending.setOthers(rank == 0 ? std::vector{mine, exchange(mine)}
                                : std::vector{exchange(mine), mine});
  }

  template <typename T> T exchange(const T &mine) {
    T theirs;
    if (write(Socket, &mine, sizeof mine) != sizeof mine ||
        recv(Socket, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
      _exit(40);
    return theirs;
  }
  /// Both come here; who is waited for does what others ask it for.
  void meet() { exchange(rank); }
  void serveUntilTheOtherComes() {
    char there;
    do
      lending.serve();
    while (recv(Socket, &there, sizeof there, MSG_PEEK | MSG_DONTWAIT) <= 0);
    meet();
  }

  static Collective message(CollectiveKind kind, const Tensor &tensor) {
    Collective made;
    made.kind = kind;
    (kind == CollectiveKind::Send ? made.source : made.target) = tensor.toAbi();
    if (kind == CollectiveKind::Send)
      made.memory = tensor.buffer();
    return made;
  }
  /// Rank 0 sends `tensor` to rank 1, which receives into its own; whether it is lent.
  bool lend(const Tensor &tensor) {
    Collective what = message(rank == 0 ? CollectiveKind::Send : CollectiveKind::Recv, tensor);
    LoanTerms mine = rank == 0 ? lending.offer(what, 1) : lending.wish(what, 0);
    LoanTerms theirs = exchange(mine);
    if (!agree(mine, theirs)) {
      lending.withdraw(mine);
      return false;
    }
    if (rank == 1 && !lending.borrow(what, 0, theirs).isOk())
      _exit(41);
    meet();
    return true;
  }

  const int rank;
  Lending &lending = Lending::ofProcess();

private:
  int Socket;
};

bool never() { return false; }

/// Longer than its huge pages.
constexpr int64_t elements = (int64_t{6} << 18) + 1000;

Tensor intermediate(int64_t count = elements) {
  uint64_t bytes = static_cast<uint64_t>(count) * 4;
  void *data = takeLarge(bytes, LargeUse::Intermediate);
  auto buffer = Buffer::wrap(data, bytes, [=] { giveLarge(data, bytes); });
  return *Tensor::view(buffer, 0, DType::F32, {count}, {1});
}

/// Rank 0's is what it sends, rank 1's what it receives into.
Tensor tensorOf(const Side &side) {
  return side.rank == 0 ? filled({elements}, 5) : intermediate();
}

bool holds(const Tensor &tensor, float first) {
  const float *data = tensor.dataAs<float>();
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    if (data[i] != first + static_cast<float>(i))
      return false;
  return true;
}

constexpr int skipped = 77;

/// Where the system has no huge pages for a file, or takes too long to make them, nothing is lent.
bool getsPages(int64_t count) {
  Tensor probe = filled({count}, 0);
  return offsetInFile(probe.data(), probe.numBytes()).has_value();
}

/// The exit codes of two processes that run `body`; 0 where all was as expected.
std::pair<int, int> runBoth(const std::function<bool(Side &)> &body) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
    return {50, 50};
  pid_t started[2];
  for (int rank : {0, 1})
    if (started[rank] = fork(); started[rank] == 0) {
      alarm(60);
      close(sockets[1 - rank]);
      Side side(rank, sockets[rank]);
      bool hasPages = getsPages(elements);
      bool isGood = hasPages & side.exchange(hasPages) && body(side);
      // So many elements are in no memory that was let go, which would be there in any case.
      _exit(isGood ? 0 : getsPages(4 * elements) ? 1 : skipped);
    }
  close(sockets[0]);
  close(sockets[1]);
  int codes[2];
  for (int rank : {0, 1}) {
    int status = 0;
    waitpid(started[rank], &status, 0);
    codes[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
  }
  return {codes[0], codes[1]};
}

#define EXPECT_BOTH(...)                                                                           \
  do {                                                                                             \
    auto codes = runBoth(__VA_ARGS__);                                                             \
    if (codes.first == skipped || codes.second == skipped)                                         \
      GTEST_SKIP() << "no huge pages for shared memory here";                                      \
    EXPECT_EQ(codes, std::pair(0, 0));                                                             \
  } while (false)

TEST(Lending, WhoWantsToWriteToWhatItLentWaitsForACopy) {
  EXPECT_BOTH([](Side &side) {
    Tensor tensor = tensorOf(side);
    bool isGood = side.lend(tensor) && holds(tensor, 5) && side.lending.hasLoans();
    if (side.rank == 0) {
      side.lending.own(tensor.toAbi(), MemoryAccess::Write, never);
      std::memset(tensor.data(), 0, tensor.numBytes());
      side.meet();
    } else {
      side.serveUntilTheOtherComes();
      isGood &= holds(tensor, 5);
    }
    return isGood && !side.lending.hasLoans();
  });
}

TEST(Lending, WhatTheReceiverWritesIsItsOwn) {
  EXPECT_BOTH([](Side &side) {
    Tensor tensor = tensorOf(side);
    bool isGood = side.lend(tensor);
    if (side.rank == 1) {
      side.lending.own(tensor.toAbi(), MemoryAccess::Write, never);
      isGood &= holds(tensor, 5) && !side.lending.hasLoans();
      tensor.dataAs<float>()[1] = 0;
    }
    side.meet();
    side.lending.settle(never);
    return isGood && (side.rank == 1 || holds(tensor, 5)) && !side.lending.hasLoans();
  });
}

TEST(Lending, WhatIsLetGoIsGivenBackWithoutACopy) {
  EXPECT_BOTH([](Side &side) {
    Tensor tensor = tensorOf(side);
    void *data = tensor.data();
    if (side.rank == 1)
      std::memset(data, 0, tensor.numBytes()); // what lies aside while it is lent
    bool isGood = side.lend(tensor) && holds(tensor, 5);
    if (side.rank == 1) {
      tensor = Tensor();
      Tensor next = intermediate();
      isGood &= next.data() == data && next.dataAs<float>()[7] == 0;
    }
    side.meet();
    side.lending.settle(never);
    return isGood && !side.lending.hasLoans();
  });
}

TEST(Lending, TheEndOfARunKeepsWhatWasReceived) {
  EXPECT_BOTH([](Side &side) {
    Tensor tensor = tensorOf(side);
    bool isGood = side.lend(tensor);
    side.lending.settle(never);
    side.meet();
    if (side.rank == 0)
      std::memset(tensor.data(), 0, tensor.numBytes());
    side.meet();
    return isGood && (side.rank == 0 || holds(tensor, 5));
  });
}

TEST(Lending, WhoCannotWaitForTheOtherGoesOn) {
  EXPECT_BOTH([](Side &side) {
    Tensor tensor = tensorOf(side);
    bool isGood = side.lend(tensor);
    if (side.rank == 0) // the other never serves
      side.lending.settle([] { return true; });
    isGood &= side.rank == 1 || !side.lending.hasLoans();
    side.meet();
    return isGood;
  });
}

TEST(Lending, AForkedProcessWritesToACopy) {
  EXPECT_BOTH([](Side &side) {
    Tensor mine = filled({elements}, 5);
    if (pid_t forked = fork(); forked == 0) {
      bool isGood = holds(mine, 5) && !offsetInFile(mine.data(), mine.numBytes());
      std::memset(mine.data(), 0, mine.numBytes());
      _exit(isGood ? 0 : 1);
    } else {
      int status = 1;
      waitpid(forked, &status, 0);
      side.meet();
      return status == 0 && holds(mine, 5);
    }
  });
}

TEST(Lending, WhatCannotBeMappedIsNotLent) {
  EXPECT_BOTH([](Side &side) {
    auto isRefused = [&](const Tensor &tensor) { return !side.lend(tensor); };
    bool isSender = side.rank == 0;
    // Too small; no intermediate; at another place of a huge page; with gaps.
    bool isGood = isRefused(isSender ? filled({1 << 18}, 5) : intermediate(1 << 18));
    isGood &= isRefused(filled({elements}, 5));
    Tensor longer = isSender ? filled({elements}, 5) : intermediate(elements + 4);
    isGood &= isRefused(isSender ? longer : *longer.slice({4}, {elements}));
    Tensor wide = isSender ? filled({1 << 11, 1 << 11}, 5) : intermediate(1 << 22);
    isGood &= isRefused(isSender ? *wide.slice({0, 0}, {1 << 11, 1 << 10}) : wide);
    return isGood && !side.lending.hasLoans();
  });
}

TEST(Lending, AProcessThatIsNotTheOneMeantIsNotMapped) {
  EXPECT_BOTH([](Side &side) {
    FileAddress mine = side.lending.open();
    mine.token[0] ^= 1; // as where another container has the same numbers
    FileAddress theirs = side.exchange(mine);
    side.lending.setOthers({side.rank == 0 ? mine : theirs, side.rank == 0 ? theirs : mine});
    return !side.lend(tensorOf(side)) && !side.lending.hasLoans();
  });
}

} // namespace
