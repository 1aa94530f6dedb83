// Native kernels by themselves: the ABI, every op has a lowering, accuracy of the functions, what
// happens at the edges and on errors. That they compute what the reference computes is tested by
// Agreement and RandomPrograms.
#include "ElementwiseTable.h"
#include "LlvmTesting.h"
#include "Simulator/TileOpTesting.h"

#include "kiln/Transforms/Passes.h"
#include "kiln/runtime/bundle.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <random>

using namespace kiln;
using namespace kiln::test;

namespace {

mlir::OwningOpRef<mlir::ModuleOp> prepared(const std::string &text) {
  mlir::ParserConfig config(&context());
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, config, "test.mlir");
  EXPECT_TRUE(module) << text;
  mlir::PassManager passes(&context());
  buildPreparePipeline(passes);
  EXPECT_TRUE(succeeded(passes.run(*module)));
  return module;
}

/// What a kernel said before it failed.
struct Report {
  std::string message, file;
  int line = 0, col = 0;
};

/// Calls a kernel by its ABI over a range of blocks, as a worker would.
int32_t call(const CpuKernel &kernel, const std::vector<Tensor> &tensors,
             const std::vector<uint64_t> &scalars, const kiln_blocks &range,
             std::array<int64_t, 3> grid, Report *report = nullptr) {
  std::vector<kiln_tensor> views;
  for (const Tensor &tensor : tensors)
    views.push_back(tensor.toAbi());
  kiln_args args{views.data(), scalars.data(), uint32_t(views.size()), uint32_t(scalars.size())};
  std::vector<std::byte> scratch(kernel.workspaceBytes + 64);
  auto start = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
  kiln_context context{};
  context.abi_version = KILN_ABI_VERSION;
  context.lanes = 1;
  std::copy(grid.begin(), grid.end(), context.grid);
  context.scratch = reinterpret_cast<void *>(start);
  context.scratch_bytes = kernel.workspaceBytes;
  context.user = report;
  context.report = [](kiln_context *ctx, const char *message, const kiln_source *where) {
    if (auto *report = static_cast<Report *>(ctx->user))
      *report = {message, where->file ? where->file : "", where->line, where->col};
  };
  return kernel.function(&args, &range, &context);
}

//===----------------------------------------------------------------------===//
// Completeness
//===----------------------------------------------------------------------===//

/// Code is made for what the runtime can look for: what is built here runs here, whatever this CPU
/// is.
TEST(LlvmHost, NeedsNothingThatTheRuntimeMisses) {
  EXPECT_EQ(missingCpuFeature(hostCpuFeatures()), std::nullopt);
}

TEST(Llvm, EveryOpIsLowered) {
  // What is gone before ops are walked.
  const llvm::StringSet<> elsewhere = {"kiln.func",      "kiln.call",        "kiln.incore",
                                       "tile.scan_with", "tile.reduce_with", "tile.yield"};
  for (mlir::RegisteredOperationName op : context().getRegisteredOperations()) {
    llvm::StringRef dialect = op.getDialectNamespace();
    if ((dialect == "tile" || dialect == "kiln") && !elsewhere.contains(op.getStringRef())) {
      EXPECT_TRUE(isLoweredForCpu(op)) << op.getStringRef().str();
    }
  }
}

TEST(Llvm, EveryScalarOpTheSimulatorKnowsIsLowered) {
  for (mlir::RegisteredOperationName op : context().getRegisteredOperations()) {
    llvm::StringRef dialect = op.getDialectNamespace();
    if ((dialect == "arith" || dialect == "scf") && isSimulated(op)) {
      EXPECT_TRUE(isLoweredForCpu(op)) << op.getStringRef().str();
    }
  }
}

//===----------------------------------------------------------------------===//
// The ABI
//===----------------------------------------------------------------------===//

const char *const kAdd = R"mlir(
kiln.func @add(%x: !kiln.tensor<?x?xf32>, %s: f32, %y: !kiln.tensor<?x?xf32>) incore {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %i = tile.block_idx 0
  %j = tile.block_idx 1
  %r = arith.muli %i, %c4 : index
  %c = arith.muli %j, %c8 : index
  %a = tile.load %x[%r, %c] : !tile.tile<4x8xf32>
  %b = tile.add %a, %s : !tile.tile<4x8xf32>
  tile.store %b, %y[%r, %c]
})mlir";

