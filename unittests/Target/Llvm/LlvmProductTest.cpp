// Loops of products that the cpu backend computes for many blocks at once: they must compute what
// each block would by itself, for every shape, and their inner loop must stay in registers.
#include "LlvmDisassembly.h"
#include "Simulator/TileOpTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

/// A launch of products with a bias; TA, TB, TC: element types; LEFT and RIGHT: how a tile of each
/// side is loaded in iteration %k.
const char *const kProduct = R"mlir(
kiln.func @product(%a: !kiln.tensor<?x?xTA> in, %b: !kiln.tensor<?x?xTA> in,
                   %d: !kiln.tensor<?xTC> in, %c: !kiln.tensor<?x?xTC> out, %n: index) incore {
  %c0 = arith.constant 0 : index
  %bk = arith.constant BK : index
  %bm = arith.constant BM : index
  %bn = arith.constant BN : index
  %zero = arith.constant ZERO : TC
  %bi = tile.block_idx 0
  %bj = tile.block_idx 1
  %i = arith.muli %bi, %bm : index
  %j = arith.muli %bj, %bn : index
  %bias = tile.load %d[%j] : !tile.tile<1xBNxTC>
  %start = tile.full %zero : !tile.tile<BMxBNxTC>
  %sum = scf.for %k = %c0 to %n step %bk iter_args(%acc = %start) -> (!tile.tile<BMxBNxTC>) {
    LEFT
    RIGHT
    %next = tile.matmul_acc %acc, %x, %y TRANS : !tile.tile<BMxBNxTC>
    scf.yield %next : !tile.tile<BMxBNxTC>
  }
  RESULT
  tile.store %r, %c[%i, %j]
}
kiln.func @main(%a: !kiln.tensor<?x?xTA> in, %b: !kiln.tensor<?x?xTA> in,
                %d: !kiln.tensor<?xTC> in, %c: !kiln.tensor<?x?xTC> out, %n: index) orchestration {
  %bm = arith.constant BM : index
  %bn = arith.constant BN : index
  %0 = kiln.dim %c, 0
  %1 = arith.ceildivsi %0, %bm : index
  %2 = kiln.dim %c, 1
  %3 = arith.ceildivsi %2, %bn : index
  %t = kiln.submit @product(%a, %b, %d, %c, %n) grid(%1, %3)
})mlir";

struct Shape {
  int64_t m, n, k, bm, bn, bk;
};

struct Types {
  DType side, sum;
};

/// The CPUs that code is made for, each with another way to multiply small types; "" is this one.
const char *const kCpus[] = {"",          "sapphirerapids", "cooperlake", "alderlake",
                             "x86-64-v4", "x86-64-v3",      "x86-64"};

/// `isTurned`: the right side is stored as n x k; `start`: what sums start with; `isBare`: sums are
/// the result, so that nothing but a store follows the loop.
std::string productText(const Shape &s, Types types, bool isTurned, int start = 0,
                        bool isBare = false) {
  std::string left = "%x = tile.load %a[%i, %k] : !tile.tile<BMxBKxTA>";
  std::string right = isTurned ? "%y = tile.load %b[%j, %k] : !tile.tile<BNxBKxTA>"
                               : "%y = tile.load %b[%k, %j] : !tile.tile<BKxBNxTA>";
  std::string text = kProduct, biased = "%r = tile.add %sum, %bias : !tile.tile<BMxBNxTC>";
  if (isBare)
    text.replace(text.find("%sum = scf.for"), 4, "%r");
  return fill(text.c_str(), {{"RESULT", isBare ? "" : biased},
                             {"LEFT", left},
                             {"RIGHT", right},
                             {"TRANS", isTurned ? "trans_b" : ""},
                             {"ZERO", std::to_string(start) + (isFloat(types.sum) ? ".0" : "")},
                             {"TA", toString(types.side)},
                             {"TC", toString(types.sum)},
                             {"BM", std::to_string(s.bm)},
                             {"BN", std::to_string(s.bn)},
                             {"BK", std::to_string(s.bk)}});
}

/// Random numbers, whole ones for integers.
std::vector<double> elementsFor(DType type, int64_t count, unsigned seed) {
  std::vector<double> values = randomElements(count, seed);
  for (double &value : values)
    value = isFloat(type) ? value : std::round(value * 100);
  return values;
}

