//===- LoopAttributes.h - what passes note on loops ---------------------------------===//
#ifndef KILN_DIALECT_KILN_LOOPATTRIBUTES_H
#define KILN_DIALECT_KILN_LOOPATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::ir {

/// On the second part of a loop that tile-peel-masks has split, so that it is not split again.
inline constexpr llvm::StringLiteral kPeeledAttr = "kiln.peeled";

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_LOOPATTRIBUTES_H
