// Gathering, scattering, sorting and random numbers in the simulator, against formulas written
// another way.
#include "TileOpTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

//===----------------------------------------------------------------------===//
// Rows of tensors
//===----------------------------------------------------------------------===//

/// Runs a kernel with `%t`, a tensor of 4x3, and `%rows`, and stores %y if the body makes it.
struct RowsRun {
  DType dtype = DType::F32;
  std::vector<double> tensor = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32};
  std::vector<int64_t> tableShape = {5};
  std::vector<double> table = {2, -1, 0, 3, 7};
  DType tableType = DType::I32;

  Status gather(const std::string &op, Dims shape, std::vector<double> &result) {
    std::string type = std::to_string(shape[0]) + "x" + std::to_string(shape[1]);
    Tensor out = poisoned(dtype, shape);
    Status status = run(fill("%y = OP : !tile.tile<SHAPE>\n tile.store %y, %out[0, 0]",
                             {{"OP", op}, {"SHAPE", type + "x" + toString(dtype)}}),
                        out);
    result = elementsOf(out);
    return status;
  }

  /// `%x` holds 100, 101, ... row by row.
  Status scatter(const std::string &op, int64_t rows, std::vector<double> &result) {
    std::vector<double> values(rows * 3);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 100.0 + static_cast<double>(i);
    Tensor x = tensorOf(dtype, {rows, 3}, values);
    Status status = run(fill("%x = tile.load %out[0, 0] : !tile.tile<ROWSx3xTYPE>\n" + op,
                             {{"ROWS", std::to_string(rows)}, {"TYPE", toString(dtype)}}),
                        x, &result);
    return status;
  }

private:
  Status run(const std::string &body, Tensor &out, std::vector<double> *after = nullptr) {
    auto typeOf = [](const Tensor &tensor) {
      std::string text = "!kiln.tensor<";
      for (int64_t extent : tensor.extents())
        text += std::to_string(extent) + "x";
      return text + toString(tensor.dtype()) + ">";
    };
    Tensor t = tensorOf(dtype, {4, 3}, tensor), rows = tensorOf(tableType, tableShape, table);
    Program program("kiln.func @k(%t: " + typeOf(t) + " inout, %rows: " + typeOf(rows) +
                    " in, %out: " + typeOf(out) + " inout) incore {\n" + body + "\n}");
    Status status = program.run("k", {t, rows, out});
    if (after)
      *after = elementsOf(t);
    return status;
  }
};

TEST(SimulatorGather, RowsComeFromWhereTheTableSays) {
  for (DType table : {DType::I32, DType::I64})
    for (DType dtype : {DType::F32, DType::BF16, DType::F8E5M2, DType::I8, DType::I64}) {
      SCOPED_TRACE(toString(dtype));
      RowsRun run;
      run.dtype = dtype;
      run.tableType = table;
      run.tensor = {0, 1, 2, 4, 5, 6, 8, 10, 12, 16, 20, 24}; // exact in every type
      std::vector<double> have;
      // -1 and 7 are no rows of the tensor; the sixth row number does not exist.
      EXPECT_OK(run.gather("tile.gather_rows %t[0, 0] rows(%rows[0]) pad(1.0)", {6, 3}, have));
      expectNear(have, {8, 10, 12, 1, 1, 1, 0, 1, 2, 16, 20, 24, 1, 1, 1, 1, 1, 1}, 0);
    }
}

TEST(SimulatorGather, TheFirstRowMovesAllButNotThoseThatAreNone) {
  RowsRun run;
  std::vector<double> have;
  // Row numbers 2, -1, 0: rows 3, none (not row 0), 1.
  EXPECT_OK(run.gather("tile.gather_rows %t[1, 0] rows(%rows[0]) pad(-5.0)", {3, 3}, have));
  expectNear(have, {30, 31, 32, -5, -5, -5, 10, 11, 12}, 0);
  // A first row beyond the tensor is fine as long as nothing lies there.
  run.table = {9223372036854775807.0, 3, 1, 2, 0};
  run.tableType = DType::I64;
  EXPECT_OK(run.gather("tile.gather_rows %t[2, 0] rows(%rows[0]) pad(-5.0)", {5, 3}, have));
  expectNear(have, {-5, -5, -5, -5, -5, -5, 30, 31, 32, -5, -5, -5, 20, 21, 22}, 0);
}

