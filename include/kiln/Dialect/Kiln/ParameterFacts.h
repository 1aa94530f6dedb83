//===- ParameterFacts.h - what a type does not say of a tensor parameter --------------===//
//
// Attributes that kiln-specialize puts on parameters of the entry and kiln-outline hands on, and
// the one way to read them. Whoever reads a fact that the platform has not declared would compile
// it into code whose key does not have it; readFact() does not let that happen.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_KILN_PARAMETERFACTS_H
#define KILN_DIALECT_KILN_PARAMETERFACTS_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln::ir {

/// Unit: byte offsets fit 32 bits.
inline constexpr llvm::StringLiteral kOffsets32Attr = "kiln.offsets32";
/// An integer: the leading extent and the other strides are multiples of it.
inline constexpr llvm::StringLiteral kDivisibleAttr = "kiln.divisible";
/// On the module that was specialised: the names of the facts that the platform declares.
inline constexpr llvm::StringLiteral kReadsAttr = "kiln.reads";

/// The fact with this attribute about a parameter; null if there is none. Of a fact that the
/// platform does not declare it is null with an error, which fails the compile.
mlir::Attribute readFact(FuncOp func, unsigned parameter, llvm::StringRef attribute);

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_PARAMETERFACTS_H
