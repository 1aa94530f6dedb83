// libcuda.so.1 of emulated GPUs: the functions of the CUDA driver that the runtime calls. What is
// asked of a stream happens when somebody waits for the stream, or copies from or to the host.
//
// Each GPU has a context, to which streams, events, modules and memory belong. What is used while
// another context is the current one, or none, is refused, and so is a kernel that is given another
// GPU's memory.
//
// KILN_EMULATE_SEED chooses the order of everything; KILN_EMULATE_GPUS says how many GPUs there
// are, and KILN_EMULATE_MULTIPROCESSORS how many multiprocessors each has.
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
#include <optional>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

using namespace kiln::emulated;

namespace {

using Result = int;
constexpr Result kOk = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kNotFound = 500,
                 kNotReady = 600, kLaunchFailed = 719, kTooLarge = 720, kInvalidDevice = 101,
                 kInvalidContext = 201, kInvalidHandle = 400;
constexpr int kCooperative = 2, kBeginsEarly = 6; // attributes of launches
constexpr int kSharedOfMultiprocessor = 228 * 1024, kThreadsOfMultiprocessor = 2048;
/// More at once would show nothing new, and take longer.
constexpr int kMostBlocks = 2;

struct Context;

struct Kernel {
  Context *of;
  void (*entry)(const void *);
  uint64_t bytes;   ///< Of its arguments.
  uint64_t cluster; ///< Blocks of one.
};
struct Module {
  Context *of;
  void *library;
  int file;
  std::map<std::string, Kernel> kernels;
};
struct Stream {
  Context *of;
  std::vector<std::function<void()>> asked;
  bool endsWithKernel = false; ///< What was asked for last is one.

  void ask(std::function<void()> what, bool isKernel = false) {
    asked.push_back(std::move(what));
    endsWithKernel = isKernel;
  }
};
struct KernelNodeParams { // CUDA_KERNEL_NODE_PARAMS_v2
  Kernel *kernel;
  unsigned blocks[3], threads[3], shared;
  void **parameters, **extra;
};
/// A launch, with a copy of its arguments: the caller may use its memory for something else.
struct Node {
  Kernel *kernel;
  unsigned blocks, threads, shared;
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::shared_ptr<std::vector<Line>> args;
  std::vector<size_t> after; ///< Of a graph: the numbers of the nodes that it comes after.
  bool isEarly = false;      ///< It may begin before the one that it comes after has ended.
};
struct Graph {
  std::vector<std::unique_ptr<size_t>> handles; ///< A node is the address of its number.
  std::vector<Node> nodes;
};
struct Context {
  int gpu = 0;
  Stream ofNobody{this, {}}; ///< The stream that is none.
};
struct Event {
  Context *of;
  std::chrono::steady_clock::time_point time;
  bool isRecorded = false;
  Stream *stream = nullptr;
};

std::recursive_mutex lock;
Memory memory;
std::string failure;     ///< Of a kernel, until somebody is told.
std::string lastFailure; ///< For whoever asks for its text.
Context contexts[8];     ///< The primary ones.
/// Those that were pushed, the current one last.
thread_local std::vector<Context *> pushed;

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *given = std::getenv(variable);
  return given && *given ? std::strtoull(given, nullptr, 10) : otherwise;
}

uint64_t seed() {
  static const uint64_t given = numberFrom("KILN_EMULATE_SEED", 0);
  return given;
}

int numGpus() {
  return static_cast<int>(std::clamp<uint64_t>(numberFrom("KILN_EMULATE_GPUS", 1), 1, 8));
}

Context *current() { return pushed.empty() ? nullptr : pushed.back(); }

/// The first of what is wrong with using things of these contexts now.
Result refuse(std::initializer_list<const Context *> used = {}) {
  if (!current())
    return kInvalidContext;
  return std::ranges::all_of(used, [](const Context *of) { return of == current(); })
             ? kOk
             : kInvalidHandle;
}
Result refuse(const Stream *stream) { return stream ? refuse({stream->of}) : refuse(); }

/// Of the current context, if it is none; that is known to be one.
Stream &streamOf(Stream *stream) { return stream ? *stream : current()->ofNobody; }

void flush(Stream &stream) {
  std::vector<std::function<void()>> asked;
  asked.swap(stream.asked);
  stream.endsWithKernel = false;
  for (auto &what : asked)
    what();
}

/// The lock, for what is asked of a stream. None while a kernel runs, if nothing was asked of the
/// stream before: another stream goes on beside the kernel.
std::optional<std::unique_lock<std::recursive_mutex>> lockFor(Stream *stream) {
  std::unique_lock guard(lock, std::try_to_lock);
  if (!guard && stream && stream->asked.empty())
    return std::nullopt;
  if (!guard)
    guard.lock();
  return guard;
}

