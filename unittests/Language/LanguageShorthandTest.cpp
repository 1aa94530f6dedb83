//===- LanguageShorthandTest.cpp - short ways to say things ----------------------------===//
#include "LanguageTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

TEST(LanguageShorthand, BothOperandsOfAProductTransposed) {
  Program p = kernel([](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {16, 8}), y = load(a, {0, 0}, {8, 16});
    store(matmul(x, y, trans_a | trans_b), b, {0, 0});
  });
  expectText(p, {"tile.matmul %0, %1 trans_a trans_b : !tile.tile<8x8xf32>"});
}

//===----------------------------------------------------------------------===//
// Assignments that compute
//===----------------------------------------------------------------------===//

TEST(LanguageShorthand, AssignmentsComputeTilesIndicesAndScalars) {
  Program p("test");
  p.kernel("k", {"a", "b", "n", "s"}, [](In<f32> a, Out<f32> b, Index n, Scalar<f32> s) {
    n += 3;
    n -= 1;
    n *= n;
    n /= 2;
    n %= 8;
    Tile t = load(a, {n, 0}, {8, 8});
    s += 1.5;
    s -= 1;
    s *= s;
    s /= 4;
    t += s;
    t -= 1;
    t *= t;
    t /= reduce_sum(t, 1);
    store(t, b, {0, 0});
    Index five = 2; // what is known now stays known
    five += 3;
    EXPECT_TRUE(five.isConstant() && five.constant() == 5);
  });
  expectText(p, {"arith.addi %n, %c3", "arith.subi", "arith.muli", "arith.divsi", "arith.remsi",
                 "arith.addf %s,", "arith.subf", "arith.mulf", "arith.divf", "tile.add", "tile.sub",
                 "tile.mul", "tile.div"});
}

TEST(LanguageShorthand, ErrorInAnAssignmentIsAtItsLine) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32>) {
    Tile x = load(a, {0, 0}, {8, 8}), y = load(a, {0, 0}, {4, 8});
    line = __LINE__ + 1;
    x += y;
  });
  expectError(p, line, "tiles of 8x8 and 4x8 do not broadcast in '+'");
  Program q("test");
  q.kernel("k", {"a"}, [&](In<i32> a) {
    Scalar<i32> s = read<i32>(a, {0, 0});
    line = __LINE__ + 1;
    s *= 0.5;
  });
  expectError(q, line, "0.5 is no value of type i32");
}

TEST(LanguageShorthand, ErrorAssignmentToAnIndexOfAnotherLoop) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32> b) {
    Index last = 0;
    loop(0, b.dim(0), 1, [&](Index i) { last += i; });
    line = __LINE__ + 1;
    last += 1;
  });
  expectError(p, line, "this index cannot be used here: it belongs to the loop");
}

TEST(LanguageShorthand, ErrorTaskBehindItsScope) {
  uint32_t line = 0;
  Program p("test");
  Kernel k = p.kernel("k", {"x"}, [](InOut<f32> x) { store(zeros<f32>(8, 8), x, {0, 0}); });
  p.orchestration("main", {"x"}, [&](InOut<f32> x) {
    TaskRef first = join({});
    scope([&] { first = submit(k, {x}); });
    line = __LINE__ + 1;
    submit(k, {x}, {.deps = {first}});
  });
  expectError(p, line, "this task cannot be used here: it belongs to the scope that made it");
  expectError(p, line, "ordered by the tensors that it reads and writes");
}

