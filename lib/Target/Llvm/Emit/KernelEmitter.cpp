#include "KernelEmitter.h"

#include "Builder/AliasScopes.h"
#include "Builder/DebugInfo.h"

#include "kiln/Dialect/Tile/TileElementwise.h"
#include "kiln/Program/Places.h"
#include "kiln/Program/TensorName.h"
#include "kiln/runtime/native_program.h"

#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace kiln::llvmir {

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// The type of kiln_kernel_fn.
static llvm::FunctionType *kernelType(llvm::LLVMContext &context) {
  auto *pointer = llvm::PointerType::getUnqual(context);
  return llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer, pointer},
                                 false);
}

KernelEmitter::KernelEmitter(ir::FuncOp func, llvm::Module &module, StringRef symbol,
                             DebugInfo *debug, const MachineTraits &machine)
    : KernelEmitter(func, module, symbol, debug, kernelType(module.getContext()), OpTable::get(),
                    machine) {
  Args = Function->getArg(0);
  Range = Function->getArg(1);
  Context = Function->getArg(2);
}

KernelEmitter::KernelEmitter(ir::FuncOp func, llvm::Module &module, StringRef symbol,
                             DebugInfo *debug, llvm::FunctionType *type, const OpTable &table,
                             const MachineTraits &machine)
    : b(module.getContext()), Func(func), Module(module), Table(table), Facts(func),
      Plan(func, machine), Debug(debug) {
  b.machine = machine;
  Function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  if (Debug)
    Debug->addKernel(*Function, func.getSymName(), func.getLoc());
}

static llvm::Value *loadAt(Builder &b, llvm::Type *type, llvm::Value *base, uint64_t bytes) {
  return b.CreateLoad(type, b.CreateConstGEP1_64(b.getInt8Ty(), base, bytes));
}

llvm::Value *KernelEmitter::context(unsigned offset, llvm::Type *type) {
  return loadAt(b, type, Context, offset);
}

Status KernelEmitter::emit() {
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", Function));
  if (Debug)
    b.SetCurrentDebugLocation(Debug->locate(*Function, Func.getLoc()));
  emitBody();
  if (Streams)
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, ArrayRef<llvm::Value *>());
  separateScratch(*Function, Scratch);
  b.CreateRet(b.getInt32(KILN_OK));
  return Failure;
}

void KernelEmitter::emitBody() {
  emitArguments();
  emitBlocks();
}

void KernelEmitter::emitArguments() {
  ParameterOrder order = parameterOrder(Func);
  llvm::Value *tensors = loadAt(b, b.getPtrTy(), Args, offsetof(kiln_args, tensors));
  llvm::Value *scalars = loadAt(b, b.getPtrTy(), Args, offsetof(kiln_args, scalars));
  for (auto [number, position] : llvm::enumerate(order.tensors)) {
    auto type = cast<ir::TensorType>(Func.getArgumentTypes()[position]);
    uint64_t at = number * sizeof(kiln_tensor);
    TensorView view;
    view.type = elementTypeOf(type);
    view.data = loadAt(b, b.getPtrTy(), tensors, at + offsetof(kiln_tensor, data));
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      bool isStatic = !type.isDynamicDim(axis);
      view.extents.push_back(isStatic ? b.index(type.getShape()[axis])
                                      : loadAt(b, b.getInt64Ty(), tensors,
                                               at + offsetof(kiln_tensor, extents) + 8 * axis));
      isStatic = !type.getStrides().empty() && !ShapedType::isDynamic(type.getStrides()[axis]);
      view.strides.push_back(isStatic ? b.index(type.getStrides()[axis])
                                      : loadAt(b, b.getInt64Ty(), tensors,
                                               at + offsetof(kiln_tensor, strides) + 8 * axis));
    }
    Tensors[Func.getArgument(position)] = std::move(view);
  }
  for (auto [number, position] : llvm::enumerate(order.scalars)) {
    DType type = elementTypeOf(Func.getArgumentTypes()[position]);
    Scalars[Func.getArgument(position)] =
        fromSlot(b, loadAt(b, b.getInt64Ty(), scalars, 8 * number), type);
  }
  Scratch = context(offsetof(kiln_context, scratch), b.getPtrTy());
  // Whoever calls a kernel without the runtime's loader may have nothing there.
  llvm::Value *given = context(offsetof(kiln_context, user), b.getPtrTy());
  auto *never = new llvm::GlobalVariable(Module, b.getInt8Ty(), true,
                                         llvm::GlobalValue::PrivateLinkage, b.getInt8(0), "never");
  Stop = b.CreateSelect(b.CreateIsNull(given), never, given);
}

