//===- LanguageLanesTest.cpp - lanes, their parts of tiles, and the order of pops --------===//
#include "LanguageTesting.h"

#include <functional>

using namespace kiln;
using namespace kiln::testing;

namespace {

//===----------------------------------------------------------------------===//
// How many lanes there are
//===----------------------------------------------------------------------===//

/// A group in which the cube sends a tile to the lanes.
Program sender(GroupOptions options, Split split) {
  Program p("test");
  p.group("g", options, {{"o", {8, 8}}}, [&](Out<f32> o) {
    Pipe down = pipe<f32>("down", aic, aiv, {8, 8}, {.split = split});
    role("cube", aic, [&] { push(down, zeros<f32>(8, 8)); });
    role("vec", aiv, [&] {
      Part mine = part(down);
      store(pop(down), o, {0, 0}, mine);
    });
  });
  return p;
}

TEST(LanguageLanes, ASplitGivesAGroupTwoLanesUnlessTheirNumberIsStated) {
  Program split = sender({}, Split::UpDown);
  expectText(split, {"group lanes(2)", "tile.pop %down : !tile.tile<4x8xf32>"});
  Program none = sender({}, Split::None);
  expectText(none, {"out) group {", "tile.pop %down : !tile.tile<8x8xf32>"});
  Program one = sender({.lanes = 1}, Split::UpDown);
  expectText(one, {"out) group {", "tile.pop %down : !tile.tile<8x8xf32>"});
  Program both = sender({.lanes = 2}, Split::None);
  expectText(both, {"group lanes(2)", "tile.pop %down : !tile.tile<8x8xf32>"});
}

TEST(LanguageLanes, ErrorSplitPipeAfterARole) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {{"o", {8, 8}}}, [&](Out<f32> o) {
    role("vec", aiv, [&] { store(zeros<f32>(8, 8), o, {0, 0}); });
    line = __LINE__ + 1;
    pipe<f32>("late", aic, aiv, {8, 8}, {.split = Split::UpDown});
  });
  expectError(p, line,
              "pipe 'late' has a split, which gives the group lanes, but comes after a role; make "
              "it before the roles, or state the number of lanes");
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Loads a tile of 8x16 at [at, 0] by its parts and stores it again.
Program copyOf(Split split, Params params, Index at = 0, LoadOptions options = {}) {
  Program p("test");
  p.group("g", {.lanes = 2}, params, [&](In<f32> x, Out<f32> y) {
    role("vec", aiv, [&] {
      Part mine = part({8, 16}, split);
      EXPECT_EQ(mine.whole.rows, 8);
      EXPECT_EQ(mine.whole.cols, 16);
      store(load(x, {at, 0}, mine, options), y, {at, 0}, mine, {.valid = options.valid});
    });
  });
  return p;
}

TEST(LanguageLanes, APartMovesAccessesAlongTheDividedAxis) {
  Params inside{{"x", {8, 16}}, {"y", {8, 16}}};
  Program rows = copyOf(Split::UpDown, inside);
  expectText(rows, {"arith.muli %lane, %c4 : index", "tile.load %x[%0, 0] : !tile.tile<4x16xf32>",
                    "tile.store %1, %y[%0, 0]\n"});
  Program cols = copyOf(Split::LeftRight, inside);
  expectText(cols, {"arith.muli %lane, %c8 : index", "tile.load %x[0, %0] : !tile.tile<8x8xf32>",
                    "tile.store %1, %y[0, %0]\n"});
  Program whole = copyOf(Split::None, inside);
  expectText(whole, {"tile.load %x[0, 0] : !tile.tile<8x16xf32>", "tile.store %0, %y[0, 0]\n"});
  EXPECT_FALSE(has(whole.str(), "tile.lane")) << whole.str();
}

TEST(LanguageLanes, APartOfATileThatHangsOverMayMissItsTensor) {
  // The whole tile has six rows in the tensor: four of the first lane, two of the second.
  Program p = copyOf(Split::UpDown, {{"x", {10, 16}}, {"y", {10, 16}}}, 4);
  expectText(p, {"tile.load %x[%1, 0] outside : !tile.tile<4x16xf32>", "valid(%"});
}

TEST(LanguageLanes, ValidExtentsOfAPartAreThoseOfTheWholeTile) {
  Program p = copyOf(Split::UpDown, {{"x", {8, 16}}, {"y", {8, 16}}}, 0, {.valid = {7, 9}});
  expectText(p, {"arith.subi %c7, %0 : index", "arith.maxsi", "valid(%2, 9)"});
}

TEST(LanguageLanes, ErrorUnevenPart) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {.lanes = 2}, {{"y", {7, 8}}}, [&](Out<f32> y) {
    role("vec", aiv, [&] {
      line = __LINE__ + 1;
      Part mine = part({7, 8}, Split::UpDown);
      store(zeros<f32>(mine.shape), y, {0, 0});
    });
  });
  expectError(p, line, "2 lanes cannot share the 7 rows of a tile of 7x8 evenly");
}

TEST(LanguageLanes, ErrorPartOutsideARole) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32>, Out<f32>) {
    line = __LINE__ + 1;
    part({8, 8}, Split::UpDown);
  });
  expectError(p, line, "part stands outside a role");
}

