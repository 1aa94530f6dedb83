// The checks as a library: reports, seeds, results, and memory that arguments share. What each
// check finds is shown by the programs in test/Check/wrong.
#include "Simulator/SimulatorTesting.h"

#include "lib/Check/ShadowMemory.h"

#include "kiln/Check/CheckProgram.h"
#include "kiln/Program/Signature.h"

using namespace kiln;
using namespace kiln::test;

namespace {

Tensor zeros(Dims extents) {
  Tensor tensor = *Tensor::empty(DType::F32, extents);
  EXPECT_TRUE(tensor.fillZero().isOk());
  return tensor;
}

Expected<CheckReport> check(mlir::ModuleOp module, std::vector<Argument> args, uint64_t seeds,
                            uint64_t firstSeed = 0) {
  CheckOptions options;
  options.firstSeed = firstSeed;
  options.seeds = seeds;
  return checkProgram(module, module.lookupSymbol<ir::FuncOp>("main"), args, options);
}

mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
  return mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context()), "test.mlir");
}

/// Two tasks that race, of four blocks each, so that every seed is another schedule.
const char kRacy[] = R"mlir(
kiln.func @add(%y: !kiln.tensor<16x8xf32> inout, %value: f32) incore {
  %c4 = arith.constant 4 : index
  %block = tile.block_idx 0
  %row = arith.muli %block, %c4 : index
  %t = tile.load %y[%row, 0] : !tile.tile<4x8xf32>
  %s = tile.add %t, %value : !tile.tile<4x8xf32>
  tile.store %s, %y[%row, 0]
}
kiln.func @main(%y: !kiln.tensor<16x8xf32> inout) orchestration {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  kiln.scope manual {
    %a = kiln.submit @add(%y, %one) grid(4)
    %b = kiln.submit @add(%y, %two) grid(4)
  }
})mlir";

TEST(CheckProgram, SameSeedsGiveTheSameReport) {
  auto module = parse(kRacy);
  std::vector<Argument> first{zeros({16, 8})}, second{zeros({16, 8})};
  Expected<CheckReport> a = check(*module, first, 8), b = check(*module, second, 8);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(a->hasErrors());
  EXPECT_EQ(toText(*a, "kiln run x"), toText(*b, "kiln run x"));
  EXPECT_EQ(toJson(*a, "kiln run x"), toJson(*b, "kiln run x"));
  EXPECT_EQ(a->seeds, 8u);
  EXPECT_EQ(a->blocks, 8u * 8u);
}

TEST(CheckProgram, OneSeedReplaysAFinding) {
  auto module = parse(kRacy);
  Expected<CheckReport> many = check(*module, {zeros({16, 8})}, 4, 3);
  ASSERT_TRUE(many && !many->findings.empty());
  const Finding &found = many->findings.front();
  Expected<CheckReport> one = check(*module, {zeros({16, 8})}, 1, found.seed);
  ASSERT_TRUE(one && !one->findings.empty());
  EXPECT_EQ(one->findings.front().message, found.message);
  EXPECT_EQ(one->findings.front().location, found.location);
}

TEST(CheckProgram, EverySeedHasTheSameInputsAndTheFirstGivesTheResults) {
  auto module = parse(kRacy);
  Tensor y = zeros({16, 8});
  ASSERT_TRUE(check(*module, {y}, 5));
  EXPECT_EQ(elementsOf(y), std::vector<double>(128, 3.0));
}

TEST(CheckProgram, ARaceIsToldOnceAndCounted) {
  auto module = parse(kRacy);
  Expected<CheckReport> report = check(*module, {zeros({16, 8})}, 2);
  ASSERT_TRUE(report);
  // Load and store of one task race with the store of the other: three pairs of lines at most.
  EXPECT_LE(report->findings.size(), 3u);
  for (const Finding &finding : report->findings)
    EXPECT_GT(finding.count, 1u) << finding.message;
}

TEST(CheckProgram, AFaultIsAFindingAndABadArgumentIsNot) {
  auto module = parse("kiln.func @main(%n: !kiln.tensor<4xi32> out, %i: index) incore {\n"
                      "  %one = arith.constant 1 : i32\n"
                      "  kiln.write %one, %n[%i]\n}");
  Tensor n = tensorOf(DType::I32, {4}, {});
  Expected<CheckReport> report = check(*module, {n, index(4)}, 3);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].kind, FindingKind::Fault);
  EXPECT_EQ(report->findings[0].count, 3u);
  EXPECT_EQ(report->findings[0].location.line, 3);
  EXPECT_EQ(check(*module, {n}, 3).status().code(), StatusCode::InvalidArgument);
}

