//===- VectorMath.h - functions of f32 vectors ------------------------------------------===//
//
// Polynomials fitted for these intervals, exact to about one unit in the last place (a test
// measures each over its whole range); infinities, NaN, overflow and subnormal results as in libm.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_VECTORMATH_H
#define KILN_LIB_TARGET_LLVM_BUILDER_VECTORMATH_H

#include "Builder.h"

namespace kiln::llvmir {

/// x / divisor, correctly rounded; cheaper where the divisor is one number for all lanes.
llvm::Value *emitQuotient(Builder &b, llvm::Value *x, llvm::Value *divisor);
llvm::Value *emitExp(Builder &b, llvm::Value *x);
llvm::Value *emitExpm1(Builder &b, llvm::Value *x);
llvm::Value *emitExp2(Builder &b, llvm::Value *x);
llvm::Value *emitLog(Builder &b, llvm::Value *x);
llvm::Value *emitLog1p(Builder &b, llvm::Value *x);
llvm::Value *emitTanh(Builder &b, llvm::Value *x);
llvm::Value *emitErf(Builder &b, llvm::Value *x);
llvm::Value *emitCbrt(Builder &b, llvm::Value *x);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_VECTORMATH_H
