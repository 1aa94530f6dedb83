//===- CudaBundle.h - the code of a bundle for a GPU ------------------------------------===//
#ifndef KILN_LIB_DRIVER_CUDABUNDLE_H
#define KILN_LIB_DRIVER_CUDABUNDLE_H

#include "kiln/runtime/bundle.h"

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Compiles a program that the passes of h200 have been over, and adds cubins, sources and what
/// launches them to a bundle.
Status addCudaCode(mlir::ModuleOp compiled, BundleManifest &manifest,
                   std::map<std::string, std::string> &files);

} // namespace kiln

#endif // KILN_LIB_DRIVER_CUDABUNDLE_H
