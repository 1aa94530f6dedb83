//===- Random.h - reproducible choices --------------------------------------------------===//
//
// splitmix64: tiny, well distributed and the same on every machine. A value; one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_RANDOM_H
#define KILN_LIB_SIMULATOR_RANDOM_H

#include <cstdint>

namespace kiln::simulator {

class Random {
public:
  explicit Random(uint64_t seed) : State(seed) {}

  uint64_t next() {
    uint64_t x = State += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  /// 0 .. bound - 1; `bound` is not 0.
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t State;
};

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_RANDOM_H
