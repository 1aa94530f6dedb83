#include "OrchestrationEmitter.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Program/Arguments.h"
#include "kiln/Program/Signature.h"
#include "kiln/orchestration_abi.h"
#include "kiln/runtime/signature.h"

#include "llvm/IR/Module.h"

using namespace mlir;

namespace kiln::llvmir {

using V = llvm::Value;
using Functions = kiln_orchestration_functions;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

V *OrchestrationEmitter::callTable(size_t function, llvm::Type *result, ArrayRef<V *> args) {
  V *run = Function->getArg(0);
  V *table = b.CreateLoad(b.getPtrTy(), run); // kiln_orchestration.functions
  V *callee = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getInt8Ty(), table, function));
  SmallVector<V *> all{run};
  all.append(args.begin(), args.end());
  SmallVector<llvm::Type *> types;
  for (V *arg : all)
    types.push_back(arg->getType());
  return b.CreateCall(llvm::FunctionType::get(result, types, false), callee, all);
}

void OrchestrationEmitter::callChecked(size_t function, ArrayRef<V *> args) {
  V *status = callTable(function, b.getInt32Ty(), args);
  llvm::BasicBlock *failed = b.block("failed"), *next = b.block("next");
  b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(0)), next, failed);
  b.SetInsertPoint(failed);
  b.CreateRet(status);
  b.SetInsertPoint(next);
}

V *OrchestrationEmitter::extentOf(Value tensor, int64_t axis) {
  return callTable(offsetof(Functions, dim), b.getInt64Ty(), {scalar(tensor), b.getInt32(axis)});
}

Values OrchestrationEmitter::extentsOf(Value tensor) {
  auto type = cast<ir::TensorType>(tensor.getType());
  Values extents;
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    extents.push_back(ShapedType::isDynamic(extent) ? extentOf(tensor, axis) : b.index(extent));
  return extents;
}

V *OrchestrationEmitter::slot(llvm::Type *type, uint64_t count) {
  // In the entry block, so that a loop does not grow the frame.
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  llvm::BasicBlock &entry = Function->getEntryBlock();
  b.SetInsertPoint(&entry, entry.begin());
  return b.CreateAlloca(type, b.getInt32(count));
}

V *OrchestrationEmitter::array(ArrayRef<V *> values) {
  V *memory = slot(b.getInt64Ty(), std::max<size_t>(values.size(), 1));
  for (auto [number, value] : llvm::enumerate(values))
    b.CreateStore(value, b.CreateConstGEP1_64(b.getInt64Ty(), memory, number));
  return memory;
}

int32_t OrchestrationEmitter::kernelNumber(StringRef name) const {
  const auto *found = llvm::find(Kernels, name);
  return found == Kernels.end() ? -1 : static_cast<int32_t>(found - Kernels.begin());
}

//===----------------------------------------------------------------------===//
// Lowerings
//===----------------------------------------------------------------------===//

