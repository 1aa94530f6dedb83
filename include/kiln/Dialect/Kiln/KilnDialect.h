//===- KilnDialect.h - program structure: functions, tensors, launches ----------===//
//
// The C++ face of the `kiln` dialect. Owned by the MLIRContext, like any dialect; not thread safe
// beyond what MLIR promises.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_KILN_KILNDIALECT_H
#define KILN_DIALECT_KILN_KILNDIALECT_H

#include "kiln/Dialect/Tile/TileInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/Dialect/Kiln/KilnDialect.h.inc"
#include "kiln/Dialect/Kiln/KilnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Kiln/KilnAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Kiln/KilnTypes.h.inc"
#define GET_OP_CLASSES
#include "kiln/Dialect/Kiln/KilnOps.h.inc"

namespace kiln::ir {

/// Attribute names that the dialect attaches to things it does not own.
inline constexpr llvm::StringLiteral kArgNameAttr = "kiln.name";
inline constexpr llvm::StringLiteral kArgDirectionAttr = "kiln.dir";
/// Unit, on a parameter: nobody declared that it is inout; kiln-infer-directions found that out.
inline constexpr llvm::StringLiteral kInferredAttr = "kiln.inferred";
inline constexpr llvm::StringLiteral kLoopAttr = "kiln.loop";

inline constexpr int64_t kMaxRank = 5;
/// Bounds the size of a ring.
inline constexpr int64_t kMaxSlots = 1 << 20;

/// Reports a number of lanes, or of slots for the pipes between roles, that no kernel can ask for.
mlir::LogicalResult verifyWanted(mlir::Operation *kernel, std::optional<int64_t> lanes,
                                 std::optional<int64_t> slots);

/// Whether `type` can be the element of a tensor or a tile.
bool isElementType(mlir::Type type);

/// Says which element types exist, for messages.
llvm::StringRef elementTypeList();

/// The value a view was taken from, by walking up slices, transposes and reshapes: a parameter or
/// an alloc.
mlir::Value rootOf(mlir::Value tensor);

/// A grid barrier in a function or in what it calls; null if there is none.
mlir::Operation *findBarrier(FuncOp func);

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_KILNDIALECT_H
