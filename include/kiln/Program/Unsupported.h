//===- Unsupported.h - what a backend says of an operation that it does not have ----------===//
#ifndef KILN_PROGRAM_UNSUPPORTED_H
#define KILN_PROGRAM_UNSUPPORTED_H

#include "kiln/runtime/status.h"

#include "mlir/IR/Operation.h"

namespace kiln {

/// "'tile.sin' cannot be compiled for a5: why", at the user's line.
Status cannotBeCompiled(mlir::Operation *op, llvm::StringRef platform, const llvm::Twine &why);

} // namespace kiln

#endif // KILN_PROGRAM_UNSUPPORTED_H