TEST(Llvm, RunsTheRangeOfBlocksItIsGivenAndNoOther) {
  auto module = prepared(kAdd);
  Expected<CpuModule> code = compileForCpu(*module);
  ASSERT_TRUE(code) << code.status().str();
  std::vector<double> values = randomElements(int64_t(10) * 19, 1);
  Tensor x = tensorOf(DType::F32, {10, 19}, values), y = poisoned(DType::F32, {10, 19});
  std::vector<double> before = elementsOf(y);
  uint64_t half = ScalarBits::fromDouble(DType::F32, 0.5).bits;
  kiln_blocks range{{1, 1, 0}, {3, 3, 1}};
  ASSERT_EQ(call(*code->lookup("add"), {x, y}, {half}, range, {3, 3, 1}), 0);
  std::vector<double> after = elementsOf(y);
  for (int64_t r = 0; r < 10; ++r)
    for (int64_t c = 0; c < 19; ++c) {
      int64_t at = r * 19 + c;
      if (r >= 4 && c >= 8)
        EXPECT_EQ(after[at], static_cast<float>(values[at]) + 0.5f) << r << ", " << c;
      else
        EXPECT_TRUE(std::isnan(after[at]) ? std::isnan(before[at]) : after[at] == before[at]);
    }
}

TEST(Llvm, StridedAndOverlappingArgumentsAreRight) {
  auto module = prepared(kAdd);
  Expected<CpuModule> code = compileForCpu(*module);
  ASSERT_TRUE(code) << code.status().str();
  // One buffer; the output is the input moved by a few elements, or with another stride.
  for (int64_t shift : {-9, -1, 0, 1, 5, 8, 40})
    for (int64_t stride : {8, 9}) {
      std::vector<float> data(200), want;
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = float(i);
      float *from = data.data() + 50, *to = from + shift;
      want = data;
      for (int64_t r = 0; r < 4; ++r)
        for (int64_t c = 0; c < 8; ++c)
          want[50 + shift + r * stride + c] = from[r * 8 + c] + 1;
      int64_t extents[] = {4, 8}, strides[] = {8, 1}, others[] = {stride, 1};
      Tensor x = *Tensor::view(from, DType::F32, extents, strides),
             y = *Tensor::view(to, DType::F32, extents, others);
      uint64_t one = ScalarBits::fromDouble(DType::F32, 1).bits;
      ASSERT_EQ(call(*code->lookup("add"), {x, y}, {one}, {{0, 0, 0}, {1, 1, 1}}, {1, 1, 1}), 0);
      EXPECT_EQ(data, want) << "shift " << shift << ", stride " << stride;
    }
}

TEST(Llvm, AnObjectIsLinkedWithoutCompiling) {
  auto module = prepared(kAdd);
  Expected<CpuObject> object = emitCpuObject(*module);
  ASSERT_TRUE(object) << object.status().str();
  EXPECT_EQ(object->kernels.front().function, nullptr);
  Expected<CpuModule> code = loadCpuObject(*object);
  ASSERT_TRUE(code) << code.status().str();
  Tensor x = tensorOf(DType::F32, {1, 1}, {3}), y = poisoned(DType::F32, {1, 1});
  uint64_t two = ScalarBits::fromDouble(DType::F32, 2).bits;
  ASSERT_EQ(call(*code->lookup("add"), {x, y}, {two}, {{0, 0, 0}, {1, 1, 1}}, {1, 1, 1}), 0);
  EXPECT_EQ(elementsOf(y), std::vector<double>{5});
  std::string whole = object->bytes;
  for (const std::string &bytes : {std::string("not an object"), whole.substr(0, 200)}) {
    object->bytes = bytes;
    EXPECT_FALSE(loadCpuObject(*object).hasValue());
  }
}

TEST(Llvm, TheSameProgramMakesTheSameObject) {
  auto one = prepared(kAdd), other = prepared(kAdd);
  EXPECT_EQ(emitCpuObject(*one)->bytes, emitCpuObject(*other)->bytes);
}

/// As many kernels, of different lengths.
std::string manyKernels(int count) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int kernel = 0; kernel < count; ++kernel) {
    stream << "kiln.func @k" << kernel << "(%x: !kiln.tensor<?x?xf32> inout) incore {\n"
           << "  %t0 = tile.load %x[0, 0] : !tile.tile<4x8xf32>\n";
    int length = kernel * 7 % count;
    for (int op = 0; op < length; ++op)
      stream << "  %t" << op + 1 << " = tile.exp %t" << op << " : !tile.tile<4x8xf32>\n";
    stream << "  tile.store %t" << length << ", %x[0, 0]\n}\n";
  }
  return text;
}

