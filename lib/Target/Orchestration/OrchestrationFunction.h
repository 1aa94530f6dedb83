//===- OrchestrationFunction.h - one orchestration as one C++ function ---------------===//
//
// The emitter walks a function once and writes a statement for each op that does something; scalar
// arithmetic that is used once becomes part of the statement that uses it.
// OrchestrationFunction.cpp has the statements, OrchestrationScalars.cpp the expressions,
// OrchestrationRanks.cpp what several ranks do together.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_ORCHESTRATION_ORCHESTRATIONFUNCTION_H
#define KILN_LIB_TARGET_ORCHESTRATION_ORCHESTRATIONFUNCTION_H

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Target/Text/Lines.h"
#include "kiln/Target/Text/Names.h"
#include "kiln/runtime/status.h"

#include "llvm/ADT/DenseMap.h"

namespace kiln::orchestration {

/// What names may be called.
const text::NameRules &nameRules();

/// How tightly the outermost operator of an expression binds.
enum class Prec { Low, Add, Mul, Primary };

struct Expr {
  std::string text;
  Prec prec = Prec::Primary;
  /// A number as such, whose C++ type is not that of the value: `64` for an index.
  bool isBare = false;
};

/// The C++ type of a scalar or a task; empty if there is none.
std::string cppType(mlir::Type type);
/// The text of a `kiln::DType`.
std::string dtypeText(mlir::Type type);
/// `f` with its arguments, broken into lines where it would be too long.
std::string callText(const std::string &function, llvm::ArrayRef<std::string> args, size_t indent);

class FunctionEmitter {
public:
  /// `functions` are the names of all functions in the file.
  FunctionEmitter(ir::FuncOp func, const text::NameScope &names,
                  const llvm::DenseMap<mlir::Operation *, std::string> &functions);

  /// The definition as a function of its parameters, for other orchestrations to call.
  Expected<std::string> emitFunction();
  /// The definition of the entry, which finds its parameters in the arguments of a call.
  Expected<std::string> emitEntry();

private:
  void nameParameters();
  std::string bodyText();
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  bool emitLaunching(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitWhile(mlir::scf::WhileOp loop);
  void emitIf(mlir::scf::IfOp branch);
  void emitScope(ir::ScopeOp scope);
  void emitCall(ir::CallOp call);
  void emitSubmit(ir::SubmitOp submit);
  void emitPredicate(ir::SubmitOp submit);
  // What several ranks do (OrchestrationRanks.cpp).
  void emitCollective(const ir::Collective &collective);
  Expr rankExpression(mlir::Operation *op);
  /// The block of a task that runs `kernel`, or none; `rest` writes what follows the arguments.
  void emitTask(ir::FuncOp kernel, mlir::ValueRange args, mlir::Location loc,
                const std::string &result, llvm::function_ref<void()> rest);
  void emitView(mlir::Operation *op);
  void emitScalar(mlir::Operation *op);

  /// Declares variables that start as `values`, and gives them to both `inner` and `outer`.
  void declare(mlir::ValueRange inner, mlir::ValueRange outer, mlir::ValueRange values,
               llvm::StringRef hint);
  /// Assigns to the variables of `targets`, all at once.
  void assign(mlir::ValueRange targets, mlir::ValueRange values);
  void line(const llvm::Twine &text) { Out.line(text); }
  void emitIndented(llvm::function_ref<void()> body) { Out.indented(body); }

  // Expressions (OrchestrationScalars.cpp).
  Expr expressionOf(mlir::Operation *op);
  Expr integerExpression(mlir::Operation *op);
  Expr floatExpression(mlir::Operation *op);
  Expr castExpression(mlir::Operation *op);
  Expr compareInts(mlir::arith::CmpIOp cmp);
  Expr compareFloats(mlir::arith::CmpFOp cmp);
  Expr binary(llvm::StringRef op, mlir::Value lhs, mlir::Value rhs, Prec prec);
  Expr function(const llvm::Twine &name, mlir::Operation *op);
  bool isInlined(mlir::Operation *op, const Expr &expr);
  std::string hintFor(mlir::Value value);

  /// As an operand that binds at least so tightly.
  std::string text(mlir::Value value, Prec prec = Prec::Low);
  /// With its own C++ type, whatever stands around it.
  std::string typed(mlir::Value value);
  /// A braced list of constants and values: `{i, 0}`.
  std::string list(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values);
  Expr fail(mlir::Operation *op, const llvm::Twine &why);

  mutable ir::FuncOp Func;
  const llvm::DenseMap<mlir::Operation *, std::string> &Functions;
  text::NameScope Names;
  llvm::DenseMap<mlir::Value, Expr> Values;
  text::Lines Out{2, 1};
  Status Error;
};

} // namespace kiln::orchestration

#endif // KILN_LIB_TARGET_ORCHESTRATION_ORCHESTRATIONFUNCTION_H
