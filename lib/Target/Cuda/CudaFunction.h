//===- CudaFunction.h - a role of a kernel as a device function ---------------------------===//
//
// Walks a role function once and writes a statement for each operation. A lowering looks only at
// its own operation: what an operand is (a tile in registers, one in shared memory, a transfer yet
// to be made) is in its C++ type, and the device library's overloads choose.
// CudaFunction.cpp has control flow and tensors, CudaScalars.cpp numbers, CudaTileOps.cpp and
// CudaExchange.cpp the operations on tiles.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_CUDA_CUDAFUNCTION_H
#define KILN_LIB_TARGET_CUDA_CUDAFUNCTION_H

#include "kiln/Analysis/IndexFacts.h"
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/Target/Text/Lines.h"
#include "kiln/Target/Text/Names.h"
#include "kiln/runtime/cuda_kernel.h"
#include "kiln/runtime/status.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace kiln::cuda {

/// Where tiles in shared memory begin: there the swizzling begins anew.
constexpr int64_t kTileAlignment = 1024;

/// The C++ type of an element or a scalar; empty if the backend has none.
std::string cppType(mlir::Type type);

/// What the functions of one kernel share.
struct KernelText {
  /// The maps of the argument block, in order.
  std::vector<CudaTensorMap> maps;
  /// What a role is given for a parameter of the kernel: `args.x`.
  llvm::SmallVector<std::string> parameters;
  /// The tensors that the tiles of a pipe come from, by the name of the pipe; "" where they do not.
  llvm::StringMap<llvm::SmallVector<std::string>> pushed;
  /// The place of a parameter among the tensors of the task.
  llvm::SmallVector<unsigned> tensorIndex;
  /// Lanes of the role that computes.
  int64_t lanes = 1;
  /// Whether its roles are guests (kiln/Machine/Guests.h): all compute, side by side, and threads
  /// push what others pop.
  bool hasGuests = false;
  /// Whether elementwise tiles that are used once are computed where they are used.
  bool computesLater = false;
  /// Whether its lanes take turns at the matrix unit.
  bool takesTurns = false;
  /// Whether its blocks wait for one another.
  bool hasBarrier = false;
  /// Whether two blocks run side by side and share what both read.
  bool pairsBlocks = false;
  /// Whether the copy engine writes what its lanes store.
  bool stagesStores = false;
  /// Whether a lane may store when it has begun the next product; what it keeps until then, and
  /// what that begins with.
  bool delaysStores = false;
  std::string keeps, keepsGiven;
  /// The user's lines that statements are of.
  std::vector<SourceLoc> lines;
  /// A line of text as one of the statements of `lines[number]`, and how the two come apart.
  static std::string marked(const llvm::Twine &statement, size_t number);
  CudaText withLines(llvm::StringRef markedText) const;
  /// Where rings end in shared memory; behind them each lane has so many bytes for its tiles. Those
  /// of guests are the current role's.
  int64_t ringBytes = 0, laneBytes = 0;
  /// The number of a warpgroup in its block, in the text of a role. What is no guest's is a lane's.
  llvm::StringRef warpgroup() const { return hasGuests ? "warpgroup" : "lane"; }
};

/// How tightly the outermost operator of an expression binds, the loosest first.
enum class Binding {
  Conditional,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Comparison,
  Sum,
  Product,
  Unary,
  Primary
};

struct Expression {
  std::string text;
  Binding binds = Binding::Primary;
  bool isInt = false; ///< An index that is known to have 32 bits, and is computed in them.
};

class FunctionEmitter {
public:
  /// `given` are the texts of the parameters; `origin` says which parameter of the kernel each is.
  /// `isAhead`: not the role itself, but what of its pushes can begin before kernels that come
  /// first have ended (see `canRunAhead`).
  FunctionEmitter(ir::FuncOp func, KernelText &kernel, llvm::ArrayRef<std::string> given,
                  llvm::ArrayRef<int> origin, bool isAhead = false);

  /// The statements of the body, indented.
  Expected<std::string> emitBody();

private:
  /// Whether it is of the role that only copies: one warp.
  bool isCopying() { return Func.getRole() == llvm::StringRef("dma"); }
  void findMeetings();
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  std::string roomFor(mlir::scf::ForOp loop);
  void emitIf(mlir::scf::IfOp branch);
  void emitWhile(mlir::scf::WhileOp loop);
  /// Declares a variable for each value, with what it starts as.
  llvm::SmallVector<std::string> carry(mlir::Operation *loop, mlir::ValueRange values);
  void updateInPlace(mlir::Block &body, mlir::ValueRange carried, mlir::ValueRange yielded,
                     llvm::ArrayRef<std::string> names);
  /// Assigns all at once: what is assigned may be what another variable holds.
  void assign(llvm::ArrayRef<std::string> names, mlir::ValueRange values);
  bool emitTensor(mlir::Operation *op);
  void emitWrite(ir::WriteOp op);

  // CudaScalars.cpp
  bool emitScalar(mlir::Operation *op);
  Expression scalarText(mlir::Operation *op);
  Expression infix(mlir::Operation *op, llvm::StringRef sign, Binding binds);
  std::string convertText(mlir::Operation *op);
  Expression compareText(mlir::arith::CmpIOp op);
  Expression compareText(mlir::arith::CmpFOp op);

