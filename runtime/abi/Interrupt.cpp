#include "kiln/runtime/interrupt.h"
#include "abi/JsonOutput.h"
#include "kiln/runtime/engine_c.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <optional>
#include <poll.h>
#include <thread>
#include <unistd.h>

using namespace kiln;
using Clock = std::chrono::steady_clock;

/// How long what was asked to stop may take for it.
static constexpr auto grace = std::chrono::milliseconds(500);
/// The kernel ends the process after so many seconds, should even saving never end: a disk that
/// does not answer.
static constexpr unsigned lastResortSeconds = 5;

std::atomic<bool> detail::isInterrupted{false};

/// The signal that came; 0: none.
static std::atomic<int> signalSeen{0};
/// Bytes wake the watcher up.
static int wakeUp[2] = {-1, -1};

static void noteSignal(int number) {
  int saved = errno, none = 0;
  // `timeout` and a terminal may send the same signal twice: only the first counts.
  if (signalSeen.compare_exchange_strong(none, number)) {
    alarm(lastResortSeconds);
    (void)!write(wakeUp[1], "", 1);
  }
  errno = saved;
}

namespace {

/// The thread that waits for signals and deadlines. There is one, it is made with the first need
/// and ends with the process.
class Watcher {
public:
  static Watcher &get() {
    static auto *watcher = new Watcher; // never destroyed: its thread outlives main
    return *watcher;
  }
  static bool isThere() { return IsThere.load(std::memory_order_acquire); }

  void setLimit(uint64_t seconds, const std::string &what) {
    {
      std::lock_guard lock(Mutex);
      Limit = Clock::now() + std::chrono::seconds(seconds);
      LimitText = what + " took longer than " + std::to_string(seconds) +
                  " s; --timeout SECONDS allows more, 0 any time";
    }
    wake();
  }
  void clearLimit() {
    std::lock_guard lock(Mutex);
    Limit.reset();
    if (Why.isOk() || signalSeen != 0)
      return;
    // It stopped in time: nothing else is to stop.
    Why = Status::ok();
    End.reset();
    detail::isInterrupted.store(false);
  }

  Status why() {
    std::lock_guard lock(Mutex);
    return Why;
  }

  void add(const OnInterrupt *owner, OnInterrupt::Action action) {
    std::lock_guard lock(Mutex);
    Actions.emplace_back(owner, std::move(action));
  }
  void remove(const OnInterrupt *owner) {
    std::unique_lock lock(Mutex);
    HasRun.wait(lock, [&] { return Running != owner; });
    Actions.remove_if([&](const auto &entry) { return entry.first == owner; });
  }

private:
  Watcher() {
    if (pipe2(wakeUp, O_CLOEXEC | O_NONBLOCK) != 0)
      return; // out of descriptors: the default action of signals stays
    std::thread([this] { watch(); }).detach();
    IsThere.store(true, std::memory_order_release);
  }

  static void wake() { (void)!write(wakeUp[1], "", 1); }

  [[noreturn]] void watch() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (true) {
      pollfd fd{wakeUp[0], POLLIN, 0};
      poll(&fd, 1, millisecondsToWait());
      char bytes[64];
      while (read(wakeUp[0], bytes, sizeof bytes) > 0) {
      }
      std::unique_lock lock(Mutex);
      if (int signal = signalSeen; signal != 0 && !HasSeenSignal) {
        HasSeenSignal = true;
        interrupt("interrupted by " + (sigabbrev_np(signal)
                                           ? "SIG" + std::string(sigabbrev_np(signal))
                                           : "signal " + std::to_string(signal)));
      } else if (Limit && Clock::now() >= *Limit) {
        Limit.reset();
        interrupt(LimitText);
      }
      if (End && Clock::now() >= *End)
        endProcess(lock);
    }
  }

  int millisecondsToWait() {
    std::lock_guard lock(Mutex);
    std::optional<Clock::time_point> next = Limit;
    if (End)
      next = next ? std::min(*next, *End) : End;
    if (!next)
      return -1;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1'000'000));
  }

  void interrupt(const std::string &why) {
    Why = Status(StatusCode::Interrupted, why);
    End = Clock::now() + grace;
    detail::isInterrupted.store(true);
  }

  /// Runs the actions, as destructors would: the last one first. Without the lock, because others
  /// may still come and go meanwhile.
  [[noreturn]] void endProcess(std::unique_lock<std::mutex> &lock) {
    const Status why = Why;
    std::string report = "kiln: error: " + why.message() + "\n";
    while (!Actions.empty()) {
      auto [owner, action] = std::move(Actions.back());
      Actions.pop_back();
      Running = owner;
      lock.unlock();
      if (std::string line = action(why); !line.empty())
        report += "  " + line + "\n";
      lock.lock();
      Running = nullptr;
      HasRun.notify_all();
    }
    (void)!write(STDERR_FILENO, report.data(), report.size());
    noteFailure(why);
    std::string json = failureJson(exitCodeAfterSignals(1));
    (void)!write(STDOUT_FILENO, json.data(), json.size());
    _exit(exitCodeAfterSignals(1));
  }

  static inline std::atomic<bool> IsThere{false};
  std::mutex Mutex;
  bool HasSeenSignal = false;
  Status Why;
  std::optional<Clock::time_point> Limit, End;
  std::string LimitText;
  std::list<std::pair<const OnInterrupt *, OnInterrupt::Action>> Actions;
  const OnInterrupt *Running = nullptr;
  std::condition_variable HasRun;
};

} // namespace

void kiln::handleSignals() {
  Watcher::get();
  if (!Watcher::isThere())
    return;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old{}, now{};
    if (sigaction(number, nullptr, &old) != 0 || old.sa_handler == SIG_IGN)
      continue;
    now.sa_handler = noteSignal;
    now.sa_flags = SA_RESTART;
    sigfillset(&now.sa_mask);
    sigaction(number, &now, nullptr);
  }
}

/// Set by kiln_set_interrupted: nothing else may be touched in a signal handler.
static std::atomic<bool> isStoppedByCaller{false};

Status kiln::interruption() {
  if (isStoppedByCaller.load(std::memory_order_relaxed))
    return Status(StatusCode::Interrupted, "the run was interrupted");
  return Watcher::isThere() ? Watcher::get().why() : Status::ok();
}

bool kiln::mayBeInterrupted() { return Watcher::isThere(); }

void kiln_set_interrupted(int32_t isSet) {
  isStoppedByCaller.store(isSet != 0);
  detail::isInterrupted.store(isSet != 0);
}

int kiln::exitCodeAfterSignals(int code) {
  int number = signalSeen;
  return number == 0 ? code : 128 + number;
}

TimeLimit::TimeLimit(uint64_t seconds, const std::string &what) {
  if (seconds != 0)
    Watcher::get().setLimit(seconds, what);
}
TimeLimit::~TimeLimit() {
  if (Watcher::isThere())
    Watcher::get().clearLimit();
}

OnInterrupt::OnInterrupt(Action action) : IsKnown(Watcher::isThere()) {
  if (IsKnown)
    Watcher::get().add(this, std::move(action));
}
OnInterrupt::~OnInterrupt() {
  if (IsKnown)
    Watcher::get().remove(this);
}
