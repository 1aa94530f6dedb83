//===- ScalarAgreementTest.cpp - scalar arithmetic means the same everywhere ---------------===//
//
// Random expressions over scalars of every type, on values chosen to be nasty: run as written by
// the simulator, by native code and by PyTorch, and again after the passes that simplify. All make
// the same numbers, bit by bit, or all fail.
//
//===----------------------------------------------------------------------------===//
#include "Simulator/TileOpTesting.h"
#include "Target/Llvm/LlvmTesting.h"
#include "Target/Torch/TorchTesting.h"

#include "kiln/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace kiln;
using namespace kiln::test;

namespace {

using Words = std::vector<std::string>;

const Words kTypes = {"i8", "i16", "i32", "i64", "index", "f32", "f16", "bf16"};

/// A kernel that makes one scalar from others, again and again, and writes them all.
class RandomScalars {
public:
  explicit RandomScalars(unsigned seed) : Generator(seed) {
    for (const std::string &type : kTypes) {
      Parameters += "%p" + type + ": " + type + ", ";
      Arguments.push_back(nastyArgument(*parseDType(type)));
      All.push_back({"%p" + type, type});
    }
    for (const std::string &type : kTypes)
      addConstant(type);
    for (int step = 0; step < 24; ++step)
      addStep(Generator() % 3 == 0 ? "index" : pick(kTypes));
  }

  std::string text() const {
    std::string outputs, writes;
    for (const auto &[name, type] : All) {
      bool isIndex = type == "index";
      std::string out = "%o" + name.substr(1), value = isIndex ? "%w" + name.substr(1) : name;
      outputs += (outputs.empty() ? "" : ", ") + out + ": !kiln.tensor<1x" +
                 (isIndex ? "i64" : type) + "> out";
      if (isIndex)
        writes += "  " + value + " = arith.index_cast " + name + " : index to i64\n";
      writes += "  kiln.write " + value + ", " + out + "[0]\n";
    }
    return "kiln.func @k(" + Parameters + outputs + ") incore {\n" + Body + writes + "}\n";
  }

  /// The arguments with fresh outputs, which are also put into `outputs`.
  std::vector<Argument> arguments(std::vector<Tensor> &outputs) const {
    std::vector<Argument> args = Arguments;
    for (const auto &[name, type] : All) {
      outputs.push_back(poisoned(type == "index" ? DType::I64 : *parseDType(type), {1}));
      args.emplace_back(outputs.back());
    }
    return args;
  }

private:
  struct Scalar {
    std::string name, type;
  };

  template <typename T> T pick(const std::vector<T> &from) {
    return from[Generator() % from.size()];
  }
  static bool isWhole(const std::string &type) { return type[0] == 'i'; }

  int64_t nastyInteger(DType type) {
    int width = 8 * static_cast<int>(sizeOf(type));
    auto top = static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
    int64_t value = pick<int64_t>({0,   1,    -1,        2,           3,
                                   -7,  100,  width - 1, width,       width + 1,
                                   top, -top, -top - 1,  top / 2 + 1, -(top / 2) - 1,
                                   127, -128, 255,       1000003,     4294967296});
    return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - width)) >> (64 - width);
  }
  Argument nastyArgument(DType type) {
    if (!isFloat(type))
      return ScalarBits::fromInt(type, nastyInteger(type));
    return ScalarBits::fromDouble(
        type, pick<double>({0.0, -0.0, 1, -1.5, 0.1, 1e10, -3e9, 65504, 3e38, kInf, -kInf, kNaN,
                            127.5, -128.9, 2147483648.0, 9.3e18}));
  }
  std::string any(const std::string &type) {
    Words names;
    for (const Scalar &scalar : All)
      if (scalar.type == type)
        names.push_back(scalar.name);
    return pick(names);
  }

  std::string add(const std::string &type, const std::string &expression) {
    All.push_back({"%v" + std::to_string(All.size()), type});
    Body += "  " + All.back().name + " = arith." + expression + "\n";
    return All.back().name;
  }
  void addConstant(const std::string &type) {
    // Constants of an index that are larger, and that MLIR finds behind other operations, wrap.
    DType like = type == "index" ? DType::I16 : *parseDType(type);
    add(type, "constant " +
                  (isWhole(type) ? std::to_string(nastyInteger(like))
                                 : pick<std::string>({"1.5", "-0.0", "3.0e4", "0.0"})) +
                  " : " + type);
  }
  void addBinary(const std::string &type, const std::string &x, const std::string &y,
                 const Words &ops) {
    add(type, pick(ops) + " " + x + ", " + y + " : " + type);
  }

  void addStep(const std::string &type) {
    std::string x = any(type), y = any(type);
    switch (Generator() % 5) {
    case 0:
      return addCast(type, x);
    case 1:
      return addChoice(type, x, y);
    case 2:
      if (!isWhole(type))
        return addBinary(type, x, y, {"divf", "remf"});
      if (Generator() % 16 > 0) { // mostly not zero, so that most programs run to their end
        std::string one = add(type, "constant 1 : " + type);
        y = add(type, "ori " + y + ", " + one + " : " + type);
      }
      return addBinary(
          type, x, y, {"divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"});
    default:
      if (isWhole(type))
        return addBinary(type, x, y,
                         {"addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui",
                          "minsi", "maxsi", "minui", "maxui"});
      return addBinary(type, x, y, {"addf", "subf", "mulf", "maximumf", "minimumf"});
    }
  }
  void addChoice(const std::string &type, const std::string &x, const std::string &y) {
    std::string condition = "%c" + std::to_string(All.size());
    std::string compare = isWhole(type) ? "cmpi " + pick<std::string>({"eq", "slt", "sge", "ult"})
                                        : "cmpf " + pick<std::string>({"oeq", "une", "olt", "uge"});
    Body += "  " + condition + " = arith." + compare + ", " + x + ", " + y + " : " + type + "\n";
    add(type, "select " + condition + ", " + y + ", " + x + " : " + type);
  }
  void addCast(const std::string &from, const std::string &x) {
    std::string to = pick(kTypes), op;
    bool isLonger = sizeOf(*parseDType(to)) > sizeOf(*parseDType(from));
    bool isShorter = sizeOf(*parseDType(to)) < sizeOf(*parseDType(from));
    if (isWhole(from) && isWhole(to)) {
      bool isOfIndex = (from == "index") != (to == "index");
      if (isOfIndex)
        op = pick<std::string>({"index_cast", "index_castui"});
      else if (from != "index")
        op = isShorter ? "trunci" : isLonger ? pick<std::string>({"extsi", "extui"}) : "";
    } else if (from != "index" && to != "index") {
      op = isWhole(from) ? pick<std::string>({"sitofp", "uitofp"})
           : isWhole(to) ? "fptosi"
           : isShorter   ? "truncf"
           : isLonger    ? "extf"
                         : "";
    }
    if (!op.empty())
      add(to, op + " " + x + " : " + from + " to " + to);
  }

  std::mt19937 Generator;
  std::vector<Scalar> All; ///< In the order in which they are made.
  std::vector<Argument> Arguments;
  std::string Parameters, Body;
};

