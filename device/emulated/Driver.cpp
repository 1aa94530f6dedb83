// libcuda.so.1 of the emulated GPU: the functions of the CUDA driver that the runtime calls. What
// is asked of a stream happens when somebody waits for the stream, or copies from or to the host.
//
// KILN_EMULATE_SEED chooses the order of everything; KILN_EMULATE_MULTIPROCESSORS how many there
// are.
#include "Emulator.h"
#include "Memory.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <functional>
#include <link.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace kiln::emulated;

namespace {

using Result = int;
constexpr Result kOk = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kNotFound = 500,
                 kNotReady = 600, kLaunchFailed = 719;
constexpr int kSharedOfMultiprocessor = 228 * 1024, kThreadsOfMultiprocessor = 2048;
/// More at once would show nothing new, and take longer.
constexpr int kMostBlocks = 2;

struct Kernel {
  void (*entry)(const void *);
  uint64_t bytes; ///< Of its arguments.
};
struct Module {
  void *library;
  int file;
  std::map<std::string, Kernel> kernels;
};
struct Stream {
  std::vector<std::function<void()>> asked;
};
struct Event {
  std::chrono::steady_clock::time_point time;
  bool isRecorded = false;
  Stream *stream = nullptr;
};

std::recursive_mutex lock;
Memory memory;
Stream ofNobody;
std::string failure;          ///< Of a kernel, until somebody is told.
std::string lastFailure;      ///< For whoever asks for its text.
thread_local int context = 0; ///< How often that of the only GPU was pushed.

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *given = std::getenv(variable);
  return given && *given ? std::strtoull(given, nullptr, 10) : otherwise;
}

uint64_t seed() {
  static const uint64_t given = numberFrom("KILN_EMULATE_SEED", 0);
  return given;
}

Stream &streamOf(Stream *stream) { return stream ? *stream : ofNobody; }

void flush(Stream &stream) {
  std::vector<std::function<void()>> asked;
  asked.swap(stream.asked);
  for (auto &what : asked)
    what();
}

Result takeFailure() {
  if (failure.empty())
    return kOk;
  lastFailure = "emulated GPU: " + failure;
  failure.clear();
  return kLaunchFailed;
}

void *bytes(uint64_t address) { return reinterpret_cast<void *>(address); }

/// A file in memory with the image, which says itself how long it is: its table of sections is
/// last.
int fileOf(const void *image) {
  const auto &header = *static_cast<const Elf64_Ehdr *>(image);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return -1;
  size_t size = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
  int file = memfd_create("kiln-emulated", MFD_CLOEXEC);
  if (file >= 0 && write(file, image, size) != static_cast<ssize_t>(size)) {
    close(file);
    return -1;
  }
  return file;
}

} // namespace

#define KILN_LOCKED std::lock_guard guard(lock)

