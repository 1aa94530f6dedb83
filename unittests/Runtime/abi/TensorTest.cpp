#include "TestSupport.h"

#include <cmath>
#include <cstring>
#include <sys/resource.h>

using namespace kiln;
using namespace kiln::test;

TEST(Tensor, EmptyIsRowMajorAlignedAndOwned) {
  Tensor t = take(Tensor::empty(DType::F32, {2, 3, 4}));
  EXPECT_EQ(t.stride(0), 12);
  EXPECT_EQ(t.stride(1), 4);
  EXPECT_EQ(t.stride(2), 1);
  EXPECT_EQ(t.numElements(), 24);
  EXPECT_EQ(t.numBytes(), 96u);
  EXPECT_EQ(t.spanBytes(), 96u);
  EXPECT_TRUE(t.isContiguous());
  EXPECT_TRUE(t.buffer()->ownsMemory());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
  EXPECT_EQ(t.str(), "f32[2, 3, 4]");
}

TEST(Tensor, LargeMemoryThatWasLetGoIsGivenWithItsPages) {
  auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  constexpr int64_t bytes = int64_t{40} << 20; // malloc keeps nothing of that
  for (int round = 0; round < 3; ++round) {
    Tensor t = take(Tensor::empty(DType::I8, {bytes - round}));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % (size_t{2} << 20), 0u);
    [[maybe_unused]] long before = faults();
    std::memset(t.data(), 1, t.numBytes());
#ifndef __SANITIZE_ADDRESS__
    if (round > 0) {
      EXPECT_LT(faults() - before, 5);
    }
#endif
  }
}

TEST(Tensor, LargeMemoryThatWasLetGoIsDivided) {
  constexpr int64_t bytes = int64_t{6} << 20;
  for (int round = 0; round < 40; ++round) { // more than is kept
    Tensor whole = take(Tensor::empty(DType::I8, {bytes}));
    whole = {};
    Tensor a = take(Tensor::empty(DType::I8, {bytes / 3})),
           b = take(Tensor::empty(DType::I8, {bytes / 3 + 1})),
           c = take(Tensor::empty(DType::I8, {bytes * 2}));
    for (auto &[tensor, value] : {std::pair{&a, 1}, {&b, 2}, {&c, 3}})
      std::memset(tensor->data(), value, tensor->numBytes());
    for (auto &[tensor, value] : {std::pair{&a, 1}, {&b, 2}, {&c, 3}})
      for (uint64_t at = 0; at < tensor->numBytes(); at += 4096)
        ASSERT_EQ(tensor->dataAs<int8_t>()[at], value);
  }
}

TEST(Tensor, BuffersHaveUniqueIdsAndViewsShareThem) {
  Tensor a = zeros(DType::I8, {4}), b = zeros(DType::I8, {4});
  EXPECT_NE(a.buffer()->id(), b.buffer()->id());
  EXPECT_NE(a.buffer()->id(), 0u);
  EXPECT_EQ(take(a.slice({1}, {2})).buffer()->id(), a.buffer()->id());
}

