// Tables of tasks: who waits for whom, what lies where, and how many have room.
#include "device/cuda/TaskTable.h"

#include "kiln/runtime/cuda_program.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace kiln;
using namespace kiln::cuda;

namespace {

constexpr int64_t grid[3] = {7, 1, 1};

LoadedKernel partOf(uint32_t number, uint32_t tableBytes = 4096) {
  LoadedKernel kernel;
  kernel.description.name = "part" + std::to_string(number);
  kernel.description.numTensors = 2;
  kernel.description.tableBytes = tableBytes;
  kernel.description.part = number;
  return kernel;
}

/// Bytes of memory that nobody looks at.
kiln_tensor tensorAt(uintptr_t address, int64_t elements, int64_t stride = 1) {
  kiln_tensor tensor{};
  tensor.data = reinterpret_cast<void *>(address);
  tensor.dtype = KILN_I8;
  tensor.rank = 1;
  tensor.extents[0] = elements;
  tensor.strides[0] = stride;
  return tensor;
}

/// Launches of a part that reads its first tensor and writes its second.
class Launches {
public:
  void add(const kiln_tensor &read, const kiln_tensor &written) {
    const kiln_tensor tensors[] = {read, written};
    Blocks.push_back(std::make_unique<ArgumentBlock>(Part.description, tensors,
                                                     std::span<const uint64_t>(), grid));
    All.push_back({&Part, 3, Blocks.back().get(), &Writes});
  }
  std::span<const PartLaunch> all() const { return All; }
  LoadedKernel Part = partOf(5);

private:
  std::vector<bool> Writes = {false, true};
  std::vector<std::unique_ptr<ArgumentBlock>> Blocks;
  std::vector<PartLaunch> All;
};

using Numbers = std::vector<std::vector<uint32_t>>;

TEST(TaskTable, ATaskWaitsForWhoWritesWhatItReadsButNotForWhatThatWaitsFor) {
  Launches launches;
  launches.add(tensorAt(0x1000, 16), tensorAt(0x2000, 16)); // 0
  launches.add(tensorAt(0x2000, 16), tensorAt(0x3000, 16)); // 1 reads what 0 wrote
  launches.add(tensorAt(0x1000, 16), tensorAt(0x4000, 16)); // 2 reads what 0 reads
  launches.add(tensorAt(0x3008, 4), tensorAt(0x2000, 16));  // 3 reads of 1, writes what 1 reads
  launches.add(tensorAt(0x4000, 16), tensorAt(0x3000, 16)); // 4 overwrites what 3 reads
  EXPECT_EQ(findBefore(launches.all()), (Numbers{{}, {0}, {}, {1}, {3, 2}}));
}

TEST(TaskTable, TensorsSideBySideAreApartAndViewsBackwardsAreWhereTheyAre) {
  Launches launches;
  launches.add(tensorAt(0x1000, 1), tensorAt(0x2000, 16));
  launches.add(tensorAt(0x2010, 16), tensorAt(0x5000, 1));     // right behind it
  launches.add(tensorAt(0x2020, 18, -2), tensorAt(0x6000, 1)); // from behind into it
  launches.add(tensorAt(0x2000, 0), tensorAt(0x7000, 1));      // nothing
  EXPECT_EQ(findBefore(launches.all()), (Numbers{{}, {}, {0}, {}}));
}

template <typename T> T at(TaskTable &table, uint64_t place) {
  T value;
  std::memcpy(&value, static_cast<std::byte *>(table.begin()) + place, sizeof value);
  return value;
}

TEST(TaskTable, HasTasksNumbersAndArgumentsWhereTheKernelLooksForThem) {
  Launches launches;
  launches.add(tensorAt(0x1000, 16), tensorAt(0x2000, 16));
  launches.add(tensorAt(0x2000, 16), tensorAt(0x3000, 16));
  std::vector<TaskTable> tables = tablesOf(launches.all());
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].blocks(), 3u);
  tables[0].write(0xabc0, 0xdef0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tables[0].begin()) % 64, 0u);
  auto head = at<CudaTaskTable>(tables[0], 0);
  EXPECT_EQ(head.counters, 0xabc0u);
  EXPECT_EQ(head.times, 0xdef0u);
  EXPECT_EQ(head.count, 2u);
  auto second = at<CudaTask>(tables[0], sizeof head + sizeof(CudaTask));
  EXPECT_EQ(second.kernel, 5u);
  EXPECT_EQ(second.comers, 3u);
  EXPECT_EQ(second.numBefore, 1u);
  EXPECT_EQ(at<uint32_t>(tables[0], second.before), 0u);
  EXPECT_EQ(second.arguments % 64, 0u);
  EXPECT_EQ(at<kiln_tensor>(tables[0], second.arguments + sizeof(kiln_tensor)).data,
            reinterpret_cast<void *>(0x3000));
  EXPECT_EQ(at<int64_t>(tables[0], second.arguments + 2 * sizeof(kiln_tensor)), 7);
}

TEST(TaskTable, MoreTasksThanHaveRoomTakeSeveralTablesThatWaitForNobodyInOthers) {
  Launches launches;
  launches.Part = partOf(5, 1024); // of which a task takes 256 + 24 + 4 bytes
  for (uintptr_t k = 0; k < 7; ++k)
    launches.add(tensorAt(0x1000 * k, 16), tensorAt(0x1000 * (k + 1), 16));
  std::vector<TaskTable> tables = tablesOf(launches.all());
  std::vector<size_t> sizes;
  for (TaskTable &table : tables) {
    sizes.push_back(table.entries().size());
    EXPECT_TRUE(table.entries().front().before.empty());
    for (size_t k = 1; k < table.entries().size(); ++k)
      EXPECT_EQ(table.entries()[k].before, std::vector<uint32_t>{uint32_t(k - 1)});
    table.write(0x8000);
    EXPECT_EQ(at<CudaTaskTable>(table, 0).count, table.entries().size());
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{3, 3, 1}));
}

TEST(TaskTable, PartsAreWrittenDownAndReadBack) {
  CudaKernel part = partOf(3).description;
  part.symbol = part.file = "x";
  Expected<std::vector<CudaKernel>> read = parseCudaKernels(toJson({part, CudaKernel{}}));
  ASSERT_TRUE(bool(read)) << read.status().message();
  EXPECT_EQ((*read)[0].tableBytes, 4096u);
  EXPECT_EQ((*read)[0].part, 3u);
  EXPECT_TRUE((*read)[0].isPart());
  EXPECT_FALSE((*read)[1].isPart());
}

} // namespace
