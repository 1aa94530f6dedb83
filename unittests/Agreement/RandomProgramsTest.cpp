//===- RandomProgramsTest.cpp - random programs on all platforms against the reference ----===//
//
// The same program in the plain simulator, compiled for every simulated machine and run there, as
// native code, and on a GPU where there is one, or one is emulated; each must agree with the
// reference.
//
// Runs KILN_RANDOM_PROGRAMS programs (500) from seed KILN_RANDOM_SEED (1) on. A failure prints the
// seed and the program; to run that one alone:
//   KILN_RANDOM_SEED=<seed> KILN_RANDOM_PROGRAMS=1 kiln_compiler_tests
//   --gtest_filter=RandomPrograms.*
//
//===----------------------------------------------------------------------------===//
#include "HopperRun.h"
#include "RandomProgram.h"
#include "SavedCases.h"
#include "Simulator/SimulatorTesting.h"
#include "Target/Llvm/LlvmTesting.h"

#include "kiln/Check/CheckProgram.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Platform/Platform.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/Target/Torch/Torch.h"
#include "kiln/Target/Torch/TorchWorker.h"
#include "kiln/Transforms/Passes.h"

#include <cmath>
#include <cstdlib>
#include <set>

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

/// The platforms whose machines are simulated under every check.
const std::vector<const Platform *> &simulated() {
  static const std::vector<const Platform *> found = [] {
    std::vector<const Platform *> list;
    for (const auto &platform : platforms())
      if (platform->can(Capability::Seeds))
        list.push_back(platform.get());
    return list;
  }();
  return found;
}

/// Compiles the program for a machine and simulates it there, with every check. False: the machine
/// cannot take it, and the compiler said why (its memory is too small, say).
bool runOnMachine(mlir::ModuleOp program, const Platform &platform, uint64_t seed,
                  std::vector<Argument> &args, Status &status) {
  mlir::OwningOpRef<mlir::ModuleOp> compiled = program.clone();
  CheckOptions options;
  options.firstSeed = seed;
  options.seeds = 1;
  options.machine = platform.machine();
  unsigned errors = 0;
  {
    mlir::ScopedDiagnosticHandler quiet(&context(), [&](mlir::Diagnostic &diagnostic) {
      errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    });
    mlir::PassManager passes(&context());
    PipelineOptions pipeline{options.machine, "", false, /*prove=*/false};
    buildPipeline(passes, pipeline);
    if (failed(passes.run(*compiled))) {
      EXPECT_GT(errors, 0u) << "a pass failed without saying why";
      return false;
    }
  }
  Expected<CheckReport> report =
      checkProgram(*compiled, compiled->lookupSymbol<ir::FuncOp>("main"), args, options);
  status = report ? Status::ok() : report.status();
  // Parts of outputs may be left open, and read: that is poison everywhere. And padding is reduced
  // like data: these programs mean what they compute.
  if (report)
    for (const Finding &finding : report->findings)
      if (finding.isError() && finding.kind != FindingKind::UnwrittenRead &&
          finding.kind != FindingKind::UnwrittenOutput &&
          finding.kind != FindingKind::PaddedReduction && finding.kind != FindingKind::MissingData)
        status = Status(StatusCode::KernelFailed, finding.message, finding.location);
  return true;
}

