//===- KilnCalls.cpp - kiln.call, kiln.submit: rules between functions ------------===//
#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Dialect/Kiln/Members.h"
#include "kiln/Machine/Machine.h"

using namespace mlir;

namespace kiln::ir {

static LogicalResult verifyArguments(Operation *op, FuncOp callee, ValueRange args) {
  if (args.size() != callee.getNumArguments())
    return op->emitOpError("passes ") << args.size() << " arguments to @" << callee.getSymName()
                                      << ", which takes " << callee.getNumArguments();
  for (auto [index, arg] : llvm::enumerate(args)) {
    Type have = arg.getType(), want = callee.getArgumentTypes()[index];
    auto tensor = dyn_cast<TensorType>(have);
    auto wanted = dyn_cast<TensorType>(want);
    if (have != want && !(tensor && wanted && tensor.canPassAs(wanted)))
      return op->emitOpError("argument ")
             << index << " of @" << callee.getSymName() << " is " << have << ", expected " << want;
  }
  return success();
}

static FuncOp lookupCallee(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(op, name);
  if (!callee)
    op->emitOpError("there is no function ") << name;
  return callee;
}

Operation *findBarrier(FuncOp func) {
  SmallVector<FuncOp> work{func};
  llvm::SmallPtrSet<Operation *, 8> seen{func}; // recursion may not have been rejected yet
  while (!work.empty()) {
    Operation *found = nullptr;
    work.pop_back_val().walk([&](Operation *op) {
      if (isa<tile::BarrierOp>(op))
        found = op;
      else if (auto call = dyn_cast<CallOp>(op))
        if (auto callee = SymbolTable::lookupNearestSymbolFrom<FuncOp>(op, call.getCalleeAttr());
            callee && seen.insert(callee).second)
          work.push_back(callee);
    });
    if (found)
      return found;
  }
  return nullptr;
}

/// That the launch around `op`, or `op` itself, starts all blocks at once if `op` makes them meet.
static LogicalResult verifySyncStart(Operation *op, bool isSyncStart, FuncOp callee) {
  Operation *barrier = isSyncStart ? nullptr : findBarrier(callee);
  if (!barrier)
    return success();
  InFlightDiagnostic diag = op->emitOpError(isa<SubmitOp>(op) ? "launches @" : "calls @")
                            << callee.getSymName()
                            << ", which contains a barrier; all its blocks must run at once, so "
                               "the launch needs sync_start";
  diag.attachNote(barrier->getLoc()) << "the barrier";
  return diag;
}

LogicalResult SubmitOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getCallee())
    return success();
  FuncOp callee = lookupCallee(*this, getCalleeAttr(), symbols);
  if (!callee)
    return failure();
  if (callee.getKind() == FuncKind::Orchestration)
    return emitOpError("launches the orchestration @")
           << callee.getSymName() << "; call it instead";
  if (callee.getNumResults() > 0)
    return emitOpError("launches @") << callee.getSymName()
                                     << ", which returns tensors; a launch has no use for results, "
                                        "so make them parameters";
  if (callee.hasPipeParameter())
    return emitOpError("launches @")
           << callee.getSymName()
           << ", which has a pipe parameter; launch the group that makes the pipe";
  if (failed(verifySyncStart(*this, getSyncStart(), callee)))
    return failure();
  return verifyArguments(*this, callee, getArgs());
}

/// That a function which is part of another when it runs requires nothing of its own: nobody would
/// check it before.
static LogicalResult verifyRequiresNothing(CallOp call, FuncOp callee, StringRef whole) {
  for (RequireOp require : requirementsIn(callee)) {
    InFlightDiagnostic diag =
        call.emitOpError("calls @")
        << callee.getSymName()
        << ", which requires something of its arguments; it runs as a part of " << whole
        << ", so write the requirement there";
    diag.attachNote(require.getLoc()) << "required here";
    return diag;
  }
  return success();
}

