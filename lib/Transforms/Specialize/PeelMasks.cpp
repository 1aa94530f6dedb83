#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/IndexFacts.h"
#include "kiln/Dialect/Kiln/LoopAttributes.h"
#include "kiln/Dialect/Tile/TilePipes.h"
#include "kiln/Program/IndexForm.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEPEELMASKS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// What holds as long as `factor` * index of the loop is not more than `bound`.
struct Limit {
  int64_t factor;
  Affine<Value> bound; ///< Its symbols do not change in the loop.
};

/// What a mask does nothing for: a value that is at least `least`.
struct Condition {
  Value value;
  int64_t least;
};

/// The extents of `valid(...)` against the shape of the tile; false if some rows or columns are
/// always cut off.
bool addExtents(ArrayRef<int64_t> constants, ValueRange values, tile::TileType tile,
                SmallVectorImpl<Condition> &conditions) {
  auto next = values.begin();
  for (auto [axis, constant] : llvm::enumerate(constants)) {
    if (ShapedType::isDynamic(constant))
      conditions.push_back({*next++, tile.getExtent(axis)});
    else if (constant < tile.getExtent(axis))
      return false;
  }
  return true;
}

/// When an operation masks nothing; nothing for one that does not mask, or always does.
std::optional<SmallVector<Condition>> conditionsOf(Operation *op) {
  SmallVector<Condition> conditions;
  bool canBeIdle =
      TypeSwitch<Operation *, bool>(op)
          .Case<tile::MaskOp>([&](tile::MaskOp mask) {
            return addExtents(mask.getStaticValid(), mask.getValid(), mask.getResult().getType(),
                              conditions);
          })
          .Case<tile::MaskDiagOp>([&](tile::MaskDiagOp mask) {
            conditions.push_back({mask.getOffset(), mask.getResult().getType().getCols() - 1});
            return true;
          })
          .Case<tile::LoadOp>([&](tile::LoadOp load) {
            return load.getStaticValid() && addExtents(*load.getStaticValid(), load.getValid(),
                                                       load.getResult().getType(), conditions);
          })
          .Case<tile::StoreOp>([&](tile::StoreOp store) {
            return store.getStaticValid() && addExtents(*store.getStaticValid(), store.getValid(),
                                                        store.getTile().getType(), conditions);
          })
          .Default(false);
  if (!canBeIdle || conditions.empty())
    return std::nullopt;
  return conditions;
}

/// The operation without its mask.
void unmask(Operation *op) {
  if (isa<tile::MaskOp, tile::MaskDiagOp>(op)) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
    load.getValidMutable().clear();
    load.removeStaticValidAttr();
  } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
    store.getValidMutable().clear();
    store.removeStaticValidAttr();
  }
}

class Peeler {
public:
  explicit Peeler(scf::ForOp loop) : Loop(loop), Builder(loop) { hoistIndices(); }

  /// Splits the loop where the first mask begins to matter; how many masks the first part is rid
  /// of.
  unsigned run() {
    SmallVector<unsigned> masks; // by place in the body
    Value limit;
    for (auto [place, op] : llvm::enumerate(Loop.getBody()->without_terminator())) {
      std::optional<SmallVector<Condition>> conditions = conditionsOf(&op);
      if (!conditions)
        continue;
      SmallVector<Limit> limits;
      for (const Condition &condition : *conditions)
        if (std::optional<Limit> one = limitOf(condition))
          limits.push_back(*one);
      if (limits.size() != conditions->size())
        continue;
      for (const Limit &one : limits) {
        Value last = emit(one);
        limit = limit ? arith::MinSIOp::create(Builder, Loop.getLoc(), limit, last) : last;
      }
      masks.push_back(place);
    }
    if (masks.empty())
      return 0;
    split(limit, masks);
    return masks.size();
  }

private:
  /// An extent that the body asks for in every iteration is known before the loop.
  void hoistIndices() {
    moveLoopInvariantCode(
        &Loop.getRegion(),
        [&](Value value, Region *) { return Loop.isDefinedOutsideOfLoop(value); },
        [](Operation *op, Region *) {
          return op->getNumResults() == 1 && op->getResult(0).getType().isIndex() && isPure(op);
        },
        [&](Operation *op, Region *) { op->moveBefore(Loop); });
  }

  /// A condition that holds up to some index: `bound - factor * index >= least` does as long as
  /// `factor * index <= bound - least`, which is the result.
  std::optional<Limit> limitOf(const Condition &condition) {
    Value value = condition.value;
    // min(extent, rest): the extent never is what cuts off.
    if (auto least = value.getDefiningOp<arith::MinSIOp>())
      for (auto [one, other] :
           {std::pair(least.getLhs(), least.getRhs()), std::pair(least.getRhs(), least.getLhs())})
        if (std::optional<int64_t> constant = getConstantIntValue(one);
            constant && *constant >= condition.least)
          value = other;
    Value index = Loop.getInductionVar();
    auto isGiven = [&](Value part) { return Loop.isDefinedOutsideOfLoop(part); };
    IndexForm form = formOf(value, [&](Value part) { return part == index || isGiven(part); });
    int64_t factor = form.sum.coefficient(index);
    Affine<Value> bound = form.sum - Affine<Value>::of(index) * factor - condition.least;
    bool isKnown = form.stride == 0 && llvm::all_of(bound.terms(), [&](const auto &term) {
                     return isGiven(term.first);
                   });
    if (!isKnown || factor >= 0)
      return std::nullopt;
    return Limit{-factor, bound};
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(Builder, Loop.getLoc(), value);
  }