void expectProduct(const Shape &s, Types types, bool isTurned, const std::string &cpu = "",
                   int start = 0, bool isBare = false) {
  SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
               " by tiles of " + std::to_string(s.bm) + "x" + std::to_string(s.bn) + "x" +
               std::to_string(s.bk) + (isTurned ? ", turned" : "") + ", " + toString(types.side) +
               ", for " + cpu);
  Program program(productText(s, types, isTurned, start, isBare));
  auto made = [&](int64_t count, unsigned seed) { return elementsFor(types.side, count, seed); };
  int64_t bRows = isTurned ? s.n : s.k, bCols = isTurned ? s.k : s.n;
  Tensor a = tensorOf(types.side, {s.m, s.k}, made(s.m * s.k, 1)),
         b = tensorOf(types.side, {bRows, bCols}, made(bRows * bCols, 2)),
         d = tensorOf(types.sum, {s.n}, made(s.n, 3)), c = poisoned(types.sum, {s.m, s.n});
  std::vector<Argument> args{a, b, d, c, test::index(s.k)};
  Status bad = compileAndRun(program.function("main"), args, {}, optionsFor(cpu));
  ASSERT_TRUE(bad.isOk()) << bad.str();
  std::vector<double> x = elementsOf(a), y = elementsOf(b), want = std::vector<double>(s.m * s.n),
                      bias = elementsOf(d);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = (isBare ? 0 : bias[j]) + start;
      for (int64_t k = 0; k < s.k; ++k)
        sum += x[i * s.k + k] * (isTurned ? y[j * s.k + k] : y[k * s.n + j]);
      want[i * s.n + j] = sum;
    }
  expectNear(elementsOf(c), want, isFloat(types.sum) ? 1e-5 * double(s.k + 1) : 0);
}

TEST(LlvmProduct, IsRightForAllShapes) {
  const Shape shapes[] = {
      {64, 64, 64, 64, 64, 64},     // one block
      {200, 150, 330, 64, 64, 64},  // ragged everywhere, more than one round of packing
      {300, 80, 70, 16, 48, 32},    // columns that are no whole block of registers
      {33, 37, 41, 8, 24, 8},       // narrow vectors
      {130, 2100, 20, 64, 128, 16}, // more columns than are taken at once
      {700, 65, 17, 32, 64, 16},    // more rows than are taken at once
      {5, 7, 1, 16, 16, 16},        // less than a tile
      {64, 64, 0, 64, 64, 64},      // nothing to add
      {70, 70, 30, 64, 64, 3},      // a depth that is not unrolled
  };
  for (const Shape &shape : shapes)
    for (bool isTurned : {false, true})
      expectProduct(shape, {DType::F32, DType::F32}, isTurned);
}

/// Zeros are made in registers, anything else is stored first: either way over one round of
/// packing, over several, and where the loop never runs.
TEST(LlvmProduct, SumsMayStartAnywhere) {
  for (Types types : {Types{DType::F32, DType::F32}, Types{DType::I8, DType::I32}})
    for (bool isTurned : {false, true})
      for (int64_t k : {0, 100, 2500})
        for (int start : {0, 3})
          expectProduct({20, 70, k, 16, 64, 64}, types, isTurned, "", start);
}

/// Where only a store follows, products store what is whole themselves, and the rest is stored
/// behind them: blocks in the middle and at the edges, one off a tile, over one round of packing
/// and over several, and where the loop never runs.
TEST(LlvmProduct, StoresFinishedSums) {
  const Shape shapes[] = {
      {128, 192, 320, 64, 64, 64}, {129, 127, 300, 64, 64, 64}, {191, 193, 129, 64, 64, 64},
      {100, 120, 200, 50, 40, 40}, {640, 96, 130, 64, 48, 64},  {64, 2300, 40, 64, 128, 40},
      {64, 64, 0, 64, 64, 64},     {256, 1, 130, 64, 1, 64},
  };
  const Types all[] = {{DType::F32, DType::F32},
                       {DType::F16, DType::F32},
                       {DType::BF16, DType::F32},
                       {DType::F8E4M3FN, DType::F32},
                       {DType::I8, DType::I32}};
  for (const Shape &shape : shapes)
    for (Types types : all)
      for (bool isTurned : {false, true})
        expectProduct(shape, types, isTurned, "", /*start=*/isTurned ? 3 : 0, /*isBare=*/true);
}

/// Whether this machine runs code for a CPU.
bool isHere(const std::string &cpu) {
#ifdef __x86_64__
  auto has = [](const char *feature) {
    return ("," + hostCpuFeatures() + ",").find(std::string(",+") + feature + ",") !=
           std::string::npos;
  };
  return cpu.empty() || (cpu == "sapphirerapids" ? has("amx-bf16") && has("avx512fp16")
                         : cpu == "cooperlake"   ? has("avx512bf16")
                         : cpu == "alderlake"    ? has("avxvnni")
                         : cpu == "x86-64-v4"    ? __builtin_cpu_supports("x86-64-v4") != 0
                         : cpu == "x86-64-v3"    ? __builtin_cpu_supports("x86-64-v3") != 0
                                                 : true);
#else
  return cpu.empty();
#endif
}

class LlvmProductOn : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!isHere(GetParam()))
      GTEST_SKIP() << "this machine does not run code for " << GetParam();
  }
};

/// Where tile registers are, every way in which a block may be cut: rows and columns that are part
/// of a tile, sums that do not start at zero or whose loop never runs, more than one round.
TEST_P(LlvmProductOn, MultipliesWholeAndPartialTiles) {
  const Types bf16{DType::BF16, DType::F32}, i8{DType::I8, DType::I32};
  for (Types types : {bf16, i8}) {
    expectProduct({64, 64, 128, 64, 64, 64}, types, false, GetParam());
    expectProduct({77, 75, 192, 17, 15, 64}, types, false, GetParam());
    expectProduct({77, 75, 130, 33, 49, 64}, types, true, GetParam());
    expectProduct({31, 100, 200, 1, 5, 64}, types, false, GetParam());
    expectProduct({600, 40, 64, 64, 32, 64}, types, false, GetParam()); // more rows than at once
    expectProduct({20, 40, 4200, 16, 32, 64}, types, false, GetParam());
    expectProduct({20, 40, 0, 32, 32, 64}, types, false, GetParam());
    expectProduct({20, 70, 200, 20, 40, 64}, types, true, GetParam()); // few rows, which stream
  }
}

