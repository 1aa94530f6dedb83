#include "kiln/Analysis/RankProof.h"

#include "RankDifferences.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Program/IndexForm.h"
#include "kiln/Program/Signature.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>

using namespace mlir;

namespace kiln {
namespace {

/// A sum of values modulo the number of ranks. The rank itself is the value null.
using Residue = std::map<void *, int64_t>;

class Proof {
public:
  explicit Proof(ir::FuncOp entry) : Entry(entry), Differs(entry) {}

  RankProof run() {
    for (ir::FuncOp func : Differs.orchestrations())
      walk(func.getBody().front());
    return std::move(Result);
  }

private:
  void walk(Block &block);
  void check(const ir::Collective &what);
  void checkRoot(const ir::Collective &what);
  void matchMessages(ArrayRef<ir::Collective> sends, ArrayRef<ir::Collective> recvs);
  /// Why a send and a recv are not shown to belong together; empty if they are.
  std::string reasonAgainst(const ir::Collective &send, const ir::Collective &recv);
  /// Whether (rank + distance) modulo the number of ranks is another rank wherever there are two.
  bool namesAnother(Residue distance, ir::AlongAttr along);
  /// What stands between a message and the one that belongs to it, and may have to wait for it;
  /// null if there is nothing.
  Operation *findWaiting(const ir::Collective &first, const ir::Collective &second);
  /// Whether what is sent and what is received into, on the same rank, share no memory when there
  /// are two ranks or more.
  bool areApart(Value sent, Value received);
  /// Whether two tensors have the same extents.
  bool haveSameExtents(Value a, Value b);
  bool isParameter(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &Entry.getBody().front();
  }
  std::optional<Residue> residueOf(Value value, ir::AlongAttr along, unsigned depth = 0);
  void doubt(Location loc, const std::string &text) { Result.reasons.push_back({loc, text}); }

