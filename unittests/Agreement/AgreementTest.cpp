//===- AgreementTest.cpp - simulator, native code and the reference compute the same -----===//
//
// Generated programs, one per op and element type, on values chosen to be nasty. All run the same
// IR; the results agree bit by bit, except where a function is not exact. So does a GPU where there
// is one, or one is emulated.
//
//===----------------------------------------------------------------------------===//
#include "ElementwiseTable.h"
#include "HopperRun.h"
#include "SavedCases.h"
#include "Simulator/TileOpTesting.h"
#include "Target/Llvm/LlvmTesting.h"
#include "Target/Torch/TorchTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

bool isInt(DType type) { return !isFloat(type) && type != DType::I1; }

std::vector<DType> typesFor(bool (*isFor)(DType)) {
  std::vector<DType> types;
  for (const DTypeInfo &info : dtypeTable)
    if (info.isElement && isFor(info.type))
      types.push_back(info.type);
  return types;
}

/// A tile of every pair of nasty values of a type: in %a they follow down the rows, in %b along the
/// columns.
struct Pairs {
  explicit Pairs(DType type) {
    std::vector<double> values;
    if (type == DType::I1) {
      values = {0, 1};
    } else if (isFloat(type)) {
      values = {0.0, -0.0, 1, -1, 2, -2, 3, 0.5, -7.5, 6, 96, -448, kInf, -kInf, kNaN, 0.015625};
    } else {
      double width = 8.0 * static_cast<double>(sizeOf(type)), top = std::ldexp(1.0, int(width) - 1);
      values = {0,     1,         -1,     2,   3,    -7,      10,      width - 1,
                width, width + 1, -width, 100, -top, 1 - top, top - 1, top - 2};
    }
    count = static_cast<int64_t>(values.size());
    std::vector<double> down, along;
    for (double row : values)
      for (double col : values) {
        down.push_back(row);
        along.push_back(col);
      }
    a = tensorOf(type, {count, count}, down);
    b = tensorOf(type, {count, count}, along);
  }
  int64_t count;
  Tensor a, b;
};

class Agreement : public TorchRun {
protected:
  /// Runs a kernel over %a and %b that makes %y, of `rows` x `cols`, in all ways.
  void compare(DType type, const std::string &body, DType resultType, int64_t rows, int64_t cols,
               double tolerance = 0) {
    SCOPED_TRACE(body + " on " + toString(type));
    Pairs pairs(type);
    std::string n = std::to_string(pairs.count), input = n + "x" + n + "x" + toString(type),
                result =
                    std::to_string(rows) + "x" + std::to_string(cols) + "x" + toString(resultType);
    std::string text = fill(R"mlir(
kiln.func @k(%ta: !kiln.tensor<INPUT> in, %tb: !kiln.tensor<INPUT> in, %out: !kiln.tensor<OUTPUT> out) incore {
  %a = tile.load %ta[0, 0] : !tile.tile<INPUT>
  %b = tile.load %tb[0, 0] : !tile.tile<INPUT>
  BODY
  tile.store %y, %out[0, 0]
})mlir",
                            {{"BODY", body},
                             {"INPUT", input},
                             {"OUTPUT", result},
                             {"SAME", "!tile.tile<" + input + ">"},
                             {"RESULT", "!tile.tile<" + result + ">"}});
    Tensor simulated = poisoned(resultType, {rows, cols}),
           native = poisoned(resultType, {rows, cols}),
           reference = poisoned(resultType, {rows, cols});
    Program program(text);
    EXPECT_OK(program.run("k", {pairs.a, pairs.b, simulated}));
    EXPECT_OK(
        compileAndRun(program.function("k"), std::vector<Argument>{pairs.a, pairs.b, native}));
    std::vector<TorchArgument> args = {pairs.a, pairs.b, reference};
    Status status = Worker->run(emit(text), "k", args);
    ASSERT_TRUE(status.isOk()) << status.str() << Worker->traceback();
    expectAgree("the simulator", simulated, reference, tolerance);
    expectAgree("native code", native, reference, tolerance);
    compareOnGpu(text, pairs, reference, tolerance);
    saveCase(body + " on " + toString(type), text, "k",
             {{pairs.a, pairs.a},
              {pairs.b, pairs.b},
              {poisoned(resultType, {rows, cols}), reference, 0, tolerance}});
  }

  void compareOnGpu(const std::string &text, const Pairs &pairs, const Tensor &reference,
                    double tolerance) {
    if (!hopperHere())
      return;
    Tensor computed = poisoned(reference.dtype(), reference.extents());
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context()));
    EXPECT_OK(runOnHopper(*module, "k", std::vector<Argument>{pairs.a, pairs.b, computed}));
    expectAgree("h200", computed, reference, tolerance);
  }

  void expectAgree(const std::string &who, const Tensor &computed, const Tensor &reference,
                   double tolerance) {
    std::vector<double> have = elementsOf(computed), want = elementsOf(reference);
    int64_t cols = computed.extent(computed.rank() - 1);
    for (size_t i = 0; i < have.size(); ++i) {
      bool isSame = have[i] == want[i] && std::signbit(have[i]) == std::signbit(want[i]);
      bool isNear = std::abs(have[i] - want[i]) <= tolerance * std::abs(want[i]);
      if (!isSame && !isNear && !(std::isnan(have[i]) && std::isnan(want[i])))
        FAIL() << "element " << i / cols << ", " << i % cols << ": " << who << " has " << have[i]
               << ", the reference " << want[i];
    }
  }

  void compareElementwise(const std::vector<DType> &types, const std::vector<std::string> &ops,
                          const std::string &operands, bool isExact = true) {
    for (DType type : types) {
      int64_t n = Pairs(type).count;
      for (const std::string &op : ops)
        compare(type, "%y = tile." + op + " " + operands + " : SAME", type, n, n,
                isExact ? 0 : spacing(type, 1e-6));
    }
  }
};