  /// The last index within a limit.
  Value emit(const Limit &limit) {
    Location loc = Loop.getLoc();
    Value sum = index(limit.bound.constant());
    for (auto [value, factor] : limit.bound.terms()) {
      Value part = value;
      if (std::abs(factor) != 1)
        part = arith::MulIOp::create(Builder, loc, value, index(std::abs(factor)));
      sum = factor < 0 ? Value(arith::SubIOp::create(Builder, loc, sum, part))
                       : Value(arith::AddIOp::create(Builder, loc, sum, part));
    }
    if (limit.factor == 1)
      return sum;
    return arith::FloorDivSIOp::create(Builder, loc, sum, index(limit.factor));
  }

  /// Iterations up to `limit` in a loop of their own, without the masks; then the others.
  void split(Value limit, ArrayRef<unsigned> masks) {
    Location loc = Loop.getLoc();
    Value lower = Loop.getLowerBound(), step = Loop.getStep();
    Value reach = arith::SubIOp::create(Builder, loc, limit, lower);
    Value steps = arith::FloorDivSIOp::create(Builder, loc, reach, step);
    Value count = arith::MaxSIOp::create(
        Builder, loc, arith::AddIOp::create(Builder, loc, steps, index(1)), index(0));
    Value middle = arith::AddIOp::create(Builder, loc, lower,
                                         arith::MulIOp::create(Builder, loc, count, step));
    Value end = arith::MinSIOp::create(Builder, loc, middle, Loop.getUpperBound());
    auto first = cast<scf::ForOp>(Builder.clone(*Loop));
    first.getUpperBoundMutable().assign(end);
    SmallVector<Operation *> idle;
    for (auto [place, op] : llvm::enumerate(first.getBody()->without_terminator()))
      if (llvm::is_contained(masks, place))
        idle.push_back(&op);
    llvm::for_each(idle, unmask);
    Loop.getLowerBoundMutable().assign(middle);
    Loop.getInitArgsMutable().assign(first.getResults());
    Loop->setAttr(ir::kPeeledAttr, Builder.getUnitAttr());
  }

  scf::ForOp Loop;
  OpBuilder Builder;
};

struct PeelMasks : impl::TilePeelMasksBase<PeelMasks> {
  using TilePeelMasksBase::TilePeelMasksBase;

  static bool hasMask(scf::ForOp loop) {
    return llvm::any_of(loop.getBody()->without_terminator(),
                        [](Operation &op) { return conditionsOf(&op).has_value(); });
  }

  static bool hasSeveralProducts(scf::ForOp loop) {
    auto products = loop.getBody()->getOps<tile::ProductInterface>();
    return std::distance(products.begin(), products.end()) > 1;
  }

  /// Why a loop with masks is left alone; empty if it is not.
  StringRef reasonAgainst(scf::ForOp loop) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!loop.getInductionVar().getType().isIndex() || loop.getUnsignedCmp())
      return "its index is not a signed index";
    if (!step || *step < 1)
      return "its step is not a positive constant";
    // The other role would keep one loop where this one has two.
    return !splitsPipes && tile::findPipeUse(loop.getRegion()) ? "it pushes or pops" : "";
  }

  /// Removes masks that never cut anything off, by what the function requires of its arguments.
  static void removeIdleMasks(ir::FuncOp func) {
    IndexFacts facts(func);
    SmallVector<Operation *> idle;
    func.walk([&](Operation *op) {
      std::optional<SmallVector<Condition>> conditions = conditionsOf(op);
      if (conditions && llvm::all_of(*conditions, [&](const Condition &condition) {
            return facts.isAtLeast(condition.value, condition.least);
          }))
        idle.push_back(op);
    });
    llvm::for_each(idle, unmask);
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<ir::FuncOp>())
      removeIdleMasks(func);
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(ir::kPeeledAttr) && hasMask(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      if (keepsLoops && hasSeveralProducts(loop))
        continue;
      StringRef reason = reasonAgainst(loop);
      unsigned masks = reason.empty() ? Peeler(loop).run() : 0;
      if (masks == 0 && reason.empty())
        reason = "no mask begins to matter at an index known before the loop";
      if (report && masks == 0)
        loop.emitRemark("the masks of this loop cost something in every iteration: ") << reason;
      else if (report)
        loop.emitRemark("masks of this loop that cost nothing before the edge: ") << masks;
    }
  }
};
} // namespace
} // namespace kiln