TEST_P(LlvmProductOn, MultipliesSmallTypes) {
  const Types bf16{DType::BF16, DType::F32}, i8{DType::I8, DType::I32};
  const Shape ragged{70, 90, 100, 32, 64, 32};
  for (DType side : {DType::F16, DType::F8E4M3FN, DType::F8E5M2})
    expectProduct(ragged, {side, DType::F32}, false, GetParam());
  for (Types types : {bf16, i8}) {
    for (bool isTurned : {false, true})
      expectProduct(ragged, types, isTurned, GetParam());
    // Pairs, but no groups of four; part of a vector of columns.
    expectProduct({20, 37, 66, 16, 24, 6}, types, true, GetParam());
    expectProduct({9, 21, 35, 8, 16, 5}, types, false, GetParam()); // no groups
    // More than one round of packing.
    expectProduct({33, 70, 2100, 32, 64, 60}, types, false, GetParam());
    expectProduct({40, 70, 150, 16, 48, 32}, types, true, GetParam()); // few rows, which stream
    expectProduct({16, 50, 75, 16, 48, 32}, types, true, GetParam());  // an odd distance of rows
  }
}

/// Few rows, which stream: several words of k are spread over a vector, as many as there is room
/// for, and their sums are added up at the end; also where the last iteration is cut, and where
/// sums start with something.
TEST_P(LlvmProductOn, StreamsAnyNumberOfFewRows) {
  for (Types types : {Types{DType::F32, DType::F32}, Types{DType::BF16, DType::F32},
                      Types{DType::I8, DType::I32}})
    for (int64_t rows : {1, 2, 3, 5, 8, 12, 24, 32})
      expectProduct({rows + 2, 45, 330, rows, 24, 64}, types, true, GetParam(), int(rows % 4));
}

/// Bytes are streamed whatever the depth; what is added to them is found by the left side's sums,
/// for as many words as lie side by side.
TEST_P(LlvmProductOn, StreamsBytesOfAnyDepth) {
  const Types i8{DType::I8, DType::I32};
  for (int64_t depth : {4, 12, 36})
    expectProduct({16, 30, 2 * depth + 7, 16, 16, depth}, i8, true, GetParam(), 5);
  expectProduct({20, 40, int64_t{5300} * 4, 16, 24, 64}, i8, true,
                GetParam()); // more than one round
}

/// As many lanes as all rows leave, which may be part of a vector.
TEST(LlvmProduct, StreamsBytesByAnyNumberOfRows) {
  for (int64_t rows = 1; rows <= 32; ++rows)
    expectProduct({rows, 11, 150, rows, 8, 64}, {DType::I8, DType::I32}, true);
}

/// A product of two tiles by itself, added to a third, with either side turned.
TEST_P(LlvmProductOn, MultipliesTilesWhereTheyStand) {
  const char *const text = R"mlir(
kiln.func @main(%a: !kiln.tensor<?x?xTA> in, %b: !kiln.tensor<?x?xTA> in,
                %d: !kiln.tensor<?x?xTC> in, %c: !kiln.tensor<?x?xTC> out) incore {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : !tile.tile<LEFTxTA>
  %y = tile.load %b[%c0, %c0] : !tile.tile<RIGHTxTA>
  %z = tile.load %d[%c0, %c0] : !tile.tile<MxNxTC>
  %p = tile.matmul %x, %y TRANS : !tile.tile<MxNxTC>
  %q = tile.matmul_acc %z, %x, %y TRANS : !tile.tile<MxNxTC>
  %r = tile.add %p, %q : !tile.tile<MxNxTC>
  tile.store %r, %c[%c0, %c0]
})mlir";
  auto extents = [](int64_t i, int64_t j) { return std::to_string(i) + "x" + std::to_string(j); };
  auto expect = [&](Types types, int64_t m, int64_t n, int64_t k, bool turnsA, bool turnsB) {
    SCOPED_TRACE(extents(m, n) + " deep " + std::to_string(k) + " of " + toString(types.side) +
                 (turnsA ? " trans_a" : "") + (turnsB ? " trans_b" : ""));
    int64_t aRows = turnsA ? k : m, aCols = turnsA ? m : k, bRows = turnsB ? n : k,
            bCols = turnsB ? k : n;
    Program program(
        fill(text, {{"LEFT", extents(aRows, aCols)},
                    {"RIGHT", extents(bRows, bCols)},
                    {"TRANS", std::string(turnsA ? "trans_a " : "") + (turnsB ? "trans_b" : "")},
                    {"TA", toString(types.side)},
                    {"TC", toString(types.sum)},
                    {"MxN", extents(m, n)}}));
    auto made = [&](DType type, int64_t rows, int64_t cols, unsigned seed) {
      return tensorOf(type, {rows, cols}, elementsFor(type, rows * cols, seed));
    };
    Tensor a = made(types.side, aRows, aCols, 1), b = made(types.side, bRows, bCols, 2),
           d = made(types.sum, m, n, 3), c = poisoned(types.sum, {m, n});
    std::vector<Argument> args{a, b, d, c};
    Status bad = compileAndRun(program.function("main"), args, {}, optionsFor(GetParam()));
    ASSERT_TRUE(bad.isOk()) << bad.str();
    std::vector<double> x = elementsOf(a), y = elementsOf(b), want = elementsOf(d);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          want[i * n + j] +=
              2 * x[turnsA ? l * m + i : i * k + l] * y[turnsB ? j * k + l : l * n + j];
    expectNear(elementsOf(c), want, isFloat(types.sum) ? 1e-5 * double(k) : 0);
  };
  const Types bf16{DType::BF16, DType::F32}, i8{DType::I8, DType::I32};
  for (Types types : {bf16, i8}) {
    expect(types, 64, 64, 64, false, false);
    for (bool turnsA : {false, true})
      for (bool turnsB : {false, true})
        expect(types, 33, 21, 128, turnsA, turnsB);
  }
}

