//===- InlineCalls.h - helpers become part of the kernels that call them -----------------===//
#ifndef KILN_LIB_TARGET_LLVM_PLAN_INLINECALLS_H
#define KILN_LIB_TARGET_LLVM_PLAN_INLINECALLS_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln::llvmir {

/// Replaces every kiln.call in a kernel by the body of what it calls. Recursion was rejected by the
/// verifier.
void inlineCalls(ir::FuncOp kernel);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_PLAN_INLINECALLS_H
