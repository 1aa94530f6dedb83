// What ops say of themselves: every op of the language answers, and one that does not is refused.
#include "Simulator/SimulatorTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

TEST(TileInterfaces, EveryOpOfTheTileDialectSaysItsFacts) {
  context();
  for (mlir::RegisteredOperationName op : context().getRegisteredOperationsByDialect("tile"))
    EXPECT_TRUE(op.hasInterface<tile::TileOpInterface>()) << op.getStringRef().str();
}

TEST(TileInterfaces, EveryOpOfTheKilnDialectThatHasTensorsSaysItsAccesses) {
  for (mlir::RegisteredOperationName op : context().getRegisteredOperationsByDialect("kiln")) {
    llvm::StringRef name = op.getStringRef();
    bool hasTensors = name != "kiln.func" && name != "kiln.require" && name != "kiln.scope" &&
                      name != "kiln.rank" && name != "kiln.ranks";
    EXPECT_EQ(op.hasInterface<tile::TensorAccessInterface>(), hasTensors) << name.str();
  }
}

/// A kernel with one more op in it.
mlir::OwningOpRef<mlir::ModuleOp> kernelWith(const std::string &op) {
  context().allowUnregisteredDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(fill(R"mlir(
kiln.func @k(%x: !kiln.tensor<8x8xf32>, %n: index) incore {
  %t = tile.load %x[0, %n] : !tile.tile<8x8xf32>
  OP
  tile.store %t, %x[0, 0] atomic(add)
})mlir",
                                                             {{"OP", op}}),
                                                        &context());
  context().allowUnregisteredDialects(false);
  return module;
}

TEST(TileInterfaces, WhatHasTilesOrTensorsAndSaysNothingIsFound) {
  struct Case {
    const char *op;
    bool isSilent;
  };
  for (const Case &test : {Case{R"(%u = "foo.bar"(%t) : (!tile.tile<8x8xf32>) -> i32)", true},
                           Case{R"(%u = "foo.bar"() : () -> !tile.tile<8x8xf32>)", true},
                           Case{R"("foo.bar"(%x) : (!kiln.tensor<8x8xf32>) -> ())", true},
                           Case{R"(%u = "foo.bar"(%n) : (index) -> index)", false},
                           Case{"%c = arith.cmpi eq, %n, %n : index\n"
                                "%u = arith.select %c, %t, %t : !tile.tile<8x8xf32>",
                                false}}) {
    SCOPED_TRACE(test.op);
    auto module = kernelWith(test.op);
    ASSERT_TRUE(module);
    mlir::Operation *found = tile::findWithoutFacts(*module);
    EXPECT_EQ(found != nullptr, test.isSilent);
    EXPECT_TRUE(!found || found->getName().getStringRef() == "foo.bar");
  }
}

TEST(TileInterfaces, AccessesSayWhereTheyAre) {
  auto module = kernelWith("");
  ASSERT_TRUE(module);
  unsigned count = 0;
  module->walk([&](mlir::Operation *op) {
    for (const tile::TensorAccess &access : tile::tensorAccesses(op)) {
      bool isLoad = llvm::isa<tile::LoadOp>(op);
      EXPECT_TRUE(access.reads); // an atomic store reads too
      EXPECT_EQ(access.writes, !isLoad);
      EXPECT_EQ(access.isAtomic(), !isLoad);
      ASSERT_EQ(access.indices.size(), 2u);
      EXPECT_EQ(llvm::isa<mlir::Value>(access.indices[1]), isLoad);
      EXPECT_EQ(tile::mayWriteMemory(op), !isLoad);
      EXPECT_TRUE(llvm::isa<tile::TileType>(access.tile.getType()));
      ++count;
    }
  });
  EXPECT_EQ(count, 2u);
}

TEST(TileInterfaces, AnUnknownOpMayWriteMemory) {
  auto module = kernelWith(R"("foo.bar"(%n) : (index) -> ())");
  ASSERT_TRUE(module);
  module->walk([&](mlir::Operation *op) {
    if (op->getName().getStringRef() == "foo.bar")
      EXPECT_TRUE(tile::mayWriteMemory(op));
  });
}

} // namespace