namespace {

OrchestrationEmitter &of(KernelEmitter &e) { return static_cast<OrchestrationEmitter &>(e); }

/// Calls a function that makes a tensor; its last argument is where the handle goes.
void makeTensor(OrchestrationEmitter &e, Operation *op, size_t function, ArrayRef<V *> args) {
  V *handle = e.slot(e.b.getInt32Ty());
  SmallVector<V *> all{e.source(op)};
  all.append(args.begin(), args.end());
  all.push_back(handle);
  e.callChecked(function, all);
  e.setScalar(op->getResult(0), e.b.CreateLoad(e.b.getInt32Ty(), handle));
}

void alloc(KernelEmitter &base, ir::AllocOp op) {
  OrchestrationEmitter &e = of(base);
  ir::TensorType type = op.getResult().getType();
  Values extents = e.indices(type.getShape(), op.getSizes());
  makeTensor(e, op, offsetof(Functions, alloc),
             {e.b.getInt32(static_cast<int32_t>(elementTypeOf(type))), e.b.getInt32(type.getRank()),
              e.array(extents)});
}

void slice(KernelEmitter &base, ir::SliceOp op) {
  OrchestrationEmitter &e = of(base);
  uint32_t dropped = 0;
  for (int64_t axis : op.getDropped())
    dropped |= 1u << axis;
  Values offsets = e.indices(op.getStaticOffsets(), op.getOffsets());
  Values sizes = e.indices(op.getStaticSizes(), op.getSizes());
  checkSlice(e, op, offsets, sizes);
  makeTensor(e, op, offsetof(Functions, slice),
             {e.scalar(op.getTensor()), e.array(offsets), e.array(sizes), e.b.getInt32(dropped)});
}

void transpose(KernelEmitter &base, ir::TransposeOp op) {
  OrchestrationEmitter &e = of(base);
  makeTensor(e, op, offsetof(Functions, transpose),
             {e.scalar(op.getTensor()), e.array(e.indices(op.getPermutation(), {}))});
}

void reshape(KernelEmitter &base, ir::ReshapeOp op) {
  OrchestrationEmitter &e = of(base);
  Values extents = e.indices(op.getStaticSizes(), op.getSizes());
  makeTensor(e, op, offsetof(Functions, reshape),
             {e.scalar(op.getTensor()), e.b.getInt32(extents.size()), e.array(extents)});
}

void dim(KernelEmitter &base, ir::DimOp op) {
  OrchestrationEmitter &e = of(base);
  e.setScalar(op.getResult(), e.extentOf(op.getTensor(), op.getDim()));
}

void get(KernelEmitter &base, ir::GetOp op) {
  OrchestrationEmitter &e = of(base);
  V *bits = e.slot(e.b.getInt64Ty());
  Values at = e.indices(op.getStaticIndices(), op.getIndices());
  checkElement(e, op, op.getTensor(), at);
  e.callChecked(offsetof(Functions, get),
                {e.source(op), e.scalar(op.getTensor()), e.array(at), bits});
  e.setScalar(op.getResult(),
              fromSlot(e.b, e.b.CreateLoad(e.b.getInt64Ty(), bits), elementTypeOf(op.getType())));
}

void dump(KernelEmitter &base, ir::DumpOp op) {
  OrchestrationEmitter &e = of(base);
  e.callTable(offsetof(Functions, mark), e.b.getVoidTy(), {e.scalar(op.getTensor())});
}

/// The entry was judged before it began; what it calls is judged here.
void require(KernelEmitter &e, ir::RequireOp op) {
  e.check(e.scalar(op.getCondition()), op, "does not hold: " + op.getMessage().str());
}

void scope(KernelEmitter &base, ir::ScopeOp op) {
  OrchestrationEmitter &e = of(base);
  e.callTable(offsetof(Functions, begin_scope), e.b.getVoidTy(), {e.b.getInt32(op.getManual())});
  e.emitBlock(op.getBody().front());
  e.callChecked(offsetof(Functions, end_scope), {e.source(op)});
}

/// Writes the fields of a struct of the ABI, each at its byte offset.
void fill(Builder &b, V *memory, ArrayRef<std::pair<size_t, V *>> fields) {
  for (auto [offset, value] : fields)
    b.CreateStore(value, b.CreateConstGEP1_64(b.getInt8Ty(), memory, offset));
}

V *tensorsOf(OrchestrationEmitter &e, ir::FuncOp kernel, ValueRange args,
             const ParameterOrder &order) {
  Builder &b = e.b;
  llvm::BitVector marked = markedParameters(kernel);
  V *memory = e.slot(b.getInt64Ty(), std::max<size_t>(order.tensors.size(), 1));
  for (auto [number, position] : llvm::enumerate(order.tensors)) {
    size_t at = number * sizeof(kiln_launch_tensor);
    auto direction = static_cast<uint16_t>(*kernel.getArgDirection(position));
    fill(b, memory,
         {{at + offsetof(kiln_launch_tensor, tensor), e.scalar(args[position])},
          {at + offsetof(kiln_launch_tensor, direction), b.getInt16(direction)},
          {at + offsetof(kiln_launch_tensor, is_marked), b.getInt16(marked[position])}});
  }
  return memory;
}

/// A register value as the 64 bits of a scalar slot.
V *toSlot(Builder &b, V *value, DType type) {
  if (isFloat(type)) {
    V *bits = b.CreateBitCast(encode(b, value, type), b.getIntNTy(8 * sizeOf(type)));
    return b.CreateZExt(bits, b.getInt64Ty());
  }
  return b.CreateIntCast(value, b.getInt64Ty(), /*isSigned=*/type != DType::I1);
}

V *scalarsOf(OrchestrationEmitter &e, ir::FuncOp kernel, ValueRange args,
             const ParameterOrder &order) {
  Builder &b = e.b;
  V *memory = e.slot(b.getInt64Ty(), std::max<size_t>(2 * order.scalars.size(), 1));
  for (auto [number, position] : llvm::enumerate(order.scalars)) {
    DType type = elementTypeOf(kernel.getArgumentTypes()[position]);
    size_t at = number * sizeof(kiln_launch_scalar);
    fill(b, memory,
         {{at + offsetof(kiln_launch_scalar, bits), toSlot(b, e.scalar(args[position]), type)},
          {at + offsetof(kiln_launch_scalar, dtype), b.getInt32(static_cast<int32_t>(type))},
          {at + offsetof(kiln_launch_scalar, reserved), b.getInt32(0)}});
  }
  return memory;
}

V *predicateOf(OrchestrationEmitter &e, ir::SubmitOp op) {
  Builder &b = e.b;
  if (!op.getPredicate())
    return llvm::ConstantPointerNull::get(b.getPtrTy());
  using P = arith::CmpIPredicate;
  static const std::map<P, int32_t> table = {{P::eq, KILN_EQ},  {P::ne, KILN_NE},
                                             {P::slt, KILN_LT}, {P::sle, KILN_LE},
                                             {P::sgt, KILN_GT}, {P::sge, KILN_GE}};
  auto how = table.find(*op.getPredicateCmp());
  if (how == table.end()) { // the unsigned ones cannot be written as text
    e.unsupported(op, "a predicate compares signed integers");
    return llvm::ConstantPointerNull::get(b.getPtrTy());
  }
  V *memory = e.slot(b.getInt64Ty(), sizeof(kiln_launch_predicate) / 8);
  Values indices = e.indices(*op.getStaticPredicateIndices(), op.getPredicateIndices());
  fill(b, memory,
       {{offsetof(kiln_launch_predicate, indices), e.array(indices)},
        {offsetof(kiln_launch_predicate, constant), b.getInt64(*op.getPredicateConstant())},
        {offsetof(kiln_launch_predicate, tensor), e.scalar(op.getPredicate())},
        {offsetof(kiln_launch_predicate, compare), b.getInt32(how->second)}});
  return memory;
}

void submit(KernelEmitter &base, ir::SubmitOp op) {
  OrchestrationEmitter &e = of(base);
  Builder &b = e.b;
  auto kernel = op.getCallee()
                    ? SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(op, op.getCalleeAttr())
                    : ir::FuncOp();
  ParameterOrder order = kernel ? parameterOrder(kernel) : ParameterOrder();
  V *null = llvm::ConstantPointerNull::get(b.getPtrTy());
  Values deps, grid = e.indices(op.getStaticGrid(), op.getGrid());
  for (Value dep : op.getDeps())
    deps.push_back(e.scalar(dep));
  V *launch = e.slot(b.getInt64Ty(), sizeof(kiln_launch) / 8), *task = e.slot(b.getInt64Ty());
  fill(b, launch,
       {{offsetof(kiln_launch, kernel),
         b.getInt32(kernel ? e.kernelNumber(kernel.getSymName()) : -1)},
        {offsetof(kiln_launch, num_tensors), b.getInt32(order.tensors.size())},
        {offsetof(kiln_launch, num_scalars), b.getInt32(order.scalars.size())},
        {offsetof(kiln_launch, num_deps), b.getInt32(deps.size())},
        {offsetof(kiln_launch, tensors), kernel ? tensorsOf(e, kernel, op.getArgs(), order) : null},
        {offsetof(kiln_launch, scalars), kernel ? scalarsOf(e, kernel, op.getArgs(), order) : null},
        {offsetof(kiln_launch, deps), e.array(deps)},
        {offsetof(kiln_launch, predicate), predicateOf(e, op)},
        {offsetof(kiln_launch, grid), e.array(grid)},
        {offsetof(kiln_launch, grid_rank), b.getInt32(grid.size())},
        {offsetof(kiln_launch, sync_start), b.getInt32(op.getSyncStart())},
        {offsetof(kiln_launch, source), e.source(op)}});
  e.callChecked(offsetof(Functions, submit), {launch, task});
  e.setScalar(op.getTask(), b.CreateLoad(b.getInt64Ty(), task));
}

/// The ranks that a collective is for, as a constant.
V *groupOf(OrchestrationEmitter &e, ir::AlongAttr along) {
  Builder &b = e.b;
  Values extents;
  for (int64_t extent : along ? along.getExtents() : ArrayRef<int64_t>())
    extents.push_back(b.getInt64(ShapedType::isDynamic(extent) ? dynamicExtent : extent));
  V *group = e.slot(b.getInt64Ty(), sizeof(kiln_rank_group) / 8);
  fill(b, group,
       {{offsetof(kiln_rank_group, extents), e.array(extents)},
        {offsetof(kiln_rank_group, rank), b.getInt32(extents.size())},
        {offsetof(kiln_rank_group, axis), b.getInt32(along ? along.getAxis() : 0)}});
  return group;
}

template <typename Op> void rank(KernelEmitter &base, Op op) {
  OrchestrationEmitter &e = of(base);
  V *number = e.slot(e.b.getInt64Ty());
  e.callChecked(offsetof(Functions, rank),
                {e.source(op), groupOf(e, op.getAlongAttr()),
                 e.b.getInt32(std::is_same_v<Op, ir::RankCountOp>), number});
  e.setScalar(op.getResult(), e.b.CreateLoad(e.b.getInt64Ty(), number));
}

static_assert(int(ir::CollectiveKind::RankBarrier) == KILN_RANK_BARRIER &&
              int(ir::CollectiveKind::Send) == KILN_SEND &&
              int(tile::ReduceKind::Prod) == KILN_REDUCE_PROD);

void collect(KernelEmitter &base, Operation *op) {
  OrchestrationEmitter &e = of(base);
  Builder &b = e.b;
  ir::Collective asked = *ir::collectiveOf(op);
  Values deps;
  for (Value dep : asked.deps)
    deps.push_back(e.scalar(dep));
  auto handle = [&](Value tensor) -> V * {
    return tensor ? e.scalar(tensor) : b.getInt32(KILN_NO_TENSOR);
  };
  V *collective = e.slot(b.getInt64Ty(), sizeof(kiln_collective) / 8);
  V *task = e.slot(b.getInt64Ty());
  fill(b, collective,
       {{offsetof(kiln_collective, kind), b.getInt32(static_cast<int32_t>(asked.kind))},
        {offsetof(kiln_collective, how), b.getInt32(static_cast<int32_t>(asked.how))},
        {offsetof(kiln_collective, fixed_order), b.getInt32(asked.fixedOrder)},
        {offsetof(kiln_collective, source), handle(asked.source)},
        {offsetof(kiln_collective, target), handle(asked.target)},
        {offsetof(kiln_collective, num_deps), b.getInt32(deps.size())},
        {offsetof(kiln_collective, peer), asked.peer ? e.scalar(asked.peer) : b.getInt64(-1)},
        {offsetof(kiln_collective, deps), e.array(deps)},
        {offsetof(kiln_collective, group), groupOf(e, asked.along)},
        {offsetof(kiln_collective, source_loc), e.source(op)}});
  e.callChecked(offsetof(Functions, collect), {collective, task});
  e.setScalar(asked.task, b.CreateLoad(b.getInt64Ty(), task));
}

const OpTable &orchestrationTable() {
  static const OpTable table = [] {
    OpTable made;
    addControlOps(made);
    addScalarOps(made);
    made.add<ir::AllocOp, alloc>();
    made.add<ir::SliceOp, slice>();
    made.add<ir::TransposeOp, transpose>();
    made.add<ir::ReshapeOp, reshape>();
    made.add<ir::DimOp, dim>();
    made.add<ir::GetOp, get>();
    made.add<ir::DumpOp, dump>();
    made.add<ir::RequireOp, require>();
    made.add<ir::ScopeOp, scope>();
    made.add<ir::SubmitOp, submit>();
    made.add<ir::RankIdOp, rank<ir::RankIdOp>>();
    made.add<ir::RankCountOp, rank<ir::RankCountOp>>();
    made.add<ir::AllReduceOp, collect>();
    made.add<ir::AllGatherOp, collect>();
    made.add<ir::ReduceScatterOp, collect>();
    made.add<ir::BroadcastOp, collect>();
    made.add<ir::AllToAllOp, collect>();
    made.add<ir::SendOp, collect>();
    made.add<ir::RecvOp, collect>();
    made.add<ir::RankBarrierOp, collect>();
    return made;
  }();
  return table;
}

} // namespace

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// The type of kiln_orchestration_fn.
static llvm::FunctionType *entryType(llvm::LLVMContext &context) {
  auto *pointer = llvm::PointerType::getUnqual(context);
  return llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer}, false);
}

