//===- Budget.h - the time that a search may take, and what it went into -------------------===//
#ifndef KILN_LIB_DRIVER_TUNE_BUDGET_H
#define KILN_LIB_DRIVER_TUNE_BUDGET_H

#include <chrono>
#include <limits>

namespace kiln {

class Budget {
public:
  using Clock = std::chrono::steady_clock;

  Budget(double seconds, bool isUnlimited) : Seconds(seconds), IsUnlimited(isUnlimited) {}

  static double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  double used() const { return secondsSince(Start); }
  /// Of the whole; negative where it took longer.
  double left() const {
    return IsUnlimited ? std::numeric_limits<double>::max() : Seconds - used();
  }
  /// Whether this share of it is used.
  bool isUp(double share) const { return !IsUnlimited && used() > Seconds * share; }
  bool isUnlimited() const { return IsUnlimited; }

  double preparing = 0, compiling = 0, checking = 0, measuring = 0; ///< What it went into.

private:
  double Seconds;
  bool IsUnlimited;
  Clock::time_point Start = Clock::now();
};

/// Adds the time until its end to a sum of seconds.
class Spending {
public:
  explicit Spending(double &sum) : Sum(sum) {}
  ~Spending() { Sum += Budget::secondsSince(Begin); }
  Spending(const Spending &) = delete;
  Spending &operator=(const Spending &) = delete;

private:
  double &Sum;
  Budget::Clock::time_point Begin = Budget::Clock::now();
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_BUDGET_H
