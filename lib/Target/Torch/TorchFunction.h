//===- TorchFunction.h - one kiln.func as one Python function ----------------------===//
//
// The emitter walks a function once and writes a statement for each op that does something; scalar
// arithmetic that is used once becomes part of the statement that uses it. TorchFunction.cpp has
// the statements, TorchOps.cpp the expressions, TorchMemory.cpp what moves tiles between tensors
// and cores, TorchHints.cpp the names of variables, TorchGroups.cpp what is special about groups.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_TORCHFUNCTION_H
#define KILN_LIB_TARGET_TORCH_TORCHFUNCTION_H

#include "PlaceMarks.h"
#include "TorchPython.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Target/Text/Lines.h"
#include "kiln/Target/Text/Names.h"
#include "kiln/Target/Torch/Torch.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace kiln::torch {

/// What names may be called. Helpers all start with an underscore and no name does, so those two
/// cannot meet.
const text::NameRules &nameRules();

/// What emitting one function needs to know of the whole program.
struct Program {
  Program(mlir::ModuleOp module, const TorchOptions &options) : module(module), options(options) {}

  mlir::ModuleOp module;
  const TorchOptions &options;
  text::NameScope names{nameRules()}; ///< Of the file: functions.
  llvm::DenseMap<mlir::Operation *, std::string> functionNames;
  /// Functions that have to run in turns, and what their generators are called: roles that some
  /// group needs so, and whatever comes to a barrier.
  llvm::MapVector<mlir::Operation *, std::string> generators;
  /// Kernels and groups whose blocks meet at barriers, and what the functions that make the tasks
  /// of one block are called.
  llvm::MapVector<mlir::Operation *, std::string> taskMakers;

  llvm::SmallPtrSet<mlir::Operation *, 8> launched; ///< Functions that some submit names.

  bool receives = false; ///< Some rank receives from another.

  PlaceMarks *marks = nullptr; ///< Null: nobody asks where the lines come from.

  ir::FuncOp lookup(mlir::FlatSymbolRefAttr name) const {
    return mlir::cast<ir::FuncOp>(mlir::SymbolTable::lookupSymbolIn(module, name));
  }
  const std::string &nameOf(ir::FuncOp func) const { return functionNames.find(func)->second; }
};

/// Finds which functions are launched, are generators and have task makers (TorchGroups.cpp).
void planTasks(Program &program);

/// Finds which orchestrations wait for other ranks, and are generators (TorchRanks.cpp).
void planRanks(Program &program);

/// The call that runs all blocks of a grid: `grid` is a tuple, `args` what each block gets.
std::string launch(const Program &program, ir::FuncOp kernel, const std::string &grid,
                   const std::string &args);

/// The shape of a tile as a Python tuple.
std::string shapeText(tile::TileType type);

/// What a variable for the result of an op from the table of TorchOps.cpp is called.
llvm::StringRef tableHint(mlir::Operation *op);

/// A type as people write it in a comment: `?x64xf32`, `pipe aiv -> aic, 64x64xf32`.
std::string describe(mlir::Type type);

class FunctionEmitter {
public:
  FunctionEmitter(ir::FuncOp func, const Program &program);

  /// The definition of the function, or why there is none.
  Expected<std::string> emit();

private:
  // Statements (TorchFunction.cpp).
  void emitDocstring();
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  bool emitStatement(mlir::Operation *op);
  void emitIndented(llvm::function_ref<void()> body);
  void emitPart(mlir::Operation *op);
  void emitRequire(ir::RequireOp require);
  void emitFor(mlir::scf::ForOp loop);
  void emitWhile(mlir::scf::WhileOp loop);
  void emitIf(mlir::scf::IfOp branch);
  void emitCombining(tile::CombiningInterface op);
  void emitCall(ir::CallOp call);
  void emitSubmit(ir::SubmitOp submit);
  void emitIncore(ir::IncoreOp incore);
  template <typename Op> void emitLaunch(Op op, const std::string &call);
  /// A line `a, b = value` for all results of an op.
  void assignResults(mlir::Operation *op, const llvm::Twine &value);
  void emitPush(tile::PushOp push);
  void emitPop(tile::PopOp pop);
  void emitFree(mlir::Value pipe);
  void assign(llvm::ArrayRef<std::string> targets, mlir::ValueRange values);
  void initialise(llvm::ArrayRef<std::string> targets, mlir::ValueRange values);
  llvm::SmallVector<std::string> nameAll(mlir::ValueRange values, mlir::ValueRange hints,
                                         mlir::ValueRange otherHints);
  void line(const llvm::Twine &text);
  void check(mlir::Value value, llvm::StringRef name);

