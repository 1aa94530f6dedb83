//===- CpuPlatform.h - native code of this machine ------------------------------------------===//
#ifndef KILN_PLATFORM_CPUPLATFORM_H
#define KILN_PLATFORM_CPUPLATFORM_H

#include "kiln/Platform/Platform.h"

namespace kiln {

/// Native code by LLVM, run by the task engine, as a platform with this name and machine.
std::unique_ptr<Platform> makeCpuPlatform(std::string name, const Machine &machine);

} // namespace kiln

#endif // KILN_PLATFORM_CPUPLATFORM_H