extern "C" {

//===-- Devices and contexts ----------------------------------------------------------------===//

Result cuInit(unsigned) { return kOk; }
Result cuDeviceGet(int *device, int number) {
  *device = number;
  return number == 0 ? kOk : kInvalidValue;
}
Result cuDeviceGetCount(int *count) {
  *count = 1;
  return kOk;
}
Result cuDeviceGetName(char *name, int length, int) {
  std::snprintf(name, static_cast<size_t>(length), "emulated Hopper");
  return kOk;
}
Result cuDeviceGetAttribute(int *value, int which, int) {
  switch (which) {
  case 75: // compute capability, major
    *value = 9;
    return kOk;
  case 76:
    *value = 0;
    return kOk;
  case 16: // multiprocessors
    *value = static_cast<int>(numberFrom("KILN_EMULATE_MULTIPROCESSORS", 3));
    return kOk;
  default:
    return kInvalidValue;
  }
}
Result cuDevicePrimaryCtxRetain(void **given, int) {
  *given = &context;
  return kOk;
}
Result cuCtxGetCurrent(void **given) {
  *given = nullptr;
  return kOk;
}
Result cuCtxPushCurrent_v2(void *) {
  ++context;
  return kOk;
}
Result cuCtxPopCurrent_v2(void **given) {
  *given = nullptr;
  return --context >= 0 ? kOk : kInvalidValue;
}
Result cuPointerGetAttribute(int *value, int, uint64_t address) {
  KILN_LOCKED;
  *value = 0;
  return memory.has(address) ? kOk : kInvalidValue;
}

//===-- Modules -----------------------------------------------------------------------------===//

Result cuModuleLoadData(Module **module, const void *image) {
  KILN_LOCKED;
  int file = fileOf(image);
  if (file < 0)
    return kInvalidImage;
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "emulated GPU: %s\n", dlerror());
    close(file);
    return kInvalidImage;
  }
  *module = new Module{library, file, {}};
  return kOk;
}
Result cuModuleUnload(Module *module) {
  KILN_LOCKED;
  dlclose(module->library);
  close(module->file);
  delete module;
  return kOk;
}
Result cuModuleGetFunction(Kernel **kernel, Module *module, const char *name) {
  KILN_LOCKED;
  void *entry = dlsym(module->library, ("emulated_" + std::string(name)).c_str());
  void *size = dlsym(module->library, ("emulated_bytes_" + std::string(name)).c_str());
  if (!entry || !size)
    return kNotFound;
  Kernel &found = module->kernels[name];
  found = {reinterpret_cast<void (*)(const void *)>(entry), *static_cast<uint64_t *>(size)};
  *kernel = &found;
  return kOk;
}
Result cuModuleGetGlobal_v2(uint64_t *address, size_t *size, Module *module, const char *name) {
  KILN_LOCKED;
  Dl_info info;
  ElfW(Sym) *symbol = nullptr;
  void *found = dlsym(module->library, name);
  if (!found || !dladdr1(found, &info, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) ||
      !symbol) {
    // compute-sanitizer calls that an error of the program, whatever the program makes of it.
    std::fprintf(stderr, "emulated GPU: a module is asked for '%s', which it does not have\n", name);
    std::abort();
  }
  *address = reinterpret_cast<uint64_t>(found);
  *size = symbol->st_size;
  return kOk;
}
Result cuFuncSetAttribute(Kernel *, int, int value) {
  return value <= 227 * 1024 ? kOk : kInvalidValue;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int threads,
                                                   size_t shared) {
  int byShared = kSharedOfMultiprocessor / (static_cast<int>(shared) + 1024);
  *blocks = std::min({kMostBlocks, byShared, kThreadsOfMultiprocessor / threads});
  return kOk;
}
Result cuLaunchKernel(Kernel *kernel, unsigned blocks, unsigned y, unsigned z, unsigned threads,
                      unsigned, unsigned, unsigned shared, Stream *stream, void **parameters,
                      void **) {
  KILN_LOCKED;
  if (blocks == 0 || y != 1 || z != 1)
    return kInvalidValue;
  // Copied now: the caller may use its memory for something else.
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  auto args = std::make_shared<std::vector<Line>>(kernel->bytes / sizeof(Line) + 1);
  std::memcpy(args->data(), parameters[0], kernel->bytes);
  streamOf(stream).asked.emplace_back([=] {
    if (failure.empty())
      failure = run({kernel->entry, args->data(), blocks, threads, shared, seed()});
  });
  return kOk;
}

//===-- Memory ------------------------------------------------------------------------------===//

