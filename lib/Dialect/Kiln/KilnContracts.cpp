//===- KilnContracts.cpp - kiln.require: rules, and copies ------------------------===//
#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Dialect/Tile/TileDialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::ir {

//===----------------------------------------------------------------------===//
// What a condition may be made of
//===----------------------------------------------------------------------===//

static bool isGivenTo(Region &scope, Value value) {
  return !scope.isAncestor(value.getParentRegion());
}

static bool isInteger(Type type) { return isa<IndexType, IntegerType>(type); }

static unsigned widthOf(Type type) {
  return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
}

/// Why a condition may not depend on something that no operation makes; empty if it may.
static std::string reasonAgainst(BlockArgument argument, Region &scope) {
  if (argument.getOwner() != &scope.front())
    return "something that a loop or branch carries";
  return isInteger(argument.getType()) ? "" : "a scalar that is no integer";
}

static std::string reasonAgainst(arith::CmpIOp compare) {
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (predicate == P::eq || predicate == P::ne)
    return "";
  if (compare.getLhs().getType().isInteger(1))
    return "an order of truth values";
  bool isSigned = llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, predicate);
  return isSigned ? "" : "an unsigned comparison; use the signed one";
}

/// The same for what an operation makes.
static std::string reasonAgainst(Operation *op, Region &scope) {
  auto widens = [](Operation *cast) {
    Type from = cast->getOperand(0).getType(), to = cast->getResult(0).getType();
    return from.isInteger(1) || widthOf(to) < widthOf(from)
               ? std::string("a cast that does not keep the value")
               : "";
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](arith::ConstantOp constant) {
        return isInteger(constant.getType()) ? "" : "a constant that is no integer";
      })
      .Case([&](DimOp dim) {
        bool isParameter = isa<BlockArgument>(dim.getTensor()) || isGivenTo(scope, dim.getTensor());
        return isParameter ? "" : "the extent of a tensor that is no parameter";
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp, arith::RemSIOp, arith::MinSIOp, arith::MaxSIOp>(
          [](auto made) { return made.getType().isInteger(1) ? "arithmetic on truth values" : ""; })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([](auto) { return ""; })
      .Case([](arith::CmpIOp compare) { return reasonAgainst(compare); })
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto cast) { return widens(cast); })
      .Case<GetOp, ReadOp>([](auto) { return "what memory holds"; })
      .Case<tile::BlockIdxOp, tile::BlockCountOp, tile::LaneOp>(
          [](auto) { return "which block or lane runs"; })
      .Case<scf::ForOp, scf::WhileOp, scf::IfOp>([](auto) { return "what a loop or branch made"; })
      .Default([](Operation *other) {
        return "the result of '" + other->getName().getStringRef().str() + "'";
      });
}

std::optional<ConditionObstacle> findObstacle(Value condition, Region &scope) {
  SmallVector<Value> work{condition};
  llvm::SmallDenseSet<Value> seen{condition};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    std::string reason;
    if (isGivenTo(scope, value))
      reason = isInteger(value.getType()) ? "" : "a scalar that is no integer";
    else if (auto argument = dyn_cast<BlockArgument>(value))
      reason = reasonAgainst(argument, scope);
    else
      reason = reasonAgainst(value.getDefiningOp(), scope);
    if (!reason.empty())
      return ConditionObstacle{value, reason};
    Operation *op = isGivenTo(scope, value) ? nullptr : value.getDefiningOp();
    if (!op || isa<DimOp>(op))
      continue;
    for (Value operand : llvm::reverse(op->getOperands()))
      if (seen.insert(operand).second)
        work.push_back(operand);
  }
  return std::nullopt;
}

