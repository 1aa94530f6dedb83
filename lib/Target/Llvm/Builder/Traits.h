//===- Traits.h - what the lowering knows about the machine ---------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_TRAITS_H
#define KILN_LIB_TARGET_LLVM_BUILDER_TRAITS_H

#include <cstdint>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace kiln::llvmir {

/// Elements a vector operation works on at a time: one register of AVX-512, two of AVX2.
inline constexpr unsigned kWidth = 16;
/// What loops over elements compute at a time: LLVM splits such vectors operation by operation, so
/// that two chains of dependent operations run side by side. One alone fills the machine's
/// scheduler with operations that wait.
inline constexpr unsigned kChunk = 2 * kWidth;

struct MachineTraits {
  bool isX86 = false, hasAvx512 = false;
  /// How many vectors of kWidth floats fit into the registers beside what a product needs besides.
  int64_t accumulators = 3;
  /// How many sums of 32 bits an instruction adds products of small elements to: pairs of bf16,
  /// four bytes of which the first have no sign, pairs of i16. 0: there is no such instruction.
  unsigned bf16DotLanes = 0, byteDotLanes = 0, shortDotLanes = 0;
  /// Whether there are registers of 16 x 16 words, and instructions that multiply such tiles of
  /// pairs of bf16, or of four bytes with signs (AMX).
  bool hasBf16Tiles = false, hasByteTiles = false;
  /// Whether rows that are read from far away come sooner if they are asked for. Otherwise the
  /// machine looks ahead further by itself than its nearest cache can keep track of.
  bool wantsFarRowsFetched = false;
  /// Whether fetches are lost where much is on its way, so that every pass over a tile asks for the
  /// next one, and not only the last.
  bool losesFetches = false;
  int64_t nearestCacheBytes = int64_t(32) << 10;
  /// Whether products are so fast that a panel of the right side has to come from the nearest
  /// cache, which has room for it, all the time that it is used.
  bool wantsPanelsNear = false;
};

MachineTraits traitsOf(const llvm::TargetMachine &machine);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_TRAITS_H
