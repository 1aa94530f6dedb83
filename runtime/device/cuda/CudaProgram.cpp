#include "kiln/runtime/cuda_program.h"

#include "Hang.h"
#include "Launch.h"
#include "Orchestrate.h"
#include "StreamArguments.h"
#include "abi/Environment.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::cuda;

CudaProgram::CudaProgram(NativeInfo info) : LoadedProgram(std::move(info)) {}

Status CudaProgram::usableHere() {
  Expected<const Driver *> driver = Driver::open();
  return driver ? (*driver)->gpu(0).status() : driver.status();
}

CudaProgram::Loaded::~Loaded() {
  watched.clear();
  cuda::CurrentGpu current(*gpu);
  replays.reset(); // graphs refer to kernels
  for (Module module : modules)
    gpu->driver->moduleUnload(module);
}

CudaProgram::~CudaProgram() {
  if (On)
    for (const std::atomic<const Loaded *> &loaded : On->loaded)
      delete loaded.load(std::memory_order_acquire);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Status loadKernel(const Gpu &gpu, const CudaKernel &description,
                         const std::map<std::string, std::string> &cubins,
                         CudaProgram::Loaded &loaded) {
  const Driver &driver = *gpu.driver;
  auto failed = [&](Result result, const char *what) {
    return driver.check(result, what).withPrefix(description.file);
  };
  auto cubin = cubins.find(description.file);
  if (cubin == cubins.end())
    return Status(StatusCode::InvalidArgument, description.file + " is not in the bundle");
  LoadedKernel kernel{description};
  // Parts of one persistent kernel are there when the first is.
  if (description.isPart() && !loaded.kernels.empty()) {
    kernel.function = loaded.kernels.front().function;
    kernel.blocksPerMultiprocessor = loaded.kernels.front().blocksPerMultiprocessor;
    loaded.kernels.push_back(std::move(kernel));
    return Status::ok();
  }
  Module module = nullptr;
  if (Result result = driver.moduleLoadData(&module, cubin->second.data()))
    return failed(result, "cuModuleLoadData");
  loaded.modules.push_back(module);
  if (description.isChecked)
    if (Status unwatched = watchModule(gpu, module); !unwatched.isOk())
      return unwatched.withPrefix(description.file);
  if (Result result =
          driver.moduleGetFunction(&kernel.function, module, description.symbol.c_str()))
    return failed(result, "cuModuleGetFunction");
  if (Result result = driver.functionSetAttribute(kernel.function, kMaxDynamicShared,
                                                  static_cast<int>(description.sharedBytes)))
    return failed(result, "cuFuncSetAttribute");
  if (Result result =
          driver.occupancy(&kernel.blocksPerMultiprocessor, kernel.function,
                           static_cast<int>(description.threads), description.sharedBytes))
    return failed(result, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  if (kernel.blocksPerMultiprocessor < 1)
    return Status(StatusCode::Unsupported,
                  "'" + description.name + "' does not fit a multiprocessor of this GPU");
  loaded.kernels.push_back(std::move(kernel));
  return Status::ok();
}

static std::string describeParts(std::span<const LoadedKernel> parts) {
  std::string text = "the persistent kernel of";
  for (const LoadedKernel &part : parts)
    text += (&part == &parts.front() ? " " : ", ") + part.description.name;
  return text;
}

void CudaProgram::Devices::watch(Loaded &loaded) const {
  for (size_t number = 0; number < loaded.kernels.size() && timeout > 0; ++number) {
    const LoadedKernel &kernel = loaded.kernels[number];
    if (number > 0 && kernel.description.isPart())
      return; // it is watched as the first part
    DevicePointer counts = 0;
    size_t bytes = 0;
    // Who gives up by itself counts nothing; nor does what a compiler before this one made.
    if (kernel.description.isChecked ||
        driver->moduleGetGlobal(&counts, &bytes, loaded.modules[number], "kilnProgress") != 0 ||
        bytes != sizeof(WatchedKernel::Counts))
      continue;
    loaded.watched.push_back(
        std::make_unique<WatchedKernel>(*loaded.gpu, counts, timeout, [this, &loaded, &kernel] {
          std::string last = kernel.description.isPart()
                                 ? describeParts(loaded.kernels)
                                 : loaded.replays->describeLast(kernel, *info);
          return "program '" + loaded.program +
                 "': " + (last.empty() ? "kernel '" + kernel.description.name + "'" : last);
        }));
  }
}

Expected<const CudaProgram::Loaded *> CudaProgram::Devices::on(const Gpu &gpu,
                                                               std::string_view program) {
  std::atomic<const Loaded *> &slot = loaded[gpu.number];
  if (const Loaded *there = slot.load(std::memory_order_acquire))
    return there;
  std::lock_guard lock(loading);
  if (const Loaded *there = slot.load(std::memory_order_acquire))
    return there;
  auto fresh = std::make_unique<Loaded>(gpu, program.empty() ? info->entry.name : program);
  for (const CudaKernel &kernel : kernels)
    if (Status failed = loadKernel(gpu, kernel, cubins, *fresh); !failed.isOk())
      return failed;
  fresh->replays =
      std::make_unique<Replays>(PlannedProgram{gpu, fresh->kernels, launched, entry}, may);
  watch(*fresh);
  slot.store(fresh.get(), std::memory_order_release);
  return static_cast<const Loaded *>(fresh.release());
}

Expected<std::shared_ptr<const CudaProgram>>
CudaProgram::load(NativeInfo info, std::vector<CudaKernel> kernels,
                  std::map<std::string, std::string> cubins, std::shared_ptr<SharedObject> object) {
  if (Status wrong = info.verify(); !wrong.isOk())
    return wrong;
  if (Status wrong = verifyCudaKernels(kernels, info); !wrong.isOk())
    return wrong;
  Expected<bool> mayGraph = flagFromEnvironment("KILN_GRAPHS", true),
                 mayBeginEarly = flagFromEnvironment("KILN_EARLY", true);
  for (const Expected<bool> *given : {&mayGraph, &mayBeginEarly})
    if (!*given)
      return given->status();
  Expected<std::optional<uint64_t>> timeout = numberFromEnvironment("KILN_GPU_TIMEOUT");
  if (!timeout)
    return timeout.status();
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.status();
  std::shared_ptr<CudaProgram> program(new CudaProgram(std::move(info)));
  program->Object = std::move(object);
  program->On = std::make_unique<Devices>();
  program->On->driver = *driver;
  program->On->kernels = std::move(kernels);
  program->On->cubins = std::move(cubins);
  program->On->launched = program->Info.kernels;
  program->On->info = &program->Info;
  program->On->may = {*mayGraph, *mayBeginEarly};
  program->On->timeout = timeout->value_or(kGpuTimeout);
  if (program->Info.kind == NativeInfo::Kind::Orchestration) {
    const std::string &symbol = program->Info.entry.symbol;
    if (program->Object)
      program->Orchestration =
          reinterpret_cast<kiln_orchestration_fn>(program->Object->find(symbol));
    if (!program->Orchestration)
      return Status(StatusCode::NotFound, "the code has no symbol '" + symbol + "' for '" +
                                              program->Info.entry.name + "'");
    program->On->entry = program->Orchestration;
  }
  return std::shared_ptr<const CudaProgram>(std::move(program));
}

Expected<std::shared_ptr<const CudaProgram>>
CudaProgram::loadPacked(NativeInfo info, std::string_view packed,
                        const std::string &orchestrationPath, std::span<const SourceLoc> places) {
  std::map<std::string, std::string> files;
  Expected<std::vector<CudaKernel>> kernels = unpackCuda(packed, files);
  if (!kernels)
    return kernels.status();
  std::shared_ptr<SharedObject> object;
  if (auto host = files.find(orchestrationPath); host != files.end()) {
    Expected<std::shared_ptr<SharedObject>> mapped =
        SharedObject::fromBytes(host->second, info.entry.name, places);
    if (!mapped)
      return mapped.status();
    object = std::move(*mapped);
  }
  return load(std::move(info), std::move(*kernels), std::move(files), std::move(object));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status CudaProgram::launchLoaded(const Loaded &loaded, const kiln_args &args,
                                 const Place &place) const {
  if (!place.ranks.nccl)
    if (std::optional<Status> done = loaded.replays->launch(args, place.on))
      return *done;
  if (Orchestration) {
    Expected<std::vector<Tensor>> tensors = tensorsOf(args);
    if (!tensors)
      return tensors.status();
    return orchestrate(loaded, Info.kernels, Orchestration, *tensors,
                       {args.scalars, args.num_scalars}, place.on, place.ranks);
  }
  const int64_t one[3] = {1, 1, 1};
  return launchKernel(*loaded.gpu, loaded.kernels.front(), {args.tensors, args.num_tensors},
                      {args.scalars, args.num_scalars}, one, place.on);
}

GraphCounts CudaProgram::graphCounts() const {
  GraphCounts sum;
  for (const std::atomic<const Loaded *> &slot : On->loaded)
    if (const Loaded *loaded = slot.load(std::memory_order_acquire)) {
      const ReplayCounts &counts = loaded->replays->counts();
      sum.graphs += counts.graphs.load(std::memory_order_relaxed);
      sum.launches += counts.graphLaunches.load(std::memory_order_relaxed);
    }
  return sum;
}

Status CudaProgram::launchOn(const kiln_args &args, const GpuPlace &place) const {
  Expected<const Gpu *> gpu = On->driver->gpu(place.number);
  if (!gpu)
    return gpu.status();
  CurrentGpu current(**gpu);
  if (!current.status().isOk())
    return current.status();
  Expected<const Loaded *> loaded = On->on(**gpu, place.program);
  if (!loaded)
    return loaded.status();
  return launchLoaded(**loaded, args, {{static_cast<Stream>(place.stream)}});
}

namespace {

/// Arguments in the form of the ABI.
struct AbiArguments {
  AbiArguments(std::span<const Tensor> given, std::span<const ScalarBits> numbers) {
    for (const Tensor &tensor : given)
      tensors.push_back(tensor.toAbi());
    for (const ScalarBits &scalar : numbers)
      scalars.push_back(scalar.bits);
  }
  kiln_args get() const {
    return {tensors.begin(), scalars.begin(), static_cast<uint32_t>(tensors.size()),
            static_cast<uint32_t>(scalars.size())};
  }
  InplaceVector<kiln_tensor, 12> tensors;
  InplaceVector<uint64_t, 12> scalars;
};

} // namespace

Status CudaProgram::launch(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                           void *stream, std::string_view program) const {
  if (Status bad = Info.entry.signature->verifyArguments(tensors, scalars); !bad.isOk())
    return bad;
  return launchWhereTheyAre(AbiArguments(tensors, scalars).get(), stream, program);
}

Status CudaProgram::launchWhereTheyAre(const kiln_args &args, void *stream,
                                       std::string_view program) const {
  // A tensor without elements may be nowhere.
  std::span<const kiln_tensor> tensors(args.tensors, args.num_tensors);
  auto placed = std::ranges::find_if(tensors, [](const kiln_tensor &tensor) {
    return std::ranges::count(tensor.extents, tensor.extents + tensor.rank, 0) == 0;
  });
  Expected<const Gpu *> gpu =
      placed == tensors.end() ? On->driver->gpu(0) : On->driver->gpuOf(placed->data);
  if (!gpu)
    return gpu.status();
  return launchOn(args, {(*gpu)->number, stream, program});
}

namespace {

/// Copies of host buffers in the GPU's memory; a buffer that several tensors share once.
class DeviceCopies {
public:
  DeviceCopies(const Driver &driver, Stream stream) : Cuda(driver), On(stream) {}

  Expected<Tensor> copy(const Tensor &tensor) {
    std::shared_ptr<Buffer> &there = Buffers[tensor.buffer()->id()];
    if (!there) {
      uint64_t bytes = tensor.buffer()->bytes();
      Expected<std::shared_ptr<Buffer>> made = allocateOn(Cuda, On, bytes);
      if (!made)
        return made.status();
      there = *made;
      if (Status failed = Cuda.check(
              Cuda.copyToDevice(addressOf(there->data()), tensor.buffer()->data(), bytes, On),
              "cuMemcpyHtoDAsync");
          !failed.isOk() && bytes > 0)
        return failed;
    }
    return Tensor::view(there, tensor.byteOffset(), tensor.dtype(), tensor.extents(),
                        tensor.strides());
  }

  Status copyBack(const Tensor &tensor) {
    const std::shared_ptr<Buffer> &there = Buffers[tensor.buffer()->id()];
    if (there->bytes() == 0)
      return Status::ok();
    return Cuda.check(
        Cuda.copyToHost(tensor.buffer()->data(), addressOf(there->data()), there->bytes(), On),
        "cuMemcpyDtoHAsync");
  }

private:
  const Driver &Cuda;
  Stream On;
  std::map<uint64_t, std::shared_ptr<Buffer>> Buffers;
};

/// A stream with two events on it.
struct TimedStream {
  explicit TimedStream(const Driver &driver) : driver(driver) {}
  ~TimedStream() {
    if (begin)
      driver.eventDestroy(begin);
    if (end)
      driver.eventDestroy(end);
    if (stream)
      driver.streamDestroy(stream);
  }
  Status create() {
    Result result = driver.streamCreate(&stream, 1); // does not wait for the default stream
    result = result ? result : driver.eventCreate(&begin, 0);
    result = result ? result : driver.eventCreate(&end, 0);
    return driver.check(result, "cuStreamCreate");
  }
  const Driver &driver;
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
};

} // namespace

Status CudaProgram::run(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                        double *seconds, Transport *ranks, std::string_view program) const {
  if (Status bad = Info.entry.signature->verifyArguments(tensors, scalars); !bad.isOk())
    return bad;
  const Driver &cuda = *On->driver;
  Expected<const Gpu *> gpu = gpuOfRank(cuda, ranks, /*mayShare=*/false);
  if (!gpu)
    return gpu.status();
  CurrentGpu current(**gpu);
  if (!current.status().isOk())
    return current.status();
  Expected<const Loaded *> loaded = On->on(**gpu, program);
  if (!loaded)
    return loaded.status();
  RankPlace among;
  if (ranks)
    among.transport = ranks;
  Expected<NcclRanks *> nccl = NcclRanks::ofProcess(**gpu, *among.transport);
  if (!nccl)
    return nccl.status();
  among.nccl = *nccl;
  TimedStream timed(cuda);
  if (Status failed = timed.create(); !failed.isOk())
    return failed;
  Status done;
  {
    DeviceCopies copies(cuda, timed.stream);
    std::vector<Tensor> there;
    for (const Tensor &tensor : tensors) {
      Expected<Tensor> copied = copies.copy(tensor);
      if (!copied)
        return copied.status();
      there.push_back(std::move(*copied));
    }
    cuda.eventRecord(timed.begin, timed.stream);
    WatchedRun watched(**gpu, Info, program, timed.stream);
    done = launchLoaded(**loaded, AbiArguments(there, scalars).get(),
                        {{timed.stream, watched.call()}, among});
    cuda.eventRecord(timed.end, timed.stream);
    // Here show what a kernel did wrong and that another rank has failed, after which nothing
    // waits.
    if (Status failed = among.nccl ? among.nccl->synchronize(timed.stream) : Status::ok();
        !failed.isOk() && done.isOk())
      done = failed;
    if (Status failed = cuda.check(cuda.streamSynchronize(timed.stream), "the kernels failed");
        !failed.isOk() && done.isOk())
      done = failed;
    if (Status hung = takeHang(**gpu); !hung.isOk())
      done = hung;
    for (size_t i = 0; i < tensors.size() && done.isOk(); ++i)
      if (writes(Info.entry.signature->tensors[i].direction))
        done = copies.copyBack(tensors[i]);
  }
  if (Status failed = cuda.check(cuda.streamSynchronize(timed.stream), "cuStreamSynchronize");
      !failed.isOk() && done.isOk())
    done = failed;
  float milliseconds = 0;
  if (seconds && done.isOk() && cuda.eventElapsed(&milliseconds, timed.begin, timed.end) == 0)
    *seconds = milliseconds / 1000.0;
  return done;
}