LogicalResult RequireOp::verify() {
  Operation *parent = (*this)->getParentOp();
  auto func = dyn_cast_or_null<FuncOp>(parent);
  if (!func && !isa_and_nonnull<IncoreOp>(parent))
    return emitOpError("stands in '")
           << (parent ? parent->getName().getStringRef() : "nothing")
           << "'; what is required is checked before anything runs, so it stands in the outermost "
              "block of an orchestration, kernel or group";
  if (func && func.hasPipeParameter())
    return emitOpError(
        "stands in a role, which runs as a part of its group; write it into the group");
  if (getMessage().empty())
    return emitOpError("needs a message for whoever calls the function otherwise");
  std::optional<ConditionObstacle> obstacle =
      findObstacle(getCondition(), *(*this)->getParentRegion());
  if (!obstacle)
    return success();
  InFlightDiagnostic diag = emitOpError("depends on ")
                            << obstacle->why
                            << "; what is required is checked before anything runs, and depends on "
                               "extents and integers that the function is given only";
  if (obstacle->value.getLoc() != getLoc())
    diag.attachNote(obstacle->value.getLoc()) << "this";
  return diag;
}

LogicalResult RequireOp::canonicalize(RequireOp require, PatternRewriter &rewriter) {
  if (!matchPattern(require.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(require);
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

SmallVector<Operation *> conditionOps(RequireOp require) {
  Region &scope = *require->getParentRegion();
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 8> seen;
  // Each operation is met before its operands, and again after them.
  SmallVector<std::pair<Operation *, bool>> work;
  auto meet = [&](Value value) {
    if (Operation *op = isGivenTo(scope, value) ? nullptr : value.getDefiningOp())
      work.emplace_back(op, false);
  };
  meet(require.getCondition());
  while (!work.empty()) {
    auto [op, isComplete] = work.pop_back_val();
    if (isComplete) {
      ops.push_back(op);
    } else if (seen.insert(op).second) {
      work.emplace_back(op, true);
      for (Value operand : llvm::reverse(op->getOperands()))
        meet(operand);
    }
  }
  return ops;
}

/// Whether two requirements of one function say the same, in the same way.
static bool areSame(RequireOp a, RequireOp b) {
  SmallVector<Operation *> ops = conditionOps(a), others = conditionOps(b);
  llvm::SmallDenseMap<Value, Value> equal;
  auto isEqual = [&](Value one, Value other) {
    auto known = equal.find(one);
    return known == equal.end() ? one == other : known->second == other;
  };
  if (a.getMessage() != b.getMessage() || ops.size() != others.size())
    return false;
  for (auto [op, other] : llvm::zip(ops, others)) {
    bool isSame = op->getName() == other->getName() &&
                  op->getAttrDictionary() == other->getAttrDictionary() &&
                  op->getResultTypes() == other->getResultTypes() &&
                  llvm::equal(op->getOperands(), other->getOperands(), isEqual);
    if (!isSame)
      return false;
    equal[op->getResult(0)] = other->getResult(0);
  }
  return isEqual(a.getCondition(), b.getCondition());
}

void copyRequire(OpBuilder &builder, RequireOp require, IRMapping values) {
  SmallVector<Operation *> copied;
  llvm::SmallDenseSet<Value> known;
  auto isKnown = [&](Value value) { return values.contains(value) || known.contains(value); };
  for (Operation *op : conditionOps(require))
    if (!isKnown(op->getResult(0)) && llvm::all_of(op->getOperands(), isKnown)) {
      known.insert(op->getResult(0));
      copied.push_back(op);
    }
  if (!isKnown(require.getCondition()))
    return;
  SmallVector<Operation *> copies;
  for (Operation *op : copied)
    copies.push_back(builder.clone(*op, values));
  auto copy = cast<RequireOp>(builder.clone(*require, values));
  copies.push_back(copy);
  bool isKnownHere =
      llvm::any_of(copy->getParentRegion()->getOps<RequireOp>(),
                   [&](RequireOp known) { return known != copy && areSame(known, copy); });
  if (isKnownHere)
    for (Operation *op : llvm::reverse(copies))
      op->erase();
}

void copyRequirements(FuncOp from, FuncOp to) {
  IRMapping values;
  for (auto [given, equal] : llvm::zip(from.getArguments(), to.getArguments()))
    values.map(given, equal);
  OpBuilder builder(&to.getBody().front(), to.getBody().front().begin());
  for (RequireOp require : requirementsIn(from))
    copyRequire(builder, require, values);
}

} // namespace kiln::ir
