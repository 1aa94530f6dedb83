//===- ValueHints.h - what emitted code may call a value after ----------------------------===//
#ifndef KILN_PROGRAM_VALUEHINTS_H
#define KILN_PROGRAM_VALUEHINTS_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln {

/// What a number is used for: "row" or "col" where a tile begins, "blocks" of a launch; empty if it
/// is used for nothing that gives it a name.
llvm::StringRef useOfIndex(mlir::Value index);

/// "row_max", or "col_sum".
std::string nameOf(tile::ReduceOp reduce);

/// What a loop or a branch made its result of, in its last iteration or its first region; null if
/// something else made the value.
mlir::Value yieldedAs(mlir::Value result);

} // namespace kiln

#endif // KILN_PROGRAM_VALUEHINTS_H
