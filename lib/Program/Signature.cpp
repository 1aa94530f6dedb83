#include "kiln/Program/Signature.h"

#include "BlockBox.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/Requirements.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kiln {

std::optional<DType> dtypeOf(Type type) {
  if (isa<IndexType>(type))
    return DType::Index;
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (type.isSignlessInteger(1))
    return DType::I1;
  if (type.isSignlessInteger(8))
    return DType::I8;
  if (type.isSignlessInteger(16))
    return DType::I16;
  if (type.isSignlessInteger(32))
    return DType::I32;
  if (type.isSignlessInteger(64))
    return DType::I64;
  return std::nullopt;
}

ParameterOrder parameterOrder(ir::FuncOp func) {
  ParameterOrder order;
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    if (isa<ir::TensorType>(type))
      order.tensors.push_back(index);
    else if (!isa<tile::PipeType>(type))
      order.scalars.push_back(index);
  }
  return order;
}

std::vector<std::string> parameterNames(ir::FuncOp func) {
  std::vector<std::string> names;
  llvm::StringSet<> used;
  for (unsigned index = 0; index < func.getNumArguments(); ++index) {
    std::string base = func.getArgName(index).str();
    if (base.empty())
      base = "arg" + std::to_string(index);
    std::string name = base;
    for (unsigned suffix = 1; !used.insert(name).second; ++suffix)
      name = base + "_" + std::to_string(suffix);
    names.push_back(name);
  }
  return names;
}

llvm::BitVector markedParameters(ir::FuncOp kernel) {
  llvm::BitVector marked(kernel.getNumArguments());
  auto mark = [&](Value tensor) {
    if (auto parameter = dyn_cast<BlockArgument>(ir::rootOf(tensor)))
      marked.set(parameter.getArgNumber());
  };
  kernel.walk([&](ir::DumpOp dump) { mark(dump.getTensor()); });
  kernel.walk([&](ir::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(call, call.getCalleeAttr());
    llvm::BitVector ofCallee = markedParameters(callee); // set_bits() does not keep it alive
    for (unsigned number : ofCallee.set_bits())
      mark(call.getArgs()[number]);
  });
  return marked;
}

std::string coreTypeOf(ir::FuncOp func) {
  switch (func.getKind()) {
  case ir::FuncKind::Role:
    return func.getRole()->str();
  case ir::FuncKind::Group:
    return "mix";
  case ir::FuncKind::Incore:
    return "incore";
  case ir::FuncKind::Orchestration:
    return "orchestration";
  }
  return "";
}

/// The functions that launch or call `func`, each with what it passes.
static SmallVector<std::pair<Operation *, ValueRange>> launchesOf(ir::FuncOp func) {
  SmallVector<std::pair<Operation *, ValueRange>> launches;
  auto module = func->getParentOfType<ModuleOp>();
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<ir::CallOp>(op); call && call.getCallee() == func.getSymName())
      launches.emplace_back(op, call.getArgs());
    if (auto submit = dyn_cast<ir::SubmitOp>(op); submit && submit.getCallee() == func.getSymName())
      launches.emplace_back(op, submit.getArgs());
  });
  return launches;
}

/// Whether something writes a tensor that stands in `func` as a parameter or an alloc: the function
/// itself or what it launches, or whoever passed it.
static bool isWritten(Value root) {
  if (auto parameter = dyn_cast<BlockArgument>(root)) {
    auto func = cast<ir::FuncOp>(parameter.getOwner()->getParentOp());
    unsigned number = parameter.getArgNumber();
    return func.getArgDirection(number) != ir::Direction::In ||
           llvm::any_of(launchesOf(func),
                        [&](auto launch) { return isWritten(ir::rootOf(launch.second[number])); });
  }
  SmallVector<Value> views{root};
  while (!views.empty()) {
    for (OpOperand &use : views.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      FlatSymbolRefAttr name;
      if (auto submit = dyn_cast<ir::SubmitOp>(user))
        name = submit.getCalleeAttr();
      else if (auto call = dyn_cast<ir::CallOp>(user))
        name = call.getCalleeAttr();
      else if (isa<ir::SliceOp, ir::TransposeOp, ir::ReshapeOp>(user))
        views.push_back(user->getResult(0));
      unsigned number = use.getOperandNumber(); // arguments come first
      auto callee =
          name ? SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(user, name) : ir::FuncOp();
      if (callee && number < callee.getNumArguments() &&
          callee.getArgDirection(number) != ir::Direction::In)
        return true;
    }
  }
  return false;
}