unsigned numberFrom(const char *variable, unsigned otherwise) {
  const char *text = std::getenv(variable);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// The program as the passes for a machine simplify it; empty if they refuse it.
std::string simplified(const std::string &text) {
  mlir::ParserConfig config(&context());
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, config);
  mlir::ScopedDiagnosticHandler quiet(&context(),
                                      [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::PassManager passes(&context());
  passes.addPass(createKilnExactIndices());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  std::string simple;
  llvm::raw_string_ostream os(simple);
  if (mlir::succeeded(passes.run(*module)))
    module->print(os);
  return simple;
}

class ScalarAgreement : public TorchRun {
protected:
  /// What one way of running a program made.
  struct Outcome {
    std::string who;
    Status status;
    std::vector<Tensor> outputs;
  };

  void run(const RandomScalars &scalars, const std::string &text, const std::string &how,
           std::vector<Outcome> &outcomes) {
    Program program(text);
    std::vector<Tensor> outputs;
    std::vector<TorchArgument> args = scalars.arguments(outputs);
    outcomes.push_back({"the reference" + how, Worker->run(emit(text), "k", args), outputs});
    outputs.clear();
    Status status = program.run("k", scalars.arguments(outputs));
    outcomes.push_back({"the simulator" + how, status, outputs});
    outputs.clear();
    status = compileAndRun(program.function("k"), scalars.arguments(outputs));
    outcomes.push_back({"native code" + how, status, outputs});
  }

  static void expectSame(const Outcome &a, const Outcome &b) {
    ASSERT_EQ(a.status.isOk(), b.status.isOk()) << a.who << ": " << a.status.str() << "\n"
                                                << b.who << ": " << b.status.str();
    for (size_t i = 0; i < a.outputs.size() && a.status.isOk(); ++i) {
      std::vector<std::byte> x = *a.outputs[i].gatherBytes(), y = *b.outputs[i].gatherBytes();
      double left = elementsOf(a.outputs[i])[0], right = elementsOf(b.outputs[i])[0];
      ASSERT_TRUE(x == y || (std::isnan(left) && std::isnan(right)))
          << "output " << i << ": " << a.who << " has " << left << ", " << b.who << " " << right;
    }
  }
};

TEST_F(ScalarAgreement, RandomExpressionsMakeTheSameNumbersOrFailEverywhere) {
  unsigned failed = 0, count = numberFrom("KILN_RANDOM_PROGRAMS", 120),
           first = numberFrom("KILN_RANDOM_SEED", 1);
  for (unsigned seed = first; seed < first + count; ++seed) {
    RandomScalars scalars(seed);
    std::string text = scalars.text(), simple = simplified(text);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    std::vector<Outcome> outcomes;
    run(scalars, text, "", outcomes);
    failed += !outcomes.front().status.isOk();
    if (!simple.empty()) // constants that are too large are refused
      run(scalars, simple, " after the passes", outcomes);
    for (const Outcome &outcome : outcomes)
      expectSame(outcomes.front(), outcome);
    if (HasFatalFailure())
      return;
  }
  // Both kinds of programs are there to be compared.
  EXPECT_GT(failed, count / 20);
  EXPECT_LT(failed, count / 2);
}

} // namespace
