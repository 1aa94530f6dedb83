//===- Clock.h - who has heard of what -----------------------------------------------------===//
//
// A vector clock: for each thread of a cluster's blocks (and behind those of a block its copy
// engine) how much of what it did is known to have happened. Values; a cluster's.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DEVICE_EMULATED_CLOCK_H
#define KILN_DEVICE_EMULATED_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kiln::emulated {

class Clock {
public:
  explicit Clock(size_t size = 0) : Known(size) {}
  uint32_t operator[](unsigned thread) const { return Known[thread]; }
  void advance(unsigned thread) { ++Known[thread]; }
  void set(unsigned thread, uint32_t value) { Known[thread] = std::max(Known[thread], value); }
  /// Hears of everything that `other` has.
  void join(const Clock &other) {
    if (Known.size() < other.Known.size())
      Known.resize(other.Known.size());
    for (size_t i = 0; i < other.Known.size(); ++i)
      Known[i] = std::max(Known[i], other.Known[i]);
  }

private:
  std::vector<uint32_t> Known;
};

} // namespace kiln::emulated

#endif // KILN_DEVICE_EMULATED_CLOCK_H
