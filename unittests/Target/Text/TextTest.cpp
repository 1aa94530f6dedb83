// Names, literals and lines of emitted text.
#include "kiln/Target/Text/Lines.h"
#include "kiln/Target/Text/Literals.h"
#include "kiln/Target/Text/Names.h"

#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

#include <cmath>

namespace kiln::text {
namespace {

TEST(TextNames, CppNamesAreSpeltWithoutWhatIsReserved) {
  EXPECT_EQ(cppIdentifier("a.b"), "a_b");
  EXPECT_EQ(cppIdentifier("__a--b__"), "a_b");
  EXPECT_EQ(cppIdentifier("2d"), "v2d");
  EXPECT_EQ(cppIdentifier("..."), "value");
  NameRules rules = NameRules::cpp("task rt");
  NameScope names(rules);
  EXPECT_EQ(names.unique("new"), "new_1");
  EXPECT_EQ(names.unique("task"), "task_1");
  EXPECT_EQ(names.unique("x"), "x");
  EXPECT_EQ(names.unique("x"), "x_1");
}

TEST(TextNames, AReservedNameMayGetAPrefix) {
  NameRules rules = NameRules::cpp("", "v_");
  NameScope names(rules);
  names.reserve("maps");
  EXPECT_EQ(names.unique("new"), "v_new");
  EXPECT_EQ(names.unique("maps"), "maps_1");
}

TEST(TextNames, PythonNamesNeverStartWithAnUnderscore) {
  NameRules rules = NameRules::python("torch");
  NameScope file(rules), function(rules, &file);
  EXPECT_EQ(file.unique("lambda"), "lambda_");
  EXPECT_EQ(file.unique("lambda"), "lambda_1");
  EXPECT_EQ(file.unique("torch"), "torch_");
  EXPECT_EQ(file.unique("_x"), "v_x");
  EXPECT_EQ(file.unique("x_"), "x");
  EXPECT_EQ(file.unique(""), "value");
  EXPECT_EQ(function.unique("x"), "x_1");
  EXPECT_TRUE(function.holds("x_1"));
  EXPECT_FALSE(function.holds("x"));
}

TEST(TextLiterals, StringsAreReadBackAsTheyWere) {
  EXPECT_EQ(cppString("a\"b\\\n1"), "\"a\\\"b\\\\\\0121\"");
  EXPECT_EQ(pythonString("a\"b\n"), "\"a\\\"b\\n\"");
}

TEST(TextLiterals, FloatsLookLikeFloats) {
  EXPECT_EQ(cppFloat(1), "1.0f");
  EXPECT_EQ(cppFloat(0.1f), "0.100000001f");
  EXPECT_EQ(cppFloat(1e30f), "1.00000002e+30f");
  EXPECT_EQ(shortestFloat(2, false), "2.0");
  EXPECT_EQ(shortestFloat(double(0.1f), true), "0.1");
  EXPECT_EQ(shortestFloat(double(0.1f), false), "0.10000000149011612");
}

TEST(TextLiterals, ConstantsWithoutALiteralAreSpelledByTheLibrary) {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  CppNumbers numbers{"LEAST", "NAN", "INF"};
  EXPECT_EQ(cppNumber(b.getBoolAttr(true), numbers), "true");
  EXPECT_EQ(cppNumber(b.getI64IntegerAttr(-5), numbers), "-5");
  EXPECT_EQ(cppNumber(b.getI64IntegerAttr(INT64_MIN), numbers), "LEAST");
  EXPECT_EQ(cppNumber(b.getF32FloatAttr(0.5), numbers), "0.5f");
  EXPECT_EQ(cppNumber(b.getF32FloatAttr(NAN), numbers), "NAN");
  EXPECT_EQ(cppNumber(b.getFloatAttr(b.getBF16Type(), -INFINITY), numbers), "-INF");
  EXPECT_EQ(cppShape("float", 8, 64), "<float, 8, 64>");
}

TEST(TextLines, LevelsStandDeeper) {
  Lines lines(4);
  lines.line("a:");
  EXPECT_TRUE(lines.indented([&] {
    lines.line("b");
    EXPECT_EQ(lines.depth(), 1u);
    EXPECT_FALSE(lines.indented([] {}));
  }));
  lines.blank();
  lines.line("c");
  EXPECT_EQ(lines.take(), "a:\n    b\n\nc\n");
  EXPECT_EQ(lines.text(), "");
}

} // namespace
} // namespace kiln::text
