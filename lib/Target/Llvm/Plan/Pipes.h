//===- Pipes.h - how messages lie in the slots of pipes ----------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_PLAN_PIPES_H
#define KILN_LIB_TARGET_LLVM_PLAN_PIPES_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln::llvmir {

/// The byte at which tile `number` of a message starts; for the number of tiles, the size of a
/// message.
uint64_t payloadOffset(tile::PipeType pipe, unsigned number);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_PLAN_PIPES_H
