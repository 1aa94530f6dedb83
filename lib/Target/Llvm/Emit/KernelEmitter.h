//===- KernelEmitter.h - one kernel as an LLVM function -------------------------------===//
//
// Walks a kernel's IR and writes LLVM IR for it. Every operation is a row of a table: pointwise
// ones know how to compute a vector of elements from vectors of their operands, all others how to
// emit themselves. A lowering looks only at its own op; what it needs of others it asks for through
// eval(), evalInto() and address().
//
// Scalars and indices are LLVM values, tensors are views (pointer, extents, strides), tiles lie in
// the scratch or are computed where they are used (TilePlan).
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_EMIT_KERNELEMITTER_H
#define KILN_LIB_TARGET_LLVM_EMIT_KERNELEMITTER_H

#include "Builder/Elements.h"
#include "Builder/Message.h"
#include "Builder/Traits.h"
#include "Plan/Contraction.h"
#include "Plan/TilePlan.h"

#include "kiln/Analysis/IndexFacts.h"
#include "kiln/runtime/status.h"

#include "llvm/IR/DIBuilder.h"

namespace kiln::llvmir {

/// Gives a module the table of places, of this many, that code refers to instead of holding the
/// user's lines.
void addPlaces(llvm::Module &module, size_t places);

/// A strided view of global memory.
struct TensorView {
  llvm::Value *data = nullptr;
  Values extents, strides;
  DType type = DType::F32;
};

/// A matrix in memory: of a tile's buffer, or a part of one.
struct Matrix {
  llvm::Value *data = nullptr;
  int64_t rowStride = 0; ///< Elements.
};

/// Which elements are being computed: `width` of them from (row, col) on, along the columns, or
/// along the rows when `down` is set (tiles with one column).
struct Cursor {
  llvm::Value *row, *col;
  unsigned width;
  int64_t rows, cols; ///< Of the tile that is computed.
  bool down = false;
  /// The tile is taken as one long row; every operand has its shape or is one element.
  bool flat = false;
};

/// What is known of a tile's place in its tensor before anything runs.
struct Placement {
  bool isNeverCut = false;   ///< It lies wholly inside, or the tensor is empty.
  bool isNeverEmpty = false; ///< The tensor has elements.
  bool mayMiss = false;      ///< It may lie wholly outside, which is no fault.
};

/// The part of a tile that lies inside its tensor and its valid extents.
struct Window {
  llvm::Value *top, *bottom, *left, *right;
  llvm::Value *origin; ///< Where element (0, 0) would be.
  llvm::Value *rowStride, *colStride;
  llvm::Value *isWhole;
  bool isNeverCut; ///< What is not whole is empty.
  /// How many elements further on the next iteration of the loop around will read; null if there is
  /// none, or that is not plain to see.
  llvm::Value *ahead = nullptr;
  bool isFetchedNear = false; ///< Whether what is ahead has room in the nearest cache.
};

class DebugInfo;

class OpTable;

class KernelEmitter {
public:
  KernelEmitter(ir::FuncOp func, llvm::Module &module, llvm::StringRef symbol, DebugInfo *debug,
                const MachineTraits &machine);
  virtual ~KernelEmitter() = default;

  /// Writes the function. Its scratch is plan().bytes().
  Status emit();
  const TilePlan &plan() const { return Plan; }
  const MachineTraits &machine() const { return b.machine; }

  // For the lowerings.
  Builder b;

  llvm::Value *scalar(mlir::Value value);
  void setScalar(mlir::Value value, llvm::Value *made) { Scalars[value] = made; }
  const TensorView &tensor(mlir::Value value) { return Tensors.find(value)->second; }
  void setTensor(mlir::Value value, TensorView view) { Tensors[value] = std::move(view); }
  /// Constants and values of a mixed list.
  Values indices(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values);

