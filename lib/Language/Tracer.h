//===- Tracer.h - the program that is being recorded --------------------------------===//
//
// One ProgramImpl per Program. While one of its functions is being traced it is the thread's
// current tracer, and the free functions of the front end record into it. It owns the MLIR context
// and module.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_LANGUAGE_TRACER_H
#define KILN_LIB_LANGUAGE_TRACER_H

#include "kiln/Language/ProgramAccess.h"

#include "mlir/IR/OwningOpRef.h"

namespace kiln {

/// "64x32", for messages.
inline std::string shapeText(int64_t rows, int64_t cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}

class ProgramImpl {
public:
  ProgramImpl(const std::string &name, Where where);
  ~ProgramImpl();

  /// The program whose function is being traced on this thread. If there is none, the mistake is
  /// recorded with the last program of this thread, and null returned.
  static ProgramImpl *current(const char *what, Where where);

  /// The same, where ops of a core may stand; reported and null elsewhere.
  static ProgramImpl *inKernel(const char *what, Where where);
  /// The same, in an orchestration.
  static ProgramImpl *inOrchestration(const char *what, Where where);

  void error(Where where, std::string message);
  mlir::Location loc(Where where);

  /// The value behind a handle; null if it is poisoned or cannot be used here, which has then been
  /// reported.
  mlir::Value use(ValuePtr handle, const char *what, Where where);
  mlir::Value use(Index index, Where where);
  mlir::Value use(const detail::Wire &wire, Where where);
  /// The handle of a value that was carried.
  detail::Wire wire(mlir::Value value);

  mlir::Type typeOf(DType type);
  tile::TileType tileType(DType type, int64_t rows, int64_t cols);
  Tile handle(mlir::Value tile);
  /// A tile whose mistake has been reported.
  static Tile poison(DType type, int64_t rows, int64_t cols) {
    return Tile::of(nullptr, rows, cols, type);
  }

  /// Constants stand once at the head of the kernel or function that uses them.
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value indexConstant(int64_t value) { return constant(builder.getIndexAttr(value)); }
  /// A number as an element of this type.
  /// Null, and reported, if the type has no such value.
  mlir::Value numberConstant(double value, mlir::Type type, Where where);

  /// Notes that a pop made these tiles.
  void notePop(mlir::ValueRange tiles, mlir::Value pipe);
  /// Notes that `result` was made from these operands. Reports two that are part of the same
  /// expression and for which one pipe was popped: C++ does not say which pop came first.
  Tile fromOperands(Tile result, std::initializer_list<TileArg> operands, Where where);

  /// Whether an axis of a tile exists; reported if not.
  bool checkAxis(const char *what, int axis, Where where);
  /// Whether a tile of this shape can exist; reported if not.
  bool checkShape(Shape shape, Where where);
  /// Null for zero, which is the default.
  mlir::Attribute padAttr(Pad pad);

  /// Splits indices into constants and values, as the ops take them; false if one could not be
  /// used.
  bool mixed(const std::vector<Index> &indices, Where where,
             llvm::SmallVectorImpl<int64_t> &constants, llvm::SmallVectorImpl<mlir::Value> &values);

  /// Whether ops are being recorded into a function of one of these kinds (a kiln.incore counts as
  /// incore).
  bool isIn(std::initializer_list<ir::FuncKind> kinds) const;

  /// Whether one more loop, branch or scope may stand here; reports if not.
  bool canNest(Where where);

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
  std::vector<Status> errors;
  ir::FuncOp function; ///< Being traced, or null.
  std::string role;    ///< Of the group's member being traced, or empty.
  /// How many lanes share the work of the role being traced.
  int64_t lanesOfRole();
  bool areLanesStated = false; ///< Of the group being traced.
  int stages = 0;              ///< Of loops of the kernel being traced that state none.
  bool verified = false;
  bool isTooDeep = false; ///< canNest has reported it.
  /// Whether a function may be begun inside another, as where a language defines functions in
  /// functions.
  bool nestsFunctions = false;
  /// Functions whose bodies threw. Handles may still point into them.
  std::vector<mlir::OwningOpRef<ir::FuncOp>> abandoned;
  ProgramImpl *previous = nullptr; ///< The tracer to return to when the function ends.
  /// The line that everything recorded on this thread has, in place of the C++ line, while another
  /// language records; null: none.
  static thread_local const SourceLoc *foreignLine;

  /// Makes a program the one of this thread, traced as far as a function of it is open. What was
  /// before returns with the end of the scope, so that nothing points to a program that is gone.
  class Turn {
  public:
    explicit Turn(ProgramImpl &program);
    ~Turn();

  private:
    ProgramImpl *active, *latest;
  };

private:
  friend class Program;
  /// A function in which another was begun.
  struct Suspended {
    ir::FuncOp function;
    std::string role;
    mlir::OpBuilder::InsertPoint at;
    int stages;
    bool areLanesStated;
    ProgramImpl *previous;
  };
  std::vector<Suspended> suspended;
  /// Lets another function be traced; the other way round when that has ended.
  void suspend();
  void resume();
  /// The pipes that were popped in the expression that made a tile, for tiles that may still be
  /// part of it: those of temporaries. A tile that has a name counts no more.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> poppedFor;
  /// The block at whose head the constants of the current kernel stand.
  mlir::Block *constantBlock();
};

namespace detail {
/// A scalar or number as a value; null if it is poisoned or has no such value.
mlir::Value useScalar(ProgramImpl *tracer, const AnyScalar &x, Where where);
} // namespace detail

} // namespace kiln

#endif // KILN_LIB_LANGUAGE_TRACER_H
