// Kernels that go over whole rows several times, such as softmax and the norms: what the code does
// to keep memory and registers busy together, and that results do not show it.
#include "LlvmDisassembly.h"
#include "Simulator/TileOpTesting.h"

#include <cmath>

using namespace kiln;
using namespace kiln::test;

namespace {

/// ROWS: of a tile, which has 1024 columns.
const char *const kSoftmax = R"mlir(
kiln.func @rows(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %rows = arith.constant ROWS : index
  %one = arith.constant 1.0 : f32
  %block = tile.block_idx 0
  %i = arith.muli %block, %rows : index
  %t = tile.load %x[%i, 0] pad(min) : !tile.tile<ROWSx1024xf32>
  %top = tile.reduce max %t axis(1) : !tile.tile<ROWSx1xf32>
  %d = tile.sub %t, %top : !tile.tile<ROWSx1024xf32>
  %e = tile.exp %d : !tile.tile<ROWSx1024xf32>
  %sum = tile.reduce sum %e axis(1) : !tile.tile<ROWSx1xf32>
  %ones = tile.full %one : !tile.tile<ROWSx1xf32>
  %scale = tile.div %ones, %sum : !tile.tile<ROWSx1xf32>
  %r = tile.mul %e, %scale : !tile.tile<ROWSx1024xf32>
  tile.store %r, %y[%i, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %rows = arith.constant ROWS : index
  %n = kiln.dim %x, 0
  %blocks = arith.ceildivsi %n, %rows : index
  %0 = kiln.submit @rows(%x, %y) grid(%blocks)
})mlir";

const char *const kCentered = R"mlir(
kiln.func @rows(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in,
                %y: !kiln.tensor<?x?xf32> out) incore {
  %block = tile.block_idx 0
  %t = tile.load %x[%block, 0] : !tile.tile<1x1024xf32>
  %mean = tile.reduce sum %t axis(1) : !tile.tile<1x1xf32>
  %d = tile.sub %t, %mean : !tile.tile<1x1024xf32>
  %squares = tile.mul %d, %d : !tile.tile<1x1024xf32>
  %sum = tile.reduce sum %squares axis(1) : !tile.tile<1x1xf32>
  %v = tile.load %w[0] : !tile.tile<1x1024xf32>
  %e = tile.mul %d, %sum : !tile.tile<1x1024xf32>
  %r = tile.mul %e, %v : !tile.tile<1x1024xf32>
  tile.store %r, %y[%block, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in,
                %y: !kiln.tensor<?x?xf32> out) orchestration {
  %n = kiln.dim %x, 0
  %0 = kiln.submit @rows(%x, %w, %y) grid(%n)
})mlir";

std::string softmaxText(int64_t rows) {
  std::string text = kSoftmax;
  for (size_t at; (at = text.find("ROWS")) != std::string::npos;)
    text.replace(at, 4, std::to_string(rows));
  return text;
}

/// How many innermost loops have all of these instructions, the first ones in this order.
int loopsWith(const std::string &text, const std::string &cpu,
              llvm::ArrayRef<llvm::StringRef> instructions) {
  Program program(text);
  int count = 0;
  for (const auto &loop : innermostLoopsOf(
           program.function("main")->getParentOfType<mlir::ModuleOp>(), optionsFor(cpu))) {
    auto first = [&](llvm::StringRef name) {
      return llvm::find_if(loop, [&](llvm::StringRef line) { return line.contains(name); });
    };
    count += first(instructions.back()) != loop.end() &&
             llvm::is_sorted(instructions, [&](llvm::StringRef a, llvm::StringRef b) {
               return first(a) < first(b);
             });
  }
  return count;
}

TEST(LlvmRows, ABlockIsStoredWhileTheNextIsComputed) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  EXPECT_EQ(loopsWith(softmaxText(1), "icelake-server", {"vscalefps", "vmovntps"}), 1);
  // What is stored by itself: the last block, and those before one that is cut.
  EXPECT_GE(loopsWith(softmaxText(1), "icelake-server", {"vmovntps"}), 2);
}

TEST(LlvmRows, TheNextTileComesAsNearAsThereIsRoom) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  EXPECT_GT(loopsWith(softmaxText(4), "icelake-server", {"prefetcht0"}), 0); // 48 KiB with it
  EXPECT_EQ(loopsWith(softmaxText(4), "icelake-server", {"prefetcht1"}), 0);
  EXPECT_EQ(loopsWith(softmaxText(4), "znver4", {"prefetcht0"}), 0); // has 32
  EXPECT_GT(loopsWith(softmaxText(4), "znver4", {"prefetcht1"}), 0);
  EXPECT_EQ(loopsWith(softmaxText(5), "icelake-server", {"prefetcht0"}), 0);
}

TEST(LlvmRows, EveryPassAsksForTheNextTileWhereFetchesAreLost) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  int onlyLast = loopsWith(kCentered, "icelake-server", {"prefetcht0"});
  EXPECT_GT(onlyLast, 0);
  EXPECT_GE(loopsWith(kCentered, "znver4", {"prefetcht0"}), onlyLast + 2); // two reductions before
}

TEST(LlvmRows, ADifferenceIsComputedAgainInsteadOfStored) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  EXPECT_GT(loopsWith(kCentered, "icelake-server", {"vsubps", "vmovntps"}), 0);
}

/// Tensors that are stored past the caches, with a tile at the end that is cut: its block stores
/// what is due by itself. In place, too.
TEST(LlvmRows, DelayedStoresAreDoneOnceAndInTheirPlace) {
  constexpr int64_t cols = 1024, rows = (int64_t(32) << 20) / 4 / cols + 3, kinds = 7;
  std::vector<float> input(kinds * cols); // rows of seven kinds, which take turns
  for (int64_t i = 0; i < kinds * cols; ++i)
    input[i] = float(i * 7919 % 1021) / 100;
  for (int64_t tileRows : {1, 4})
    for (bool isInPlace : {false, true}) {
      SCOPED_TRACE(std::to_string(tileRows) + " rows" + (isInPlace ? ", in place" : ""));
      Program program(softmaxText(tileRows));
      Tensor x = poisoned(DType::F32, {rows, cols}), y = x;
      for (int64_t i = 0; i < rows; ++i)
        std::copy_n(&input[i % kinds * cols], cols, x.dataAs<float>() + i * cols);
      if (!isInPlace)
        y = poisoned(DType::F32, {rows, cols});
      Status bad = compileAndRun(program.function("main"), std::vector<Argument>{x, y});
      ASSERT_TRUE(bad.isOk()) << bad.str();
      const float *have = y.dataAs<float>();
      for (int64_t i = 0; i < kinds; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < cols; ++j)
          sum += std::exp(input[i * cols + j]);
        for (int64_t j = 0; j < cols; ++j)
          ASSERT_NEAR(have[i * cols + j], std::exp(input[i * cols + j]) / sum, 1e-6)
              << i << ", " << j;
      }
      for (int64_t i = kinds; i < rows; ++i)
        ASSERT_TRUE(std::equal(have + i * cols, have + (i + 1) * cols, have + i % kinds * cols))
            << i;
    }
}

} // namespace