  // CudaTileOps.cpp
  bool emitTile(mlir::Operation *op);
  bool emitElementwise(mlir::Operation *op);
  void emitLoad(tile::LoadOp op);
  void emitRequest(tile::LoadOp op);
  void emitGatherRows(tile::GatherRowsOp op);
  std::string inRegisters(mlir::Value tile);
  void emitStore(tile::StoreOp op);
  void emitStaged(tile::StoreOp op, int64_t scratch);
  tile::StoreOp delayedStore();
  /// The number of a tensor map among those of the kernel, which gets it if it has none such.
  size_t mapNumber(const CudaTensorMap &map);
  void emitScatterRows(tile::ScatterRowsOp op);
  /// `to_compute.pop()`; the ends of guests say which lane they are: `to_aiv.push(lane, t1)`.
  std::string pipeCall(mlir::Value pipe, llvm::StringRef method,
                       llvm::ArrayRef<std::string> arguments = {});
  void emitMove(tile::MoveOp op);
  void emitPop(tile::PopOp op);
  void emitMultiply(tile::ProductInterface op);
  void emitStart(tile::MatmulStartOp op);
  void emitAwait(tile::AwaitOp op);
  /// `window<T, R, C>(tensor, {i, j}, rows, cols)`
  std::string windowText(tile::TileType type, mlir::Value tensor, llvm::ArrayRef<int64_t> indices,
                         mlir::ValueRange dynamic, std::optional<llvm::ArrayRef<int64_t>> valid,
                         mlir::ValueRange validDynamic);
  template <typename Op> std::string rowsWindowText(tile::TileType type, Op op);
  std::string padText(mlir::Attribute pad, mlir::Type element);
  bool checkTile(mlir::Operation *op, tile::TileType type);
  /// Where in shared memory a result of `op` lies, as it was planned: `memory + 4096`.
  std::string placeText(mlir::Value tile);
  std::string placeText(int64_t address);

  // CudaWhole.cpp
  std::string wholeText(mlir::Block &block);
  bool emitWholeOrNot(mlir::scf::ForOp loop);
  bool isIdleWhereWhole(tile::MaskOp mask);
  void widenAgain(mlir::Operation *user);
  void computeAgain(mlir::Value tile, mlir::Operation *user);

  // CudaExchange.cpp
  bool emitExchange(mlir::Operation *op);
  void emitExtract(tile::ExtractOp op);
  void emitReduce(tile::ReduceOp op);
  void emitScan(tile::ScanOp op);
  void emitOrder(mlir::Value from, mlir::Value values, mlir::Value columns, bool isDescending);
  void emitCombining(tile::CombiningInterface op);
  /// The type of a tile in registers; in a body, where tiles are single elements, of one.
  std::string registerText(tile::TileType type);
  /// The same for what an operation makes, which may be computed later.
  std::string resultText(mlir::Operation *op);
  bool isMadeLater(mlir::Operation *op);

  /// A value where nothing looser than `least` may stand.
  std::string operand(mlir::Value value, Binding least);
  /// Where anything may stand, and where nothing with an operator may.
  std::string argument(mlir::Value value) { return operand(value, Binding::Conditional); }
  std::string text(mlir::Value value) { return operand(value, Binding::Primary); }
  /// `{a, 64, b}`
  std::string list(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values);
  void set(mlir::Value value, std::string text, Binding binds = Binding::Primary,
           bool isInt = false) {
    Values[value] = {std::move(text), binds, isInt};
  }
  /// `{a, 64, b}` without the braces.
  std::string commas(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values);
  /// `auto t3 = expression;`, or without the type where there is a variable for it.
  void define(mlir::Value value, const std::string &expression, bool isInt = false);
  std::string freshName(llvm::StringRef prefix) {
    return prefix.str() + std::to_string(NextName++);
  }
  // CudaNames.cpp
  /// A name that says what a value is, or `otherwise` with a number.
  std::string nameFor(mlir::Value value, llvm::StringRef otherwise);
  std::string hintFor(mlir::Value value, unsigned depth = 0);
  void line(const llvm::Twine &statement);
  /// The first failure counts.
  void unsupported(mlir::Operation *op, const llvm::Twine &why);

  ir::FuncOp Func;
  KernelText &Kernel;
  IndexFacts Facts;
  llvm::DenseMap<mlir::Value, Expression> Values;
  llvm::DenseMap<mlir::Value, std::string> Into; ///< The variables that values are made in.
  llvm::DenseSet<mlir::Value> Owned;             ///< Values that have a variable of their own.
  llvm::DenseMap<mlir::Value, int> Origin;       ///< Of tensor parameters.
  text::Lines Out{2, 1};
  bool IsAhead;
  bool IsInBody = false; ///< Of a reduction or scan: what are tiles there are single elements.
  llvm::DenseSet<mlir::Operation *> Meetings; ///< Accesses that all threads of a lane meet before.
  /// Windows of loads and stores that are known to be whole, by name.
  llvm::DenseMap<mlir::Operation *, std::string> Whole;
  mlir::Block *WholeBlock = nullptr; ///< Where they are.
  bool IsBesideWhole = false;        ///< In the other branch, for rows of several tiles.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> Again; ///< Computed again, and for whom.
  unsigned NextName = 0;
  text::NameScope Names;
  mlir::Operation *Here = nullptr; ///< What statements are written for.
  std::optional<Status> Failure;
};

/// How names of the program are spelled.
const text::NameRules &nameRules();
/// Whether a role that copies has something to send that no kernel of the program writes, and knows
/// where that is without reading any memory.
bool canRunAhead(ir::FuncOp role);
/// Whether lanes push to lanes: each has a ring of its own then.
bool hasRingPerLane(tile::PipeType type);
/// Whether threads hold a tile, rather than shared memory.
bool isInRegisters(tile::TileType type);
/// `Reg<float, 64, 128>`: the kernel's layout for a tile in registers.
std::string registerType(tile::TileType type);
/// `Shared<bf16, 64, 128>`
std::string sharedType(tile::TileType type);

} // namespace kiln::cuda

#endif // KILN_LIB_TARGET_CUDA_CUDAFUNCTION_H
