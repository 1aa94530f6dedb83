#include "kiln/Analysis/RankProof.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Program/IndexForm.h"
#include "kiln/Program/Signature.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

using namespace mlir;

namespace kiln {
namespace {

/// What makes a value differ from rank to rank.
struct Difference {
  enum Kind { None, ByRank, ByData };
  Kind kind = None;
  Operation *from = nullptr; ///< The kiln.rank, or what reads data.
};

Difference worse(Difference a, Difference b) { return a.kind >= b.kind ? a : b; }

/// A sum of values modulo the number of ranks. The rank itself is the value null.
using Residue = std::map<void *, int64_t>;

class Proof {
public:
  explicit Proof(ir::FuncOp entry) : Entry(entry), Module(entry->getParentOfType<ModuleOp>()) {}

  RankProof run() {
    walk(Entry.getBody().front(), {});
    matchMessages();
    return std::move(Result);
  }

private:
  /// Whether a value is the same on all ranks.
  Difference of(Value value);
  Difference ofCarried(Value value, ValueRange inits, ValueRange yields, unsigned number);
  Difference ofBranch(scf::IfOp branch, unsigned number);
  /// The same of the extents of a tensor.
  Difference ofExtents(Value tensor);
  void walk(Block &block, Difference control);
  void check(const ir::Collective &what, Difference control);
  void matchMessages();
  bool belongTogether(const ir::Collective &send, const ir::Collective &recv);
  /// Whether what is sent and what is received into, on the same rank, share no memory when there
  /// are two ranks or more.
  bool areApart(Value sent, Value received);
  /// Whether two tensors have the same extents.
  bool haveSameExtents(Value a, Value b);
  bool isParameter(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &Entry.getBody().front();
  }
  std::optional<Residue> residueOf(Value value);
  /// The dividend, if a value is something modulo the number of ranks.
  Value dividendOf(Value value, ir::AlongAttr along);
  void doubt(Location loc, const std::string &text) { Result.reasons.push_back({loc, text}); }

