#include "kiln/runtime/gpu_tensors.h"

#include "Orchestrate.h"
#include "StreamArguments.h"

using namespace kiln;
using namespace kiln::cuda;

namespace {
/// A tensor that calls may write: as it was at first, and where the host reads it.
struct Written {
  size_t index;
  std::shared_ptr<Buffer> original;
  Tensor here;
};
} // namespace

struct GpuTensors::State {
  const Gpu &gpu;
  std::vector<Tensor> given;   ///< In the host's memory.
  std::vector<Tensor> tensors; ///< On the GPU.
  std::vector<Written> written;
};

GpuTensors::GpuTensors(std::unique_ptr<State> state) : Has(std::move(state)) {}

GpuTensors::~GpuTensors() {
  CurrentGpu current(Has->gpu);
  Has->gpu.driver->streamSynchronize(nullptr);
  Has->tensors.clear();
  Has->written.clear();
}

int GpuTensors::gpu() const { return Has->gpu.number; }
std::span<const Tensor> GpuTensors::tensors() const { return Has->tensors; }

static DevicePointer addressOf(const Buffer &buffer) {
  return reinterpret_cast<uintptr_t>(buffer.data());
}

/// The same elements on the GPU, row after row.
static Expected<Tensor> copyTo(const Gpu &gpu, const Tensor &tensor) {
  const Driver &cuda = *gpu.driver;
  std::vector<std::byte> gathered;
  const void *bytes = tensor.data();
  if (!tensor.isContiguous()) {
    Expected<std::vector<std::byte>> dense = tensor.gatherBytes();
    if (!dense)
      return dense.status();
    gathered = std::move(*dense);
    bytes = gathered.data();
  }
  uint64_t size = tensor.numBytes();
  Expected<std::shared_ptr<Buffer>> there = allocateOn(cuda, nullptr, size);
  if (!there)
    return there.status();
  Result result = size ? cuda.copyToDevice(addressOf(**there), bytes, size, nullptr) : 0;
  result = result ? result : cuda.streamSynchronize(nullptr);
  if (Status failed = cuda.check(result, "cuMemcpyHtoDAsync"); !failed.isOk())
    return failed;
  Expected<RowMajor> layout = RowMajor::of(tensor.dtype(), tensor.extents());
  if (!layout)
    return layout.status();
  return Tensor::view(*there, 0, tensor.dtype(), tensor.extents(),
                      Dims(layout->strides.data(), tensor.extents().size()));
}

/// What it takes to restore and to read a tensor on the GPU.
static Expected<Written> keep(const Driver &cuda, size_t index, const Tensor &tensor) {
  const Buffer &now = *tensor.buffer();
  Expected<std::shared_ptr<Buffer>> original = allocateOn(cuda, nullptr, now.bytes());
  if (!original)
    return original.status();
  if (now.bytes() > 0)
    if (Status failed = cuda.check(
            cuda.copyOnDevice(addressOf(**original), addressOf(now), now.bytes(), nullptr),
            "cuMemcpyDtoDAsync");
        !failed.isOk())
      return failed;
  Expected<Tensor> here = Tensor::empty(tensor.dtype(), tensor.extents());
  if (!here)
    return here.status();
  return Written{index, std::move(*original), std::move(*here)};
}

Expected<std::unique_ptr<GpuTensors>> GpuTensors::copy(std::span<const Tensor> tensors,
                                                       const std::vector<bool> &isWritten) {
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.status();
  Expected<const Gpu *> gpu = (*driver)->gpu(0);
  if (!gpu)
    return gpu.status();
  CurrentGpu current(**gpu);
  if (!current.status().isOk())
    return current.status();
  std::unique_ptr<GpuTensors> made(new GpuTensors(std::make_unique<State>(
      State{**gpu, std::vector<Tensor>(tensors.begin(), tensors.end()), {}, {}})));
  for (size_t index = 0; index < tensors.size(); ++index) {
    Expected<Tensor> there = copyTo(**gpu, tensors[index]);
    if (!there)
      return there.status();
    made->Has->tensors.push_back(std::move(*there));
    if (!isWritten[index])
      continue;
    Expected<Written> written = keep(**driver, index, made->Has->tensors.back());
    if (!written)
      return written.status();
    made->Has->written.push_back(std::move(*written));
  }
  return made;
}

Status GpuTensors::wait() const {
  CurrentGpu current(Has->gpu);
  if (!current.status().isOk())
    return current.status();
  const Driver &cuda = *Has->gpu.driver;
  return cuda.check(cuda.streamSynchronize(nullptr), "the kernels failed");
}

Status GpuTensors::restore() {
  CurrentGpu current(Has->gpu);
  if (!current.status().isOk())
    return current.status();
  const Driver &cuda = *Has->gpu.driver;
  for (const Written &each : Has->written) {
    const Buffer &now = *Has->tensors[each.index].buffer();
    if (now.bytes() == 0)
      continue;
    Result result =
        cuda.copyOnDevice(addressOf(now), addressOf(*each.original), now.bytes(), nullptr);
    if (Status failed = cuda.check(result, "cuMemcpyDtoDAsync"); !failed.isOk())
      return failed;
  }
  return Status::ok();
}

Expected<std::vector<Tensor>> GpuTensors::read() {
  CurrentGpu current(Has->gpu);
  if (!current.status().isOk())
    return current.status();
  const Driver &cuda = *Has->gpu.driver;
  std::vector<Tensor> read = Has->given;
  for (const Written &each : Has->written) {
    const Buffer &from = *Has->tensors[each.index].buffer();
    read[each.index] = each.here;
    if (from.bytes() == 0)
      continue;
    Result result = cuda.copyToHost(each.here.data(), addressOf(from), from.bytes(), nullptr);
    if (Status failed = cuda.check(result, "cuMemcpyDtoHAsync"); !failed.isOk())
      return failed;
  }
  if (Status failed = wait(); !failed.isOk())
    return failed;
  return read;
}
