//===- kiln/runtime/interrupt.h - ending early, and in order -------------===//
//
// What: how a tool ends before its work is done: by a signal (Ctrl-C, SIGTERM) or because a limit
//   of time has passed. First everything is asked to stop: engines start no more tasks, waiting for
//   Python ends, long loops of compiled kernels end, the dump is completed, and the tool returns as
//   it does after any error. What has not ended half a second later is not waited for: each
//   OnInterrupt saves what can be saved, and the process ends.
//
// Who: only tools call handleSignals(); a library never changes what signals do. Without it, and
//   without a TimeLimit, nothing here costs more than reading a flag.
//
// Threads: any. The actions of OnInterrupt run on a thread of their own.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_INTERRUPT_H
#define KILN_RUNTIME_INTERRUPT_H

#include "kiln/runtime/status.h"

#include <atomic>
#include <functional>
#include <string>

namespace kiln {

/// From now on SIGINT, SIGTERM and SIGHUP end this process as described above, with exit code 128
/// plus the signal's number. Signals that are ignored stay ignored.
void handleSignals();

namespace detail {
extern std::atomic<bool> isInterrupted; ///< Loops of compiled kernels read it, too, as one byte.
static_assert(sizeof isInterrupted == 1);
} // namespace detail

/// Whether everything is to stop. Whoever works for long asks now and then.
inline bool isInterrupted() { return detail::isInterrupted.load(std::memory_order_relaxed); }
/// Why: Interrupted, or Ok where nothing is to stop.
Status interruption();

/// Whether a signal or a limit of time could interrupt at all: only in tools.
bool mayBeInterrupted();

/// The exit code of a tool: `code`, or 128 plus the number of the signal that came.
int exitCodeAfterSignals(int code);

/// What tools allow where nobody says otherwise: seconds of a run, of a formula, of the reference.
inline constexpr uint64_t defaultTimeout = 600;

/// As long as it lives, it interrupts what takes longer than so many seconds (0: no limit). What
/// stops in time goes on once the limit is gone. One at a time.
class TimeLimit {
public:
  TimeLimit(uint64_t seconds, const std::string &what);
  ~TimeLimit();
  TimeLimit(const TimeLimit &) = delete;
  TimeLimit &operator=(const TimeLimit &) = delete;
};

/// What to save if the process has to end at once. The last one made is the first to act. The
/// action is told why, runs at most once, never during or after the destructor, and must not wait
/// for long. What it returns, unless empty, is a line of the report.
class OnInterrupt {
public:
  using Action = std::function<std::string(const Status &why)>;
  explicit OnInterrupt(Action action);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt &) = delete;
  OnInterrupt &operator=(const OnInterrupt &) = delete;

private:
  bool IsKnown; ///< Only where somebody could interrupt.
};

} // namespace kiln

#endif // KILN_RUNTIME_INTERRUPT_H
