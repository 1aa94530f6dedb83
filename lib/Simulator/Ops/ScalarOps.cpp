// The arith dialect on scalars; what it computes is ScalarEvaluation's.
#include "Simulator/Interpreter.h"
#include "Simulator/Watcher.h"

#include "kiln/Program/ScalarEvaluation.h"

#include <cmath>

using namespace mlir;

namespace kiln::simulator {
namespace {

/// Of two integers that are equal neither is the lesser.
void tellSide(Watcher &watcher, Operation *op, ArrayRef<ScalarBits> operands) {
  if (!isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op) ||
      operands[0].bits == operands[1].bits)
    return;
  bool isSigned = isa<arith::MinSIOp, arith::MaxSIOp>(op);
  bool isLess =
      isSigned ? operands[0].asInt() < operands[1].asInt() : operands[0].bits < operands[1].bits;
  watcher.sideIsTaken(op, isLess ? Side::First : Side::Second);
}

Status evaluate(Interpreter &in, Operation *op) {
  SmallVector<ScalarBits, 3> operands;
  for (mlir::Value operand : op->getOperands())
    operands.push_back(in.scalar(operand));
  Expected<ScalarBits> result = evaluateScalar(op, operands);
  if (!result)
    return result.status();
  in.set(op->getResult(0), *result);
  if (Watcher *watcher = in.memory().watcher())
    tellSide(*watcher, op, operands);
  if (Watcher *watcher = in.memory().watcher();
      watcher && isFloat(result->type) && std::isnan(result->asDouble()))
    watcher->scalarIsNan(in, op);
  return Status::ok();
}

/// Between values of any type.
Status select(Interpreter &in, arith::SelectOp op) {
  bool holds = in.scalar(op.getCondition()).bits != 0;
  if (Watcher *watcher = in.memory().watcher())
    watcher->sideIsTaken(op, holds ? Side::First : Side::Second);
  in.set(op.getResult(), in.get(holds ? op.getTrueValue() : op.getFalseValue()));
  return Status::ok();
}

} // namespace

void addScalarOps(OpTable &table) {
  for (TypeID op : evaluatedOps())
    table.add(op, evaluate);
  table.add<arith::SelectOp, select>();
}

} // namespace kiln::simulator