/// What is wrong with the program; "" if nothing is. Counts the programs a machine could take.
std::string check(const RandomProgram &program, uint64_t seed, TorchWorker &worker,
                  std::vector<uint64_t> &ranOn) {
  mlir::ParserConfig config(&context());
  auto asWritten = mlir::parseSourceString<mlir::ModuleOp>(program.text, config, "random.mlir");
  if (!asWritten)
    return "it does not parse";
  mlir::OwningOpRef<mlir::ModuleOp> module = asWritten->clone();
  mlir::PassManager passes(&context());
  buildPreparePipeline(passes);
  if (failed(passes.run(*module)))
    return "it cannot be prepared";

  Choice pick(seed);
  std::vector<Argument> interpreted, native, onGpu;
  std::vector<std::vector<Argument>> onMachine(simulated().size());
  std::vector<TorchArgument> expected;
  for (const RandomParameter &parameter : program.parameters) {
    Tensor tensor = filled(parameter, pick);
    interpreted.push_back(tensor);
    native.push_back(copyOf(tensor));
    onGpu.push_back(copyOf(tensor));
    expected.push_back(copyOf(tensor));
    for (std::vector<Argument> &args : onMachine)
      args.push_back(copyOf(tensor));
  }
  if (Status bad =
          simulate(*module, module->lookupSymbol<ir::FuncOp>("main"), interpreted, withSeed(seed));
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
  if (std::string wrong = compare("the simulator", interpreted); !wrong.empty())
    return wrong;
  if (Status ran = compileAndRun(module->lookupSymbol<ir::FuncOp>("main"), native); !ran.isOk())
    return "native code: " + ran.str();
  if (std::string wrong = compare("native code", native); !wrong.empty())
    return wrong;
  for (auto [number, platform] : llvm::enumerate(simulated())) {
    Status ran;
    if (!runOnMachine(*asWritten, *platform, seed, onMachine[number], ran))
      continue;
    if (!ran.isOk())
      return platform->name() + ": " + ran.str();
    if (std::string wrong = compare(platform->name(), onMachine[number]); !wrong.empty())
      return wrong;
    ++ranOn[number];
  }
  std::vector<SavedTensor> saved;
  for (auto [parameter, before, after] : llvm::zip_equal(program.parameters, onGpu, expected))
    saved.push_back(
        {std::get<Tensor>(before), std::get<Tensor>(after), parameter.tensor.accuracy.error});
  saveCase("random program " + std::to_string(seed), program.text, "main", saved);
  if (!hopperHere())
    return "";
  if (Status ran = runOnHopper(*asWritten, "main", onGpu); !ran.isOk())
    return ran.code() == StatusCode::Unsupported ? "" : "h200: " + ran.str();
  ++ranOn.back();
  return compare("h200", onGpu);
}

uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(RandomPrograms, AllPlatformsAgreeWithTheReference) {
  Expected<std::unique_ptr<TorchWorker>> worker = TorchWorker::start();
  if (!worker)
    GTEST_SKIP() << worker.status().message();
  uint64_t first = setting("KILN_RANDOM_SEED", 1), count = setting("KILN_RANDOM_PROGRAMS", 500);
  std::vector<uint64_t> ranOn(simulated().size() + 1);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RandomProgram program = makeRandomProgram(seed);
    std::string wrong = check(program, seed, **worker, ranOn);
    EXPECT_EQ(wrong, "") << "seed " << seed << ", program:\n" << program.text;
  }
  for (auto [number, platform] : llvm::enumerate(simulated())) {
    std::printf("  %s could take %llu of %llu programs\n", platform->name().c_str(),
                (unsigned long long)ranOn[number], (unsigned long long)count);
    if (count >= 100) {
      EXPECT_GT(ranOn[number], count / 2) << platform->name() << " takes too few to mean anything";
    }
  }
  if (hopperHere()) {
    std::printf("  h200 could take %llu\n", (unsigned long long)ranOn.back());
    EXPECT_GT(ranOn.back(), count / 2);
  }
}

/// Every operation has code for Hopper: what is refused asked for lanes that it cannot have.
TEST(RandomPrograms, AreEmittedForHopper) {
  const Machine &hopper = *findMachine("hopper");
  uint64_t first = setting("KILN_RANDOM_SEED", 1), count = setting("KILN_RANDOM_PROGRAMS", 200);
  uint64_t emitted = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RandomProgram program = makeRandomProgram(seed);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        program.text, mlir::ParserConfig(&context()), "random.mlir");
    std::string errors;
    mlir::ScopedDiagnosticHandler quiet(&context(), [&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
    });
    mlir::PassManager passes(&context());
    PipelineOptions pipeline;
    pipeline.machine = &hopper;
    buildPipeline(passes, pipeline);
    if (failed(passes.run(*module))) {
      EXPECT_NE(errors.find("cannot be divided"), errors.npos)
          << errors << "seed " << seed << ", program:\n"
          << program.text;
      continue;
    }
    Expected<std::vector<CudaUnit>> units = emitCuda(*module, hopper);
    EXPECT_TRUE(bool(units)) << units.status().str() << "\nseed " << seed << ", program:\n"
                             << program.text;
    ++emitted;
  }
  EXPECT_GT(emitted, count / 2);
}

TEST(RandomPrograms, UseEveryOp) {
  // What several ranks do: test/Driver/ranks.mlir compares all of it with the reference.
  const std::set<std::string> ofRanks = {
      "kiln.rank",           "kiln.ranks",       "kiln.all_reduce", "kiln.all_gather",
      "kiln.reduce_scatter", "kiln.broadcast",   "kiln.all_to_all", "kiln.send",
      "kiln.recv",           "kiln.rank_barrier"};
  std::string all;
  for (uint64_t seed = 1; seed <= 500; ++seed)
    all += makeRandomProgram(seed).text;
  for (mlir::RegisteredOperationName op : context().getRegisteredOperations()) {
    std::string name = op.getStringRef().str();
    bool isKiln = name.starts_with("tile.") || name.starts_with("kiln.");
    if (ofRanks.contains(name))
      continue;
    if (!isKiln || name == "kiln.return") // which is left unwritten where nothing is returned
      continue;
    EXPECT_TRUE(all.find(name + " ") != all.npos || all.find(name + "(") != all.npos ||
                all.find(name + "\n") != all.npos)
        << "no program contains " << name;
  }
}

} // namespace
