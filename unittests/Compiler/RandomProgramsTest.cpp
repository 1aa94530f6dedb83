//===- RandomProgramsTest.cpp - random programs: simulator and native code against the reference
//-===//
//
// Runs KILN_RANDOM_PROGRAMS programs (500) from seed KILN_RANDOM_SEED (1) on. A failure prints the
// seed and the program; to run that one alone:
//   KILN_RANDOM_SEED=<seed> KILN_RANDOM_PROGRAMS=1 kiln_compiler_tests
//   --gtest_filter=RandomPrograms.*
//
//===----------------------------------------------------------------------------===//
#include "CpuTesting.h"
#include "RandomProgram.h"
#include "SimulatorTesting.h"

#include "kiln/Target/Torch/Torch.h"
#include "kiln/Target/Torch/TorchWorker.h"
#include "kiln/Transforms/Passes.h"

#include <cmath>
#include <cstdlib>

using namespace kiln;
using namespace kiln::test;

namespace {

double specialFloat(Choice &pick) {
  return pick.from<double>({NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, -1e-45, 3.4e38, -3.4e38,
                            65504, 1e30, -1e-30, 2147483648.0, -129, 0.1, 1.0});
}

/// The tensor a parameter starts as.
Tensor filled(const RandomParameter &parameter, Choice &pick) {
  const RandomTensor &wanted = parameter.tensor;
  Tensor tensor = poisoned(wanted.type, wanted.extents);
  std::byte *data = tensor.dataAs<std::byte>();
  int64_t count = tensor.numElements();
  for (int64_t i = 0; i < count && parameter.fill != Fill::Poison;
       ++i, data += sizeOf(wanted.type)) {
    bool isSpecial = parameter.fill == Fill::Special && pick.oneIn(3);
    if (parameter.fill == Fill::RowNumbers) {
      // i times a number that has no factor in common with the count.
      storeElementInt(wanted.type, data, (i * 31 + 7) % count);
    } else if (isFloat(wanted.type)) {
      double uniform = double(pick.below(4097) - 2048) / 1024;
      storeElement(wanted.type, data, isSpecial ? specialFloat(pick) : uniform);
    } else {
      int64_t small = wanted.type == DType::I1 ? pick.below(2) : pick.below(9) - 4;
      int64_t any = wanted.type == DType::I1 ? pick.below(2) : int64_t(pick.bits());
      storeElementInt(wanted.type, data, isSpecial ? any : small);
    }
  }
  return tensor;
}

Tensor copyOf(const Tensor &tensor) {
  Tensor copy = *Tensor::empty(tensor.dtype(), tensor.extents());
  EXPECT_TRUE(copy.scatterBytes(*tensor.gatherBytes()).isOk());
  return copy;
}

/// Where a result and the reference differ by more than the program's accuracy; "" if they do not.
std::string difference(const std::string &who, const RandomTensor &parameter,
                       const Tensor &computed, const Tensor &expected) {
  std::vector<std::byte> a = *computed.gatherBytes(), b = *expected.gatherBytes();
  int64_t size = sizeOf(parameter.type);
  for (int64_t i = 0; i < computed.numElements(); ++i) {
    const std::byte *x = a.data() + i * size, *y = b.data() + i * size;
    double have = loadElement(parameter.type, x), want = loadElement(parameter.type, y);
    bool agrees = isFloat(parameter.type)
                      ? have == want || (std::isnan(have) && std::isnan(want)) ||
                            std::fabs(have - want) <= parameter.accuracy.error
                      : loadElementInt(parameter.type, x) == loadElementInt(parameter.type, y);
    if (!agrees)
      return parameter.name + ", element " + std::to_string(i) + ": " + who + " has " +
             std::to_string(have) + ", the reference " + std::to_string(want) + ", allowed is " +
             std::to_string(parameter.accuracy.error);
  }
  return "";
}

/// What is wrong with the program; "" if nothing is. Counts the programs that ran natively.
std::string check(const RandomProgram &program, uint64_t seed, TorchWorker &worker,
                  uint64_t &ranNatively) {
  mlir::ParserConfig config(&context());
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program.text, config, "random.mlir");
  if (!module)
    return "it does not parse";
  mlir::PassManager passes(&context());
  buildPreparePipeline(passes);
  if (failed(passes.run(*module)))
    return "it cannot be prepared";

  Choice pick(seed);
  std::vector<Argument> simulated, native;
  std::vector<TorchArgument> expected;
  for (const RandomParameter &parameter : program.parameters) {
    Tensor tensor = filled(parameter, pick);
    simulated.push_back(tensor);
    native.push_back(copyOf(tensor));
    expected.push_back(copyOf(tensor));
  }
  if (Status bad =
          simulate(*module, module->lookupSymbol<ir::FuncOp>("main"), simulated, withSeed(seed));
      !bad.isOk())
    return "the simulator: " + bad.str();
  Expected<std::string> source = emitTorch(*module);
  if (!source)
    return "the reference cannot be emitted: " + source.status().str();
  if (Status bad = worker.run(*source, *torchEntryName(*module), expected); !bad.isOk())
    return "the reference: " + bad.str() + "\n" + worker.traceback();
  auto compare = [&](const std::string &who, const std::vector<Argument> &computed) {
    for (auto [parameter, have, want] : llvm::zip_equal(program.parameters, computed, expected))
      if (std::string wrong =
              difference(who, parameter.tensor, std::get<Tensor>(have), std::get<Tensor>(want));
          !wrong.empty())
        return wrong;
    return std::string();
  };
  if (std::string wrong = compare("the simulator", simulated); !wrong.empty())
    return wrong;
  Status ran = compileAndRun(module->lookupSymbol<ir::FuncOp>("main"), native);
  if (ran.code() == StatusCode::Unsupported) // barriers
    return "";
  if (!ran.isOk())
    return "native code: " + ran.str();
  ++ranNatively;
  return compare("native code", native);
}

uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(RandomPrograms, SimulatorAndNativeCodeAgreeWithReference) {
  Expected<std::unique_ptr<TorchWorker>> worker = TorchWorker::start();
  if (!worker)
    GTEST_SKIP() << worker.status().message();
  uint64_t first = setting("KILN_RANDOM_SEED", 1), count = setting("KILN_RANDOM_PROGRAMS", 500);
  uint64_t ranNatively = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RandomProgram program = makeRandomProgram(seed);
    std::string wrong = check(program, seed, **worker, ranNatively);
    EXPECT_EQ(wrong, "") << "seed " << seed << ", program:\n" << program.text;
  }
  std::printf("  %llu of %llu programs ran natively\n", (unsigned long long)ranNatively,
              (unsigned long long)count);
}

TEST(RandomPrograms, UseEveryOp) {
  std::string all;
  for (uint64_t seed = 1; seed <= 500; ++seed)
    all += makeRandomProgram(seed).text;
  for (mlir::RegisteredOperationName op : context().getRegisteredOperations()) {
    std::string name = op.getStringRef().str();
    bool isKiln = name.starts_with("tile.") || name.starts_with("kiln.");
    if (!isKiln || name == "kiln.return") // which is left unwritten where nothing is returned
      continue;
    EXPECT_TRUE(all.find(name + " ") != all.npos || all.find(name + "(") != all.npos ||
                all.find(name + "\n") != all.npos)
        << "no program contains " << name;
  }
}

} // namespace
