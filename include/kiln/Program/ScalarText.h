//===- ScalarText.h - scalar arithmetic in C++ text ------------------------------------===//
//
// What emitted C++, of orchestrations and for CUDA, calls the functions that compute what an op of
// the arith dialect does, and how it compares. The functions are in kiln/runtime/
// orchestration_scalars.h and device/cuda/types.cuh; they compute what ScalarEvaluation.h says.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_SCALARTEXT_H
#define KILN_PROGRAM_SCALARTEXT_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

/// Functions of two scalars of one type; empty where there is none.
struct ScalarFunctions {
  llvm::StringLiteral op, orchestration, cuda;
};
/// Null if an op has no row.
const ScalarFunctions *scalarFunctions(mlir::Operation *op);

/// `==`, `<` and so on; an unsigned comparison has the sign of the signed one.
llvm::StringRef signOf(mlir::arith::CmpIPredicate how);
bool isUnsigned(mlir::arith::CmpIPredicate how);

} // namespace kiln

#endif // KILN_PROGRAM_SCALARTEXT_H
