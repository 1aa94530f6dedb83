//===- SyncDialect.h - flags and barriers between units -----------------------------------===//
//
// The C++ face of the `sync` dialect.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_SYNC_SYNCDIALECT_H
#define KILN_DIALECT_SYNC_SYNCDIALECT_H

#include "kiln/Machine/Hardware.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/Dialect/Sync/SyncDialect.h.inc"
#include "kiln/Dialect/Sync/SyncEnums.h.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Sync/SyncOps.h.inc"

namespace kiln::sync {

inline UnitKind kindOf(Unit unit) { return static_cast<UnitKind>(unit); }
/// Not of `all`.
inline Unit unitOf(UnitKind kind) { return static_cast<Unit>(kind); }

} // namespace kiln::sync

#endif // KILN_DIALECT_SYNC_SYNCDIALECT_H