/// Bytes from -128 to 127: where they are multiplied without a sign, all must come out right.
TEST_P(LlvmProductOn, MultipliesTheLargestBytes) {
  auto expect = [&](const Shape &s, bool isTurned, int x, int y) {
    SCOPED_TRACE(std::to_string(x) + " by " + std::to_string(y) + (isTurned ? ", turned" : ""));
    Program program(productText(s, {DType::I8, DType::I32}, isTurned));
    std::vector<double> left(size_t(s.m * s.k), x), right(size_t(s.k * s.n), y);
    std::vector<double> bias(size_t(s.n), 0);
    Tensor c = poisoned(DType::I32, {s.m, s.n});
    std::vector<int64_t> extents =
        isTurned ? std::vector<int64_t>{s.n, s.k} : std::vector<int64_t>{s.k, s.n};
    std::vector<Argument> args{tensorOf(DType::I8, {s.m, s.k}, left),
                               tensorOf(DType::I8, extents, right),
                               tensorOf(DType::I32, {s.n}, bias), c, test::index(s.k)};
    Status bad = compileAndRun(program.function("main"), args, {}, optionsFor(GetParam()));
    ASSERT_TRUE(bad.isOk()) << bad.str();
    expectNear(elementsOf(c), std::vector<double>(size_t(s.m * s.n), double(s.k) * x * y), 0);
  };
  for (Shape s : {Shape{16, 16, 64, 16, 16, 64}, Shape{11, 21, 150, 16, 16, 64}})
    for (bool isTurned : {false, true}) // packed, and streamed
      for (int x : {-128, 127})
        for (int y : {-128, 127})
          expect(s, isTurned, x, y);
}

/// Products of bf16 may take subnormal numbers for zero and round sums without them; infinity and
/// NaN go through.
TEST_P(LlvmProductOn, Bf16AtTheEndsOfItsRange) {
  Shape s{16, 16, 32, 16, 16, 32};
  Program program(productText(s, {DType::BF16, DType::F32}, false));
  auto run = [&](double first, double second) {
    std::vector<double> left(size_t(16) * 32, 0), right(size_t(32) * 16, 1), bias(16, 0);
    left[0] = first, left[1] = second;
    Tensor c = poisoned(DType::F32, {16, 16});
    std::vector<Argument> args{tensorOf(DType::BF16, {16, 32}, left),
                               tensorOf(DType::BF16, {32, 16}, right),
                               tensorOf(DType::F32, {16}, bias), c, test::index(32)};
    Status bad = compileAndRun(program.function("main"), args, {}, optionsFor(GetParam()));
    EXPECT_TRUE(bad.isOk()) << bad.str();
    return elementsOf(c)[0];
  };
  double inf = std::numeric_limits<double>::infinity(), tiny = 0x1p-133;
  EXPECT_EQ(run(inf, 1), inf);
  EXPECT_EQ(run(-inf, 1), -inf);
  EXPECT_TRUE(std::isnan(run(inf, -inf)));
  EXPECT_TRUE(std::isnan(run(std::nan(""), 1)));
  EXPECT_NEAR(run(tiny, tiny), 2 * tiny, 0x1p-126);
  EXPECT_EQ(run(0x1p-120, 0x1p-121), 0x1p-120 + 0x1p-121);
}