Result cuMemAllocManaged(uint64_t *address, size_t size, unsigned) {
  KILN_LOCKED;
  *address = memory.allocate(size, seed() % 2 == 0);
  return *address ? kOk : kOutOfMemory;
}
Result cuMemAllocAsync(uint64_t *address, size_t size, Stream *) {
  return cuMemAllocManaged(address, size, 0);
}
Result cuMemFree_v2(uint64_t address) {
  KILN_LOCKED;
  return memory.free(address) ? kOk : kInvalidValue;
}
Result cuMemFreeAsync(uint64_t address, Stream *stream) {
  KILN_LOCKED;
  if (!memory.has(address))
    return kInvalidValue;
  streamOf(stream).asked.emplace_back([=] { memory.free(address); });
  return kOk;
}
Result cuMemHostAlloc(void **address, size_t size, unsigned) {
  *address = std::calloc(1, size);
  return *address ? kOk : kOutOfMemory;
}
Result cuMemHostGetDevicePointer_v2(uint64_t *address, void *host, unsigned) {
  *address = reinterpret_cast<uint64_t>(host);
  return kOk;
}
Result cuMemcpy(uint64_t to, uint64_t from, size_t size) {
  KILN_LOCKED;
  flush(ofNobody);
  std::memcpy(bytes(to), bytes(from), size);
  return takeFailure();
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, Stream *stream) {
  KILN_LOCKED;
  flush(streamOf(stream));
  std::memcpy(bytes(to), from, size);
  return kOk;
}
Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, Stream *stream) {
  KILN_LOCKED;
  flush(streamOf(stream));
  std::memcpy(to, bytes(from), size);
  return kOk;
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, Stream *stream) {
  KILN_LOCKED;
  streamOf(stream).asked.emplace_back([=] { std::memcpy(bytes(to), bytes(from), size); });
  return kOk;
}
Result cuMemsetD8Async(uint64_t to, unsigned char value, size_t size, Stream *stream) {
  KILN_LOCKED;
  streamOf(stream).asked.emplace_back([=] { std::memset(bytes(to), value, size); });
  return kOk;
}

//===-- Streams and events --------------------------------------------------------------------===//

Result cuStreamCreate(Stream **stream, unsigned) {
  *stream = new Stream;
  return kOk;
}
Result cuStreamDestroy_v2(Stream *stream) {
  KILN_LOCKED;
  flush(*stream);
  delete stream;
  return kOk;
}
Result cuStreamSynchronize(Stream *stream) {
  KILN_LOCKED;
  flush(streamOf(stream));
  return takeFailure();
}
Result cuEventCreate(Event **event, unsigned) {
  *event = new Event;
  return kOk;
}
Result cuEventDestroy_v2(Event *event) {
  KILN_LOCKED;
  if (event->stream)
    flush(*event->stream); // which may still want to record it
  delete event;
  return kOk;
}
Result cuEventRecord(Event *event, Stream *stream) {
  KILN_LOCKED;
  event->isRecorded = false;
  event->stream = &streamOf(stream);
  event->stream->asked.emplace_back([=] {
    event->time = std::chrono::steady_clock::now();
    event->isRecorded = true;
    event->stream = nullptr;
  });
  return kOk;
}
Result cuEventQuery(Event *event) {
  KILN_LOCKED;
  if (event->stream)
    flush(*event->stream);
  return event->isRecorded ? kOk : kNotReady;
}
Result cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
  KILN_LOCKED;
  if (!from->isRecorded || !to->isRecorded)
    return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return kOk;
}

//===-- The rest ------------------------------------------------------------------------------===//

Result cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *data,
                              const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                              const uint32_t *steps, int interleave, int swizzle, int, int) {
  return encode(*static_cast<TensorMapBits *>(map), type, rank, data, extents, strides, box, steps,
                interleave, swizzle)
             ? kOk
             : kInvalidValue;
}
Result cuGetErrorName(Result result, const char **name) {
  static const std::map<Result, const char *> names = {
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"}, {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"}, {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kNotReady, "CUDA_ERROR_NOT_READY"},         {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
  auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return kOk;
}
Result cuGetErrorString(Result result, const char **text) {
  KILN_LOCKED;
  *text = result == kLaunchFailed ? lastFailure.c_str() : "emulated GPU";
  return kOk;
}
}
