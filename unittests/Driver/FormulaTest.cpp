//===- FormulaTest.cpp - examples whose formulas are right, wrong or broken ----------===//
//
// Each test is the main function of an example. They share one Python process, and are skipped, by
// name, where no Python has torch.
//
//===----------------------------------------------------------------------------===//
#include "ExampleTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// y = x * scale in one tile, where scale is 2 unless `--scale` says otherwise.
Program scaled(const Config &cfg) {
  double scale = double(cfg.param("scale", {}, 2));
  cfg.choice("mode", {"fast", "slow"}, "fast");
  Program p("scaled");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    spmd("scale", {1}, {}, [&](Index) { store(load(x, {0, 0}, {8, 8}) * scale, y, {0, 0}); });
  });
  return p;
}

const decltype(Example::args) kSquares = {{"x", "8x8"}, {"y", "8x8"}};

Ran runScaled(const std::string &formula, std::vector<std::string> options = {}) {
  options.push_back("--no-reference");
  return run(scaled, {.args = kSquares, .formula = formula}, options);
}

/// n becomes n + 1, in place.
Program counter(const Config &) {
  Program p("counter");
  p.orchestration("main", {"n"}, [&](InOut<i64> n) {
    spmd("count", {1}, {}, [&](Index) { store(load(n, {0, 0}, {1, 2}) + 1, n, {0, 0}); });
  });
  return p;
}

class Formula : public ExampleTest {};

TEST_F(Formula, RightResult) {
  Ran ran = runScaled("y = 2 * x");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "against formula")) << ran.out;
  EXPECT_TRUE(has(ran.out, "PASS")) << ran.out;
}

TEST_F(Formula, WrongResultNamesTheOutputAndItsWorstElement) {
  Ran ran = runScaled("y = 2 * x\ny[3, 4] = 100\ny[5, 6] += 1", {"--arg", "x=8x8:ones"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.out, "  y         against formula   max |error| 98          WRONG"))
      << ran.out;
  EXPECT_TRUE(has(ran.out, "[3, 4] is 2, expected 100")) << ran.out;
}

TEST_F(Formula, ToleranceGrowsWithAccumulates) {
  std::string close = "y = 2 * x + 1e-5\n";
  EXPECT_EQ(runScaled(close, {"--arg", "x=8x8:zeros"}).code, 1);
  EXPECT_EQ(runScaled(close + "accumulates = 20", {"--arg", "x=8x8:zeros"}).code, 0);
  for (std::string wrong : {"0.5", "-1", "True", "18446744073709551616"})
    EXPECT_EQ(runScaled(close + "accumulates = " + wrong).err,
              "kiln: error: accumulates in the formula is " + wrong +
                  "; it is an integer from 0 to 2**53 - 1\n");
}

TEST_F(Formula, NanIsRightOnlyWhereTheFormulaHasIt) {
  Ran ran = runScaled("y = 2 * x\ny[3, 4] = math.nan");
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.out, ", expected NaN")) << ran.out;
  std::string roots = "y = torch.sqrt(-1 - x.abs()) * x";
  auto negativeRoots = [](const Config &) {
    Program p("roots");
    p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
      spmd("root", {1}, {},
           [&](Index) { store(sqrt(-1.0 - abs(load(x, {0, 0}, {8, 8}))), y, {0, 0}); });
    });
    return p;
  };
  ran = run(negativeRoots, {.args = kSquares, .formula = roots}, {"--no-reference"});
  EXPECT_EQ(ran.code, 0) << ran.out;
  ran = run(negativeRoots, {.args = kSquares, .formula = "y = 0 * x + 3"}, {"--no-reference"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.out, "[0, 0] is NaN, expected 3")) << ran.out;
}

TEST_F(Formula, NestedTooDeeplyForPython) {
  std::string deep = "y = " + std::string(100000, '(') + "x" + std::string(100000, ')');
  Ran ran = runScaled(deep);
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(has(ran.err, "line 1 of the formula, `y = (")) << ran.err.substr(0, 300);
  EXPECT_LT(ran.err.size(), 1000u);
  ran = runScaled("y = " + std::string(100000, '-') + "x");
  EXPECT_EQ(ran.code, 2);
  EXPECT_LT(ran.err.size(), 1000u);
}

