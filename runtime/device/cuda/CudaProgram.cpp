#include "kiln/runtime/cuda_program.h"

#include "Launch.h"
#include "Orchestrate.h"

using namespace kiln;
using namespace kiln::cuda;

CudaProgram::CudaProgram() = default;

CudaProgram::~CudaProgram() {
  if (Handles)
    for (Module module : Handles->modules)
      Handles->driver->moduleUnload(module);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static Status loadKernel(const Driver &driver, const CudaKernel &description,
                         const std::map<std::string, std::string> &cubins,
                         CudaProgram::Loaded &loaded) {
  auto failed = [&](Result result, const char *what) {
    return driver.check(result, what).withPrefix(description.file);
  };
  auto cubin = cubins.find(description.file);
  if (cubin == cubins.end())
    return Status(StatusCode::InvalidArgument, description.file + " is not in the bundle");
  LoadedKernel kernel{description};
  Module module = nullptr;
  if (Result result = driver.moduleLoadData(&module, cubin->second.data()))
    return failed(result, "cuModuleLoadData");
  loaded.modules.push_back(module);
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

Expected<std::shared_ptr<const CudaProgram>>
CudaProgram::load(NativeInfo info, std::vector<CudaKernel> kernels,
                  const std::map<std::string, std::string> &cubins,
                  std::shared_ptr<SharedObject> object) {
  if (Status wrong = info.verify(); !wrong.isOk())
    return wrong;
  if (Status wrong = verifyCudaKernels(kernels, info); !wrong.isOk())
    return wrong;
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.status();
  std::shared_ptr<CudaProgram> program(new CudaProgram);
  program->Info = std::move(info);
  program->Object = std::move(object);
  program->Handles = std::make_unique<Loaded>();
  program->Handles->driver = *driver;
  for (const CudaKernel &kernel : kernels)
    if (Status failed = loadKernel(**driver, kernel, cubins, *program->Handles); !failed.isOk())
      return failed;
  if (program->Info.kind == NativeInfo::Kind::Orchestration) {
    const std::string &symbol = program->Info.entry.symbol;
    if (program->Object)
      program->Orchestration =
          reinterpret_cast<kiln_orchestration_fn>(program->Object->find(symbol));
    if (!program->Orchestration)
      return Status(StatusCode::NotFound, "the code has no symbol '" + symbol + "' for '" +
                                              program->Info.entry.name + "'");
  }
  return std::shared_ptr<const CudaProgram>(std::move(program));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status CudaProgram::launch(std::span<const Tensor> tensors, std::span<const ScalarBits> scalars,
                           void *stream) const {
  if (Status bad = Info.entry.signature->verifyArguments(tensors, scalars); !bad.isOk())
    return bad;
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.status();
  if (Orchestration)
    return orchestrate(*Handles, Info.kernels, Orchestration, tensors, scalars,
                       static_cast<Stream>(stream));
  std::vector<kiln_tensor> given;
  std::vector<uint64_t> slots;
  for (const Tensor &tensor : tensors)
    given.push_back(tensor.toAbi());
  for (const ScalarBits &scalar : scalars)
    slots.push_back(scalar.bits);
  const int64_t one[3] = {1, 1, 1};
  return launchKernel(**driver, Handles->kernels.front(), given, slots, one,
                      static_cast<Stream>(stream));
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
                        double *seconds) const {
  if (Status bad = Info.entry.signature->verifyArguments(tensors, scalars); !bad.isOk())
    return bad;
  Expected<const Driver *> driver = Driver::open();
  if (!driver)
    return driver.status();
  const Driver &cuda = **driver;
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
    done = launch(there, scalars, timed.stream);
    cuda.eventRecord(timed.end, timed.stream);
    // What a kernel did wrong shows here.
    if (Status failed = cuda.check(cuda.streamSynchronize(timed.stream), "the kernels failed");
        !failed.isOk() && done.isOk())
      done = failed;
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
