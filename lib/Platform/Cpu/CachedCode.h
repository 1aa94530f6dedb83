//===- CachedCode.h - the code of runs, kept between them -----------------------------------===//
//
// `kiln run` compiles a program once: the object goes into the same cache as the JIT's artifacts,
// and later runs of the same program link it into their process.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_PLATFORM_CPU_CACHEDCODE_H
#define KILN_LIB_PLATFORM_CPU_CACHEDCODE_H

#include "kiln/Platform/Platform.h"
#include "kiln/Target/Llvm/Llvm.h"

namespace kiln {

/// What code is compiled for, as it stands in keys.
std::string archOf(const CpuOptions &options);

/// The code of a run for a platform with this name, from the cache or compiled; `isFromCache` says
/// which.
Expected<std::shared_ptr<const NativeProgram>> codeFor(const RunRequest &request,
                                                       const std::string &platform,
                                                       const CpuOptions &options,
                                                       bool &isFromCache);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_CPU_CACHEDCODE_H
