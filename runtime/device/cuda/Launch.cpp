#include "Launch.h"

#include "TaskTable.h"
#include "Watch.h"

#include "kiln/runtime/task.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::cuda;

/// A box of the tensor's last two axes as the copy engine wants it described, from the extents and
/// strides of this call. False where it cannot read the tensor: it needs rows side by side, and
/// bases and strides that are multiples of 16 bytes.
static bool encode(const Driver &driver, const CudaTensorMap &box, const kiln_tensor &tensor,
                   TensorMap &map) {
  uint64_t bytes = static_cast<uint64_t>(sizeOf(static_cast<DType>(tensor.dtype)));
  int rank = tensor.rank;
  if (rank < 2 || reinterpret_cast<uintptr_t>(tensor.data) % 16 != 0 ||
      (tensor.strides[rank - 1] != 1 && tensor.extents[rank - 1] > 1) || bytes > 4)
    return false;
  // The engine counts axes from the innermost, and knows that one's stride.
  uint64_t extents[KILN_MAX_RANK], strides[KILN_MAX_RANK];
  uint32_t boxes[KILN_MAX_RANK], steps[KILN_MAX_RANK];
  for (int axis = 0; axis < rank; ++axis) {
    int from = rank - 1 - axis;
    uint64_t stride = static_cast<uint64_t>(tensor.strides[from]) * bytes;
    // A stride that is never used still has to be one the engine takes.
    if (axis > 0 && tensor.extents[from] <= 1)
      stride = 16;
    if (tensor.extents[from] <= 0 || tensor.extents[from] >= int64_t(1) << 31 ||
        (axis > 0 && (stride == 0 || stride % 16 != 0 || stride >= uint64_t(1) << 40)))
      return false;
    extents[axis] = static_cast<uint64_t>(tensor.extents[from]);
    if (axis > 0)
      strides[axis - 1] = stride;
    boxes[axis] = axis == 0 ? box.cols : axis == 1 ? box.rows : 1;
    steps[axis] = 1;
  }
  uint64_t rowBytes = box.cols * bytes;
  int swizzle = rowBytes == 128 ? kSwizzle128 : rowBytes == 64 ? kSwizzle64 : kSwizzle32;
  int type = bytes == 1 ? kMapUint8 : bytes == 2 ? kMapUint16 : kMapUint32;
  return driver.encodeTensorMap(&map, type, static_cast<uint32_t>(rank), tensor.data, extents,
                                strides, boxes, steps, kNoInterleave, swizzle,
                                box.streams ? kPromote128 : kPromote256, kFillZero) == 0;
}

ArgumentBlock::ArgumentBlock(const CudaKernel &kernel, std::span<const kiln_tensor> tensors,
                             std::span<const uint64_t> scalars, std::span<const int64_t, 3> blocks)
    : Kernel(kernel) {
  // Rounded up: the driver reads as much as the kernel's parameter has with its alignment.
  uint64_t bytes = (argumentBytes(kernel) + 63) / 64 * 64;
  if (bytes > sizeof Small) {
    Large.reset(new (std::align_val_t(64)) std::byte[bytes]);
    Begin = Large.get();
  }
  Maps = reinterpret_cast<TensorMap *>(Begin);
  Tensors = reinterpret_cast<kiln_tensor *>(Maps + kernel.maps.size());
  std::ranges::copy(tensors, Tensors);
  setMayReadAhead(false);
  Scalars = reinterpret_cast<uint64_t *>(Tensors + tensors.size());
  Grid = reinterpret_cast<int64_t *>(std::ranges::copy(scalars, Scalars).out);
  Arrivals = reinterpret_cast<DevicePointer *>(std::ranges::copy(blocks, Grid).out);
  if (kernel.counts())
    setArrivals(0);
}

void ArgumentBlock::setData(const Driver &driver, size_t tensor, void *data) {
  kiln_tensor &given = Tensors[tensor];
  given.data = data;
  bool isReadByEngine = true;
  for (size_t i = 0; i < Kernel.maps.size(); ++i)
    if (Kernel.maps[i].tensor == tensor)
      isReadByEngine &= encode(driver, Kernel.maps[i], given, Maps[i]);
  given.flags = static_cast<uint16_t>(isReadByEngine ? given.flags | cudaHasTensorMap
                                                     : given.flags & ~cudaHasTensorMap);
}

bool ArgumentBlock::setMayReadAhead(bool may) {
  bool isNew = false;
  for (const CudaTensorMap &map : Kernel.maps) {
    if (!map.isAhead)
      continue;
    uint16_t &flags = Tensors[map.tensor].flags;
    isNew |= bool(flags & cudaMayReadAhead) != may;
    flags = static_cast<uint16_t>(may ? flags | cudaMayReadAhead : flags & ~cudaMayReadAhead);
  }
  return isNew;
}