Result takeFailure() {
  if (failure.empty())
    return kOk;
  lastFailure = "emulated GPU: " + failure;
  failure.clear();
  return kLaunchFailed;
}

/// Whether a kernel is given the address of memory of another GPU: a word of its arguments is one.
bool isGivenOthersMemory(const Kernel &kernel, const void *arguments) {
  std::span words(static_cast<const uint64_t *>(arguments), kernel.bytes / sizeof(uint64_t));
  return std::ranges::any_of(words, [&](uint64_t word) {
    std::optional<int> gpu = memory.gpuOf(word);
    return gpu && *gpu != kernel.of->gpu;
  });
}

Node nodeOf(Kernel *kernel, unsigned blocks, unsigned threads, unsigned shared, void **parameters) {
  auto args = std::make_shared<std::vector<Node::Line>>(kernel->bytes / sizeof(Node::Line) + 1);
  std::memcpy(args->data(), parameters[0], kernel->bytes);
  return {kernel, blocks, threads, shared, std::move(args), {}, false};
}

Result describe(const KernelNodeParams &params, Node &node) {
  if (params.blocks[0] == 0 || params.blocks[1] != 1 || params.blocks[2] != 1 || params.extra ||
      isGivenOthersMemory(*params.kernel, params.parameters[0]))
    return kInvalidValue;
  Node made =
      nodeOf(params.kernel, params.blocks[0], params.threads[0], params.shared, params.parameters);
  made.after = std::move(node.after);
  made.isEarly = node.isEarly;
  node = std::move(made);
  return kOk;
}

/// `before`: the kernel before it, if this one may begin earlier.
void runNode(const Node &node, std::function<void()> before = nullptr) {
  std::string wrong;
  if (failure.empty())
    wrong = run({node.kernel->entry, node.args->data(), node.blocks, node.threads, node.shared,
                 seed(), static_cast<unsigned>(node.kernel->cluster), std::move(before)});
  if (failure.empty())
    failure = wrong;
}

/// With those that come before it, which run when it waits for them.
void runEarly(const std::vector<Node> &nodes, size_t number) {
  const Node &node = nodes[number];
  if (node.isEarly)
    runNode(node, [&nodes, before = node.after.front()] { runEarly(nodes, before); });
  else
    runNode(node);
}

