// Accesses held against the boxes of a signature, in tensors that lie in memory in every way.
#include "lib/Check/TaskBoxes.h"

#include "gtest/gtest.h"

using namespace kiln;
using namespace kiln::simulator;

namespace {

/// A task of one tensor `x`, of which block b touches rows [2b + n, 2b + n + 2) and all columns,
/// and of another one `y` that nothing is known of.
struct Task {
  std::vector<float> memory = std::vector<float>(4096);
  kiln_tensor tensors[2] = {};
  uint64_t scalar = 0;
  Signature signature;

  Task(std::vector<int64_t> extents, std::vector<int64_t> strides) {
    signature.name = "k";
    signature.tensors = {TensorParam::dynamic("x", DType::F32, 2, Direction::In),
                         TensorParam::dynamic("y", DType::F32, 2, Direction::In)};
    signature.scalars = {{"n", DType::Index}};
    BlockBox::Axis rows;
    rows.perBlock[0] = 2;
    rows.perScalar = {{0, 1}};
    rows.extent = 2;
    signature.tensors[0].box = BlockBox{{rows, BlockBox::Axis()}};
    tensors[0] = describe(memory.data(), extents, strides);
    tensors[1] = describe(memory.data() + 2048, {4, 4}, {4, 1});
  }

  static kiln_tensor describe(float *data, std::vector<int64_t> extents,
                              std::vector<int64_t> strides) {
    kiln_tensor tensor{data, {1, 1, 1, 1, 1}, {}, int32_t(DType::F32), 2, 0};
    std::copy(extents.begin(), extents.end(), tensor.extents);
    std::copy(strides.begin(), strides.end(), tensor.strides);
    return tensor;
  }

  /// Elements of tensor 0, as a load of this many rows and columns touches them.
  Footprint at(int64_t row, int64_t col, int64_t rows, int64_t cols) const {
    const kiln_tensor &x = tensors[0];
    auto *data = static_cast<const float *>(x.data) + row * x.strides[0] + col * x.strides[1];
    return {reinterpret_cast<const std::byte *>(data),
            rows,
            cols,
            x.strides[0] * 4,
            x.strides[1] * 4,
            4};
  }
  std::optional<std::string> broken(const Footprint &at, int64_t block) const {
    return TaskBoxes(signature, {tensors, &scalar, 2, 1}).findBroken(at, {block, 0, 0});
  }
};

TEST(TaskBoxes, AccessesInsideAreAsPromised) {
  for (const auto &strides : {std::vector<int64_t>{8, 1}, {20, 1}, {1, 16}, {1, 100}, {30, 3}}) {
    Task task({16, 8}, strides);
    EXPECT_FALSE(task.broken(task.at(0, 0, 2, 8), 0));
    EXPECT_FALSE(task.broken(task.at(6, 3, 1, 1), 3));
    EXPECT_FALSE(task.broken(task.at(0, 0, 0, 8), 5)) << "nothing is touched";
  }
}

TEST(TaskBoxes, AccessesOutsideNameTensorAndBox) {
  for (const auto &strides : {std::vector<int64_t>{8, 1}, {20, 1}, {1, 16}, {1, 100}, {30, 3}}) {
    Task task({16, 8}, strides);
    EXPECT_EQ(task.broken(task.at(0, 0, 3, 8), 0),
              "'x', of which a block touches only [2*b0 + n : 2*b0 + n + 2, :]");
    EXPECT_TRUE(task.broken(task.at(0, 7, 1, 1), 1)) << "before it";
    EXPECT_TRUE(task.broken(task.at(15, 7, 1, 1), 1)) << "behind it";
    task.scalar = 14;
    EXPECT_FALSE(task.broken(task.at(15, 7, 1, 1), 0)) << "moved by a scalar";
    task.scalar = uint64_t(-4);
    EXPECT_FALSE(task.broken(task.at(0, 0, 2, 8), 2)) << "and back";
  }
}

TEST(TaskBoxes, OtherMemoryIsNobodysBusiness) {
  Task task({16, 8}, {20, 1});
  auto *memory = reinterpret_cast<const std::byte *>(task.memory.data());
  EXPECT_FALSE(task.broken({memory + ptrdiff_t(4) * (5 * 20 + 11), 1, 1, 0, 0, 4}, 0))
      << "between two rows";
  EXPECT_FALSE(task.broken({memory + ptrdiff_t(4) * 1500, 1, 1, 0, 0, 4}, 0)) << "not an argument";
  EXPECT_FALSE(task.broken({memory + ptrdiff_t(4) * 2050, 2, 2, 16, 4, 4}, 9))
      << "an argument without a box";
  task.tensors[1] = Task::describe(task.memory.data(), {320, 1}, {1, 1});
  EXPECT_FALSE(task.broken(task.at(15, 7, 1, 1), 0))
      << "the same memory as an argument without a box";
}

TEST(TaskBoxes, TensorsThatOverlapThemselvesAreLeftAlone) {
  Task task({16, 8}, {1, 1});
  EXPECT_FALSE(task.broken(task.at(9, 0, 1, 1), 0)) << "it may be row 1 as well";
  Task one({1, 1}, {1, 1});
  EXPECT_FALSE(one.broken(one.at(0, 0, 1, 1), 0));
  EXPECT_TRUE(one.broken(one.at(0, 0, 1, 1), 1));
}

} // namespace
