//===- CheckVerdictTest.cpp - `kiln check` of examples with formulas and requires -----===//
//
// What text alone cannot show (test/Check): cases compared with a formula, shapes that a formula or
// a `require` does not allow, cases that an example lists. Skipped, by name, where no Python has
// torch.
//
//===----------------------------------------------------------------------------===//
#include "ExampleTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

/// y = 2 * x, in tiles of 8 x 8. `--bug` says what is wrong with it.
Program twice(const Config &cfg) {
  std::string bug = cfg.choice("bug", {"none", "floor", "require", "nan", "swapped"}, "none");
  Program p("twice");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    if (bug == "require") {
      require(x.dim(0) % 8 == 0, "rows come in tiles of 8");
      require(x.dim(1) % 8 == 0, "columns come in tiles of 8");
      require(x.dim(0) == y.dim(0) && x.dim(1) == y.dim(1), "x and y have one shape");
    }
    bool isFloor = bug == "floor" || bug == "require";
    Index rows = isFloor ? y.dim(0) / 8 : ceildiv(y.dim(0), 8);
    Index cols = isFloor ? y.dim(1) / 8 : ceildiv(y.dim(1), 8);
    if (bug == "swapped")
      std::swap(rows, cols);
    spmd("twice", {rows, cols}, {}, [&](Index i, Index j) {
      Tile t = load(x, {i * 8, j * 8}, {8, 8});
      if (bug == "nan")
        t = sqrt(0.0 - exp(t));
      store(t * 2, y, {i * 8, j * 8});
    });
  });
  return p;
}

const Example kTwice{.args = {{"x", "16x24"}, {"y", "16x24"}}, .formula = "y = 2 * x"};

class CheckVerdict : public ExampleTest {};

TEST_F(CheckVerdict, EveryCaseIsComparedWithTheFormula) {
  Ran ran = run(twice, kTwice, {"check"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "CLEAN")) << ran.out;
  EXPECT_FALSE(has(ran.out, "compared with the formula: 2 cases")) << ran.out;
}

TEST_F(CheckVerdict, AWrongFormulaIsAFinding) {
  Ran ran = run(twice, {.args = kTwice.args, .formula = "y = 3 * x"}, {"check", "--as-given"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.out, "'y' is not what the formula says: [")) << ran.out;
  EXPECT_TRUE(has(ran.out, "FINDINGS")) << ran.out;
}