INSTANTIATE_TEST_SUITE_P(Cpus, LlvmProductOn, testing::ValuesIn(kCpus),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = *info.param ? info.param : "this one";
                           for (char &c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

/// How many workers share a launch, and so how its blocks are cut into ranges, changes no bit.
TEST(LlvmProduct, IsTheSameForAnyNumberOfWorkers) {
  const Types f32{DType::F32, DType::F32}, bf16{DType::BF16, DType::F32}, i8{DType::I8, DType::I32};
  for (Types types : {f32, bf16, i8})
    for (Shape s : {Shape{300, 330, 1100, 64, 64, 64}, Shape{1200, 330, 500, 64, 64, 32},
                    Shape{40, 1300, 900, 16, 64, 64}}) {
      bool isTurned = s.bm == 16; // few rows, which stream
      bool isBare = s.m == 1200;  // more rows than are taken at once, stored by products
      SCOPED_TRACE(std::string(toString(types.side)) + " of " + std::to_string(s.m) + " rows");
      Program program(productText(s, types, isTurned, 0, isBare));
      auto made = [&](int64_t count, unsigned seed) {
        return elementsFor(types.side, count, seed);
      };
      int64_t bRows = isTurned ? s.n : s.k, bCols = isTurned ? s.k : s.n;
      std::vector<double> x = made(s.m * s.k, 1), y = made(s.n * s.k, 2), first;
      for (unsigned workers : {1, 2, 3}) {
        Tensor c = poisoned(types.sum, {s.m, s.n});
        std::vector<Argument> args{tensorOf(types.side, {s.m, s.k}, x),
                                   tensorOf(types.side, {bRows, bCols}, y),
                                   tensorOf(types.sum, {s.n}, made(s.n, 3)), c, test::index(s.k)};
        CpuRunOptions options;
        options.workers = workers;
        Status bad = compileAndRun(program.function("main"), args, options);
        ASSERT_TRUE(bad.isOk()) << bad.str();
        if (first.empty())
          first = elementsOf(c);
        EXPECT_EQ(elementsOf(c), first) << workers << " workers";
      }
    }
}

/// Two sums in one loop that share their left side, whose expression is computed, in batches.
TEST(LlvmProduct, SharesALeftSideAndKeepsBatchesApart) {
  Program program(R"mlir(
kiln.func @gated(%a: !kiln.tensor<3x?x?xf32> in, %g: !kiln.tensor<3x?x?xf32> in,
                 %u: !kiln.tensor<3x?x?xf32> in, %c: !kiln.tensor<3x?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %z = tile.block_idx 0
  %bi = tile.block_idx 1
  %bj = tile.block_idx 2
  %i = arith.muli %bi, %c32 : index
  %j = arith.muli %bj, %c32 : index
  %n = kiln.dim %a, 2
  %start = tile.full %zero : !tile.tile<32x32xf32>
  %s:2 = scf.for %k = %c0 to %n step %c16 iter_args(%p = %start, %q = %start)
      -> (!tile.tile<32x32xf32>, !tile.tile<32x32xf32>) {
    %l = tile.load %a[%z, %i, %k] : !tile.tile<32x16xf32>
    %x = tile.mul %l, %two : !tile.tile<32x16xf32>
    %gt = tile.load %g[%z, %k, %j] : !tile.tile<16x32xf32>
    %ut = tile.load %u[%z, %k, %j] : !tile.tile<16x32xf32>
    %p2 = tile.matmul_acc %p, %x, %gt : !tile.tile<32x32xf32>
    %q2 = tile.matmul_acc %q, %x, %ut : !tile.tile<32x32xf32>
    scf.yield %p2, %q2 : !tile.tile<32x32xf32>, !tile.tile<32x32xf32>
  }
  %r = tile.sub %s#0, %s#1 : !tile.tile<32x32xf32>
  tile.store %r, %c[%z, %i, %j]
}
kiln.func @main(%a: !kiln.tensor<3x?x?xf32> in, %g: !kiln.tensor<3x?x?xf32> in,
                %u: !kiln.tensor<3x?x?xf32> in, %c: !kiln.tensor<3x?x?xf32> out) orchestration {
  %c32 = arith.constant 32 : index
  %c3 = arith.constant 3 : index
  %0 = kiln.dim %c, 1
  %1 = arith.ceildivsi %0, %c32 : index
  %2 = kiln.dim %c, 2
  %3 = arith.ceildivsi %2, %c32 : index
  %t = kiln.submit @gated(%a, %g, %u, %c) grid(%c3, %1, %3)
})mlir");
  int64_t m = 75, n = 90, k = 50;
  std::vector<double> x = randomElements(3 * m * k, 1), g = randomElements(3 * k * n, 2),
                      u = randomElements(3 * k * n, 3), want(3 * m * n);
  Tensor c = poisoned(DType::F32, {3, m, n});
  std::vector<Argument> args{tensorOf(DType::F32, {3, m, k}, x), tensorOf(DType::F32, {3, k, n}, g),
                             tensorOf(DType::F32, {3, k, n}, u), c};
  Status bad = compileAndRun(program.function("main"), args);
  ASSERT_TRUE(bad.isOk()) << bad.str();
  for (int64_t z = 0; z < 3; ++z)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          want[(z * m + i) * n + j] +=
              2 * x[(z * m + i) * k + l] * (g[(z * k + l) * n + j] - u[(z * k + l) * n + j]);
  expectNear(elementsOf(c), want, 1e-4);
}

//===----------------------------------------------------------------------===//
// The inner loop
//===----------------------------------------------------------------------===//

struct InnerLoop {
  int products = 0, onStack = 0;
  int stores = 0; ///< Of vectors.
  int fetches = 0;
  int tileLoads = 0; ///< Of tile registers.
  int loads = 0;     ///< Of vectors, also by instructions that go on with what they load.
};

/// Whether an instruction writes a register of vectors to memory.
bool isVectorStore(llvm::StringRef text) {
  auto [from, to] = text.rsplit(", ");
  return text.trim().starts_with("vmov") && from.contains("mm") && to.ends_with(")");
}

/// Whether an instruction reads memory into a register of vectors, or to compute with it there.
bool isVectorLoad(llvm::StringRef text) {
  text = text.trim();
  text.consume_front("{vex}"); // how it is encoded
  return text.trim().starts_with("v") && text.contains("(") && !isVectorStore(text);
}

/// The innermost loops of the code for a product that have an instruction of this name.
std::vector<InnerLoop> innerLoops(const std::string &text, const std::string &cpu,
                                  llvm::StringRef multiplies) {
  Program program(text);
  std::vector<InnerLoop> loops;
  for (const std::vector<std::string> &code : innermostLoopsOf(
           program.function("main")->getParentOfType<mlir::ModuleOp>(), optionsFor(cpu))) {
    InnerLoop loop;
    for (llvm::StringRef line : code) {
      loop.products += line.contains(multiplies);
      loop.onStack += line.contains("(%rsp") || line.contains("(%rbp)");
      loop.stores += isVectorStore(line);
      loop.fetches += line.contains("prefetch");
      loop.tileLoads += line.contains("tileload");
      loop.loads += isVectorLoad(line);
    }
    if (loop.products > 0)
      loops.push_back(loop);
  }
  return loops;
}

TEST(LlvmProduct, InnerLoopsStayInRegisters) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  struct Case {
    Types types;
    const char *cpu, *multiplies;
    int products; // of four words of k, at least
  };
  Types f32{DType::F32, DType::F32}, bf16{DType::BF16, DType::F32}, i8{DType::I8, DType::I32},
      f8{DType::F8E4M3FN, DType::F32};
  const Case cases[] = {
      {f32, "icelake-server", "vfmadd", 4 * 20},  // 5 x 4 accumulators
      {bf16, "cooperlake", "vdpbf16ps", 4 * 20},  //
      {f8, "cooperlake", "vdpbf16ps", 4 * 20},    //
      {bf16, "icelake-server", "vfmadd", 4 * 20}, // no such instruction: widened
      {i8, "icelake-server", "vpdpbusd", 4 * 20}, //
      {i8, "skylake-avx512", "vpmaddwd", 20},     //
      {f32, "znver5", "vfmadd", 4 * 20},          // 10 x 2 accumulators
      {bf16, "znver5", "vdpbf16ps", 4 * 20},      //
      {i8, "znver5", "vpdpbusd", 4 * 20},         //
      {f32, "haswell", "vfmadd", 4 * 10},         // 5 x 2 registers
      {i8, "alderlake", "vpdpbusd", 4 * 10},      //
      {i8, "haswell", "vpmaddwd", 10},            //
  };
  for (bool isBare : {false, true})
    for (const Case &c : cases) {
      SCOPED_TRACE(std::string(toString(c.types.side)) + " for " + c.cpu +
                   (isBare ? ", stored by products" : ""));
      std::string text = productText({0, 0, 0, 64, 64, 64}, c.types, false, 0, isBare);
      std::vector<InnerLoop> loops = innerLoops(text, c.cpu, c.multiplies);
      int numLoops = 0;
      for (const InnerLoop &loop : loops) {
        if (loop.loads >= loop.products) // sums of the right side, beside the product
          continue;
        ++numLoops;
        EXPECT_GE(loop.products, c.products);
        EXPECT_EQ(loop.onStack, 0) << "in a loop of " << loop.products << " products";
        EXPECT_EQ(loop.stores, 0) << "in a loop of " << loop.products << " products";
      }
      EXPECT_EQ(numLoops, 2) << "64 rows are blocks of 6 and of 5, or of 11 and of 10";
    }
}

/// A right side that is read where it lies, 8 of its rows at a time: each load of it is for two
/// products where there are that many, and each row has two sums or more, so that few products wait
/// for the one before. The rows behind come meanwhile, one line for each that is multiplied.
TEST(LlvmProduct, FewRowsAreMultipliedFromMemory) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  struct Case {
    Types types;
    const char *multiplies;
    int rows, words; // of k, in an iteration
    int across;      // words of k that a load spreads over a vector
    int vectors;     // of all rows
  };
  Types f32{DType::F32, DType::F32}, bf16{DType::BF16, DType::F32}, i8{DType::I8, DType::I32};
  const Case cases[] = {{bf16, "vdpbf16ps", 16, 4, 2, 2}, {f32, "vfmadd", 16, 4, 2, 2},
                        {i8, "vpdpbusd", 16, 4, 2, 2},    {bf16, "vdpbf16ps", 1, 32, 16, 1},
                        {f32, "vfmadd", 4, 16, 8, 2},     {i8, "vpdpbusd", 8, 8, 4, 2},
                        {bf16, "vdpbf16ps", 32, 4, 1, 2}};
  for (const Case &c : cases)
    for (const char *cpu : {"cooperlake", "znver4"}) {
      SCOPED_TRACE(std::string(toString(c.types.side)) + " by " + std::to_string(c.rows) +
                   " rows for " + cpu);
      std::vector<InnerLoop> loops =
          innerLoops(productText({0, 0, 0, c.rows, 128, 128}, c.types, true), cpu, c.multiplies);
      if (c.types.side == DType::I8) // the sums of the left side, beside the product
        llvm::erase_if(loops, [](const InnerLoop &loop) { return loop.loads >= loop.products; });
      EXPECT_EQ(loops.size(), 2U) << "wholly inside the tensor, and at its edges";
      int steps = c.words / c.across;
      for (const InnerLoop &loop : loops) {
        EXPECT_EQ(loop.products, steps * 8 * c.vectors);
        EXPECT_EQ(loop.loads, steps * (8 + c.vectors)); // and none of sums
        EXPECT_EQ(loop.stores, 0);
        EXPECT_EQ(loop.onStack, 0);
        EXPECT_EQ(loop.fetches, std::string_view(cpu) == "znver4" ? 8 * c.words / 16 : 0);
      }
    }
}

