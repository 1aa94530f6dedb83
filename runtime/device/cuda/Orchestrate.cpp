#include "Orchestrate.h"

#include "kiln/runtime/inplace_vector.h"
#include "kiln/runtime/task.h"

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

/// What generated code sees as a kiln_orchestration.
struct Run : kiln_orchestration {
  Run(const CudaProgram::Loaded &program, std::span<const Tensor> given, Stream stream,
      const kiln_orchestration_functions &table)
      : kiln_orchestration{&table, KILN_ABI_VERSION}, program(program), driver(*program.driver),
        stream(stream), tensors(given.begin(), given.end()) {}

  const CudaProgram::Loaded &program;
  const Driver &driver;
  Stream stream;
  std::vector<Tensor> tensors; // by handle
  uint64_t submitted = 0;
  Status failure;

  int32_t fail(const Status &status, const kiln_source *source) {
    SourceLoc loc;
    if (source && source->file)
      loc = {source->file, source->line, source->col};
    failure = status.withLocation(loc);
    return static_cast<int32_t>(failure.code());
  }

  int32_t push(Expected<Tensor> tensor, const kiln_source *source, kiln_handle *result) {
    if (!tensor)
      return fail(tensor.status(), source);
    *result = static_cast<kiln_handle>(tensors.size());
    tensors.push_back(std::move(*tensor));
    return 0;
  }

  Dims perAxis(kiln_handle tensor, const int64_t *values) const {
    return Dims(values, static_cast<size_t>(tensors[tensor].rank()));
  }

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

int32_t slice(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
              const int64_t *offsets, const int64_t *sizes, uint32_t dropped, kiln_handle *result) {
  Run &run = runOf(handle);
  InplaceVector<int64_t, KILN_MAX_RANK> axes;
  for (int64_t axis = 0; axis < KILN_MAX_RANK; ++axis)
    if (dropped >> axis & 1)
      axes.push_back(axis);
  return run.push(run.tensors[tensor].slice(run.perAxis(tensor, offsets),
                                            run.perAxis(tensor, sizes),
                                            Dims(std::span<const int64_t>(axes))),
                  source, result);
}

int32_t transpose(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                  const int64_t *permutation, kiln_handle *result) {
  Run &run = runOf(handle);
  return run.push(run.tensors[tensor].transpose(run.perAxis(tensor, permutation)), source, result);
}

int32_t reshape(kiln_orchestration *handle, const kiln_source *source, kiln_handle tensor,
                uint32_t rank, const int64_t *extents, kiln_handle *result) {
  Run &run = runOf(handle);
  return run.push(run.tensors[tensor].reshape(Dims(extents, rank)), source, result);
}

int64_t dim(kiln_orchestration *handle, kiln_handle tensor, uint32_t axis) {
  return runOf(handle).tensors[tensor].extent(static_cast<int>(axis));
}

template <typename T> bool holds(int32_t compare, T a, T b) {
  switch (compare) {
  case KILN_EQ:
    return a == b;
  case KILN_NE:
    return a != b;
  case KILN_LT:
    return a < b;
  case KILN_LE:
    return a <= b;
  case KILN_GT:
    return a > b;
  default:
    return a >= b;
  }
}

/// Whether the task is to run. Waits for what decides it.
Expected<bool> isWanted(Run &run, const kiln_predicate &predicate) {
  std::byte bytes[8];
  if (Status failed = run.read(predicate.tensor, predicate.indices, bytes); !failed.isOk())
    return failed;
  DType type = run.tensors[predicate.tensor].dtype();
  if (isFloat(type))
    return holds(predicate.compare, loadElement(type, bytes), double(predicate.constant));
  return holds(predicate.compare, loadElementInt(type, bytes), predicate.constant);
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
  Status launched =
      launchKernel(run.driver, run.program.kernels[static_cast<size_t>(launch->kernel)],
                   std::span<const kiln_tensor>(tensors), std::span<const uint64_t>(scalars),
                   blocks, run.stream);
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

kiln_handle top(kiln_orchestration *handle) {
  return static_cast<kiln_handle>(runOf(handle).tensors.size());
}

void release(kiln_orchestration *handle, kiln_handle top) { runOf(handle).tensors.resize(top); }

int32_t fail(kiln_orchestration *handle, const kiln_source *source, const char *message) {
  return runOf(handle).fail(Status(StatusCode::InvalidArgument, message), source);
}

constexpr kiln_orchestration_functions kFunctions = {
    alloc, slice,      transpose, reshape, dim,     submit, get,
    mark,  beginScope, endScope,  top,     release, fail};

} // namespace

Status kiln::cuda::orchestrate(const CudaProgram::Loaded &program, kiln_orchestration_fn entry,
                               std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                               Stream stream) {
  Run run(program, tensors, stream, kFunctions);
  std::vector<uint64_t> slots;
  for (const ScalarBits &scalar : scalars)
    slots.push_back(scalar.bits);
  int32_t result = entry(&run, slots.data());
  if (run.failure.isOk() && result != 0)
    return Status(StatusCode::Internal, "the orchestration returned " + std::to_string(result) +
                                            " without saying what failed");
  return run.failure;
}
