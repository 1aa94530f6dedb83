// Where the elements of tiles come from: how origins move with elements, and the bounds of data.
// What the checks make of them is shown by the programs in test/Check.
#include "Simulator/SimulatorTesting.h"

#include "lib/Check/Bounds.h"
#include "lib/Check/Padding.h"

using namespace kiln;
using namespace kiln::test;
using namespace kiln::simulator;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Some operation; the tests only compare it.
mlir::Operation *filler() {
  static mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context()));
  return *module;
}

/// d: data, c: constant, p: padding; row by row.
Tile marked(int64_t rows, int64_t cols, const std::string &origins) {
  Tile tile(rows, cols, DType::F32);
  for (char origin : origins)
    tile.origins.push_back(origin == 'd'   ? Origin()
                           : origin == 'c' ? Origin::constant()
                                           : Origin::padding(filler()));
  return tile;
}

std::string originsOf(const Tile &tile) {
  std::string text;
  for (int64_t at = 0; at < tile.rows * tile.cols; ++at)
    text += tile.originAt(at).isData() ? 'd' : tile.originAt(at).isConstant() ? 'c' : 'p';
  return text;
}

TEST(Origins, WhatIsMadeOfPaddingIsPaddingAndOfDataData) {
  Origin data, constant = Origin::constant(), padding = Origin::padding(filler());
  for (Origin other : {data, constant, padding}) {
    EXPECT_TRUE(join(padding, other).isPadding());
    EXPECT_TRUE(join(other, padding).isPadding());
  }
  EXPECT_TRUE(join(data, constant).isData());
  EXPECT_TRUE(join(constant, data).isData());
  EXPECT_TRUE(join(constant, constant).isConstant());
  EXPECT_EQ(join(data, padding).filler(), filler());
}

TEST(Origins, WhatMovesElementsMovesOrigins) {
  Tile tile = marked(2, 3,
                     "dcp"
                     "ppd");
  EXPECT_EQ(originsOf(*transposed(tile)), "dp"
                                          "cp"
                                          "pd");
  EXPECT_EQ(originsOf(*reshaped(tile, 3, 2)), "dcpppd");
  EXPECT_EQ(originsOf(*extractBox(tile, 0, 1, 2, 2)), "cp"
                                                      "pd");
  EXPECT_EQ(originsOf(*converted(tile, DType::I32)), "dcpppd");
  Tile into(3, 3, DType::F32);
  EXPECT_EQ(originsOf(*insertBox(tile, into, 1, 0)), "ddd"
                                                     "dcp"
                                                     "ppd");
  auto part = std::make_shared<Tile>(tile), data = std::make_shared<Tile>(2, 1, DType::F32);
  TilePtr parts[] = {data, part};
  EXPECT_EQ(originsOf(*concatenate(parts, 1)), "ddcp"
                                               "dppd");
}

TEST(Origins, FillingUpMakesPaddingOfDataAlone) {
  Tile tile = marked(1, 2, "dc");
  tile.fillUp(0, filler());
  tile.fillUp(1, filler());
  EXPECT_EQ(originsOf(tile), "pc");
}

TEST(Origins, PaddingKnowsWhatHasBecomeOfIt) {
  Origin padding = Origin::padding(filler());
  EXPECT_EQ(padding.maker(), nullptr);
  Origin made = padding.madeBy(filler()), missing = padding.missedBy(filler());
  EXPECT_EQ(join(padding, made).maker(), filler());
  EXPECT_EQ(join(made, padding).maker(), filler());
  EXPECT_TRUE(missing.isMissing());
  EXPECT_TRUE(missing.madeBy(filler()).isMissing());
  EXPECT_FALSE(made.isMissing());
  Tile tile = marked(1, 1, "p");
  tile.origins[0] = missing;
  tile.fillUp(0, filler());
  EXPECT_TRUE(tile.originAt(0).isPadding());
  EXPECT_TRUE(tile.originAt(0).isChosen());
  EXPECT_FALSE(tile.originAt(0).isMissing());
}

TEST(Origins, ALineWithOneDatumIsData) {
  Tile tile = marked(3, 3,
                     "cpd"
                     "cpc"
                     "ccc");
  auto of = [&](int64_t axis, int64_t number) { return originOf(tile, Line(tile, axis, number)); };
  EXPECT_TRUE(of(1, 0).isData());
  EXPECT_TRUE(of(1, 1).isPadding());
  EXPECT_TRUE(of(1, 2).isConstant());
  EXPECT_TRUE(of(0, 0).isConstant());
  EXPECT_TRUE(of(0, 1).isPadding());
  EXPECT_TRUE(of(0, 2).isData());
}

