//===- kiln/runtime/cuda_kernel.h - what is to be known to launch a kernel ---===//
//
// What: the description of a compiled CUDA kernel that a bundle carries beside its cubin. The
//   kernel takes one parameter, its argument block: the tensor maps (128 bytes each, the block is
//   aligned to 64), then the tensors as kiln_tensor, then one word for each scalar, then the three
//   extents of the grid and, where blocks count (at a barrier, or because they are handed out), the
//   address of a word that is 0. All of it is filled in for each launch.
//   Kernels of a program that was compiled to one persistent kernel are parts of that: its
//   parameter is a table of tasks, with their argument blocks.
//
// Ownership and threads: a value.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_CUDA_KERNEL_H
#define KILN_RUNTIME_CUDA_KERNEL_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// A box of a tensor that the copy engine moves; the tensor's last two axes.
struct CudaTensorMap {
  uint32_t tensor; ///< Which, in task order.
  uint32_t rows, cols;
  bool streams = false; ///< Nobody reads the box again.
  /// Boxes are read before the kernels that come first have ended, if the launch says so.
  bool isAhead = false;
  friend bool operator==(const CudaTensorMap &, const CudaTensorMap &) = default;
};

struct CudaKernel {
  std::string name;   ///< As in the program.
  std::string symbol; ///< As in the cubin.
  std::string file;   ///< The cubin, in the bundle.
  uint32_t threads = 0;
  uint32_t sharedBytes = 0; ///< Dynamic.
  uint32_t numTensors = 0, numScalars = 0;
  std::vector<CudaTensorMap> maps;
  /// Whether no more blocks are launched than run at once, which walk the blocks of the grid; else
  /// there is one for each.
  bool isPersistent = true;
  bool hasBarrier = false; ///< Its blocks wait for one another, so all of them run at once.
  /// Who is done with a block takes the next one that nobody has: of a persistent kernel without a
  /// barrier.
  bool handsOutBlocks = false;
  /// Blocks run in clusters of two, which walk neighbouring blocks of the grid: of a persistent
  /// kernel that does neither.
  bool pairsBlocks = false;
  bool isChecked = false; ///< A wait that takes too long ends it with a report.
  /// Of a part of a persistent kernel: how large its table of tasks is, and the part's number. 0:
  /// it is a kernel of its own.
  uint32_t tableBytes = 0, part = 0;

  /// Whether its argument block ends with the address of a word in which blocks count.
  bool counts() const { return hasBarrier || handsOutBlocks; }
  bool isPart() const { return tableBytes != 0; }
  /// Whether it has something to read before the kernels that come first have ended.
  bool runsAhead() const { return std::ranges::any_of(maps, &CudaTensorMap::isAhead); }
};

inline constexpr uint64_t cudaTensorMapBytes = 128;
/// Of kiln_tensor.flags in an argument block: the copy engine may read the tensor.
inline constexpr uint16_t cudaHasTensorMap = 0x8000;
/// The same: nothing that may still run when the kernel begins writes the tensor.
inline constexpr uint16_t cudaMayReadAhead = 0x4000;

inline uint64_t argumentBytes(const CudaKernel &kernel) {
  return kernel.maps.size() * cudaTensorMapBytes + kernel.numTensors * uint64_t(96) +
         kernel.numScalars * uint64_t(8) + (kernel.counts() ? 4 : 3) * uint64_t(8);
}
/// The same, as a whole number of the lines that argument blocks are aligned to.
inline uint64_t argumentLineBytes(const CudaKernel &kernel) {
  return (argumentBytes(kernel) + 63) / 64 * 64;
}

/// A task as the table has it (device/cuda/persistent.cuh); places are in bytes behind the
/// beginning of the table.
struct CudaTask {
  uint32_t kernel;            ///< The number of the part.
  uint32_t arguments;         ///< The place of its argument block.
  uint32_t comers;            ///< How many blocks come to its counter.
  uint32_t before, numBefore; ///< The place of the numbers of the tasks that it waits for.
  uint32_t unused;
};
/// What a table begins with; the tasks come next.
struct CudaTaskTable {
  uint64_t counters; ///< Where they are, one word for each task. 0: there is one task.
  uint64_t times;    ///< Where blocks write when they began and ended what; 0: nowhere.
  uint32_t count, unused;
};
inline constexpr uint64_t taskTableHead = sizeof(CudaTaskTable);
inline constexpr uint64_t taskTableLine = 64; ///< Argument blocks begin at multiples of it.
/// A kernel's parameter has up to 32764 bytes.
inline constexpr uint64_t mostTaskTableBytes = 32704;
/// What a task takes in a table: with its argument block, and a few numbers of others.
inline uint64_t taskBytes(const CudaKernel &kernel) {
  return sizeof(CudaTask) + 4 * sizeof(uint32_t) + argumentLineBytes(kernel);
}

} // namespace kiln

#endif // KILN_RUNTIME_CUDA_KERNEL_H
