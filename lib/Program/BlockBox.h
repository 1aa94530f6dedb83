//===- BlockBox.h - which part of a tensor a block touches ---------------------------===//
//
// Follows a parameter of a kernel, group or helper through views, calls and loops, and bounds what
// is loaded and stored by a box whose corner is an affine function of the block's index and the
// scalars. Along an axis where that cannot be told the box is the whole axis. Reads the IR only.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_PROGRAM_BLOCKBOX_H
#define KILN_LIB_PROGRAM_BLOCKBOX_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/runtime/signature.h"

namespace kiln {

/// What one block of `func` touches of tensor parameter `parameter`; nothing if that is all of it,
/// or none. `scalars` are the parameters that become the scalars of a task, in that order.
std::optional<BlockBox> blockBoxOf(ir::FuncOp func, unsigned parameter,
                                   llvm::ArrayRef<unsigned> scalars);

} // namespace kiln

#endif // KILN_LIB_PROGRAM_BLOCKBOX_H
