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

/// "CheckVerdictTest.cpp:12:" of a line of this file.
std::string placeOf(uint32_t line) { return "CheckVerdictTest.cpp:" + std::to_string(line) + ":"; }

TEST_F(CheckVerdict, AWrongNumberIsToldWhereItWasWritten) {
  uint32_t stored = 0, added = 0;
  auto build = [&](const Config &cfg) {
    bool adds = cfg.choice("adds", {"no", "yes"}, "no") == "yes";
    Program p("halves");
    p.orchestration("main", {{"x", {8, 16}}, {"y", {8, 16}}}, [&](In<f32> x, Out<f32> y) {
      spmd("left", {1}, {}, [&](Index) {
        Tile t = load(x, {0, 0}, {8, 8});
        store(t, y, {0, 0});
        store(t, y, {0, 8});
      });
      spmd("right", {1}, {}, [&](Index) {
        Tile t = load(x, {0, 8}, {8, 8});
        stored = __LINE__ + 1;
        store(t, y, {0, 8});
      });
      if (adds)
        spmd("add", {1}, {}, [&](Index) {
          Tile t = zeros<f32>(8, 8);
          added = __LINE__ + 1;
          store(t, y, {0, 8}, {.atomicAdd = true});
        });
    });
    return p;
  };
  Example example{.formula = "y = torch.cat([x[:, :8], 2 * x[:, 8:]], 1)"};
  Ran ran = run(build, example, {"check"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, placeOf(stored) + "9: error: 'y' is not what the formula says: ["))
      << ran.out;
  EXPECT_TRUE(has(ran.out, "in right, block [0, 0, 0] of task 1")) << ran.out;
  Ran atomic = run(build, example, {"check", "--adds", "yes"});
  EXPECT_TRUE(has(atomic.out, placeOf(added))) << atomic.out;
}

