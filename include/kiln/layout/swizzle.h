//===- kiln/layout/swizzle.h - permuting offsets by xor -------------------===//
//
// What: `Swizzle`, a permutation of offsets that spreads the columns of a tile over the banks of a
//   memory: it xors `bits` bits at position base + shift into those at position base.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_LAYOUT_SWIZZLE_H
#define KILN_LAYOUT_SWIZZLE_H

#include "kiln/layout/result.h"

#include <cstdint>

namespace kiln::layout {

/// Made by swizzle(). Its own inverse, and the identity on offsets below 1 << (base + shift).
class Swizzle {
public:
  constexpr int64_t operator()(int64_t offset) const {
    return offset ^ ((offset & Source) >> Shift);
  }

private:
  friend constexpr Result<Swizzle> swizzle(int64_t bits, int64_t base, int64_t shift);
  constexpr Swizzle(int64_t source, int64_t shift) : Source(source), Shift(shift) {}

  int64_t Source; // a mask
  int64_t Shift;
};

/// x -> x ^ ((x & (((1 << bits) - 1) << (base + shift))) >> shift). shift >= bits keeps the bits
/// that are read apart from those that change. Fails with BadSwizzle.
constexpr Result<Swizzle> swizzle(int64_t bits, int64_t base, int64_t shift) {
  // Each is bounded before they are added.
  bool good = 0 <= bits && bits <= shift && 0 <= base && base <= 62 && shift <= 62 &&
              bits + base + shift <= 62;
  if (!good)
    return {Swizzle(0, 0), Error::BadSwizzle};
  return Swizzle(((int64_t{1} << bits) - 1) << (base + shift), shift);
}

/// The same with static numbers; broken preconditions do not compile.
template <int64_t Bits, int64_t Base, int64_t Shift> constexpr Swizzle swizzle() {
  constexpr Result<Swizzle> made = swizzle(Bits, Base, Shift);
  detail::requireNoError<made.error()>();
  return *made;
}

} // namespace kiln::layout

#endif // KILN_LAYOUT_SWIZZLE_H