TEST(SimulatorGather, ColumnsMayHangOverAndValidExtentsCut) {
  RowsRun run;
  std::vector<double> have;
  EXPECT_OK(run.gather("tile.gather_rows %t[0, 2] rows(%rows[2]) pad(max)", {2, 2}, have));
  expectNear(have, {2, kInf, 32, kInf}, 0);
  EXPECT_OK(run.gather("tile.gather_rows %t[0, -1] rows(%rows[2]) valid(1, 3)", {2, 4}, have));
  expectNear(have, {0, 0, 1, 0, 0, 0, 0, 0}, 0);
  EXPECT_OK(run.gather("tile.gather_rows %t[0, 0] rows(%rows[0]) valid(0, 3)", {2, 3}, have));
  expectNear(have, {0, 0, 0, 0, 0, 0}, 0);
}

TEST(SimulatorGather, RowNumbersLieAlongTheLastAxisOfAnyTensor) {
  RowsRun run;
  run.tableShape = {2, 3};
  run.table = {0, 1, 2, 3, 2, 1};
  std::vector<double> have;
  EXPECT_OK(run.gather("tile.gather_rows %t[0, 0] rows(%rows[1, 1]) pad(-1.0)", {3, 3}, have));
  expectNear(have, {20, 21, 22, 10, 11, 12, -1, -1, -1}, 0);
}

TEST(SimulatorGather, ScatterWritesOnlyWhatGatherWouldRead) {
  RowsRun run;
  std::vector<double> have;
  EXPECT_OK(run.scatter("tile.scatter_rows %x, %t[0, 0] rows(%rows[0])", 5, have));
  expectNear(have, {106, 107, 108, 10, 11, 12, 100, 101, 102, 109, 110, 111}, 0);
  EXPECT_OK(run.scatter("tile.scatter_rows %x, %t[0, 1] rows(%rows[0]) valid(3, 1)", 5, have));
  expectNear(have, {0, 106, 2, 10, 11, 12, 20, 100, 22, 30, 31, 32}, 0);
}

TEST(SimulatorGather, ARowScatteredTwiceIsAnErrorUnlessItAdds) {
  RowsRun run;
  run.table = {1, 3, 1, -1, -1};
  std::vector<double> have;
  expectError(run.scatter("tile.scatter_rows %x, %t[0, 0] rows(%rows[0])", 5, have),
              StatusCode::KernelFailed,
              {"tile.scatter_rows", "row number 1 occurs twice", "row 2 of the tile"});
  expectNear(have, run.tensor, 0);
  EXPECT_OK(run.scatter("tile.scatter_rows %x, %t[0, 0] rows(%rows[0]) valid(2, 3)", 5, have));
  EXPECT_OK(run.scatter("tile.scatter_rows %x, %t[0, 0] rows(%rows[0]) atomic(add)", 5, have));
  expectNear(have,
             {0, 1, 2, 10 + 100 + 106, 11 + 101 + 107, 12 + 102 + 108, 20, 21, 22, 30 + 103,
              31 + 104, 32 + 105},
             0);
}

TEST(SimulatorGather, TilesWhollyOutsideAreErrors) {
  const char *text = R"mlir(
kiln.func @k(%t: !kiln.tensor<4x3xf32> in, %rows: !kiln.tensor<?xi32> in, %i: index, %c: index,
             %out: !kiln.tensor<2x3xf32> out) incore {
  %y = tile.gather_rows %t[0, %c] rows(%rows[%i]) : !tile.tile<2x3xf32>
  tile.store %y, %out[0, 0]
})mlir";
  Program program(text);
  Tensor t = tensorOf(DType::F32, {4, 3}, std::vector<double>(12, 1)),
         rows = tensorOf(DType::I32, {2}, {0, 1}), out = poisoned(DType::F32, {2, 3});
  EXPECT_OK(program.run("k", {t, rows, index(1), index(-2), out}));
  expectNear(elementsOf(out), {0, 0, 1, 0, 0, 0}, 0);
  expectError(program.run("k", {t, rows, index(2), index(0), out}), StatusCode::KernelFailed,
              {"tile.gather_rows", "outside 'rows' (i32[2])"});
  expectError(program.run("k", {t, rows, index(0), index(3), out}), StatusCode::KernelFailed,
              {"tile.gather_rows", "outside 't' (f32[4, 3])"});
}