/// Three launches of four, two and one blocks; the kernel of the first calls a helper.
const char kThreeTasks[] = R"mlir(
kiln.func @helper(%y: !kiln.tensor<4x8xf32> inout, %row: index) incore {
  %t = tile.load %y[%row, 0] : !tile.tile<1x8xf32>
  tile.store %t, %y[%row, 0]
}
kiln.func @first(%y: !kiln.tensor<4x8xf32> inout) incore {
  %row = tile.block_idx 0
  kiln.call @helper(%y, %row)
}
kiln.func @second(%y: !kiln.tensor<4x8xf32> inout) incore {
  %row = tile.block_idx 0
  %t = tile.load %y[%row, 0] : !tile.tile<1x8xf32>
  tile.store %t, %y[%row, 0]
}
kiln.func @third(%y: !kiln.tensor<4x8xf32> inout) incore {
  %c4 = arith.constant 4 : index
  %t = tile.load %y[%c4, 0] : !tile.tile<1x8xf32>
}
kiln.func @main(%y: !kiln.tensor<4x8xf32> inout) orchestration {
  %a = kiln.submit @first(%y) grid(4)
  %b = kiln.submit @second(%y) grid(2)
  %c = kiln.submit @third(%y)
})mlir";

TEST(CheckProgram, EndsWhereNothingCanComeToAPlaceAnyMore) {
  auto module = parse(kThreeTasks);
  auto blocksUntil = [&](int line, std::vector<FindingKind> kinds) {
    CheckOptions options;
    options.seeds = 1;
    options.until = {"test.mlir", line, 0};
    module->walk([&](mlir::Operation *op) { // the column is whichever is there
      if (SourceLoc loc = sourceLocOf(op->getLoc()); loc.line == line)
        options.until = loc;
    });
    Expected<CheckReport> report = checkProgram(*module, module->lookupSymbol<ir::FuncOp>("main"),
                                                {{Argument(zeros({4, 8}))}}, options);
    EXPECT_TRUE(report);
    std::vector<FindingKind> found;
    for (const Finding &finding : report->findings)
      found.push_back(finding.kind);
    EXPECT_EQ(found, kinds);
    return report->blocks;
  };
  using enum FindingKind;
  EXPECT_EQ(blocksUntil(3, {}), 4u);       // in what the first kernel calls
  EXPECT_EQ(blocksUntil(12, {}), 6u);      // in the second kernel
  EXPECT_EQ(blocksUntil(17, {Fault}), 6u); // in the third, which fails
  EXPECT_EQ(blocksUntil(20, {Fault}), 6u); // in the orchestration: nobody knows
  EXPECT_EQ(blocksUntil(99, {Fault}), 6u); // nowhere
}

TEST(CheckProgram, FindsOnlyWhatStopsIfThatIsAsked) {
  auto module = parse(kRacy);
  CheckOptions options;
  options.onlyStops = true;
  Expected<CheckReport> report = checkProgram(*module, module->lookupSymbol<ir::FuncOp>("main"),
                                              {{Argument(zeros({16, 8}))}}, options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->findings.empty());
  EXPECT_EQ(report->blocks, 8u * 8u);
  auto fails = parse(kThreeTasks);
  report = checkProgram(*fails, fails->lookupSymbol<ir::FuncOp>("main"),
                        {{Argument(zeros({4, 8}))}}, options);
  ASSERT_TRUE(report && report->findings.size() == 1);
  EXPECT_EQ(report->findings.front().kind, FindingKind::Fault);
}

TEST(CheckProgram, ArgumentsThatShareMemory) {
  // Each block copies the row after its own. With x and y apart that is right; with y on top of x
  // it reads what the next block writes.
  auto module = parse(R"mlir(
kiln.func @shift(%x: !kiln.tensor<5x8xf32> in, %y: !kiln.tensor<4x8xf32> out) incore {
  %c1 = arith.constant 1 : index
  %row = tile.block_idx 0
  %next = arith.addi %row, %c1 : index
  %t = tile.load %x[%next, 0] : !tile.tile<1x8xf32>
  tile.store %t, %y[%row, 0]
}
kiln.func @main(%x: !kiln.tensor<5x8xf32> in, %y: !kiln.tensor<4x8xf32> out) orchestration {
  %a = kiln.submit @shift(%x, %y) grid(4)
})mlir");
  Tensor x = zeros({5, 8}), apart = zeros({4, 8});
  Expected<CheckReport> good = check(*module, {x, apart}, 2);
  ASSERT_TRUE(good);
  EXPECT_EQ(toText(*good, ""), "");
  Tensor onTop = *Tensor::view(x.data(), DType::F32, {4, 8}); // another buffer over the same bytes
  Expected<CheckReport> bad = check(*module, {x, onTop}, 2);
  ASSERT_TRUE(bad && !bad->findings.empty());
  EXPECT_EQ(bad->findings.front().kind, FindingKind::Race);
}

TEST(CheckProgram, ABarrierOrdersTheBlocksOfALaunch) {
  simulator::Order order;
  order.taskIsSubmitted();
  order.beginBlock(0, {0, 0, 0});
  simulator::Agent &one = order.addAgent("one");
  order.beginBlock(0, {1, 0, 0});
  simulator::Agent &two = order.addAgent("two");
  simulator::Moment before{one.number, one.epoch(), one.phase()};
  EXPECT_FALSE(order.isBefore(before, two));
  one.meet();
  two.meet();
  EXPECT_TRUE(order.isBefore(before, two));
  EXPECT_FALSE(order.isBefore({one.number, one.epoch(), one.phase()}, two));
}

} // namespace