Status kiln::cuda::verifyCounts(const CudaKernel &kernel, size_t tensors, size_t scalars) {
  if (tensors == kernel.numTensors && scalars == kernel.numScalars)
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "'" + kernel.name + "' takes " + std::to_string(kernel.numTensors) +
                    " tensors and " + std::to_string(kernel.numScalars) + " numbers; given are " +
                    std::to_string(tensors) + " and " + std::to_string(scalars));
}

Expected<unsigned> kiln::cuda::blocksToStart(const Gpu &gpu, const LoadedKernel &kernel,
                                             std::span<const int64_t, 3> blocks) {
  const CudaKernel &description = kernel.description;
  if (Status bad = verifyBlocks(blocks); !bad.isOk())
    return bad.withPrefix("kernel '" + description.name + "'");
  if (std::ranges::count(blocks, 0) != 0)
    return 0u;
  int64_t count = blocks[0] * blocks[1] * blocks[2];
  int64_t atOnce = description.isPersistent
                       ? int64_t(gpu.multiprocessors) * kernel.blocksPerMultiprocessor
                       : std::numeric_limits<int>::max(); // what a launch can have
  if (description.hasBarrier && count > atOnce)
    return Status(StatusCode::InvalidArgument,
                  "the blocks of '" + description.name + "' meet at a barrier, so all " +
                      std::to_string(count) + " must run at once; this GPU runs " +
                      std::to_string(atOnce));
  if ((description.handsOutBlocks || description.isPart()) &&
      count > std::numeric_limits<int>::max())
    return Status(StatusCode::InvalidArgument,
                  "'" + description.name + "' knows its blocks by numbers of 32 bits; it has " +
                      std::to_string(count));
  if (description
          .pairsBlocks) { // the last block of an odd number has a neighbour that does nothing
    count += count % 2;
    atOnce = std::max<int64_t>(atOnce / 2 * 2, 2);
  }
  return static_cast<unsigned>(std::min(count, atOnce));
}

bool kiln::cuda::needsCounter(const CudaKernel &kernel, std::span<const int64_t, 3> blocks,
                              unsigned started) {
  return kernel.hasBarrier ||
         (kernel.handsOutBlocks && blocks[0] * blocks[1] * blocks[2] > int64_t(started));
}

Result kiln::cuda::startKernel(const Driver &driver, const LoadedKernel &kernel, unsigned blocks,
                               ArgumentBlock &arguments, const LaunchPlace &place) {
  const CudaKernel &description = kernel.description;
  if (description.isPart()) {
    TaskTable alone(description);
    alone.add({&kernel, blocks, &arguments});
    alone.write(0);
    Result result = startTable(driver, alone, place);
    if (place.watched && result == 0) [[unlikely]]
      place.watched->launched(kernel, blocks, arguments);
    return result;
  }
  void *parameters[] = {arguments.begin()};
  if (place.beginsEarly && !place.watched) {
    LaunchAttribute early{kBeginsEarly, {1}};
    LaunchConfig config{{blocks, 1, 1},
                        {description.threads, 1, 1},
                        description.sharedBytes,
                        place.stream,
                        &early,
                        1};
    return driver.launchKernelEx(&config, kernel.function, parameters, nullptr);
  }
  Result result = driver.launchKernel(kernel.function, blocks, 1, 1, description.threads, 1, 1,
                                      description.sharedBytes, place.stream, parameters, nullptr);
  if (place.watched && result == 0) [[unlikely]]
    place.watched->launched(kernel, blocks, arguments);
  return result;
}

Status kiln::cuda::launchKernel(const Gpu &gpu, const LoadedKernel &kernel,
                                std::span<const kiln_tensor> tensors,
                                std::span<const uint64_t> scalars,
                                std::span<const int64_t, 3> blocks, const LaunchPlace &place) {
  const Driver &driver = *gpu.driver;
  if (Status bad = verifyCounts(kernel.description, tensors.size(), scalars.size()); !bad.isOk())
    return bad;
  Expected<unsigned> started = blocksToStart(gpu, kernel, blocks);
  if (!started || *started == 0)
    return started.status();
  ArgumentBlock block(kernel.description, tensors, scalars, blocks);
  for (size_t i = 0; i < tensors.size(); ++i)
    block.setData(driver, i, tensors[i].data);
  DevicePointer arrivals = 0;
  if (needsCounter(kernel.description, blocks, *started)) {
    Result result = driver.allocate(&arrivals, sizeof(uint64_t), place.stream);
    result = result ? result : driver.fillBytes(arrivals, 0, sizeof(uint64_t), place.stream);
    if (Status failed = driver.check(result, "cuMemAllocAsync"); !failed.isOk())
      return failed;
    block.setArrivals(arrivals);
  }
  Result launched = startKernel(driver, kernel, *started, block, place);
  if (arrivals)
    driver.free(arrivals, place.stream);
  return driver.check(launched, "cuLaunchKernel");
}