TEST(Llvm, CodeDoesNotDependOnHowManyThreadsGenerateIt) {
  auto module = prepared(manyKernels(12));
  CpuOptions options;
  options.threads = 1;
  Expected<CpuObject> alone = emitCpuObject(*module, options);
  ASSERT_TRUE(alone) << alone.status().str();
  EXPECT_EQ(objectsIn(*alone).size(), 12u);
  for (unsigned threads : {0u, 2u, 5u, 100u}) {
    options.threads = threads;
    Expected<CpuObject> together = emitCpuObject(*module, options);
    ASSERT_TRUE(together) << together.status().str();
    EXPECT_EQ(together->bytes, alone->bytes) << threads;
  }
}

TEST(Llvm, CodeIsGeneratedInAForkToo) {
  auto module = prepared(manyKernels(6));
  std::string want = emitCpuObject(*module)->bytes;
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Expected<CpuObject> code = emitCpuObject(*module);
    _exit(code && code->bytes == want ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// What a kernel is given as its user's pointer: the byte that ends it, and what it said.
struct Stoppable {
  uint8_t stop = 0;
  std::string message;
};

TEST(Llvm, ALoopOverScalarsAloneEndsEarly) {
  auto module = prepared(R"mlir(
kiln.func @spin(%n: index, %y: !kiln.tensor<1x1xi64> out) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i64) {
    %number = arith.index_cast %i : index to i64
    %next = arith.xori %s, %number : i64
    scf.yield %next : i64
  }
  %t = tile.full %all : !tile.tile<1x1xi64>
  tile.store %t, %y[0, 0]
}
)mlir");
  Expected<CpuModule> code = compileForCpu(*module);
  ASSERT_TRUE(code) << code.status().str();
  auto spin = [&](uint64_t iterations, Stoppable &how) {
    Tensor y = poisoned(DType::I64, {1, 1});
    kiln_tensor view = y.toAbi();
    kiln_args args{&view, &iterations, 1, 1};
    kiln_blocks range{{0, 0, 0}, {1, 1, 1}};
    alignas(64) std::byte scratch[4096];
    kiln_context context{};
    context.abi_version = KILN_ABI_VERSION;
    context.lanes = 1;
    std::fill(std::begin(context.grid), std::end(context.grid), 1);
    context.scratch = scratch;
    context.scratch_bytes = sizeof scratch;
    context.user = &how;
    context.report = [](kiln_context *ctx, const char *message, const kiln_source *) {
      static_cast<Stoppable *>(ctx->user)->message = message;
    };
    EXPECT_LE(code->lookup("spin")->workspaceBytes, sizeof scratch);
    return code->lookup("spin")->function(&args, &range, &context) == 0 ? elementsOf(y)
                                                                        : std::vector<double>();
  };
  Stoppable goesOn, stopped{1, ""};
  uint64_t want = 0;
  for (uint64_t i = 0; i < 200000; ++i)
    want ^= i;
  EXPECT_EQ(spin(200000, goesOn), std::vector<double>{double(want)});
  EXPECT_EQ(goesOn.message, "");
  EXPECT_EQ(spin(uint64_t{1} << 50, stopped), std::vector<double>()) << "would take days";
  EXPECT_EQ(stopped.message, "scf.for: the run was interrupted");
}

