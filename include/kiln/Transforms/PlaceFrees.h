//===- PlaceFrees.h - free popped slots after their last use -------------------------===//
//
// What tile-place-frees does to one function; shared with passes that have to know where the frees
// will be.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TRANSFORMS_PLACEFREES_H
#define KILN_TRANSFORMS_PLACEFREES_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln {

/// Adds a free for each pop of the pipes of which `func` writes no free.
void placeFrees(ir::FuncOp func);

} // namespace kiln

#endif // KILN_TRANSFORMS_PLACEFREES_H
