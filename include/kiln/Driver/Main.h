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
#include "kiln/runtime/tensor.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kiln {

/// Numbers in double precision, row-major, for formulas.
class HostArray {
public:
  HostArray() = default;
  explicit HostArray(std::vector<int64_t> extents);
  HostArray(int64_t rows, int64_t cols) : HostArray(std::vector<int64_t>{rows, cols}) {}

  /// 1 for an axis that does not exist.
  int64_t extent(int axis) const {
    return axis >= 0 && size_t(axis) < Extents.size() ? Extents[size_t(axis)] : 1;
  }
  int64_t rows() const { return extent(0); }
  int64_t cols() const { return extent(1); }
  const std::vector<int64_t> &extents() const { return Extents; }
  /// An element; outside the array, a stray NaN, so that a slip shows as a wrong result.
  double &operator()(int64_t row, int64_t col);
  double operator()(int64_t row, int64_t col) const {
    return const_cast<HostArray &>(*this)(row, col);
  }
  std::vector<double> &data() { return Data; }
  const std::vector<double> &data() const { return Data; }

private:
  std::vector<int64_t> Extents;
  std::vector<double> Data;
};

/// The matrix product; empty if the inner extents differ.
HostArray product(const HostArray &a, const HostArray &b);

/// What a formula sees: the inputs before the run. It states what the outputs should be.
class Formula {
public:
  const HostArray &in(const std::string &name);
  void expect(const std::string &name, HostArray value) { Expected[name] = std::move(value); }
  /// What must hold between the arguments, such as "a has as many columns as b has rows". If it
  /// does not, the run is refused as bad input, and the formula should return.
  bool require(bool holds, const std::string &what);
  /// Outputs are sums of so many products: |x - y| <= 1e-6 * length + r * |y|, where r is 1e-5 for
  /// f32, the rounding of the element type for smaller floats and 0 for integers.
  void accumulates(int64_t length) { Length = length; }

private:
  friend class FormulaAccess;
  std::map<std::string, HostArray> Inputs, Expected;
  std::string Refused;
  int64_t Length = 1;
};

struct Example {
  /// What `--arg` would say, for arguments not given on the command line.
  std::vector<std::pair<std::string, std::string>> args = {};
  /// An independent computation of the result.
  std::function<void(Formula &)> formula = {};
};

using ProgramBuilder = std::function<Program(const Config &)>;

/// Exit code: 0 good, 1 wrong result or failed check, 2 bad input or usage.
int main(int argc, char **argv, const ProgramBuilder &program, const Example &example = {});

/// The `kiln` tool.
int toolMain(int argc, char **argv);

} // namespace kiln

#endif // KILN_DRIVER_MAIN_H