/// Any order that the edges allow: the seed says which.
void runGraph(const std::vector<Node> &nodes) {
  std::vector<bool> hasRun(nodes.size()), isBegunLater(nodes.size());
  for (const Node &node : nodes)
    if (node.isEarly)
      isBegunLater[node.after.front()] = true;
  for (size_t done = 0; done < nodes.size(); ++done) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!hasRun[i] && std::ranges::all_of(nodes[i].after, [&](size_t k) { return hasRun[k]; }))
        ready.push_back(i);
    size_t next = ready[(seed() + done) % ready.size()];
    if (!isBegunLater[next])
      runEarly(nodes, next);
    hasRun[next] = true;
  }
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
  return number >= 0 && number < numGpus() ? kOk : kInvalidDevice;
}
Result cuDeviceGetCount(int *count) {
  *count = numGpus();
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
Result cuDevicePrimaryCtxRetain(Context **given, int device) {
  if (device < 0 || device >= numGpus())
    return kInvalidDevice;
  *given = &contexts[device];
  (*given)->gpu = device;
  return kOk;
}
Result cuCtxGetCurrent(Context **given) {
  *given = current();
  return kOk;
}
Result cuCtxPushCurrent_v2(Context *context) {
  if (!context)
    return kInvalidContext;
  pushed.push_back(context);
  return kOk;
}
Result cuCtxPopCurrent_v2(Context **given) {
  if (!current())
    return kInvalidContext;
  *given = current();
  pushed.pop_back();
  return kOk;
}
Result cuPointerGetAttribute(int *value, int, uint64_t address) {
  KILN_LOCKED;
  std::optional<int> gpu = memory.gpuOf(address);
  *value = gpu.value_or(-1);
  return gpu ? kOk : kInvalidValue;
}

//===-- Modules -----------------------------------------------------------------------------===//

Result cuModuleLoadData(Module **module, const void *image) {
  KILN_LOCKED;
  if (Result bad = refuse())
    return bad;
  int file = fileOf(image);
  if (file < 0)
    return kInvalidImage;
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "emulated GPU: %s\n", dlerror());
    close(file);
    return kInvalidImage;
  }
  *module = new Module{current(), library, file, {}};
  return kOk;
}
Result cuModuleUnload(Module *module) {
  KILN_LOCKED;
  if (Result bad = refuse({module->of}))
    return bad;
  dlclose(module->library);
  close(module->file);
  delete module;
  return kOk;
}
Result cuModuleGetFunction(Kernel **kernel, Module *module, const char *name) {
  KILN_LOCKED;
  if (Result bad = refuse({module->of}))
    return bad;
  void *entry = dlsym(module->library, ("emulated_" + std::string(name)).c_str());
  void *size = dlsym(module->library, ("emulated_bytes_" + std::string(name)).c_str());
  void *cluster = dlsym(module->library, ("emulated_cluster_" + std::string(name)).c_str());
  if (!entry || !size || !cluster)
    return kNotFound;
  Kernel &found = module->kernels[name];
  found = {module->of, reinterpret_cast<void (*)(const void *)>(entry),
           *static_cast<uint64_t *>(size), *static_cast<uint64_t *>(cluster)};
  *kernel = &found;
  return kOk;
}
Result cuModuleGetGlobal_v2(uint64_t *address, size_t *size, Module *module, const char *name) {
  KILN_LOCKED;
  if (Result bad = refuse({module->of}))
    return bad;
  Dl_info info;
  ElfW(Sym) *symbol = nullptr;
  void *found = dlsym(module->library, name);
  if (!found || !dladdr1(found, &info, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) ||
      !symbol) {
    // compute-sanitizer calls that an error of the program, whatever the program makes of it.
    std::fprintf(stderr, "emulated GPU: a module is asked for '%s', which it does not have\n",
                 name);
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
  if (Result bad = refuse({kernel->of, stream ? stream->of : kernel->of}))
    return bad;
  if (blocks == 0 || y != 1 || z != 1 || isGivenOthersMemory(*kernel, parameters[0]))
    return kInvalidValue;
  streamOf(stream).ask(
      [node = nodeOf(kernel, blocks, threads, shared, parameters)] { runNode(node); }, true);
  return kOk;
}

struct LaunchAttribute {
  int what;
  alignas(8) int value[16];
};
struct LaunchConfig { // CUlaunchConfig
  unsigned blocks[3], threads[3], shared;
  Stream *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
/// One that may begin early takes the kernel that was asked for last along; behind anything else it
/// waits as others do.
Result cuLaunchKernelEx(const LaunchConfig *config, Kernel *kernel, void **parameters, void **) {
  KILN_LOCKED;
  if (Result bad = refuse({kernel->of, config->stream ? config->stream->of : kernel->of}))
    return bad;
  Stream &stream = streamOf(config->stream);
  if (config->blocks[0] == 0 || config->numAttributes != 1 ||
      isGivenOthersMemory(*kernel, parameters[0]))
    return kInvalidValue;
  Node node = nodeOf(kernel, config->blocks[0], config->threads[0], config->shared, parameters);
  if (config->attributes->what == kCooperative) {
    int atOnce = 0, multiprocessors = 0;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&atOnce, kernel, static_cast<int>(node.threads),
                                                node.shared);
    cuDeviceGetAttribute(&multiprocessors, 16, 0);
    if (node.blocks > static_cast<unsigned>(atOnce * multiprocessors))
      return kTooLarge;
    stream.ask([node] { runNode(node); }, true);
    return kOk;
  }
  if (config->attributes->what != kBeginsEarly)
    return kInvalidValue;
  if (stream.endsWithKernel)
    stream.asked.back() = [node, before = std::move(stream.asked.back())] {
      runNode(node, before);
    };
  else
    stream.ask([node] { runNode(node); }, true);
  return kOk;
}

//===-- Graphs ------------------------------------------------------------------------------===//

Result cuGraphCreate(Graph **graph, unsigned) {
  *graph = new Graph;
  return kOk;
}
Result cuGraphDestroy(Graph *graph) {
  delete graph;
  return kOk;
}
Result cuGraphAddKernelNode_v2(size_t **handle, Graph *graph, size_t *const *after, size_t count,
                               const KernelNodeParams *params) {
  KILN_LOCKED;
  Node node{};
  for (size_t *before : std::span(after, count))
    node.after.push_back(*before);
  if (Result bad = describe(*params, node))
    return bad;
  *handle = graph->handles.emplace_back(std::make_unique<size_t>(graph->nodes.size())).get();
  graph->nodes.push_back(std::move(node));
  return kOk;
}
struct GraphEdge {
  unsigned char fromPort, toPort, type, reserved[5];
};
Result cuGraphAddDependencies_v2(Graph *graph, size_t *const *from, size_t *const *to,
                                 const GraphEdge *edge, size_t count) {
  KILN_LOCKED;
  if (count != 1 || edge->fromPort != 1 || edge->toPort != 0 || edge->type != 1)
    return kInvalidValue;
  Node &node = graph->nodes.at(**to);
  node.after.assign(1, **from);
  node.isEarly = true;
  return kOk;
}
Result cuGraphInstantiateWithFlags(std::vector<Node> **ready, Graph *graph, unsigned long long) {
  KILN_LOCKED;
  *ready = new std::vector<Node>(graph->nodes);
  return kOk;
}
Result cuGraphExecDestroy(std::vector<Node> *ready) {
  KILN_LOCKED;
  delete ready;
  return kOk;
}
Result cuGraphExecKernelNodeSetParams_v2(std::vector<Node> *ready, const size_t *handle,
                                         const KernelNodeParams *params) {
  KILN_LOCKED;
  return describe(*params, ready->at(*handle));
}
Result cuGraphLaunch(const std::vector<Node> *ready, Stream *stream) {
  KILN_LOCKED;
  if (Result bad = refuse(stream))
    return bad;
  if (std::ranges::any_of(*ready, [](const Node &node) { return node.kernel->of != current(); }))
    return kInvalidHandle;
  streamOf(stream).ask([nodes = *ready] { runGraph(nodes); });
  return kOk;
}

//===-- Memory ------------------------------------------------------------------------------===//

Result cuMemAllocManaged(uint64_t *address, size_t size, unsigned) {
  KILN_LOCKED;
  if (Result bad = refuse())
    return bad;
  *address = memory.allocate(size, seed() % 2 == 0, current()->gpu);
  return *address ? kOk : kOutOfMemory;
}
Result cuMemAllocAsync(uint64_t *address, size_t size, Stream *stream) {
  if (Result bad = refuse(stream))
    return bad;
  return cuMemAllocManaged(address, size, 0);
}
Result cuMemFree_v2(uint64_t address) {
  KILN_LOCKED;
  return memory.free(address) ? kOk : kInvalidValue;
}
Result cuMemFreeAsync(uint64_t address, Stream *stream) {
  KILN_LOCKED;
  if (Result bad = refuse(stream))
    return bad;
  if (memory.gpuOf(address) != current()->gpu)
    return kInvalidValue;
  streamOf(stream).ask([=] { memory.free(address); });
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
  if (Result bad = refuse())
    return bad;
  flush(streamOf(nullptr));
  std::memcpy(bytes(to), bytes(from), size);
  return takeFailure();
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, Stream *stream) {
  KILN_LOCKED;
  if (Result bad = refuse(stream))
    return bad;
  flush(streamOf(stream));
  std::memcpy(bytes(to), from, size);
  return kOk;
}
Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, Stream *stream) {
  if (Result bad = refuse(stream))
    return bad;
  if (std::optional guard = lockFor(stream))
    flush(streamOf(stream));
  std::memcpy(to, bytes(from), size);
  return kOk;
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, Stream *stream) {
  KILN_LOCKED;
  if (Result bad = refuse(stream))
    return bad;
  streamOf(stream).ask([=] { std::memcpy(bytes(to), bytes(from), size); });
  return kOk;
}
Result cuMemsetD8Async(uint64_t to, unsigned char value, size_t size, Stream *stream) {
  KILN_LOCKED;
  if (Result bad = refuse(stream))
    return bad;
  streamOf(stream).ask([=] { std::memset(bytes(to), value, size); });
  return kOk;
}

