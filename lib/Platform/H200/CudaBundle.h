//===- CudaBundle.h - the code of a bundle for a GPU ------------------------------------===//
#ifndef KILN_LIB_PLATFORM_H200_CUDABUNDLE_H
#define KILN_LIB_PLATFORM_H200_CUDABUNDLE_H

#include "kiln/Platform/Platform.h"

namespace kiln {

/// Compiles a program that the passes of the machine have been over, and adds cubins, sources and
/// what launches them to a bundle.
Status addCudaCode(mlir::ModuleOp compiled, const Machine &machine, BundleManifest &manifest,
                   BundleFiles &files);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_H200_CUDABUNDLE_H
