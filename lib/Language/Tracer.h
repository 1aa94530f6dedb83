//===- Tracer.h - the program that is being recorded --------------------------------===//
//
// One Tracer per recorder; it owns the MLIR context and module. While an operation is recorded it
// is the thread's current one, and knows the user's line.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_LANGUAGE_TRACER_H
#define KILN_LIB_LANGUAGE_TRACER_H

#include "Values.h"

#include "kiln/Language/ProgramAccess.h"

#include "mlir/IR/OwningOpRef.h"

namespace kiln::record {

/// Thrown where an operation is not recorded and there is nothing more to say: there is no program,
/// or a mistake has been reported.
struct NotRecorded {};

/// "64x32", for messages.
inline std::string shapeText(int64_t rows, int64_t cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}

class Tracer {
public:
  Tracer(const std::string &name, Where where);

  /// Makes a program the thread's current one, and this the line of what is recorded, while it
  /// lives.
  class Turn {
  public:
    Turn(Tracer *tracer, Where where);
    ~Turn();

  private:
    Tracer *before;
  };

  /// The program that is being recorded, if one of its functions is; otherwise the mistake is
  /// reported, and null returned.
  static Tracer *current(const char *what);
  /// The same, where ops of a core may stand; reported and null elsewhere.
  static Tracer *inKernel(const char *what);
  /// The same, in an orchestration.
  static Tracer *inOrchestration(const char *what);
  /// The same, in a role of a group.
  static Tracer *inRole(const char *what);

  void error(std::string message);
  mlir::Location loc();

  /// The value behind a handle; null if it is poisoned or cannot be used here, which has then been
  /// reported.
  mlir::Value use(ValuePtr handle, const char *what);
  mlir::Value use(Index index);
  mlir::Value use(const Wire &wire);
  /// A scalar, or a number of this type; null if the type has no such value.
  mlir::Value use(const Number &number, DType type);
  /// The handle of a value that was carried.
  Wire wire(mlir::Value value);

  mlir::Type typeOf(DType type);
  tile::TileType tileType(DType type, int64_t rows, int64_t cols);
  Tile handle(mlir::Value tile);
  /// A tile whose mistake has been reported.
  static Tile poison(DType type, int64_t rows, int64_t cols) {
    return Tile(nullptr, rows, cols, type);
  }

  /// Constants stand once at the head of the kernel or function that uses them.
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value indexConstant(int64_t value) { return constant(builder.getIndexAttr(value)); }
  /// A number as an element of this type.
  /// Null, and reported, if the type has no such value.
  mlir::Value numberConstant(double value, mlir::Type type);

  /// Notes that a pop made these tiles.
  void notePop(mlir::ValueRange tiles, mlir::Value pipe);
  /// Notes that `result` was made from these operands. Reports two that are part of the same
  /// expression and for which one pipe was popped: C++ does not say which pop came first.
  Tile fromOperands(Tile result, std::initializer_list<TileArg> operands);

  /// Whether an axis of a tile exists; reported if not.
  bool checkAxis(const char *what, int64_t axis);
  /// Whether a tile of this shape can exist; reported if not.
  bool checkShape(Shape shape);
  /// Null for zero, which is the default.
  mlir::Attribute padAttr(Pad pad);

  /// Splits indices into constants and values, as the ops take them; false if one could not be
  /// used.
  bool mixed(const Indices &indices, llvm::SmallVectorImpl<int64_t> &constants,
             llvm::SmallVectorImpl<mlir::Value> &values);

  /// Whether ops are being recorded into a function of one of these kinds (a kiln.incore counts as
  /// incore).
  bool isIn(std::initializer_list<ir::FuncKind> kinds) const;

  /// Whether one more loop, branch or scope may stand here; reports if not.
  bool canNest();

  /// How many lanes share the work of the role being recorded.
  int64_t lanesOfRole();

  /// Begins a function: its parameters, or nothing if a mistake was reported.
  std::optional<mlir::ValueRange> beginFunction(ir::FuncKind kind, const std::string &name,
                                                const std::vector<ParamSpec> &params,
                                                const KernelOptions &options);
  void endFunction();
  /// Reports that what records the function threw, and leaves that function empty.
  void abandonFunction(const std::string &what);

  /// Adds what the verifier finds to the errors.
  void verify();

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  Where line; ///< Of what is being recorded.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Status> errors;
  ir::FuncOp function;         ///< Being recorded, or null.
  std::string role;            ///< Of the group's member being recorded, or empty.
  bool areLanesStated = false; ///< Of the group being recorded.
  int64_t stages = 0;          ///< Of loops of the kernel being recorded that state none.
  /// Whether a function may be begun inside another, as where a language defines functions in
  /// functions.
  bool nestsFunctions = false;

private:
  /// A function in which another was begun.
  struct Suspended {
    ir::FuncOp function;
    std::string role;
    mlir::OpBuilder::InsertPoint at;
    int64_t stages;
    bool areLanesStated;
  };
  std::vector<Suspended> suspended;
  /// Lets another function be recorded; the other way round when that has ended.
  void suspend();
  void resume();
  /// The type of a parameter, or the mistake in it.
  mlir::Type parameterType(const ParamSpec &param, std::string &mistake);

  bool verified = false;
  bool isTooDeep = false; ///< canNest has reported it.
  /// Functions whose bodies threw. Handles may still point into them.
  std::vector<mlir::OwningOpRef<ir::FuncOp>> abandoned;
  /// The pipes that were popped in the expression that made a tile, for tiles that may still be
  /// part of it: those of temporaries. A tile that has a name counts no more.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> poppedFor;
  /// The block at whose head the constants of the current kernel stand.
  mlir::Block *constantBlock();
};

// What the functions of one file need of another.
Index add(Index a, Index b);
Index subtract(Index a, Index b);
Index multiply(Index a, Index b);
Index min(Index a, Index b);
Index max(Index a, Index b);
Index dim(const TensorRef &tensor, int64_t axis);
Index blockIdx(int64_t dim);
Index lane();
Tile full(DType type, Shape shape, double value);
TaskRef join(const std::vector<TaskRef> &tasks);

} // namespace kiln::record

#endif // KILN_LIB_LANGUAGE_TRACER_H
