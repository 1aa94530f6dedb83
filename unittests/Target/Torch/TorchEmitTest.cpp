//===- TorchEmitTest.cpp - what emitted PyTorch looks like --------------------------===//
//
// Text only; what it computes is TorchWorkerTest.cpp.
//
//===----------------------------------------------------------------------------===//
#include "ElementwiseTable.h"

#include "kiln/Target/Torch/Torch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {

struct Module {
  explicit Module(llvm::StringRef text) {
    Context.loadDialect<ir::KilnDialect, tile::TileDialect, mlir::arith::ArithDialect,
                        mlir::scf::SCFDialect>();
    Op = mlir::parseSourceString<mlir::ModuleOp>(text, &Context);
  }
  std::string emit(const TorchOptions &options = {}) {
    EXPECT_TRUE(bool(Op)) << "the test program does not parse";
    if (!Op)
      return "";
    Expected<std::string> source = emitTorch(*Op, options);
    EXPECT_TRUE(source.hasValue()) << source.status().str();
    return source ? *source : "";
  }

  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Op;
};

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

unsigned count(llvm::StringRef text, llvm::StringRef part) { return text.count(part); }

// Two roles in both directions: needs the scheduler.
constexpr const char *kPipes = R"mlir(
!up = !tile.pipe<aiv -> aic, 8x8xf32, up_down>
!down = !tile.pipe<aic -> aiv, 8x8xf32, up_down>
kiln.func @main(%x: !kiln.tensor<8x8xf32> inout) orchestration {
  %t = kiln.submit @fused(%x) grid(2)
}
kiln.func @fused(%x: !kiln.tensor<8x8xf32> inout) group lanes(2) {
  %up = tile.pipe slots(3) : !up
  %down = tile.pipe : !down
  kiln.call @cube(%up, %down)
  kiln.call @vec(%x, %up, %down)
}
kiln.func @plain(%x: !kiln.tensor<8x8xf32> in) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
}
kiln.func @cube(%up: !up, %down: !down) role(aic) {
  %a = tile.pop %up : !tile.tile<8x8xf32>
  tile.free %up
  tile.push %a, %down
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32> inout, %up: !up, %down: !down) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.push %a, %up
  %b = tile.pop %down : !tile.tile<4x8xf32>
  tile.free %down
  tile.store %b, %x[0, 0]
}
)mlir";

constexpr const char *kOneWay = R"mlir(
!p = !tile.pipe<aiv -> aic, 4x4xf32>
kiln.func @cube(%y: !kiln.tensor<8x4xf32> out, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c4 {
    %t = tile.pop %p : !tile.tile<4x4xf32>
    tile.store %t, %y[%i, 0]
    tile.free %p
  }
}
kiln.func @vec(%x: !kiln.tensor<8x4xf32> in, %p: !p) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<4x4xf32>
  tile.push %a, %p
  %b = tile.load %x[4, 0] : !tile.tile<4x4xf32>
  tile.push %b, %p
}
kiln.func @g(%x: !kiln.tensor<8x4xf32> in, %y: !kiln.tensor<8x4xf32> out) group {
  %p = tile.pipe slots(SLOTS) : !p
  kiln.call @cube(%y, %p)
  kiln.call @vec(%x, %p)
}
)mlir";

std::string withSlots(std::string text, const std::string &slots) {
  text.replace(text.find("SLOTS"), 5, slots);
  return text;
}

} // namespace

TEST(TorchEmit, OrderIsRolesKernelsGroupsOrchestration) {
  std::string source = Module(kPipes).emit();
  const char *order[] = {
      "\ndef cube_g(", "\ndef vec_g(",
      "\ndef plain(",  "\n# Group: fused\n# Members: cube (aic), vec (aiv, 2 lanes)\ndef fused(",
      "\ndef main(",   "\n# Entry: main\ndef run(x):\n    main(x)\n"};
  size_t last = 0;
  for (const char *part : order) {
    size_t at = source.find(part);
    ASSERT_NE(at, std::string::npos) << part << "\n" << source;
    EXPECT_GT(at, last) << part;
    last = at;
  }
}

