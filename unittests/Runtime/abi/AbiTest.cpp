#include "TestSupport.h"

using namespace kiln;
using namespace kiln::test;

extern "C" int32_t kiln_test_c_scale(const kiln_args *, const kiln_blocks *, kiln_context *);
extern "C" size_t kiln_test_c_sizes(int which);

TEST(Abi, CAndCppAgreeOnSizes) {
  EXPECT_EQ(kiln_test_c_sizes(0), 96u);
  EXPECT_EQ(kiln_test_c_sizes(1), sizeof(kiln_args));
  EXPECT_EQ(kiln_test_c_sizes(2), sizeof(kiln_blocks));
  EXPECT_EQ(kiln_test_c_sizes(3), sizeof(kiln_context));
}

TEST(Abi, KernelWrittenInCRunsUnderTheEngine) {
  KernelRegistry registry;
  addKernel(registry, "scale", kiln_test_c_scale,
            {param("x", Direction::In, 1), param("y", Direction::Out, 1)}, {{"s", DType::F32}});
  auto engine = makeEngine(registry);
  Tensor x = tensorOf(DType::F32, {6}, {1, 2, 3, 4, 5, 6}), y = zeros(DType::F32, {6});
  take(engine->submit(Task("scale").addF32(0.5f).addInput(x).addOutput(y).grid({2})));
  EXPECT_OK(engine->wait());
  EXPECT_EQ(valuesOf(y), (std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3}));
}

TEST(Abi, DescriptorCarriesOffsetStridesAndPaddingAxes) {
  Tensor matrix = zeros(DType::BF16, {4, 8});
  kiln_tensor abi = take(matrix.slice({1, 2}, {2, 3})).toAbi();
  EXPECT_EQ(static_cast<char *>(abi.data) - static_cast<char *>(matrix.data()), (1 * 8 + 2) * 2);
  EXPECT_EQ(abi.rank, 2);
  EXPECT_EQ(abi.dtype, KILN_BF16);
  EXPECT_EQ(abi.extents[0], 2);
  EXPECT_EQ(abi.extents[1], 3);
  EXPECT_EQ(abi.strides[0], 8);
  EXPECT_EQ(abi.strides[1], 1);
  for (int i = 2; i < KILN_MAX_RANK; ++i) {
    EXPECT_EQ(abi.extents[i], 1);
    EXPECT_EQ(abi.strides[i], 0);
  }
  EXPECT_EQ(abi.flags, 0);
  EXPECT_EQ(matrix.toAbi().flags, KILN_TENSOR_CONTIGUOUS);
  EXPECT_EQ(matrix.asReadOnly().toAbi().flags, KILN_TENSOR_CONTIGUOUS | KILN_TENSOR_READ_ONLY);
}
