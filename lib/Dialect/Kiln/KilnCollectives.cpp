//===- KilnCollectives.cpp - what ranks do together ----------------===//
#include "kiln/Dialect/Kiln/Collective.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::ir {

//===----------------------------------------------------------------------===//
// One form of all
//===----------------------------------------------------------------------===//

template <typename Op> static Collective describe(Op op, CollectiveKind kind) {
  Collective made{.op = op,
                  .kind = kind,
                  .along = op.getAlongAttr(),
                  .deps = op.getDeps(),
                  .task = op.getTask()};
  if constexpr (requires { op.getSource(); })
    made.source = op.getSource();
  if constexpr (requires { op.getTarget(); })
    made.target = op.getTarget();
  if constexpr (requires { op.getPeer(); })
    made.peer = op.getPeer();
  if constexpr (requires { op.getRoot(); })
    made.peer = op.getRoot();
  if constexpr (requires { op.getHow(); })
    made.how = op.getHow();
  if constexpr (requires { op.getFixedOrder(); })
    made.fixedOrder = op.getFixedOrder();
  return made;
}

std::optional<Collective> collectiveOf(Operation *op) {
  using K = CollectiveKind;
  return llvm::TypeSwitch<Operation *, std::optional<Collective>>(op)
      .Case<AllReduceOp>([](auto op) { return describe(op, K::AllReduce); })
      .Case<AllGatherOp>([](auto op) { return describe(op, K::AllGather); })
      .Case<ReduceScatterOp>([](auto op) { return describe(op, K::ReduceScatter); })
      .Case<BroadcastOp>([](auto op) { return describe(op, K::Broadcast); })
      .Case<AllToAllOp>([](auto op) { return describe(op, K::AllToAll); })
      .Case<SendOp>([](auto op) { return describe(op, K::Send); })
      .Case<RecvOp>([](auto op) { return describe(op, K::Recv); })
      .Case<RankBarrierOp>([](auto op) { return describe(op, K::RankBarrier); })
      .Default([](Operation *) { return std::nullopt; });
}

Operation *findRanks(Operation *root) {
  Operation *found = nullptr;
  root->walk([&](Operation *op) {
    if (!isa<RankIdOp, RankCountOp>(op) && !collectiveOf(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// What two tensors of one collective have in common; along the first axis the larger one is a
/// whole number of times the smaller.
static LogicalResult verifyPair(Operation *op, TensorType small, TensorType large) {
  if (small.getElementType() != large.getElementType() || small.getRank() != large.getRank())
    return op->emitOpError("has tensors of different element types or ranks: ")
           << small << " and " << large;
  for (int64_t axis = 1; axis < small.getRank(); ++axis)
    if (!small.isDynamicDim(axis) && !large.isDynamicDim(axis) &&
        small.getShape()[axis] != large.getShape()[axis])
      return op->emitOpError("joins parts along the first axis, but axis ")
             << axis << " of " << small << " and " << large << " differs";
  if (!small.isDynamicDim(0) && !large.isDynamicDim(0) &&
      (small.getShape()[0] == 0 ? large.getShape()[0] != 0
                                : large.getShape()[0] % small.getShape()[0] != 0))
    return op->emitOpError("has a part of ")
           << small.getShape()[0] << " rows for each rank, of which " << large.getShape()[0]
           << " is no multiple";
  return success();
}

static LogicalResult verifyReduction(const Collective &of) {
  Type element = cast<TensorType>(of.target.getType()).getElementType();
  using R = tile::ReduceKind;
  if (of.how > R::Prod)
    return of.op->emitOpError("combines by sum, max, min or prod, not by ")
           << tile::stringifyReduceKind(of.how);
  if (element.isInteger(1) && (of.how == R::Sum || of.how == R::Prod))
    return of.op->emitOpError("of i1 combines by max or min, not by ")
           << tile::stringifyReduceKind(of.how);
  return success();
}

static LogicalResult verifyCollective(Operation *op) {
  Collective of = *collectiveOf(op);
  if (of.reduces() && failed(verifyReduction(of)))
    return failure();
  if (std::optional<int64_t> peer = of.peer ? getConstantIntValue(of.peer) : std::nullopt;
      peer && *peer < 0)
    return op->emitOpError("names rank ") << *peer << "; ranks count from 0";
  if (!of.source || !of.target)
    return success();
  if (of.source == of.target)
    return op->emitOpError("reads and writes the same tensor; its source and its target are two");
  auto source = cast<TensorType>(of.source.getType()),
       target = cast<TensorType>(of.target.getType());
  switch (of.kind) {
  case CollectiveKind::AllGather:
    return verifyPair(op, source, target);
  case CollectiveKind::ReduceScatter:
    return verifyPair(op, target, source);
  default: // all_to_all: both hold a part for each rank
    if (failed(verifyPair(op, source, target)))
      return failure();
    if (!source.isDynamicDim(0) && !target.isDynamicDim(0) &&
        source.getShape()[0] != target.getShape()[0])
      return op->emitOpError("has a source of ")
             << source.getShape()[0] << " rows and a target of " << target.getShape()[0]
             << "; both hold one part for each rank";
    return success();
  }
}

LogicalResult AllReduceOp::verify() { return verifyCollective(*this); }
LogicalResult AllGatherOp::verify() { return verifyCollective(*this); }
LogicalResult ReduceScatterOp::verify() { return verifyCollective(*this); }
LogicalResult BroadcastOp::verify() { return verifyCollective(*this); }
LogicalResult AllToAllOp::verify() { return verifyCollective(*this); }
LogicalResult SendOp::verify() { return verifyCollective(*this); }
LogicalResult RecvOp::verify() { return verifyCollective(*this); }
LogicalResult RankBarrierOp::verify() { return verifyCollective(*this); }

} // namespace kiln::ir
