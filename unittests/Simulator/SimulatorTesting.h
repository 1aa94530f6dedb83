//===- SimulatorTesting.h - running textual IR in tests of the simulator -----------------===//
#ifndef KILN_UNITTESTS_SIMULATOR_SIMULATORTESTING_H
#define KILN_UNITTESTS_SIMULATOR_SIMULATORTESTING_H

#include "kiln/Simulator/Simulator.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>
#include <vector>

namespace kiln::test {

inline mlir::MLIRContext &context() {
  static mlir::MLIRContext *shared = [] {
    auto *made = new mlir::MLIRContext(mlir::MLIRContext::Threading::DISABLED);
    made->loadDialect<tile::TileDialect, ir::KilnDialect, mlir::arith::ArithDialect,
                      mlir::scf::SCFDialect>();
    return made;
  }();
  return *shared;
}

/// A program from text; source locations are "test.mlir:line:col".
class Program {
public:
  explicit Program(std::string text) : Text(std::move(text)) {
    mlir::ParserConfig config(&context());
    Module = mlir::parseSourceString<mlir::ModuleOp>(Text, config, "test.mlir");
    EXPECT_TRUE(Module) << "the test's program does not parse:\n" << Text;
  }

  Status run(llvm::StringRef entry, std::vector<Argument> args,
             const SimulatorOptions &options = {}, SimulationReport *report = nullptr) {
    if (!Module)
      return Status(StatusCode::Internal, "did not parse");
    return simulate(*Module, function(entry), args, options, report);
  }

  ir::FuncOp function(llvm::StringRef name) { return Module->lookupSymbol<ir::FuncOp>(name); }

  /// "test.mlir:<line>": the line that contains `needle`.
  std::string lineOf(const std::string &needle) const {
    size_t at = Text.find(needle);
    EXPECT_NE(at, std::string::npos) << needle;
    return "test.mlir:" + std::to_string(1 + std::count(Text.begin(), Text.begin() + at, '\n'));
  }

private:
  std::string Text;
  mlir::OwningOpRef<mlir::ModuleOp> Module;
};

/// A contiguous tensor with these elements.
inline Tensor tensorOf(DType dtype, Dims extents, const std::vector<double> &elements) {
  Tensor tensor = *Tensor::empty(dtype, extents);
  for (size_t i = 0; i < elements.size(); ++i)
    storeElement(dtype, tensor.dataAs<std::byte>() + i * sizeOf(dtype), elements[i]);
  return tensor;
}

inline Tensor poisoned(DType dtype, Dims extents) {
  Tensor tensor = *Tensor::empty(dtype, extents);
  EXPECT_TRUE(tensor.fillPoison().isOk());
  return tensor;
}

inline std::vector<double> randomElements(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> elements(count);
  for (double &element : elements)
    element = static_cast<float>(static_cast<double>(generator()) / 4294967296.0 * 2.0 - 1.0);
  return elements;
}

inline std::vector<double> elementsOf(const Tensor &tensor) {
  std::vector<std::byte> bytes = *tensor.gatherBytes();
  std::vector<double> elements(tensor.numElements());
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = loadElement(tensor.dtype(), bytes.data() + i * sizeOf(tensor.dtype()));
  return elements;
}

inline Argument index(int64_t value) { return ScalarBits::fromInt(DType::Index, value); }

inline SimulatorOptions withSeed(uint64_t seed) {
  SimulatorOptions options;
  options.seed = seed;
  return options;
}

/// `text` with every occurrence of each key replaced by its value.
inline std::string fill(std::string text,
                        const std::vector<std::pair<std::string, std::string>> &values) {
  for (const auto &[key, value] : values)
    for (size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += value.size())
      text.replace(at, key.size(), value);
  return text;
}

inline void expectNear(const std::vector<double> &have, const std::vector<double> &want,
                       double tolerance) {
  ASSERT_EQ(have.size(), want.size());
  for (size_t i = 0; i < have.size(); ++i)
    // Written so that NaN, which compares false, fails unless it is wanted.
    if (!(std::abs(have[i] - want[i]) <= tolerance) &&
        !(std::isnan(have[i]) && std::isnan(want[i])) && have[i] != want[i])
      FAIL() << "element " << i << " is " << have[i] << ", expected " << want[i];
}

#define EXPECT_OK(expression)                                                                      \
  do {                                                                                             \
    kiln::Status status_ = (expression);                                                           \
    EXPECT_TRUE(status_.isOk()) << status_.str();                                                  \
  } while (false)

/// The error has this code and its text (location included) contains this.
inline void expectError(const Status &status, StatusCode code,
                        const std::vector<std::string> &contains) {
  EXPECT_EQ(toString(status.code()), std::string(toString(code))) << status.str();
  for (const std::string &text : contains)
    EXPECT_NE(status.str().find(text), std::string::npos)
        << "no '" << text << "' in: " << status.str();
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_SIMULATOR_SIMULATORTESTING_H