TEST(LanguageLanes, ErrorPartOfAPipeWithSeveralTiles) {
  uint32_t line = 0;
  Program p("test");
  p.group("g", {}, {}, [&] {
    Pipe both = pipe("both", aic, aiv, {{DType::F32, {8, 8}}, {DType::I32, {8, 1}}});
    role("cube", aic, [&] {
      push(both, {zeros<f32>(8, 8), zeros<i32>(8, 1)});
      line = __LINE__ + 1;
      part(both);
    });
    role("vec", aiv, [&] { pop_all(both); });
  });
  expectError(p, line, "part of a pipe that carries 2 tiles at a time; use part(shape, split)");
}

//===----------------------------------------------------------------------===//
// Two pops in one expression
//===----------------------------------------------------------------------===//

/// A group whose vector role pops four tiles from `up` and one from `other` in this way.
template <typename Body> Program popper(Body body) {
  Program p("test");
  p.group("g", {}, {{"o", {8, 8}}}, [&](Out<f32> o) {
    Pipe up = pipe<f32>("up", aic, aiv, {8, 8}), other = pipe<f32>("other", aic, aiv, {8, 8});
    role("cube", aic, [&] {
      for (int i = 0; i < 4; ++i)
        push(up, zeros<f32>(8, 8));
      push(other, zeros<f32>(8, 8));
    });
    role("vec", aiv, [&] {
      body(up, other);
      store(zeros<f32>(8, 8), o, {0, 0});
    });
  });
  return p;
}

void expectUnordered(Program &p, uint32_t line) {
  expectError(p, line,
              "two tiles are popped from 'up' in one expression, and C++ leaves open which of them "
              "comes first; give each a name: Tile first = pop(up); Tile second = pop(up);");
}

TEST(LanguageLanes, ErrorTwoPopsOfOnePipeInOneExpression) {
  uint32_t line = 0;
  Program difference = popper([&](Pipe up, Pipe) {
    line = __LINE__ + 1;
    pop(up) - pop(up);
  });
  expectUnordered(difference, line);
  Program nested = popper([&](Pipe up, Pipe) {
    line = __LINE__ + 1;
    exp(pop(up) * 2) - cast<f32>(transpose(pop(up)));
  });
  expectUnordered(nested, line);
  Program product = popper([&](Pipe up, Pipe) {
    line = __LINE__ + 1;
    matmul(pop(up), pop(up), trans_b);
  });
  expectUnordered(product, line);
  Program accumulated = popper([&](Pipe up, Pipe other) {
    Tile acc = pop(up);
    line = __LINE__ + 1;
    matmul_acc(acc + pop(up), pop(other), pop(up));
  });
  expectUnordered(accumulated, line);
  Program chosen = popper([&](Pipe up, Pipe) {
    line = __LINE__ + 1;
    where(pop(up) > 0, pop(up), 0);
  });
  expectUnordered(chosen, line);
  auto add = [](Tile a, Tile b) { return a + b; };
  std::vector<std::function<void(Pipe)>> composed = {
      [&](Pipe up) { line = __LINE__, clamp(pop(up), -1, 1) - pop(up); },
      [&](Pipe up) { line = __LINE__, silu(pop(up)) - pop(up); },
      [&](Pipe up) { line = __LINE__, gelu(pop(up)) - pop(up); },
      [&](Pipe up) { line = __LINE__, softmax(pop(up)) - pop(up); },
      [&](Pipe up) { line = __LINE__, reduce(pop(up), 1, 0, add) - pop(up); },
      [&](Pipe up) { line = __LINE__, scan(pop(up), 1, 0, add) - pop(up); }};
  for (const auto &make : composed) {
    Program p = popper([&](Pipe up, Pipe) { make(up); });
    expectUnordered(p, line);
  }
  Program once = popper([&](Pipe up, Pipe) {
    Tile first = silu(pop(up)), second = softmax(pop(up));
    first - second - reduce(pop(up), 1, 0, add);
  });
  EXPECT_TRUE(once.errors().empty());
  Program compared = popper([&](Pipe up, Pipe) {
    line = __LINE__ + 1;
    maximum(pop(up) < pop(up), false);
  });
  expectUnordered(compared, line);
  Program reduced = popper([&](Pipe up, Pipe) {
    line = __LINE__ + 1;
    reduce_sum(mask(pop(up), 4, 8), 1) - reduce_max(scan(pop(up), 1), 1);
  });
  expectUnordered(reduced, line);
  Program cut = popper([&](Pipe up, Pipe) {
    line = __LINE__ + 1;
    insert(extract(pop(up), 0, 0, {4, 4}), pop(up), 0, 0);
  });
  expectUnordered(cut, line);
}

TEST(LanguageLanes, NamedPopsAndOneOfEachPipeAreInOrder) {
  Program p = popper([](Pipe up, Pipe other) {
    Tile a = pop(up), b = pop(up);
    a - b;
    exp(a) - exp(b) + transpose(a) * transpose(b);
    matmul(a, b);
    Tile c = pop(up);
    c += a * b;
    c -= pop(up);
    c *= pop(other) + c;
  });
  expectText(p, {"tile.sub %0, %1"});
  // Braces are evaluated from left to right.
  Program listed = popper([](Pipe up, Pipe) { concat({pop(up), pop(up)}, 0); });
  expectText(listed, {"tile.concat"});
  Program apart = popper([](Pipe up, Pipe other) { pop(up) - pop(other); });
  expectText(apart, {"tile.sub"});
}

} // namespace
