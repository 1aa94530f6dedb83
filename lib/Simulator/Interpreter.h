//===- Interpreter.h - one running instance of a function -----------------------------===//
//
// An explicit-stack machine over the IR: it can stop in front of any operation and go on later, so
// the instances of a group take turns on one thread with neither fibers nor threads. What an
// operation does is a row of the OpTable; what reaches outside the instance (launches, allocations,
// calls, pipes) is asked of its Host.
//
// Ownership: an instance owns its stack and values and borrows everything else. One thread at a
// time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_SIMULATOR_INTERPRETER_H
#define KILN_LIB_SIMULATOR_INTERPRETER_H

#include "GlobalMemory.h"
#include "TileValue.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Dialect/Tile/TileMemory.h"
#include "kiln/runtime/task.h"

#include <array>
#include <variant>

namespace kiln::simulator {

class Barrier;
class Interpreter;
class Pipe;
class Units;

/// What an SSA value stands for while the program runs.
using Value = std::variant<std::monostate, ScalarBits, TilePtr, Tensor, Pipe *, TaskId>;

/// An error of the simulated program, as opposed to one of whoever called the simulator. The
/// interpreter adds the operation and its source location.
inline Status fault(std::string message) {
  return Status(StatusCode::KernelFailed, std::move(message));
}

/// What a simulation has executed, and may execute at the most. One step is about what a scalar
/// operation costs; work on tiles counts by their elements, so that the same limit bounds both.
struct Steps {
  uint64_t taken = 0;
  uint64_t most = UINT64_MAX;
  uint64_t operations = 0; ///< Executed, whatever they cost.

  bool areUsedUp() const { return taken > most; }
};

/// Gives meaning to the operations that reach outside an instance, where kinds of function differ:
/// a plain Host serves kernels; groups and orchestrations have their own.
class Host {
public:
  Host(mlir::SymbolTable &symbols, Steps &steps) : Symbols(symbols), Budget(steps) {}
  virtual ~Host() = default;

  Steps &steps() { return Budget; }

  /// Default: runs the callee as part of this instance.
  virtual Status call(Interpreter &in, ir::CallOp op);
  virtual Expected<Tensor> alloc(DType dtype, Dims extents);
  /// Default: nothing. What a kernel marks, its launch has marked already.
  virtual void mark(const Tensor &) {}
  // Default: an error, since the verifier keeps these out of other kinds of function.
  virtual Status makePipe(Interpreter &in, tile::PipeOp op);
  virtual Status meet(Interpreter &in, tile::BarrierOp op);
  virtual Status submit(Interpreter &in, ir::SubmitOp op);
  virtual Status get(Interpreter &in, ir::GetOp op);
  virtual Status collect(Interpreter &in, const ir::Collective &collective);
  /// This rank's place in a group, or the number of ranks in it.
  virtual Expected<int64_t> rank(ir::AlongAttr along, bool wantsCount);
  virtual Status beginScope(ir::ScopeOp op);
  virtual Status endScope(ir::ScopeOp op);

protected:
  ir::FuncOp lookup(llvm::StringRef name) const { return Symbols.lookup<ir::FuncOp>(name); }

private:
  mlir::SymbolTable &Symbols;
  Steps &Budget;
};

/// Where an instance runs.
struct Place {
  std::array<int64_t, 3> block{0, 0, 0}, grid{1, 1, 1};
  int64_t lane = 0;
  Agent *agent = nullptr; ///< Who runs there, if that is checked.

  /// Of the block, counted row-major over the grid.
  int64_t blockNumber() const { return (block[0] * grid[1] + block[1]) * grid[2] + block[2]; }
};

class Interpreter {
public:
  /// Stands in front of the first operation of `func`.
  Interpreter(ir::FuncOp func, std::vector<Value> args, Place place, Host &host,
              GlobalMemory &memory);

  /// From now on a tile with an address must fit the machine's memory, and be there when it is
  /// used.
  void limitMemory(const Machine &machine) { Local.emplace(machine); }

  /// From now on the units of the core are told apart, for the watcher, which there is.
  void separateUnits(const Machine &machine);
  /// Null: what runs is one after the other.
  Units *units() const { return Core.get(); }

  bool isDone() const { return Frames.empty(); }
  /// The pipe operation the instance stands in front of; null if it stands elsewhere or is done.
  mlir::Operation *pendingPipeOp() const;
  /// The barrier at which the instance waits for others; null if it does not.
  mlir::Operation *pendingBarrier() const;
  /// Whether resume() can make progress: false in front of a pipe operation that has to wait, and
  /// behind a barrier that others have not come to.
  bool canResume();
  /// Runs on, up to the next pipe operation or barrier (every one is a scheduling point) or to the
  /// end.
  Status resume();

  const Place &place() const { return Where; }
  GlobalMemory &memory() { return Memory; }
  Host &host() { return Surroundings; }

