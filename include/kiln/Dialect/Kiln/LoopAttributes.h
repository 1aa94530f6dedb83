//===- LoopAttributes.h - what passes note on loops ---------------------------------===//
#ifndef KILN_DIALECT_KILN_LOOPATTRIBUTES_H
#define KILN_DIALECT_KILN_LOOPATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::ir {

/// On the second part of a loop that tile-peel-masks has split, so that it is not split again.
inline constexpr llvm::StringLiteral kPeeledAttr = "kiln.peeled";

/// On a condition whose first branch may also ask for more: that what it loads and stores is whole.
/// The other branch is right in any case. See tile-single-trips.
inline constexpr llvm::StringLiteral kOneTileAttr = "kiln.one_tile";

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_LOOPATTRIBUTES_H