TEST(Llvm, AFailureNamesItsLineAndHarmsNobody) {
  struct Case {
    const char *body, *message;
    int64_t index;
  };
  const Case cases[] = {
      {"%q = arith.divsi %c1, %i : index", "division of 1 by zero", 0},
      {"%q = kiln.read %t[%i] : i32", "element [7] is outside 't' (i32[4])", 7},
      {"%q = kiln.read %t[%i] : i32", "element [-1] is outside 't' (i32[4])", -1},
      {"%q = tile.load %t[%i] : !tile.tile<1x4xi32>\ntile.store %q, %t[0]", "wholly outside", 4},
      {"%q = tile.load %t[%i] : !tile.tile<1x4xi32>\ntile.store %q, %t[0]", "wholly outside", -4},
      {"%q = tile.element %x[0, %i] : i32", "outside the tile", 4},
      {"%q = tile.extract %x[0, %i] : !tile.tile<1x2xi32>\ntile.store %q, %t[0]",
       "outside the tile", 3},
      {"%q = kiln.slice %t[%i] [2] : !kiln.tensor<2xi32>",
       "slice [3, +2) of axis 0 is outside its extent 4", 3},
      {"%q = tile.div %x, %z : !tile.tile<1x4xi32>\ntile.store %q, %t[0]", "division by zero", 0},
      {"%q = tile.gather %x, %x axis(1) : !tile.tile<1x4xi32>\ntile.store %q, %t[0]",
       "outside the tile", 0},
      {"scf.for %q = %c0 to %c1 step %i { }", "step of the loop", 0},
  };
  for (const Case &test : cases) {
    SCOPED_TRACE(test.body);
    std::string text = fill(R"mlir(
kiln.func @k(%t: !kiln.tensor<4xi32> inout, %i: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %t[0] : !tile.tile<1x4xi32>
  %zero = arith.constant 0 : i32
  %z = tile.mul %x, %zero : !tile.tile<1x4xi32>
  tile.store %z, %t[0] valid(0, 0)
  BODY
})mlir",
                            {{"BODY", test.body}});
    Program program(text);
    Expected<CpuModule> code =
        compileForCpu(program.function("k")->getParentOfType<mlir::ModuleOp>());
    ASSERT_TRUE(code) << code.status().str();
    Report report;
    Tensor t = tensorOf(DType::I32, {4}, {7, 8, 9, -3});
    int32_t status = call(*code->lookup("k"), {t}, {uint64_t(test.index)}, {{0, 0, 0}, {1, 1, 1}},
                          {1, 1, 1}, &report);
    EXPECT_NE(status, 0);
    EXPECT_NE(report.message.find(test.message), std::string::npos) << report.message;
    EXPECT_EQ(report.file, "test.mlir");
    EXPECT_GT(report.col, 0);
    std::string first = std::string(test.body).substr(0, std::string(test.body).find('\n'));
    EXPECT_GE("test.mlir:" + std::to_string(report.line), program.lineOf(first));
  }
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

/// The difference in units in the last place of the exact result as an f32.
double ulps(float have, double want) {
  float rounded = static_cast<float>(want);
  if (std::isnan(want))
    return std::isnan(have) ? 0 : HUGE_VAL;
  if (std::isinf(rounded) || std::isinf(have))
    return have == rounded ? 0 : HUGE_VAL;
  int exponent;
  std::frexp(want, &exponent);
  double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(have - want) / unit;
}

TEST(Llvm, FunctionsAreAccurateOverTheirWholeRange) {
  // In units in the last place; a function that is not here has the usual one.
  constexpr double usual = 1.5;
  const std::map<std::string, double> bounds = {{"exp", 1.01},    {"exp2", 1.01}, {"log", 1.01},
                                                {"sigmoid", 2.5}, {"sqrt", 0.5},  {"recip", 0.5},
                                                {"sin", 1.01},    {"cos", 1.01}};
  constexpr int64_t count = 1 << 20; // every 4096th float, of both signs
  std::vector<float> inputs(count), outputs(count);
  for (int64_t i = 0; i < count; ++i)
    inputs[i] = std::bit_cast<float>(uint32_t(i << 12 | (i * 2654435761u >> 20 & 0xfff)));
  for (const ElementwiseRow &row : kElementwise) {
    if (!row.isFloatFunction())
      continue;
    auto module = prepared(fill(R"mlir(
kiln.func @k(%x: !kiln.tensor<?xf32>, %y: !kiln.tensor<?xf32>) incore {
  %c1024 = arith.constant 1024 : index
  %i = tile.block_idx 0
  %c = arith.muli %i, %c1024 : index
  %a = tile.load %x[%c] : !tile.tile<1x1024xf32>
  %b = tile.OP %a : !tile.tile<1x1024xf32>
  tile.store %b, %y[%c]
})mlir",
                                {{"OP", row.name}}));
    Expected<CpuModule> code = compileForCpu(*module);
    ASSERT_TRUE(code) << code.status().str();
    int64_t extents[] = {count}, strides[] = {1};
    Tensor x = *Tensor::view(inputs.data(), DType::F32, extents, strides),
           y = *Tensor::view(outputs.data(), DType::F32, extents, strides);
    ASSERT_EQ(call(*code->lookup("k"), {x, y}, {}, {{0, 0, 0}, {count / 1024, 1, 1}},
                   {count / 1024, 1, 1}),
              0);
    double worst = 0;
    float where = 0;
    for (int64_t i = 0; i < count; ++i)
      if (double error = ulps(outputs[i], row.formula(inputs[i])); error > worst) {
        worst = error;
        where = inputs[i];
      }
    auto bound = bounds.find(row.name);
    EXPECT_LE(worst, bound == bounds.end() ? usual : bound->second) << row.name << " at " << where;
    RecordProperty(row.name + "_ulps", std::to_string(worst));
    std::printf("  %-8s %.3f ulp\n", row.name.c_str(), worst);
  }
}

