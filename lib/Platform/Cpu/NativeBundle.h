//===- NativeBundle.h - the native code of bundles ----------------------------------------===//
#ifndef KILN_LIB_PLATFORM_CPU_NATIVEBUNDLE_H
#define KILN_LIB_PLATFORM_CPU_NATIVEBUNDLE_H

#include "kiln/Platform/Platform.h"
#include "kiln/Target/Llvm/Llvm.h"

namespace kiln {

/// An object and the description of what is in it.
struct NativeObject {
  CpuObject object;
  NativeInfo info;
};

/// Compiles a prepared program whose entry is `entry`.
Expected<NativeObject> compileNative(mlir::ModuleOp prepared, const std::string &entry,
                                     const CpuOptions &options);

/// What to compile for, given LLVM's name for a CPU (empty or "native": this machine).
Expected<CpuOptions> optionsForName(const std::string &cpu);

/// What code is compiled for, as it stands in keys and bundles.
std::string archOf(const CpuOptions &options);

/// Compiles a prepared program and adds the code and what is in it to a bundle.
Status addNativeCode(mlir::ModuleOp prepared, const CpuOptions &options, BundleManifest &manifest,
                     BundleFiles &files);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_CPU_NATIVEBUNDLE_H
