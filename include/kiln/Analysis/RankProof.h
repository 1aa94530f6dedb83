//===- RankProof.h - proves that all ranks do the same together -------------------------===//
//
// Decides, without running a program, whether every rank comes to the same collectives in the same
// order with tensors of the same extents, and whether every message that is sent is received and
// nobody waits for ever: for all values of its parameters and for any number of ranks. See
// docs/ranks.md.
//
// Ownership: borrows the module for the length of the call and does not change it; a proof is a
// value. Threads: any thread that may read the module.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_RANKPROOF_H
#define KILN_ANALYSIS_RANKPROOF_H

#include "kiln/Dialect/Tile/TileDialect.h"

#include <string>
#include <vector>

namespace kiln {

struct RankProof {
  /// What the proof does not settle, with the place it depends on.
  struct Reason {
    mlir::Location loc;
    std::string text;
  };
  uint64_t collectives = 0, messages = 0; ///< Places in the program.
  std::vector<Reason> reasons;            ///< Empty: proved.

  bool isProved() const { return reasons.empty(); }
  bool hasRanks() const { return collectives + messages > 0; }
};

/// `entry` is an orchestration of a module in which equal values are one (CSE). The arguments of
/// all ranks have the same extents and the same scalars; runs check that.
RankProof proveRanks(ir::FuncOp entry);

} // namespace kiln

#endif // KILN_ANALYSIS_RANKPROOF_H
