// What each operation computes in the simulator, against formulas in double precision or exact
// integers.
#include "ElementwiseTable.h"
#include "TileOpTesting.h"

#include <functional>

using namespace kiln;
using namespace kiln::test;

namespace {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

TEST(SimulatorOps, FloatFunctions) {
  std::vector<double> x = {-3.5, -1.0, -0.25, 0.0, 0.5, 1.0, 2.75, 9.0};
  for (const ElementwiseRow &row : kElementwise) {
    if (!row.formula)
      continue;
    SCOPED_TRACE(row.name);
    std::vector<double> want;
    for (double value : x)
      want.push_back(row.formula(value));
    Operand operand = kiln::test::row(DType::F32, x);
    std::vector<double> have = tileOp("%y = tile." + row.name + " %a : RESULT", {operand}, operand);
    for (size_t i = 0; i < x.size(); ++i)
      expectNear({have[i]}, {want[i]}, 3e-7 * std::max(1.0, std::abs(want[i])));
  }
}

TEST(SimulatorOps, FloatArithmeticBroadcastsRowsColumnsAndScalars) {
  Operand a{DType::F32, 2, 3, {1, 2, 3, 4, 5, 6}}, column{DType::F32, 2, 1, {10, 20}},
      line{DType::F32, 1, 3, {7, 8, 9}};
  Operand result{DType::F32, 2, 3, {}};
  expectSame(tileOp("%y = tile.sub %a, %b : RESULT", {a, column}, result),
             {-9, -8, -7, -16, -15, -14});
  expectSame(tileOp("%y = tile.mul %b, %a : RESULT", {a, line}, result), {7, 16, 27, 28, 40, 54});
  expectSame(tileOp("%y = tile.add %a, %b : RESULT", {column, line}, result),
             {17, 18, 19, 27, 28, 29});
  expectSame(tileOp("%s = arith.constant 2.0 : f32\n %y = tile.div %s, %a : RESULT", {a}, result),
             {2.0, 1.0, static_cast<float>(2.0f / 3.0f), 0.5, static_cast<float>(2.0f / 5.0f),
              static_cast<float>(2.0f / 6.0f)});
}

TEST(SimulatorOps, MaxAndMinPropagateNaN) {
  std::vector<double> a = {1, kNaN, 3, -kInf, 0}, b = {2, 5, kNaN, 4, 0};
  std::vector<Operand> operands = {row(DType::F32, a), row(DType::F32, b)};
  expectSame(tileOp("%y = tile.max %a, %b : RESULT", operands, operands[0]), {2, kNaN, kNaN, 4, 0});
  expectSame(tileOp("%y = tile.min %a, %b : RESULT", operands, operands[0]),
             {1, kNaN, kNaN, -kInf, 0});
  Operand one{DType::F32, 1, 1, {}};
  expectSame(tileOp("%y = tile.reduce max %a axis(1) : RESULT", {operands[0]}, one), {kNaN});
  expectSame(tileOp("%y = tile.reduce min %a axis(1) : RESULT", {operands[1]}, one), {kNaN});
}

TEST(SimulatorOps, NarrowFloatsRoundToNearestEvenAfterEachOperation) {
  // 1 + 2^-8 lies half-way between two bf16 values and rounds to the even one, 1; + 3 * 2^-8 rounds
  // up.
  expectSame(tileOp("%y = tile.add %a, %b : RESULT",
                    {row(DType::BF16, {1, 1}), row(DType::BF16, {0.00390625, 0.01171875})},
                    row(DType::BF16, {0, 0})),
             {1.0, 1.015625});
  // f16: 2048 + 1 is not representable; 60000 + 60000 overflows.
  expectSame(tileOp("%y = tile.add %a, %b : RESULT",
                    {row(DType::F16, {2048, 60000}), row(DType::F16, {1, 60000})},
                    row(DType::F16, {0, 0})),
             {2048, kInf});
  expectSame(tileOp("%y = tile.mul %a, %b : RESULT",
                    {row(DType::F8E4M3FN, {17, 448}), row(DType::F8E4M3FN, {1, 2})},
                    row(DType::F8E4M3FN, {0, 0})),
             {16, kNaN});
}

TEST(SimulatorOps, IntegersWrap) {
  std::vector<Operand> bytes = {row(DType::I8, {127, -128, 100, -128}),
                                row(DType::I8, {1, -1, 3, -1})};
  expectSame(tileOp("%y = tile.add %a, %b : RESULT", bytes, bytes[0]), {-128, 127, 103, 127});
  expectSame(tileOp("%y = tile.sub %a, %b : RESULT", bytes, bytes[0]), {126, -127, 97, -127});
  expectSame(tileOp("%y = tile.mul %a, %b : RESULT", bytes, bytes[0]), {127, -128, 44, -128});
  expectSame(tileOp("%y = tile.div %a, %b : RESULT", bytes, bytes[0]), {127, -128, 33, -128});
  expectSame(tileOp("%y = tile.neg %a : RESULT", {bytes[0]}, bytes[0]), {-127, -128, -100, -128});
  expectSame(tileOp("%y = tile.abs %a : RESULT", {bytes[0]}, bytes[0]), {127, -128, 100, -128});
  expectSame(tileOp("%y = tile.div %a, %b : RESULT",
                    {row(DType::I32, {-7, 7}), row(DType::I32, {2, -2})}, row(DType::I32, {0, 0})),
             {-3, -3});
  double least = -9223372036854775808.0;
  expectSame(tileOp("%y = tile.div %a, %b : RESULT",
                    {row(DType::I64, {least}), row(DType::I64, {-1})}, row(DType::I64, {0})),
             {least});
}

/// Runs a test for every element type for which `isFor` holds.
void forEachType(bool (*isFor)(DType), const std::function<void(DType)> &test) {
  for (const DTypeInfo &info : dtypeTable)
    if (info.isElement && isFor(info.type)) {
      SCOPED_TRACE(info.name);
      test(info.type);
    }
}

TEST(SimulatorOps, PowersAtTheEdges) {
  std::vector<double> a = {2, 0, -0.0, -0.0, -8, 1, kNaN, kNaN, -kInf, -2, kInf, 0.5},
                      b = {10, 0, -1, 3, 0.5, kNaN, 0, 1, 0.5, 3, -1, kInf};
  std::vector<double> want = {1024, 1, -kInf, -0.0, kNaN, 1, 1, kNaN, kInf, -8, 0, 0};
  std::vector<double> have = tileOp("%y = tile.pow %a, %b : RESULT",
                                    {row(DType::F32, a), row(DType::F32, b)}, row(DType::F32, a));
  expectSame(have, want);
  EXPECT_TRUE(std::signbit(have[3]));
  // Rounded to the type, which has three significant bits.
  expectSame(tileOp("%y = tile.pow %a, %b : RESULT",
                    {row(DType::F8E5M2, {3, 3}), row(DType::F8E5M2, {5, 4})},
                    row(DType::F8E5M2, {0, 0})),
             {256, 80});
}

TEST(SimulatorOps, RemaindersHaveTheSignOfTheDividend) {
  std::vector<double> a = {7.5, -7.5, 7.5, -6, 6, 1, -1, kInf, 1, kNaN, -0.0, 3e38},
                      b = {2, 2, -2, 3, -3, kInf, -kInf, 2, 0, 1, 5, 1e-30};
  std::vector<double> want = {1.5, -1.5, 1.5,  -0.0, 0,    1,
                              -1,  kNaN, kNaN, kNaN, -0.0, std::fmod(3e38f, 1e-30f)};
  std::vector<double> have = tileOp("%y = tile.fmod %a, %b : RESULT",
                                    {row(DType::F32, a), row(DType::F32, b)}, row(DType::F32, a));
  expectSame(have, want);
  EXPECT_TRUE(std::signbit(have[3]) && !std::signbit(have[4]) && std::signbit(have[10]));
  forEachType([](DType type) { return !isFloat(type) && type != DType::I1; },
              [](DType type) {
                double least = -std::ldexp(1.0, 8 * static_cast<int>(sizeOf(type)) - 1);
                std::vector<Operand> operands = {row(type, {7, -7, 7, -7, least, 6, least}),
                                                 row(type, {3, 3, -3, -3, -1, 3, 10})};
                expectSame(tileOp("%y = tile.fmod %a, %b : RESULT", operands, operands[0]),
                           {1, -1, 1, -1, 0, 0, std::fmod(least, 10)});
              });
  Operand result = row(DType::I16, {0, 0});
  expectError(runTileOp("%y = tile.fmod %a, %b : !tile.tile<1x2xi16>",
                        {row(DType::I16, {1, 1}), row(DType::I16, {1, 0})}, result),
              StatusCode::KernelFailed, {"tile.fmod", "by zero", "[0, 1]"});
}

TEST(SimulatorOps, BitsOfEveryIntegerType) {
  forEachType(
      [](DType type) { return !isFloat(type) && type != DType::I1; },
      [](DType type) {
        double least = -std::ldexp(1.0, 8 * static_cast<int>(sizeOf(type)) - 1);
        std::vector<Operand> x = {row(type, {12, -1, least, 0}), row(type, {10, 5, -1, -1})};
        expectSame(tileOp("%y = tile.and %a, %b : RESULT", x, x[0]), {8, 5, least, 0});
        expectSame(tileOp("%y = tile.or %a, %b : RESULT", x, x[0]), {14, -1, -1, -1});
        expectSame(tileOp("%y = tile.xor %a, %b : RESULT", x, x[0]), {6, -6, -1 - least, -1});
        expectSame(tileOp("%y = tile.not %a : RESULT", {x[0]}, x[0]), {-13, 0, -1 - least, -1});
      });
  std::vector<Operand> flags = {row(DType::I1, {0, 0, 1, 1}), row(DType::I1, {0, 1, 0, 1})};
  expectSame(tileOp("%y = tile.and %a, %b : RESULT", flags, flags[0]), {0, 0, 0, 1});
  expectSame(tileOp("%y = tile.or %a, %b : RESULT", flags, flags[0]), {0, 1, 1, 1});
  expectSame(tileOp("%y = tile.xor %a, %b : RESULT", flags, flags[0]), {0, 1, 1, 0});
  expectSame(tileOp("%y = tile.not %a : RESULT", {flags[0]}, flags[0]), {1, 1, 0, 0});
}

TEST(SimulatorOps, ShiftsByCountsOutsideTheWidthShiftEverythingOut) {
  forEachType(
      [](DType type) { return !isFloat(type) && type != DType::I1; },
      [](DType type) {
        int width = 8 * static_cast<int>(sizeOf(type));
        double least = -std::ldexp(1.0, width - 1), most = width - 1.0, all = width;
        std::vector<Operand> x = {row(type, {3, 1, 1, 1, 1, -1, -4}),
                                  row(type, {2, most, all, -1, least, 1, 0})};
        expectSame(tileOp("%y = tile.shl %a, %b : RESULT", x, x[0]), {12, least, 0, 0, 0, -2, -4});
        x[0].elements = {13, least, least, -5, 5, -1, -4};
        expectSame(tileOp("%y = tile.shr %a, %b : RESULT", x, x[0]), {3, -1, -1, -1, 0, -1, -4});
      });
}

TEST(SimulatorOps, ComparisonsAndSelect) {
  std::vector<Operand> floats = {row(DType::F32, {1, 2, kNaN}), row(DType::F32, {2, 2, 1})};
  Operand flags = row(DType::I1, {0, 0, 0});
  struct Case {
    const char *kind;
    std::vector<double> want;
  };
  for (const Case &test : {Case{"eq", {0, 1, 0}}, Case{"ne", {1, 0, 1}}, Case{"lt", {1, 0, 0}},
                           Case{"le", {1, 1, 0}}, Case{"gt", {0, 0, 0}}, Case{"ge", {0, 1, 0}}}) {
    SCOPED_TRACE(test.kind);
    expectSame(
        tileOp("%y = tile.cmp " + std::string(test.kind) + " %a, %b : RESULT", floats, flags),
        test.want);
  }
  expectSame(tileOp("%s = arith.constant 7 : i32\n %y = tile.select %a, %b, %s : RESULT",
                    {row(DType::I1, {1, 0, 1}), row(DType::I32, {1, 2, 3})},
                    row(DType::I32, {0, 0, 0})),
             {1, 7, 3});
}

TEST(SimulatorOps, Casts) {
  std::vector<double> x = {1.9, -1.9, 300, -300, kNaN, kInf, -kInf, 0};
  Operand from = row(DType::F32, x);
  auto cast = [](const Operand &operand, DType to) {
    return tileOp("%y = tile.cast %a : RESULT", {operand}, {to, 1, operand.cols, {}});
  };
  expectSame(cast(from, DType::I8), {1, -1, 127, -128, 0, 127, -128, 0});
  expectSame(cast(from, DType::I1), {1, 1, 1, 1, 1, 1, 1, 0});
  expectSame(cast(from, DType::I32), {1, -1, 300, -300, 0, 2147483647.0, -2147483648.0, 0});
  expectSame(cast(row(DType::I32, {300, -129, 128, 2}), DType::I8), {44, 127, -128, 2});
  expectSame(cast(row(DType::I32, {2, 0, -4}), DType::I1), {1, 0, 1});
  expectSame(cast(row(DType::I1, {1, 0}), DType::F32), {1, 0});
  expectSame(cast(row(DType::I32, {16777217, 257}), DType::F32), {16777216, 257});
  expectSame(cast(row(DType::I32, {257}), DType::BF16), {256});
  expectSame(cast(row(DType::F32, {1.00390625}), DType::BF16), {1});
}

//===----------------------------------------------------------------------===//
// Make, move, reduce, multiply, mask
//===----------------------------------------------------------------------===//

TEST(SimulatorOps, MakeAndRearrange) {
  Operand a{DType::F32, 2, 3, {1, 2, 3, 4, 5, 6}};
  expectSame(tileOp("%y = tile.iota axis(0) : RESULT", {}, {DType::I32, 2, 2, {}}), {0, 0, 1, 1});
  expectSame(tileOp("%y = tile.iota axis(1) : RESULT", {}, {DType::F16, 2, 2, {}}), {0, 1, 0, 1});
  expectSame(tileOp("%s = arith.constant 3 : i16\n %y = tile.full %s : RESULT", {},
                    {DType::I16, 1, 2, {}}),
             {3, 3});
  expectSame(tileOp("%y = tile.transpose %a : RESULT", {a}, {DType::F32, 3, 2, {}}),
             {1, 4, 2, 5, 3, 6});
  expectSame(tileOp("%y = tile.reshape %a : RESULT", {a}, {DType::F32, 3, 2, {}}),
             {1, 2, 3, 4, 5, 6});
  expectSame(
      tileOp("%v = tile.move %a : !tile.tile<2x3xf32, vec>\n %y = tile.move %v : RESULT", {a}, a),
      a.elements);
  expectSame(tileOp("%y = tile.concat %a, %b axis(1) : RESULT", {a, {DType::F32, 2, 1, {8, 9}}},
                    {DType::F32, 2, 4, {}}),
             {1, 2, 3, 8, 4, 5, 6, 9});
  expectSame(tileOp("%y = tile.concat %b, %a axis(0) : RESULT", {a, {DType::F32, 1, 3, {7, 8, 9}}},
                    {DType::F32, 3, 3, {}}),
             {7, 8, 9, 1, 2, 3, 4, 5, 6});
  expectSame(tileOp("%y = tile.extract %a[0, 1] : RESULT", {a}, {DType::F32, 2, 2, {}}),
             {2, 3, 5, 6});
  expectSame(tileOp("%y = tile.insert %b, %a[1, 1] : RESULT", {a, {DType::F32, 1, 2, {8, 9}}}, a),
             {1, 2, 3, 4, 8, 9});
  expectSame(tileOp("%e = tile.element %a[1, 2] : f32\n %y = tile.full %e : RESULT", {a},
                    {DType::F32, 1, 1, {}}),
             {6});
}

TEST(SimulatorOps, Reductions) {
  Operand a{DType::F32, 2, 3, {1, -2, 3, 4, 5, -6}};
  Operand columns{DType::F32, 1, 3, {}}, rows{DType::F32, 2, 1, {}};
  expectSame(tileOp("%y = tile.reduce sum %a axis(0) : RESULT", {a}, columns), {5, 3, -3});
  expectSame(tileOp("%y = tile.reduce sum %a axis(1) : RESULT", {a}, rows), {2, 3});
  expectSame(tileOp("%y = tile.reduce max %a axis(0) : RESULT", {a}, columns), {4, 5, 3});
  expectSame(tileOp("%y = tile.reduce min %a axis(1) : RESULT", {a}, rows), {-2, -6});
  // bf16 accumulates in f32: 256 ones and one 256 make 512, where bf16 alone would stay at 256.
  std::vector<double> ones(257, 1.0);
  ones[0] = 256;
  expectSame(tileOp("%y = tile.reduce sum %a axis(1) : RESULT", {row(DType::BF16, ones)},
                    {DType::BF16, 1, 1, {}}),
             {512});
  expectSame(tileOp("%y = tile.reduce sum %a axis(1) : RESULT", {row(DType::I8, {100, 100})},
                    {DType::I8, 1, 1, {}}),
             {-56});
}

TEST(SimulatorOps, Products) {
  Operand a{DType::F32, 2, 3, {1, -2, 3, 4, 0.5, -6}};
  expectSame(tileOp("%y = tile.reduce prod %a axis(0) : RESULT", {a}, {DType::F32, 1, 3, {}}),
             {4, -1, -18});
  expectSame(tileOp("%y = tile.reduce prod %a axis(1) : RESULT", {a}, {DType::F32, 2, 1, {}}),
             {-6, -12});
  auto product = [](DType type, std::vector<double> elements) {
    return tileOp("%y = tile.reduce prod %a axis(1) : RESULT", {row(type, std::move(elements))},
                  {type, 1, 1, {}});
  };
  expectSame(product(DType::I8, {16, 17}), {16}); // wraps
  expectSame(product(DType::I1, {1, 1, 0}), {0});
  expectSame(product(DType::F32, {kInf, 0}), {kNaN});
  // Computed in f32 and rounded once: rounded after each step, (1 + e)^16 would stay at 1 + 16e.
  expectSame(product(DType::BF16, std::vector<double>(16, 1 + 0.0078125)), {1 + 17 * 0.0078125});
}

TEST(SimulatorOps, WhereTheExtremesAre) {
  auto at = [](const std::string &kind, const Operand &x, int64_t axis) {
    Operand result{DType::I32, axis == 0 ? 1 : x.rows, axis == 0 ? x.cols : 1, {}};
    return tileOp("%y = tile.reduce " + kind + " %a axis(" + std::to_string(axis) + ") : RESULT",
                  {x}, result);
  };
  Operand a{DType::F32, 2, 4, {1, 7, 7, -kInf, kInf, -2, -2, kInf}};
  expectSame(at("argmax", a, 1), {1, 0});
  expectSame(at("argmin", a, 1), {3, 1});
  expectSame(at("argmax", a, 0), {1, 0, 0, 1});
  expectSame(at("argmin", a, 0), {0, 1, 1, 0});
  Operand nans = row(DType::F16, {3, kNaN, 9, kNaN, -kInf});
  expectSame(at("argmax", nans, 1), {1});
  expectSame(at("argmin", nans, 1), {1});
  expectSame(at("argmax", row(DType::F32, {-0.0, 0.0}), 1), {0});
  expectSame(at("argmin", row(DType::F32, {0.0, -0.0}), 1), {0});
  forEachType([](DType) { return true; },
              [&](DType type) {
                expectSame(at("argmax", row(type, {0, 1, 1, 0}), 1), {1});
                expectSame(at("argmin", row(type, {1, 0, 0, 1}), 1), {1});
              });
}

TEST(SimulatorOps, MatrixProductsInAllTranspositions) {
  constexpr int64_t m = 5, k = 7, n = 3;
  std::vector<double> a = randomElements(m * k, 11), b = randomElements(k * n, 12),
                      acc = randomElements(m * n, 13);
  std::vector<double> want(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        want[i * n + j] += a[i * k + l] * b[l * n + j];
  auto transpose = [](const std::vector<double> &x, int64_t rows, int64_t cols) {
    std::vector<double> y(x.size());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        y[j * rows + i] = x[i * cols + j];
    return y;
  };
  Operand plainA{DType::F32, m, k, a}, plainB{DType::F32, k, n, b}, result{DType::F32, m, n, acc};
  Operand transA{DType::F32, k, m, transpose(a, m, k)},
      transB{DType::F32, n, k, transpose(b, k, n)};
  expectNear(tileOp("%y = tile.matmul %a, %b : RESULT", {plainA, plainB}, result), want, 1e-6);
  expectNear(tileOp("%y = tile.matmul %a, %b trans_a : RESULT", {transA, plainB}, result), want,
             1e-6);
  expectNear(tileOp("%y = tile.matmul %a, %b trans_b : RESULT", {plainA, transB}, result), want,
             1e-6);
  expectNear(tileOp("%y = tile.matmul %a, %b trans_a trans_b : RESULT", {transA, transB}, result),
             want, 1e-6);
  for (int64_t i = 0; i < m * n; ++i)
    want[i] += acc[i];
  expectNear(
      tileOp("%y = tile.matmul_acc %c, %a, %b trans_b : RESULT", {plainA, transB, result}, result),
      want, 1e-6);
  expectNear(tileOp("%b1 = tile.matmul_start %a, %b trans_b onto %c : RESULT\n"
                    "%y = tile.await %b1 : RESULT",
                    {plainA, transB, result}, result),
             want, 1e-6);
  expectSame(tileOp("%y = tile.matmul %a, %b : RESULT",
                    {row(DType::I8, {-128, 127}), {DType::I8, 2, 1, {-128, 127}}},
                    {DType::I32, 1, 1, {}}),
             {128 * 128 + 127 * 127});
  // bf16 operands accumulate in f32: 256 + 1 is not a bf16 value.
  expectSame(tileOp("%y = tile.matmul %a, %b : RESULT",
                    {row(DType::BF16, {256, 1}), {DType::BF16, 2, 1, {1, 1}}},
                    {DType::F32, 1, 1, {}}),
             {257});
}

TEST(SimulatorOps, MasksAndPads) {
  Operand a{DType::F32, 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  expectSame(tileOp("%y = tile.mask %a valid(2, 1) pad(min) : RESULT", {a}, a),
             {1, -kInf, -kInf, 4, -kInf, -kInf, -kInf, -kInf, -kInf});
  expectSame(tileOp("%y = tile.mask %a valid(1, 3) pad(-0.5) : RESULT", {a}, a),
             {1, 2, 3, -.5, -.5, -.5, -.5, -.5, -.5});
  expectSame(
      tileOp("%o = arith.constant 0 : index\n %y = tile.mask_diag %a offset(%o) : RESULT", {a}, a),
      {1, 0, 0, 4, 5, 0, 7, 8, 9});
  expectSame(
      tileOp("%o = arith.constant -1 : index\n %y = tile.mask_diag %a offset(%o) pad(max) : RESULT",
             {a}, a),
      {kInf, kInf, kInf, 4, kInf, kInf, 7, 8, kInf});
  Operand bytes = row(DType::I8, {1, 2});
  expectSame(tileOp("%y = tile.mask %a valid(1, 1) pad(min) : RESULT", {bytes}, bytes), {1, -128});
  expectSame(tileOp("%y = tile.mask %a valid(1, 1) pad(max) : RESULT", {bytes}, bytes), {1, 127});
  Operand eights = row(DType::F8E4M3FN, {1, 2});
  expectSame(tileOp("%y = tile.mask %a valid(1, 1) pad(max) : RESULT", {eights}, eights), {1, 448});
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Runs a kernel whose body makes %y of `type` from %a and %b of the same type.
double scalarOp(const std::string &body, const std::string &type, double a, double b,
                std::string resultType = "") {
  if (resultType.empty())
    resultType = type;
  DType dtype = *parseDType(resultType == "index" ? "i64" : resultType);
  std::string cast = resultType == "index" ? "%z = arith.index_cast %y : index to i64\n" : "";
  Program program("kiln.func @k(%a: " + type + ", %b: " + type + ", %out: !kiln.tensor<1x" +
                  toString(dtype) + "> out) incore {\n" + body + "\n" + cast + "kiln.write %" +
                  (cast.empty() ? "y" : "z") + ", %out[0]\n}");
  Tensor out = poisoned(dtype, {1});
  DType operand = *parseDType(type);
  EXPECT_OK(program.run(
      "k", {ScalarBits::fromDouble(operand, a), ScalarBits::fromDouble(operand, b), out}));
  return elementsOf(out)[0];
}

TEST(SimulatorOps, IntegerScalars) {
  struct Case {
    const char *op, *type;
    double a, b, want;
  };
  const Case cases[] = {
      {"addi", "i32", 2147483647, 1, -2147483648.0},
      {"subi", "index", 3, 5, -2},
      {"muli", "i8", 16, 17, 16},
      {"divsi", "index", -7, 2, -3},
      {"divsi", "i8", -128, -1, -128},
      {"remsi", "index", -7, 2, -1},
      {"remsi", "i32", -2147483648.0, -1, 0},
      {"floordivsi", "index", -7, 2, -4},
      {"floordivsi", "index", 7, -2, -4},
      {"ceildivsi", "index", 7, 2, 4},
      {"ceildivsi", "index", -7, 2, -3},
      {"ceildivsi", "index", -7, -2, 4},
      {"divui", "i8", -2, 16, 15},
      {"remui", "i8", -2, 16, 14},
      {"ceildivui", "i8", -2, 16, 16},
      {"minsi", "i16", -5, 3, -5},
      {"maxsi", "i16", -5, 3, 3},
      {"minui", "i16", -5, 3, 3},
      {"maxui", "i16", -5, 3, -5},
      {"andi", "i32", 12, 10, 8},
      {"ori", "i32", 12, 10, 14},
      {"xori", "i32", 12, 10, 6},
      {"shli", "i8", 3, 7, -128},
      {"shli", "i8", 3, 8, 0},
      {"shrsi", "i8", -128, 3, -16},
      {"shrsi", "i8", -128, 100, -1},
      {"shrui", "i8", -128, 3, 16},
      {"shrui", "i8", -1, 100, 0},
      {"shli", "i8", 3, -1, 0},
      {"shrsi", "i8", -128, -1, -1},
      {"shrui", "i8", -128, -8, 0},
  };
  for (const Case &test : cases) {
    SCOPED_TRACE(test.op);
    EXPECT_EQ(scalarOp("%y = arith." + std::string(test.op) + " %a, %b : " + test.type, test.type,
                       test.a, test.b),
              test.want);
  }
}

TEST(SimulatorOps, AnIndexMustNotLeaveItsBits) {
  struct Case {
    const char *op;
    int64_t a, b;
  };
  for (const Case &test : {Case{"addi", INT64_MAX, 1}, Case{"subi", INT64_MIN, 1},
                           Case{"muli", INT64_MIN, -1}, Case{"muli", int64_t(1) << 40, 1 << 30},
                           Case{"divsi", INT64_MIN, -1}, Case{"ceildivsi", INT64_MIN, -1}}) {
    Program program("kiln.func @k(%a: index, %b: index, %out: !kiln.tensor<1xi64> out) incore {\n"
                    "%y = arith." +
                    std::string(test.op) +
                    " %a, %b : index\n%z = arith.index_cast %y : index to i64\n"
                    "kiln.write %z, %out[0]\n}");
    expectError(program.run("k", {index(test.a), index(test.b), poisoned(DType::I64, {1})}),
                StatusCode::KernelFailed,
                {test.op, std::to_string(test.a), std::to_string(test.b),
                 "does not fit the 64 bits of an index"});
  }
}

TEST(SimulatorOps, ScalarComparisonsAndConversions) {
  auto flag = [](const std::string &op, const std::string &type, double a, double b) {
    return scalarOp("%y = arith." + op + ", %a, %b : " + type, type, a, b, "i1");
  };
  EXPECT_EQ(flag("cmpi slt", "i8", -1, 1), 1);
  EXPECT_EQ(flag("cmpi ult", "i8", -1, 1), 0);
  EXPECT_EQ(flag("cmpi sge", "index", 4, 4), 1);
  EXPECT_EQ(flag("cmpi slt", "i1", 1, 0), 1) << "as a signed number i1 true is -1";
  EXPECT_EQ(flag("cmpf olt", "f32", 1, 2), 1);
  EXPECT_EQ(flag("cmpf olt", "f32", kNaN, 2), 0);
  EXPECT_EQ(flag("cmpf ult", "f32", kNaN, 2), 1);
  EXPECT_EQ(flag("cmpf une", "f32", kNaN, kNaN), 1);
  EXPECT_EQ(flag("cmpf one", "f32", kNaN, 1), 0);

  EXPECT_EQ(scalarOp("%y = arith.extsi %a : i1 to i32", "i1", 1, 0, "i32"), -1);
  EXPECT_EQ(scalarOp("%y = arith.extui %a : i1 to i32", "i1", 1, 0, "i32"), 1);
  EXPECT_EQ(scalarOp("%y = arith.extui %a : i8 to i32", "i8", -1, 0, "i32"), 255);
  EXPECT_EQ(scalarOp("%y = arith.trunci %a : i32 to i8", "i32", 300, 0, "i8"), 44);
  EXPECT_EQ(scalarOp("%y = arith.sitofp %a : i32 to f32", "i32", -3, 0, "f32"), -3);
  EXPECT_EQ(scalarOp("%y = arith.uitofp %a : i8 to f32", "i8", -1, 0, "f32"), 255);
  EXPECT_EQ(scalarOp("%y = arith.fptosi %a : f32 to i8", "f32", -300.7, 0, "i8"), -128);
  EXPECT_EQ(scalarOp("%y = arith.fptosi %a : f32 to i32", "f32", kNaN, 0, "i32"), 0);
  EXPECT_EQ(scalarOp("%y = arith.truncf %a : f32 to bf16", "f32", 1.00390625, 0, "bf16"), 1);
  EXPECT_EQ(scalarOp("%y = arith.extf %a : bf16 to f32", "bf16", 1.5, 0, "f32"), 1.5);
  EXPECT_EQ(scalarOp("%c = arith.cmpf ogt, %a, %b : f32\n %y = arith.select %c, %a, %b : f32",
                     "f32", 2, 5),
            5);
}

TEST(SimulatorOps, FloatScalars) {
  struct Case {
    const char *op;
    double a, b, want;
  };
  for (const Case &test :
       {Case{"addf", 1.5, 2, 3.5}, Case{"subf", 1.5, 2, -0.5}, Case{"mulf", 1.5, 2, 3},
        Case{"divf", 1, 4, 0.25}, Case{"divf", 1, 0, kInf}, Case{"remf", -7, 3, -1},
        Case{"maximumf", 1, 2, 2}, Case{"minimumf", 1, 2, 1}}) {
    SCOPED_TRACE(test.op);
    EXPECT_EQ(
        scalarOp("%y = arith." + std::string(test.op) + " %a, %b : f32", "f32", test.a, test.b),
        test.want);
  }
  EXPECT_TRUE(std::isnan(scalarOp("%y = arith.maximumf %a, %b : f32", "f32", kNaN, 2)));
  EXPECT_TRUE(std::isnan(scalarOp("%y = arith.minimumf %a, %b : f32", "f32", 2, kNaN)));
  EXPECT_FALSE(std::signbit(scalarOp("%y = arith.maximumf %a, %b : f32", "f32", -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(scalarOp("%y = arith.minimumf %a, %b : f32", "f32", 0.0, -0.0)));
  EXPECT_EQ(scalarOp("%y = arith.negf %a : f32", "f32", 2, 0), -2);
  EXPECT_EQ(scalarOp("%y = arith.addf %a, %b : bf16", "bf16", 256, 1), 256);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

TEST(SimulatorOps, LoopsCarryValuesTogether) {
  // Swapping two carried values: assigning one after the other would lose one.
  const char *swap = R"mlir(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant TRIPS : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (index, index) {
      scf.yield %q, %p : index, index
    }
    %y = arith.subi %r#0, %r#1 : index)mlir";
  EXPECT_EQ(scalarOp(fill(swap, {{"TRIPS", "3"}}), "index", 10, 4), -6);
  EXPECT_EQ(scalarOp(fill(swap, {{"TRIPS", "2"}}), "index", 10, 4), 6);
  EXPECT_EQ(scalarOp(fill(swap, {{"TRIPS", "0"}}), "index", 10, 4), 6);
  EXPECT_EQ(scalarOp(fill(swap, {{"TRIPS", "-5"}}), "index", 10, 4), 6);
}

TEST(SimulatorOps, LoopBoundsAtTheEndsOfTheNumberLine) {
  const char *loop = R"mlir(
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %lo = arith.constant LO : i64
    %hi = arith.constant HI : i64
    %step = arith.constant 4611686018427387904 : i64
    %y = scf.for %i = %lo to %hi step %step iter_args(%n = %c0) -> (i64) : i64 {
      %m = arith.addi %n, %c1 : i64
      scf.yield %m : i64
    })mlir";
  auto trips = [&](const char *lo, const char *hi) {
    return scalarOp(fill(loop, {{"LO", lo}, {"HI", hi}}), "i64", 0, 0);
  };
  EXPECT_EQ(trips("9223372036854775800", "9223372036854775807"), 1);
  EXPECT_EQ(trips("-9223372036854775808", "9223372036854775807"), 4);
  EXPECT_EQ(trips("5", "5"), 0);
}

TEST(SimulatorOps, WhileAndIf) {
  // The number of halvings until 1: 6 for 100. An if with results, one without an else.
  EXPECT_EQ(scalarOp(R"mlir(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %r:2 = scf.while (%v = %a, %n = %c0) : (index, index) -> (index, index) {
      %more = arith.cmpi sgt, %v, %c1 : index
      scf.condition(%more) %v, %n : index, index
    } do {
    ^bb0(%v: index, %n: index):
      %half = arith.divsi %v, %c2 : index
      %m = arith.addi %n, %c1 : index
      scf.yield %half, %m : index, index
    }
    %even = arith.cmpi eq, %b, %c2 : index
    scf.if %even {
    }
    %y = scf.if %even -> index {
      %neg = arith.subi %c0, %r#1 : index
      scf.yield %neg : index
    } else {
      scf.yield %r#1 : index
    })mlir",
                     "index", 100, 2),
            -6);
}

TEST(SimulatorOps, EveryOperationOfBothDialectsIsKnown) {
  unsigned seen = 0;
  for (mlir::RegisteredOperationName name : context().getRegisteredOperations()) {
    if (name.getDialectNamespace() != "kiln" && name.getDialectNamespace() != "tile")
      continue;
    // A function is not executed but entered; kiln.incore is gone once the module is prepared; and
    // tile.yield ends a body that the operation around it runs.
    if (llvm::is_contained({"kiln.func", "kiln.incore", "tile.yield"}, name.getStringRef()))
      continue;
    ++seen;
    EXPECT_TRUE(isSimulated(name)) << name.getStringRef().str();
  }
  EXPECT_GT(seen, 40u);
}

} // namespace
