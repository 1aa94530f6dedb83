//===- CompilerChoices.h - what passes are told to choose ---------------------------===//
//
// Passes choose by themselves how many lanes share a kernel, how many slots its pipes have and in
// which order blocks are executed. Who has measured, such as tuning, can choose for a whole
// program: the attribute `kiln.compiler` of the module, `{lanes = 2 : i64, slots = 3 : i64, walk =
// "in_turn"}`. What a kernel asks for itself wins. Being part of the program, the choices are part
// of every key that code is kept under.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_KILN_COMPILERCHOICES_H
#define KILN_DIALECT_KILN_COMPILERCHOICES_H

#include "kiln/Machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln::ir {

inline constexpr llvm::StringLiteral kCompilerAttr = "kiln.compiler";
/// What the name of a choice begins with where it stands beside the parameters of a program.
inline constexpr llvm::StringLiteral kCompilerPrefix = "compiler.";

struct CompilerChoices {
  /// Lanes that share the tiles of a kernel, where lanes execute everything and as far as its rows
  /// go.
  std::optional<int64_t> lanes;
  /// The most slots of pipes that would take what memory there is.
  std::optional<int64_t> slots;
  /// Whether blocks are handed out, to who is done with one, or executed in turn.
  std::optional<bool> handsOutBlocks;

  /// Of the program that an operation is in.
  static CompilerChoices of(mlir::Operation *op);
};

/// What a machine's passes can be told to choose, and the values that are worth trying.
struct CompilerChoice {
  std::string name; ///< With the prefix.
  std::vector<std::string> values;
};
std::vector<CompilerChoice> compilerChoices(const Machine &machine);

/// Chooses one thing; `name` has the prefix. What is wrong with it, or nothing.
std::string chooseForCompiler(mlir::ModuleOp module, llvm::StringRef name, llvm::StringRef value);

/// Whether an attribute of a module is a list of choices.
bool areCompilerChoices(mlir::Attribute attribute);

} // namespace kiln::ir

#endif // KILN_DIALECT_KILN_COMPILERCHOICES_H
