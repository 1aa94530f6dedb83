// What the table of elementwise operations says of its rows, against what they compute.
#include "ElementwiseTable.h"
#include "Simulator/SimulatorTesting.h"

#include "kiln/Dialect/Tile/TileElementwise.h"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr const char *kBothWays = R"mlir(
kiln.func @both(%x: TENSOR in, %y: TENSOR in, %xy: TENSOR out, %yx: TENSOR out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<1x8xTYPE>
  %b = tile.load %y[0, 0] : !tile.tile<1x8xTYPE>
  %ab = tile.NAME %a, %b : !tile.tile<1x8xTYPE>
  %ba = tile.NAME %b, %a : !tile.tile<1x8xTYPE>
  tile.store %ab, %xy[0, 0]
  tile.store %ba, %yx[0, 0]
})mlir";

TEST(TileElementwise, RowsCommuteIfTheyComputeTheSameBothWays) {
  for (const ElementwiseRow &row : kElementwise) {
    if (row.operands != 2)
      continue;
    SCOPED_TRACE(row.name);
    DType type = row.ofFloats ? DType::F32 : DType::I32;
    Program program(
        fill(kBothWays,
             {{"TENSOR", "!kiln.tensor<1x8xTYPE>"}, {"TYPE", toString(type)}, {"NAME", row.name}}));
    Tensor x = tensorOf(type, {1, 8}, {1, 2, 3, 4, 5, 6, 7, 8}),
           y = tensorOf(type, {1, 8}, {2, 3, 1, 5, 8, 4, 3, 1});
    Tensor xy = poisoned(type, {1, 8}), yx = poisoned(type, {1, 8});
    EXPECT_OK(program.run("both", {x, y, xy, yx}));
    unsigned count = 0;
    program.function("both").walk([&](mlir::Operation *op) {
      bool isRow = op->getName().getStringRef() == "tile." + row.name;
      EXPECT_EQ(tile::isElementwise(op), isRow);
      if (isRow)
        EXPECT_EQ(tile::isCommutative(op), elementsOf(xy) == elementsOf(yx));
      count += isRow;
    });
    EXPECT_EQ(count, 2u);
  }
}

TEST(TileElementwise, WhatNobodyKnowsIsNeitherElementwiseNorCommutative) {
  context().allowUnregisteredDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "%0 = \"foo.bar\"() : () -> !tile.tile<8x8xf32>\n"
      "%1 = \"foo.add\"(%0, %0) : (!tile.tile<8x8xf32>, !tile.tile<8x8xf32>) -> "
      "!tile.tile<8x8xf32>",
      &context());
  context().allowUnregisteredDialects(false);
  ASSERT_TRUE(module);
  module->walk([](mlir::Operation *op) {
    EXPECT_FALSE(tile::isElementwise(op));
    EXPECT_FALSE(tile::isCommutative(op));
  });
}

} // namespace