OrchestrationEmitter::OrchestrationEmitter(ir::FuncOp func, llvm::Module &module, StringRef symbol,
                                           DebugInfo *debug, ArrayRef<std::string> kernels,
                                           const MachineTraits &machine)
    : KernelEmitter(func, module, symbol, debug, entryType(module.getContext()),
                    orchestrationTable(), machine),
      Kernels(kernels) {}

void OrchestrationEmitter::emitBody() {
  ParameterOrder order = parameterOrder(Func);
  for (auto [number, position] : llvm::enumerate(order.tensors))
    setScalar(Func.getArgument(position), b.getInt32(number));
  for (auto [number, position] : llvm::enumerate(order.scalars)) {
    V *slot = b.CreateLoad(b.getInt64Ty(),
                           b.CreateConstGEP1_64(b.getInt64Ty(), Function->getArg(1), number));
    setScalar(Func.getArgument(position),
              fromSlot(b, slot, elementTypeOf(Func.getArgumentTypes()[position])));
  }
  emitBlock(Func.getBody().front());
}

void OrchestrationEmitter::emitBlock(Block &block) {
  bool makesTensors = llvm::any_of(block, [](Operation &op) {
    return isa<ir::AllocOp, ir::SliceOp, ir::TransposeOp, ir::ReshapeOp>(op);
  });
  if (!makesTensors || isa<ir::FuncOp>(block.getParentOp()))
    return KernelEmitter::emitBlock(block);
  V *top = callTable(offsetof(Functions, top), b.getInt32Ty(), {});
  KernelEmitter::emitBlock(block);
  callTable(offsetof(Functions, release), b.getVoidTy(), {top});
}

void OrchestrationEmitter::emitFailure(Operation *op, const Message &message) {
  V *text = (Message(op->getName().getStringRef().str() + ": ") << message).emit(b, Module);
  b.CreateRet(callTable(offsetof(Functions, fail), b.getInt32Ty(), {source(op), text}));
}

bool isLoweredInOrchestrations(OperationName name) {
  return orchestrationTable().lowering(name) != nullptr;
}

} // namespace kiln::llvmir
