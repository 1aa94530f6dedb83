// A run on the GPU that somebody wants to look at. The task engine runs it, as it runs programs of
// the CPU, so dumps, traces and timelines are the same; what it calls as kernels launches one on
// the GPU and waits for it. All tensors are in memory that both the GPU and the engine see.
#include "Hang.h"
#include "Launch.h"
#include "Orchestrate.h"
#include "TogetherRun.h"

#include "kiln/runtime/compiled_orchestration.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::cuda;

namespace {

Expected<std::shared_ptr<Buffer>> allocateShared(const Driver &driver, uint64_t bytes) {
  DevicePointer memory = 0;
  if (Status failed = driver.check(
          driver.allocateManaged(&memory, bytes ? bytes : 1, kAttachGlobal), "cuMemAllocManaged");
      !failed.isOk())
    return failed;
  return Buffer::wrap(reinterpret_cast<void *>(memory), bytes,
                      [&driver, memory] { driver.freeManaged(memory); });
}

using Allocate = std::function<Expected<std::shared_ptr<Buffer>>(uint64_t bytes)>;

/// Copies of the caller's buffers, wherever those are; a buffer that several tensors share once.
class SharedCopies {
public:
  SharedCopies(const Driver &driver, Allocate allocate)
      : Cuda(driver), Memory(std::move(allocate)) {}

  Expected<Tensor> copy(const Tensor &tensor) {
    std::shared_ptr<Buffer> &there = Buffers[tensor.buffer()->id()];
    if (!there) {
      Expected<std::shared_ptr<Buffer>> made = Memory(tensor.buffer()->bytes());
      if (!made)
        return made.status();
      there = *made;
      if (Status failed = copyBytes(*there, *tensor.buffer()); !failed.isOk())
        return failed;
    }
    return Tensor::view(there, tensor.byteOffset(), tensor.dtype(), tensor.extents(),
                        tensor.strides());
  }

  Status copyBack(const Tensor &tensor) {
    return copyBytes(*tensor.buffer(), *Buffers[tensor.buffer()->id()]);
  }

private:
  Status copyBytes(Buffer &to, const Buffer &from) {
    if (from.bytes() == 0)
      return Status::ok();
    return Cuda.check(Cuda.copy(addressOf(to.data()), addressOf(from.data()), from.bytes()),
                      "cuMemcpy");
  }

  const Driver &Cuda;
  const Allocate Memory;
  std::map<uint64_t, std::shared_ptr<Buffer>> Buffers;
};

/// What the engine calls in place of a kernel.
struct LaunchedKernel {
  const Gpu *gpu;
  const LoadedKernel *kernel;
  Stream stream;
  Event begin, end;
  WatchedCall *watched;
  const Signature *signature;
  TogetherRun *together; ///< Null: each is launched by itself.

  Status launch(const kiln_args &args, const kiln_context &context) const {
    if (together)
      return together->add(*kernel, *signature, args, std::span<const int64_t, 3>(context.grid, 3));
    const Driver &cuda = *gpu->driver;
    cuda.eventRecord(begin, stream);
    if (Status failed = launchKernel(
            *gpu, *kernel, {args.tensors, args.num_tensors}, {args.scalars, args.num_scalars},
            std::span<const int64_t, 3>(context.grid, 3), {stream, watched});
        !failed.isOk())
      return failed;
    cuda.eventRecord(end, stream);
    if (Status failed = cuda.check(cuda.streamSynchronize(stream), "the kernel failed");
        !failed.isOk())
      return failed;
    return takeHang(*gpu);
  }

  /// The slice of time in which the GPU was busy, on a track of its own.
  void note() const {
    RoleTimeline *timeline = RoleTimeline::current();
    float milliseconds = 0;
    if (!timeline || gpu->driver->eventElapsed(&milliseconds, begin, end) != 0)
      return;
    TimelineRoleEvent slice;
    slice.role = "gpu " + std::to_string(gpu->number);
    slice.what = kernel->description.name;
    slice.end = timeline->now();
    slice.begin = slice.end - static_cast<int64_t>(milliseconds * 1e6F);
    timeline->add(std::move(slice));
  }
};

int32_t callOnGpu(const kiln_args *args, const kiln_blocks *, kiln_context *context) {
  const auto &kernel = *static_cast<const LaunchedKernel *>(context->user);
  Status done = kernel.launch(*args, *context);
  if (done.isOk()) {
    if (!kernel.together)
      kernel.note();
    return KILN_OK;
  }
  context->report(context, done.message().c_str(), nullptr);
  return KILN_FAIL;
}

} // namespace

/// What there is for the length of a run.
struct CudaProgram::Recording {
  explicit Recording(const Gpu &gpu) : on(gpu) {}
  ~Recording() {
    together.reset(); // its memory is freed in the order of the stream
    if (begin)
      on.driver->eventDestroy(begin);
    if (end)
      on.driver->eventDestroy(end);
    if (stream)
      on.driver->streamDestroy(stream);
  }

