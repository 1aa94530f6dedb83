//===- Members.h - what a kernel was before its group was merged -------------------------===//
#ifndef KILN_DIALECT_KILN_MEMBERS_H
#define KILN_DIALECT_KILN_MEMBERS_H

#include "kiln/Dialect/Kiln/KilnDialect.h"

namespace kiln::ir {

/// On a kernel that was a group: the names of the functions it ran, for dumps and timelines.
inline constexpr llvm::StringLiteral kMembersAttr = "kiln.members";

/// The functions that a group runs, or that a kernel ran when it was one; else nothing.
std::vector<std::string> membersOf(FuncOp func);

/// That `kiln.members` is a list of names on a kernel.
bool isMembersAttr(mlir::Operation *op, mlir::Attribute value);

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_MEMBERS_H
