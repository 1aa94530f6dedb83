//===- TorchPython.h - Python expressions as text ----------------------------------===//
//
// The little that an emitter must know of Python: how strongly operators bind, how numbers are
// written, and what Kiln's element types are called in torch.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_TORCHPYTHON_H
#define KILN_LIB_TARGET_TORCH_TORCHPYTHON_H

#include "mlir/IR/BuiltinTypes.h"

#include <string>

namespace kiln::torch {

/// How strongly an expression binds, weakest first.
enum class Prec {
  Ternary,
  Or,
  And,
  Not,
  Compare,
  BitOr,
  BitXor,
  BitAnd,
  Shift,
  Sum,
  Product,
  Unary,
  Atom
};

struct Expr {
  std::string text;
  Prec prec = Prec::Atom;
};

/// The text of an expression where something that binds like `prec` is needed: with parentheses if
/// it is weaker.
std::string atLeast(const Expr &expr, Prec prec);

/// Puts operands into a pattern: `$0` is operand 0, in parentheses where the pattern's operator,
/// which binds like `prec`, or a following `.` or `[` needs them.
Expr expandPattern(llvm::StringRef pattern, Prec prec, llvm::ArrayRef<Expr> operands);

/// A number exactly as it is; with `isShort` as few digits as identify it among the f32.
Expr floatLiteral(double value, bool isShort);
Expr intLiteral(int64_t value);

/// "(a, b)", "(a,)" for one, "()" for none.
std::string tuple(llvm::ArrayRef<std::string> items);

/// Whether values of this type live in float32 and are rounded after each operation.
bool isNarrowFloat(mlir::Type element);
bool isFloat8(mlir::Type element);
/// What the helpers call an 8-bit float: `'e4m3fn'` or `'e5m2'`, as Python.
llvm::StringRef float8Kind(mlir::Type element);

/// The torch type of a tensor with such elements, as Python: `torch.bfloat16`; bit patterns for
/// 8-bit floats.
llvm::StringRef tensorDtype(mlir::Type element);
/// The torch type of a tile with such elements: float32 for every float.
llvm::StringRef tileDtype(mlir::Type element);

/// The bits of an integer; 64 for an index.
unsigned bitWidth(mlir::Type type);

} // namespace kiln::torch

#endif // KILN_LIB_TARGET_TORCH_TORCHPYTHON_H
