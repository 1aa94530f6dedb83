//===- CudaCode.h - a program as code for a GPU ------------------------------------------===//
#ifndef KILN_LIB_PLATFORM_H200_CUDACODE_H
#define KILN_LIB_PLATFORM_H200_CUDACODE_H

#include "kiln/Platform/Platform.h"
#include "kiln/runtime/cuda_program.h"

namespace kiln {

/// What a program is compiled to: cubins, and what launches them.
struct CudaCode {
  NativeInfo info;
  std::vector<CudaKernel> kernels; ///< In the order of the numbers by which they are launched.
  /// The cubins and their sources, and the shared object of an orchestration, by their paths in a
  /// bundle.
  BundleFiles files;
};

/// As in CudaKernel, CudaUnit and CpuOptions.
struct CudaCodeOptions {
  bool isChecked = false, hasLines = false;
  bool isPersistent = false; ///< All tasks of the program are one kernel.
  size_t places = 0;
};

/// Compiles a program that the passes of the machine have been over.
Expected<CudaCode> compileCudaCode(mlir::ModuleOp compiled, const std::string &entry,
                                   const Machine &machine, CudaCodeOptions options);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_H200_CUDACODE_H
