// What `--arg` makes of a word: the numbers a tensor is filled with.

#include "kiln/runtime/arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

using namespace kiln;

namespace {

std::vector<double> numbersOf(DType dtype, const std::string &spec, uint64_t seed = 0,
                              const std::string &name = "x") {
  TensorParam param;
  param.name = name;
  param.dtype = dtype;
  param.extents = {dynamicExtent};
  Expected<Tensor> tensor = makeTensorArgument(param, spec, seed);
  EXPECT_TRUE(tensor) << tensor.status().message();
  std::vector<double> numbers(size_t(tensor->numElements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        loadElement(dtype, static_cast<std::byte *>(tensor->data()) + int64_t(i) * sizeOf(dtype));
  return numbers;
}

double probabilityBelow(const std::vector<double> &numbers, double bound) {
  return double(
             std::count_if(numbers.begin(), numbers.end(), [&](double x) { return x < bound; })) /
         double(numbers.size());
}

double momentOf(const std::vector<double> &numbers, int power) {
  double sum = 0;
  for (double x : numbers)
    sum += std::pow(x, power);
  return sum / double(numbers.size());
}

TEST(Arguments, NormalNumbersAreDistributedNormally) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    SCOPED_TRACE(toString(dtype));
    std::vector<double> numbers = numbersOf(dtype, "1000000");
    EXPECT_NEAR(momentOf(numbers, 1), 0, 0.005);
    EXPECT_NEAR(momentOf(numbers, 2), 1, 0.01);
    EXPECT_NEAR(momentOf(numbers, 3), 0, 0.02);
    EXPECT_NEAR(momentOf(numbers, 4), 3, 0.05);
    for (double bound : {-3.3, -2.2, -1.1, -0.3, 0.4, 1.2, 2.1, 3.2})
      EXPECT_NEAR(probabilityBelow(numbers, bound), 0.5 * std::erfc(-bound / std::sqrt(2)), 0.004)
          << bound;
    EXPECT_LT(*std::max_element(numbers.begin(), numbers.end()), 4.6);
  }
}

TEST(Arguments, UniformNumbersAreBetweenZeroAndTheFactor) {
  std::vector<double> numbers = numbersOf(DType::F32, "300000:uniform*2");
  for (int tenth = 0; tenth <= 10; ++tenth)
    EXPECT_NEAR(probabilityBelow(numbers, tenth / 5.0), tenth / 10.0, 0.004);
  EXPECT_GE(*std::min_element(numbers.begin(), numbers.end()), 0);
  EXPECT_LT(*std::max_element(numbers.begin(), numbers.end()), 2);
}

TEST(Arguments, RandomNumbersAreShifted) {
  for (const char *spec : {"300000:uniform*2+3", "300000:uniform*2e+0+3"}) {
    std::vector<double> numbers = numbersOf(DType::F32, spec);
    EXPECT_GE(*std::min_element(numbers.begin(), numbers.end()), 3) << spec;
    EXPECT_LE(*std::max_element(numbers.begin(), numbers.end()), 5) << spec;
    EXPECT_NEAR(momentOf(numbers, 1), 4, 0.01) << spec;
  }
  std::vector<double> numbers = numbersOf(DType::BF16, "300000:normal*0.1+1");
  EXPECT_NEAR(momentOf(numbers, 1), 1, 0.01);
  EXPECT_NEAR(probabilityBelow(numbers, 0.8), 0.5 * std::erfc(std::sqrt(2)), 0.01);
  numbers = numbersOf(DType::F32, "300000:normal+-1");
  EXPECT_NEAR(momentOf(numbers, 1), -1, 0.01);
}

TEST(Arguments, NeighboursAreIndependent) {
  std::vector<double> numbers = numbersOf(DType::F32, "200001");
  for (size_t distance : {1, 2, 3, 64, 128, 1000}) {
    double sum = 0;
    for (size_t i = distance; i < numbers.size(); ++i)
      sum += numbers[i] * numbers[i - distance];
    EXPECT_NEAR(sum / double(numbers.size()), 0, 0.01) << distance;
  }
}

TEST(Arguments, FewOf100000FloatsAreEqual) {
  std::vector<double> numbers = numbersOf(DType::F32, "100000");
  EXPECT_GT(std::set<double>(numbers.begin(), numbers.end()).size(), 99000U);
}

// A table is made only for many elements, and threads only for very many: neither may show.
TEST(Arguments, ElementsDoNotDependOnHowManyThereAre) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F8E4M3FN, DType::I32, DType::I1})
    for (const char *way : {"normal", "uniform", "7,-3,1"}) {
      SCOPED_TRACE(std::string(toString(dtype)) + " " + way);
      std::vector<double> few = numbersOf(dtype, std::string("1000:") + way);
      std::vector<double> many = numbersOf(dtype, std::string("1000000:") + way);
      many.resize(few.size());
      EXPECT_EQ(few, many);
    }
}

// The table of the last tensor is kept, for tensors that are filled in the same way.
TEST(Arguments, ElementsDoNotDependOnWhatWasFilledBefore) {
  std::vector<std::vector<double>> before;
  for (int round = 0; round < 2; ++round)
    for (DType dtype : {DType::F16, DType::BF16, DType::F32})
      for (const char *way : {"normal", "normal*2", "normal+1", "uniform"}) {
        SCOPED_TRACE(std::string(toString(dtype)) + " " + way);
        std::vector<double> few = numbersOf(dtype, std::string("100:") + way);
        std::vector<double> many = numbersOf(dtype, std::string("100000:") + way);
        many.resize(few.size());
        EXPECT_EQ(few, many);
        for (const std::vector<double> &other : before)
          EXPECT_TRUE(round == 1 || other != few);
        before.push_back(std::move(few));
      }
}

TEST(Arguments, NamesAndSeedsGiveOtherNumbers) {
  std::vector<double> numbers = numbersOf(DType::F32, "1000");
  EXPECT_EQ(numbers, numbersOf(DType::F32, "1000"));
  EXPECT_NE(numbers, numbersOf(DType::F32, "1000", 1));
  EXPECT_NE(numbers, numbersOf(DType::F32, "1000", 0, "y"));
}

TEST(Arguments, IntegersAreSmallAndAllOccur) {
  std::vector<double> normal = numbersOf(DType::I32, "10000");
  std::vector<double> uniform = numbersOf(DType::I8, "10000:uniform");
  std::set<double> ofNormal(normal.begin(), normal.end()),
      ofUniform(uniform.begin(), uniform.end());
  EXPECT_EQ(ofNormal.size(), 17U);
  EXPECT_EQ(*ofNormal.begin(), -8);
  EXPECT_EQ(ofUniform.size(), 8U);
  EXPECT_EQ(*ofUniform.begin(), 0);
}

TEST(Arguments, ShuffledNumbersAreAPermutation) {
  std::vector<double> numbers = numbersOf(DType::I32, "5000:shuffled");
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, numbersOf(DType::I32, "5000:iota"));
}

TEST(Arguments, EmptyTensorsAreFilled) {
  for (const char *spec : {"0", "0:uniform", "0:shuffled", "0:iota", "0:zeros", "0:1,2"})
    EXPECT_TRUE(numbersOf(DType::F32, spec).empty());
}

} // namespace
