//===- Traits.h - what the lowering knows about the machine ---------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_TRAITS_H
#define KILN_LIB_TARGET_LLVM_TRAITS_H

#include <cstdint>

namespace llvm {
class TargetMachine;
}

namespace kiln::cpu {

/// Elements a vector operation works on at a time: one register of AVX-512, two of AVX2.
inline constexpr unsigned kWidth = 16;

struct MachineTraits {
  bool isX86 = false, hasAvx512 = false;
  /// How many vectors of kWidth floats fit into the registers beside what a product needs besides.
  int64_t accumulators = 3;
};

MachineTraits traitsOf(const llvm::TargetMachine &machine);

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_LLVM_TRAITS_H
