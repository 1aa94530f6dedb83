#include "kiln/Transforms/Passes.h"

#include "kiln/Analysis/IndexFacts.h"
#include "kiln/Dialect/Kiln/LoopAttributes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TILEPEELMASKS
#include "kiln/Transforms/Passes.h.inc"

namespace {

/// factor * index of the loop + terms that do not change in it + constant.
struct Linear {
  int64_t factor = 0, constant = 0;
  SmallVector<std::pair<Value, bool>> terms; ///< Each with whether it is subtracted.

  void add(const Linear &other, bool subtract) {
    factor += subtract ? -other.factor : other.factor;
    constant += subtract ? -other.constant : other.constant;
    for (auto [value, isNegative] : other.terms)
      terms.emplace_back(value, isNegative != subtract);
  }
};

/// A constant that can be multiplied and added without leaving 64 bits.
std::optional<int64_t> smallConstant(Value value) {
  std::optional<int64_t> constant = getConstantIntValue(value);
  constexpr int64_t most = int64_t(1) << 40;
  return constant && *constant > -most && *constant < most ? constant : std::nullopt;
}

/// `nodes`: how many values may still be looked at. A sum of sums of itself has no end otherwise.
std::optional<Linear> linearOf(Value value, scf::ForOp loop, unsigned &nodes) {
  if (nodes == 0)
    return std::nullopt;
  --nodes;
  if (value == loop.getInductionVar())
    return Linear{1, 0, {}};
  if (std::optional<int64_t> constant = smallConstant(value))
    return Linear{0, *constant, {}};
  if (loop.isDefinedOutsideOfLoop(value))
    return Linear{0, 0, {{value, false}}};
  Operation *op = value.getDefiningOp();
  if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
    // Blocks of a table are counted, and masks are in elements: index * block.
    std::optional<int64_t> factor = smallConstant(product.getRhs());
    if (!factor || product.getLhs() != loop.getInductionVar())
      return std::nullopt;
    return Linear{*factor, 0, {}};
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<Linear> lhs = linearOf(op->getOperand(0), loop, nodes);
  std::optional<Linear> rhs = lhs ? linearOf(op->getOperand(1), loop, nodes) : std::nullopt;
  if (!rhs)
    return std::nullopt;
  lhs->add(*rhs, isa<arith::SubIOp>(op));
  return lhs;
}

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
      SmallVector<Linear> forms;
      for (const Condition &condition : *conditions)
        if (std::optional<Linear> form = formOf(condition))
          forms.push_back(*form);
      if (forms.size() != conditions->size())
        continue;
      for (const Linear &form : forms) {
        Value last = emit(form);
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
    for (Operation &op : llvm::make_early_inc_range(Loop.getBody()->without_terminator()))
      if (op.getNumResults() == 1 && op.getResult(0).getType().isIndex() && isPure(&op) &&
          llvm::all_of(op.getOperands(),
                       [&](Value value) { return Loop.isDefinedOutsideOfLoop(value); }))
        op.moveBefore(Loop);
  }

  /// A condition that holds up to some index: `bound - factor * index >= least` does as long as
  /// `factor * index <= bound - least`, which is the result.
  std::optional<Linear> formOf(const Condition &condition) {
    Value value = condition.value;
    // min(extent, rest): the extent never is what cuts off.
    if (auto least = value.getDefiningOp<arith::MinSIOp>())
      for (auto [one, other] :
           {std::pair(least.getLhs(), least.getRhs()), std::pair(least.getRhs(), least.getLhs())})
        if (std::optional<int64_t> constant = getConstantIntValue(one);
            constant && *constant >= condition.least)
          value = other;
    unsigned nodes = 64;
    std::optional<Linear> form = linearOf(value, Loop, nodes);
    if (!form || form->factor >= 0)
      return std::nullopt;
    form->factor = -form->factor;
    form->constant -= condition.least;
    return form;
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(Builder, Loop.getLoc(), value);
  }

  /// The last index for which `form.factor * index <= ...` holds.
  Value emit(const Linear &form) {
    Value sum = index(form.constant);
    for (auto [value, isNegative] : form.terms)
      sum = isNegative ? Value(arith::SubIOp::create(Builder, Loop.getLoc(), sum, value))
                       : Value(arith::AddIOp::create(Builder, Loop.getLoc(), sum, value));
    if (form.factor == 1)
      return sum;
    return arith::FloorDivSIOp::create(Builder, Loop.getLoc(), sum, index(form.factor));
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

  /// Why a loop with masks is left alone; empty if it is not.
  static StringRef reasonAgainst(scf::ForOp loop) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!loop.getInductionVar().getType().isIndex() || loop.getUnsignedCmp())
      return "its index is not a signed index";
    if (!step || *step < 1)
      return "its step is not a positive constant";
    bool hasPipeOp = loop.walk([](Operation *op) {
                           return isa<tile::PushOp, tile::PopOp, tile::FreeOp>(op)
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
    // The other role would keep one loop where this one has two.
    return hasPipeOp ? "it pushes or pops" : "";
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