TEST_F(CheckVerdict, DataThatAreZeroAreTried) {
  auto build = [](const Config &cfg) {
    bool isSafe = cfg.choice("safe", {"no", "yes"}, "no") == "yes";
    Program p("share");
    p.orchestration("main", {{"x", {8, 16}}, {"y", {8, 16}}}, [&](In<f32> x, Out<f32> y) {
      spmd("share", {1}, {}, [&](Index) {
        Tile t = load(x, {0, 0}, {8, 16}), sum = reduce_sum(t * t, 1);
        store(t / (isSafe ? maximum(sum, 1e-6) : sum), y, {0, 0});
      });
    });
    return p;
  };
  Example example{.formula = "y = x / (x * x).sum(1, keepdim=True).clamp(min=1e-6)"};
  Ran wrong = run(build, example, {"check"});
  EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
  EXPECT_TRUE(has(wrong.out, "--arg x=8x16:zeros")) << wrong.out;
  Ran right = run(build, example, {"check", "--safe", "yes"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
}

/// A program that reduces each row of x, of `X`, to one number in y, of `Y`, its body given a block
/// of rows; `--wrong yes` says that it is to do it wrong.
template <typename X, typename Y, typename Body> ProgramBuilder reducingRows(Body body) {
  return [body](const Config &cfg) {
    bool isWrong = cfg.choice("wrong", {"no", "yes"}, "no") == "yes";
    Program p("rows");
    p.orchestration("main", {"x", "y"}, [&](In<X> x, Out<Y> y) {
      require(y.dim(0) == x.dim(0) && y.dim(1) == 1 && x.dim(1) >= 1, "y is one column");
      spmd("rows", {ceildiv(x.dim(0), 8)}, {},
           [&](Index block) { store(body(x, block * 8, isWrong), y, {block * 8, 0}); });
    });
    return p;
  };
}

TEST_F(CheckVerdict, DataFarBelowZeroAreTried) {
  auto logOfSum = [](In<f32> x, Index i, bool isWrong) {
    auto piece = [&](Index j) { return load(x, {i, j}, {8, 16}, {.pad = Pad::Min}); };
    Tile top = loop(0, x.dim(1), 16, full(DType::F32, {8, 1}, isWrong ? 0 : -INFINITY),
                    [&](Index j, Tile most) { return maximum(most, reduce_max(piece(j), 1)); });
    Tile sum = loop(0, x.dim(1), 16, zeros<f32>(8, 1),
                    [&](Index j, Tile all) { return all + reduce_sum(exp(piece(j) - top), 1); });
    return log(sum) + top;
  };
  ProgramBuilder build = reducingRows<f32, f32>(logOfSum);
  Example example{.args = {{"x", "9x40"}, {"y", "9x1"}},
                  .formula = "y = torch.logsumexp(x, 1, keepdim=True)"};
  Ran wrong = run(build, example, {"check", "--wrong", "yes"});
  EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
  EXPECT_TRUE(has(wrong.out, "--arg x=9x40:-1000")) << wrong.out;
  Ran right = run(build, example, {"check"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
}

TEST_F(CheckVerdict, NarrowIntegersAreTriedAtTheEndsOfTheirTypes) {
  ProgramBuilder build = reducingRows<i8, i32>([](In<i8> x, Index i, bool isWrong) {
    return loop(0, x.dim(1), 16, zeros<i32>(8, 1), [&](Index j, Tile all) {
      Tile t = load(x, {i, j}, {8, 16});
      return all + (isWrong ? cast<i32>(reduce_sum(t, 1)) : reduce_sum(cast<i32>(t), 1));
    });
  });
  Example example{.args = {{"x", "9x40"}, {"y", "9x1"}}, .formula = "y = x.sum(1, keepdim=True)"};
  Ran wrong = run(build, example, {"check", "--wrong", "yes"});
  EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
  Ran right = run(build, example, {"check"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
}

TEST_F(CheckVerdict, WhatSmallTypesCannotCountIsTried) {
  ProgramBuilder build = reducingRows<f32, i32>([](In<f32> x, Index i, bool isWrong) {
    DType type = isWrong ? DType::I8 : DType::I32;
    Tile count = loop(0, x.dim(1), 16, full(type, {8, 1}, 0), [&](Index j, Tile all) {
      Tile isData = load(x, {i, j}, {8, 16}, {.pad = Pad::Min}) > -1e30;
      return all + reduce_sum(cast(isData, type), 1);
    });
    return cast<i32>(count);
  });
  Example example{.args = {{"x", "9x20"}, {"y", "9x1"}},
                  .formula = "y = (x > -1e30).sum(1, keepdim=True)"};
  Ran wrong = run(build, example, {"check", "--wrong", "yes"});
  EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
  Ran right = run(build, example, {"check"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
}

TEST_F(CheckVerdict, AFormulaSaysWhatLiesBehindThePartThatIsRead) {
  auto build = [](const Config &cfg) {
    bool isSafe = cfg.choice("safe", {"no", "yes"}, "no") == "yes";
    Program p("rows");
    p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
      require(y.dim(0) == x.dim(0) && y.dim(1) == 1, "y is one column");
      if (isSafe)
        require(x.dim(1) <= 16, "a row fits into a tile");
      spmd("rows", {ceildiv(x.dim(0), 8)}, {},
           [&](Index i) { store(reduce_sum(load(x, {i * 8, 0}, {8, 16}), 1), y, {i * 8, 0}); });
    });
    return p;
  };
  Example example{.args = {{"x", "9x12"}, {"y", "9x1"}}, .formula = "y = x.sum(1, keepdim=True)"};
  EXPECT_EQ(run(build, example, {"check"}).code, 1);
  Ran right = run(build, example, {"check", "--safe", "yes"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
}

TEST_F(CheckVerdict, ExtentsThatAreEqualByChanceAreTakenApartWhereTheProgramBoundsOne) {
  auto build = [](const Config &cfg) {
    bool isWrong = cfg.choice("wrong", {"no", "yes"}, "no") == "yes";
    Program p("rows");
    p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
      require_same_shape(x, y, "y has the shape of x");
      require(x.dim(1) <= 16, "a row fits into a tile");
      spmd("rows", {x.dim(0)}, {}, [&](Index i) {
        store(load(x, {i, 0}, {1, 16}) * 2, y, {isWrong ? i - i / 100 : i, 0});
      });
    });
    return p;
  };
  Example example{.args = {{"x", "16x16"}, {"y", "16x16"}}, .formula = "y = 2 * x"};
  EXPECT_EQ(run(build, example, {"check", "--wrong", "yes"}).code, 1);
  Ran right = run(build, example, {"check"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
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

/// Every other row in the place of its neighbour. Of an odd number the last has none.
Program swapped(const Config &cfg) {
  bool isRequired = cfg.choice("rows", {"any", "even"}, "any") == "even";
  Program p("swapped");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    require_same_shape(x, y, "one shape");
    if (isRequired)
      require(x.dim(0) % 2 == 0, "an even number of rows");
    spmd("swap", {x.dim(0) / 2, ceildiv(x.dim(1), 8)}, {}, [&](Index b, Index bj) {
      Tile t = load(x, {b * 2, bj * 8}, {1, 8}), u = load(x, {b * 2 + 1, bj * 8}, {1, 8});
      store(u, y, {b * 2, bj * 8});
      store(t, y, {b * 2 + 1, bj * 8});
    });
  });
  return p;
}

TEST_F(CheckVerdict, WhatAFormulaFailsAtIsTriedWithoutIt) {
  Example example{.args = {{"x", "8x10"}, {"y", "8x10"}},
                  .formula = "y = x.view(x.shape[0] // 2, 2, x.shape[1]).flip(1).view(x.shape)"};
  Ran ran = run(swapped, example, {"check"});
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "incomplete: ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "the formula fails with --arg x=")) << ran.out;
  EXPECT_TRUE(has(ran.out, "say with a require which arguments the program allows")) << ran.out;
  EXPECT_EQ(run(swapped, example, {"check", "--rows", "even"}).code, 0);
}

/// y = factor * x or something like it.
Program scaled(const Config &cfg) {
  std::string how = cfg.choice("how", {"times", "over", "even"}, "times");
  Program p("scaled");
  p.orchestration(
      "main", {"x", "y", "factor", "n"}, [&](In<f32> x, Out<f32> y, Scalar<f32> factor, Index n) {
        require_same_shape(x, y, "one shape");
        spmd("scale", {ceildiv(x.dim(0), 8), ceildiv(x.dim(1), 8)}, {}, [&](Index i, Index j) {
          Tile t = load(x, {i * 8, j * 8}, {8, 8});
          t = how == "over" ? t / factor : t * factor;
          store(t * toF32(how == "even" ? n / 2 * 2 : n), y, {i * 8, j * 8});
        });
      });
  return p;
}

TEST_F(CheckVerdict, NumbersAreVariedWhereAFormulaSaysWhatTheyDo) {
  Example example{.formula = "y = factor * n * x"};
  Ran right = run(scaled, example, {"check"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
  Ran over = run(scaled, example, {"check", "--how", "over"});
  EXPECT_EQ(over.code, 1) << over.out << over.err;
  example.args = {{"x", "9x9"}, {"y", "9x9"}, {"factor", "1"}, {"n", "8"}};
  EXPECT_EQ(run(scaled, example, {"check"}).code, 0);
  Ran even = run(scaled, example, {"check", "--how", "even"});
  EXPECT_EQ(even.code, 1) << even.out << even.err;
  EXPECT_TRUE(has(even.out, "--arg n=7") || has(even.out, "--arg n=9")) << even.out;
}

/// softmax without taking the greatest number off.
Program naiveSoftmax(const Config &) {
  Program p("naive_softmax");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    require(x.dim(0) == y.dim(0) && x.dim(1) == 8 && y.dim(1) == 8, "rows of 8");
    spmd("softmax", {ceildiv(x.dim(0), 8)}, {}, [&](Index i) {
      Tile t = exp(load(x, {i * 8, 0}, {8, 8}));
      store(t / reduce_sum(t, 1), y, {i * 8, 0});
    });
  });
  return p;
}

/// The number of the greatest column, of equal ones the last.
Program lastGreatest(const Config &cfg) {
  bool isLast = cfg.choice("of", {"first", "last"}, "first") == "last";
  Program p("last_greatest");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<i32> y) {
    require(x.dim(0) == y.dim(0) && x.dim(1) == 16 && y.dim(1) == 1, "rows of 16");
    spmd("greatest", {ceildiv(x.dim(0), 8)}, {}, [&](Index i) {
      Tile a = load(x, {i * 8, 0}, {8, 8}), b = load(x, {i * 8, 8}, {8, 8});
      Tile top = reduce_max(a, 1), other = reduce_max(b, 1);
      Tile isOther = isLast ? other >= top : other > top;
      store(where(isOther, argmax(b, 1) + 8, argmax(a, 1)), y, {i * 8, 0});
    });
  });
  return p;
}

TEST_F(CheckVerdict, DataAreAlsoEqualAndLarge) {
  Ran large = run(naiveSoftmax, {.formula = "y = torch.softmax(x, 1)"}, {"check"});
  EXPECT_EQ(large.code, 1) << large.out << large.err;
  EXPECT_TRUE(has(large.out, ":normal*100")) << large.out;
  Example greatest{.formula = "y = x.argmax(1, keepdim=True)"};
  EXPECT_EQ(run(lastGreatest, greatest, {"check"}).code, 0);
  Ran last = run(lastGreatest, greatest, {"check", "--of", "last"});
  EXPECT_EQ(last.code, 1) << last.out << last.err;
  EXPECT_TRUE(has(last.out, ":ones")) << last.out;
}

/// c = a + b, without repeating anything.
Program added(const Config &cfg) {
  bool isRequired = cfg.choice("shapes", {"any", "one"}, "any") == "one";
  Program p("added");
  p.orchestration("main", {"a", "b", "c"}, [&](In<f32> a, In<f32> b, Out<f32> c) {
    require_same_shape(a, c, "c has the shape of a");
    if (isRequired)
      require_same_shape(a, b, "so has b");
    spmd("add", {ceildiv(c.dim(0), 8), ceildiv(c.dim(1), 8)}, {}, [&](Index i, Index j) {
      store(load(a, {i * 8, j * 8}, {8, 8}) + load(b, {i * 8, j * 8}, {8, 8}), c, {i * 8, j * 8});
    });
  });
  return p;
}

TEST_F(CheckVerdict, WhatAFormulaRepeatsTheProgramMustRepeat) {
  Example example{.args = {{"a", "7x6"}, {"b", "7x6"}, {"c", "7x6"}}, .formula = "c = a + b"};
  Ran ran = run(added, example, {"check"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "--arg b=1x6") || has(ran.out, "--arg b=7x1")) << ran.out;
  EXPECT_EQ(run(added, example, {"check", "--shapes", "one"}).code, 0);
}

/// y += x, of whole tiles only if `--bug floor`.
Program summed(const Config &cfg) {
  bool isFloor = cfg.choice("bug", {"none", "floor"}, "none") == "floor";
  Program p("summed");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, InOut<f32> y) {
    require_same_shape(x, y, "one shape");
    Index rows = isFloor ? x.dim(0) / 8 : ceildiv(x.dim(0), 8);
    spmd("add", {rows, ceildiv(x.dim(1), 8)}, {}, [&](Index i, Index j) {
      store(load(x, {i * 8, j * 8}, {8, 8}) + load(y, {i * 8, j * 8}, {8, 8}), y, {i * 8, j * 8});
    });
  });
  return p;
}

TEST_F(CheckVerdict, ARepeatedFloatDoesNotFixTheShapes) {
  Example example{.args = {{"x", "16x9"}, {"y", "16x9:0"}}, .formula = "y = x + y"};
  EXPECT_EQ(run(summed, example, {"check"}).code, 0);
  Ran ran = run(summed, example, {"check", "--bug", "floor"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
}

TEST_F(CheckVerdict, AnInoutThatTheFormulaLeavesOutIsSaid) {
  auto kept = [](const Config &) {
    Program p("kept");
    p.orchestration("main", {"x", "cache", "y"}, [&](In<f32> x, InOut<f32> cache, Out<f32> y) {
      spmd("keep", {1}, {}, [&](Index) {
        Tile t = load(x, {0, 0}, {8, 8});
        store(t * 3, cache, {0, 0});
        store(t, y, {0, 0});
      });
    });
    return p;
  };
  Example example{.args = {{"x", "8x8"}, {"cache", "8x8"}, {"y", "8x8"}}, .formula = "y = x"};
  Ran ran = run(kept, example, {"check", "--as-given"});
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "'cache' was compared with nothing")) << ran.out;
  example.formula = "y = x\ncache = 3 * x";
  EXPECT_EQ(run(kept, example, {"check", "--as-given"}).code, 0);
}

TEST_F(CheckVerdict, RanksThatAnArgumentIsDividedAmongAreTried) {
  auto sum = [](const Config &cfg) {
    bool isWhole = cfg.choice("reduce", {"no", "yes"}, "no") == "yes";
    Program p("sum");
    p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
      require(y.dim(0) == 1 && y.dim(1) == x.dim(1), "y is one row of the width of x");
      spmd("add_rows", {ceildiv(x.dim(1), 8)}, [&](Index block) {
        Tile all = loop(0, x.dim(0), 8, zeros<f32>(1, 8), [&](Index i, Tile sum) {
          return sum + reduce_sum(load(x, {i, block * 8}, {8, 8}), 0);
        });
        store(all, y, {0, block * 8});
      });
      if (isWhole)
        all_reduce(y);
    });
    return p;
  };
  Example example{.args = {{"x", "20x12@0"}, {"y", "1x12"}},
                  .formula = "y = x.sum(0, keepdim=True)\naccumulates = len(x)"};
  Ran ran = run(sum, example, {"check"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "of rank 0 is not what the formula says")) << ran.out;
  Ran right = run(sum, example, {"check", "--reduce", "yes"});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
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
