#include "Launch.h"

#include "kiln/runtime/inplace_vector.h"
#include "kiln/runtime/task.h"

#include <algorithm>
#include <cstring>

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
      (tensor.strides[rank - 1] != 1 && tensor.extents[rank - 1] > 1) || (bytes != 2 && bytes != 4))
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
  return driver.encodeTensorMap(&map, bytes == 2 ? kMapUint16 : kMapUint32,
                                static_cast<uint32_t>(rank), tensor.data, extents, strides, boxes,
                                steps, kNoInterleave, swizzle,
                                box.streams ? kPromote128 : kPromote256, kFillZero) == 0;
}

namespace {

/// The argument block, put together on the stack where it is not unusually large.
class ArgumentBlock {
public:
  explicit ArgumentBlock(const CudaKernel &kernel) {
    // Rounded up: the driver reads as much as the kernel's parameter has with its alignment.
    uint64_t bytes = (argumentBytes(kernel) + 63) / 64 * 64;
    if (bytes > sizeof Small) {
      Large.reset(new (std::align_val_t(64)) std::byte[bytes]);
      Begin = Large.get();
    }
    Next = Begin;
  }

  template <typename T> T *add(uint64_t count = 1) {
    T *at = reinterpret_cast<T *>(Next);
    Next += count * sizeof(T);
    return at;
  }
  void *data() { return Begin; }

private:
  struct Delete {
    void operator()(std::byte *bytes) const { operator delete[](bytes, std::align_val_t(64)); }
  };
  alignas(64) std::byte Small[2048];
  std::unique_ptr<std::byte[], Delete> Large;
  std::byte *Begin = Small, *Next;
};

} // namespace

Status kiln::cuda::launchKernel(const Gpu &gpu, const LoadedKernel &kernel,
                                std::span<const kiln_tensor> tensors,
                                std::span<const uint64_t> scalars,
                                std::span<const int64_t, 3> blocks, Stream stream) {
  const CudaKernel &description = kernel.description;
  const Driver &driver = *gpu.driver;
  if (tensors.size() != description.numTensors || scalars.size() != description.numScalars)
    return Status(StatusCode::InvalidArgument,
                  "'" + description.name + "' takes " + std::to_string(description.numTensors) +
                      " tensors and " + std::to_string(description.numScalars) +
                      " numbers; given are " + std::to_string(tensors.size()) + " and " +
                      std::to_string(scalars.size()));
  if (Status bad = verifyBlocks(blocks); !bad.isOk())
    return bad.withPrefix("kernel '" + description.name + "'");
  if (std::ranges::count(blocks, 0) != 0)
    return Status::ok();
  int64_t count = blocks[0] * blocks[1] * blocks[2];
  ArgumentBlock block(description);
  auto *maps = block.add<TensorMap>(description.maps.size());
  auto *given = block.add<kiln_tensor>(tensors.size());
  std::copy(tensors.begin(), tensors.end(), given);
  for (size_t i = 0; i < tensors.size(); ++i)
    given[i].flags |= cudaHasTensorMap;
  for (size_t i = 0; i < description.maps.size(); ++i) {
    kiln_tensor &tensor = given[description.maps[i].tensor];
    if (!encode(driver, description.maps[i], tensor, maps[i]))
      tensor.flags &= static_cast<uint16_t>(~cudaHasTensorMap);
  }
  std::copy(scalars.begin(), scalars.end(), block.add<uint64_t>(scalars.size()));
  std::copy(blocks.begin(), blocks.end(), block.add<int64_t>(3));
  int64_t atOnce = description.isPersistent
                       ? int64_t(gpu.multiprocessors) * kernel.blocksPerMultiprocessor
                       : std::numeric_limits<int>::max(); // what a launch can have
  DevicePointer arrivals = 0;
  if (description.hasBarrier) {
    if (count > atOnce)
      return Status(StatusCode::InvalidArgument,
                    "the blocks of '" + description.name + "' meet at a barrier, so all " +
                        std::to_string(count) + " must run at once; this GPU runs " +
                        std::to_string(atOnce));
    Result result = driver.allocate(&arrivals, sizeof(uint64_t), stream);
    result = result ? result : driver.fillBytes(arrivals, 0, sizeof(uint64_t), stream);
    if (Status failed = driver.check(result, "cuMemAllocAsync"); !failed.isOk())
      return failed;
    *block.add<DevicePointer>() = arrivals;
  }
  void *parameters[] = {block.data()};
  Result launched = driver.launchKernel(
      kernel.function, static_cast<unsigned>(std::min(count, atOnce)), 1, 1, description.threads, 1,
      1, description.sharedBytes, stream, parameters, nullptr);
  if (arrivals)
    driver.free(arrivals, stream);
  return driver.check(launched, "cuLaunchKernel");
}