/// A group's member: pipe types agree with the lanes of the group.
static LogicalResult verifyMember(CallOp call, FuncOp group, FuncOp member) {
  if (member.getKind() != FuncKind::Role)
    return call.emitOpError("calls @")
           << member.getSymName() << ", which is no role function; a group calls roles";
  for (CallOp other : group.getBody().getOps<CallOp>()) {
    if (other == call)
      break;
    auto otherMember = SymbolTable::lookupNearestSymbolFrom<FuncOp>(group, other.getCalleeAttr());
    if (otherMember && otherMember.getRole() == member.getRole())
      return call.emitOpError("calls a second function of role ")
             << *member.getRole() << "; a group has one per role";
  }
  if (failed(verifyRequiresNothing(call, member, "the group")))
    return failure();
  int64_t most = findRole(*member.getRole())->maxLanes;
  int64_t lanes = most > 1 ? group.getNumLanes() : 1;
  if (lanes > most)
    return call.emitOpError("runs ")
           << lanes << " lanes of role " << *member.getRole() << ", which has at most " << most;
  WalkResult result = member.walk([&](Operation *op) -> WalkResult {
    Value pipe;
    TypeRange tiles;
    if (auto push = dyn_cast<tile::PushOp>(op))
      pipe = push.getPipe(), tiles = push.getTiles().getTypes();
    else if (auto pop = dyn_cast<tile::PopOp>(op))
      pipe = pop.getPipe(), tiles = pop.getTiles().getTypes();
    else
      return WalkResult::advance();
    auto type = cast<tile::PipeType>(pipe.getType());
    for (auto [full, tile] : llvm::zip_equal(type.getPayload(), tiles)) {
      tile::TileType share = tile::laneShare(full, type.getSplit(), lanes);
      auto have = cast<tile::TileType>(tile);
      if (share.getRows() != have.getRows() || share.getCols() != have.getCols()) {
        InFlightDiagnostic diag = op->emitOpError("handles ")
                                  << have << ", but with " << lanes << " lanes and split "
                                  << tile::stringifySplit(type.getSplit()) << " each lane has "
                                  << share;
        diag.attachNote(call.getLoc()) << "called here by group @" << group.getSymName();
        return diag;
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FuncOp callee = lookupCallee(*this, getCalleeAttr(), symbols);
  if (!callee)
    return failure();
  auto caller = (*this)->getParentOfType<FuncOp>();
  if (!caller)
    return emitOpError("stands outside a kiln.func");
  if (failed(verifyArguments(*this, callee, getArgs())))
    return failure();
  if (TypeRange(getResultTypes()) != TypeRange(callee.getResultTypes()))
    return emitOpError("expects other results than @") << callee.getSymName() << " returns";
  if (caller.getKind() == FuncKind::Group)
    return verifyMember(*this, caller, callee);
  bool isInKernel = caller.isKernel() || (*this)->getParentOfType<IncoreOp>();
  if (caller.getKind() == FuncKind::Role)
    return emitOpError("cannot stand in a role function; a role calls no other function");
  FuncKind expected = isInKernel ? FuncKind::Incore : FuncKind::Orchestration;
  if (callee.getKind() != expected)
    return emitOpError("calls @")
           << callee.getSymName() << ", which is of kind " << stringifyFuncKind(callee.getKind())
           << "; here only " << stringifyFuncKind(expected)
           << " functions can be called (kernels and groups are launched with kiln.submit)";
  if (isInKernel && failed(verifyRequiresNothing(*this, callee, "the kernel that is launched")))
    return failure();
  if (auto incore = (*this)->getParentOfType<IncoreOp>())
    return verifySyncStart(*this, incore.getSyncStart(), callee);
  return success();
}

/// The functions that `func` calls or launches, each with the op that does.
static SmallVector<std::pair<Operation *, FuncOp>> calleesOf(FuncOp func,
                                                             SymbolTableCollection &symbols) {
  SmallVector<std::pair<Operation *, FuncOp>> callees;
  func.walk([&](Operation *op) {
    FlatSymbolRefAttr name;
    if (auto call = dyn_cast<CallOp>(op))
      name = call.getCalleeAttr();
    else if (auto submit = dyn_cast<SubmitOp>(op))
      name = submit.getCalleeAttr();
    if (!name)
      return;
    if (auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(op, name))
      callees.emplace_back(op, callee);
  });
  return callees;
}

/// Recursion is rejected: a depth-first walk of the whole call graph, done once for the module, by
/// its first function.
LogicalResult FuncOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto functions = (*this)->getParentRegion()->getOps<FuncOp>();
  if (*functions.begin() != *this)
    return success();
  struct Frame {
    FuncOp func;
    SmallVector<std::pair<Operation *, FuncOp>> callees;
  };
  llvm::SmallPtrSet<Operation *, 16> visited, open;
  for (FuncOp root : functions) {
    SmallVector<Frame> stack;
    auto enter = [&](FuncOp func) {
      visited.insert(func);
      open.insert(func);
      auto callees = calleesOf(func, symbols);
      std::reverse(callees.begin(), callees.end());
      stack.push_back({func, std::move(callees)});
    };
    if (!visited.contains(root))
      enter(root);
    while (!stack.empty()) {
      if (stack.back().callees.empty()) {
        open.erase(stack.pop_back_val().func);
        continue;
      }
      auto [op, callee] = stack.back().callees.pop_back_val();
      if (open.contains(callee))
        return op->emitOpError("leads back to @")
               << callee.getSymName() << "; recursion is not allowed";
      if (!visited.contains(callee))
        enter(callee);
    }
  }
  return success();
}

} // namespace kiln::ir
