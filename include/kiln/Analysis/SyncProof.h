//===- SyncProof.h - whether the flags and barriers of a role are right ---------------------===//
//
// Replays a role with a clock for each unit: every loop not at all, once and twice, every branch
// both ways. Two instructions of which one writes what the other touches must be ordered by flags
// and barriers, flags must be set and waited for in turn, and at the end everything must have
// finished. It knows nothing of how the flags came to be there.
//
// Twice is enough for any number of iterations: a clock that knows an instruction of a unit to be
// finished knows it of all before it, so what holds between an iteration and the next holds between
// it and all later ones.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_SYNCPROOF_H
#define KILN_ANALYSIS_SYNCPROOF_H

#include "kiln/Analysis/Instructions.h"

#include "llvm/ADT/DenseSet.h"

namespace kiln {

struct SyncFault {
  mlir::Operation *at;
  std::string message;
  mlir::Operation *other = nullptr; ///< What it should have waited for.
};

/// The first fault of a role, as if the operations of `without` were not there; nothing if it is
/// right.
std::optional<SyncFault> findSyncFault(ir::FuncOp func, const Machine &machine,
                                       const llvm::DenseSet<mlir::Operation *> &without = {});

/// What can be left out of a role, each by itself: a barrier, one end of a flag, or a flag with
/// everything that sets it and waits for it.
std::vector<llvm::DenseSet<mlir::Operation *>> syncMutants(ir::FuncOp func, const Machine &machine);

} // namespace kiln

#endif // KILN_ANALYSIS_SYNCPROOF_H