TEST(LanguageShorthand, IndicesThatAreKnownNeedNoProgram) {
  Index blocks = ceildiv(100, 64) * 3 + 1;
  ASSERT_TRUE(blocks.isConstant());
  EXPECT_EQ(blocks.constant(), 7);
  EXPECT_EQ(zeros<f32>(8, 8).value(), 0u); // there is nobody to tell
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

TEST(LanguageShorthand, ScalarsBecomeScalarsOfEveryType) {
  Program p("test");
  p.kernel("k", {"f", "h", "i", "l", "t", "n", "o"},
           [](Scalar<f32> f, Scalar<f16> h, Scalar<i8> i, Scalar<i64> l, Scalar<i1> t, Index n,
              Out<f32, 1> o) {
             Scalar<f32> same = cast<f32>(f);
             EXPECT_EQ(same.value(), f.value());
             cast<bf16>(f), cast<f32>(h), cast<bf16>(h), cast<f8E5M2>(h), cast<i32>(f), cast<i1>(f);
             cast<f16>(i), cast<i64>(i), cast<i8>(l), cast<i1>(l), cast<f32>(t), cast<i16>(t);
             cast<f16>(n), cast<i8>(n), cast<i64>(n), cast<i1>(n), cast<f32>(7);
             write<f32>(cast<f32>(n), o, {0});
           });
  expectText(p, {"arith.truncf %f : f32 to bf16", "arith.extf %h : f16 to f32", "f32 to bf16",
                 "arith.truncf %h : f16 to f8E5M2", "arith.fptosi %f : f32 to i32",
                 "arith.cmpf une, %f,", "arith.sitofp %i : i8 to f16", "arith.extsi %i : i8 to i64",
                 "arith.trunci %l : i64 to i8", "arith.cmpi ne, %l,", "arith.uitofp %t : i1 to f32",
                 "arith.extui %t : i1 to i16", "arith.index_cast %n : index to i64", "i64 to f16",
                 "arith.index_cast %n : index to i8", "arith.cmpi ne, %n,"});
}

//===----------------------------------------------------------------------===//
// Parameters of the program
//===----------------------------------------------------------------------===//

TEST(LanguageShorthand, ParametersInRanges) {
  Config cfg({{"slots", "0"}, {"stages", "9"}, {"depth", "-1"}, {"shift", "-3"}, {"many", "70"}});
  EXPECT_EQ(cfg.param("slots", range(0, 8), 2), 0);
  EXPECT_EQ(cfg.param("stages", range(0, 8), 3), 3);
  EXPECT_EQ(cfg.param("depth", range(0), 4), 4);
  EXPECT_EQ(cfg.param("shift", range(-4, 4), 0), -3);
  EXPECT_EQ(cfg.param("many", range(1), 1), 70);
  EXPECT_EQ(cfg.param("of", {0, 1, 2}, 0), 0);
  EXPECT_EQ(cfg.param("wrong", range(1, 4), 0), 0);
  ASSERT_EQ(cfg.errors().size(), 3u);
  EXPECT_EQ(cfg.errors()[0], "--stages 9 does not fit; it is an integer from 0 to 8");
  EXPECT_EQ(cfg.errors()[1], "--depth -1 does not fit; it is an integer of at least 0");
  EXPECT_EQ(cfg.errors()[2], "the program's own default of --wrong, 0, does not fit; it is an "
                             "integer from 1 to 4");
  EXPECT_EQ(cfg.declared()[0].choices, std::vector<std::string>{"0..8"});
  EXPECT_EQ(cfg.declared()[2].choices, std::vector<std::string>{"0.."});
}

//===----------------------------------------------------------------------===//
// Signatures and launches
//===----------------------------------------------------------------------===//

TEST(LanguageShorthand, FunctionsShareASignature) {
  Params io{{"x", {8, 8}}, {"y", {dyn, 8}}};
  Program p("test");
  Kernel k =
      p.kernel("k", io, [](In<f32> x, Out<f32> y) { store(load(x, {0, 0}, {8, 8}), y, {0, 0}); });
  Kernel g = p.group("g", io, [](In<f32> x, Out<f32> y) {
    role("vec", aiv, [&] { store(load(x, {0, 0}, {8, 8}), y, {0, 0}); });
  });
  p.orchestration("main", io, [&](In<f32> x, Out<f32> y) {
    submit(k, {x, y});
    submit(g, {x, y});
  });
  const char *parameters = "(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<?x8xf32> out)";
  expectText(p,
             {"@k" + std::string(parameters) + " incore", "@g" + std::string(parameters) + " group",
              "@main" + std::string(parameters) + " orchestration"});
}

TEST(LanguageShorthand, ErrorSignatureOfAnotherLength) {
  Params io{"x", "y"};
  Program p("test");
  uint32_t line = __LINE__ + 1;
  p.kernel("k", io, [](Out<f32> x) { store(zeros<f32>(8, 8), x, {0, 0}); });
  expectError(p, line, "function 'k': has 2 parameter names for 1 parameters");
}

TEST(LanguageShorthand, SpmdNeedsNoOptions) {
  Program p("test");
  p.orchestration("main", {"y"}, [](Out<f32> y) {
    spmd("zero", {ceildiv(y.dim(0), 8)}, [&](Index i) { store(zeros<f32>(8, 8), y, {i * 8, 0}); });
  });
  expectText(p, {"kiln.incore \"zero\" grid(%1) {"});
}

//===----------------------------------------------------------------------===//
// What the compiler else chooses
//===----------------------------------------------------------------------===//

/// A kernel with three loops, one of which states its own stages.
void loops(const TensorRef &y) {
  loop(0, 4, 1, [&](Index i) { store(zeros<f32>(8, 8), y, {i * 8, 0}); });
  loop(0, 4, 1, {.stages = 2}, [&](Index i) { store(zeros<f32>(8, 8), y, {i * 8, 0}); });
  loop(0, 4, 1, {.unroll = true}, [&](Index i) { store(zeros<f32>(8, 8), y, {i * 8, 0}); });
}

TEST(LanguageShorthand, KernelsStateLanesSplitSlotsAndStages) {
  Program p("test");
  p.kernel("k", {.split = Split::LeftRight, .lanes = 2, .slots = 4, .stages = 5}, {"y"},
           [](Out<f32> y) { loops(y); });
  p.kernel("one", {.split = Split::None, .lanes = 1}, {"y"}, [](Out<f32> y) { loops(y); });
  p.orchestration("main", {"y"}, [](Out<f32> y) {
    spmd("s", {1}, {.split = Split::UpDown, .lanes = 2, .slots = 3, .stages = 7},
         [&](Index) { loops(y); });
    spmd("t", {1}, [&](Index) { loops(y); });
  });
  expectText(p, {"out) incore lanes(2) split(left_right) slots(4) {",
                 "out) incore lanes(1) split(none) {", "stages = 5>", "stages = 7>", "stages = 2>",
                 "kiln.incore \"s\" grid(1) lanes(2) split(up_down) slots(3) {",
                 "kiln.incore \"t\" grid(1) {"});
  // One loop of `k` and one of `s` take the kernel's stages, four state their own.
  std::string text = p.str();
  auto count = [&](const std::string &part) {
    size_t number = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++number;
    return number;
  };
  EXPECT_EQ(count("stages = 5>"), 1u) << text;
  EXPECT_EQ(count("stages = 7>"), 1u) << text;
  EXPECT_EQ(count("stages = 2>"), 4u) << text;
}

TEST(LanguageShorthand, ErrorWhatNoKernelCanAskFor) {
  uint32_t line = 0;
  auto launched = [&](SpmdOptions options) {
    Program p("test");
    p.orchestration("main", {"y"}, [&](Out<f32> y) {
      line = __LINE__ + 1;
      spmd("s", {1}, options, [&](Index) { store(zeros<f32>(8, 8), y, {0, 0}); });
    });
    return p;
  };
  Program slots = launched({.slots = -1});
  expectError(slots, line, "has slots(-1); a pipe has 1 to 1048576 slots");
  Program lanes = launched({.lanes = -2});
  expectError(lanes, line, "has lanes(-2); there is at least one");
  Program stages = launched({.stages = -1});
  expectError(stages, line, "spmd 's' has -1 stages; a loop has at least one");
  Program p("test");
  line = __LINE__ + 1;
  p.kernel("k", {.stages = -3}, {"y"}, [](Out<f32> y) { store(zeros<f32>(8, 8), y, {0, 0}); });
  expectError(p, line, "function 'k' has -3 stages");
}

//===----------------------------------------------------------------------===//
// Loads outside
//===----------------------------------------------------------------------===//

TEST(LanguageShorthand, ALoadMayMissItsTensorIfThatIsSaid) {
  Program p("test");
  p.kernel("k", {{"x", {8, 8}}, {"y", {8, 8}}}, [](In<f32> x, Out<f32> y) {
    store(load(x, {8, 0}, {8, 8}, {.pad = Pad::Min, .outside = true}), y, {0, 0});
  });
  expectText(p, {"tile.load %x[8, 0] outside pad(min) : !tile.tile<8x8xf32>"});
}

TEST(LanguageShorthand, ErrorLoadThatMissesItsTensor) {
  uint32_t line = 0;
  Program p("test");
  p.kernel("k", {{"x", {8, 8}}, {"y", {8, 8}}}, [&](In<f32> x, Out<f32> y) {
    line = __LINE__ + 1;
    store(load(x, {8, 0}, {8, 8}), y, {0, 0});
  });
  expectError(p, line, "index 8 puts the tile outside the tensor");
}

TEST(LanguageShorthand, ErrorGatherOutside) {
  uint32_t line = 0;
  Program p("test");
  p.kernel("k", {"x", "rows", "y"}, [&](In<f32> x, In<i32, 1> rows, Out<f32> y) {
    store(zeros<f32>(8, 8), y, {0, 0});
    line = __LINE__ + 1;
    gather_rows(x, {0, 0}, rows, {0}, {8, 8}, {.outside = true});
  });
  expectError(p, line, "gather_rows takes no .outside");
}

} // namespace