//===-- Streams and events --------------------------------------------------------------------===//

Result cuStreamCreate(Stream **stream, unsigned) {
  if (Result bad = refuse())
    return bad;
  *stream = new Stream{current(), {}};
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
  if (Result bad = refuse(stream))
    return bad;
  flush(streamOf(stream));
  return takeFailure();
}
Result cuStreamIsCapturing(Stream *, int *status) {
  *status = 0;
  return kOk;
}
Result cuStreamGetCaptureInfo_v3(Stream *, int *status, uint64_t *, Graph **, size_t *const **,
                                 const GraphEdge **, size_t *) {
  *status = 0;
  return kOk;
}
Result cuThreadExchangeStreamCaptureMode(int *mode) {
  static thread_local int current = 0;
  std::swap(current, *mode);
  return kOk;
}
Result cuEventCreate(Event **event, unsigned) {
  if (Result bad = refuse())
    return bad;
  *event = new Event{current(), {}};
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
  if (Result bad = refuse({event->of, stream ? stream->of : event->of}))
    return bad;
  std::optional guard = lockFor(stream);
  if (!guard) {
    event->time = std::chrono::steady_clock::now();
    event->isRecorded = true;
    return kOk;
  }
  event->isRecorded = false;
  event->stream = &streamOf(stream);
  event->stream->ask([=] {
    event->time = std::chrono::steady_clock::now();
    event->isRecorded = true;
    event->stream = nullptr;
  });
  return kOk;
}
Result cuEventQuery(Event *event) {
  std::unique_lock guard(lock, std::try_to_lock);
  if (!guard) // a kernel runs
    return event->isRecorded && !event->stream ? kOk : kNotReady;
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
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
      {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kNotReady, "CUDA_ERROR_NOT_READY"},
      {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
      {kTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"}};
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
