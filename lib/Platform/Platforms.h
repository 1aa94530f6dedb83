//===- Platforms.h - the platforms of this library ------------------------------------------===//
#ifndef KILN_LIB_PLATFORM_PLATFORMS_H
#define KILN_LIB_PLATFORM_PLATFORMS_H

#include "kiln/Platform/CpuPlatform.h"

namespace kiln {

/// A machine that is simulated: what its passes make of a program is interpreted and checked.
std::unique_ptr<Platform> makeSimulatorPlatform(std::string name, const Machine &machine);
/// The PyTorch reference.
std::unique_ptr<Platform> makeTorchPlatform();
/// An NVIDIA GPU, as CUDA C++.
std::unique_ptr<Platform> makeH200Platform();
/// An Ascend, as C++ over PTO-ISA for the `simpler` runtime.
std::unique_ptr<Platform> makeAscendPlatform(std::string name, const Machine &machine);

} // namespace kiln

#endif // KILN_LIB_PLATFORM_PLATFORMS_H
