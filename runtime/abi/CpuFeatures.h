//===- CpuFeatures.h - what the CPU of this machine can execute --------------------------===//
//
// Asked of the CPU itself, by the names that LLVM has for its features. What the system lists
// (flags of /proc/cpuinfo) lacks what the kernel is too old to know, while LLVM, which asks the CPU
// too, uses it.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_CPUFEATURES_H
#define KILN_RUNTIME_ABI_CPUFEATURES_H

#include <string_view>

namespace kiln {

/// How a feature of the CPU stands on this machine.
enum class CpuFeature {
  Present,
  Missing,     ///< Of this CPU, or of a system that does not save the registers which it needs.
  Unknown,     ///< Code may need it, and whether this CPU has it nobody here can tell.
  NeverNeeded, ///< No generated code depends on it, or every x86-64 has it.
};

/// Of a feature by LLVM's name, such as "avx512f". On other machines than x86 all are
/// `NeverNeeded`: there the linker refuses foreign code.
CpuFeature cpuFeature(std::string_view name);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_CPUFEATURES_H
