// Scans and reductions in C++: what they record, and which mistakes are reported where.
#include "LanguageTesting.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

TEST(LanguageCombine, ScansSayHowTheyCombine) {
  Program p = kernel([](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 8});
    x = scan(x, 0) + scan(x, 1, Combine::Max) + scan(x, 1, Combine::Min, {.exclusive = true});
    store(scan(x, 0, Combine::Product, {.exclusive = true, .reverse = true}), b, {0, 0});
  });
  expectText(p, {"tile.scan sum %0 axis(0) : ", "tile.scan max %0 axis(1) : ",
                 "tile.scan min %0 axis(1) exclusive : ", "axis(0) exclusive reverse : "});
}

TEST(LanguageCombine, ClampIsAMinimumOfAMaximum) {
  Program p = kernel([](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 8});
    store(clamp(x, -1, reduce_max(x, 1)), b, {0, 0});
  });
  expectText(p, {"tile.max %0, %cst", "tile.min %"});
}

TEST(LanguageCombine, BodiesAreRecordedOnLines) {
  Program p = kernel([](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 4});
    auto [best, at] = reduce(std::tuple(x, iota<i32>({8, 4}, 1)), 1, {-INFINITY, -1},
                             [](Tile v, Tile i, Tile w, Tile j) {
                               return std::tuple(maximum(v, w), where(w > v, j, i));
                             });
    Tile scaled = scan(x, 0, 0, [](Tile u, Tile v) { return maximum(u * 2, v); },
                       {.exclusive = true, .reverse = true});
    Tile carried = reduce(x, 0, extract(x, 0, 0, {1, 4}), [](Tile u, Tile v) { return u + v; });
    store(scaled + best + cast<f32>(at) + carried, b, {0, 0});
  });
  expectText(p, {"tile.reduce_with %0, %1 axis(1) start(%cst, %c-1_i32)",
                 "^bb0(%arg0: !tile.tile<8x1xf32>, %arg1: !tile.tile<8x1xi32>",
                 "tile.scan_with %0 axis(0) start(", ") exclusive reverse {",
                 // a number stands in the body that uses it
                 "!tile.tile<1x4xf32>):\n      %cst_", "tile.yield %"});
}

TEST(LanguageCombine, ErrorAxis) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    Tile y = scan(x, 2, 0, [](Tile u, Tile v) { return u + v; });
    store(y, b, {0, 0});
  });
  expectError(p, line, "scan along axis 2; it is 0 (rows) or 1 (columns)");
}

TEST(LanguageCombine, ErrorTileFromOutsideTheBody) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 8}), w = load(a, {0, 0}, {8, 1});
    Tile y = reduce(x, 1, 0, [&](Tile u, Tile v) {
      line = __LINE__ + 1;
      return u + v * w;
    });
    store(y, b, {0, 0});
  });
  expectError(p, line,
              "this tile comes from outside the body, which works on its parameters and numbers; "
              "give it to the reduction or scan as another tile");
}

TEST(LanguageCombine, ErrorOperationThatIsNotElementwise) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    Tile y = reduce(load(a, {0, 0}, {8, 8}), 1, 0, [&](Tile u, Tile v) {
      line = __LINE__ + 1;
      return u + reduce_sum(v, 0);
    });
    store(y, b, {0, 0});
  });
  expectError(p, line, "cannot stand in the body of tile.reduce_with");
}

TEST(LanguageCombine, ErrorShapeOfTheBody) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    Tile y = reduce(x, 1, 0, [](Tile u, Tile v) { return u > v; });
    store(y, b, {0, 0});
  });
  expectError(p, line,
              "the reduction or scan combines a tile of 8x1 of f32 but its body returns a tile of "
              "8x1 of i1");
}

TEST(LanguageCombine, ErrorStart) {
  uint32_t line = 0;
  Program p = kernel([&](In<f32> a, Out<f32> b) {
    Tile x = load(a, {0, 0}, {8, 8});
    line = __LINE__ + 1;
    Tile y = reduce(x, 1, load(a, {0, 0}, {1, 8}), [](Tile u, Tile v) { return u + v; });
    store(y, b, {0, 0});
  });
  expectError(p, line,
              "the start of a tile of 8x1 of f32 is a number or as much, not a tile of 1x8 of f32");
  Program q = kernel([&](In<f32> a, Out<f32> b) {
    Tile x = cast<i32>(load(a, {0, 0}, {8, 8}));
    line = __LINE__ + 1;
    Tile y = reduce(x, 1, 0.5, [](Tile u, Tile v) { return u + v; });
    store(cast<f32>(y), b, {0, 0});
  });
  expectError(q, line, "0.5 is no value of type i32");
}

} // namespace
