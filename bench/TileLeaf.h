//===- TileLeaf.h - CPUID's description of tile registers, where it is hidden ---===//
//
// What: some virtual machines have tile registers (AMX) but leave the leaf of CPUID that describes
//   them empty. oneDNN believes the leaf, and dies of an illegal instruction. Where Linux can stop
//   a thread at CPUID, the peers' start-up is told what the leaf says on every such CPU. Benchmarks
//   only; one thread at a time.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_BENCH_TILELEAF_H
#define KILN_BENCH_TILELEAF_H

namespace kiln::bench {

/// Whether this CPU has tile registers and does not describe them.
bool isTileLeafHidden();

/// While one lives, this thread's CPUID describes the tile registers. `isShown` is false where that
/// is impossible.
class ShownTileLeaf {
public:
  ShownTileLeaf();
  ~ShownTileLeaf();
  ShownTileLeaf(const ShownTileLeaf &) = delete;
  ShownTileLeaf &operator=(const ShownTileLeaf &) = delete;
  bool isShown() const { return IsShown; }

private:
  bool IsShown = false;
};

} // namespace kiln::bench

#endif // KILN_BENCH_TILELEAF_H