TEST_F(Agreement, Bits) {
  std::vector<DType> ints = typesFor(isInt), withBool = ints;
  withBool.push_back(DType::I1);
  compareElementwise(withBool, {"and", "or", "xor"}, "%a, %b");
  compareElementwise(withBool, {"not"}, "%a");
  compareElementwise(ints, {"shl", "shr"}, "%a, %b");
}

TEST_F(Agreement, ScalarOperands) {
  for (DType type : typesFor(isInt)) {
    int64_t n = Pairs(type).count;
    std::string element = toString(type);
    for (std::string op : {"and", "xor", "shl", "shr", "fmod"})
      for (std::string operands : {"%a, %s", "%s, %v"})
        compare(type,
                fill("%s = arith.constant 5 : TYPE\n %one = arith.constant 1 : TYPE\n"
                     "%v = tile.or %b, %one : SAME\n %y = tile." +
                         op + " " + operands + " : SAME",
                     {{"TYPE", element}}),
                type, n, n);
  }
}

TEST_F(Agreement, RemaindersAndPowers) {
  std::vector<DType> floats = typesFor(isFloat);
  compareElementwise(floats, {"fmod"}, "%a, %b");
  compareElementwise(floats, {"pow"}, "%a, %b", false);
  for (DType type : typesFor(isInt)) {
    int64_t n = Pairs(type).count;
    compare(type,
            fill("%one = arith.constant 1 : TYPE\n %v = tile.or %b, %one : SAME\n"
                 "%y = tile.fmod %a, %v : SAME",
                 {{"TYPE", toString(type)}}),
            type, n, n);
  }
}

TEST_F(Agreement, FunctionsOfTheTable) {
  for (const ElementwiseRow &row : kElementwise)
    if (row.isFloatFunction())
      compareElementwise(typesFor(isFloat), {row.name}, "%a", false);
}

TEST_F(Agreement, Scans) {
  for (DType type : typesFor([](DType) { return true; })) {
    int64_t n = Pairs(type).count;
    for (std::string kind : {"sum", "max", "min", "prod"})
      for (std::string operand : {"%a", "%b"})
        for (std::string how : {"axis(0)", "axis(1)", "axis(0) exclusive", "axis(1) reverse",
                                "axis(1) exclusive reverse"})
          compare(type, "%y = tile.scan " + kind + " " + operand + " " + how + " : SAME", type, n,
                  n, isFloat(type) ? spacing(type, 1e-6) : 0);
  }
}

