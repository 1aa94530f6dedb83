// Sums of symbols, and what index values are as such sums.
#include "Simulator/SimulatorTesting.h"

#include "kiln/Program/IndexForm.h"

namespace kiln {
namespace {

using Sum = Affine<unsigned>;

TEST(Affine, SumsMergeSymbolsAndDropWhatCancels) {
  Sum x = Sum::of(2), y = Sum::of(1);
  Sum sum = x * 3 + y - x + 5;
  EXPECT_EQ(sum.constant(), 5);
  EXPECT_EQ(sum.coefficient(2), 2);
  EXPECT_EQ(sum.coefficient(1), 1);
  EXPECT_EQ(sum.coefficient(7), 0);
  EXPECT_TRUE((sum - sum).isConstant());
  EXPECT_EQ(sum - sum, Sum(0));
  EXPECT_TRUE((sum * 0).isConstant());
}

TEST(Affine, TermsOfOrderedSymbolsAreSorted) {
  Sum sum = Sum::of(9) + Sum::of(3) + Sum::of(5);
  std::vector<unsigned> symbols;
  for (auto [symbol, factor] : sum.terms())
    symbols.push_back(symbol);
  EXPECT_EQ(symbols, (std::vector<unsigned>{3, 5, 9}));
  EXPECT_EQ(sum, Sum::of(5) + Sum::of(9) + Sum::of(3));
  EXPECT_LT(Sum(1) + Sum::of(3), Sum(2) + Sum::of(3));
}

TEST(Affine, ASymbolAloneIsOne) {
  EXPECT_EQ(Sum::of(4).asSymbol(), 4u);
  EXPECT_FALSE((Sum::of(4) * 2).asSymbol());
  EXPECT_FALSE((Sum::of(4) + 1).asSymbol());
  EXPECT_FALSE(Sum(4).asSymbol());
}

TEST(Affine, ArithmeticWrapsAndIsSmallTellsBefore) {
  Sum large = Sum::of(1) * INT64_MAX + INT64_MAX;
  EXPECT_EQ((large + 1).constant(), INT64_MIN);
  EXPECT_FALSE(large.isSmall());
  int64_t most = (int64_t{1} << 40) - 1;
  EXPECT_TRUE((Sum::of(1) * most - most).isSmall());
  EXPECT_FALSE((Sum::of(1) * most + Sum::of(1)).isSmall());
  EXPECT_FALSE(Sum(-most - 1).isSmall());
}

/// The forms of what a kernel writes, one for each `kiln.write`.
class Forms {
public:
  explicit Forms(const std::string &body)
      : Kernel("kiln.func @k(%e: !kiln.tensor<?xf32>, %n: index, %m: i32, %b: i1) incore {\n"
               "  %zero = arith.constant 0.0 : f32\n"
               "  %c0 = arith.constant 0 : index\n  %c2 = arith.constant 2 : index\n"
               "  %c7 = arith.constant 7 : index\n  %c16 = arith.constant 16 : index\n"
               "  %c96 = arith.constant 96 : index\n" +
               body + "\n}\n") {}

