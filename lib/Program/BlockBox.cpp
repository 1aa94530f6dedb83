#include "BlockBox.h"

#include "kiln/Program/IndexForm.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

namespace {

/// What a box may depend on: an axis of the block's index, the lane, a parameter of the function.
struct Symbol {
  enum Kind { Block, Lane, Parameter } kind;
  unsigned number = 0;
  auto operator<=>(const Symbol &) const = default;
};

/// Indices from `start` on, `reach` further at most.
struct Span {
  Affine<Symbol> start;
  int64_t reach = 0;
};

/// An axis of a box; nothing: the whole axis.
using Axis = std::optional<Span>;
using Box = llvm::SmallVector<Axis, 4>;

Axis checked(Span span) {
  bool isSmall = span.start.isSmall() && Affine<Symbol>(span.reach).isSmall();
  return isSmall ? Axis(std::move(span)) : std::nullopt;
}

Axis sum(const Axis &a, const Axis &b) {
  if (!a || !b)
    return std::nullopt;
  return checked({a->start + b->start, a->reach + b->reach});
}

/// The smallest that holds both.
Axis hull(const Axis &a, const Axis &b) {
  if (!a || !b)
    return std::nullopt;
  Affine<Symbol> distance = b->start - a->start;
  if (!distance.isConstant())
    return std::nullopt;
  int64_t before = std::min<int64_t>(distance.constant(), 0);
  return Span{a->start + before, std::max(a->reach, distance.constant() + b->reach) - before};
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

std::optional<Symbol> symbolOf(Value value) {
  if (auto block = value.getDefiningOp<tile::BlockIdxOp>())
    return Symbol{Symbol::Block, static_cast<unsigned>(block.getDim())};
  if (value.getDefiningOp<tile::LaneOp>())
    return Symbol{Symbol::Lane};
  // The scalars of a task are what they are, of whatever type; but a true i1 is -1 as an index.
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && isa<ir::FuncOp>(argument.getOwner()->getParentOp()) &&
      !value.getType().isInteger(1))
    return Symbol{Symbol::Parameter, argument.getArgNumber()};
  return std::nullopt;
}

Axis spanOf(const IndexForm &form) {
  if (!form.reach)
    return std::nullopt;
  Span span{form.sum.constant(), *form.reach};
  for (auto [value, factor] : form.sum.terms()) {
    std::optional<Symbol> symbol = symbolOf(value);
    if (!symbol)
      return std::nullopt;
    span.start = span.start + Affine<Symbol>::of(*symbol) * factor;
  }
  return checked(std::move(span));
}

Axis spanOf(OpFoldResult index) { return spanOf(formOf(index)); }

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
    bool joinsLanes = caller.getKind() == ir::FuncKind::Group && callee.getRole();
    Axis result = Span{span.start.constant(), span.reach};
    for (auto [symbol, factor] : span.start.terms()) {
      if (symbol.kind == Symbol::Parameter) {
        result = sum(result, spanOf(formOf(call.getArgs()[symbol.number]) * factor));
      } else if (symbol.kind == Symbol::Lane && joinsLanes) { // all lanes together
        int64_t last = factor * (caller.getLanesOf(*callee.getRole()) - 1);
        result = sum(result, Span{std::min<int64_t>(last, 0), std::abs(last)});
      } else {
        result = sum(result, Span{Affine<Symbol>::of(symbol) * factor});
      }
    }
    return result;
  }

  /// How many calls are followed, one inside the other.
  static constexpr unsigned kMaxDepth = 12;
  const size_t Rank;
  const unsigned Depth; // of calls
  std::optional<Box> Result;
};

} // namespace

/// In the terms of a task; an axis that depends on something else is whole.
static BlockBox::Axis axisOf(const Axis &axis, ArrayRef<unsigned> scalars) {
  BlockBox::Axis result;
  if (!axis)
    return result;
  for (auto [symbol, factor] : axis->start.terms()) {
    if (symbol.kind == Symbol::Block) {
      result.perBlock[symbol.number] = factor;
      continue;
    }
    const auto *at =
        symbol.kind == Symbol::Parameter ? llvm::find(scalars, symbol.number) : scalars.end();
    if (at == scalars.end())
      return {};
    result.perScalar.push_back({static_cast<uint32_t>(at - scalars.begin()), factor});
  }
  result.constant = axis->start.constant();
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