TEST(TorchEmit, GroupsRunUnderTheScheduler) {
  std::string source = Module(kPipes).emit();
  EXPECT_TRUE(has(
      source, "    _reset_pipes()\n"
              "    _pipes['to_aic'] = _Pipe(slots=3, producers=2)  # aiv -> aic, 8x8xf32, up_down\n"
              "    _pipes['to_aiv'] = _Pipe(slots=2, consumers=2)  # aic -> aiv, 8x8xf32, up_down\n"
              "    _run_scheduler([\n"
              "        ('cube', cube_g('to_aic', 'to_aiv'), 0),\n"
              "        ('vec#0', vec_g(x, 'to_aic', 'to_aiv'), 0),\n"
              "        ('vec#1', vec_g(x, 'to_aic', 'to_aiv'), 1),\n"
              "    ])\n"
              "    _check_drained('fused')\n"))
      << source;
  EXPECT_TRUE(has(source, "    up_tile = yield from _tpop_from_aiv_g(up, 1, 8)\n"
                          "    _tfree_to_aiv(up)\n"
                          "    yield from _tpush_to_aiv_g(down, up_tile, 1)\n"))
      << source;
}

TEST(TorchEmit, RowsAndOrderReadLikeTheProgram) {
  std::string source = Module(R"mlir(
kiln.func @k(%x: !kiln.tensor<?x64xf8E5M2> inout, %table: !kiln.tensor<4x?xi32> in, %i: index) incore {
  %t = tile.gather_rows %x[0, 8] rows(%table[1, %i]) pad(min) valid(%i, 16) : !tile.tile<8x16xf8E5M2>
  %v, %c = tile.sort_rows %t descending : !tile.tile<8x16xf8E5M2>, !tile.tile<8x16xi32>
  tile.scatter_rows %v, %x[%i, 8] rows(%table[2, 0])
  tile.scatter_rows %v, %x[0, 8] rows(%table[3, 0]) atomic(add)
})mlir")
                           .emit();
  EXPECT_TRUE(has(source,
                  "    x_tile = _from_f8(_gather_rows(x, (0, 8), (8, 16), table, (1, i), "
                  "pad=252, valid=(i, 16)), 'e5m2')\n"
                  "    values, columns = _sort_rows(x_tile, descending=True)\n"
                  "    _scatter_rows(_to_f8(values, 'e5m2'), x, (i, 8), table, (2, 0))\n"
                  "    _scatter_rows(values, x, (0, 8), table, (3, 0), add=lambda old, new: "
                  "_to_f8(_from_f8(old, 'e5m2') + new, 'e5m2'))\n"))
      << source;
}

TEST(TorchEmit, AllocationsKeepTheirNames) {
  std::string source = Module(R"mlir(
kiln.func @k(%x: !kiln.tensor<8x8xf32> inout) incore {
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>) orchestration {
  %plus1 = kiln.alloc() : !kiln.tensor<8x8xf32>
  kiln.submit @k(%plus1)
  %0 = kiln.alloc() : !kiln.tensor<8x8xf32>
  kiln.submit @k(%0)
})mlir")
                           .emit();
  EXPECT_TRUE(has(source, "    plus1 = _alloc((8, 8), torch.float32)\n    k(plus1)\n"
                          "    tensor = _alloc((8, 8), torch.float32)\n    k(tensor)\n"))
      << source;
}

TEST(TorchEmit, RolesWithoutAGroupCanBeRead) {
  Module roles(R"mlir(
kiln.func @vec(%x: !kiln.tensor<8x8xf32> in, %p: !tile.pipe<aiv -> aic, 8x8xf32>) role(aiv) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %p
}
kiln.func @cube(%y: !kiln.tensor<8x8xf32> out, %p: !tile.pipe<aiv -> aic, 8x8xf32>) role(aic) {
  %t = tile.pop %p : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
})mlir");
  std::string source = roles.emit();
  EXPECT_TRUE(has(source, "\ndef vec(x, p):\n")) << source;
  EXPECT_TRUE(has(source, "\ndef cube(y, p):\n")) << source;
  EXPECT_FALSE(has(source, "def run(")) << source;
}

TEST(TorchEmit, UnboundedSlotsAreSaid) {
  std::string source = Module(kPipes).emit({"", /*unboundedSlots=*/true});
  EXPECT_TRUE(has(source, "_Pipe(slots=None, producers=2)"));
  EXPECT_TRUE(has(source, "Slots. Not modelled here"));
}

TEST(TorchEmit, OneWayGroupsUsePlainHelpersOnlyWhenNobodyCanWait) {
  std::string fits = Module(withSlots(kOneWay, "2")).emit();
  EXPECT_FALSE(has(fits, "yield from _t")) << fits;
  EXPECT_TRUE(has(fits, "    _tpush_to_aic(p, x_tile, 0)\n"));
  EXPECT_LT(fits.find("('vec', _call_g(vec, "), fits.find("('cube', _call_g(cube, "))
      << "producers come first";

  std::string waits = Module(withSlots(kOneWay, "1")).emit();
  EXPECT_TRUE(has(waits, "yield from _tpush_to_aic_g(p, x_tile, 0)")) << waits;
  EXPECT_FALSE(has(waits, "_call_g"));
}

