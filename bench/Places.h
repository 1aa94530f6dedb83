//===- Places.h - where threads run while they are measured ----------------===//
//
// What: gives threads cores of their own while something is measured. A scheduler now and then
//   leaves two threads that work together on one core, and what they do then takes twice as long.
//   Nobody's threads are favoured. Benchmarks only.
//
// Threads: one at a time, the one that calls what is measured.
//
//===-----------------------------------------------------------------------===//
#ifndef KILN_BENCH_PLACES_H
#define KILN_BENCH_PLACES_H

namespace kiln::bench {

/// The calling thread stays on the first core of the process while this lives, and may run anywhere
/// again behind it: so may threads that it makes then. Pools ask how many cores there are when they
/// are first used, so that should come before.
class PinnedCaller {
public:
  PinnedCaller();
  ~PinnedCaller();
  PinnedCaller(const PinnedCaller &) = delete;
  PinnedCaller &operator=(const PinnedCaller &) = delete;
};

/// Gives cores to all other threads that have none of their own yet, or that of a pinned caller
/// which made them: the second core to the first of them, and so on. To be called when a pool may
/// have made threads, so that those of each begin with the second core. Does nothing where there is
/// one core.
void giveCoresToOthers();

/// Waits until no other thread runs, for a tenth of a second at most: the threads of a pool look
/// for more work before they sleep, and would take a core from whoever is next.
void waitForOthers();

/// For a thread that is made while its maker is pinned: it takes the second core.
void takeSecondCore();

} // namespace kiln::bench

#endif // KILN_BENCH_PLACES_H
