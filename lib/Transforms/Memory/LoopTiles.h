//===- LoopTiles.h - loops whose tiles have places --------------------------------------===//
//
// What a loop carries lies in one place: what it starts from, what its body gets and yields, and
// what comes out. Loops that cannot be so are written anew before places are found.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TRANSFORMS_MEMORY_LOOPTILES_H
#define KILN_LIB_TRANSFORMS_MEMORY_LOOPTILES_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln {

/// Has the conditions of all `while` loops with tiles hand on what the loops carry, in that order,
/// and behind that whatever else they hand on.
void handOnWhatIsCarried(ir::FuncOp func);

/// Where tiles that a loop carries change places, has it yield copies: whichever is brought to its
/// new place first, the others are still there.
void copyWhatChangesPlaces(ir::FuncOp func);

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_MEMORY_LOOPTILES_H
