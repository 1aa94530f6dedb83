//===- Main.h - the main function of an example --------------------------------------===//
//
// `kiln::main` gives a program the command line of `kiln`: it traces the program for the Config on
// the command line, runs it on a platform and checks the result against the formula the example
// brings along and against the PyTorch reference.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DRIVER_MAIN_H
#define KILN_DRIVER_MAIN_H

#include "kiln/Language/Program.h"
#include "kiln/tools_c.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

struct Example {
  /// What `--arg` would say, for arguments not given on the command line.
  std::vector<std::pair<std::string, std::string>> args = {};
  /// What the outputs should be, in PyTorch. The arguments are in scope by name, with their values
  /// before the run, in double precision; so are `torch`, `math` and the values of the Config. What
  /// the formula assigns to an output is what the run must give:
  ///
  ///   assert a.shape[1] == b.shape[0], "a has as many columns as b has rows"
  ///   c = a @ b
  ///   accumulates = a.shape[1]
  ///
  /// An assertion that does not hold refuses the arguments as bad input. `accumulates` says that
  /// outputs are sums of so many products: |x - y| <= 1e-6 * accumulates + r * |y|, where r is 1e-5
  /// for f32 and the rounding of the element type for smaller floats. Integers must be equal.
  std::string formula = {};
  /// More arguments for `kiln check` to try: each replaces some of `args`. Worth it where numbers
  /// in an argument depend on its shape (tables, lengths, positions), because Kiln tries other
  /// extents by itself only where they do not.
  std::vector<std::vector<std::pair<std::string, std::string>>> cases = {};
};

using ProgramBuilder = std::function<Program(const Config &)>;

namespace detail {

/// Makes the program for the values of a config.
struct ProgramMaker {
  const ProgramBuilder &builder;
  std::string problem = {}; ///< What the builder threw.

  static kiln_recorder *make(void *context, kiln_config *config, const char **problem) {
    auto &self = *static_cast<ProgramMaker *>(context);
#ifdef __cpp_exceptions
    try {
      return self.builder(Config(config)).release();
    } catch (const std::exception &error) {
      self.problem = error.what();
      *problem = self.problem.c_str();
    } catch (...) {
      *problem = nullptr; // nobody knows what it says
    }
    return nullptr;
#else
    (void)problem;
    return self.builder(Config(config)).release();
#endif
  }
};

} // namespace detail

/// Exit code: 0 good, 1 wrong result or failed check, 2 bad input or usage, 3 a check that found
/// nothing wrong but did not decide everything.
KILN_OUT_OF_LINE inline int main(int argc, char **argv, const ProgramBuilder &program,
                                 const Example &example = {}) {
  detail::ProgramMaker maker{program};
  std::vector<kiln_text_pair> pairs; // those of `args`, then those of each case
  std::vector<uint32_t> cases;       // how many each case has
  for (const auto &[name, value] : example.args)
    pairs.push_back({name.c_str(), value.c_str()});
  for (const auto &each : example.cases) {
    for (const auto &[name, value] : each)
      pairs.push_back({name.c_str(), value.c_str()});
    cases.push_back(static_cast<uint32_t>(each.size()));
  }
  kiln_example told{sizeof(kiln_example),
                    example.formula.c_str(),
                    pairs.data(),
                    static_cast<uint32_t>(example.args.size()),
                    static_cast<uint32_t>(cases.size()),
                    cases.data()};
  return kiln_program_main(KILN_PROGRAM_MARKER, argc, argv, detail::ProgramMaker::make, &maker,
                           &told);
}

} // namespace kiln

#endif // KILN_DRIVER_MAIN_H