  /// The address of a tile's buffer.
  llvm::Value *address(mlir::Value tile);
  void setAddress(mlir::Value tile, llvm::Value *at) { Addresses[tile] = at; }
  llvm::Value *extra(mlir::Operation *op, unsigned number = 0);
  Matrix matrix(mlir::Value tile);

  /// The elements of a tile or scalar under the cursor, computed or loaded.
  llvm::Value *eval(mlir::Value value, const Cursor &at);
  /// Computes a whole tile into memory.
  void evalInto(mlir::Value tile, Matrix to);
  /// Runs `body` over a tile's elements, vector by vector; `isFlat`: as if it were one long row.
  void overElements(int64_t rows, int64_t cols, bool isFlat,
                    llvm::function_ref<void(const Cursor &)> body);
  /// Whether everything a tile is computed from has its shape, or one element, and no coordinates.
  bool isFlat(mlir::Value tile);
  /// Runs `body`, which computes `tile`, twice: once for when its deferred loads can be read where
  /// they are and `also` holds, and once (`isFast` false) for when not. `writes` is what the body
  /// writes, if that is global memory: it must not overlap what is still to be read. `reader` is
  /// the op that is being computed: the last that reads a tile fetches the next one, or every one
  /// does (MachineTraits::losesFetches).
  void withLoads(mlir::Value tile, llvm::function_ref<void(bool isFast)> body,
                 llvm::Value *also = nullptr, const Window *writes = nullptr,
                 mlir::Operation *reader = nullptr);
  /// The elements under the cursor of a tile in a tensor, with padding.
  llvm::Value *loadMasked(const Window &window, const Cursor &at, DType type, llvm::Value *pad);
  void storeMasked(llvm::Value *value, const Window &window, const Cursor &at, DType type);
  /// A load of a vector of a whole tile with contiguous rows. The next iteration's is fetched on
  /// the way: rows lie apart, where the hardware does not look ahead.
  llvm::Value *loadDirect(const Window &window, const Cursor &at, DType type);
  /// A load into the tile's buffer.
  void loadInto(tile::LoadOp op, const Window &window, Matrix to);
  Window windowOf(tile::LoadOp op);
  Window windowOf(tile::StoreOp op);
  /// Whether a tile is stored as it is: whole, with its columns side by side, and by the caches.
  llvm::Value *isStoredPlainly(tile::StoreOp op, const Window &window);
  /// Computes a pointwise op's tile into its own buffer.
  void materialize(mlir::Value tile);
  /// The elements of an expression of the tile that is being computed, which has been stored there.
  llvm::Value *evalStored(mlir::Value value, const Cursor &at);

  /// Where a tile of this shape at these indices lies; fails the kernel where it misses its tensor.
  Window window(mlir::Operation *op, mlir::Value tensor, llvm::ArrayRef<llvm::Value *> indices,
                llvm::ArrayRef<llvm::Value *> valid, int64_t rows, int64_t cols,
                Placement known = {});
  const IndexFacts &facts() const { return Facts; }
  /// Fails the kernel at run time unless the condition holds.
  void check(llvm::Value *holds, mlir::Operation *op, const Message &message);
  /// The same for several conditions with one message, of which one may be false for sure.
  void checkAll(llvm::ArrayRef<llvm::Value *> conditions, mlir::Operation *op,
                const Message &message);
  /// Fails the kernel if somebody wants the run to end. For loops: an orchestration asks nobody, it
  /// learns of it when it launches.
  void checkInterruption(mlir::Operation *op);
  /// "'x' (f32[4, 8])", at the end of a message.
  Message &describe(Message &message, mlir::Value tensor);
  virtual Values extentsOf(mlir::Value tensor) { return this->tensor(tensor).extents; }
  /// Fails the kernel unless a box lies inside a tile.
  void checkBox(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> at, tile::TileType box,
                tile::TileType around);
  /// Remembers that an operation cannot be lowered.
  void unsupported(mlir::Operation *op, const std::string &why);