TEST(TorchEmit, SeveralPipesOneWayAreNumbered) {
  std::string text = kOneWay;
  text.replace(text.find("  %p = tile.pipe"), 0, "  %q = tile.pipe slots(1) : !p\n");
  std::string source = Module(withSlots(text, "2")).emit();
  EXPECT_TRUE(has(source, "_pipes['to_aic_0']") && has(source, "_pipes['to_aic_1']")) << source;
}

TEST(TorchEmit, NamesAreSafe) {
  Module module(R"mlir(
kiln.func @class(%a: !kiln.tensor<2x2xf32> in {kiln.name = "lambda"}, %b: !kiln.tensor<2x2xf32> in {kiln.name = "x"},
                 %c: !kiln.tensor<2x2xf32> out {kiln.name = "x"}, %d: f32 {kiln.name = "torch"},
                 %e: f32 {kiln.name = "_load"}, %f: f32 {kiln.name = "len"}, %g: f32 {kiln.name = "2 d"}, %0: f32,
                 %h: f32 {kiln.name = "class_"}) incore {
  %t = tile.load %b[0, 0] : !tile.tile<2x2xf32>
  tile.store %t, %c[0, 0]
}
)mlir");
  std::string source = module.emit();
  EXPECT_TRUE(
      has(source, "def class_(lambda_, x, x_1, torch_, v_load, len_, v2_d, arg7, class_1):"))
      << source;
  EXPECT_TRUE(
      has(source, "    x_tile = _load(x, (0, 0), (2, 2))\n    _store(x_tile, x_1, (0, 0))\n"))
      << source;
  EXPECT_FALSE(has(source, "def run(")) << "one function needs no wrapper";
  Expected<std::string> entry = torchEntryName(*module.Op);
  ASSERT_TRUE(entry.hasValue());
  EXPECT_EQ(*entry, "class_");
}

TEST(TorchEmit, RunNeverCallsItself) {
  constexpr const char *text = R"mlir(
kiln.func @run(%x: !kiln.tensor<2x2xf32> inout) orchestration { %t = kiln.submit @k(%x) }
kiln.func @k(%x: !kiln.tensor<2x2xf32> inout) incore {
  %t = tile.load %x[0, 0] : !tile.tile<2x2xf32>
  tile.store %t, %x[0, 0]
}
)mlir";
  Module module(text);
  std::string source = module.emit();
  EXPECT_EQ(count(source, "def run("), 1u) << source;
  EXPECT_TRUE(has(source, "def run(x):\n    \"\"\"Orchestration"));

  std::string other = module.emit({"k"});
  EXPECT_TRUE(has(other, "def run_1(x):")) << other;
  EXPECT_TRUE(has(other, "# Entry: k; other candidates: run_1\ndef run(x):\n    k(x)\n")) << other;
}

TEST(TorchEmit, OnlyUsedHelpersAreEmitted) {
  std::string source = Module(kPipes).emit();
  for (const char *unused : {"_wrap", "_F8", "_round", "_mask", "_read", "_slice"})
    EXPECT_FALSE(has(source, unused)) << unused;
  std::string plain = Module("kiln.func @k(%x: !kiln.tensor<2x2xf32> in) incore {\n"
                             "  %t = tile.load %x[0, 0] : !tile.tile<2x2xf32>\n}")
                          .emit();
  EXPECT_FALSE(has(plain, "_pipes") || has(plain, "_launch")) << plain;
}

TEST(TorchEmit, EmittingTwiceGivesTheSame) {
  EXPECT_EQ(Module(kPipes).emit(), Module(kPipes).emit());
}

TEST(TorchEmit, CheckShapesAsserts) {
  std::string source = Module(kPipes).emit({"", false, /*checkShapes=*/true});
  EXPECT_TRUE(has(source, "_check('x', x, torch.float32, (8, 8))"));
  EXPECT_TRUE(has(source, "_check('up_tile', up_tile, torch.float32, (8, 8))"));
}

TEST(TorchEmit, UnknownOpsAreNamedWithTheirPlace) {
  Module module("kiln.func @k(%x: f32, %o: !kiln.tensor<1xf32> out) incore {\n"
                "  %y = arith.maxnumf %x, %x : f32\n"
                "  kiln.write %y, %o[0]\n}");
  Expected<std::string> source = emitTorch(*module.Op);
  ASSERT_FALSE(source.hasValue());
  EXPECT_EQ(source.status().code(), StatusCode::Unsupported);
  EXPECT_TRUE(has(source.status().message(), "'arith.maxnumf'")) << source.status().message();
  EXPECT_EQ(source.status().location().line, 2);
}

