#include "Orchestrate.h"

#include "kiln/runtime/task.h"

#include "abi/OrchestrationTensors.h"

using namespace kiln;
using namespace kiln::cuda;

Expected<std::shared_ptr<Buffer>> kiln::cuda::allocateOn(const Driver &driver, Stream stream,
                                                         uint64_t bytes) {
  DevicePointer memory = 0;
  // The driver refuses to allocate nothing.
  if (Status failed =
          driver.check(driver.allocate(&memory, bytes ? bytes : 1, stream), "cuMemAllocAsync");
      !failed.isOk())
    return failed;
  return Buffer::wrap(reinterpret_cast<void *>(memory), bytes,
                      [&driver, memory, stream] { driver.free(memory, stream); });
}

namespace {

using namespace orchestration_tensors;

struct Run : OrchestrationTensors {
  Run(const CudaProgram::Loaded &program, std::span<const NativeKernel> kernels,
      std::span<const Tensor> given, Stream stream, const kiln_orchestration_functions &table)
      : OrchestrationTensors(given, table), program(program), kernels(kernels),
        driver(*program.driver), stream(stream) {}

  const CudaProgram::Loaded &program;
  std::span<const NativeKernel> kernels;
  const Driver &driver;
  Stream stream;
  uint64_t submitted = 0;

  /// One element, once everything launched before is done.
  Status read(kiln_handle tensor, const int64_t *indices, std::byte (&bytes)[8]) {
    Expected<void *> address = tensors[tensor].elementAddress(perAxis(tensor, indices));
    if (!address)
      return address.status();
    size_t size = static_cast<size_t>(sizeOf(tensors[tensor].dtype()));
    if (Status failed = driver.check(driver.copyToHost(bytes, addressOf(*address), size, stream),
                                     "cuMemcpyDtoHAsync");
        !failed.isOk())
      return failed;
    return driver.check(driver.streamSynchronize(stream), "the kernels failed");
  }
};

Run &runOf(kiln_orchestration *run) { return *static_cast<Run *>(run); }

int32_t alloc(kiln_orchestration *handle, const kiln_source *source, int32_t dtype, uint32_t rank,
              const int64_t *extents, kiln_handle *result) {
  Run &run = runOf(handle);
  int64_t bytes = sizeOf(static_cast<DType>(dtype));
  std::vector<int64_t> strides(rank);
  int64_t elements = 1;
  for (uint32_t axis = rank; axis-- > 0;) {
    strides[axis] = elements;
    if (extents[axis] < 0 || __builtin_mul_overflow(elements, extents[axis], &elements))
      return run.fail(Status(StatusCode::InvalidArgument,
                             "a tensor " + toString(Dims(extents, rank)) + " cannot be allocated"),
                      source);
  }
  if (__builtin_mul_overflow(elements, bytes, &bytes))
    return run.fail(Status(StatusCode::OutOfMemory, "a tensor " + toString(Dims(extents, rank)) +
                                                        " is larger than any memory"),
                    source);
  Expected<std::shared_ptr<Buffer>> memory =
      allocateOn(run.driver, run.stream, static_cast<uint64_t>(bytes));
  if (!memory)
    return run.fail(memory.status(), source);
  return run.push(
      Tensor::view(*memory, 0, static_cast<DType>(dtype), Dims(extents, rank), Dims(strides)),
      source, result);
}

/// Whether the task is to run. Waits for what decides it.
Expected<bool> isWanted(Run &run, const kiln_predicate &predicate) {
  std::byte bytes[8];
  if (Status failed = run.read(predicate.tensor, predicate.indices, bytes); !failed.isOk())
    return failed;
  DType type = run.tensors[predicate.tensor].dtype();
  return satisfies(type, bytes, static_cast<Compare>(predicate.compare),
                   ScalarBits::fromInt(DType::I64, predicate.constant));
}

int32_t submit(kiln_orchestration *handle, const kiln_launch *launch, uint64_t *task) {
  Run &run = runOf(handle);
  if (task)
    *task = run.submitted;
  ++run.submitted;
  if (launch->predicate) {
    Expected<bool> wanted = isWanted(run, *launch->predicate);
    if (!wanted)
      return run.fail(wanted.status(), launch->source);
    if (!*wanted)
      return 0;
  }
  if (launch->kernel < 0)
    return 0;
  InplaceVector<kiln_tensor, 12> tensors;
  InplaceVector<uint64_t, 12> scalars;
  for (const kiln_launch_tensor &arg : std::span(launch->tensors, launch->num_tensors))
    tensors.push_back(run.tensors[arg.tensor].toAbi());
  for (const kiln_launch_scalar &arg : std::span(launch->scalars, launch->num_scalars))
    scalars.push_back(arg.bits);
  int64_t blocks[3] = {1, 1, 1};
  for (uint32_t axis = 0; axis < launch->grid_rank; ++axis)
    blocks[axis] = launch->grid[axis];
  auto number = static_cast<size_t>(launch->kernel);
  std::span<const kiln_tensor> given(tensors);
  std::span<const uint64_t> slots(scalars);
  const std::optional<Signature> &signature = run.kernels[number].signature;
  Status launched =
      signature ? signature->checkRequirements(kiln_args{given.data(), slots.data(),
                                                         launch->num_tensors, launch->num_scalars})
                : Status::ok();
  if (launched.isOk())
    launched =
        launchKernel(run.driver, run.program.kernels[number], given, slots, blocks, run.stream);
  return launched.isOk() ? 0 : run.fail(launched, launch->source);
}

int32_t get(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
            const int64_t *indices, uint64_t *bits) {
  Run &run = runOf(handle);
  std::byte bytes[8];
  if (Status failed = run.read(tensor, indices, bytes); !failed.isOk())
    return run.fail(failed, source);
  DType type = run.tensors[tensor].dtype();
  *bits = (isFloat(type) ? ScalarBits::fromDouble(type, loadElement(type, bytes))
                         : ScalarBits::fromInt(type, loadElementInt(type, bytes)))
              .bits;
  return 0;
}

void mark(kiln_orchestration *, kiln_handle) {}   // there is no dump
void beginScope(kiln_orchestration *, int32_t) {} // a stream orders everything
int32_t endScope(kiln_orchestration *, const kiln_source *) { return 0; }

constexpr kiln_orchestration_functions kFunctions = {
    alloc, slice,      transpose, reshape, dim,     submit, get,
    mark,  beginScope, endScope,  top,     release, fail};

} // namespace

Status kiln::cuda::orchestrate(const CudaProgram::Loaded &program,
                               std::span<const NativeKernel> kernels, kiln_orchestration_fn entry,
                               std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                               Stream stream) {
  Run run(program, kernels, tensors, stream, kFunctions);
  return run.call(entry, scalars);
}