TEST_F(Agreement, Reductions) {
  for (DType type : typesFor([](DType) { return true; })) {
    int64_t n = Pairs(type).count;
    for (std::string kind : {"sum", "max", "min", "prod"})
      for (int axis : {0, 1})
        compare(
            type, "%y = tile.reduce " + kind + " %a axis(" + std::to_string(axis) + ") : RESULT",
            type, axis == 0 ? 1 : n, axis == 0 ? n : 1, isFloat(type) ? spacing(type, 1e-6) : 0);
    for (std::string kind : {"argmax", "argmin"})
      for (int axis : {0, 1})
        compare(type,
                "%y = tile.reduce " + kind + " %a axis(" + std::to_string(axis) + ") : RESULT",
                DType::I32, axis == 0 ? 1 : n, axis == 0 ? n : 1);
  }
}

TEST_F(Agreement, Order) {
  for (DType type : typesFor([](DType) { return true; })) {
    int64_t n = Pairs(type).count, k = std::max<int64_t>(1, n / 2);
    std::string size = std::to_string(n) + "x", element = toString(type);
    for (std::string flag : {"", "descending"}) {
      std::string types = " : SAME, !tile.tile<" + size + std::to_string(n) + "xi32>";
      compare(type, "%y, %z = tile.sort_rows %b " + flag + types, type, n, n);
      compare(type, "%z, %y = tile.sort_rows %b " + flag + types, DType::I32, n, n);
    }
    std::string types = " : !tile.tile<" + size + std::to_string(k) + "x" + element +
                        ">, !tile.tile<" + size + std::to_string(k) + "xi32>";
    compare(type, "%y, %z = tile.topk_rows %b" + types, type, n, k);
    compare(type, "%z, %y = tile.topk_rows %b" + types, DType::I32, n, k);
  }
}

TEST_F(Agreement, Gathers) {
  for (DType type : typesFor([](DType) { return true; })) {
    int64_t n = Pairs(type).count;
    for (std::string wide : {"i32", "i64"})
      for (int axis : {0, 1})
        compare(type,
                fill("%i = tile.iota axis(AXIS) : !tile.tile<INDEX>\n"
                     "%last = arith.constant LAST : WIDE\n"
                     "%back = tile.sub %last, %i : !tile.tile<INDEX>\n"
                     "%y = tile.gather %b, %back axis(AXIS) : SAME",
                     {{"AXIS", std::to_string(axis)},
                      {"INDEX", std::to_string(n) + "x" + std::to_string(n) + "xWIDE"},
                      {"LAST", std::to_string(n - 1)},
                      {"WIDE", wide}}),
                type, n, n);
  }
}

TEST_F(Agreement, Random) {
  for (std::string key : {"0", "-1", "3003209128938088482", "4294967296"})
    for (std::string counter : {"0", "-2", "4294967295", "9223372036854775807"})
      for (DType type : {DType::I32, DType::F32})
        compare(DType::F32,
                "%k = arith.constant " + key + " : i64\n %n = arith.constant " + counter +
                    " : index\n %y = tile.random key(%k) counter(%n) : RESULT",
                type, 3, 7);
}

//===----------------------------------------------------------------------===//
// Whole programs
//===----------------------------------------------------------------------===//

