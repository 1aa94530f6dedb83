//===- ScalarEvaluation.h - what scalar arithmetic computes ---------------------------------===//
//
// The arith dialect on scalars, for whoever executes or folds it: the simulator and the analyses.
// Integers wrap, but an index must not leave its 64 bits: that is a fault, never a silent
// difference to the reference, whose indices are unbounded. What arith leaves undefined is defined
// here: a division by zero is a fault, a shift by a negative count, the width or more shifts
// everything out, float to integer saturates.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_SCALAREVALUATION_H
#define KILN_PROGRAM_SCALAREVALUATION_H

#include "kiln/runtime/dtype.h"
#include "kiln/runtime/status.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace kiln {

/// The result of an op of the arith dialect, of scalars of its operands' types. An error is a fault
/// of the program (KernelFailed), or says that there is no such scalar or operation (Unsupported).
Expected<ScalarBits> evaluateScalar(mlir::Operation *op, llvm::ArrayRef<ScalarBits> operands);

/// The ops that evaluateScalar knows.
llvm::ArrayRef<mlir::TypeID> evaluatedOps();

} // namespace kiln

#endif // KILN_PROGRAM_SCALAREVALUATION_H
