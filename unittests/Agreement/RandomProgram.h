//===- RandomProgram.h - random programs with everything needed to run them ------------===//
#ifndef KILN_UNITTESTS_AGREEMENT_RANDOMPROGRAM_H
#define KILN_UNITTESTS_AGREEMENT_RANDOMPROGRAM_H

#include "RandomBody.h"

namespace kiln::test {

/// What a tensor holds before the program runs.
enum class Fill {
  Poison,     ///< Nothing: an output.
  Uniform,    ///< Floats from -2 to 2; small integers.
  Special,    ///< Also NaN, infinities, zeros of both signs, the extremes of the type.
  RowNumbers, ///< Each number below the extent once, in any order.
};

struct RandomParameter {
  RandomTensor tensor; ///< With the accuracy it has when the program has run.
  Fill fill;
};

struct RandomProgram {
  std::string text; ///< The entry is @main.
  std::vector<RandomParameter> parameters;
};

/// One orchestration that launches a few kernels and groups; each reads what the program was given
/// or what others wrote. The same for the same seed, as long as the compiler is the same.
RandomProgram makeRandomProgram(uint64_t seed);

} // namespace kiln::test

#endif // KILN_UNITTESTS_AGREEMENT_RANDOMPROGRAM_H
