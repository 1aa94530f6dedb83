//===- TaskTable.h - what a persistent kernel is to do
//-----------------------------------------===//
//
// Tasks in the order in which they are done, with their argument blocks and what each waits for:
// the parameter of a kernel that was made of all kernels of a program (device/cuda/persistent.cuh).
// It has a fixed size; more tasks than it has room for take several launches.
//
// Ownership: copies what it is given when it is written. Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_TASKTABLE_H
#define KILN_RUNTIME_DEVICE_CUDA_TASKTABLE_H

#include "Launch.h"

#include <vector>

namespace kiln::cuda {

class TaskTable {
public:
  struct Entry {
    const LoadedKernel *kernel;
    unsigned comers; ///< The blocks that have a share of it.
    ArgumentBlock *arguments;
    std::vector<uint32_t> before = {}; ///< The numbers of those that it waits for.
  };

  /// Of the kernel that `part` is a part of.
  explicit TaskTable(const CudaKernel &part) : Lines((part.tableBytes + 63) / 64) {}

  /// False if there is no room for it.
  bool add(Entry entry);
  std::span<const Entry> entries() const { return Entries; }
  const LoadedKernel &kernel() const { return *Entries.front().kernel; }
  /// To be started.
  unsigned blocks() const;
  /// Copies the arguments as they are now. `counters`: one word for each task, which are 0 when the
  /// kernel starts; 0 for one task alone. `times`: two words for each block and task, or 0.
  void write(DevicePointer counters, DevicePointer times = 0);
  void *begin() { return Lines.data(); }

private:
  uint64_t argumentsAt(size_t entries, size_t numbers) const;
  uint64_t used() const;

  std::vector<TensorMap> Lines; ///< 128 bytes each, aligned to 64.
  std::vector<Entry> Entries;
};

/// A launch of a part.
struct PartLaunch {
  const LoadedKernel *kernel;
  unsigned blocks; ///< To be started, if it was alone.
  ArgumentBlock *arguments;
  const std::vector<bool> *writes; ///< Whether it writes the tensor.
};
/// For each, the numbers of the earlier ones that it has to wait for: those that write what it
/// reads or writes, or read what it writes. Those that others of them wait for are left out.
std::vector<std::vector<uint32_t>> findBefore(std::span<const PartLaunch> launches);
/// In tables, each of which has as many as it has room for. They are to be written.
std::vector<TaskTable> tablesOf(std::span<const PartLaunch> launches);

/// The bytes of a tensor, from the first to behind the last.
std::pair<uintptr_t, uintptr_t> rangeOf(const kiln_tensor &tensor);

/// Has the driver start a table's tasks: all of its blocks at once.
Result startTable(const Driver &driver, TaskTable &table, const LaunchPlace &place);

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_TASKTABLE_H