  // Expressions (TorchOps.cpp).
  Expr expressionOf(mlir::Operation *op);
  Expr tableExpression(mlir::Operation *op);
  Expr makeExpression(mlir::Operation *op);
  Expr tensorExpression(mlir::Operation *op);
  Expr tileExpression(mlir::Operation *op);
  Expr mathExpression(mlir::Operation *op);
  Expr castScalar(mlir::Operation *op);
  Expr castTile(tile::CastOp cast);
  Expr compareInts(mlir::arith::CmpIOp cmp);
  Expr compareFloats(mlir::arith::CmpFOp cmp);
  Expr scanExpression(tile::ScanOp scan);
  Expr reduceExpression(tile::ReduceOp reduce);
  Expr productExpression(mlir::Value lhs, mlir::Value rhs, bool transA, bool transB);
  Expr rounded(Expr expr, mlir::Type type);
  std::string padText(mlir::Attribute pad, mlir::Type element, bool asBits);

  // Tiles from and to tensors, and their order (TorchMemory.cpp).
  Expr loadExpression(tile::LoadOp load);
  Expr gatherRowsExpression(tile::GatherRowsOp gather);
  void emitStore(tile::StoreOp store);
  void emitScatterRows(tile::ScatterRowsOp scatter);
  template <typename Op> std::string placeOf(Op op);
  template <typename Op> std::string rowsOf(Op op);
  template <typename Op> std::string validOf(Op op);
  template <typename Op> Expr paddedRead(Op op, std::string call, llvm::StringRef last = "");

  // Variables (TorchHints.cpp).
  /// What a variable for a value should be called; empty if there is nothing to say.
  std::string hintFor(mlir::Value value);
  bool isInlined(mlir::Operation *op, const Expr &expr);

  // Groups (TorchGroups.cpp).
  void emitPipe(tile::PipeOp pipe);
  void emitMembers();
  void emitPlainForm(const std::string &parameters);

  // Ranks (TorchRanks.cpp).
  void emitCollective(const ir::Collective &collective);
  void emitSettle(mlir::Operation *op);
  Expr rankExpression(ir::AlongAttr along, bool wantsCount);

  // Values.
  const Expr &valueOf(mlir::Value value) { return Values[value]; }
  std::string text(mlir::Value value, Prec prec = Prec::Ternary) {
    return atLeast(Values[value], prec);
  }
  /// A tile or scalar where torch wants a tensor.
  Expr tensorOf(mlir::Value value);
  /// The tuple of a list of constants and values: `(i, 0)`.
  std::string mixedTuple(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values);
  std::string arguments(mlir::ValueRange values);
  Expr fail(mlir::Operation *op, const llvm::Twine &why);

  bool isGenerator() const { return Prog.generators.contains(Func); }

  mutable ir::FuncOp Func;
  const Program &Prog;
  text::NameScope Names;
  llvm::DenseMap<mlir::Value, Expr> Values;
  /// The variables of this function in an expression.
  void collectLocals(llvm::StringRef text, llvm::SmallVectorImpl<std::string> &locals) const;

  mlir::Operation *Current = nullptr; ///< What is being written.
  text::Lines Out{4};                 ///< The function.
  std::string Parts;                  ///< What had to become functions of their own.
  unsigned LoopDepth = 0;
  bool Yields = false; ///< Something written into Out yields.
  Status Error;
};

} // namespace kiln::torch

#endif // KILN_LIB_TARGET_TORCH_TORCHFUNCTION_H