TEST_F(Formula, ThatNeverEndsIsEnded) {
  Ran ran = runScaled("while True: y = 2 * x", {"--timeout", "2"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(has(ran.err, "did not answer within 2 s (--timeout SECONDS allows more): is there a "
                           "loop that never ends?"))
      << ran.err;
  EXPECT_EQ(runScaled("y = 2 * x").code, 0) << "the next one needs a Python of its own";
}

TEST_F(Formula, ConfigIsInScope) {
  EXPECT_EQ(runScaled("y = scale * x").code, 0);
  EXPECT_EQ(runScaled("y = scale * x", {"--scale", "7"}).code, 0);
  EXPECT_EQ(runScaled("y = {'fast': 2, 'slow': 3}[mode] * x", {"--mode", "slow"}).code, 1);
}

TEST_F(Formula, ArgumentsAreRefused) {
  Ran ran = runScaled("assert x.shape[0] == 9, \"x has nine rows\"\ny = 2 * x");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "kiln: error: the arguments do not fit together: it must hold that x has nine "
                     "rows\n");
  ran = runScaled("y = 2 * x", {"--arg", "y=8x9"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "kiln: error: the arguments do not fit together: it must hold that y has the "
                     "shape [8, 8], as in the formula\n");
}

TEST_F(Formula, PythonErrorsCarryTheirLine) {
  Ran ran = runScaled(R"(
    z = 2 * x
    y = z + w
  )");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "kiln: error: line 2 of the formula, `y = z + w`: NameError: name 'w' is not "
                     "defined\n");
  EXPECT_TRUE(has(runScaled("y = x\nassert y.numel() == 3").err,
                  "line 2 of the formula, `assert y.numel() == 3`: AssertionError"));
  EXPECT_TRUE(has(runScaled("y = x\ny = = x").err,
                  "line 2 of the formula, `y = = x`: SyntaxError: invalid syntax"));
  EXPECT_TRUE(has(runScaled("y = x\nif True:\n").err, "of the formula, `if True:`"));
  EXPECT_TRUE(has(runScaled("y = x @ torch.ones(3, 3)").err, "line 1 of the formula, `y = x @"));
}

TEST_F(Formula, MustSpeakOfAnOutput) {
  Ran ran = runScaled("z = 2 * x");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "kiln: error: the formula says nothing of an output; it must assign to y\n");
  EXPECT_EQ(runScaled("y = 3").err,
            "kiln: error: the formula makes y int, and not a tensor of torch.float32\n");
}

TEST_F(Formula, IntegersAreExact) {
  Example example{.args = {{"n", "1x2:iota"}}, .formula = "n += 1"};
  Ran ran = run(counter, example, {"--no-reference"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  example.formula = "n = n + 1.0";
  EXPECT_EQ(run(counter, example, {"--no-reference"}).err,
            "kiln: error: the formula makes n torch.float64, and not a tensor of torch.int64\n");
  example.formula = "n = n + 2**60 + 1";
  EXPECT_TRUE(has(run(counter, example, {"--no-reference"}).out,
                  "[0, 0] is 1, expected 1152921504606846977"));
}

/// A row of y becomes twice x; y keeps the rest, as a cache would.
Program oneRow(const Config &) {
  Program p("one_row");
  p.orchestration("main", {"x", "y", "r"}, [&](In<f32> x, InOut<f32> y, Index r) {
    spmd("update", {1}, {}, [&](Index) { store(load(x, {0, 0}, {1, 64}) * 2, y, {r, 0}); });
  });
  return p;
}

TEST_F(Formula, InOutKeepsWhatIsNotWritten) {
  Example example{.args = {{"x", "1x64"}, {"y", "10x64"}, {"r", "3"}},
                  .formula = "y[r] = x[0] * 2"};
  for (const auto &platform : platforms()) {
    if (!platform->can(Capability::Run) || !platform->usableHere().isOk())
      continue;
    Ran ran = run(oneRow, example, {"-p", platform->name()});
    EXPECT_EQ(ran.code, 0) << platform->name() << ": " << ran.err << ran.out;
    EXPECT_TRUE(has(ran.out, "PASS")) << platform->name() << ": " << ran.out;
  }
}

} // namespace
