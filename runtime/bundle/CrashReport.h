//===- CrashReport.h - a crash of foreign code, in words -----------------===//
//
// What: as long as it lives, SIGSEGV, SIGBUS, SIGILL and SIGFPE end the process with a message and
//   exit code 1, and not with a core dump: what crashed is code from a file, not this tool. For
//   tools that run such code.
//
// Threads: one at a time, made on the main thread; crashes of all threads are reported.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_BUNDLE_CRASHREPORT_H
#define KILN_RUNTIME_BUNDLE_CRASHREPORT_H

#include <array>
#include <csignal>
#include <string>

namespace kiln {

class CrashReport {
public:
  /// `what` is to blame.
  explicit CrashReport(const std::string &what);
  ~CrashReport();
  CrashReport(const CrashReport &) = delete;
  CrashReport &operator=(const CrashReport &) = delete;

private:
  static constexpr std::array<int, 4> signals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  std::array<struct sigaction, signals.size()> Before;
};

} // namespace kiln

#endif // KILN_RUNTIME_BUNDLE_CRASHREPORT_H
