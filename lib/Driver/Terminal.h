//===- Terminal.h - colours and progress, for people who watch ---------------------------===//
//
// Both are there only where somebody watches: on a terminal. What is written to a file or a pipe
// has neither, and NO_COLOR switches colours off. Progress goes to standard error, so that what a
// command prints, `--json` above all, stays what it is.
//
// Threads: one; work on several threads tells how far it is while that one waits for it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TERMINAL_H
#define KILN_LIB_DRIVER_TERMINAL_H

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace kiln {

/// Whether `to` is a terminal that shows colours, and NO_COLOR does not say otherwise.
bool hasColours(std::FILE *to);

/// A word that ends a report: green if it is good, red if it is not.
std::string verdict(std::FILE *to, const std::string &word, bool isGood);
/// The lines of diagnostics, with `error:`, `warning:` and `note:` in colours, and nothing in them
/// that would steer the terminal.
std::string highlighted(std::FILE *to, const std::string &text);

/// One line that says what goes on, how far it is and how long it still takes. It appears when the
/// work has taken half a second, changes ten times a second at the most, and is gone when the work
/// is done or something else is printed.
class Progress {
public:
  /// `total` 0: nobody knows how much there is.
  Progress(std::string what, uint64_t total);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// So much is done; `detail` is what comes now.
  void show(uint64_t done, const std::string &detail = "");
  /// So much is done of what came last, which several threads work at.
  void showPart(const char *what, size_t done, size_t count);
  /// Takes the line of whoever shows one away, before something is printed.
  static void hide();

private:
  void draw(const std::string &detail);

  using Clock = std::chrono::steady_clock;
  std::string What, Detail;
  uint64_t Total, Done = 0;
  bool IsWatched;
  Clock::time_point Begin = Clock::now(), Last = Begin;
};

/// From now on shows how far work on several threads is, unless something else is shown.
void showParallelWork();

/// "checking: 3 of 12, 0:07, about 0:21 left (--arg x=9x16)", cut to the terminal's width.
std::string progressLine(const std::string &what, uint64_t done, uint64_t total, double seconds,
                         const std::string &detail, size_t width);

} // namespace kiln

#endif // KILN_LIB_DRIVER_TERMINAL_H
