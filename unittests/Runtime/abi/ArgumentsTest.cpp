// Tensors made from words: what fills them, and that large ones are made of the same numbers.
#include "kiln/runtime/arguments.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace kiln;

namespace {

Tensor made(DType type, const std::string &spec, uint64_t seed = 1) {
  TensorParam param;
  param.name = "x";
  param.dtype = type;
  param.extents = {dynamicExtent};
  Expected<Tensor> tensor = makeTensorArgument(param, spec, seed);
  EXPECT_TRUE(tensor) << tensor.status().str();
  return std::move(*tensor);
}

double at(const Tensor &tensor, int64_t i) {
  return loadElement(tensor.dtype(), tensor.dataAs<std::byte>() + i * sizeOf(tensor.dtype()));
}

TEST(Arguments, ManyRandomNumbersAreAsRandomAsFew) {
  constexpr int64_t few = 1000, many = 300000;
  for (DType type : {DType::F32, DType::BF16}) {
    Tensor small = made(type, std::to_string(few)), large = made(type, std::to_string(many));
    for (int64_t i = 0; i < few; ++i)
      ASSERT_EQ(at(small, i), at(large, i));
    double sum = 0, squares = 0;
    int64_t asBefore = 0; // at the distance in which everything would repeat
    for (int64_t i = 0; i < many; ++i) {
      sum += at(large, i);
      squares += at(large, i) * at(large, i);
      asBefore += i >= 65536 && at(large, i) == at(large, i - 65536);
    }
    EXPECT_NEAR(sum / many, 0, 0.02);
    EXPECT_NEAR(squares / many, 1, 0.03);
    EXPECT_LT(asBefore, many / 10);
  }
  EXPECT_NE(at(made(DType::F32, "300000", 1), 299999), at(made(DType::F32, "300000", 2), 299999));
}

TEST(Arguments, ListsRepeatToTheEnd) {
  Tensor tensor = made(DType::I32, "1000:3,5,7");
  for (int64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(at(tensor, i), 3 + 2 * (i % 3)) << i;
  Tensor shorter = made(DType::I32, "2:3,5,7");
  EXPECT_EQ(at(shorter, 1), 5);
  EXPECT_EQ(at(made(DType::F16, "70001:ones"), 70000), 1);
  EXPECT_EQ(made(DType::F32, "0:zeros").numElements(), 0);
}

} // namespace
