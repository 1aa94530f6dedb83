//===- Candidates.h - what tuning tries, and the threads that compile it --------------------===//
//
// A candidate is the program with one choice for each parameter. It belongs to who tunes and is
// touched by that thread alone; on its way to being measured an attempt carries what a thread of
// `Builders` finds.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_CANDIDATES_H
#define KILN_LIB_DRIVER_TUNE_CANDIDATES_H

#include "Tune/Choices.h"
#include "WrittenProgram.h"

#include "kiln/Jit/Jit.h"

#include "llvm/ADT/STLExtras.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace kiln {

/// Which of the times of a candidate counts.
enum class Counts {
  Fastest, ///< Where others may use the cores: that makes calls slower, and never faster.
  Median,  ///< Where none do, but the clock is lowered when the machine gets hot.
};

/// The program as a trial has it, and what is known of it.
struct Candidate {
  Trial trial;
  Counts counts = Counts::Fastest;
  double compileSeconds = 0;
  std::string refusal;       ///< Why it cannot be used; empty if it can.
  std::vector<double> times; ///< Of a call: at a first look, or in each round with others.
  bool isFinalist = false;   ///< Measured in turns with others, not only once.
  std::shared_ptr<Compiled> compiled;

  double best() const { return *std::min_element(times.begin(), times.end()); }
  double median() const {
    std::vector<double> sorted = times;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  double seconds() const { return counts == Counts::Fastest ? best() : median(); }
  bool isMeasured() const { return refusal.empty() && !times.empty(); }
};

/// A candidate on its way to being measured.
struct Attempt {
  Candidate *candidate;
  std::optional<WrittenProgram::Recorded> program = {};
  std::optional<Compiled> compiled = {};
  double seconds = 0;       ///< That compiling took.
  std::string refusal = ""; ///< Why it cannot be used; empty if it can.
};

/// Threads that build attempts, one each, and hand them over as they are ready.
class Builders {
public:
  explicit Builders(std::function<void(Attempt &)> build) : Build(std::move(build)) {}

  void start(Attempt attempt) {
    ++Running;
    auto work = [this, attempt = std::make_shared<Attempt>(std::move(attempt))] {
      Build(*attempt);
      std::lock_guard guard(Lock);
      Ready.push_back(std::move(*attempt));
      IsReady.notify_one();
    };
    try {
      Threads.emplace_back(work);
    } catch (const std::system_error &) { // there is no thread to be had
      work();
    }
  }
  size_t running() const { return Running; }
  /// Waits for one of those that run.
  Attempt take() {
    std::unique_lock guard(Lock);
    IsReady.wait(guard, [&] { return !Ready.empty(); });
    Attempt attempt = std::move(Ready.front());
    Ready.pop_front();
    --Running;
    return attempt;
  }

private:
  std::function<void(Attempt &)> Build;
  size_t Running = 0;
  std::mutex Lock;
  std::condition_variable IsReady;
  std::deque<Attempt> Ready;
  std::vector<std::jthread> Threads; ///< Last: they end before what they use.
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_CANDIDATES_H