  virtual void emitBlock(mlir::Block &block);
  /// Some operations of a block, in this order. False: one could not be lowered.
  bool emitOps(mlir::Block::iterator begin, mlir::Block::iterator end);
  bool emitOps(llvm::ArrayRef<mlir::Operation *> ops);
  /// Whatever is emitted next belongs to the line of this operation.
  void locate(mlir::Operation *op);
  /// Stores past the caches are being emitted: they must be over when the kernel returns.
  void setStreams() { Streams = true; }

  // The store that comes with the next block (TilePlan::delayedStore). Which one is due is in the
  // scratch: where it begins, null if there is none.
  /// What is stored at the end of a block will be due in the next.
  void delayStore(llvm::Value *to);
  /// What is due, which no longer is.
  llvm::Value *takeDelayed();
  /// Some elements of what is due: of tiles as they are before the next block's replace them.
  void storeDelayed(llvm::Value *to, const Cursor &at);
  /// All of it, if something is due.
  void flushDelayed();
  /// `body`, which computes a tile, with what is due with it, to be stored on the way; null if
  /// nothing is. What is due is stored before a tile that is not computed the fast way.
  void withDelayed(mlir::Value tile, bool isFast, llvm::function_ref<void(llvm::Value *due)> body);
  /// Copies what a terminator passes on into the buffers of those that take it.
  void passTiles(mlir::Operation *op, mlir::ValueRange from, mlir::ValueRange to);

  llvm::Value *blockIndex(unsigned dim) { return BlockIndex[dim]; }
  /// Whether loads fetch what the next iteration loads; not where something else has done so.
  void setFetchesAhead(bool on) { FetchesAhead = on; }
  void setBlockIndex(unsigned dim, llvm::Value *at) { BlockIndex[dim] = at; }
  /// The first block of the range in a grid dimension, and the one behind the last.
  std::pair<llvm::Value *, llvm::Value *> blockRange(unsigned dim);
  llvm::Value *context(unsigned offset, llvm::Type *type);
  llvm::Value *contextPointer() { return Context; }
  /// A string that the code can point at.
  llvm::Constant *text(llvm::StringRef string);
  /// A kiln_source: the user's place of an op, for the code to report. A constant, or an element of
  /// the table that addPlaces() has made.
  llvm::Constant *source(mlir::Operation *op);
  /// Calls an entry of kiln_block_functions; such a kernel must be run as a group.
  llvm::Value *callBlockFunction(size_t entry, llvm::Type *result,
                                 llvm::ArrayRef<llvm::Value *> args);
  /// Memory to the end of the block that is being emitted; the kernel fails if there is none.
  llvm::Value *allocate(mlir::Operation *op, llvm::Value *bytes);

protected:
  KernelEmitter(ir::FuncOp func, llvm::Module &module, llvm::StringRef symbol, DebugInfo *debug,
                llvm::FunctionType *type, const OpTable &table, const MachineTraits &machine);
  /// Everything between the entry of the function and its return.
  virtual void emitBody();
  /// Says what is wrong at run time, and returns from the function.
  virtual void emitFailure(mlir::Operation *op, const Message &message);

  ir::FuncOp Func;
  llvm::Module &Module;
  llvm::Function *Function;

private:
  void emitArguments();
  void emitBlocks();
  void emitOp(mlir::Operation *op);
  /// Whether a tile is computed where it stands in an expression, not read.
  bool isComputed(mlir::Value tile) const { return Plan.isInline(tile) || tile == Root; }
  bool isFlat(mlir::Value value, int64_t rows, int64_t cols);
  llvm::Value *loadFromBuffer(mlir::Value tile, const Cursor &at);
  void collectDeferred(mlir::Value tile, llvm::SmallVectorImpl<tile::LoadOp> &loads);