Expected<Signature> signatureOf(ir::FuncOp func) {
  Signature signature;
  signature.name = func.getSymName().str();
  signature.coreType = coreTypeOf(func);
  std::vector<std::string> names = parameterNames(func);
  ParameterOrder order = parameterOrder(func);
  for (unsigned index : order.tensors) {
    auto type = cast<ir::TensorType>(func.getArgumentTypes()[index]);
    std::optional<ir::Direction> direction = func.getArgDirection(index);
    if (!direction)
      return Status(StatusCode::FailedPrecondition,
                    "parameter '" + names[index] + "' of @" + signature.name +
                        " has no direction yet; run kiln-infer-directions first");
    TensorParam param;
    param.name = names[index];
    param.dtype = *dtypeOf(type.getElementType());
    param.direction = static_cast<Direction>(*direction);
    for (int64_t extent : type.getShape())
      param.extents.push_back(ShapedType::isDynamic(extent) ? dynamicExtent : extent);
    param.isConst = !isWritten(func.getArgument(index));
    param.internal = ir::isInternal(func, index);
    if (!param.internal && func.getKind() != ir::FuncKind::Orchestration)
      param.box = blockBoxOf(func, index, order.scalars);
    signature.tensors.push_back(std::move(param));
  }
  for (unsigned index : order.scalars)
    signature.scalars.push_back({names[index], *dtypeOf(func.getArgumentTypes()[index])});
  Expected<std::vector<Requirement>> requirements = requirementsOf(func, order);
  if (!requirements)
    return requirements.status();
  signature.requirements = std::move(*requirements);
  if (Status status = signature.verify(); !status.isOk())
    return status.withLocation(sourceLocOf(func.getLoc()));
  return signature;
}

std::string pipeName(tile::PipeOp pipe) {
  StringRef role = pipe.getPipe().getType().getTo();
  size_t before = 0, all = 0;
  for (auto other : pipe->getBlock()->getOps<tile::PipeOp>()) {
    if (other.getPipe().getType().getTo() != role)
      continue;
    if (other == pipe)
      before = all;
    ++all;
  }
  return "to_" + role.str() + (all > 1 ? "_" + std::to_string(before) : "");
}

Expected<ir::FuncOp> findEntry(ModuleOp module, StringRef name,
                               SmallVectorImpl<ir::FuncOp> *candidates) {
  SmallVector<ir::FuncOp> found;
  if (!name.empty()) {
    auto func = module.lookupSymbol<ir::FuncOp>(name);
    if (!func)
      return Status(StatusCode::NotFound, "there is no function @" + name.str() + " to start with");
    if (func.hasPipeParameter())
      return Status(StatusCode::InvalidArgument,
                    "@" + name.str() +
                        " has a pipe parameter and cannot be the entry; "
                        "start with the group that makes the pipe");
    found.push_back(func);
  }
  llvm::StringSet<> used;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<ir::CallOp>(op))
      used.insert(call.getCallee());
    else if (auto submit = dyn_cast<ir::SubmitOp>(op); submit && submit.getCallee())
      used.insert(*submit.getCallee());
  });
  using Kind = ir::FuncKind;
  for (Kind kind : {Kind::Orchestration, Kind::Group, Kind::Incore, Kind::Role}) {
    if (!found.empty())
      break;
    for (auto func : module.getOps<ir::FuncOp>())
      if (func.getKind() == kind && !used.contains(func.getSymName()) && !func.hasPipeParameter())
        found.push_back(func);
  }
  if (found.empty())
    return Status(StatusCode::NotFound, "the program has no function to start with");
  if (candidates)
    *candidates = found;
  return found.front();
}

SourceLoc sourceLocOf(Location loc) {
  SourceLoc result;
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      result = {file.getFilename().str(), int32_t(file.getLine()), int32_t(file.getColumn())};
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return result;
}

} // namespace kiln