  mlir::Value argument(unsigned number) { return Kernel.function("k").getArgument(number); }
  mlir::Value written(unsigned number = 0) {
    std::vector<mlir::Value> indices;
    Kernel.function("k").walk([&](ir::WriteOp op) { indices.push_back(op.getIndices()[0]); });
    return indices.at(number);
  }

private:
  test::Program Kernel;
};

TEST(IndexForm, SumsDifferencesAndMultiplesAreLookedInto) {
  Forms forms("%a = arith.muli %n, %c16 : index\n %s = arith.subi %c7, %a : index\n"
              "%t = arith.addi %s, %n : index\n kiln.write %zero, %e[%t]");
  IndexForm form = formOf(forms.written());
  EXPECT_EQ(form.sum, Affine<mlir::Value>::of(forms.argument(1)) * -15 + 7);
  EXPECT_EQ(form.stride, 0);
  EXPECT_EQ(form.reach, 0);
}

TEST(IndexForm, LoopsReachAsFarAsTheirLastIteration) {
  Forms forms("scf.for %i = %c7 to %c96 step %c16 {\n  %x = arith.addi %n, %i : index\n"
              "  kiln.write %zero, %e[%x]\n  %y = arith.subi %n, %i : index\n"
              "  kiln.write %zero, %e[%y]\n}");
  // 7, 23, ..., 87.
  IndexForm up = formOf(forms.written(0));
  EXPECT_EQ(up.sum, Affine<mlir::Value>::of(forms.argument(1)) + 7);
  EXPECT_EQ(up.stride, 16);
  EXPECT_EQ(up.reach, 80);
  IndexForm down = formOf(forms.written(1));
  EXPECT_EQ(down.sum, Affine<mlir::Value>::of(forms.argument(1)) - 87);
  EXPECT_EQ(down.stride, 16);
  EXPECT_EQ(down.reach, 80);
}

TEST(IndexForm, LoopsOfUnknownLengthHaveAStrideAndNoReach) {
  Forms forms("scf.for %i = %c7 to %n step %c16 {\n  %x = arith.muli %i, %c2 : index\n"
              "  kiln.write %zero, %e[%x]\n}");
  IndexForm form = formOf(forms.written());
  EXPECT_EQ(form.sum, Affine<mlir::Value>(14));
  EXPECT_EQ(form.stride, 32);
  EXPECT_FALSE(form.reach);
}

TEST(IndexForm, NarrowArithmeticAndBoolsAreSymbols) {
  Forms forms("%s = arith.addi %m, %m : i32\n %x = arith.index_cast %s : i32 to index\n"
              "kiln.write %zero, %e[%x]\n %y = arith.index_cast %b : i1 to index\n"
              "kiln.write %zero, %e[%y]\n %z = arith.index_cast %m : i32 to index\n"
              "kiln.write %zero, %e[%z]");
  mlir::Value narrow = forms.written(0).getDefiningOp()->getOperand(0);
  EXPECT_EQ(formOf(forms.written(0)).sum, Affine<mlir::Value>::of(narrow));
  EXPECT_EQ(formOf(forms.written(1)).sum, Affine<mlir::Value>::of(forms.written(1)));
  EXPECT_EQ(formOf(forms.written(2)).sum, Affine<mlir::Value>::of(forms.argument(2)));
}

TEST(IndexForm, WhatTheCallerNamesIsASymbol) {
  Forms forms("%s = arith.addi %n, %c7 : index\n %t = arith.addi %s, %c2 : index\n"
              "kiln.write %zero, %e[%t]");
  mlir::Value inner = forms.written().getDefiningOp()->getOperand(0);
  IndexForm form = formOf(forms.written(), [&](mlir::Value value) { return value == inner; });
  EXPECT_EQ(form.sum, Affine<mlir::Value>::of(inner) + 2);
}

TEST(IndexForm, NumbersThatMayWrapAreUnknown) {
  Forms forms("%huge = arith.constant 1099511627776 : index\n"
              "%x = arith.addi %n, %huge : index\n kiln.write %zero, %e[%x]\n"
              "%y = arith.muli %n, %huge : index\n kiln.write %zero, %e[%y]");
  for (unsigned number : {0, 1}) {
    IndexForm form = formOf(forms.written(number));
    EXPECT_EQ(form.stride, 1) << number;
    EXPECT_FALSE(form.reach) << number;
  }
}

TEST(IndexForm, SumsThatShareOperandsEndInTime) {
  std::string body = "%s0 = arith.addi %n, %n : index\n";
  for (int i = 0; i < 60; ++i)
    body += "%s" + std::to_string(i + 1) + " = arith.addi %s" + std::to_string(i) + ", %s" +
            std::to_string(i) + " : index\n";
  Forms forms(body + "kiln.write %zero, %e[%s60]");
  EXPECT_FALSE(formOf(forms.written()).sum.isConstant());
}

} // namespace
} // namespace kiln
