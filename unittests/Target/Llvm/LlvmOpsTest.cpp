// Every op with every element type: whatever the verifier accepts, the cpu backend compiles, and it
// computes what the simulator computes.
#include "ElementwiseTable.h"
#include "LlvmTesting.h"
#include "Simulator/TileOpTesting.h"

#include "llvm/ADT/StringSet.h"

using namespace kiln;
using namespace kiln::test;

namespace {

/// One op over tiles %a and %b of 6x6xTYPE; makes %y, of `rows` x `cols` elements of `type`.
struct OpCase {
  std::string body;
  std::string type = "TYPE";
  int64_t rows = 6, cols = 6;
  bool isExact = true;
};

std::vector<OpCase> opCases() {
  std::vector<OpCase> cases = {
      {"%y = tile.full %s : RESULT"},
      {"%y = tile.iota axis(1) : RESULT"},
      {"%y = tile.load %ta[1, 2] pad(min) valid(4, %n) : RESULT"},
      {"%y = tile.load %ta[-2, 4] pad(1.0) : RESULT"},
      {"%y = tile.move %a : RESULT"},
      {"%y = tile.extract %a[1, %n] : RESULT", "TYPE", 3, 2},
      {"%box = tile.extract %b[0, 0] : !tile.tile<3x2xTYPE>\n"
       "%y = tile.insert %box, %a[1, %n] : RESULT"},
      {"%y = tile.reshape %a : RESULT", "TYPE", 4, 9},
      {"%y = tile.transpose %a : RESULT"},
      {"%y = tile.reduce_with %a axis(0) start(%s) {\n"
       "^combine(%l: !tile.tile<1x6xTYPE>, %r: !tile.tile<1x6xTYPE>):\n"
       "  %m = tile.min %l, %r : !tile.tile<1x6xTYPE>\n  tile.yield %m\n} : RESULT",
       "TYPE", 1, 6},
      {"%i = tile.iota axis(1) : !tile.tile<6x6xi32>\n%none = arith.constant -1 : i32\n"
       "%best, %y = tile.scan_with %a, %i axis(1) start(%s, %none) exclusive reverse {\n"
       "^combine(%l: !tile.tile<6x1xTYPE>, %li: !tile.tile<6x1xi32>, %r: !tile.tile<6x1xTYPE>,\n"
       "         %ri: !tile.tile<6x1xi32>):\n"
       "  %c = tile.cmp lt %l, %r : !tile.tile<6x1xi1>\n"
       "  %v = tile.select %c, %r, %l : !tile.tile<6x1xTYPE>\n"
       "  %w = tile.select %c, %ri, %li : !tile.tile<6x1xi32>\n"
       "  tile.yield %v, %w\n} : !tile.tile<6x6xTYPE>, RESULT",
       "i32"},
      {"%y = tile.concat %a, %b axis(0) : RESULT", "TYPE", 12, 6},
      {"%y = tile.concat %a, %b axis(1) : RESULT", "TYPE", 6, 12},
      {"%c = tile.cmp lt %a, %b : !tile.tile<6x6xi1>\n%y = tile.select %c, %a, %s : RESULT"},
      {"%y = tile.mask %a valid(4, %n) pad(max) : RESULT"},
      {"%y = tile.mask_diag %a offset(%n) pad(min) : RESULT"},
      {"%y = tile.matmul %a, %b trans_b : RESULT", "f32", 6, 6, false},
      {"%y = tile.matmul %a, %b trans_a : RESULT", "i32"},
      {"%z = arith.constant 2.0 : f32\n%acc = tile.full %z : RESULT\n"
       "%y = tile.matmul_acc %acc, %a, %b : RESULT",
       "f32", 6, 6, false},
      {"%z = arith.constant 2 : i32\n%acc = tile.full %z : RESULT\n"
       "%y = tile.matmul_acc %acc, %a, %b : RESULT",
       "i32"},
      {"%begun = tile.matmul_start %a, %b trans_b : RESULT\n%y = tile.await %begun : RESULT", "f32",
       6, 6, false},
      {"%z = arith.constant 2 : i32\n%acc = tile.full %z : RESULT\n"
       "%begun = tile.matmul_start %a, %b onto %acc : RESULT\n%y = tile.await %begun : RESULT",
       "i32"},
      {"%e = tile.element %a[%n, 1] : TYPE\n%y = tile.full %e : RESULT"},
      {"%e = kiln.read %ta[%n, 1] : TYPE\n%y = tile.full %e : RESULT"},
      {"kiln.write %s, %scratch[0, %n]\n%y = tile.load %scratch[0, 0] : RESULT", "TYPE", 1, 6},
      {"%y, %order = tile.sort_rows %a descending : RESULT, !tile.tile<6x6xi32>"},
      {"%top, %y = tile.topk_rows %a : !tile.tile<6x3xTYPE>, RESULT", "i32", 6, 3},
      {"%i = tile.iota axis(0) : !tile.tile<6x6xi64>\n%y = tile.gather %a, %i axis(1) : RESULT"},
      {"%y = tile.gather_rows %ta[0, 1] rows(%rows[0]) pad(max) : RESULT", "TYPE", 4, 5},
      {"tile.scatter_rows %a, %scratch[0, 0] rows(%wide[0])\n"
       "%y = tile.load %scratch[0, 0] : RESULT"},
      {"tile.store %b, %scratch[0, 0] atomic(add)\n%y = tile.load %scratch[0, 0] : RESULT"},
      {"%v = kiln.slice %ta[1, %n] [2, 3] : !kiln.tensor<2x3xTYPE>\n"
       "%w = kiln.transpose %v, [1, 0] : !kiln.tensor<3x2xTYPE>\n"
       "%y = tile.load %w[0, 0] : RESULT",
       "TYPE", 3, 2},
      {"%v = kiln.reshape %ta[4, 9] : !kiln.tensor<4x9xTYPE>\n%y = tile.load %v[0, 0] : RESULT",
       "TYPE", 4, 9},
      {"%m = kiln.alloc(%n) : !kiln.tensor<?x6xTYPE>\ntile.store %a, %m[0, 0]\n"
       "%y = tile.load %m[0, 0] pad(zero) : RESULT"},
      {"%m = kiln.alloc() : !kiln.tensor<6x6xTYPE>\ntile.store %a, %m[0, 0]\n"
       "%y = tile.load %m[0, 0] : RESULT"},
      {"tile.prefetch %ta[0, 0] shape(6, 6)\n tile.barrier\n %y = tile.transpose %b : RESULT"},
      {"%k = arith.constant 7 : i64\n %y = tile.random key(%k) counter(%n) : RESULT"},
      {"%c = arith.cmpi slt, %n, %n : index\n%y = arith.select %c, %a, %b : RESULT"},
  };
  for (const ElementwiseRow &row : kElementwise) {
    // Functions of floats may differ in the last bit, but for those that IEEE 754 defines.
    const llvm::StringSet<> defined = {"sqrt", "recip", "floor", "ceil", "round", "trunc"};
    bool isExact = row.ofInts || defined.contains(row.name);
    std::vector<const char *> operands = {"%a, %b", "%a, %s", "%row, %col"};
    if (row.operands == 1)
      operands = {"%a"};
    for (const char *list : operands)
      cases.push_back({"%y = tile." + row.name + " " + list + " : RESULT", "TYPE", 6, 6, isExact});
  }
  for (const char *how : {"eq", "ne", "lt", "le", "gt", "ge"})
    cases.push_back({std::string("%y = tile.cmp ") + how + " %a, %b : RESULT", "i1"});
  for (const char *kind : {"sum", "max", "min", "prod", "argmax", "argmin"})
    for (int axis : {0, 1})
      cases.push_back({std::string("%y = tile.reduce ") + kind + " %a axis(" +
                           std::to_string(axis) + ") : RESULT",
                       kind[0] == 'a' ? "i32" : "TYPE", axis == 0 ? 1 : 6, axis == 0 ? 6 : 1,
                       false});
  for (const char *kind : {"sum", "max", "min", "prod"})
    for (const char *how : {"axis(0)", "axis(1)", "axis(0) exclusive", "axis(1) reverse",
                            "axis(1) exclusive reverse"})
      cases.push_back({std::string("%y = tile.scan ") + kind + " %a " + how + " : RESULT"});
  for (const DTypeInfo &info : dtypeTable)
    if (info.isElement)
      cases.push_back({"%y = tile.cast %a : RESULT", toString(info.type)});
  return cases;
}

std::string programOf(const OpCase &test, DType type) {
  std::string element = toString(type), result = std::to_string(test.rows) + "x" +
                                                 std::to_string(test.cols) + "x" +
                                                 (test.type == "TYPE" ? element : test.type);
  // Only what the case needs: compiling is what takes time here.
  auto uses = [&](const char *name) { return test.body.find(name) != std::string::npos; };
  std::string setup;
  if (uses("%a") || uses("%row"))
    setup += "  %a = tile.load %ta[0, 0] : !tile.tile<6x6xTYPE>\n";
  if (uses("%b") || uses("%col"))
    setup += "  %b = tile.load %tb[0, 0] : !tile.tile<6x6xTYPE>\n";
  if (uses("%s"))
    setup += type == DType::I1 ? "  %s = arith.constant true\n"
                               : "  %s = arith.constant SCALAR : TYPE\n";
  if (uses("%col"))
    setup += "  %col = tile.extract %b[0, 1] : !tile.tile<6x1xTYPE>\n";
  if (uses("%row,"))
    setup += "  %row = tile.extract %a[1, 0] : !tile.tile<1x6xTYPE>\n";
  return fill(R"mlir(
kiln.func @k(%ta: !kiln.tensor<6x6xTYPE> in, %tb: !kiln.tensor<6x6xTYPE> in, %rows: !kiln.tensor<4xi32> in,
             %wide: !kiln.tensor<6xi64> in, %scratch: !kiln.tensor<6x6xTYPE> inout, %out: !kiln.tensor<OUTPUT> out,
             %n: index) incore {
SETUP  BODY
  tile.store %y, %out[0, 0]
})mlir",
              {{"SETUP", setup},
               {"BODY", test.body},
               {"RESULT", "!tile.tile<OUTPUT>"},
               {"OUTPUT", result},
               {"SCALAR", isFloat(type) ? "2.0" : "2"},
               {"TYPE", element}});
}