  Status create(const NativeInfo &info, const Loaded &loaded, std::string_view program,
                bool isTogether) {
    const Driver &cuda = *on.driver;
    Result result = cuda.streamCreate(&stream, 1); // does not wait for the default stream
    result = result ? result : cuda.eventCreate(&begin, 0);
    result = result ? result : cuda.eventCreate(&end, 0);
    if (result)
      return cuda.check(result, "cuStreamCreate");
    watched.emplace(on, info, program, stream);
    if (isTogether)
      together.emplace(on, LaunchPlace{stream, watched->call()});
    launched.reserve(loaded.kernels.size());
    bool isKernel = info.kind == NativeInfo::Kind::Kernel;
    // What comes behind combines what ranks exchange on the GPU; here they do so on the host.
    size_t count = isKernel ? 1 : info.kernels.size();
    for (size_t number = 0; number < count; ++number)
      if (Status bad = add(isKernel ? info.entry : info.kernels[number], loaded.kernels[number]);
          !bad.isOk())
        return bad;
    return Status::ok();
  }

  Expected<std::shared_ptr<Buffer>> allocate(uint64_t bytes) {
    if (!together)
      return allocateShared(*on.driver, bytes);
    Expected<std::shared_ptr<Buffer>> memory = allocateOn(*on.driver, stream, bytes);
    return memory ? together->keep(*memory) : memory;
  }

  Status add(const NativeKernel &native, const LoadedKernel &kernel) {
    launched.push_back({&on, &kernel, stream, begin, end, watched->call(), &*native.signature,
                        together ? &*together : nullptr});
    KernelRecord record;
    record.name = native.name;
    record.function = callOnGpu;
    record.user = &launched.back();
    record.signature = native.signature;
    record.members = native.members;
    Expected<int32_t> id = registry.add(std::move(record));
    if (!id)
      return id.status();
    kernels.push_back(registry.find(*id));
    return Status::ok();
  }

  const Gpu &on;
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
  std::optional<WatchedRun> watched;
  std::optional<TogetherRun> together;  ///< Of a persistent kernel, where nobody asks for a dump.
  std::vector<LaunchedKernel> launched; ///< Does not grow: kernels refer to its elements.
  KernelRegistry registry;
  std::vector<const KernelRecord *> kernels;
};

static Task taskOf(const KernelRecord &kernel, const NativeInfo &info,
                   std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) {
  Task task(kernel);
  for (size_t i = 0; i < tensors.size(); ++i)
    task.addTensor(tensors[i], info.entry.signature->tensors[i].direction,
                   std::binary_search(info.marked.begin(), info.marked.end(), i));
  for (const ScalarBits &scalar : scalars)
    task.addScalar(scalar);
  return task;
}

Status CudaProgram::runOnEngine(Recording &recording, std::span<const Tensor> tensors,
                                std::span<const ScalarBits> scalars,
                                const NativeRunOptions &options, NativeRunReport *report) const {
  EngineOptions engineOptions;
  engineOptions.seed = 0; // on this thread, in the order of submission
  engineOptions.arenaBytes = 0;
  engineOptions.allocate = [&](uint64_t bytes) { return recording.allocate(bytes); };
  engineOptions.recordTrace = report != nullptr;
  Expected<std::unique_ptr<Engine>> engine = Engine::create(recording.registry, engineOptions);
  if (!engine)
    return engine.status();
  if (Status bad = (*engine)->begin(options.run); !bad.isOk())
    return bad;
  Status started;
  if (Orchestration)
    started = runOrchestration(**engine, Orchestration, recording.kernels, tensors, scalars);
  else
    started =
        (*engine)
            ->submit(
                taskOf(*recording.kernels.front(), Info, tensors, scalars).at(options.location))
            .status();
  Status done = finishRun(**engine, started, report);
  Timeline unrecorded;
  return done.isOk() && recording.together
             ? recording.together->finish(report ? report->timeline : unrecorded)
             : done;
}

Status CudaProgram::runRecorded(std::span<const Tensor> tensors,
                                std::span<const ScalarBits> scalars,
                                const NativeRunOptions &options, NativeRunReport *report) const {
  Transport *ranks = options.run.ranks;
  bool areThreads = ranks && !ranks->isAmongProcesses() && ranks->ranks() > 1;
  if (options.run.dump.level == 0 && !options.run.recordTimeline && !areThreads)
    return run(tensors, scalars, nullptr, ranks, options.run.program);
  if (Status bad = Info.entry.signature->verifyArguments(tensors, scalars); !bad.isOk())
    return bad;
  Expected<const Gpu *> gpu = gpuOfRank(*On->driver, ranks, /*mayShare=*/true);
  if (!tensors.empty())
    if (Expected<const Gpu *> theirs = On->driver->gpuOf(tensors.front().data()))
      gpu = theirs;
  if (!gpu)
    return gpu.status();
  CurrentGpu current(**gpu);
  if (!current.status().isOk())
    return current.status();
  Expected<const Loaded *> loaded = On->on(**gpu, options.run.program);
  if (!loaded)
    return loaded.status();
  Recording recording(**gpu);
  // A dump shows what each task left, so each is launched by itself.
  bool isTogether = options.run.dump.level == 0 && (*loaded)->kernels.front().description.isPart();
  if (Status failed = recording.create(Info, **loaded, options.run.program, isTogether);
      !failed.isOk())
    return failed;
  SharedCopies copies(*On->driver, [&](uint64_t bytes) { return recording.allocate(bytes); });
  std::vector<Tensor> there;
  for (const Tensor &tensor : tensors) {
    Expected<Tensor> copied = copies.copy(tensor);
    if (!copied)
      return copied.status();
    there.push_back(std::move(*copied));
  }
  Status done = runOnEngine(recording, there, scalars, options, report);
  for (size_t i = 0; i < tensors.size() && done.isOk(); ++i)
    if (writes(Info.entry.signature->tensors[i].direction))
      done = copies.copyBack(tensors[i]);
  return done;
}
