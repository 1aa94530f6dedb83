//===- Peers.h - the engine's benchmarks, written for other systems ------===//
//
// What: the same work as EngineBench.cpp gives Kiln: each task adds 1 to the first of every 16
//   floats of `values` in turn. Nanoseconds a task; 0 where the peer was not there at build time.
//   Benchmarks only.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_BENCH_PEERS_H
#define KILN_BENCH_PEERS_H

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::bench {

/// `task depend(inout)`, 2 threads: finds dependencies as Kiln does.
double runLibgomp(std::vector<float> &values, int64_t count);
/// The same, a microsecond of work each.
double runLibgompSlow(std::vector<float> &values, int64_t count);
std::string libgompName();

/// A task_group on 2 threads: no dependencies, so only for tasks that need none.
double runTbb(std::vector<float> &values, int64_t count);
std::string tbbName();

/// Hands `count` numbers from one std::thread to another through a queue of `slots` places guarded
/// by a mutex and condition variables; with `answers` each is answered before the next is sent.
/// Nanoseconds a hand-over.
double runThreads(int64_t count, int slots, bool answers);

} // namespace kiln::bench

#endif // KILN_BENCH_PEERS_H
