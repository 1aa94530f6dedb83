//===- Assembly.h - parsing and printing shared by both dialects ----------------===//
//
// Kiln's assembly does not repeat operand types: in `tile.store %y, %out[%row, 0]` the types of %y
// and %out are those of their definitions. MLIR's parser resolves an operand only against a type it
// is given, so `typeOfOperand` asks it for the type first. These are the hooks that
// `assemblyFormat` calls by name.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_ASSEMBLY_H
#define KILN_DIALECT_ASSEMBLY_H

#include "kiln/Dialect/Tile/TileDialect.h"

namespace kiln::assembly {

using Operand = mlir::OpAsmParser::UnresolvedOperand;
using Operands = llvm::SmallVectorImpl<Operand>;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

/// The type of a value that was defined before this use; an error if there is none.
mlir::FailureOr<mlir::Type> typeOfOperand(OpAsmParser &parser, const Operand &operand);

ParseResult parseTyped(OpAsmParser &parser, Operand &operand, mlir::Type &type);
void printTyped(OpAsmPrinter &printer, mlir::Operation *op, mlir::Value value, mlir::Type type);

ParseResult parseTyped(OpAsmParser &parser, Operands &operands,
                       llvm::SmallVectorImpl<mlir::Type> &types);
void printTyped(OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange values,
                mlir::TypeRange types);

/// The SSA name of the op's result as its name; `name("...")` where it cannot be one.
ParseResult parseResultName(OpAsmParser &parser, mlir::StringAttr &name);
void printResultName(OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr name);

/// Whether an SSA name was made up by the printer: `0`, `arg3`... are no names.
bool isMadeUpName(llvm::StringRef name);

/// The list of `grid(%m, 4)` and `valid(%rows, 64)`.
ParseResult parseParens(OpAsmParser &parser, Operands &values, mlir::DenseI64ArrayAttr &constants);
void printParens(OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange values,
                 mlir::DenseI64ArrayAttr constants);

/// The inside of `pad(min)` or `pad(-1.0)`.
ParseResult parsePad(OpAsmParser &parser, mlir::Attribute &pad);
void printPad(OpAsmPrinter &printer, mlir::Operation *op, mlir::Attribute pad);

/// The inside of `predicate(%t[0, %i] > 3)`.
ParseResult parsePredicate(OpAsmParser &parser, std::optional<Operand> &tensor, mlir::Type &type,
                           Operands &indices, mlir::DenseI64ArrayAttr &constants,
                           mlir::arith::CmpIPredicateAttr &cmp, mlir::IntegerAttr &constant);
void printPredicate(OpAsmPrinter &printer, mlir::Operation *op, mlir::Value tensor, mlir::Type type,
                    mlir::OperandRange indices, mlir::DenseI64ArrayAttr constants,
                    mlir::arith::CmpIPredicateAttr cmp, mlir::IntegerAttr constant);

/// `%a, %b, %pipe`: the pipe comes last.
ParseResult parsePushOperands(OpAsmParser &parser, Operands &tiles,
                              llvm::SmallVectorImpl<mlir::Type> &tileTypes, Operand &pipe,
                              mlir::Type &pipeType);
void printPushOperands(OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange tiles,
                       mlir::TypeRange tileTypes, mlir::Value pipe, mlir::Type pipeType);

} // namespace kiln::assembly

#endif // KILN_DIALECT_ASSEMBLY_H
