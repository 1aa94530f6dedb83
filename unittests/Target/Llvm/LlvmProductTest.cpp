// Loops of products that the cpu backend computes for many blocks at once: they must compute what
// each block would by itself, for every shape, and their inner loop must stay in registers.
#include "LlvmTesting.h"
#include "Simulator/TileOpTesting.h"

#include "llvm-c/Disassembler.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

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
  %r = tile.add %sum, %bias : !tile.tile<BMxBNxTC>
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

/// `isTurned`: the right side is stored as n x k.
void expectProduct(const Shape &s, Types types, bool isTurned) {
  SCOPED_TRACE(std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
               " by tiles of " + std::to_string(s.bm) + "x" + std::to_string(s.bn) + "x" +
               std::to_string(s.bk) + (isTurned ? ", turned" : "") + ", " + toString(types.side));
  std::string side = toString(types.side);
  std::string left = "%x = tile.load %a[%i, %k] : !tile.tile<BMxBKxTA>";
  std::string right = isTurned ? "%y = tile.load %b[%j, %k] : !tile.tile<BNxBKxTA>"
                               : "%y = tile.load %b[%k, %j] : !tile.tile<BKxBNxTA>";
  Program program(fill(kProduct, {{"LEFT", left},
                                  {"RIGHT", right},
                                  {"TRANS", isTurned ? "trans_b" : ""},
                                  {"ZERO", isFloat(types.sum) ? "0.0" : "0"},
                                  {"TA", side},
                                  {"TC", toString(types.sum)},
                                  {"BM", std::to_string(s.bm)},
                                  {"BN", std::to_string(s.bn)},
                                  {"BK", std::to_string(s.bk)}}));
  auto made = [&](int64_t count, unsigned seed) {
    std::vector<double> values = randomElements(count, seed);
    for (double &value : values)
      value = isFloat(types.side) ? value : std::round(value * 100);
    return values;
  };
  int64_t bRows = isTurned ? s.n : s.k, bCols = isTurned ? s.k : s.n;
  Tensor a = tensorOf(types.side, {s.m, s.k}, made(s.m * s.k, 1)),
         b = tensorOf(types.side, {bRows, bCols}, made(bRows * bCols, 2)),
         d = tensorOf(types.sum, {s.n}, made(s.n, 3)), c = poisoned(types.sum, {s.m, s.n});
  std::vector<Argument> args{a, b, d, c, test::index(s.k)};
  Status bad = compileAndRun(program.function("main"), args);
  ASSERT_TRUE(bad.isOk()) << bad.str();
  std::vector<double> x = elementsOf(a), y = elementsOf(b), want = std::vector<double>(s.m * s.n),
                      bias = elementsOf(d);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = bias[j];
      for (int64_t k = 0; k < s.k; ++k)
        sum += x[i * s.k + k] * (isTurned ? y[j * s.k + k] : y[k * s.n + j]);
      want[i * s.n + j] = sum;
    }
  expectNear(elementsOf(c), want, isFloat(types.sum) ? 1e-5 * double(s.k) : 0);
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

TEST(LlvmProduct, WidensSmallTypes) {
  const Shape shape{130, 140, 150, 64, 64, 32};
  for (bool isTurned : {false, true}) {
    expectProduct(shape, {DType::BF16, DType::F32}, isTurned);
    expectProduct(shape, {DType::F16, DType::F32}, isTurned);
    expectProduct(shape, {DType::I8, DType::I32}, isTurned);
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

struct Instruction {
  uint64_t address, end;
  std::string text;
};

std::vector<Instruction> disassemble(const std::string &object) {
  llvm::InitializeNativeTargetDisassembler();
  std::vector<Instruction> all;
  auto buffer = llvm::MemoryBuffer::getMemBuffer(object, "", false);
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef()));
  LLVMDisasmContextRef context =
      LLVMCreateDisasmCPU("x86_64-linux-gnu", "icelake-server", nullptr, 0, nullptr, nullptr);
  for (const llvm::object::SectionRef &section : file->sections()) {
    if (!section.isText())
      continue;
    llvm::StringRef bytes = llvm::cantFail(section.getContents());
    for (uint64_t at = 0; at < bytes.size();) {
      char text[256];
      auto *code = const_cast<uint8_t *>(bytes.bytes_begin()) + at;
      size_t size = LLVMDisasmInstruction(context, code, bytes.size() - at, at, text, sizeof text);
      if (size == 0)
        break;
      all.push_back({at, at + size, text});
      at += size;
    }
  }
  LLVMDisasmDispose(context);
  return all;
}

TEST(LlvmProduct, InnerLoopsStayInRegisters) {
#ifndef __x86_64__
  GTEST_SKIP() << "reads code for x86-64";
#endif
  Program program(fill(kProduct, {{"LEFT", "%x = tile.load %a[%i, %k] : !tile.tile<BMxBKxf32>"},
                                  {"RIGHT", "%y = tile.load %b[%k, %j] : !tile.tile<BKxBNxf32>"},
                                  {"TRANS", ""},
                                  {"ZERO", "0.0"},
                                  {"TA", "f32"},
                                  {"TC", "f32"},
                                  {"BM", "64"},
                                  {"BN", "64"},
                                  {"BK", "64"}}));
  CpuOptions options;
  options.cpu = "icelake-server";
  options.features = "+avx512f,+avx512dq,+avx512bw,+avx512vl,+avx512cd,+fma,+avx2";
  Expected<CpuObject> object =
      emitCpuObject(program.function("main")->getParentOfType<mlir::ModuleOp>(), options);
  ASSERT_TRUE(object) << object.status().str();
  std::vector<Instruction> code = disassemble(object->bytes);
  int numLoops = 0;
  size_t lastEnd = 0; // of the innermost loop before: what jumps back over it is not innermost
  for (size_t end = 0; end < code.size(); ++end) {
    llvm::StringRef text = llvm::StringRef(code[end].text).trim();
    int64_t distance;
    if (!text.consume_front("j") || text.split('\t').second.getAsInteger(0, distance) ||
        distance >= 0)
      continue;
    uint64_t target = code[end].end + uint64_t(distance);
    int products = 0, onStack = 0;
    for (size_t i = lastEnd; i < end; ++i) {
      if (code[i].address < target)
        continue;
      products += llvm::StringRef(code[i].text).contains("vfmadd");
      onStack += llvm::StringRef(code[i].text).contains("%rsp");
    }
    bool isInnermost = lastEnd == 0 || code[lastEnd].address < target;
    if (isInnermost)
      lastEnd = end;
    if (!isInnermost || products == 0)
      continue;
    ++numLoops;
    EXPECT_GE(products, 4 * 20) << "of four steps of k with at least 5 x 4 accumulators";
    EXPECT_EQ(onStack, 0) << "accesses of the stack in a loop of " << products << " products";
  }
  EXPECT_EQ(numLoops, 2) << "64 rows are blocks of 6 and of 5";
}

} // namespace