std::pair<llvm::Value *, llvm::Value *> KernelEmitter::blockRange(unsigned dim) {
  auto bound = [&](uint64_t field) {
    return loadAt(b, b.getInt64Ty(), Range, field + uint64_t(8) * dim);
  };
  return {bound(offsetof(kiln_blocks, begin)), bound(offsetof(kiln_blocks, end))};
}

void KernelEmitter::emitBlocks() {
  if (const Contraction *contraction = Plan.contraction())
    return emitContraction(*this, *contraction);
  std::function<void(unsigned)> dimension = [&](unsigned dim) {
    if (dim == KILN_MAX_GRID_DIMS)
      return emitBlock(Func.getBody().front());
    auto [begin, end] = blockRange(dim);
    b.loop(begin, end, 1, [&](llvm::Value *at) {
      BlockIndex[dim] = at;
      dimension(dim + 1);
    });
  };
  if (Plan.delayedStore())
    delayStore(llvm::ConstantPointerNull::get(b.getPtrTy())); // none is due yet
  dimension(0);
  flushDelayed();
}

void KernelEmitter::locate(Operation *op) {
  if (Debug)
    b.SetCurrentDebugLocation(Debug->locate(*Function, op->getLoc()));
}

bool KernelEmitter::emitOps(Block::iterator begin, Block::iterator end) {
  for (Operation &op : llvm::make_range(begin, end)) {
    Operation *one = &op;
    if (!emitOps(one))
      return false;
  }
  return true;
}

bool KernelEmitter::emitOps(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    locate(op);
    emitOp(op);
    locate(op);
    if (!Failure.isOk())
      return false;
  }
  return true;
}

void KernelEmitter::emitBlock(Block &block) {
  unsigned allocatedBefore = NumAllocated;
  if (!emitOps(block.begin(), block.end()))
    return;
  for (; NumAllocated > allocatedBefore; --NumAllocated) // what the block allocated ends with it
    callBlockFunction(offsetof(kiln_block_functions, release), b.getVoidTy(), {});
}

/// All of the language is lowered; other operations of the upstream dialects are not part of it.
static const char kNotOfTheLanguage[] = "is not an operation of the language";

void KernelEmitter::emitOp(Operation *op) {
  if (isPointwise(op)) {
    if (!Table.pointwise(op->getName()))
      return unsupported(op, kNotOfTheLanguage);
    if (auto extract = dyn_cast<tile::ExtractOp>(op))
      checkBox(op, indices(extract.getStaticIndices(), extract.getIndices()),
               extract.getResult().getType(), extract.getTile().getType());
    if (!Plan.isInline(op->getResult(0)))
      materialize(op->getResult(0));
    return;
  }
  if (OpTable::Lowering lower = Table.lowering(op->getName()))
    return lower(*this, op);
  unsupported(op, kNotOfTheLanguage);
}

void KernelEmitter::unsupported(Operation *op, const std::string &why) {
  if (Failure.isOk())
    Failure = Status(StatusCode::Unsupported, op->getName().getStringRef().str() + ": " + why,
                     sourceLocOf(op->getLoc()));
}

