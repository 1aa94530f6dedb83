//===- Parallel.h - pieces of work on all cores -------------------------------------------===//
//
// For work that is done once and has no order: compiling kernels, filling arrays. Threads are made
// for each call and gone after it, so a process may fork between two calls. Tasks of a program are
// the engine's.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_PARALLEL_H
#define KILN_RUNTIME_ABI_PARALLEL_H

#include <cstddef>
#include <functional>

namespace kiln {

/// Calls `work` once with each number below `count`, the smaller ones first, and returns when all
/// are done. The caller and up to `threads` - 1 others take part; 0: as many as there are cores.
/// Where fewer threads are to be had, fewer do the same. `work` must not throw. Work that people
/// wait for has a name, `what`, such as "compiling kernels".
void parallelFor(size_t count, unsigned threads, const std::function<void(size_t)> &work,
                 const char *what = nullptr);

/// Has somebody told how far work with a name is: at its beginning, and whenever a piece of it is
/// done. One thread at a time calls `watch`, any of those that work.
using ParallelWatcher = void (*)(const char *what, size_t done, size_t count);
void watchParallelWork(ParallelWatcher watch);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_PARALLEL_H