  ir::FuncOp Entry;
  ModuleOp Module;
  RankProof Result;
  llvm::DenseMap<Value, Difference> Known;
  struct Message {
    ir::Collective what;
    bool isMatched = false;
  };
  std::vector<Message> Messages;
};

//===----------------------------------------------------------------------===//
// What is the same on all ranks
//===----------------------------------------------------------------------===//

Difference Proof::ofCarried(Value value, ValueRange inits, ValueRange yields, unsigned number) {
  Known[value] = {}; // it is, as long as nothing shows otherwise
  Difference found = worse(of(inits[number]), of(yields[number]));
  return Known[value] = found;
}

Difference Proof::ofBranch(scf::IfOp branch, unsigned number) {
  Difference found = of(branch.getCondition());
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty())
      found = worse(found, of(region->front().getTerminator()->getOperand(number)));
  return found;
}

Difference Proof::of(Value value) {
  if (auto known = Known.find(value); known != Known.end())
    return known->second;
  if (isa<ir::TensorType>(value.getType()))
    return ofExtents(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return Known[value] =
                 isa<ir::FuncOp>(parent) ? Difference() : Difference{Difference::ByData, parent};
    if (argument == loop.getInductionVar())
      return Known[value] = worse(of(loop.getLowerBound()),
                                  worse(of(loop.getUpperBound()), of(loop.getStep())));
    return ofCarried(value, loop.getInits(), loop.getYieldedValues(), argument.getArgNumber() - 1);
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (isa<ir::RankIdOp>(op))
    return Known[value] = {Difference::ByRank, op};
  if (isa<ir::RankCountOp>(op))
    return Known[value] = {};
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return Known[value] = ofBranch(branch, number);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return Known[value] = worse(of(loop.getRegionIterArgs()[number]), of(loop.getUpperBound()));
  if (auto dim = dyn_cast<ir::DimOp>(op))
    return Known[value] = ofExtents(dim.getTensor());
  if (isa<arith::ArithDialect>(op->getDialect())) {
    Difference found;
    for (Value operand : op->getOperands())
      found = worse(found, of(operand));
    return Known[value] = found;
  }
  return Known[value] = {Difference::ByData, op}; // kiln.get, scf.while and what nobody knows
}

Difference Proof::ofExtents(Value tensor) {
  if (auto known = Known.find(tensor); known != Known.end())
    return known->second;
  Operation *op = tensor.getDefiningOp();
  Difference found;
  auto sizes = [&](ValueRange values) {
    for (Value size : values)
      found = worse(found, of(size));
  };
  if (auto alloc = dyn_cast_if_present<ir::AllocOp>(op))
    sizes(alloc.getSizes());
  else if (auto slice = dyn_cast_if_present<ir::SliceOp>(op))
    sizes(slice.getSizes());
  else if (auto reshape = dyn_cast_if_present<ir::ReshapeOp>(op))
    sizes(reshape.getSizes());
  else if (auto transpose = dyn_cast_if_present<ir::TransposeOp>(op))
    found = ofExtents(transpose.getTensor());
  else if (op)
    found = {Difference::ByData, op};
  return Known[tensor] = found;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

std::string nameOf(Operation *op) { return op->getName().getStringRef().str(); }

/// "depends on the rank (line 12)", and what to do.
std::string describe(Difference difference) {
  std::string where;
  if (SourceLoc loc = sourceLocOf(difference.from->getLoc()); loc.isKnown())
    where = " (" + loc.str() + ")";
  return difference.kind == Difference::ByRank
             ? "depends on which rank it is" + where
             : "depends on data" + where + ", which nothing shows to be the same on all ranks";
}

void Proof::check(const ir::Collective &what, Difference control) {
  ++(what.isBetweenTwo() ? Result.messages : Result.collectives);
  if (control.kind != Difference::None)
    doubt(what.op->getLoc(),
          nameOf(what.op) + " stands under a condition or in a loop that " + describe(control));
  for (Value tensor : {what.source, what.target})
    if (Difference extents = tensor ? ofExtents(tensor) : Difference();
        extents.kind != Difference::None)
      doubt(what.op->getLoc(), nameOf(what.op) + " has a tensor whose extent " + describe(extents));
  if (what.isBetweenTwo())
    return Messages.push_back({what});
  if (Difference root = what.peer ? of(what.peer) : Difference(); root.kind != Difference::None)
    doubt(what.op->getLoc(), nameOf(what.op) + " has a root that " + describe(root));
  else if (what.peer && getConstantIntValue(what.peer) != 0 && !dividendOf(what.peer, what.along))
    doubt(what.op->getLoc(),
          nameOf(what.op) + " has a root that not every number of ranks has; 0 and what is taken "
                            "modulo ranks() always exist");
}

void Proof::walk(Block &block, Difference control) {
  for (Operation &op : block) {
    if (std::optional<ir::Collective> what = ir::collectiveOf(&op)) {
      check(*what, control);
      continue;
    }
    Difference inside = control;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      inside = worse(control, worse(of(loop.getLowerBound()),
                                    worse(of(loop.getUpperBound()), of(loop.getStep()))));
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      inside = worse(control, of(branch.getCondition()));
    else if (isa<scf::WhileOp>(op))
      inside = worse(control, {Difference::ByData, &op});
    else if (auto call = dyn_cast<ir::CallOp>(op)) {
      auto callee = Module.lookupSymbol<ir::FuncOp>(call.getCallee());
      for (auto [parameter, arg] : llvm::zip(callee.getArguments(), call.getArgs()))
        Known[parameter] = of(arg);
      for (Operation &inner : callee.getBody().getOps())
        for (Value result : inner.getResults())
          Known.erase(result);
      walk(callee.getBody().front(), control);
      continue;
    }
    if (!isa<ir::IncoreOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          walk(inner, inside);
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Value Proof::dividendOf(Value value, ir::AlongAttr along) {
  auto remainder = value.getDefiningOp<arith::RemSIOp>();
  auto count = remainder ? remainder.getRhs().getDefiningOp<ir::RankCountOp>() : ir::RankCountOp();
  return count && count.getAlongAttr() == along ? remainder.getLhs() : Value();
}

static void add(Residue &to, const Residue &other, int64_t factor) {
  for (auto [value, count] : other)
    if ((to[value] += factor * count) == 0)
      to.erase(value);
}

/// Constants are counted under a key that no value has.
static void *const kOne = reinterpret_cast<void *>(1);

std::optional<Residue> Proof::residueOf(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant == 0 ? Residue() : Residue{{kOne, *constant}};
  Operation *op = value.getDefiningOp();
  if (isa_and_present<ir::RankIdOp>(op))
    return Residue{{nullptr, 1}};
  if (isa_and_present<ir::RankCountOp>(op))
    return Residue();
  if (isa_and_present<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Residue> a = residueOf(op->getOperand(0)), b = residueOf(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    add(*a, *b, isa<arith::AddIOp>(op) ? 1 : -1);
    return a;
  }
  if (auto remainder = dyn_cast_if_present<arith::RemSIOp>(op);
      remainder && remainder.getRhs().getDefiningOp<ir::RankCountOp>())
    return residueOf(remainder.getLhs());
  if (of(value).kind != Difference::None)
    return std::nullopt; // it could be anything on another rank
  return Residue{{value.getAsOpaquePointer(), 1}};
}

/// Whether a condition says that two tensors have as many elements along an axis.
static bool saysEqual(Value condition, Value a, Value b, uint64_t axis) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return saysEqual(both.getLhs(), a, b, axis) || saysEqual(both.getRhs(), a, b, axis);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return false;
  auto left = compare.getLhs().getDefiningOp<ir::DimOp>(),
       right = compare.getRhs().getDefiningOp<ir::DimOp>();
  if (!left || !right || left.getDim() != axis || right.getDim() != axis)
    return false;
  return (left.getTensor() == a && right.getTensor() == b) ||
         (left.getTensor() == b && right.getTensor() == a);
}

/// Whether a tensor is a slice that was given another tensor's extent along an axis as its own.
static bool hasExtentOf(Value tensor, Value other, uint64_t axis) {
  auto slice = tensor.getDefiningOp<ir::SliceOp>();
  if (!slice || !slice.getDropped().empty())
    return false;
  auto size = dyn_cast<Value>(
      getMixedValues(slice.getStaticSizes(), slice.getSizes(), slice.getContext())[axis]);
  auto dim = size ? size.getDefiningOp<ir::DimOp>() : ir::DimOp();
  return dim && dim.getTensor() == other && dim.getDim() == axis;
}

bool Proof::haveSameExtents(Value a, Value b) {
  auto type = cast<ir::TensorType>(a.getType());
  if (type != b.getType())
    return false;
  auto left = a.getDefiningOp<ir::SliceOp>(), right = b.getDefiningOp<ir::SliceOp>();
  if (left && right && llvm::equal(left.getSizes(), right.getSizes()) &&
      left.getStaticSizes() == right.getStaticSizes())
    return true;
  return llvm::all_of(llvm::enumerate(type.getShape()), [&](auto axis) {
    return !ShapedType::isDynamic(axis.value()) || hasExtentOf(a, b, axis.index()) ||
           hasExtentOf(b, a, axis.index()) ||
           llvm::any_of(ir::requirementsIn(Entry), [&](ir::RequireOp require) {
             return saysEqual(require.getCondition(), a, b, axis.index());
           });
  });
}

/// The factor, if a slice begins at a multiple of its rows; null if that is not seen.
static Value multipleOfRows(ir::SliceOp slice) {
  if (slice.getOffsets().empty() || slice.getSizes().empty() ||
      !ShapedType::isDynamic(slice.getStaticOffsets()[0]) ||
      !ShapedType::isDynamic(slice.getStaticSizes()[0]))
    return {};
  Value rows = slice.getSizes()[0];
  auto product = slice.getOffsets()[0].getDefiningOp<arith::MulIOp>();
  if (!product)
    return {};
  if (product.getRhs() == rows)
    return product.getLhs();
  return product.getLhs() == rows ? product.getRhs() : Value();
}

bool Proof::areApart(Value sent, Value received) {
  Value one = ir::rootOf(sent), other = ir::rootOf(received);
  auto isAlloc = [](Value value) { return bool(value.getDefiningOp<ir::AllocOp>()); };
  // What is received into is stored to, and no parameter shares memory with one that is: a call
  // where it does is refused.
  if (one != other)
    return isAlloc(one) || isAlloc(other) || (isParameter(one) && isParameter(other));
  auto left = sent.getDefiningOp<ir::SliceOp>(), right = received.getDefiningOp<ir::SliceOp>();
  if (!left || !right || left.getTensor() != right.getTensor())
    return false;
  // Slices of rows*x and rows*y, each of so many rows.
  Value first = multipleOfRows(left), second = multipleOfRows(right);
  if (!first || !second || left.getSizes()[0] != right.getSizes()[0])
    return false;
  // y is x and something.
  auto isIndexOfLoop = [](Value value) { return isa<BlockArgument>(value); };
  IndexForm between = formOf(second, isIndexOfLoop) - formOf(first, isIndexOfLoop);
  if (between.stride == 0 && between.sum.isConstant() && between.sum.constant() != 0)
    return true;
  // x is something modulo the number of ranks, and y its neighbour.
  if (!dividendOf(first, {}) || !dividendOf(second, {}))
    return false;
  std::optional<Residue> x = residueOf(first), y = residueOf(second);
  if (!x || !y)
    return false;
  add(*x, *y, -1);
  return x->size() == 1 && x->begin()->first == kOne && std::abs(x->begin()->second) == 1;
}

bool Proof::belongTogether(const ir::Collective &send, const ir::Collective &recv) {
  if (send.op->getBlock() != recv.op->getBlock() || send.along != recv.along ||
      !send.deps.empty() || !recv.deps.empty())
    return false;
  // To the rank that is so much further, from the rank that is so much before.
  if (!dividendOf(send.peer, send.along) || !dividendOf(recv.peer, recv.along))
    return false;
  std::optional<Residue> to = residueOf(send.peer), from = residueOf(recv.peer);
  if (!to || !from || (*to)[nullptr] != 1 || (*from)[nullptr] != 1)
    return false;
  add(*to, *from, 1);
  if (*to != Residue{{nullptr, 2}})
    return false;
  return haveSameExtents(send.source, recv.target) && areApart(send.source, recv.target);
}

/// Each send needs a recv at the same place of the program that it belongs to and that does not
/// wait for it: then, place by place, what all ranks have come to ends on all of them.
void Proof::matchMessages() {
  for (Message &send : Messages) {
    if (send.what.kind != ir::CollectiveKind::Send)
      continue;
    for (Message &recv : Messages)
      if (!send.isMatched && !recv.isMatched && recv.what.kind == ir::CollectiveKind::Recv &&
          belongTogether(send.what, recv.what))
        send.isMatched = recv.isMatched = true;
  }
  for (const Message &message : Messages)
    if (!message.isMatched)
      doubt(message.what.op->getLoc(),
            nameOf(message.what.op) +
                " is not shown to belong to one at the same place of the other rank that can go on "
                "without it; what is shown is an exchange along a ring, (rank + c) % ranks and "
                "(rank - c) % ranks, of memory that is apart");
}

} // namespace

RankProof proveRanks(ir::FuncOp entry) { return Proof(entry).run(); }

} // namespace kiln