TEST_F(CheckVerdict, AnOutputThatTheFormulaLeavesOutIsSaid) {
  auto both = [](const Config &) {
    Program p("both");
    p.orchestration("main", {"x", "y", "z"}, [&](In<f32> x, Out<f32> y, Out<f32> z) {
      spmd("both", {1}, {}, [&](Index) {
        Tile t = load(x, {0, 0}, {8, 8});
        store(t, y, {0, 0});
        store(t, z, {0, 0});
      });
    });
    return p;
  };
  Example example{.args = {{"x", "8x8"}, {"y", "8x8"}, {"z", "8x8"}}, .formula = "y = x"};
  Ran ran = run(both, example, {"check", "--as-given"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(has(ran.out, "'z' was compared with nothing: the formula does not say it"))
      << ran.out;
  example.formula = "y = x\nz = x";
  EXPECT_EQ(run(both, example, {"check", "--as-given"}).code, 0);
}

TEST_F(CheckVerdict, AFormulaThatFailsAtOneShapeOnlyIsFoundThere) {
  std::string formula = "y = 2 * x\nif x.shape[0] == 7:\n  y = y + 1";
  Ran ran = run(twice, {.args = kTwice.args, .formula = formula}, {"check"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.out, "--arg x=7x24")) << ran.out;
}

TEST_F(CheckVerdict, ShapesThatTheFormulaRefusesAreNotTried) {
  std::string formula =
      "assert x.shape[0] % 8 == 0 and x.shape[1] % 8 == 0, 'whole tiles'\ny = 2 * x";
  Ran ran = run(twice, {.args = kTwice.args, .formula = formula}, {"check", "--bug", "floor"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "not allowed by the program: ")) << ran.out;
}

TEST_F(CheckVerdict, AnOutputLeftOpenAtARaggedShapeIsAFinding) {
  Ran ran = run(twice, kTwice, {"check", "--bug", "floor"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.out, "nobody writes elements")) << ran.out;
}

TEST_F(CheckVerdict, RowsAndColumnsOfASquareAreTakenApart) {
  Example square{.args = {{"x", "24x24"}, {"y", "24x24"}}, .formula = "y = 2 * x"};
  Ran right = run(twice, square, {"check"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
  Ran wrong = run(twice, square, {"check", "--bug", "swapped"});
  EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
  EXPECT_TRUE(has(wrong.out, "lies wholly outside")) << wrong.out;
  // What has to be square is not taken apart: the formula refuses it.
  square.formula = "assert x.shape[0] == x.shape[1]\ny = 2 * x";
  EXPECT_EQ(run(twice, square, {"check", "--bug", "swapped"}).code, 0);
}

TEST_F(CheckVerdict, ARequireExcludesShapesWithAndWithoutAFormula) {
  for (const char *formula : {"y = 2 * x", ""}) {
    Ran ran = run(twice, {.args = kTwice.args, .formula = formula}, {"check", "--bug", "require"});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_TRUE(has(ran.out, "not allowed by the program: ")) << ran.out;
  }
}

TEST_F(CheckVerdict, ArgumentsAreMadeUpThatTheProgramAllows) {
  Ran ran = run(twice, {}, {"check", "--bug", "require"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "CLEAN")) << ran.out;
}

TEST_F(CheckVerdict, NanThatTheFormulaHasIsRight) {
  Ran wrong = run(twice, kTwice, {"check", "--bug", "nan", "--as-given"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(has(wrong.out, "tile.sqrt makes NaN")) << wrong.out;
  Ran right = run(twice, {.args = kTwice.args, .formula = "y = x * float('nan')"},
                  {"check", "--bug", "nan", "--as-given"});
  EXPECT_EQ(right.code, 0) << right.out;
}

/// y[i] is the greater of x[i - 1] and x[i], with 0 before the first.
Program greaterOfTwo(const Config &) {
  Program p("greater_of_two");
  p.orchestration("main", {"x", "y"}, [&](In<f32, 1> x, Out<f32, 1> y) {
    require(x.dim(0) == y.dim(0), "x and y have one shape");
    spmd("greater", {ceildiv(y.dim(0), 8)}, {}, [&](Index i) {
      store(maximum(load(x, {i * 8 - 1}, {1, 8}), load(x, {i * 8}, {1, 8})), y, {i * 8});
    });
  });
  return p;
}

TEST_F(CheckVerdict, WhatIsMadeOfPaddingIsRightIfTheFormulaSaysSo) {
  std::vector<std::pair<std::string, std::string>> args{{"x", "20"}, {"y", "20"}};
  std::string formula = "y = torch.maximum(x, torch.cat([torch.zeros(1), x[:-1]]))";
  Ran compared = run(greaterOfTwo, {.args = args, .formula = formula}, {"check"});
  EXPECT_EQ(compared.code, 0) << compared.out << compared.err;
  Ran alone = run(greaterOfTwo, {.args = args}, {"check"});
  EXPECT_EQ(alone.code, 3) << alone.out << alone.err;
  EXPECT_TRUE(has(alone.out, "tile.max makes element [0] of 'y' (f32[20]) of padding"))
      << alone.out;
  EXPECT_TRUE(has(alone.out, "compare with a formula")) << alone.out;
}

TEST_F(CheckVerdict, ListedCasesAreTried) {
  Example example = kTwice;
  example.formula = "y = 2 * x\nif x.shape[0] == 42:\n  y = y + 1";
  EXPECT_EQ(run(twice, example, {"check"}).code, 0);
  example.cases = {{{"x", "42x24"}, {"y", "42x24"}}};
  Ran ran = run(twice, example, {"check"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.out, "--arg x=42x24")) << ran.out;
}

TEST_F(CheckVerdict, TwoChecksGiveOneReport) {
  Ran one = run(twice, kTwice, {"check", "--bug", "floor"});
  Ran other = run(twice, kTwice, {"check", "--bug", "floor"});
  EXPECT_EQ(one.out, other.out);
}

} // namespace
