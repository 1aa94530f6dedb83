//===- Hang.h - what a kernel that waited too long says --------------------------------------===//
//
// Kernels of checked builds (device/cuda/barrier.cuh) end where they wait for too long, and write
// down what for. One record for each GPU, in memory of the host that the GPU writes to, so that it
// can be read whatever has become of the GPU.
//
// Threads: one run of a checked program at a time on each GPU is told of its own hang; runs at the
// same time may be told of each other's.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_HANG_H
#define KILN_RUNTIME_DEVICE_CUDA_HANG_H

#include "Driver.h"

namespace kiln::cuda {

/// Tells a module of a checked build where to write. The GPU is the current one.
Status watchModule(const Gpu &gpu, Module module);
/// What a kernel that has ended wrote since the last look; Ok if nothing.
Status takeHang(const Gpu &gpu);

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_HANG_H