/// Where a panel has to stay in the nearest cache a block of sums is two vectors wide, so that the
/// panel is read for twice as many rows at a time; not for a few rows.
TEST(LlvmProduct, PanelsAreNarrowWhereTheyHaveToStayNear) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  for (auto [cpu, all, rows, vectors] :
       {std::tuple("znver4", 64, 6, 4), std::tuple("znver5", 64, 11, 2),
        std::tuple("znver5", 16, 6, 4)}) {
    SCOPED_TRACE(std::string(cpu) + ", " + std::to_string(all) + " rows");
    int largest = 0, loads = 0;
    for (const InnerLoop &loop : innerLoops(
             productText({0, 0, 0, all, 64, 64}, {DType::F32, DType::F32}, false), cpu, "vfmadd"))
      if (loop.products > largest)
        largest = loop.products, loads = loop.loads;
    EXPECT_EQ(largest, 4 * rows * vectors);
    EXPECT_EQ(loads, 4 * (rows + vectors));
  }
}

/// While a block is multiplied a line of the next right side comes in each iteration, and one of
/// the next block's left side where panels stay in the nearest cache, from which others displace
/// it.
TEST(LlvmProduct, WhatIsMultipliedNextComesMeanwhile) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  for (auto [cpu, fetches] : {std::pair("znver4", 1), std::pair("znver5", 2)}) {
    SCOPED_TRACE(cpu);
    for (DType side : {DType::F32, DType::BF16}) {
      std::string text = productText({0, 0, 0, 64, 64, 64}, {side, DType::F32}, false);
      const char *multiplies = side == DType::F32 ? "vfmadd" : "vdpbf16ps";
      for (const InnerLoop &loop : innerLoops(text, cpu, multiplies))
        EXPECT_EQ(loop.fetches, fetches) << "in a loop of " << loop.products << " products";
    }
  }
}