TEST(Origins, NeutralValuesByKind) {
  using enum tile::ReduceKind;
  Bounds any{-kInfinity, kInfinity}, positive{0, kInfinity};
  EXPECT_TRUE(isNeutral(Sum, 0, any, 1));
  EXPECT_FALSE(isNeutral(Sum, 1, any, 1));
  EXPECT_TRUE(isNeutral(Prod, 1, any, 1));
  EXPECT_FALSE(isNeutral(Prod, 0, any, 1));
  EXPECT_TRUE(isNeutral(Max, -kInfinity, any, 1));
  EXPECT_FALSE(isNeutral(Max, 0, any, 1)) << "less than the data by accident";
  EXPECT_TRUE(isNeutral(Max, 0, positive, 0));
  EXPECT_TRUE(isNeutral(ArgMax, -1e30, any, -3)) << "what programs write for -inf";
  EXPECT_FALSE(isNeutral(ArgMax, -1e30, any, -1e31));
  EXPECT_TRUE(isNeutral(Min, kInfinity, any, 1));
  EXPECT_FALSE(isNeutral(ArgMin, 0, positive, 1));
  EXPECT_FALSE(isNeutral(Max, std::nan(""), any, 1));
}

TEST(Bounds, ATypeHasBoundsAndACastKeepsThem) {
  Tile bytes(1, 1, DType::I8);
  EXPECT_EQ(bytes.bounds.least, -128);
  EXPECT_EQ(converted(bytes, DType::I32)->bounds.least, -128);
  EXPECT_EQ(converted(bytes, DType::F32)->bounds.greatest, 127);
  Tile words(1, 1, DType::I32);
  EXPECT_EQ(converted(words, DType::I8)->bounds.least, -128) << "what does not fit wraps";
  EXPECT_EQ(Tile(1, 1, DType::F8E4M3FN).bounds.greatest, 448);
  EXPECT_EQ(Tile(1, 1, DType::F16).bounds.least, -kInfinity);
}

/// The bounds of the result of the first operation of a kind in a program of one kernel.
Bounds boundsAfter(const std::string &op, llvm::ArrayRef<Bounds> operands) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "kiln.func @k(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out) incore {\n"
      "  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>\n"
      "  %b = tile.load %x[0, 0] : !tile.tile<4x8xf32>\n"
      "  %r = tile." +
          op +
          " : !tile.tile<4x8xf32>\n"
          "  tile.store %r, %y[0, 0]\n"
          "}\n",
      mlir::ParserConfig(&context()));
  EXPECT_TRUE(module) << op;
  Bounds bounds{1, -1};
  module->walk([&](tile::StoreOp store) {
    bounds = boundsOf(store.getTile().getDefiningOp(), operands, DType::F32);
  });
  return bounds;
}

TEST(Bounds, OperationsThatAreNeverNegative) {
  Bounds any{-kInfinity, kInfinity}, positive{0, kInfinity};
  for (const char *op : {"abs %a", "exp %a", "sqrt %a", "sigmoid %a"})
    EXPECT_EQ(boundsAfter(op, {any}).least, 0) << op;
  EXPECT_EQ(boundsAfter("mul %a, %a", {any, any}).least, 0);
  EXPECT_EQ(boundsAfter("mul %a, %b", {any, any}).least, -kInfinity);
  EXPECT_EQ(boundsAfter("mul %a, %b", {positive, positive}).least, 0);
  EXPECT_EQ(boundsAfter("div %a, %b", {positive, positive}).least, 0);
  EXPECT_EQ(boundsAfter("sub %a, %b", {positive, positive}).least, -kInfinity);
  EXPECT_EQ(boundsAfter("neg %a", {positive}).greatest, 0);
  EXPECT_EQ(boundsAfter("max %a, %b", {any, {0, 0}}).least, 0);
  EXPECT_EQ(boundsAfter("min %a, %b", {any, {0, 0}}).greatest, 0);
}

TEST(Bounds, BoundsRoundAsElementsDo) {
  float tenth = 0.1f;
  EXPECT_EQ(boundsAfter("add %a, %b", {{0, kInfinity}, {tenth, tenth}}).least, tenth);
  EXPECT_EQ(boundsAfter("mul %a, %b", {{tenth, 1}, {tenth, tenth}}).least, tenth * tenth);
}

} // namespace