llvm::Constant *KernelEmitter::text(StringRef string) {
  llvm::Constant *&known = Texts[string];
  if (!known)
    known = b.CreateGlobalString(string, "text", 0, &Module);
  return known;
}

void KernelEmitter::checkAll(ArrayRef<llvm::Value *> conditions, Operation *op,
                             const Message &message) {
  llvm::BasicBlock *fails = nullptr;
  for (llvm::Value *holds : conditions) {
    if (auto *known = dyn_cast<llvm::ConstantInt>(holds); known && known->isOne())
      continue;
    if (!fails)
      fails = b.block("fails");
    llvm::BasicBlock *goesOn = b.block("checked");
    auto *branch = b.CreateCondBr(holds, goesOn, fails);
    llvm::MDBuilder weights(b.getContext());
    branch->setMetadata(llvm::LLVMContext::MD_prof, weights.createLikelyBranchWeights());
    b.SetInsertPoint(goesOn);
  }
  if (!fails)
    return;
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(fails);
  emitFailure(op, message);
}

void KernelEmitter::check(llvm::Value *holds, Operation *op, const Message &message) {
  checkAll(holds, op, message);
}

void KernelEmitter::checkInterruption(Operation *op) {
  if (!Stop)
    return;
  // Volatile: it is read each time, and hinders the optimizer less than an atomic load.
  llvm::Value *stop = b.CreateLoad(b.getInt8Ty(), Stop, true);
  check(b.CreateICmpEQ(stop, b.getInt8(0)), op, "the run was interrupted");
}

Message &KernelEmitter::describe(Message &message, Value tensor) {
  DType type = elementTypeOf(cast<ir::TensorType>(tensor.getType()));
  return message << describeTensor(tensor) + " (" + toString(type) << ArrayRef(extentsOf(tensor))
                 << std::string(")");
}

/// The type of kiln_source.
static llvm::StructType *sourceType(llvm::LLVMContext &context) {
  auto *number = llvm::Type::getInt32Ty(context);
  return llvm::StructType::get(context, {llvm::PointerType::getUnqual(context), number, number});
}

void addPlaces(llvm::Module &module, size_t places) {
  auto *type = llvm::ArrayType::get(sourceType(module.getContext()), places);
  // Every unit of a program that refers to it has it, and all of them are one. Whoever loads the
  // code finds it by its name and fills it in, so no code may take it for what it begins as.
  auto *table = new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                         llvm::GlobalValue::LinkOnceAnyLinkage,
                                         llvm::ConstantAggregateZero::get(type), placesSymbol);
  table->setComdat(module.getOrInsertComdat(placesSymbol));
  table->setVisibility(llvm::GlobalValue::ProtectedVisibility);
}

llvm::Constant *KernelEmitter::source(Operation *op) {
  auto *type = sourceType(b.getContext());
  llvm::GlobalVariable *table = Module.getNamedGlobal(placesSymbol);
  // What a pass made up has no place of its own: it says that none is known.
  std::optional<uint32_t> number = table ? placeNumberOf(op->getLoc()) : std::nullopt;
  if (number && *number < table->getValueType()->getArrayNumElements())
    return llvm::ConstantExpr::getInBoundsGetElementPtr(type, table, b.getInt64(*number));
  SourceLoc loc = table ? SourceLoc() : sourceLocOf(op->getLoc());
  llvm::Constant *&known = Sources[op->getLoc()];
  if (known)
    return known;
  llvm::Constant *file =
      loc.isKnown() ? text(loc.file) : llvm::ConstantPointerNull::get(b.getPtrTy());
  auto *value = llvm::ConstantStruct::get(type, {file, b.getInt32(loc.line), b.getInt32(loc.col)});
  known = new llvm::GlobalVariable(Module, type, /*isConstant=*/true,
                                   llvm::GlobalValue::PrivateLinkage, value, "source");
  return known;
}