TEST(TorchEmit, ProgramsReadAsWrittenBeforeAnyPass) {
  Module results("kiln.func @k(%x: !kiln.tensor<2xf32>) -> (!kiln.tensor<2xf32>) orchestration { "
                 "kiln.return %x }");
  EXPECT_TRUE(has(*emitTorch(*results.Op), "    return x\n"));
  Module incore(R"mlir(
kiln.func @m(%a: !kiln.tensor<2x2xf32>) orchestration {
  %t = kiln.incore "b" grid(3) {
    %x = tile.load %a[0, 0] : !tile.tile<2x2xf32>
    tile.store %x, %a[0, 0]
  }
}
)mlir");
  EXPECT_TRUE(has(*emitTorch(*incore.Op), "    def b():\n"
                                          "        a_tile = _load(a, (0, 0), (2, 2))\n"
                                          "        _store(a_tile, a, (0, 0))\n"
                                          "    _launch(b, (3,))\n"));
}

/// The rows of the table for which `fits` holds, each applied to what the one before made; the last
/// makes `result`. What nobody uses would not be emitted, and prove nothing.
std::string chainOfRows(const std::string &start, const std::string &result,
                        const std::string &type, bool (*fits)(const test::ElementwiseRow &)) {
  std::string text, last = start;
  for (const test::ElementwiseRow &row : test::kElementwise)
    if (fits(row)) {
      std::string name = "%of_" + row.name;
      text += "  " + name + " = tile." + row.name + " " + last +
              (row.operands == 2 ? ", " + start : "") + " : !tile.tile<8x8x" + type + ">\n";
      last = name;
    }
  return text + "  " + result + " = tile.max " + last + ", " + start + " : !tile.tile<8x8x" + type +
         ">\n";
}