  // For the rows of the OpTable. The IR is verified, so a value has what its type says.
  ScalarBits scalar(mlir::Value value) const { return std::get<ScalarBits>(get(value)); }
  int64_t index(mlir::Value value) const { return scalar(value).asInt(); }
  TilePtr tile(mlir::Value value) const { return std::get<TilePtr>(get(value)); }
  const Tensor &tensor(mlir::Value value) const { return std::get<Tensor>(get(value)); }
  Pipe &pipe(mlir::Value value) const { return *std::get<Pipe *>(get(value)); }
  TaskId task(mlir::Value value) const { return std::get<TaskId>(get(value)); }
  const Value &get(mlir::Value value) const;
  std::vector<Value> getAll(mlir::ValueRange values) const;
  /// A list of constants and values, as in `[%i, 0]`.
  std::vector<int64_t> indices(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values) const;
  void set(mlir::Value value, Value content) {
    Activations.back().values[value] = std::move(content);
  }
  void setAll(mlir::ValueRange values, std::vector<Value> contents);
  /// The message whose slot a tile lies in, where it is checked that it is not used after the free.
  struct Slot {
    tile::PopOp pop;
    const Pipe *pipe;
    uint64_t message;
  };
  void setSlot(mlir::Value tile, Slot slot) { Slots[tile] = slot; }

  /// Executes one operation, which takes a step and is checked.
  Status execute(mlir::Operation *op);

  /// Goes on inside `func`; `call` gets its results. A tensor the callee only reads becomes
  /// read-only.
  void enterFunction(ir::FuncOp func, std::vector<Value> args, ir::CallOp call);
  void leaveFunction(mlir::ValueRange results);
  /// Goes on with the first operation of a block of `op`, `iterations` times.
  void enterBlock(mlir::Operation *op, mlir::Block &block, uint64_t iterations = 1);
  /// Moves the innermost frame to the start of a block of its operation.
  void restartAt(mlir::Block &block);
  /// Counts an iteration of the innermost frame as finished; whether there are more.
  bool hasNextIteration() { return --Frames.back().iterations > 0; }
  /// The operation whose block is running.
  mlir::Operation *enclosingOp() const { return Frames.back().op; }
  void leaveBlock() { Frames.pop_back(); }
  /// Goes on when this round of the barrier is over.
  void waitFor(const Barrier &barrier, uint64_t round, mlir::Operation *op) {
    Waiting = {&barrier, round, op};
  }

private:
  /// A block that is running.
  struct Frame {
    mlir::Operation *op; ///< kiln.func, kiln.scope, scf.for, scf.if or scf.while.
    mlir::Block *block;
    mlir::Block::iterator next;
    uint64_t iterations; ///< Of an scf.for, still to run; this one included.
  };
  /// A function that is running.
  struct Activation {
    ir::CallOp call;
    llvm::DenseMap<mlir::Value, Value> values;
  };
  /// A barrier the instance came to.
  struct Visit {
    const Barrier *barrier;
    uint64_t round;
    mlir::Operation *op;
  };

  /// Tells the watcher of operands whose slot has been freed.
  void checkSlots(mlir::Operation *op);

  Place Where;
  Host &Surroundings;
  GlobalMemory &Memory;
  std::vector<Frame> Frames;
  std::vector<Activation> Activations;
  std::optional<Visit> Waiting;
  std::optional<tile::TileMemory> Local; ///< None: memory is not limited.
  std::shared_ptr<Units> Core;
  llvm::DenseMap<mlir::Value, Slot> Slots;
};

/// What to execute for each operation: one row per op, one function per family of ops.
class OpTable {
public:
  using Handler = Status (*)(Interpreter &, mlir::Operation *);

  static const OpTable &get();
  /// Null for an operation nobody taught the simulator.
  Handler find(mlir::OperationName name) const { return Handlers.lookup(name.getTypeID()); }

  /// `Run` takes the interpreter and the op, as itself or as an mlir::Operation *.
  template <typename Op, auto Run> void add() {
    Handlers[mlir::TypeID::get<Op>()] = [](Interpreter &in, mlir::Operation *op) -> Status {
      return Run(in, llvm::cast<Op>(op));
    };
  }

  void add(mlir::TypeID op, Handler run) { Handlers[op] = run; }

private:
  OpTable();
  llvm::DenseMap<mlir::TypeID, Handler> Handlers;
};

void addControlOps(OpTable &table); // Interpreter.cpp
void addScalarOps(OpTable &table);  // ScalarOps.cpp
void addTensorOps(OpTable &table);  // TensorOps.cpp
void addTileOps(OpTable &table);    // TileOps.cpp
void addCombineOps(OpTable &table); // CombineOps.cpp
void addGatherOps(OpTable &table);  // GatherOps.cpp
void addRandomOps(OpTable &table);  // RandomOps.cpp
void addPipeOps(OpTable &table);    // Pipe.cpp
void addRankOps(OpTable &table);    // RankOps.cpp
void addUnitOps(OpTable &table);    // Units.cpp

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_INTERPRETER_H
