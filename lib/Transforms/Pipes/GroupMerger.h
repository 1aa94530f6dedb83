//===- GroupMerger.h - the members of a group, merged by a schedule ----------------------===//
//
// Writes the body of a group anew: instead of calls of its members, what they do, in the order of a
// schedule. What is pushed is used where it is popped, as a value; lanes are copies. A message that
// waits in a pipe from one round of a loop to the next is carried by the loop.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_PIPES_GROUPMERGER_H
#define KILN_LIB_TRANSFORMS_PIPES_GROUPMERGER_H

#include "kiln/Analysis/PipeSchedule.h"
#include "kiln/Dialect/Kiln/Members.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <deque>

namespace kiln {

/// Afterwards `group` is a kernel that calls nobody. The functions of its members stay as they are.
void mergeGroup(ir::FuncOp group, const ScheduleSteps &schedule);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PIPES_GROUPMERGER_H