// Every op of the two dialects has a place here; one that is added without a rule fails this test.
TEST(TorchEmit, EveryOpOfTheLanguageIsSupported) {
  std::string floats = chainOfRows("%start", "%floats", "f32",
                                   [](const test::ElementwiseRow &row) { return row.ofFloats; });
  std::string ints = chainOfRows("%top#1", "%ints", "i32",
                                 [](const test::ElementwiseRow &row) { return !row.ofFloats; });
  Module module(
      std::string(kPipes) + R"mlir(
kiln.func @every(%x: !kiln.tensor<?x8xf32> inout, %f: !kiln.tensor<4xi32> in, %n: index, %key: i64) incore {
  kiln.call @helper(%x)
  %z = arith.constant 1.5 : f32
  %full = tile.full %z : !tile.tile<8x8xf32>
  %iota = tile.iota axis(0) : !tile.tile<8x8xf32>
  %load = tile.load %x[%n, 0] pad(min) valid(%n, 4) : !tile.tile<8x8xf32>
  %move = tile.move %load : !tile.tile<8x8xf32, vec>
  %extract = tile.extract %load[0, %n] : !tile.tile<4x4xf32>
  %insert = tile.insert %extract, %full[0, 0] : !tile.tile<8x8xf32>
  %reshape = tile.reshape %load : !tile.tile<4x16xf32>
  %transpose = tile.transpose %load : !tile.tile<8x8xf32>
  %concat = tile.concat %load, %full axis(0) : !tile.tile<16x8xf32>
  %start = tile.mul %insert, %transpose : !tile.tile<8x8xf32>
)mlir" +
      floats +
      R"mlir(  %sorted:2 = tile.sort_rows %floats : !tile.tile<8x8xf32>, !tile.tile<8x8xi32>
  %top:2 = tile.topk_rows %sorted#0 : !tile.tile<8x8xf32>, !tile.tile<8x8xi32>
)mlir" +
      ints + R"mlir(  %gathered = tile.gather %top#0, %ints axis(1) : !tile.tile<8x8xf32>
  %random = tile.random key(%key) counter(%n) : !tile.tile<8x8xf32>
  %noise = tile.add %gathered, %random : !tile.tile<8x8xf32>
  %rows = tile.gather_rows %x[%n, 0] rows(%f[0]) pad(max) : !tile.tile<4x8xf32>
  tile.scatter_rows %rows, %x[0, 0] rows(%f[%n]) valid(%n, 8) atomic(add)
  tile.prefetch %x[%n, 0] shape(8, 8)
  tile.barrier
  %cmp = tile.cmp lt %noise, %z : !tile.tile<8x8xi1>
  %select = tile.select %cmp, %start, %z : !tile.tile<8x8xf32>
  %cast = tile.cast %select : !tile.tile<8x8xbf16>
  %back = tile.cast %cast : !tile.tile<8x8xf32>
  %scan = tile.scan sum %back axis(1) : !tile.tile<8x8xf32>
  %before = tile.scan min %scan axis(0) exclusive reverse : !tile.tile<8x8xf32>
  %running = tile.scan_with %before axis(0) start(%z) reverse {
  ^combine(%a: !tile.tile<1x8xf32>, %b: !tile.tile<1x8xf32>):
    %m = tile.max %a, %b : !tile.tile<1x8xf32>
    tile.yield %m
  } : !tile.tile<8x8xf32>
  %reduce = tile.reduce_with %running axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    %s = tile.add %a, %b : !tile.tile<8x1xf32>
    tile.yield %s
  } : !tile.tile<8x1xf32>
  %largest = tile.reduce max %scan axis(1) : !tile.tile<8x1xf32>
  tile.store %largest, %x[0, 0]
  %product = tile.matmul %back, %full : !tile.tile<8x8xf32>
  %acc = tile.matmul_acc %product, %full, %back trans_b : !tile.tile<8x8xf32>
  %begun = tile.matmul_start %full, %back onto %acc : !tile.tile<8x8xf32>
  %awaited = tile.await %begun : !tile.tile<8x8xf32>
  tile.store %awaited, %x[0, 0]
  %mask = tile.mask %acc valid(%n, 3) pad(max) : !tile.tile<8x8xf32>
  %diag = tile.mask_diag %mask offset(%n) : !tile.tile<8x8xf32>
  %block = tile.block_idx 0
  %blocks = tile.block_count 0
  %lane = tile.lane
  %element = tile.element %diag[%lane, 0] : f32
  %read = kiln.read %x[%block, 0] : f32
  %value = arith.addf %element, %read : f32
  kiln.write %value, %x[%blocks, 0]
  %sum = tile.add %diag, %reduce : !tile.tile<8x8xf32>
  tile.store %sum, %x[0, 0]
  tile.store %reshape, %x[0, 0]
  tile.store %concat, %x[0, 0] atomic(add)
  tile.store %move, %x[0, 0]
}
kiln.func @helper(%x: !kiln.tensor<?x8xf32> inout) incore { }
kiln.func @all(%x: !kiln.tensor<?x8xf32> inout, %f: !kiln.tensor<4xi32> in) orchestration {
  %n = kiln.dim %x, 0
  %alloc = kiln.alloc(%n) : !kiln.tensor<?x8xf32>
  %slice = kiln.slice %alloc[0, 0] [%n, 4] : !kiln.tensor<?x4xf32>
  %transpose = kiln.transpose %alloc, [1, 0] : !kiln.tensor<8x?xf32>
  %reshape = kiln.reshape %alloc[8, %n] : !kiln.tensor<8x?xf32>
  kiln.scope { %get = kiln.get %f[0] : i32 }
  kiln.dump %x
  %holds = arith.cmpi sge, %n, %n : index
  kiln.require %holds, "an extent is itself"
  %key = arith.constant 1 : i64
  %t = kiln.submit @every(%alloc, %f, %n, %key) grid(%n, 2) sync_start predicate(%f[0] > 1)
  %d = kiln.submit deps(%t)
  %me = kiln.rank
  %count = kiln.ranks along <all of all = ?>
  %other = kiln.alloc(%n) : !kiln.tensor<?x8xf32>
  %reduced = kiln.all_reduce %alloc, sum
  %gathered = kiln.all_gather %alloc to %other
  %scattered = kiln.reduce_scatter %other to %alloc, max
  %cast = kiln.broadcast %alloc from %me
  %exchanged = kiln.all_to_all %alloc to %other
  %sent = kiln.send %alloc to %count
  %received = kiln.recv %other from %count
  %met = kiln.rank_barrier
}
)mlir");
  ASSERT_TRUE(bool(module.Op));
  module.emit();
  llvm::StringSet<> seen;
  module.Op->walk([&](mlir::Operation *op) { seen.insert(op->getName().getStringRef()); });
  seen.insert("kiln.incore"); // outlined before any backend sees it
  for (const char *dialect : {"kiln", "tile"})
    for (mlir::RegisteredOperationName name :
         module.Context.getRegisteredOperationsByDialect(dialect))
      EXPECT_TRUE(seen.contains(name.getStringRef()))
          << name.getStringRef().str() << " is not in the test program";
}
