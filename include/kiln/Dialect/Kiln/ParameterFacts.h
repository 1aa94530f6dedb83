//===- ParameterFacts.h - what a type does not say of a tensor parameter --------------===//
//
// Attributes that kiln-specialize puts on parameters of the entry and kiln-outline hands on.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_KILN_PARAMETERFACTS_H
#define KILN_DIALECT_KILN_PARAMETERFACTS_H

#include "llvm/ADT/StringRef.h"

namespace kiln::ir {

/// Unit: byte offsets fit 32 bits.
inline constexpr llvm::StringLiteral kOffsets32Attr = "kiln.offsets32";
/// An integer: the leading extent and the other strides are multiples of it.
inline constexpr llvm::StringLiteral kDivisibleAttr = "kiln.divisible";

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_PARAMETERFACTS_H
