#include "FuseContractions.h"

#include "Contraction.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::llvmir {
namespace {

bool isSame(Value a, Value b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  return a == b || (x && y && *x == *y && a.getType() == b.getType());
}

bool haveSameTrips(scf::ForOp a, scf::ForOp b) {
  return isSame(a.getLowerBound(), b.getLowerBound()) &&
         isSame(a.getUpperBound(), b.getUpperBound()) && isSame(a.getStep(), b.getStep()) &&
         a.getUnsignedCmp() == b.getUnsignedCmp();
}

/// What a loop needs of what stands between another and itself, in order; null if that cannot be
/// moved before the other.
std::optional<SmallVector<Operation *>> needsAfter(scf::ForOp first, scf::ForOp second) {
  llvm::SetVector<Operation *> needed;
  bool canMove = true;
  std::function<void(Operation *)> add = [&](Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!def || def->getBlock() != first->getBlock() || needed.contains(def) ||
            def->isBeforeInBlock(first))
          continue;
        canMove &= def != first && isRepeatable(*def);
        if (!canMove)
          return;
        add(def);
        needed.insert(def);
      }
    });
  };
  add(second);
  if (!canMove)
    return std::nullopt;
  return needed.takeVector();
}

/// Copies an operation, unless the block has one that computes the same.
void copyOnce(OpBuilder &builder, Operation &op, IRMapping &map) {
  Operation *copy = builder.clone(op, map);
  for (Operation &other : *copy->getBlock()) {
    if (&other == copy)
      return;
    if (!OperationEquivalence::isEquivalentTo(copy, &other, OperationEquivalence::IgnoreLocations))
      continue;
    for (auto [mine, known] : llvm::zip_equal(op.getResults(), other.getResults()))
      map.map(mine, known);
    copy->erase();
    return;
  }
}

scf::ForOp fuse(scf::ForOp first, scf::ForOp second) {
  OpBuilder builder(first);
  SmallVector<Value> starts(first.getInitArgs());
  llvm::append_range(starts, second.getInitArgs());
  auto fused = scf::ForOp::create(builder, first.getLoc(), first.getLowerBound(),
                                  first.getUpperBound(), first.getStep(), starts);
  fused->setAttrs(first->getDiscardableAttrDictionary());
  fused.setUnsignedCmp(first.getUnsignedCmp());
  fused.getBody()->clear();
  builder.setInsertionPointToStart(fused.getBody());
  SmallVector<Value> made;
  size_t numBefore = 0;
  for (scf::ForOp loop : {first, second}) {
    IRMapping map;
    map.map(loop.getInductionVar(), fused.getInductionVar());
    ValueRange carried = fused.getRegionIterArgs();
    map.map(loop.getRegionIterArgs(), carried.slice(numBefore, loop.getNumRegionIterArgs()));
    for (Operation &op : loop.getBody()->without_terminator())
      copyOnce(builder, op, map);
    for (Value value : loop.getYieldedValues())
      made.push_back(map.lookupOrDefault(value));
    numBefore += loop.getNumRegionIterArgs();
  }
  scf::YieldOp::create(builder, first.getLoc(), made);
  first.replaceAllUsesWith(fused.getResults().take_front(first.getNumResults()));
  second.replaceAllUsesWith(fused.getResults().drop_front(first.getNumResults()));
  second.erase();
  first.erase();
  return fused;
}

} // namespace

void fuseContractions(ir::FuncOp kernel) {
  scf::ForOp first;
  SmallVector<tile::MatmulAccOp> products;
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    auto loop = dyn_cast<scf::ForOp>(op);
    SmallVector<tile::MatmulAccOp> others;
    if (loop)
      others = productsOf(loop);
    if (!first) {
      if (!others.empty())
        first = loop, products = others;
      continue;
    }
    if (!onlyReads(op))
      return;
    if (others.empty() || !areAlike(products[0], others[0]) || !haveSameTrips(first, loop))
      continue;
    std::optional<SmallVector<Operation *>> needed = needsAfter(first, loop);
    if (!needed)
      continue;
    for (Operation *need : *needed)
      need->moveBefore(first);
    first = fuse(first, loop);
    products = productsOf(first);
  }
}

} // namespace kiln::llvmir
