//===- CompareTest.cpp - what counts as equal ----------------------------------------===//
#include "kiln/runtime/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

using namespace kiln;

namespace {

Tensor pair(DType type, double first, double second) {
  Tensor result = *Tensor::empty(type, {1, 2});
  EXPECT_TRUE(result.set({0, 0}, first).isOk() && result.set({0, 1}, second).isOk());
  return result;
}

bool isEqual(double have, double want, bool nanIsEqual = false) {
  return compareFloats(pair(DType::F32, 1, have), pair(DType::F32, 1, want), 1e-5, 1e-6, nanIsEqual)
      .ok;
}

TEST(Compare, Tolerance) {
  EXPECT_TRUE(isEqual(1.000001, 1));
  EXPECT_FALSE(isEqual(1.0001, 1));
  EXPECT_TRUE(isEqual(5e-7, 0));
  EXPECT_FALSE(isEqual(5e-6, 0));
}

TEST(Compare, InfinityEqualsOnlyItself) {
  double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(isEqual(inf, inf));
  EXPECT_FALSE(isEqual(-inf, inf));
  EXPECT_FALSE(isEqual(1, inf));
  EXPECT_FALSE(isEqual(inf, 1));
}

TEST(Compare, NanPassesOnlyWhereItMay) {
  EXPECT_FALSE(isEqual(NAN, NAN));
  EXPECT_TRUE(isEqual(NAN, NAN, true));
  EXPECT_FALSE(isEqual(NAN, 1, true));
  EXPECT_FALSE(isEqual(1, NAN, true));
  EXPECT_FALSE(isEqual(NAN, INFINITY, true));
}

TEST(Compare, WorstElementIsNamed) {
  Tensor have = *Tensor::empty(DType::F32, {2, 3}), want = *Tensor::empty(DType::F32, {2, 3});
  ASSERT_TRUE(have.fillZero().isOk() && want.fillZero().isOk() && have.set({1, 2}, 7).isOk());
  Difference difference = compareFloats(have, want, 0, 0);
  EXPECT_FALSE(difference.ok);
  EXPECT_EQ(difference.where(), "[1, 2] is 7, expected 0");
  EXPECT_EQ(difference.largest, 7);
}

/// Elements are converted many at a time; each is compared nevertheless, whatever stands around it.
TEST(Compare, EachElementOfEveryFloatTypeCounts) {
  constexpr int64_t count = 1200;
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2}) {
    Tensor have = *Tensor::empty(type, {count}), want = *Tensor::empty(type, {count});
    ASSERT_TRUE(have.fillZero().isOk() && want.fillZero().isOk());
    for (int64_t at : {0, 1, 511, 512, 513, 1023, 1024, 1199}) {
      for (double value : {-3.5, double(NAN)}) {
        ASSERT_TRUE(have.set({at}, value).isOk());
        Difference difference = compareWithReference(have, want);
        EXPECT_FALSE(difference.ok);
        EXPECT_EQ(difference.element, "[" + std::to_string(at) + "]") << toString(type);
        EXPECT_EQ(difference.want, "0");
      }
      ASSERT_TRUE(want.set({at}, NAN).isOk());
      EXPECT_EQ(compareWithReference(have, want).nanInBoth, 1u) << toString(type);
      ASSERT_TRUE(have.set({at}, 0).isOk() && want.set({at}, 0).isOk());
    }
    Difference same = compareWithReference(have, want);
    EXPECT_TRUE(same.ok);
    EXPECT_EQ(same.largest, 0);
  }
}

/// A tensor of two elements, against another.
bool agrees(DType type, double have, double want) {
  return compareWithReference(pair(type, 1, have), pair(type, 1, want)).ok;
}

