// The arith dialect on scalars; what it computes is ScalarEvaluation's.
#include "Simulator/Interpreter.h"
#include "Simulator/Watcher.h"

#include "kiln/Program/ScalarEvaluation.h"

#include <cmath>

using namespace mlir;

namespace kiln::simulator {
namespace {

Status evaluate(Interpreter &in, Operation *op) {
  SmallVector<ScalarBits, 3> operands;
  for (mlir::Value operand : op->getOperands())
    operands.push_back(in.scalar(operand));
  Expected<ScalarBits> result = evaluateScalar(op, operands);
  if (!result)
    return result.status();
  in.set(op->getResult(0), *result);
  if (Watcher *watcher = in.memory().watcher();
      watcher && isFloat(result->type) && std::isnan(result->asDouble()))
    watcher->scalarIsNan(in, op);
  return Status::ok();
}

/// Between values of any type.
Status select(Interpreter &in, arith::SelectOp op) {
  in.set(op.getResult(),
         in.get(in.scalar(op.getCondition()).bits ? op.getTrueValue() : op.getFalseValue()));
  return Status::ok();
}

} // namespace

void addScalarOps(OpTable &table) {
  for (TypeID op : evaluatedOps())
    table.add(op, evaluate);
  table.add<arith::SelectOp, select>();
}

} // namespace kiln::simulator
