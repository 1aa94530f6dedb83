#include "TaskTable.h"

#include <algorithm>
#include <cstring>

using namespace kiln;
using namespace kiln::cuda;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

uint64_t TaskTable::argumentsAt(size_t entries, size_t numbers) const {
  return (taskTableHead + entries * sizeof(CudaTask) + numbers * sizeof(uint32_t) + 63) / 64 * 64;
}

uint64_t TaskTable::used() const {
  uint64_t numbers = 0, arguments = 0;
  for (const Entry &entry : Entries) {
    numbers += entry.before.size();
    arguments += argumentLineBytes(entry.kernel->description);
  }
  return argumentsAt(Entries.size(), numbers) + arguments;
}

bool TaskTable::add(Entry entry) {
  uint64_t room = entry.kernel->description.tableBytes;
  Entries.push_back(std::move(entry));
  if (used() <= room)
    return true;
  Entries.pop_back();
  return false;
}

unsigned TaskTable::blocks() const {
  unsigned most = 0;
  for (const Entry &entry : Entries)
    most = std::max(most, entry.comers);
  return most;
}

void TaskTable::write(DevicePointer counters, DevicePointer times) {
  auto *bytes = reinterpret_cast<std::byte *>(Lines.data());
  const CudaTaskTable head{counters, times, static_cast<uint32_t>(Entries.size()), 0};
  std::memcpy(bytes, &head, sizeof head);
  size_t numbers = 0;
  for (const Entry &entry : Entries)
    numbers += entry.before.size();
  uint64_t task = sizeof head, before = task + Entries.size() * sizeof(CudaTask),
           arguments = argumentsAt(Entries.size(), numbers);
  for (const Entry &entry : Entries) {
    const CudaKernel &kernel = entry.kernel->description;
    const CudaTask written{kernel.part,
                           static_cast<uint32_t>(arguments),
                           entry.comers,
                           static_cast<uint32_t>(before),
                           static_cast<uint32_t>(entry.before.size()),
                           0};
    std::memcpy(bytes + task, &written, sizeof written);
    std::ranges::copy(std::as_bytes(std::span(entry.before)), bytes + before);
    std::memcpy(bytes + arguments, entry.arguments->begin(), argumentBytes(kernel));
    task += sizeof written;
    before += entry.before.size() * sizeof(uint32_t);
    arguments += argumentLineBytes(kernel);
  }
}

Result kiln::cuda::startTable(const Driver &driver, TaskTable &table, const LaunchPlace &place) {
  const LoadedKernel &kernel = table.kernel();
  void *parameters[] = {table.begin()};
  LaunchAttribute together{kCooperative, {1}};
  LaunchConfig config{{table.blocks(), 1, 1},
                      {kernel.description.threads, 1, 1},
                      kernel.description.sharedBytes,
                      place.stream,
                      &together,
                      1};
  return driver.launchKernelEx(&config, kernel.function, parameters, nullptr);
}

//===----------------------------------------------------------------------===//
// Who waits for whom
//===----------------------------------------------------------------------===//

std::pair<uintptr_t, uintptr_t> kiln::cuda::rangeOf(const kiln_tensor &tensor) {
  auto begin = reinterpret_cast<uintptr_t>(tensor.data), end = begin;
  auto bytes = static_cast<int64_t>(sizeOf(static_cast<DType>(tensor.dtype)));
  for (int axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.extents[axis] == 0)
      return {begin, begin};
    int64_t reach = (tensor.extents[axis] - 1) * tensor.strides[axis] * bytes;
    (reach < 0 ? begin : end) += static_cast<uintptr_t>(reach);
  }
  return {begin, end + static_cast<uintptr_t>(bytes)};
}

static bool haveCommonBytes(const kiln_tensor &one, const kiln_tensor &other) {
  auto [begin, end] = rangeOf(one);
  auto [first, last] = rangeOf(other);
  return begin < last && first < end;
}

/// Whether one of the two writes what the other reads or writes, as far as the bytes between the
/// first and the last of a tensor say.
static bool areInOrder(const PartLaunch &one, const PartLaunch &other) {
  for (size_t i = 0; i < one.writes->size(); ++i)
    for (size_t k = 0; k < other.writes->size(); ++k)
      if (((*one.writes)[i] || (*other.writes)[k]) &&
          haveCommonBytes(one.arguments->tensor(i), other.arguments->tensor(k)))
        return true;
  return false;
}

std::vector<std::vector<uint32_t>> kiln::cuda::findBefore(std::span<const PartLaunch> launches) {
  std::vector<std::vector<uint32_t>> result(launches.size());
  std::vector<std::vector<bool>> reached(launches.size()); // with what each waits for, waits for
  for (size_t number = 0; number < launches.size(); ++number) {
    std::vector<bool> &mine = reached[number];
    mine.resize(launches.size());
    for (size_t other = number; other-- > 0;) {
      if (mine[other] || !areInOrder(launches[number], launches[other]))
        continue;
      result[number].push_back(static_cast<uint32_t>(other));
      mine[other] = true;
      for (size_t k = 0; k < other; ++k)
        if (reached[other][k])
          mine[k] = true;
    }
  }
  return result;
}

std::vector<TaskTable> kiln::cuda::tablesOf(std::span<const PartLaunch> launches) {
  std::vector<TaskTable> tables;
  std::vector<std::vector<uint32_t>> before = findBefore(launches);
  size_t first = 0; // of the table
  for (size_t number = 0; number < launches.size(); ++number) {
    const PartLaunch &launch = launches[number];
    // Tables come one after the other, so what is in another one is done.
    auto entryOf = [&] {
      TaskTable::Entry entry{launch.kernel, launch.blocks, launch.arguments};
      for (uint32_t other : before[number])
        if (other >= first)
          entry.before.push_back(other - static_cast<uint32_t>(first));
      return entry;
    };
    if (!tables.empty() && tables.back().add(entryOf()))
      continue;
    first = number;
    tables.emplace_back(launch.kernel->description).add(entryOf());
  }
  return tables;
}