/// Scratch of a product's kernel.
uint64_t scratchFor(const std::string &text, const std::string &cpu) {
  Program program(text);
  Expected<CpuObject> object =
      emitCpuObject(program.function("main")->getParentOfType<mlir::ModuleOp>(), optionsFor(cpu));
  EXPECT_TRUE(object) << object.status().str();
  return object ? object->kernels.front().workspaceBytes : 0;
}

/// A panel of 64 columns for a few rows is as large as the one of 32 columns for many, so that it
/// stays as near: it is 128 words deep instead of 256, and so are the left sides beside it.
TEST(LlvmProduct, PanelsOfFewRowsAreShallowWhereTheyHaveToStayNear) {
  std::string text = productText({0, 0, 0, 16, 64, 64}, {DType::F32, DType::F32}, false);
  constexpr uint64_t panelCols = 64, leftRows = 256, wordsLess = 128, word = 4;
  EXPECT_EQ(scratchFor(text, "znver4") - scratchFor(text, "znver5"),
            (panelCols + leftRows) * wordsLess * word);
}

/// The columns that come next are fetched while k runs, all of them: 16 lines for four words of k,
/// divided among as many blocks of rows as there are.
TEST(LlvmProduct, NextColumnsAreFetchedByHoweverFewRows) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  for (auto [rows, fetches] : {std::pair(16, 6), std::pair(64, 1)}) { // 3 blocks, and 11
    Shape shape{0, 0, 0, rows, 128, 128};
    for (const InnerLoop &loop :
         innerLoops(productText(shape, {DType::F32, DType::F32}, false), "cooperlake", "vfmadd"))
      EXPECT_EQ(loop.fetches, fetches) << rows << " rows";
  }
}

