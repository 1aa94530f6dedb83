//===- Driver.h - the CUDA driver, opened when it is needed --------------------------------===//
//
// The functions of libcuda.so.1 that the runtime calls, as the driver's ABI has them: a runtime
// that was built without CUDA runs where it is there, and says so where it is not. One table for
// the process, and one entry for each GPU that was asked for; immutable once opened, any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_DRIVER_H
#define KILN_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "kiln/runtime/status.h"

#include <cstddef>
#include <cstdint>

namespace kiln::cuda {

// The driver's types, under its names for them where a reader may want to look them up.
using Result = int; // CUresult; 0 is success
using Device = int;
using DevicePointer = uint64_t;
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;
using Graph = struct CUgraph_st *;
using GraphNode = struct CUgraphNode_st *;
using GraphExec = struct CUgraphExec_st *;

struct alignas(64) TensorMap { // CUtensorMap
  uint64_t opaque[16];
};

struct KernelNodeParams { // CUDA_KERNEL_NODE_PARAMS_v2
  Function function;
  unsigned blocks[3], threads[3];
  unsigned sharedBytes;
  void **parameters, **extra;
  void *kernel, *context;
};

struct LaunchAttribute { // CUlaunchAttribute
  int what;
  alignas(8) int value[16];
};
struct LaunchConfig { // CUlaunchConfig
  unsigned blocks[3], threads[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
struct GraphEdge { // CUgraphEdgeData
  unsigned char fromPort, toPort, type, reserved[5];
  friend bool operator==(const GraphEdge &, const GraphEdge &) = default;
};

// Values of the driver's enumerations.
// A kernel may begin when all blocks of the one before it have said so (PROGRAMMATIC_..).
inline constexpr int kBeginsEarly = 6; // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
inline constexpr int kCooperative = 2; // all blocks run at once, or it is an error
inline constexpr GraphEdge kEarlyEdge{1, 0, 1, {}}; // CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC
inline constexpr int kComputeMajor = 75, kComputeMinor = 76, kMultiprocessors = 16;
inline constexpr int kPointerDevice = 9;         // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
inline constexpr unsigned kHostMapped = 2;       // CU_MEMHOSTALLOC_DEVICEMAP
inline constexpr unsigned kAttachGlobal = 1;     // CU_MEM_ATTACH_GLOBAL
inline constexpr Result kNotReady = 600;         // CUDA_ERROR_NOT_READY
inline constexpr int kNotCapturing = 0;          // CU_STREAM_CAPTURE_STATUS_NONE
inline constexpr int kCapturing = 1;             // CU_STREAM_CAPTURE_STATUS_ACTIVE
inline constexpr int kCaptureRelaxed = 2;        // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr unsigned kEventWithoutTime = 2; // CU_EVENT_DISABLE_TIMING
inline constexpr int kMaxDynamicShared = 8;      // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr int kMapUint8 = 0, kMapUint16 = 1,
                     kMapUint32 = 2; // the copy engine moves bits, whatever they mean
inline constexpr int kNoInterleave = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3;
inline constexpr int kPromote128 = 2, kPromote256 = 3, kFillZero = 0;

struct Gpu;

struct Driver {
  Result (*init)(unsigned);
  Result (*deviceGet)(Device *, int);
  Result (*deviceGetCount)(int *);
  Result (*deviceGetName)(char *, int, Device);
  Result (*deviceGetAttribute)(int *, int, Device);
  Result (*primaryContextRetain)(Context *, Device);
  Result (*contextGetCurrent)(Context *);
  Result (*contextPush)(Context);
  Result (*contextPop)(Context *);
  Result (*pointerAttribute)(void *, int, DevicePointer);
  Result (*moduleLoadData)(Module *, const void *);
  Result (*moduleUnload)(Module);
  Result (*moduleGetFunction)(Function *, Module, const char *);
  Result (*moduleGetGlobal)(DevicePointer *, size_t *, Module, const char *);
  Result (*functionSetAttribute)(Function, int, int);
  Result (*occupancy)(int *, Function, int, size_t);
  Result (*launchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, Stream, void **, void **);
  Result (*launchKernelEx)(const LaunchConfig *, Function, void **, void **);
  Result (*allocate)(DevicePointer *, size_t, Stream);
  Result (*free)(DevicePointer, Stream);
  Result (*allocateManaged)(DevicePointer *, size_t, unsigned);
  Result (*freeManaged)(DevicePointer);
  Result (*hostAllocate)(void **, size_t, unsigned);
  Result (*hostDevicePointer)(DevicePointer *, void *, unsigned);
  Result (*copy)(DevicePointer, DevicePointer, size_t); // between any two memories; waits
  Result (*copyToDevice)(DevicePointer, const void *, size_t, Stream);
  Result (*copyToHost)(void *, DevicePointer, size_t, Stream);
  Result (*copyOnDevice)(DevicePointer, DevicePointer, size_t, Stream);
  Result (*fillBytes)(DevicePointer, unsigned char, size_t, Stream);
  Result (*streamCreate)(Stream *, unsigned);
  Result (*streamDestroy)(Stream);
  Result (*streamSynchronize)(Stream);
  Result (*streamIsCapturing)(Stream, int *);
  Result (*captureInfo)(Stream, int *, uint64_t *, Graph *, const GraphNode **, const GraphEdge **,
                        size_t *);
  Result (*exchangeCaptureMode)(int *); // of this thread
  Result (*eventCreate)(Event *, unsigned);
  Result (*eventDestroy)(Event);
  Result (*eventRecord)(Event, Stream);
  Result (*eventQuery)(Event);
  Result (*eventElapsed)(float *, Event, Event);
  Result (*graphCreate)(Graph *, unsigned);
  Result (*graphDestroy)(Graph);
  Result (*graphAddKernel)(GraphNode *, Graph, const GraphNode *, size_t, const KernelNodeParams *);
  Result (*graphAddEdges)(Graph, const GraphNode *, const GraphNode *, const GraphEdge *, size_t);
  Result (*graphInstantiate)(GraphExec *, Graph, unsigned long long);
  Result (*graphExecDestroy)(GraphExec);
  Result (*graphSetKernel)(GraphExec, GraphNode, const KernelNodeParams *);
  Result (*graphLaunch)(GraphExec, Stream);
  Result (*encodeTensorMap)(TensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                            const uint32_t *, const uint32_t *, int, int, int, int);
  Result (*errorName)(Result, const char **);
  Result (*errorText)(Result, const char **);

  /// Opened on the first call. Unsupported, with what is missing, where there is no driver or no
  /// GPU. No thread's context is changed.
  static Expected<const Driver *> open();
  /// The GPU with this number, as CUDA_VISIBLE_DEVICES counts them. Unsupported where it is not
  /// there or not of compute capability 9.0.
  Expected<const Gpu *> gpu(int number) const;
  /// The GPU whose memory this is. InvalidArgument if it is the host's.
  Expected<const Gpu *> gpuOf(const void *pointer) const;

  /// The error as a Status: "cuLaunchKernel: CUDA_ERROR_... (text)".
  Status check(Result result, const char *what) const;
};

/// A GPU that runs sm_90a code, with its primary context: the one that CUDA's runtime, and so
/// PyTorch, use.
struct Gpu {
  const Driver *driver = nullptr;
  int number = 0;
  Context context = nullptr;
  int multiprocessors = 0;
};
inline constexpr int kMaxGpus = 64;

/// Makes a GPU's context the current one of this thread, and at its end the one before again.
class CurrentGpu {
public:
  explicit CurrentGpu(const Gpu &gpu);
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu &) = delete;
  CurrentGpu &operator=(const CurrentGpu &) = delete;
  const Status &status() const { return Entered; }

private:
  const Gpu &Of;
  bool IsPushed = false;
  Status Entered;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_DRIVER_H