TEST(Tensor, ReleaseRunsOnceWhenTheLastViewGoes) {
  int released = 0;
  float memory[4] = {};
  {
    Tensor t = take(Tensor::view(Buffer::wrap(memory, sizeof(memory), [&] { ++released; }), 0,
                                 DType::F32, {4}, {1}));
    Tensor slice = take(t.slice({1}, {2}));
    t = Tensor();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Tensor, BadShapesAreRefused) {
  float memory[16] = {};
  using Code = StatusCode;
  expectError(Tensor::view(nullptr, DType::F32, {4}).status(), Code::InvalidArgument, {"null"});
  expectError(Tensor::view(memory, DType::F32, {}).status(), Code::InvalidArgument, {"rank 0"});
  expectError(Tensor::view(memory, DType::F32, {1, 1, 1, 1, 1, 1}).status(), Code::InvalidArgument,
              {"rank 6"});
  expectError(Tensor::view(memory, DType::F32, {4, -1}).status(), Code::InvalidArgument,
              {"extent -1", "axis 1"});
  expectError(Tensor::view(memory, DType::F32, {4}, {-1}).status(), Code::InvalidArgument,
              {"stride -1", "negative"});
  expectError(Tensor::view(memory, DType::F32, {4}, {1, 1}).status(), Code::InvalidArgument,
              {"2 strides", "rank 1"});
  expectError(Tensor::view(memory, DType::Index, {4}).status(), Code::InvalidArgument, {"index"});
  expectError(Tensor::view(memory, static_cast<DType>(77), {4}).status(), Code::InvalidArgument,
              {"77"});
  expectError(Tensor::view(reinterpret_cast<char *>(memory) + 1, DType::F32, {2}).status(),
              Code::InvalidArgument, {"aligned"});
  expectError(Tensor::empty(DType::F32, {int64_t{1} << 40, int64_t{1} << 40}).status(),
              Code::InvalidArgument, {"overflow"});
  expectError(Tensor::empty(DType::F32, {int64_t{1} << 61}).status(), Code::InvalidArgument,
              {"overflow"});
  expectError(Tensor::view(memory, DType::F32, {3}, {INT64_MAX / 2}).status(),
              Code::InvalidArgument, {"overflow"});
  expectError(Tensor::view(memory, DType::F32, {2}, {int64_t{1} << 61}).status(),
              Code::InvalidArgument, {"overflow"});
  expectError(Tensor().validate(), Code::InvalidArgument, {"null"});
}

TEST(Tensor, AViewMustFitItsBuffer) {
  auto buffer = take(Buffer::allocate(40));
  EXPECT_TRUE(Tensor::view(buffer, 8, DType::F32, {2, 4}, {4, 1}));
  expectError(Tensor::view(buffer, 12, DType::F32, {2, 4}, {4, 1}).status(),
              StatusCode::InvalidArgument, {"32 bytes", "byte 12", "40"});
  expectError(Tensor::view(buffer, UINT64_MAX - 3, DType::F32, {1}, {1}).status(),
              StatusCode::InvalidArgument, {});
}

TEST(Tensor, StridesOfUnitAxesAreNormalised) {
  float memory[8] = {};
  Tensor t = take(Tensor::view(memory, DType::F32, {1, 4, 1}, {-7, 1, 99}));
  EXPECT_TRUE(t.isContiguous());
  EXPECT_EQ(toString(t.strides()), "[4, 1, 1]");
  EXPECT_FALSE(take(Tensor::view(memory, DType::F32, {1, 4}, {0, 1})).isBroadcast());
  EXPECT_FALSE(take(Tensor::view(memory, DType::F32, {0, 4}, {0, 0})).isReadOnly());
}

TEST(Tensor, ZeroStrideIsBroadcastAndReadOnly) {
  float memory[4] = {1, 2, 3, 4};
  Tensor t = take(Tensor::view(memory, DType::F32, {3, 4}, {0, 1}));
  EXPECT_TRUE(t.isBroadcast());
  EXPECT_TRUE(t.isReadOnly());
  EXPECT_EQ(t.toAbi().flags, KILN_TENSOR_READ_ONLY | KILN_TENSOR_BROADCAST);
  EXPECT_EQ(valuesOf(t), (std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
  expectError(t.set({0, 0}, 1), StatusCode::InvalidArgument, {"read-only"});
  expectError(t.fillPoison(), StatusCode::InvalidArgument, {"read-only"});
  EXPECT_EQ(memory[0], 1);
}

TEST(Tensor, NoElementsIsFine) {
  Tensor t = take(Tensor::empty(DType::F32, {0, int64_t{1} << 40, int64_t{1} << 40}));
  EXPECT_EQ(t.numElements(), 0);
  EXPECT_EQ(t.spanBytes(), 0u);
  EXPECT_TRUE(t.isContiguous());
  EXPECT_TRUE(take(t.gatherBytes()).empty());
  EXPECT_TRUE(Tensor::view(nullptr, DType::F32, {0, 3}));
  Tensor end = take(zeros(DType::F32, {4}).slice({4}, {0}));
  EXPECT_EQ(end.numElements(), 0);
  EXPECT_OK(end.fillZero());
}

TEST(Tensor, SliceTransposeReshapeAddressTheRightElements) {
  std::vector<double> values(24);
  for (int i = 0; i < 24; ++i)
    values[i] = i;
  Tensor t = tensorOf(DType::I32, {2, 3, 4}, values);
  Tensor s = take(t.slice({1, 1, 0}, {1, 2, 4}, {0}));
  EXPECT_EQ(s.str(), "i32[2, 4]");
  EXPECT_EQ(valuesOf(s), (std::vector<double>{16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(s.byteOffset(), 64u);
  Tensor column = take(t.slice({0, 0, 3}, {2, 3, 1}, {2}));
  EXPECT_EQ(valuesOf(column), (std::vector<double>{3, 7, 11, 15, 19, 23}));
  EXPECT_FALSE(column.isContiguous() && column.stride(1) == 1);
  Tensor p = take(t.transpose({2, 0, 1}));
  EXPECT_EQ(take(p.get({3, 1, 2})), 23);
  EXPECT_EQ(take(p.get({1, 0, 2})), 9);
  EXPECT_FALSE(p.isContiguous());
  EXPECT_EQ(take(take(t.reshape({6, 4})).get({5, 1})), 21);
  expectError(p.reshape({24}).status(), StatusCode::InvalidArgument, {"contiguous"});
  expectError(t.reshape({23}).status(), StatusCode::InvalidArgument, {"number of elements"});
  expectError(t.transpose({0, 0, 1}).status(), StatusCode::InvalidArgument, {"permutation"});
  expectError(t.transpose({0, 1, 5}).status(), StatusCode::InvalidArgument, {"permutation"});
  expectError(t.slice({0, 0, 2}, {2, 3, 3}).status(), StatusCode::InvalidArgument,
              {"axis 2", "extent 4"});
  expectError(t.slice({0, -1, 0}, {1, 1, 1}).status(), StatusCode::InvalidArgument, {"axis 1"});
  expectError(t.slice({0, 0, INT64_MAX}, {1, 1, INT64_MAX}).status(), StatusCode::InvalidArgument,
              {"axis 2"});
  expectError(t.slice({0, 0, 0}, {2, 3, 1}, {0}).status(), StatusCode::InvalidArgument, {"size 2"});
  expectError(t.slice({0, 0, 0}, {1, 1, 1}, {0, 1, 2}).status(), StatusCode::InvalidArgument,
              {"every axis"});
}

TEST(Tensor, ScatterIsTheInverseOfGather) {
  Tensor base = zeros(DType::I16, {6, 5});
  Tensor view = take(take(base.slice({1, 1}, {4, 3})).transpose({1, 0}));
  Tensor source = tensorOf(DType::I16, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_OK(view.scatterBytes(take(source.gatherBytes())));
  EXPECT_EQ(take(view.gatherBytes()), take(source.gatherBytes()));
  EXPECT_EQ(take(base.get({1, 1})), 1);
  EXPECT_EQ(take(base.get({2, 1})), 2);
  EXPECT_EQ(take(base.get({1, 2})), 5);
  double sum = 0;
  for (double v : valuesOf(base))
    sum += v;
  EXPECT_EQ(sum, 78); // nothing outside the view was touched
  expectError(view.scatterBytes({}), StatusCode::InvalidArgument, {"24 bytes", "0"});
}

TEST(Tensor, PoisonIsSeenInEveryTypeAndOnlyInsideTheView) {
  for (const DTypeInfo &row : dtypeTable) {
    if (!row.isElement)
      continue;
    Tensor base = zeros(row.type, {4, 4});
    EXPECT_OK(take(base.slice({1, 1}, {2, 2})).fillPoison());
    std::vector<double> values = valuesOf(base);
    for (int i = 0; i < 16; ++i) {
      bool inside = i / 4 >= 1 && i / 4 <= 2 && i % 4 >= 1 && i % 4 <= 2;
      if (!inside)
        EXPECT_EQ(values[i], 0) << row.name;
      else if (isFloat(row.type))
        EXPECT_TRUE(std::isnan(values[i])) << row.name;
      else
        EXPECT_NE(values[i], 0) << row.name;
    }
  }
  Tensor i32 = zeros(DType::I32, {1});
  EXPECT_OK(i32.fillPoison());
  EXPECT_EQ(take(i32.getInt({0})), static_cast<int32_t>(0xa5a5a5a5u));
}

TEST(Tensor, CastConvertsValues) {
  Tensor x = tensorOf(DType::F32, {2, 2}, {1.5, -2.25, 1e9, 0.0});
  EXPECT_EQ(valuesOf(take(x.castTo(DType::I8))), (std::vector<double>{1, -2, 127, 0}));
  EXPECT_EQ(valuesOf(take(x.castTo(DType::BF16)))[1], -2.25);
  Tensor big = zeros(DType::I64, {1});
  EXPECT_OK(big.setInt({0}, INT64_MAX));
  EXPECT_EQ(take(take(big.castTo(DType::I64)).getInt({0})), INT64_MAX);
}

TEST(Tensor, ElementAccessChecksIndices) {
  Tensor t = zeros(DType::F16, {2, 3});
  EXPECT_OK(t.set({1, 2}, 0.5));
  EXPECT_EQ(take(t.get({1, 2})), 0.5);
  expectError(t.get({2, 0}).status(), StatusCode::InvalidArgument, {"[2, 0]", "f16[2, 3]"});
  expectError(t.get({0}).status(), StatusCode::InvalidArgument, {"1 indices"});
  expectError(t.set({0, -1}, 1), StatusCode::InvalidArgument, {"-1"});
}

TEST(Tensor, GatheringAnAbsurdBroadcastIsAnErrorNotACrash) {
  float one = 1;
  Tensor t = take(Tensor::view(&one, DType::F32, {int64_t{1} << 30, int64_t{1} << 30}, {0, 0}));
  expectError(t.gatherBytes().status(), StatusCode::OutOfMemory, {"gather"});
}
