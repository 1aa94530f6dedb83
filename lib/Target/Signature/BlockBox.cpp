#include "BlockBox.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

namespace {

/// Indices from `constant + sum(factor * variable)` on, `reach` further at most. Variables are the
/// block's index, the lane, and parameters of the function.
struct Span {
  int64_t constant = 0;
  int64_t reach = 0;
  std::array<int64_t, KILN_MAX_GRID_DIMS> perBlock{};
  int64_t perLane = 0;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> perParameter; // ascending, factors not 0

  bool isParallelTo(const Span &other) const {
    return perBlock == other.perBlock && perLane == other.perLane &&
           perParameter == other.perParameter;
  }
};

/// An axis of a box; nothing: the whole axis.
using Axis = std::optional<Span>;
using Box = llvm::SmallVector<Axis, 4>;

/// Larger numbers are no indices: sums and products of smaller ones do not overflow.
constexpr int64_t kMost = int64_t{1} << 40;

Axis checked(Span span) {
  auto isSmall = [](int64_t number) { return number > -kMost && number < kMost; };
  bool fits = isSmall(span.constant) && isSmall(span.reach) && isSmall(span.perLane) &&
              llvm::all_of(span.perBlock, isSmall);
  for (auto [parameter, factor] : span.perParameter)
    fits = fits && isSmall(factor);
  return fits ? Axis(std::move(span)) : std::nullopt;
}

Axis scaled(const Axis &axis, int64_t factor) {
  if (!axis || factor <= -(kMost >> 20) || factor >= kMost >> 20)
    return std::nullopt;
  Span span = *axis;
  span.constant *= factor;
  span.reach *= factor;
  span.perLane *= factor;
  for (int64_t &each : span.perBlock)
    each *= factor;
  for (auto &[parameter, each] : span.perParameter)
    each *= factor;
  if (factor == 0)
    span.perParameter.clear();
  if (span.reach < 0) { // what was the last is now the first
    span.constant += span.reach;
    span.reach = -span.reach;
  }
  return checked(std::move(span));
}

Axis sum(const Axis &a, const Axis &b) {
  if (!a || !b)
    return std::nullopt;
  Span span = *a;
  span.constant += b->constant;
  span.reach += b->reach;
  span.perLane += b->perLane;
  for (auto [mine, theirs] : llvm::zip(span.perBlock, b->perBlock))
    mine += theirs;
  for (auto [parameter, factor] : b->perParameter) {
    auto *at = llvm::lower_bound(span.perParameter, std::pair(parameter, INT64_MIN));
    if (at == span.perParameter.end() || at->first != parameter)
      span.perParameter.insert(at, {parameter, factor});
    else if ((at->second += factor) == 0)
      span.perParameter.erase(at);
  }
  return checked(std::move(span));
}

/// The smallest that holds both.
Axis hull(const Axis &a, const Axis &b) {
  if (!a || !b || !a->isParallelTo(*b))
    return std::nullopt;
  Span span = *a;
  span.constant = std::min(a->constant, b->constant);
  span.reach = std::max(a->constant + a->reach, b->constant + b->reach) - span.constant;
  return span;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Sums nested deeper than this are not looked into: they may share operands.
constexpr unsigned kMaxDepth = 12;

Axis spanOf(OpFoldResult scalar, unsigned depth = 0);

/// From the lower bound to the last iteration, where the number of iterations is known.
Axis inductionSpan(scf::ForOp loop, unsigned depth) {
  Axis lower = spanOf(OpFoldResult(loop.getLowerBound()), depth);
  Axis trips = sum(spanOf(OpFoldResult(loop.getUpperBound()), depth), scaled(lower, -1));
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!trips || !trips->isParallelTo(Span()) || !step || *step <= 0)
    return std::nullopt;
  int64_t most = trips->constant + trips->reach - 1; // of the distance between first and last
  Span span = *lower;
  span.reach += std::max<int64_t>(most, 0) / *step * *step;
  return checked(std::move(span));
}

/// Whether sums and products of this type are those of integers: narrower ones wrap.
bool isWide(Type type) { return type.isIndex() || type.isInteger(64); }

Axis spanOf(Value value, unsigned depth) {
  // The scalars of a task are what they are, of whatever type; but a true i1 is -1 as an index.
  bool isScalar = isa<BlockArgument>(value) && !value.getType().isInteger(1);
  if (depth == kMaxDepth || !(isScalar || isWide(value.getType())))
    return std::nullopt;
  auto operand = [&](Value part) { return spanOf(OpFoldResult(part), depth + 1); };
  Span span;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(owner))
      return argument == loop.getInductionVar() ? inductionSpan(loop, depth + 1) : std::nullopt;
    if (!isa<ir::FuncOp>(owner))
      return std::nullopt;
    span.perParameter.push_back({argument.getArgNumber(), 1});
    return span;
  }
  return llvm::TypeSwitch<Operation *, Axis>(value.getDefiningOp())
      .Case([&](tile::BlockIdxOp block) {
        span.perBlock[block.getDim()] = 1;
        return span;
      })
      .Case([&](tile::LaneOp) {
        span.perLane = 1;
        return span;
      })
      .Case([&](arith::AddIOp add) { return sum(operand(add.getLhs()), operand(add.getRhs())); })
      .Case([&](arith::SubIOp sub) {
        return sum(operand(sub.getLhs()), scaled(operand(sub.getRhs()), -1));
      })
      .Case([&](arith::MulIOp product) -> Axis {
        for (auto [factor, other] : {std::pair(product.getLhs(), product.getRhs()),
                                     std::pair(product.getRhs(), product.getLhs())})
          if (std::optional<int64_t> constant = getConstantIntValue(factor))
            return scaled(operand(other), *constant);
        return std::nullopt;
      })
      .Case([&](arith::IndexCastOp cast) { return operand(cast.getIn()); })
      .Default([](Operation *) { return std::nullopt; });
}