//===----------------------------------------------------------------------===//
// Quotients and large tensors
//===----------------------------------------------------------------------===//

const char *const kDivideRows = R"mlir(
kiln.func @divide(%x: !kiln.tensor<?x?xf32>, %s: !kiln.tensor<?x1xf32>,
                  %y: !kiln.tensor<?x?xf32>) incore {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %i = tile.block_idx 0
  %j = tile.block_idx 1
  %r = arith.muli %i, %c8 : index
  %c = arith.muli %j, %c64 : index
  %a = tile.load %x[%r, %c] : !tile.tile<8x64xf32>
  %b = tile.load %s[%r, 0] : !tile.tile<8x1xf32>
  %q = tile.div %a, %b : !tile.tile<8x64xf32>
  tile.store %q, %y[%r, %c]
})mlir";

/// x / s by the kernel, a divisor a row.
std::vector<float> divideRows(int64_t rows, int64_t cols, std::vector<float> &x,
                              std::vector<float> &s) {
  auto module = prepared(kDivideRows);
  Expected<CpuModule> code = compileForCpu(*module);
  EXPECT_TRUE(code) << code.status().str();
  Tensor y = poisoned(DType::F32, {rows, cols});
  int64_t extents[] = {rows, cols}, strides[] = {cols, 1};
  int64_t columnExtents[] = {rows, 1}, columnStrides[] = {1, 1};
  Tensor left = *Tensor::view(x.data(), DType::F32, extents, strides),
         right = *Tensor::view(s.data(), DType::F32, columnExtents, columnStrides);
  kiln_blocks range{{0, 0, 0}, {(rows + 7) / 8, (cols + 63) / 64, 1}};
  EXPECT_EQ(
      call(*code->lookup("divide"), {left, right, y}, {}, range, {range.end[0], range.end[1], 1}),
      0);
  return std::vector<float>(y.dataAs<float>(), y.dataAs<float>() + rows * cols);
}

TEST(Llvm, QuotientsByOneNumberARowAreCorrectlyRounded) {
  constexpr int64_t rows = 512, cols = 512;
  std::mt19937 generator(7);
  std::vector<float> special = {0.0f,   -0.0f,         1.0f,       3.0f,       1e38f,
                                3e38f,  HUGE_VALF,     -HUGE_VALF, NAN,        1e-38f,
                                1e-40f, 0x1.fffffep0f, 0x1p-149f,  -0x1p-126f, 0x1.fffffep127f};
  std::vector<float> x(rows * cols), s(rows);
  auto any = [&](size_t i) {
    return i < special.size() ? special[i] : std::bit_cast<float>(uint32_t(generator()));
  };
  for (int64_t i = 0; i < rows; ++i)
    s[i] = any(i);
  for (int64_t i = 0; i < rows * cols; ++i)
    x[i] = any(i % cols);
  std::vector<float> y = divideRows(rows, cols, x, s);
  for (int64_t i = 0; i < rows * cols; ++i) {
    float want = x[i] / s[i / cols];
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(y[i])) << x[i] << " / " << s[i / cols];
    } else if (std::abs(want) < 0x1p-125f) { // rounded twice
      ASSERT_NEAR(y[i], want, 0x1p-149) << x[i] << " / " << s[i / cols];
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(want))
          << x[i] << " / " << s[i / cols];
    }
  }
}

/// Large enough to be stored past the caches, with a part of a tile at each end.
TEST(Llvm, LargeTensorsAreStoredWhole) {
  for (int64_t cols : {4096, 4100}) { // lines aligned with vectors, and not
    int64_t rows = (32 << 20) / 4 / cols + 3;
    std::vector<float> x(rows * cols), s(rows);
    for (int64_t i = 0; i < rows * cols; ++i)
      x[i] = float(i % 1021) - 500;
    for (int64_t i = 0; i < rows; ++i)
      s[i] = float(i % 13 + 1);
    std::vector<float> y = divideRows(rows, cols, x, s);
    for (int64_t i = 0; i < rows * cols; ++i)
      ASSERT_EQ(y[i], x[i] / s[i / cols]) << i;
  }
}

} // namespace
