//===- TileOpTesting.h - one kernel over whole tensors, for tests of single ops ----------===//
#ifndef KILN_UNITTESTS_SIMULATOR_TILEOPTESTING_H
#define KILN_UNITTESTS_SIMULATOR_TILEOPTESTING_H

#include "SimulatorTesting.h"

#include <cmath>
#include <limits>

namespace kiln::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline const double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Operand {
  DType dtype;
  int64_t rows, cols;
  std::vector<double> elements;

  std::string shape() const {
    return std::to_string(rows) + "x" + std::to_string(cols) + "x" + toString(dtype);
  }
};

/// Loads the operands as %a, %b, %c, runs `body`, which makes %y of `result`'s type, and stores
/// that.
inline Status runTileOp(const std::string &body, const std::vector<Operand> &operands,
                        Operand &result) {
  std::string params, loads;
  std::vector<Argument> args;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string name(1, static_cast<char>('a' + i));
    params += "%t" + name + ": !kiln.tensor<" + operands[i].shape() + "> in, ";
    loads += "%" + name + " = tile.load %t" + name + "[0, 0] : !tile.tile<" + operands[i].shape() +
             ">\n";
    args.emplace_back(
        tensorOf(operands[i].dtype, {operands[i].rows, operands[i].cols}, operands[i].elements));
  }
  Program program("kiln.func @k(" + params + "%out: !kiln.tensor<" + result.shape() +
                  "> out) incore {\n" + loads + body + "\ntile.store %y, %out[0, 0]\n}");
  Tensor out = poisoned(result.dtype, {result.rows, result.cols});
  args.emplace_back(out);
  Status status = program.run("k", args);
  result.elements = elementsOf(out);
  return status;
}

/// The result of `body` where RESULT stands for the result's type.
inline std::vector<double> tileOp(const std::string &body, const std::vector<Operand> &operands,
                                  Operand result) {
  EXPECT_OK(
      runTileOp(fill(body, {{"RESULT", "!tile.tile<" + result.shape() + ">"}}), operands, result));
  return result.elements;
}

/// The distance of neighbours, relative to their value, or `ofOthers`: what a difference in the
/// last bit of f32 may become when it is rounded.
inline double spacing(DType type, double ofOthers) {
  switch (type) {
  case DType::F16:
    return 1.0 / 1024;
  case DType::BF16:
    return 1.0 / 128;
  case DType::F8E4M3FN:
    return 1.0 / 8;
  case DType::F8E5M2:
    return 1.0 / 4;
  default:
    return ofOthers;
  }
}

inline Operand row(DType dtype, std::vector<double> elements) {
  auto count = static_cast<int64_t>(elements.size());
  return {dtype, 1, count, std::move(elements)};
}

inline void expectSame(const std::vector<double> &have, const std::vector<double> &want) {
  expectNear(have, want, 0);
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_SIMULATOR_TILEOPTESTING_H
