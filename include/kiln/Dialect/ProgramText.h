//===- ProgramText.h - text before MLIR's parser sees it ------------------------------===//
//
// MLIR's parser recurses with the nesting of the text, echoes whole lines and computes with numbers
// of any length, so a hostile or broken file could overflow its stack, flood a terminal or keep it
// busy for ever. Every tool that reads programs looks at
// the text here first: one pass over the characters, which refuses by name what the parser cannot
// take.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_PROGRAMTEXT_H
#define KILN_DIALECT_PROGRAMTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace kiln {

/// How deep regions, types, attributes and locations may be nested in one another.
inline constexpr unsigned kMaxNesting = 256;
/// The longest line, in bytes.
inline constexpr size_t kMaxLineLength = 1 << 14;
/// The longest number, in digits: to read one takes time that grows with the square of its length.
inline constexpr size_t kMaxDigits = 512;
/// The widest integer type, in bits. None of a program has more than 64, which verifiers say.
inline constexpr unsigned kMaxBits = 1024;
/// How many aliases one alias may stand for, those behind its aliases included.
inline constexpr unsigned kMaxAliasSize = 1 << 12;

/// Why a text is not given to the parser. Line and column count from 1.
struct TextProblem {
  unsigned line, column;
  std::string message;
};

/// The first reason not to parse a text; nothing if it can be parsed, rightly or with errors, or if
/// it is MLIR's bytecode, which kiln-opt reads too.
std::optional<TextProblem> findTextProblem(llvm::StringRef text);

/// Parses a program of which `name` is the file. What is wrong with it is a diagnostic of the
/// context, and the result is null.
mlir::OwningOpRef<mlir::ModuleOp> parseProgram(llvm::StringRef text, llvm::StringRef name,
                                               mlir::MLIRContext *context);

} // namespace kiln

#endif // KILN_DIALECT_PROGRAMTEXT_H