Axis spanOf(OpFoldResult scalar, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(scalar)) {
    Span span;
    span.constant = *constant;
    return checked(std::move(span));
  }
  return spanOf(cast<Value>(scalar), depth);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Everything that is done to a tensor through a value of a function. Axes are the value's.
class Touched {
public:
  /// Nothing: nobody touches it.
  static std::optional<Box> through(Value tensor, unsigned depth = 0) {
    Touched touched(cast<ir::TensorType>(tensor.getType()).getShape().size(), depth);
    for (OpOperand &use : tensor.getUses())
      touched.addUse(use);
    return std::move(touched.Result);
  }

private:
  Touched(size_t rank, unsigned depth) : Rank(rank), Depth(depth) {}

  void add(const Box &box) {
    if (!Result) {
      Result = box;
      return;
    }
    for (auto [axis, other] : llvm::zip(*Result, box))
      axis = hull(axis, other);
  }
  void addAll() { add(Box(Rank, std::nullopt)); }

  void addAccess(const tile::TensorAccess &access) {
    if (!access.hasBox())
      return addAll();
    SmallVector<int64_t> extents(Rank, 1);
    if (access.tile)
      extents = extentsOf(cast<tile::TileType>(access.tile.getType()));
    Box box;
    for (auto [index, extent] : llvm::zip(access.indices, extents)) {
      Axis axis = spanOf(index);
      if (axis)
        axis->reach += extent - 1;
      box.push_back(axis);
    }
    add(box);
  }
  SmallVector<int64_t> extentsOf(tile::TileType tile) const {
    SmallVector<int64_t> extents(Rank, 1);
    if (Rank == 1) {
      extents[0] = tile.getRows() * tile.getCols(); // a row or a column
      return extents;
    }
    extents[Rank - 2] = tile.getRows();
    extents[Rank - 1] = tile.getCols();
    return extents;
  }