  ir::FuncOp Entry;
  RankDifferences Differs;
  RankProof Result;
};

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

std::string nameOf(Operation *op) { return op->getName().getStringRef().str(); }

/// " (file:12)", if it is known.
std::string placeOf(Operation *op) {
  SourceLoc loc = sourceLocOf(op->getLoc());
  return loc.isKnown() ? " (" + loc.str() + ")" : "";
}

/// "depends on the rank (line 12)", and what to do.
std::string describe(Difference difference) {
  std::string where = placeOf(difference.from);
  return difference.kind == Difference::ByRank
             ? "depends on which rank it is" + where
             : "depends on data" + where + ", which nothing shows to be the same on all ranks";
}

static bool isRankCount(Value value, ir::AlongAttr along) {
  auto count = value.getDefiningOp<ir::RankCountOp>();
  return count && count.getAlongAttr() == along;
}

/// The dividend, if a value is something modulo the number of ranks.
static Value dividendOf(Value value, ir::AlongAttr along) {
  auto remainder = value.getDefiningOp<arith::RemSIOp>();
  return remainder && isRankCount(remainder.getRhs(), along) ? remainder.getLhs() : Value();
}

/// The index of a loop, from `first` to ranks() - 1 - `less`.
struct UpToRanks {
  int64_t first, less;
};

static std::optional<UpToRanks> upToRanks(Value value, ir::AlongAttr along) {
  auto index = dyn_cast<BlockArgument>(value);
  auto loop = index ? dyn_cast<scf::ForOp>(index.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || index != loop.getInductionVar())
    return std::nullopt;
  Value end = loop.getUpperBound();
  int64_t less = 0;
  if (auto difference = end.getDefiningOp<arith::SubIOp>()) {
    std::optional<int64_t> constant = getConstantIntValue(difference.getRhs());
    end = constant ? difference.getLhs() : end;
    less = constant.value_or(0);
  }
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  return first && isRankCount(end, along) ? std::optional<UpToRanks>({*first, less}) : std::nullopt;
}

/// Whether a rank exists however many there are.
static bool alwaysExists(Value rank, ir::AlongAttr along) {
  if (getConstantIntValue(rank) == 0 || dividendOf(rank, along))
    return true;
  if (std::optional<UpToRanks> index = upToRanks(rank, along))
    return index->first >= 0 && index->less >= 0;
  auto difference = rank.getDefiningOp<arith::SubIOp>();
  return difference && isRankCount(difference.getLhs(), along) &&
         getConstantIntValue(difference.getRhs()) == 1;
}

void Proof::checkRoot(const ir::Collective &what) {
  if (Difference root = Differs.of(what.peer))
    doubt(what.op->getLoc(), nameOf(what.op) + " has a root that " + describe(root));
  else if (!alwaysExists(what.peer, what.along))
    doubt(what.op->getLoc(),
          nameOf(what.op) + " has a root that is not shown to exist for every number of ranks; 0, "
                            "ranks() - 1, what is taken modulo ranks() and the index of a loop to "
                            "ranks() always do");
}

void Proof::check(const ir::Collective &what) {
  ++(what.isBetweenTwo() ? Result.messages : Result.collectives);
  if (Difference control = Differs.of(what.op->getBlock()))
    doubt(what.op->getLoc(),
          nameOf(what.op) + " stands under a condition or in a loop that " + describe(control));
  for (Value tensor : {what.source, what.target})
    if (Difference extents = tensor ? Differs.of(tensor) : Difference())
      doubt(what.op->getLoc(), nameOf(what.op) + " has a tensor whose extent " + describe(extents));
  if (what.peer && !what.isBetweenTwo())
    checkRoot(what);
}

void Proof::walk(Block &block) {
  SmallVector<ir::Collective> sends, recvs;
  for (Operation &op : block) {
    if (std::optional<ir::Collective> what = ir::collectiveOf(&op)) {
      check(*what);
      if (what->isBetweenTwo())
        (what->kind == ir::CollectiveKind::Send ? sends : recvs).push_back(*what);
    } else if (!isa<ir::IncoreOp>(op)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          walk(inner);
    }
  }
  matchMessages(sends, recvs);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static void add(Residue &to, const Residue &other, int64_t factor) {
  for (auto [value, count] : other)
    if ((to[value] += factor * count) == 0)
      to.erase(value);
}

/// Constants are counted under a key that no value has.
static void *const kOne = reinterpret_cast<void *>(1);

/// Sums nested deeper than this are not looked into: they may share operands, and double each time.
static constexpr unsigned kMaxDepth = 12;

std::optional<Residue> Proof::residueOf(Value value, ir::AlongAttr along, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant == 0 ? Residue() : Residue{{kOne, *constant}};
  Operation *op = value.getDefiningOp();
  if (auto me = dyn_cast_if_present<ir::RankIdOp>(op); me && me.getAlongAttr() == along)
    return Residue{{nullptr, 1}};
  if (isRankCount(value, along))
    return Residue();
  if (isa_and_present<arith::AddIOp, arith::SubIOp>(op) && depth < kMaxDepth) {
    std::optional<Residue> a = residueOf(op->getOperand(0), along, depth + 1),
                           b = residueOf(op->getOperand(1), along, depth + 1);
    if (!a || !b)
      return std::nullopt;
    add(*a, *b, isa<arith::AddIOp>(op) ? 1 : -1);
    return a;
  }
  if (Value dividend = dividendOf(value, along); dividend && depth < kMaxDepth)
    return residueOf(dividend, along, depth + 1);
  if (Differs.of(value))
    return std::nullopt; // it could be anything on another rank
  return Residue{{value.getAsOpaquePointer(), 1}};
}

/// Whether a condition says that two tensors have as many elements along an axis.
static bool saysEqual(Value condition, Value a, Value b, uint64_t axis, unsigned depth = 0) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>(); both && depth < kMaxDepth)
    return saysEqual(both.getLhs(), a, b, axis, depth + 1) ||
           saysEqual(both.getRhs(), a, b, axis, depth + 1);
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
  std::optional<Residue> x = residueOf(first, {}), y = residueOf(second, {});
  if (!x || !y)
    return false;
  add(*x, *y, -1);
  return x->size() == 1 && x->begin()->first == kOne && std::abs(x->begin()->second) == 1;
}

bool Proof::namesAnother(Residue distance, ir::AlongAttr along) {
  int64_t constant = distance.count(kOne) ? distance[kOne] : 0;
  distance.erase(kOne);
  if (distance.empty())
    return std::abs(constant) == 1;
  // The index of a loop from 1 to ranks(), or from 0 to ranks() - 1 and one more.
  auto [key, factor] = *distance.begin();
  std::optional<UpToRanks> index = upToRanks(Value::getFromOpaquePointer(key), along);
  int64_t more = constant * factor;
  return distance.size() == 1 && std::abs(factor) == 1 && index && index->first + more >= 1 &&
         more <= index->less;
}

static Value tensorOf(const ir::Collective &message) {
  return message.source ? message.source : message.target;
}

Operation *Proof::findWaiting(const ir::Collective &first, const ir::Collective &second) {
  for (Operation *op = first.op; op != second.op; op = op->getNextNode()) {
    if (isMemoryEffectFree(op) || isa<ir::AllocOp>(op))
      continue;
    if (std::optional<ir::Collective> other = ir::collectiveOf(op)) {
      bool onlyRead = other->kind == second.kind && second.kind == ir::CollectiveKind::Send;
      if (!other->isBetweenTwo() || (!onlyRead && !areApart(tensorOf(*other), tensorOf(second))))
        return op;
      continue;
    }
    bool isKernel = isa<ir::SubmitOp, ir::IncoreOp>(op);
    auto isFree = [&](Value operand) {
      return !isa<ir::TensorType>(operand.getType()) ||
             (areApart(operand, tensorOf(first)) && areApart(operand, tensorOf(second)));
    };
    bool isShared = op->walk([&](Operation *inner) {
                        return llvm::all_of(inner->getOperands(), isFree) ? WalkResult::advance()
                                                                          : WalkResult::interrupt();
                      }).wasInterrupted();
    if (!isKernel || isShared)
      return op;
  }
  return nullptr;
}

std::string Proof::reasonAgainst(const ir::Collective &send, const ir::Collective &recv) {
  const char *notShown = " is not shown to belong to one at the same place of the other rank that "
                         "can go on without it; what is shown is an exchange along a ring, (rank + "
                         "c) % ranks and (rank - c) % ranks, of memory that is apart";
  if (send.along != recv.along || !send.deps.empty() || !recv.deps.empty())
    return notShown;
  // To the rank that is so much further, from the rank that is so much before.
  if (!dividendOf(send.peer, send.along) || !dividendOf(recv.peer, recv.along))
    return notShown;
  std::optional<Residue> to = residueOf(send.peer, send.along),
                         from = residueOf(recv.peer, recv.along);
  if (!to || !from)
    return notShown;
  Residue distance = *to;
  add(*to, *from, 1);
  add(distance, {{nullptr, 1}}, -1);
  if (*to != Residue{{nullptr, 2}} || distance.count(nullptr) ||
      !haveSameExtents(send.source, recv.target) || !areApart(send.source, recv.target))
    return notShown;
  if (!namesAnother(distance, send.along))
    return " may name this rank itself, where the number of ranks divides what is added to the "
           "rank; what is shown is 1, -1 and the index of a loop from 1 to ranks()";
  bool sendsFirst = send.op->isBeforeInBlock(recv.op);
  if (Operation *waiting = findWaiting(sendsFirst ? send : recv, sendsFirst ? recv : send))
    return " and what belongs to it have " + nameOf(waiting) + placeOf(waiting) +
           " between them, which may wait for one and hold up the other; put them next to each "
           "other";
  return "";
}

/// Each send needs a recv at the same place of the program that it belongs to and that does not
/// wait for it: then, place by place, what all ranks have come to ends on all of them. They belong
/// together in their order, so that they do where both neighbours are one rank.
void Proof::matchMessages(ArrayRef<ir::Collective> sends, ArrayRef<ir::Collective> recvs) {
  for (size_t i = 0; i < std::max(sends.size(), recvs.size()); ++i) {
    std::string why;
    if (i >= sends.size() || i >= recvs.size())
      why = " has no counterpart beside it; a send and its recv stand in the same block, for every "
            "rank "
            "comes to both";
    else
      why = reasonAgainst(sends[i], recvs[i]);
    for (ArrayRef<ir::Collective> messages : {sends, recvs})
      if (!why.empty() && i < messages.size())
        doubt(messages[i].op->getLoc(), nameOf(messages[i].op) + why);
  }
}

} // namespace

RankProof proveRanks(ir::FuncOp entry) { return Proof(entry).run(); }

} // namespace kiln
