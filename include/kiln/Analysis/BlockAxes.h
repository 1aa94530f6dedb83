//===- BlockAxes.h - which numbers differ from block to block --------------------------------===//
//
// Ownership: borrows what it is given. Threads: any thread that may read the module.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_ANALYSIS_BLOCKAXES_H
#define KILN_ANALYSIS_BLOCKAXES_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln {

/// The axes of the grid along which a number in a kernel may differ from block to block, a bit for
/// each: those whose index is in what it is made of, read at, or counted to. Parameters of a
/// kernel are the same in all blocks.
unsigned blockAxesOf(mlir::Value number);

/// The same for whether, and how often, an operation is executed.
unsigned blockAxesOfExecution(mlir::Operation *op);

} // namespace kiln

#endif // KILN_ANALYSIS_BLOCKAXES_H