//===----------------------------------------------------------------------===//
// Elements of tiles
//===----------------------------------------------------------------------===//

TEST(SimulatorGather, TakeAlongAnAxis) {
  Operand x{DType::F16, 2, 3, {1, 2, kNaN, 4, 5, 6}};
  expectNear(tileOp("%y = tile.gather %a, %b axis(1) : RESULT",
                    {x, {DType::I32, 2, 4, {0, 0, 2, 1, 2, 1, 0, 0}}}, {DType::F16, 2, 4, {}}),
             {1, 1, kNaN, 2, 6, 5, 4, 4}, 0);
  expectNear(tileOp("%y = tile.gather %a, %b axis(0) : RESULT", {x, {DType::I64, 1, 3, {1, 0, 1}}},
                    {DType::F16, 1, 3, {}}),
             {4, 2, 6}, 0);
  for (double bad : {-1.0, 3.0, 1e18}) {
    Operand result{DType::F16, 2, 1, {}};
    expectError(runTileOp("%y = tile.gather %a, %b axis(1) : !tile.tile<2x1xf16>",
                          {x, {DType::I64, 2, 1, {0, bad}}}, result),
                StatusCode::KernelFailed,
                {"tile.gather", "element [1, 0] of the indices", "outside the extent 3"});
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

struct Ordered {
  std::vector<double> values, columns;
};

Ordered order(const std::string &op, const Operand &x, int64_t count) {
  std::string element = toString(x.dtype);
  auto tile = [&](const std::string &type) {
    return "!tile.tile<" + std::to_string(x.rows) + "x" + std::to_string(count) + "x" + type + ">";
  };
  std::string body = op + " : " + tile(element) + ", " + tile("i32");
  Operand values{x.dtype, x.rows, count, {}}, columns{DType::I32, x.rows, count, {}};
  EXPECT_OK(runTileOp("%y, %z = " + body, {x}, values));
  EXPECT_OK(runTileOp("%z, %y = " + body, {x}, columns));
  return {values.elements, columns.elements};
}

TEST(SimulatorOrder, NaNComesLastInBothDirectionsAndEqualElementsKeepTheirOrder) {
  Operand x = row(DType::F32, {kNaN, 3, -0.0, 0.0, kNaN, -kInf, 3, kInf, -3});
  Ordered up = order("tile.sort_rows %a", x, 9);
  expectNear(up.values, {-kInf, -3, -0.0, 0.0, 3, 3, kInf, kNaN, kNaN}, 0);
  expectNear(up.columns, {5, 8, 2, 3, 1, 6, 7, 0, 4}, 0);
  EXPECT_TRUE(std::signbit(up.values[2]) && !std::signbit(up.values[3]));
  Ordered down = order("tile.sort_rows %a descending", x, 9);
  expectNear(down.values, {kInf, 3, 3, -0.0, 0.0, -3, -kInf, kNaN, kNaN}, 0);
  expectNear(down.columns, {7, 1, 6, 2, 3, 8, 5, 0, 4}, 0);
  Ordered top = order("tile.topk_rows %a", x, 4);
  expectNear(top.values, {kInf, 3, 3, 0}, 0);
  expectNear(top.columns, {7, 1, 6, 2}, 0);
}

TEST(SimulatorOrder, EveryElementType) {
  for (const DTypeInfo &info : dtypeTable) {
    if (!info.isElement)
      continue;
    SCOPED_TRACE(info.name);
    bool isBool = info.type == DType::I1;
    Operand x{info.type, 2, 4, {2, -1, 2, 0, 1, 1, 0, 1}};
    if (isBool)
      x.elements = {1, 0, 1, 0, 1, 1, 0, 1};
    // Counting how many come before is another way to sort.
    for (bool isDescending : {false, true}) {
      std::vector<double> values(8), columns(8);
      for (int64_t r = 0; r < 2; ++r)
        for (int64_t c = 0; c < 4; ++c) {
          int64_t before = 0;
          for (int64_t other = 0; other < 4; ++other) {
            double a = x.elements[r * 4 + other], b = x.elements[r * 4 + c];
            before += (isDescending ? a > b : a < b) || (a == b && other < c);
          }
          values[r * 4 + before] = x.elements[r * 4 + c];
          columns[r * 4 + before] = static_cast<double>(c);
        }
      Ordered have =
          order(isDescending ? "tile.sort_rows %a descending" : "tile.sort_rows %a", x, 4);
      expectNear(have.values, values, 0);
      expectNear(have.columns, columns, 0);
    }
  }
}

TEST(SimulatorOrder, ExtremesOfIntegers) {
  Operand x = row(DType::I8, {0, -128, 127, -1});
  expectNear(order("tile.sort_rows %a descending", x, 4).values, {127, 0, -1, -128}, 0);
  Operand wide = row(DType::I64, {0, -9223372036854775808.0, 1, -1});
  expectNear(order("tile.topk_rows %a", wide, 4).columns, {2, 0, 3, 1}, 0);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

std::vector<double> randomTile(uint64_t key, uint64_t counter, Operand result) {
  std::string body = "%k = arith.constant " + std::to_string(static_cast<int64_t>(key)) +
                     " : i64\n%n = arith.constant " +
                     std::to_string(static_cast<int64_t>(counter)) +
                     " : index\n%y = tile.random key(%k) counter(%n) : RESULT";
  return tileOp(body, {}, std::move(result));
}

double word(uint32_t bits) { return static_cast<int32_t>(bits); }

// The first is a known answer of Random123. Its other two have counters whose upper half is not 0;
// the rest are those with that half cleared, computed with unbounded integers.
TEST(SimulatorRandom, KnownAnswers) {
  Operand words{DType::I32, 1, 4, {}};
  expectNear(randomTile(0, 0, words),
             {word(0x6627e8d5), word(0xe169c58d), word(0xbc57ac4c), word(0x9b00dbd8)}, 0);
  expectNear(randomTile(UINT64_MAX, UINT64_MAX, words),
             {word(0x4d18d7d2), word(0x430ac65a), word(0xbd2fa22a), word(0x0afae10d)}, 0);
  expectNear(randomTile(0x299f31d0a4093822, 0x85a308d3243f6a88, words),
             {word(0xe69c9c31), word(0xb5a3d762), word(0xe733bfc1), word(0x341a787c)}, 0);
}

TEST(SimulatorRandom, BlocksFollowRowByRow) {
  std::vector<double> all = randomTile(7, 100, {DType::I32, 3, 5, {}});
  for (uint64_t block = 0; block < 4; ++block) {
    std::vector<double> one = randomTile(7, 100 + block, {DType::I32, 1, 4, {}});
    for (size_t i = 0; i < 4 && 4 * block + i < 15; ++i)
      EXPECT_EQ(all[4 * block + i], one[i]);
  }
  EXPECT_NE(all, randomTile(8, 100, {DType::I32, 3, 5, {}}));
  EXPECT_NE(all, randomTile(7 + (uint64_t(1) << 32), 100, {DType::I32, 3, 5, {}}));
}

TEST(SimulatorRandom, FloatsAreTheUpperBitsInZeroToOne) {
  std::vector<double> bits = randomTile(3, uint64_t(-1), {DType::I32, 16, 16, {}}),
                      floats = randomTile(3, uint64_t(-1), {DType::F32, 16, 16, {}});
  double sum = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    EXPECT_EQ(floats[i], (static_cast<uint32_t>(static_cast<int32_t>(bits[i])) >> 8) / 16777216.0);
    EXPECT_TRUE(floats[i] >= 0 && floats[i] < 1);
    sum += floats[i];
  }
  EXPECT_NEAR(sum / 256, 0.5, 0.1);
}

} // namespace
