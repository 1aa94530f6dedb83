#include "Driver.h"

#include "FindFunctions.h"

#include <mutex>
#include <string>

using namespace kiln;
using namespace kiln::cuda;

Status Driver::check(Result result, const char *what) const {
  if (result == 0)
    return Status::ok();
  const char *name = nullptr, *text = nullptr;
  errorName(result, &name);
  errorText(result, &text);
  StatusCode code = result == 2 ? StatusCode::OutOfMemory : StatusCode::KernelFailed;
  return Status(code, std::string(what) + ": " + (name ? name : std::to_string(result).c_str()) +
                          (text ? std::string(" (") + text + ")" : ""));
}

static Status findAll(void *library, Driver &driver) {
  FindFunctions find(library);
  find(driver.init, "cuInit");
  find(driver.deviceGet, "cuDeviceGet");
  find(driver.deviceGetCount, "cuDeviceGetCount");
  find(driver.deviceGetName, "cuDeviceGetName");
  find(driver.deviceGetAttribute, "cuDeviceGetAttribute");
  find(driver.primaryContextRetain, "cuDevicePrimaryCtxRetain");
  find(driver.contextGetCurrent, "cuCtxGetCurrent");
  find(driver.contextPush, "cuCtxPushCurrent_v2");
  find(driver.contextPop, "cuCtxPopCurrent_v2");
  find(driver.pointerAttribute, "cuPointerGetAttribute");
  find(driver.moduleLoadData, "cuModuleLoadData");
  find(driver.moduleUnload, "cuModuleUnload");
  find(driver.moduleGetFunction, "cuModuleGetFunction");
  find(driver.moduleGetGlobal, "cuModuleGetGlobal_v2");
  find(driver.functionSetAttribute, "cuFuncSetAttribute");
  find(driver.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  find(driver.launchKernel, "cuLaunchKernel");
  find(driver.launchKernelEx, "cuLaunchKernelEx");
  find(driver.allocate, "cuMemAllocAsync");
  find(driver.free, "cuMemFreeAsync");
  find(driver.allocateManaged, "cuMemAllocManaged");
  find(driver.freeManaged, "cuMemFree_v2");
  find(driver.hostAllocate, "cuMemHostAlloc");
  find(driver.hostDevicePointer, "cuMemHostGetDevicePointer_v2");
  find(driver.copy, "cuMemcpy");
  find(driver.copyToDevice, "cuMemcpyHtoDAsync_v2");
  find(driver.copyToHost, "cuMemcpyDtoHAsync_v2");
  find(driver.copyOnDevice, "cuMemcpyDtoDAsync_v2");
  find(driver.fillBytes, "cuMemsetD8Async");
  find(driver.streamCreate, "cuStreamCreate");
  find(driver.streamDestroy, "cuStreamDestroy_v2");
  find(driver.streamSynchronize, "cuStreamSynchronize");
  find(driver.streamIsCapturing, "cuStreamIsCapturing");
  find(driver.captureInfo, "cuStreamGetCaptureInfo_v3");
  find(driver.exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode");
  find(driver.eventCreate, "cuEventCreate");
  find(driver.eventDestroy, "cuEventDestroy_v2");
  find(driver.eventRecord, "cuEventRecord");
  find(driver.eventQuery, "cuEventQuery");
  find(driver.eventElapsed, "cuEventElapsedTime");
  find(driver.graphCreate, "cuGraphCreate");
  find(driver.graphDestroy, "cuGraphDestroy");
  find(driver.graphAddKernel, "cuGraphAddKernelNode_v2");
  find(driver.graphAddEdges, "cuGraphAddDependencies_v2");
  find(driver.graphInstantiate, "cuGraphInstantiateWithFlags");
  find(driver.graphExecDestroy, "cuGraphExecDestroy");
  find(driver.graphSetKernel, "cuGraphExecKernelNodeSetParams_v2");
  find(driver.graphLaunch, "cuGraphLaunch");
  find(driver.encodeTensorMap, "cuTensorMapEncodeTiled");
  find(driver.errorName, "cuGetErrorName");
  find(driver.errorText, "cuGetErrorString");
  if (!find.missing().empty())
    return Status(StatusCode::Unsupported,
                  "the CUDA driver is too old: it has no " + find.missing());
  return Status::ok();
}

static Status noGpu(const std::string &why) {
  return Status(StatusCode::Unsupported, "there is no GPU to run on: " + why);
}

Expected<const Driver *> Driver::open() {
  static Driver driver{};
  static const Status opened = []() -> Status {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return noGpu("the CUDA driver (libcuda.so.1) is not installed");
    if (Status failed = findAll(library, driver); !failed.isOk())
      return failed;
    if (Status failed = driver.check(driver.init(0), "cuInit"); !failed.isOk())
      return noGpu(failed.message());
    int count = 0;
    if (driver.deviceGetCount(&count) != 0 || count == 0)
      return noGpu("the driver finds none");
    return Status::ok();
  }();
  if (!opened.isOk())
    return opened;
  return &driver;
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

static Expected<Gpu> startGpu(const Driver &driver, int number) {
  int count = 0, major = 0, minor = 0;
  driver.deviceGetCount(&count);
  if (number < 0 || number >= count)
    return noGpu("number " + std::to_string(number) + " was asked for, and there are " +
                 std::to_string(count));
  Gpu gpu{&driver, number};
  Device device = 0;
  char name[128] = "?";
  if (Status failed = driver.check(driver.deviceGet(&device, number), "cuDeviceGet");
      !failed.isOk())
    return failed;
  driver.deviceGetName(name, sizeof name, device);
  driver.deviceGetAttribute(&major, kComputeMajor, device);
  driver.deviceGetAttribute(&minor, kComputeMinor, device);
  if (major != 9 || minor != 0)
    return noGpu("h200 code is for compute capability 9.0 (sm_90a), and the " + std::string(name) +
                 " has " + std::to_string(major) + "." + std::to_string(minor));
  driver.deviceGetAttribute(&gpu.multiprocessors, kMultiprocessors, device);
  if (Status failed = driver.check(driver.primaryContextRetain(&gpu.context, device),
                                   "cuDevicePrimaryCtxRetain");
      !failed.isOk())
    return failed;
  return gpu;
}

Expected<const Gpu *> Driver::gpu(int number) const {
  struct Slot {
    std::once_flag once;
    Expected<Gpu> gpu = Status(StatusCode::Internal, "not started");
  };
  static Slot slots[kMaxGpus];
  if (number < 0 || number >= kMaxGpus)
    return startGpu(*this, number).status();
  Slot &slot = slots[number];
  std::call_once(slot.once, [&] { slot.gpu = startGpu(*this, number); });
  if (!slot.gpu)
    return slot.gpu.status();
  return &*slot.gpu;
}

Expected<const Gpu *> Driver::gpuOf(const void *pointer) const {
  int number = -1;
  if (pointerAttribute(&number, kPointerDevice, reinterpret_cast<DevicePointer>(pointer)) != 0 ||
      number < 0)
    return Status(StatusCode::InvalidArgument, "a tensor is not in the memory of a GPU");
  return gpu(number);
}

CurrentGpu::CurrentGpu(const Gpu &gpu) : Of(gpu) {
  Context current = nullptr;
  if (gpu.driver->contextGetCurrent(&current) == 0 && current == gpu.context)
    return;
  Entered = gpu.driver->check(gpu.driver->contextPush(gpu.context), "cuCtxPushCurrent");
  IsPushed = Entered.isOk();
}

CurrentGpu::~CurrentGpu() {
  Context left = nullptr;
  if (IsPushed)
    Of.driver->contextPop(&left);
}