  void addUse(OpOperand &use) {
    Operation *user = use.getOwner();
    SmallVector<tile::TensorAccess, 2> accesses = tile::tensorAccesses(user);
    for (const tile::TensorAccess &access : accesses)
      if (access.tensor == use.get())
        addAccess(access);
    if (!accesses.empty())
      return;
    llvm::TypeSwitch<Operation *>(user)
        .Case<ir::DimOp, ir::DumpOp, tile::PrefetchOp>([](auto) {}) // no access of the task's
        .Case([&](ir::SliceOp slice) { addSlice(slice); })
        .Case([&](ir::TransposeOp transpose) { addTranspose(transpose); })
        .Case([&](ir::CallOp call) { addCall(call, use.getOperandNumber()); })
        .Default([&](Operation *) { addAll(); });
  }

  void addSlice(ir::SliceOp slice) {
    std::optional<Box> inside = through(slice.getResult(), Depth);
    if (!inside)
      return;
    Box box;
    size_t kept = 0;
    for (auto [axis, offset] : llvm::enumerate(
             getMixedValues(slice.getStaticOffsets(), slice.getOffsets(), slice.getContext()))) {
      bool isDropped = llvm::is_contained(slice.getDropped(), int64_t(axis));
      Axis start = spanOf(offset);
      box.push_back(isDropped ? start : sum(start, (*inside)[kept++]));
    }
    add(box);
  }

  void addTranspose(ir::TransposeOp transpose) {
    std::optional<Box> inside = through(transpose.getResult(), Depth);
    if (!inside)
      return;
    Box box(Rank, std::nullopt);
    for (auto [axis, from] : llvm::enumerate(transpose.getPermutation()))
      box[from] = (*inside)[axis];
    add(box);
  }

  void addCall(ir::CallOp call, unsigned operand) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(call, call.getCalleeAttr());
    if (!callee || Depth == kMaxDepth)
      return addAll();
    std::optional<Box> inside = through(callee.getArgument(operand), Depth + 1);
    if (!inside)
      return;
    Box box;
    for (const Axis &axis : *inside)
      box.push_back(axis ? passed(*axis, call, callee) : std::nullopt);
    add(box);
  }

  /// What a span of the callee is in the caller.
  static Axis passed(const Span &span, ir::CallOp call, ir::FuncOp callee) {
    auto caller = call->getParentOfType<ir::FuncOp>();
    Span own = span;
    own.perParameter.clear();
    if (caller.getKind() == ir::FuncKind::Group && callee.getRole()) {
      // All lanes together.
      int64_t lanes = caller.getLanesOf(*callee.getRole());
      own.perLane = 0;
      own.constant += std::min<int64_t>(span.perLane, 0) * (lanes - 1);
      own.reach += std::abs(span.perLane) * (lanes - 1);
    }
    Axis result = checked(std::move(own));
    for (auto [parameter, factor] : span.perParameter)
      result = sum(result, scaled(spanOf(OpFoldResult(call.getArgs()[parameter])), factor));
    return result;
  }

  const size_t Rank;
  const unsigned Depth; // of calls
  std::optional<Box> Result;
};

} // namespace

/// In the terms of a task; an axis that depends on something else is whole.
static BlockBox::Axis axisOf(const Axis &axis, ArrayRef<unsigned> scalars) {
  BlockBox::Axis result;
  if (!axis || axis->perLane != 0)
    return result;
  for (auto [parameter, factor] : axis->perParameter) {
    const auto *at = llvm::find(scalars, parameter);
    if (at == scalars.end())
      return {};
    result.perScalar.push_back({static_cast<uint32_t>(at - scalars.begin()), factor});
  }
  result.constant = axis->constant;
  result.perBlock = axis->perBlock;
  result.extent = axis->reach + 1;
  return result;
}

std::optional<BlockBox> blockBoxOf(ir::FuncOp func, unsigned parameter,
                                   ArrayRef<unsigned> scalars) {
  std::optional<Box> touched = Touched::through(func.getArgument(parameter));
  if (!touched)
    return std::nullopt;
  BlockBox box;
  for (const Axis &axis : *touched)
    box.axes.push_back(axisOf(axis, scalars));
  bool isAll = llvm::all_of(box.axes, [](const auto &axis) { return axis.isWhole(); });
  return isAll ? std::nullopt : std::optional(std::move(box));
}

} // namespace kiln
