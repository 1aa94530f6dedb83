//===- WhileLoops.h - while loops whose tiles have places -------------------------------===//
//
// What a `while` loop carries lies in one place: what it starts from, what its condition looks at,
// what its body gets, and what comes out. So the condition has to hand on what the loop carries, in
// the same order. A loop that does something else is written anew.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_MEMORY_WHILELOOPS_H
#define KILN_LIB_TRANSFORMS_MEMORY_WHILELOOPS_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln {

/// Has the conditions of all `while` loops with tiles hand on what the loops carry, in that order,
/// and behind that whatever else they hand on.
void handOnWhatIsCarried(ir::FuncOp func);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_MEMORY_WHILELOOPS_H
