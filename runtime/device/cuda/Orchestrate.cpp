#include "Orchestrate.h"

#include "Hang.h"

#include "kiln/runtime/task.h"

#include "abi/OrchestrationRun.h"
#include "kiln/runtime/inplace_vector.h"

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

/// Marks and scopes mean nothing here: there is no dump, and a stream orders everything.
class StreamRun final : public OrchestrationRun {
public:
  StreamRun(const CudaProgram::Loaded &program, std::span<const NativeKernel> kernels,
            std::span<const Tensor> given, Stream stream, const RankPlace &ranks)
      : OrchestrationRun(given), Program(program), Kernels(kernels), Cuda(*program.gpu->driver),
        On(stream),
        Ranks(*program.gpu, ranks, std::span(program.kernels).subspan(kernels.size()), stream) {}

  /// What is still to be done after the last task was launched.
  Status finish(const Status &ended) { return Ranks.finish(ended); }

protected:
  Expected<Tensor> alloc(DType dtype, Dims extents) override {
    int64_t bytes = sizeOf(dtype);
    std::vector<int64_t> strides(extents.size());
    int64_t elements = 1;
    for (size_t axis = extents.size(); axis-- > 0;) {
      strides[axis] = elements;
      if (extents[axis] < 0 || __builtin_mul_overflow(elements, extents[axis], &elements))
        return Status(StatusCode::InvalidArgument,
                      "a tensor " + toString(extents) + " cannot be allocated");
    }
    if (__builtin_mul_overflow(elements, bytes, &bytes))
      return Status(StatusCode::OutOfMemory,
                    "a tensor " + toString(extents) + " is larger than any memory");
    Expected<std::shared_ptr<Buffer>> memory = allocateOn(Cuda, On, static_cast<uint64_t>(bytes));
    if (!memory)
      return memory.status();
    return Tensor::view(*memory, 0, dtype, extents, Dims(strides));
  }

  Expected<uint64_t> submit(const kiln_launch &launch) override {
    uint64_t number = Submitted++;
    if (launch.predicate) {
      Expected<bool> wanted = isWanted(*launch.predicate);
      if (!wanted)
        return wanted.status();
      if (!*wanted)
        return number;
    }
    if (launch.kernel < 0)
      return number;
    Status launched = start(launch);
    return launched.isOk() ? Expected<uint64_t>(number) : launched;
  }

  Expected<uint64_t> get(kiln_handle handle, const int64_t *indices) override {
    std::byte bytes[8];
    if (Status failed = read(handle, indices, bytes); !failed.isOk())
      return failed;
    DType type = tensor(handle).dtype();
    return (isFloat(type) ? ScalarBits::fromDouble(type, loadElement(type, bytes))
                          : ScalarBits::fromInt(type, loadElementInt(type, bytes)))
        .bits;
  }

  Expected<uint64_t> collect(const kiln_collective &collective) override {
    uint64_t number = Submitted++;
    Status started = Ranks.start(taskOf(collective, 0), number);
    return started.isOk() ? Expected<uint64_t>(number) : started;
  }

  Expected<int64_t> rank(const kiln_rank_group &group, bool wantsCount) override {
    Expected<RankLine> line = groupOf(group).lineOf(Ranks.rank(), Ranks.ranks());
    if (!line)
      return line.status();
    return int64_t{wantsCount ? line->count : line->placeOf(Ranks.rank())};
  }

private:
  /// One element, once everything launched before is done.
  Status read(kiln_handle handle, const int64_t *indices, std::byte (&bytes)[8]) {
    Expected<void *> address = tensor(handle).elementAddress(perAxis(handle, indices));
    if (!address)
      return address.status();
    // First, so that nothing is copied any more where another rank has failed.
    if (Status failed = Ranks.synchronize(); !failed.isOk())
      return failed;
    size_t size = static_cast<size_t>(sizeOf(tensor(handle).dtype()));
    if (Status failed =
            Cuda.check(Cuda.copyToHost(bytes, addressOf(*address), size, On), "cuMemcpyDtoHAsync");
        !failed.isOk())
      return failed;
    if (Status failed = Cuda.check(Cuda.streamSynchronize(On), "the kernels failed");
        !failed.isOk())
      return failed;
    return takeHang(*Program.gpu);
  }

  /// Whether the task is to run. Waits for what decides it.
  Expected<bool> isWanted(const kiln_launch_predicate &predicate) {
    std::byte bytes[8];
    if (Status failed = read(predicate.tensor, predicate.indices, bytes); !failed.isOk())
      return failed;
    DType type = tensor(predicate.tensor).dtype();
    return satisfies(type, bytes, static_cast<Compare>(predicate.compare),
                     ScalarBits::fromInt(DType::I64, predicate.constant));
  }

  Status start(const kiln_launch &launch) {
    InplaceVector<kiln_tensor, 12> tensors, read, written;
    InplaceVector<uint64_t, 12> scalars;
    for (const kiln_launch_tensor &arg : std::span(launch.tensors, launch.num_tensors)) {
      kiln_tensor given = tensor(arg.tensor).toAbi();
      bool isRead = static_cast<Direction>(arg.direction) == Direction::In;
      (isRead ? read : written).push_back(given);
      tensors.push_back(given);
    }
    if (Status bad = Ranks.before(read, written, {launch.deps, launch.num_deps}); !bad.isOk())
      return bad;
    for (const kiln_launch_scalar &arg : std::span(launch.scalars, launch.num_scalars))
      scalars.push_back(arg.bits);
    int64_t blocks[3] = {1, 1, 1};
    for (uint32_t axis = 0; axis < launch.grid_rank; ++axis)
      blocks[axis] = launch.grid[axis];
    auto number = static_cast<size_t>(launch.kernel);
    std::span<const kiln_tensor> given(tensors);
    std::span<const uint64_t> slots(scalars);
    if (const std::optional<Signature> &signature = Kernels[number].signature)
      if (Status bad = signature->checkRequirements(
              kiln_args{given.data(), slots.data(), launch.num_tensors, launch.num_scalars});
          !bad.isOk())
        return bad;
    return launchKernel(*Program.gpu, Program.kernels[number], given, slots, blocks, On);
  }

  const CudaProgram::Loaded &Program;
  std::span<const NativeKernel> Kernels;
  const Driver &Cuda;
  Stream On;
  StreamCollectives Ranks;
  uint64_t Submitted = 0;
};

} // namespace

Status kiln::cuda::orchestrate(const CudaProgram::Loaded &program,
                               std::span<const NativeKernel> kernels, kiln_orchestration_fn entry,
                               std::span<const Tensor> tensors, std::span<const uint64_t> scalars,
                               Stream stream, const RankPlace &ranks) {
  StreamRun run(program, kernels, tensors, stream, ranks);
  return run.finish(run.call(entry, scalars));
}
