#include "kiln/runtime/gpu_tensors.h"

#include "Orchestrate.h"
#include "StreamArguments.h"

using namespace kiln;
using namespace kiln::cuda;

struct GpuTensors::State {
  const Gpu &gpu;
  std::vector<Tensor> tensors;
};

GpuTensors::GpuTensors(std::unique_ptr<State> state) : Has(std::move(state)) {}

GpuTensors::~GpuTensors() {
  CurrentGpu current(Has->gpu);
  Has->gpu.driver->streamSynchronize(nullptr);
  Has->tensors.clear();
}

int GpuTensors::gpu() const { return Has->gpu.number; }
std::span<const Tensor> GpuTensors::tensors() const { return Has->tensors; }

/// The same elements on the GPU, row after row.
static Expected<Tensor> copyTo(const Gpu &gpu, const Tensor &tensor) {
  const Driver &cuda = *gpu.driver;
  Expected<std::vector<std::byte>> bytes = tensor.gatherBytes();
  if (!bytes)
    return bytes.status();
  Expected<std::shared_ptr<Buffer>> there = allocateOn(cuda, nullptr, bytes->size());
  if (!there)
    return there.status();
  Result result = bytes->empty() ? 0
                                 : cuda.copyToDevice(reinterpret_cast<uintptr_t>((*there)->data()),
                                                     bytes->data(), bytes->size(), nullptr);
  result = result ? result : cuda.streamSynchronize(nullptr);
  if (Status failed = cuda.check(result, "cuMemcpyHtoDAsync"); !failed.isOk())
    return failed;
  Expected<RowMajor> layout = RowMajor::of(tensor.dtype(), tensor.extents());
  if (!layout)
    return layout.status();
  return Tensor::view(*there, 0, tensor.dtype(), tensor.extents(),
                      Dims(layout->strides.data(), tensor.extents().size()));
}

Expected<std::unique_ptr<GpuTensors>> GpuTensors::copy(std::span<const Tensor> tensors) {
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.status();
  Expected<const Gpu *> gpu = (*driver)->gpu(0);
  if (!gpu)
    return gpu.status();
  CurrentGpu current(**gpu);
  if (!current.status().isOk())
    return current.status();
  std::unique_ptr<GpuTensors> made(new GpuTensors(std::make_unique<State>(State{**gpu, {}})));
  for (const Tensor &tensor : tensors) {
    Expected<Tensor> there = copyTo(**gpu, tensor);
    if (!there)
      return there.status();
    made->Has->tensors.push_back(std::move(*there));
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

Expected<std::vector<Tensor>> GpuTensors::read() const {
  CurrentGpu current(Has->gpu);
  if (!current.status().isOk())
    return current.status();
  const Driver &cuda = *Has->gpu.driver;
  std::vector<Tensor> read;
  for (const Tensor &tensor : Has->tensors) {
    Expected<Tensor> here = Tensor::empty(tensor.dtype(), tensor.extents());
    if (!here)
      return here.status();
    const Buffer &from = *tensor.buffer();
    if (from.bytes() > 0)
      if (Status failed =
              cuda.check(cuda.copyToHost(here->data(), reinterpret_cast<uintptr_t>(from.data()),
                                         from.bytes(), nullptr),
                         "cuMemcpyDtoHAsync");
          !failed.isOk())
        return failed;
    read.push_back(std::move(*here));
  }
  if (Status failed = wait(); !failed.isOk())
    return failed;
  return read;
}
