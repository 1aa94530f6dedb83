#include "Driver.h"

#include <dlfcn.h>

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
  std::string missing;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      missing += std::string(missing.empty() ? "" : ", ") + name;
  };
  find(driver.init, "cuInit");
  find(driver.deviceGet, "cuDeviceGet");
  find(driver.deviceGetCount, "cuDeviceGetCount");
  find(driver.deviceGetName, "cuDeviceGetName");
  find(driver.deviceGetAttribute, "cuDeviceGetAttribute");
  find(driver.primaryContextRetain, "cuDevicePrimaryCtxRetain");
  find(driver.contextSetCurrent, "cuCtxSetCurrent");
  find(driver.moduleLoadData, "cuModuleLoadData");
  find(driver.moduleUnload, "cuModuleUnload");
  find(driver.moduleGetFunction, "cuModuleGetFunction");
  find(driver.functionSetAttribute, "cuFuncSetAttribute");
  find(driver.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  find(driver.launchKernel, "cuLaunchKernel");
  find(driver.allocate, "cuMemAllocAsync");
  find(driver.free, "cuMemFreeAsync");
  find(driver.copyToDevice, "cuMemcpyHtoDAsync_v2");
  find(driver.copyToHost, "cuMemcpyDtoHAsync_v2");
  find(driver.fillBytes, "cuMemsetD8Async");
  find(driver.streamCreate, "cuStreamCreate");
  find(driver.streamDestroy, "cuStreamDestroy_v2");
  find(driver.streamSynchronize, "cuStreamSynchronize");
  find(driver.eventCreate, "cuEventCreate");
  find(driver.eventDestroy, "cuEventDestroy_v2");
  find(driver.eventRecord, "cuEventRecord");
  find(driver.eventElapsed, "cuEventElapsedTime");
  find(driver.encodeTensorMap, "cuTensorMapEncodeTiled");
  find(driver.errorName, "cuGetErrorName");
  find(driver.errorText, "cuGetErrorString");
  if (!missing.empty())
    return Status(StatusCode::Unsupported, "the CUDA driver is too old: it has no " + missing);
  return Status::ok();
}

/// A context on a GPU that runs sm_90a code.
static Status start(Driver &driver) {
  auto noGpu = [](const std::string &why) {
    return Status(StatusCode::Unsupported, "there is no GPU to run on: " + why);
  };
  int count = 0, major = 0, minor = 0;
  if (Status failed = driver.check(driver.init(0), "cuInit"); !failed.isOk())
    return noGpu(failed.message());
  if (driver.deviceGetCount(&count) != 0 || count == 0)
    return noGpu("the driver finds none");
  Device device = 0;
  char name[128] = "?";
  if (Status failed = driver.check(driver.deviceGet(&device, 0), "cuDeviceGet"); !failed.isOk())
    return failed;
  driver.deviceGetName(name, sizeof name, device);
  driver.deviceGetAttribute(&major, kComputeMajor, device);
  driver.deviceGetAttribute(&minor, kComputeMinor, device);
  if (major != 9 || minor != 0)
    return noGpu("h200 code is for compute capability 9.0 (sm_90a), and the " + std::string(name) +
                 " has " + std::to_string(major) + "." + std::to_string(minor));
  driver.deviceGetAttribute(&driver.multiprocessors, kMultiprocessors, device);
  return driver.check(driver.primaryContextRetain(&driver.context, device),
                      "cuDevicePrimaryCtxRetain");
}

Expected<const Driver *> Driver::open() {
  static Driver driver{};
  static const Status opened = []() -> Status {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return Status(StatusCode::Unsupported,
                    "there is no GPU to run on: the CUDA driver (libcuda.so.1) is not installed");
    if (Status failed = findAll(library, driver); !failed.isOk())
      return failed;
    return start(driver);
  }();
  if (!opened.isOk())
    return opened;
  // Of this thread; the program may have used another in the meantime.
  if (Status failed = driver.check(driver.contextSetCurrent(driver.context), "cuCtxSetCurrent");
      !failed.isOk())
    return failed;
  return &driver;
}