/// A chain of ops that are exact, each on values made before; all of one type and square, so that
/// everything fits everything.
std::string randomChain(DType type, unsigned seed) {
  std::mt19937 generator(seed);
  auto pick = [&](const std::vector<std::string> &from) { return from[generator() % from.size()]; };
  std::vector<std::string> unary = {"neg", "abs", "transpose"}, binary = {"add", "sub", "mul"};
  if (isFloat(type)) {
    binary.insert(binary.end(), {"div", "fmod"});
  } else {
    unary.push_back("not");
    binary.insert(binary.end(), {"and", "or", "xor", "max", "min"});
  }
  if (isInt(type))
    binary.insert(binary.end(), {"shl", "shr"});
  std::string n = std::to_string(Pairs(type).count), square = "!tile.tile<" + n + "x" + n + "x",
              body;
  std::vector<std::string> values = {"%a", "%b"};
  for (int step = 0; step < 12; ++step) {
    std::string number = std::to_string(step), name = "%v" + number, x = pick(values),
                y = pick(values), line;
    switch (generator() % 6) {
    case 0:
      line = name + " = tile." + pick(unary) + " " + x + " : SAME";
      break;
    case 1:
      line = "%c" + number + " = tile.cmp " + pick({"eq", "ne", "lt", "le", "gt", "ge"}) + " " + x +
             ", " + y + " : " + square + "i1>\n" + name + " = tile.select %c" + number + ", " + x +
             ", " + pick(values) + " : SAME";
      break;
    case 2:
      line = name + ", %c" + number + " = tile.sort_rows " + x + pick({"", " descending"}) +
             " : SAME, " + square + "i32>";
      break;
    case 3: // the elements of one tile in the order of another
      line = "%s" + number + ", %c" + number + " = tile.topk_rows " + x + " : SAME, " + square +
             "i32>\n" + name + " = tile.gather " + y + ", %c" + number + " axis(" +
             pick({"0", "1"}) + ") : SAME";
      break;
    default:
      line = name + " = tile." + pick(binary) + " " + x + ", " + y + " : SAME";
    }
    body += line + "\n  ";
    values.push_back(name);
  }
  return body + "%y = tile.transpose " + values.back() + " : SAME";
}

TEST_F(Agreement, RandomPrograms) {
  for (DType type : typesFor([](DType) { return true; })) {
    int64_t n = Pairs(type).count;
    for (unsigned seed = 1; seed <= 25; ++seed)
      compare(type, randomChain(type, seed), type, n, n);
  }
}

//===----------------------------------------------------------------------===//
// Rows of tensors
//===----------------------------------------------------------------------===//

TEST_F(Agreement, RowsOfTensors) {
  const char *text = R"mlir(
kiln.func @k(%t: !kiln.tensor<2x6x4xTYPE> inout, %rows: !kiln.tensor<2x7xWIDE> in, %base: index, %col: index,
             %first: index, %m: index, %n: index, %x: !kiln.tensor<5x3xTYPE> in,
             %out: !kiln.tensor<5x3xTYPE> out) incore {
  %g = tile.gather_rows %t[1, %base, %col] rows(%rows[1, %first]) pad(PAD) valid(%m, %n) : !tile.tile<5x3xTYPE>
  tile.store %g, %out[0, 0]
  %v = tile.load %x[0, 0] : !tile.tile<5x3xTYPE>
  tile.scatter_rows %v, %t[0, %base, %col] rows(%rows[0, %first]) valid(%m, %n)
  tile.scatter_rows %v, %t[1, %base, %col] rows(%rows[1, %first]) atomic(add)
})mlir";
  struct Case {
    int64_t base, col, first, m, n;
  };
  const Case cases[] = {{0, 0, 0, 5, 3}, {2, 2, 0, 5, 3},   {-1, -2, 3, 5, 3}, {0, 1, -2, 4, 1},
                        {0, 0, 5, 9, 9}, {100, 0, 0, 5, 3}, {0, 0, 0, 0, 3},   {1, 3, 2, 5, 0}};
  for (DType type : typesFor([](DType) { return true; }))
    for (std::string pad : {"zero", "min", "max", "1.0"})
      for (const Case &one : cases) {
        DType wide = pad == "min" ? DType::I64 : DType::I32;
        SCOPED_TRACE(std::string(toString(type)) + " " + pad + " base " + std::to_string(one.base));
        std::string program =
            fill(text, {{"TYPE", toString(type)}, {"PAD", pad}, {"WIDE", toString(wide)}});
        std::vector<double> values(48), added(15);
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = type == DType::I1 ? i % 3 == 0 : static_cast<double>(i % 7) - 2;
        for (size_t i = 0; i < added.size(); ++i)
          added[i] = type == DType::I1 ? i % 2 : static_cast<double>(i % 5) + 1;
        Tensor rows = tensorOf(wide, {2, 7}, {4, 0, -1, 3, 9, 2, 1, 2, 2, 0, -1, 6, 5, 2}),
               x = tensorOf(type, {5, 3}, added);
        Tensor made[3], out[3];
        for (int way : {0, 1, 2}) {
          made[way] = tensorOf(type, {2, 6, 4}, values);
          out[way] = poisoned(type, {5, 3});
          std::vector<Argument> args = {
              made[way],    rows, index(one.base), index(one.col), index(one.first), index(one.m),
              index(one.n), x,    out[way]};
          if (way == 0) {
            EXPECT_OK(Program(program).run("k", args));
          } else if (way == 2) {
            Program parsed(program);
            EXPECT_OK(compileAndRun(parsed.function("k"), args));
          } else {
            Status status = Worker->run(emit(program), "k", args);
            ASSERT_TRUE(status.isOk()) << status.str() << Worker->traceback();
          }
        }
        for (int way : {0, 2}) {
          expectAgree(way == 0 ? "the simulator" : "native code", out[way], out[1], 0);
          expectAgree(way == 0 ? "the simulator" : "native code", made[way], made[1], 0);
        }
      }
}

