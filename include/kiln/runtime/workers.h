//===- kiln/runtime/workers.h - how many threads compiled programs have --===//
//
// What: the limit that an application sets on the threads that its calls of compiled programs run
//   on. All programs of a process share one pool of threads, so the limit is the process's, too.
//
// Threads: any. Calls that run keep what they have; the next ones find the new limit.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_WORKERS_H
#define KILN_RUNTIME_WORKERS_H

#include "kiln/runtime/status.h"

namespace kiln {

/// A call that is alone has at most this many threads, the caller's own among them; 0: as many as
/// KILN_WORKERS says, or as there are cores.
Status setWorkerLimit(unsigned limit);

} // namespace kiln

#endif // KILN_RUNTIME_WORKERS_H
