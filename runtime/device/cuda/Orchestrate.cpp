#include "Orchestrate.h"

#include "Hang.h"
#include "StreamArguments.h"

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

/// Marks and scopes mean nothing here: there is no dump, and a stream orders everything.
class StreamRun final : public OrchestrationRun {
public:
  StreamRun(const CudaProgram::Loaded &program, std::span<const NativeKernel> kernels,
            std::span<const Tensor> given, const LaunchPlace &place, const RankPlace &ranks)
      : OrchestrationRun(given), Program(program), Kernels(kernels), Cuda(*program.gpu->driver),
        On(place.stream), Watched(place.watched),
        Ranks(*program.gpu, ranks, std::span(program.kernels).subspan(kernels.size()),
              place.stream) {}

  /// What is still to be done after the last task was launched.
  Status finish(const Status &ended) { return Ranks.finish(ended); }

protected:
  Expected<Tensor> alloc(DType dtype, Dims extents) override {
    Expected<RowMajor> layout = RowMajor::of(dtype, extents);
    if (!layout)
      return layout.status();
    Expected<std::shared_ptr<Buffer>> memory = allocateOn(Cuda, On, layout->bytes);
    if (!memory)
      return memory.status();
    return Tensor::view(*memory, 0, dtype, extents, Dims(layout->strides.data(), extents.size()));
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
    StreamArguments given(launch);
    InplaceVector<kiln_tensor, 12> read, written;
    for (const kiln_launch_tensor &arg : std::span(launch.tensors, launch.num_tensors)) {
      const kiln_tensor &handed = tensor(arg.tensor).toAbi();
      bool isRead = static_cast<Direction>(arg.direction) == Direction::In;
      (isRead ? read : written).push_back(handed);
      given.tensors.push_back(handed);
    }
    if (Status bad = Ranks.before(read, written, {launch.deps, launch.num_deps}); !bad.isOk())
      return bad;
    auto number = static_cast<size_t>(launch.kernel);
    if (Status bad = given.verify(Kernels[number]); !bad.isOk())
      return bad;
    return launchKernel(*Program.gpu, Program.kernels[number], given.tensors, given.scalars,
                        given.blocks, {On, Watched});
  }

  const CudaProgram::Loaded &Program;
  std::span<const NativeKernel> Kernels;
  const Driver &Cuda;
  Stream On;
  WatchedCall *Watched;
  StreamCollectives Ranks;
  uint64_t Submitted = 0;
};

} // namespace

Status kiln::cuda::orchestrate(const CudaProgram::Loaded &program,
                               std::span<const NativeKernel> kernels, kiln_orchestration_fn entry,
                               std::span<const Tensor> tensors, std::span<const uint64_t> scalars,
                               const LaunchPlace &place, const RankPlace &ranks) {
  StreamRun run(program, kernels, tensors, place, ranks);
  return run.finish(run.call(entry, scalars));
}
