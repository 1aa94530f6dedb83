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
#include "kiln/visibility.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

KILN_EXPORTED_BEGIN
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
/// Found in the file of every program, because the program itself passes it on: by it `kiln run
/// FILE` knows that FILE has this command line.
inline constexpr char programMarker[] = "kiln program, command line version 1";
int runProgram(const char *marker, int argc, char **argv, const ProgramBuilder &program,
               const Example &example);
} // namespace detail

/// Exit code: 0 good, 1 wrong result or failed check, 2 bad input or usage, 3 a check that found
/// nothing wrong but did not decide everything.
inline int main(int argc, char **argv, const ProgramBuilder &program, const Example &example = {}) {
  return detail::runProgram(detail::programMarker, argc, argv, program, example);
}

/// The `kiln` tool.
int toolMain(int argc, char **argv);

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_DRIVER_MAIN_H