/// Both ways fail, each with these words in its message.
TEST_F(Agreement, WhatIsAnErrorIsOneInBoth) {
  struct Case {
    const char *body, *simulator, *reference;
  };
  const Case cases[] = {
      {"%z = arith.constant 0 : i32\n %y = tile.fmod %x, %z : !tile.tile<2x2xi32>", "by zero",
       "ZeroDivisionError"},
      {"%y = tile.gather %x, %x axis(0) : !tile.tile<2x2xi32>", "outside the extent 2",
       "out of bounds"},
      {"%y = tile.neg %x : !tile.tile<2x2xi32>\n"
       "tile.scatter_rows %x, %out[0, 0] rows(%same[0])",
       "row number 1 occurs twice", "row number 1 occurs twice"},
  };
  for (const Case &test : cases) {
    std::string text = fill(R"mlir(
kiln.func @k(%t: !kiln.tensor<2x2xi32> in, %same: !kiln.tensor<2xi32> in, %out: !kiln.tensor<2x2xi32> out) incore {
  %x = tile.load %t[0, 0] : !tile.tile<2x2xi32>
  BODY
  tile.store %y, %out[0, 0]
})mlir",
                            {{"BODY", test.body}});
    std::vector<Argument> args = {tensorOf(DType::I32, {2, 2}, {0, 1, 2, -1}),
                                  tensorOf(DType::I32, {2}, {1, 1}), poisoned(DType::I32, {2, 2})};
    expectError(Program(text).run("k", args), StatusCode::KernelFailed, {test.simulator});
    Status status = Worker->run(emit(text), "k", args);
    EXPECT_TRUE(has(status.message(), test.reference)) << status.str();
  }
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

TEST_F(Agreement, ScalarShifts) {
  for (std::string type : {"i8", "i16", "i32", "i64"})
    for (std::string op : {"shli", "shrsi", "shrui"})
      for (double value : {1.0, -1.0, 100.0, -128.0})
        for (double count : {0.0, 1.0, 7.0, 8.0, 31.0, 32.0, 63.0, 64.0, 127.0, -1.0, -128.0}) {
          DType dtype = *parseDType(type);
          std::string text =
              fill("kiln.func @k(%a: TYPE, %b: TYPE, %out: !kiln.tensor<1xTYPE> out) "
                   "incore {\n  %y = arith.OP %a, %b : TYPE\n"
                   "  kiln.write %y, %out[0]\n}",
                   {{"TYPE", type}, {"OP", op}});
          SCOPED_TRACE(text);
          Tensor simulated = poisoned(dtype, {1}), native = poisoned(dtype, {1}),
                 reference = poisoned(dtype, {1});
          Argument a = ScalarBits::fromDouble(dtype, value),
                   b = ScalarBits::fromDouble(dtype, count);
          Program program(text);
          EXPECT_OK(program.run("k", {a, b, simulated}));
          EXPECT_OK(compileAndRun(program.function("k"), std::vector<Argument>{a, b, native}));
          std::vector<TorchArgument> args = {a, b, reference};
          EXPECT_OK(Worker->run(emit(text), "k", args));
          expectAgree("the simulator", simulated, reference, 0);
          expectAgree("native code", native, reference, 0);
        }
}

} // namespace