llvm::Value *KernelEmitter::callBlockFunction(size_t entry, llvm::Type *result,
                                              ArrayRef<llvm::Value *> args) {
  llvm::Value *table = context(offsetof(kiln_context, block_functions), b.getPtrTy());
  llvm::Value *callee = loadAt(b, b.getPtrTy(), table, entry);
  Values all = {Context};
  all.append(args.begin(), args.end());
  SmallVector<llvm::Type *, 4> types;
  for (llvm::Value *arg : all)
    types.push_back(arg->getType());
  return b.CreateCall(llvm::FunctionType::get(result, types, false), callee, all);
}

llvm::Value *KernelEmitter::allocate(Operation *op, llvm::Value *bytes) {
  llvm::Value *memory =
      callBlockFunction(offsetof(kiln_block_functions, allocate), b.getPtrTy(), {bytes});
  check(b.CreateIsNotNull(memory), op, "there is no memory for the tensor");
  ++NumAllocated;
  return memory;
}

void KernelEmitter::emitFailure(Operation *op, const Message &message) {
  llvm::Value *text =
      (Message(op->getName().getStringRef().str() + ": ") << message).emit(b, Module);
  llvm::Value *report = context(offsetof(kiln_context, report), b.getPtrTy());
  auto *type =
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getPtrTy()}, false);
  b.CreateCall(type, report, {Context, text, source(op)});
  b.CreateRet(b.getInt32(KILN_FAIL));
}