/// Large tensors are compared piece by piece, on several threads, and a view is gathered first.
TEST(Compare, WorstElementOfALargeTensorIsNamedWhereverItIs) {
  constexpr int64_t rows = 700, columns = 500;
  Tensor whole = *Tensor::empty(DType::F32, {rows, columns}),
         want = *Tensor::empty(DType::F32, {columns, rows});
  ASSERT_TRUE(whole.fillZero().isOk() && want.fillZero().isOk());
  Tensor have = *whole.transpose({1, 0});
  EXPECT_TRUE(compareFloats(have, want, 0, 0.5, false).ok);
  for (auto [row, column, value] : {std::tuple(0, 3, 2.0), std::tuple(250, 1, -7.0),
                                    std::tuple(499, 698, 7.0), std::tuple(499, 699, 6.0)})
    ASSERT_TRUE(have.set({row, column}, value).isOk());
  Difference difference = compareFloats(have, want, 0, 0.5, false);
  EXPECT_EQ(difference.element, "[250, 1]"); // the first of two that are as wrong
  EXPECT_EQ(difference.have, "-7");
  EXPECT_EQ(difference.largest, 7);
  ASSERT_TRUE(have.set({3, 3}, NAN).isOk() && want.set({499, 0}, NAN).isOk() &&
              have.set({499, 0}, NAN).isOk());
  difference = compareFloats(have, want, 0, 0.5, true);
  EXPECT_EQ(difference.element, "[3, 3]");
  EXPECT_TRUE(std::isnan(difference.largest));
  EXPECT_EQ(difference.nanInBoth, 1);
}

TEST(Compare, ReferenceIntegersAreExact) {
  EXPECT_TRUE(agrees(DType::I32, 1000000, 1000000));
  EXPECT_FALSE(agrees(DType::I32, 1000001, 1000000));
  Tensor a = *Tensor::empty(DType::I64, {1}), b = *Tensor::empty(DType::I64, {1});
  ASSERT_TRUE(a.setInt({0}, (int64_t(1) << 60) + 1).isOk());
  ASSERT_TRUE(b.setInt({0}, int64_t(1) << 60).isOk());
  EXPECT_FALSE(compareWithReference(a, b).ok);
}

TEST(Compare, ReferenceFloatsScaleWithTheData) {
  EXPECT_FALSE(agrees(DType::F32, 1 + 1e-3, 1));
  EXPECT_TRUE(agrees(DType::F32, 1 + 1e-6, 1));
  Tensor a = *Tensor::empty(DType::F32, {1}), b = *Tensor::empty(DType::F32, {1});
  ASSERT_TRUE(a.set({0}, 1e-4).isOk() && b.set({0}, 9e-4).isOk());
  EXPECT_FALSE(compareWithReference(a, b).ok) << "small outputs are compared on their own scale";
  EXPECT_TRUE(agrees(DType::BF16, 1.0078125, 1)) << "one rounding may fall either way";
  EXPECT_FALSE(agrees(DType::BF16, 1.0625, 1));
}

TEST(Compare, NanIsWrittenAsAWord) {
  EXPECT_EQ(compareWithFormula(pair(DType::F32, -NAN, 1), pair(DType::F32, 3, 1), 1).where(),
            "[0, 0] is NaN, expected 3");
  EXPECT_EQ(compareWithFormula(pair(DType::F32, 3, 1), pair(DType::F32, -NAN, 1), 1).where(),
            "[0, 0] is 3, expected NaN");
  EXPECT_TRUE(compareWithFormula(pair(DType::F32, -NAN, 1), pair(DType::F32, NAN, 1), 1).ok);
}

TEST(Compare, FormulaIntegersAreExact) {
  Tensor have = *Tensor::empty(DType::I64, {1}), want = *Tensor::empty(DType::I64, {1});
  ASSERT_TRUE(have.setInt({0}, (int64_t(1) << 60) + 1).isOk());
  ASSERT_TRUE(want.setInt({0}, int64_t(1) << 60).isOk());
  EXPECT_EQ(compareWithFormula(have, want, 1000).where(),
            "[0] is 1152921504606846977, expected 1152921504606846976");
  EXPECT_TRUE(compareWithFormula(pair(DType::I8, -3, 4), pair(DType::I64, -3, 4), 1).ok)
      << "the formula's integers are i64, whatever the output's are";
}

} // namespace
