//===- FuseContractions.h - several sums over the same k in one loop ------------------===//
#ifndef KILN_LIB_TARGET_LLVM_PLAN_FUSECONTRACTIONS_H
#define KILN_LIB_TARGET_LLVM_PLAN_FUSECONTRACTIONS_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln::llvmir {

/// A kernel may add up one product, do something with it, and add up another over the same k, as a
/// gated projection does. Joins such loops into the first, so that all are one contraction with
/// several sums. A loop stays where it is if it depends on the first, or if memory may change
/// before it. The program computes what it did.
void fuseContractions(ir::FuncOp kernel);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_PLAN_FUSECONTRACTIONS_H