/// Small numbers, none of them 0: all ops are defined on them. Of booleans an even seed makes ones.
Tensor operand(DType type, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> elements(36);
  for (double &element : elements) {
    unsigned number = generator() % 6 + 1;
    if (type == DType::I1)
      element = seed % 2 == 0 || number % 2 == 0;
    else
      element = isFloat(type) ? number / 2.0 : number;
  }
  return tensorOf(type, {6, 6}, elements);
}

mlir::OwningOpRef<mlir::ModuleOp> parseIfLegal(const std::string &text) {
  mlir::ScopedDiagnosticHandler quiet(&context(), [](mlir::Diagnostic &) {});
  mlir::ParserConfig config(&context());
  return mlir::parseSourceString<mlir::ModuleOp>(text, config, "test.mlir");
}

/// Runs a case in both ways; false if the language has no such op for this type.
bool agree(const OpCase &test, DType type) {
  std::string text = programOf(test, type);
  auto module = parseIfLegal(text);
  if (!module)
    return false;
  auto entry = module->lookupSymbol<ir::FuncOp>("k");
  DType result = test.type == "TYPE" ? type : *parseDType(test.type);
  Tensor out[2];
  for (int way : {0, 1}) {
    out[way] = poisoned(result, {test.rows, test.cols});
    std::vector<Argument> args = {operand(type, 1),
                                  operand(type, 2),
                                  tensorOf(DType::I32, {4}, {3, 0, 5, 2}),
                                  tensorOf(DType::I64, {6}, {3, 0, 5, 2, 4, 1}),
                                  operand(type, 3),
                                  out[way],
                                  index(2)};
    Status status = way == 0 ? simulate(*module, entry, args) : compileAndRun(entry, args);
    EXPECT_TRUE(status.isOk()) << status.str() << text;
  }
  std::vector<double> have = elementsOf(out[1]), want = elementsOf(out[0]);
  double tolerance = test.isExact ? 0 : spacing(result, 2e-6);
  for (size_t i = 0; i < have.size(); ++i)
    if (!(std::abs(have[i] - want[i]) <= tolerance * std::abs(want[i])) && have[i] != want[i]) {
      ADD_FAILURE() << "element " << i << ": native code has " << have[i] << ", the simulator "
                    << want[i] << text;
      break;
    }
  return true;
}

TEST(LlvmOps, WhatTheVerifierAcceptsForAnElementTypeIsCompiledAndRight) {
  std::vector<OpCase> cases = opCases();
  std::string legal;
  for (const OpCase &test : cases) {
    unsigned types = 0;
    for (const DTypeInfo &info : dtypeTable)
      types += info.isElement && agree(test, info.type);
    EXPECT_GT(types, 0u) << "no element type is legal for: " << test.body;
    legal += types > 0 ? test.body + "\n" : "";
  }
  // Those that need a group, an orchestration or a grid are tested elsewhere.
  const llvm::StringSet<> elsewhere = {"tile.pipe",       "tile.push", "tile.pop",
                                       "tile.free",       "tile.lane", "tile.block_idx",
                                       "tile.block_count"};
  for (mlir::RegisteredOperationName op : context().getRegisteredOperations())
    if (op.getDialectNamespace() == "tile" && !elsewhere.contains(op.getStringRef())) {
      bool isLoadOrStore = op.getStringRef() == "tile.load" || op.getStringRef() == "tile.store";
      EXPECT_TRUE(isLoadOrStore || legal.find(op.getStringRef().str()) != legal.npos)
          << "no case for " << op.getStringRef().str();
    }
}

} // namespace
