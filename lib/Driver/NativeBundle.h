//===- NativeBundle.h - the code of a bundle for the CPU ------------------------------===//
#ifndef KILN_LIB_DRIVER_NATIVEBUNDLE_H
#define KILN_LIB_DRIVER_NATIVEBUNDLE_H

#include "kiln/runtime/bundle.h"

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Compiles a prepared program for `cpu` (LLVM's name for one; empty: this machine) and adds the
/// code and what is in it to a bundle.
Status addNativeCode(mlir::ModuleOp prepared, const std::string &cpu, BundleManifest &manifest,
                     std::map<std::string, std::string> &files);

} // namespace kiln

#endif // KILN_LIB_DRIVER_NATIVEBUNDLE_H
