#include "TestSupport.h"

#include "engine/Region.h"

#include <random>
#include <set>

using namespace kiln;
using namespace kiln::test;

namespace {

/// The bytes of a tensor, one by one.
std::set<uintptr_t> bytesOf(const Tensor &t) {
  std::set<uintptr_t> bytes;
  if (t.numElements() == 0)
    return bytes;
  std::vector<int64_t> index(t.rank(), 0);
  while (true) {
    auto address = reinterpret_cast<uintptr_t>(take(t.elementAddress(index)));
    for (int64_t b = 0; b < sizeOf(t.dtype()); ++b)
      bytes.insert(address + b);
    int axis = t.rank() - 1;
    while (axis >= 0 && ++index[axis] == t.extent(axis))
      index[axis--] = 0;
    if (axis < 0)
      return bytes;
  }
}

bool reallyOverlap(const Tensor &a, const Tensor &b) {
  std::set<uintptr_t> bytes = bytesOf(a);
  for (uintptr_t byte : bytesOf(b))
    if (bytes.count(byte))
      return true;
  return false;
}

bool overlap(const Tensor &a, const Tensor &b) { return mayOverlap(Region::of(a), Region::of(b)); }

} // namespace

TEST(Region, TilesAndColumnsOfOneMatrixAreDisjoint) {
  Tensor m = zeros(DType::F32, {64, 48});
  auto tile = [&](int64_t i, int64_t j, int64_t h, int64_t w) {
    return take(m.slice({i, j}, {h, w}));
  };
  EXPECT_FALSE(overlap(tile(0, 0, 64, 16), tile(0, 16, 64, 16))); // columns
  EXPECT_FALSE(overlap(tile(0, 32, 64, 16), tile(0, 0, 64, 32)));
  EXPECT_FALSE(overlap(tile(16, 16, 16, 16), tile(16, 32, 16, 16)));
  EXPECT_FALSE(overlap(tile(16, 16, 16, 16), tile(32, 16, 16, 16)));
  EXPECT_TRUE(overlap(tile(16, 16, 16, 17), tile(16, 32, 16, 16)));
  EXPECT_TRUE(overlap(tile(0, 0, 64, 48), tile(63, 47, 1, 1)));
  EXPECT_TRUE(overlap(tile(0, 3, 64, 1), tile(7, 0, 1, 48))); // a column meets a row
  EXPECT_FALSE(overlap(tile(0, 0, 0, 48), m));                // nothing
}

TEST(Region, EvenAndOddColumnsAreDisjoint) {
  Tensor m = zeros(DType::F32, {8, 8});
  Tensor even = take(Tensor::view(m.buffer(), 0, DType::F32, {8, 4}, {8, 2}));
  Tensor odd = take(Tensor::view(m.buffer(), 4, DType::F32, {8, 4}, {8, 2}));
  EXPECT_FALSE(overlap(even, odd));
  EXPECT_TRUE(overlap(even, even));
  EXPECT_TRUE(overlap(odd, take(m.slice({0, 1}, {1, 1}))));
}

TEST(Region, ThreeDimensionalTilesAndTransposes) {
  Tensor m = zeros(DType::F16, {4, 6, 8});
  Tensor a = take(m.slice({0, 2, 0}, {4, 2, 4})), b = take(m.slice({0, 2, 4}, {4, 2, 4}));
  EXPECT_FALSE(overlap(a, take(b.transpose({2, 0, 1}))));
  EXPECT_TRUE(overlap(take(a.transpose({1, 2, 0})), take(m.slice({3, 3, 3}, {1, 1, 1}))));
}

TEST(Region, AnswerEqualsBruteForceOnRandomStridedBoxes) {
  std::mt19937 random(1);
  auto pick = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  auto buffer = take(Buffer::allocate(4096));
  int disjointInterleaved = 0, overlapping = 0;
  for (int n = 0; n < 20000; ++n) {
    auto make = [&] {
      while (true) {
        int rank = static_cast<int>(pick(1, 3));
        std::vector<int64_t> extents, strides;
        for (int i = 0; i < rank; ++i) {
          extents.push_back(pick(0, 9) == 0 ? 0 : pick(1, 6));
          strides.push_back(pick(0, 20));
        }
        DType type = pick(0, 1) ? DType::I8 : DType::I16;
        Expected<Tensor> t =
            Tensor::view(buffer, static_cast<uint64_t>(pick(0, 60) * 2), type, extents, strides);
        if (t)
          return *t;
      }
    };
    Tensor a = make(), b = make();
    bool expected = reallyOverlap(a, b);
    ASSERT_EQ(overlap(a, b), expected)
        << toString(a.extents()) << toString(a.strides()) << a.byteOffset() << " "
        << toString(b.extents()) << toString(b.strides()) << b.byteOffset();
    Region ra = Region::of(a), rb = Region::of(b);
    disjointInterleaved += !expected && ra.begin < rb.end && rb.begin < ra.end;
    overlapping += expected;
    if (covers(ra, rb)) {
      std::set<uintptr_t> outer = bytesOf(a);
      for (uintptr_t byte : bytesOf(b))
        ASSERT_TRUE(outer.count(byte));
    }
    bool selfExpected =
        bytesOf(a).size() != static_cast<size_t>(a.numElements() * sizeOf(a.dtype()));
    ASSERT_EQ(overlapsItself(a), selfExpected) << toString(a.extents()) << toString(a.strides());
  }
  // The test is worth something only if both answers occur where the address ranges do overlap.
  EXPECT_GT(disjointInterleaved, 500);
  EXPECT_GT(overlapping, 500);
}

TEST(Region, HugeStridesDoNotOverflow) {
  static float memory[4];
  Tensor a = take(Tensor::view(memory, DType::F32, {2}, {int64_t{1} << 44}));
  Tensor b = take(Tensor::view(memory + 1, DType::F32, {2}, {int64_t{1} << 45}));
  EXPECT_FALSE(overlap(a, b));
  EXPECT_TRUE(overlap(a, a));
}

TEST(Region, WhatCannotBeDecidedCheaplyConflicts) {
  // Coprime strides over a large range: any answer but "may overlap" would need a long search.
  auto buffer = take(Buffer::allocate(1 << 22));
  std::vector<int64_t> extents{200, 200, 200}, a{9973, 4999, 2503}, b{9967, 4993, 2477};
  Tensor ta = take(Tensor::view(buffer, 0, DType::I8, extents, a));
  Tensor tb = take(Tensor::view(buffer, 1, DType::I8, extents, b));
  EXPECT_TRUE(overlap(ta, tb));
}
