//===- Driver.h - the CUDA driver, opened when it is needed --------------------------------===//
//
// The functions of libcuda.so.1 that the runtime calls, as the driver's ABI has them: a runtime
// that was built without CUDA runs where it is there, and says so where it is not. One table for
// the process; immutable once opened, any thread.
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

struct alignas(64) TensorMap { // CUtensorMap
  uint64_t opaque[16];
};

// Values of the driver's enumerations.
inline constexpr int kComputeMajor = 75, kComputeMinor = 76, kMultiprocessors = 16;
inline constexpr int kMaxDynamicShared = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr int kMapUint16 = 1,
                     kMapUint32 = 2; // the copy engine moves bits, whatever they mean
inline constexpr int kNoInterleave = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3;
inline constexpr int kPromote256 = 3, kFillZero = 0;

struct Driver {
  Result (*init)(unsigned);
  Result (*deviceGet)(Device *, int);
  Result (*deviceGetCount)(int *);
  Result (*deviceGetName)(char *, int, Device);
  Result (*deviceGetAttribute)(int *, int, Device);
  Result (*primaryContextRetain)(Context *, Device);
  Result (*contextSetCurrent)(Context);
  Result (*moduleLoadData)(Module *, const void *);
  Result (*moduleUnload)(Module);
  Result (*moduleGetFunction)(Function *, Module, const char *);
  Result (*functionSetAttribute)(Function, int, int);
  Result (*occupancy)(int *, Function, int, size_t);
  Result (*launchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, Stream, void **, void **);
  Result (*allocate)(DevicePointer *, size_t, Stream);
  Result (*free)(DevicePointer, Stream);
  Result (*copyToDevice)(DevicePointer, const void *, size_t, Stream);
  Result (*copyToHost)(void *, DevicePointer, size_t, Stream);
  Result (*fillBytes)(DevicePointer, unsigned char, size_t, Stream);
  Result (*streamCreate)(Stream *, unsigned);
  Result (*streamDestroy)(Stream);
  Result (*streamSynchronize)(Stream);
  Result (*eventCreate)(Event *, unsigned);
  Result (*eventDestroy)(Event);
  Result (*eventRecord)(Event, Stream);
  Result (*eventElapsed)(float *, Event, Event);
  Result (*encodeTensorMap)(TensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                            const uint32_t *, const uint32_t *, int, int, int, int);
  Result (*errorName)(Result, const char **);
  Result (*errorText)(Result, const char **);

  /// Opened on the first call, with a context for device 0. Unsupported, with what is missing,
  /// where there is no driver or no GPU of compute capability 9.0.
  static Expected<const Driver *> open();

  /// The error as a Status: "cuLaunchKernel: CUDA_ERROR_... (text)".
  Status check(Result result, const char *what) const;

  Context context = nullptr;
  int multiprocessors = 0;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_DRIVER_H