void KernelEmitter::checkBox(Operation *op, ArrayRef<llvm::Value *> at, tile::TileType box,
                             tile::TileType around) {
  auto shapeOf = [](tile::TileType tile) {
    return std::to_string(tile.getRows()) + "x" + std::to_string(tile.getCols());
  };
  Values inside;
  for (unsigned axis : {0u, 1u}) {
    llvm::Value *most = b.index(around.getExtent(axis) - box.getExtent(axis));
    inside.push_back(b.CreateICmpULE(at[axis], most));
  }
  Message message("a box of " + shapeOf(box) + " at ");
  message << at << " lies outside the tile of " + shapeOf(around);
  checkAll(inside, op, message);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

llvm::Value *KernelEmitter::scalar(Value value) {
  if (llvm::Value *known = Scalars.lookup(value))
    return known;
  // Only behind an op that could not be lowered.
  std::optional<DType> type = dtypeOf(value.getType());
  return llvm::PoisonValue::get(type ? registerType(b, *type) : b.getInt64Ty());
}

Values KernelEmitter::indices(ArrayRef<int64_t> constants, ValueRange values) {
  Values list;
  auto next = values.begin();
  for (int64_t entry : constants)
    list.push_back(ShapedType::isDynamic(entry) ? scalar(*next++) : b.index(entry));
  return list;
}

llvm::Value *KernelEmitter::address(Value tile) {
  if (llvm::Value *known = Addresses.lookup(tile))
    return known;
  if (auto *op = tile.getDefiningOp(); op && isSameTile(op))
    return address(op->getOperand(0));
  return b.CreateConstGEP1_64(b.getInt8Ty(), Scratch, Plan.offsetOf(tile));
}

llvm::Value *KernelEmitter::extra(Operation *op, unsigned number) {
  return b.CreateConstGEP1_64(b.getInt8Ty(), Scratch, Plan.extraOffset(op, number));
}

Matrix KernelEmitter::matrix(Value tile) {
  return {address(tile), cast<tile::TileType>(tile.getType()).getCols()};
}

void KernelEmitter::passTiles(Operation *op, ValueRange from, ValueRange to) {
  auto isCopied = [&](unsigned number) {
    return isa<tile::TileType>(to[number].getType()) &&
           (Plan.isInline(from[number]) || !Plan.isSameBuffer(from[number], to[number]));
  };
  auto copy = [&](Value tile, llvm::Value *source, llvm::Value *target) {
    auto type = cast<tile::TileType>(tile.getType());
    b.CreateMemCpy(target, llvm::Align(64), source, llvm::Align(1),
                   type.getNumElements() * sizeOf(elementTypeOf(type)));
  };
  for (unsigned number = 0; number < from.size(); ++number)
    if (isCopied(number) && Plan.hasExtra(op, number))
      copy(from[number], address(from[number]), extra(op, number));
  for (unsigned number = 0; number < from.size(); ++number)
    if (isCopied(number) && !Plan.hasExtra(op, number))
      evalInto(from[number], matrix(to[number]));
  for (unsigned number = 0; number < from.size(); ++number)
    if (isCopied(number) && Plan.hasExtra(op, number))
      copy(from[number], extra(op, number), address(to[number]));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

bool KernelEmitter::isFlat(Value value, int64_t rows, int64_t cols) {
  auto type = dyn_cast<tile::TileType>(value.getType());
  if (!type)
    return true;
  if (!isComputed(value))
    return type.getNumElements() == 1 ||
           (type.getRows() == rows && type.getCols() == cols && !Direct.contains(value));
  Operation *op = value.getDefiningOp();
  if (isa<tile::FullOp>(op))
    return true;
  // What is not elementwise may look at coordinates.
  return (tile::isElementwise(op) || isa<arith::SelectOp>(op)) &&
         llvm::all_of(distinctOperands(op),
                      [&](Value operand) { return isFlat(operand, rows, cols); });
}

bool KernelEmitter::isFlat(Value tile) {
  auto type = cast<tile::TileType>(tile.getType());
  return isFlat(tile, type.getRows(), type.getCols());
}

llvm::Value *KernelEmitter::loadFromBuffer(Value tile, const Cursor &at) {
  auto type = cast<tile::TileType>(tile.getType());
  DType element = elementTypeOf(type);
  int64_t rows = type.getRows(), cols = type.getCols();
  llvm::Type *memory = memoryType(b, element);
  auto elementAt = [&](llvm::Value *number, unsigned width) {
    return loadElements(b, b.offset(memory, address(tile), number), element, width);
  };
  auto broadcast = [&](llvm::Value *number) {
    llvm::Value *one = b.CreateExtractElement(elementAt(number, 1), uint64_t(0));
    return b.splat(at.width, one);
  };
  if (at.flat)
    return rows * cols == 1 ? broadcast(b.index(0)) : elementAt(at.col, at.width);
  llvm::Value *row = rows == 1 ? b.index(0) : at.row, *col = cols == 1 ? b.index(0) : at.col;
  llvm::Value *number = b.add(b.mul(row, cols), col);
  bool isOne = at.down ? rows == 1 && at.rows != 1 : cols == 1 && at.cols != 1;
  if (isOne)
    return broadcast(number);
  if (!at.down || cols == 1 || at.width == 1)
    return elementAt(number, at.width);
  llvm::Value *column = llvm::PoisonValue::get(
      Builder::vectorOf(registerType(b, element), at.width)); // down one of several columns
  for (unsigned lane = 0; lane < at.width; ++lane) {
    llvm::Value *one = elementAt(b.add(number, lane * cols), 1);
    column = b.CreateInsertElement(column, b.CreateExtractElement(one, uint64_t(0)), lane);
  }
  return column;
}

llvm::Value *KernelEmitter::eval(Value value, const Cursor &at) {
  auto type = dyn_cast<tile::TileType>(value.getType());
  if (!type)
    return b.splat(at.width, scalar(value));
  if (auto direct = Direct.find(value); direct != Direct.end()) {
    DType element = elementTypeOf(type);
    llvm::DebugLoc users = b.getCurrentDebugLocation();
    locate(value.getDefiningOp());
    llvm::Value *loaded = decode(b, loadDirect(direct->second, at, element), element);
    b.SetCurrentDebugLocation(users);
    return loaded;
  }
  if (!isComputed(value))
    return loadFromBuffer(value, at);
  Operation *op = value.getDefiningOp();
  OpTable::Pointwise compute = Table.pointwise(op->getName());
  if (!compute) {
    unsupported(op, kNotOfTheLanguage);
    return llvm::PoisonValue::get(
        Builder::vectorOf(registerType(b, elementTypeOf(type)), at.width));
  }
  Values operands;
  Cursor inner = at;
  if (auto extract = dyn_cast<tile::ExtractOp>(op)) {
    Values box = indices(extract.getStaticIndices(), extract.getIndices());
    auto from = extract.getTile().getType();
    inner = {b.add(at.row, box[0]), b.add(at.col, box[1]), at.width,
             from.getRows(),        from.getCols(),        at.down};
  }
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto same = llvm::find(op->getOperands().take_front(number), operand);
    if (size_t known = std::distance(op->getOperands().begin(), same); known < number)
      operands.push_back(operands[known]);
    else if (isa<tile::TileType>(operand.getType()))
      operands.push_back(eval(operand, inner));
    else
      operands.push_back(b.splat(at.width, scalar(operand)));
  }
  llvm::DebugLoc users = b.getCurrentDebugLocation();
  locate(op);
  llvm::Value *made = compute(*this, op, operands, at);
  b.SetCurrentDebugLocation(users);
  return made;
}

void KernelEmitter::overElements(int64_t rows, int64_t cols, bool isFlat,
                                 llvm::function_ref<void(const Cursor &)> body) {
  llvm::Value *zero = b.index(0);
  if (isFlat)
    return b.chunks(rows * cols, kChunk, [&](llvm::Value *at, unsigned width) {
      body({zero, at, width, 1, rows * cols, false, true});
    });
  if (cols == 1 && rows > 1)
    return b.chunks(rows, kChunk, [&](llvm::Value *at, unsigned width) {
      body({at, zero, width, rows, cols, true});
    });
  b.loop(0, rows, 1, [&](llvm::Value *row) {
    b.chunks(cols, kChunk,
             [&](llvm::Value *at, unsigned width) { body({row, at, width, rows, cols}); });
  });
}

void KernelEmitter::collectDeferred(Value tile, SmallVectorImpl<tile::LoadOp> &loads) {
  if (Plan.isDeferred(tile)) {
    auto load = tile.getDefiningOp<tile::LoadOp>();
    if (!llvm::is_contained(loads, load))
      loads.push_back(load);
  } else if (isComputed(tile))
    for (Value operand : distinctOperands(tile.getDefiningOp()))
      collectDeferred(operand, loads);
}

/// The first and the last byte of what a whole window covers, as integers.
static std::pair<llvm::Value *, llvm::Value *> bytesOf(Builder &b, const Window &window,
                                                       tile::TileType type) {
  int64_t size = sizeOf(elementTypeOf(type));
  llvm::Value *first = b.CreatePtrToInt(window.origin, b.getInt64Ty());
  llvm::Value *last = b.add(b.mul(window.rowStride, type.getRows() - 1),
                            b.mul(window.colStride, type.getCols() - 1));
  return {first, b.add(first, b.add(b.mul(last, size), size - 1))};
}

void KernelEmitter::withLoads(Value tile, llvm::function_ref<void(bool)> body, llvm::Value *also,
                              const Window *writes, Operation *reader) {
  SmallVector<tile::LoadOp> loads;
  collectDeferred(tile, loads);
  if (loads.empty())
    return also ? b.branch(also, [&] { body(true); }, [&] { body(false); }) : body(true);
  SmallVector<Window> windows;
  Values conditions;
  if (also)
    conditions.push_back(also);
  auto written = cast<tile::TileType>(tile.getType());
  for (tile::LoadOp load : loads) {
    llvm::DebugLoc users = b.getCurrentDebugLocation();
    locate(load);
    Window window = windowOf(load);
    b.SetCurrentDebugLocation(users);
    bool isOfOthers = reader && !machine().losesFetches && !Plan.isLastReader(load, reader);
    if (!FetchesAhead || isOfOthers)
      window.ahead = nullptr;
    auto type = load.getResult().getType();
    bool isDown = type.getCols() == 1 && type.getRows() > 1;
    conditions.push_back(window.isWhole);
    conditions.push_back(b.CreateICmpEQ(isDown ? window.rowStride : window.colStride, b.index(1)));
    if (writes) {
      auto [first, last] = bytesOf(b, window, type);
      auto [from, to] = bytesOf(b, *writes, written);
      llvm::Value *isDisjoint = b.CreateOr(b.CreateICmpULT(last, from), b.CreateICmpULT(to, first));
      llvm::Value *isSame =
          b.allOf({b.CreateICmpEQ(first, from), b.CreateICmpEQ(window.rowStride, writes->rowStride),
                   b.CreateICmpEQ(window.colStride, writes->colStride)});
      bool isSameSize = elementTypeOf(type) == elementTypeOf(written);
      conditions.push_back(isSameSize ? b.CreateOr(isDisjoint, isSame) : isDisjoint);
    }
    windows.push_back(window);
  }
  b.branch(
      b.allOf(conditions),
      [&] {
        for (auto [load, window] : llvm::zip_equal(loads, windows))
          Direct[load.getResult()] = window;
        body(true);
        for (tile::LoadOp load : loads)
          Direct.erase(load.getResult());
      },
      [&] {
        for (auto [load, window] : llvm::zip_equal(loads, windows))
          loadInto(load, window, matrix(load.getResult()));
        auto *known = llvm::dyn_cast_or_null<llvm::ConstantInt>(also);
        body(known && known->isOne()); // what holds anyway does so here, too
      });
}

void KernelEmitter::materialize(Value tile) {
  Root = tile;
  if (tile::ReduceOp reduction = Plan.reductionWith(tile))
    withLoads(
        tile,
        [&](bool isFast) {
          withDelayed(tile, isFast, [&](llvm::Value *due) {
            emitRowsWithReduction(*this, tile, reduction, due);
          });
        },
        nullptr, nullptr, tile.getDefiningOp());
  else
    evalInto(tile, matrix(tile));
  Root = {};
}

void KernelEmitter::evalInto(Value tile, Matrix to) {
  auto type = cast<tile::TileType>(tile.getType());
  DType element = elementTypeOf(type);
  llvm::Type *memory = memoryType(b, element);
  withLoads(
      tile,
      [&](bool) {
        bool flat = to.rowStride == type.getCols() && isFlat(tile);
        overElements(type.getRows(), type.getCols(), flat, [&](const Cursor &at) {
          llvm::Value *number = flat ? at.col : b.add(b.mul(at.row, to.rowStride), at.col);
          llvm::Value *target = b.offset(memory, to.data, number);
          llvm::Value *value = eval(tile, at);
          if (!at.down || to.rowStride == 1)
            return storeElements(b, value, target, element);
          for (unsigned lane = 0; lane < at.width; ++lane)
            storeElements(b, b.splat(1, b.CreateExtractElement(value, lane)),
                          b.offset(memory, target, b.index(lane * to.rowStride)), element);
        });
      },
      nullptr, nullptr, tile.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

const OpTable &OpTable::get() {
  static const OpTable table = [] {
    OpTable made;
    addControlOps(made);
    addScalarOps(made);
    addTensorOps(made);
    addMemoryOps(made);
    addPointwiseOps(made);
    addRearrangingOps(made);
    addReductions(made);
    addMatmuls(made);
    addGatherOps(made);
    addRandomOps(made);
    addPipeOps(made);
    return made;
  }();
  return table;
}

} // namespace kiln::llvmir
