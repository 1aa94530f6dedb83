//===- Contracts.h - what functions require of their arguments ---------------------===//
//
// Helpers around `kiln.require`. Everything a condition is made of is pure and depends on
// parameters only, so it can be copied to wherever those parameters are known.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_KILN_CONTRACTS_H
#define KILN_DIALECT_KILN_CONTRACTS_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

#include "mlir/IR/IRMapping.h"

namespace kiln::ir {

/// The requirements of a function, in order.
inline auto requirementsIn(FuncOp func) { return func.getBody().getOps<RequireOp>(); }

/// What is in the way of a condition: something it may not depend on, and why.
struct ConditionObstacle {
  mlir::Value value;
  std::string why;
};
/// The first obstacle to checking `condition` before anything in `scope` runs; null if there is
/// none. What is made outside `scope` is given to it.
std::optional<ConditionObstacle> findObstacle(mlir::Value condition, mlir::Region &scope);

/// The operations that the condition of a requirement is made of, operands first.
llvm::SmallVector<mlir::Operation *> conditionOps(RequireOp require);

/// Puts a copy of a requirement where the builder stands, with what its condition is made of, as
/// far as `values` does not say what to use there. Does nothing if something is missing that only
/// the function around `require` is given, or if the same is required here already.
void copyRequire(mlir::OpBuilder &builder, RequireOp require, mlir::IRMapping values);
/// Copies all requirements to the front of a function that has the same parameters, and more
/// perhaps.
void copyRequirements(FuncOp from, FuncOp to);

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_CONTRACTS_H