/// Products by tile registers: while k runs, sums stay in them, and each part of a side is loaded
/// once for all products with it.
TEST(LlvmProduct, TileRegistersAreLoadedOnceForAllProducts) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  struct Case {
    Types types;
    Shape shape;
    bool isTurned;
    size_t loops;
    int products, loads; // in an iteration
  };
  Types bf16{DType::BF16, DType::F32}, i8{DType::I8, DType::I32}, f8{DType::F8E5M2, DType::F32};
  const Case cases[] = {
      {bf16, {0, 0, 0, 64, 64, 64}, false, 1, 4, 4},  // 2 x 2 tiles
      {i8, {0, 0, 0, 64, 64, 64}, false, 1, 4, 4},    //
      {f8, {0, 0, 0, 64, 64, 64}, false, 1, 4, 4},    //
      {bf16, {0, 0, 0, 48, 64, 64}, false, 2, 2, 3},  // a row of tiles left over
      {bf16, {0, 0, 0, 16, 128, 128}, true, 2, 2, 3}, // few rows: inside the tensor, and at its
                                                      // edges
      {i8, {0, 0, 0, 16, 128, 128}, true, 2, 2, 3},   //
  };
  for (const Case &c : cases) {
    std::string text = productText(c.shape, c.types, c.isTurned);
    SCOPED_TRACE(std::string(toString(c.types.side)) + " by " + std::to_string(c.shape.bm) +
                 " rows");
    std::vector<InnerLoop> loops = innerLoops(text, "sapphirerapids", "tdpb");
    EXPECT_EQ(loops.size(), c.loops);
    for (const InnerLoop &loop : loops) {
      EXPECT_GE(loop.products, c.products);
      EXPECT_LE(loop.tileLoads * c.products, loop.products * c.loads);
      EXPECT_EQ(loop.onStack, 0);
      EXPECT_EQ(loop.stores, 0);
    }
    EXPECT_TRUE(innerLoops(text, "sapphirerapids", "vpdpbusd").empty());
    EXPECT_TRUE(innerLoops(text, "sapphirerapids", "vdpbf16ps").empty());
  }
}

/// Two loops over the same k with something in between are one contraction, and compute what they
/// say; one that depends on the other stays.
TEST(LlvmProduct, LoopsOverTheSameKAreOne) {
  const char *const text = R"mlir(
kiln.func @gated(%a: !kiln.tensor<?x?xf32> in, %g: !kiln.tensor<?x?xf32> in,
                 %u: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %bi = tile.block_idx 0
  %bj = tile.block_idx 1
  %i = arith.muli %bi, %c16 : index
  %j = arith.muli %bj, %c16 : index
  %n = kiln.dim %a, 1
  %start = tile.full %zero : !tile.tile<16x16xf32>
  %p = scf.for %k = %c0 to %n step %c16 iter_args(%s = %start) -> (!tile.tile<16x16xf32>) {
    %x = tile.load %a[%i, %k] : !tile.tile<16x16xf32>
    %y = tile.load %g[%j, %k] : !tile.tile<16x16xf32>
    %next = tile.matmul_acc %s, %x, %y trans_b : !tile.tile<16x16xf32>
    scf.yield %next : !tile.tile<16x16xf32>
  }
  %e = tile.exp %p : !tile.tile<16x16xf32>
  %m = kiln.dim %a, 1
  %first = tile.full %zero : !tile.tile<16x16xf32>
  %q = scf.for %k = %c0 to %n step %c16 iter_args(%s = SECOND) -> (!tile.tile<16x16xf32>) {
    %x = tile.load %a[%i, %k] : !tile.tile<16x16xf32>
    %y = tile.load %u[%j, %k] : !tile.tile<16x16xf32>
    %next = tile.matmul_acc %s, %x, %y trans_b : !tile.tile<16x16xf32>
    scf.yield %next : !tile.tile<16x16xf32>
  }
  %r = tile.mul %e, %q : !tile.tile<16x16xf32>
  tile.store %r, %c[%i, %j]
}
kiln.func @main(%a: !kiln.tensor<?x?xf32> in, %g: !kiln.tensor<?x?xf32> in,
                %u: !kiln.tensor<?x?xf32> in, %c: !kiln.tensor<?x?xf32> out) orchestration {
  %c16 = arith.constant 16 : index
  %0 = kiln.dim %c, 0
  %1 = arith.ceildivsi %0, %c16 : index
  %2 = kiln.dim %c, 1
  %3 = arith.ceildivsi %2, %c16 : index
  %t = kiln.submit @gated(%a, %g, %u, %c) grid(%1, %3)
})mlir";
  int64_t m = 20, n = 40, k = 50;
  std::vector<double> x = randomElements(m * k, 1), g = randomElements(n * k, 2),
                      u = randomElements(n * k, 3);
  for (bool depends : {false, true}) {
    Program program(fill(text, {{"SECOND", depends ? "%e" : "%first"}}));
    Tensor c = poisoned(DType::F32, {m, n});
    std::vector<Argument> args{tensorOf(DType::F32, {m, k}, x), tensorOf(DType::F32, {n, k}, g),
                               tensorOf(DType::F32, {n, k}, u), c};
    Status bad = compileAndRun(program.function("main"), args);
    ASSERT_TRUE(bad.isOk()) << bad.str();
    std::vector<double> want(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double gate = 0, sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          gate += x[i * k + l] * g[j * k + l];
          sum += x[i * k + l] * u[j * k + l];
        }
        want[i * n + j] = std::exp(gate) * (depends ? std::exp(gate) + sum : sum);
      }
    std::vector<double> have = elementsOf(c);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(have[i], want[i], 1e-4 * (1 + std::abs(want[i]))) << i;
  }
}

} // namespace