  const OpTable &Table;
  IndexFacts Facts;
  TilePlan Plan;
  DebugInfo *Debug;
  llvm::Value *Args = nullptr, *Range = nullptr, *Context = nullptr, *Scratch = nullptr;
  llvm::Value *Stop = nullptr; ///< The address of a byte; see NativeProgram::addKernel.
  llvm::Value *BlockIndex[3] = {};
  llvm::DenseMap<mlir::Value, llvm::Value *> Scalars, Addresses;
  llvm::DenseMap<mlir::Value, TensorView> Tensors;
  mlir::Value Root;                           ///< The tile with a buffer that is being computed.
  llvm::DenseMap<mlir::Value, Window> Direct; ///< Deferred loads that are read where they are.
  bool FetchesAhead = true;
  bool Streams = false;
  unsigned NumAllocated = 0; ///< By allocate(), in the blocks being emitted.
  llvm::StringMap<llvm::Constant *> Texts;
  llvm::DenseMap<mlir::Location, llvm::Constant *> Sources;
  Status Failure;
};

/// How often a loop runs.
struct Trips {
  llvm::Value *first, *step;
  llvm::Value *runs;       ///< Whether it runs at all.
  llvm::Value *beforeLast; ///< Iterations before the last, if it does.
};
/// Fails the kernel if the step is not positive.
Trips tripsOf(KernelEmitter &e, mlir::scf::ForOp loop);

/// Fails the kernel, or the orchestration, unless there is such an element.
void checkElement(KernelEmitter &e, mlir::Operation *op, mlir::Value tensor,
                  llvm::ArrayRef<llvm::Value *> at);
/// The same, unless a view lies inside its tensor.
void checkSlice(KernelEmitter &e, ir::SliceOp op, llvm::ArrayRef<llvm::Value *> offsets,
                llvm::ArrayRef<llvm::Value *> sizes);

/// Rows of a tile that is computed into its buffer, each with its reduction.
void emitRowsWithReduction(KernelEmitter &e, mlir::Value tile, tile::ReduceOp reduction,
                           llvm::Value *due);

/// All blocks of the range, in place of a walk over each.
void emitContraction(KernelEmitter &e, const Contraction &contraction);

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

class OpTable {
public:
  using Lowering = void (*)(KernelEmitter &, mlir::Operation *);
  /// Makes a vector of the result from vectors of the operands, in the same order.
  using Pointwise = llvm::Value *(*)(KernelEmitter &, mlir::Operation *,
                                     llvm::ArrayRef<llvm::Value *>, const Cursor &);

  /// What can stand in a kernel.
  static const OpTable &get();
  OpTable() = default;
  Lowering lowering(mlir::OperationName name) const {
    return Lowerings.lookup(name.getStringRef());
  }
  Pointwise pointwise(mlir::OperationName name) const {
    return Pointwises.lookup(name.getStringRef());
  }

  template <typename Op, auto F> void add() {
    Lowerings[Op::getOperationName()] = [](KernelEmitter &e, mlir::Operation *op) {
      if constexpr (std::is_invocable_v<decltype(F), KernelEmitter &, Op>)
        F(e, mlir::cast<Op>(op));
      else
        F(e, op);
    };
  }
  template <typename Op> void addPointwise(Pointwise f) { Pointwises[Op::getOperationName()] = f; }

private:
  llvm::StringMap<Lowering> Lowerings;
  llvm::StringMap<Pointwise> Pointwises;
};

void addControlOps(OpTable &table);
void addScalarOps(OpTable &table);
void addTensorOps(OpTable &table);
void addMemoryOps(OpTable &table);
void addPipeOps(OpTable &table);
void addPointwiseOps(OpTable &table);
void addRearrangingOps(OpTable &table);
void addReductions(OpTable &table);
void addMatmuls(OpTable &table);
void addGatherOps(OpTable &table);
void addRandomOps(OpTable &table);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_EMIT_KERNELEMITTER_H
