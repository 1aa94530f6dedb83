#include "TensorBox.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// A place of which nothing is known.
static Place anywhere() { return {.constant = 0, .stride = 1, .terms = {}}; }

/// a + factor * b.
static Place add(const Place &a, const Place &b, int64_t factor) {
  Place sum = a;
  int64_t scaled;
  if (llvm::MulOverflow(b.constant, factor, scaled) ||
      llvm::AddOverflow(a.constant, scaled, sum.constant))
    return anywhere();
  if (llvm::MulOverflow(b.stride, factor, scaled) || scaled == INT64_MIN)
    return anywhere();
  sum.stride = std::gcd(a.stride, scaled);
  for (auto [value, coefficient] : b.terms) {
    if (llvm::MulOverflow(coefficient, factor, scaled))
      return anywhere();
    auto *known = llvm::find_if(sum.terms, [&](const auto &term) { return term.first == value; });
    if (known == sum.terms.end())
      sum.terms.push_back({value, scaled});
    else if (llvm::AddOverflow(known->second, scaled, known->second))
      return anywhere();
  }
  return sum;
}

/// Whether a value is computed once in a kernel, outside all loops.
static bool isInvariant(Value value) {
  for (Operation *around = value.getParentBlock()->getParentOp(); !isa<ir::FuncOp>(around);
       around = around->getParentOp())
    if (!isa<scf::IfOp>(around))
      return false;
  return true;
}

/// Sums nested deeper than this are not looked into: they may share operands, and double each time.
static constexpr unsigned kMaxDepth = 12;

static Place placeOf(OpFoldResult scalar, unsigned depth = 0);

static Place placeOf(Value value, unsigned depth) {
  auto operand = [&](Value part) { return placeOf(OpFoldResult(part), depth + 1); };
  if (depth == kMaxDepth)
    return isInvariant(value) ? Place{0, 0, {{value, 1}}} : anywhere();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      if (std::optional<int64_t> step = getConstantIntValue(loop.getStep())) {
        Place place = operand(loop.getLowerBound());
        place.stride = std::gcd(place.stride, *step);
        return place;
      }
  } else if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    return add(operand(sum.getLhs()), operand(sum.getRhs()), 1);
  } else if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    return add(operand(difference.getLhs()), operand(difference.getRhs()), -1);
  } else if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    for (auto [factor, other] : {std::pair(product.getLhs(), product.getRhs()),
                                 std::pair(product.getRhs(), product.getLhs())})
      if (std::optional<int64_t> constant = getConstantIntValue(factor))
        return add({}, operand(other), *constant);
  }
  if (isInvariant(value))
    return {.constant = 0, .stride = 0, .terms = {{value, 1}}};
  return anywhere();
}

static Place placeOf(OpFoldResult scalar, unsigned depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(scalar))
    return {.constant = *constant, .stride = 0, .terms = {}};
  return placeOf(cast<Value>(scalar), depth);
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// The box in the axes of the tensor that `view` is a view of; false if it is not one there.
static bool moveToSource(TensorBox &box, Operation *view) {
  auto permute = [&](ArrayRef<int64_t> sourceAxes) {
    auto moved = [&](int axis) { return axis < 0 ? axis : int(sourceAxes[axis]); };
    box.rowAxis = moved(box.rowAxis);
    box.colAxis = moved(box.colAxis);
  };
  if (auto slice = dyn_cast<ir::SliceOp>(view)) {
    SmallVector<OpFoldResult> offsets =
        getMixedValues(slice.getStaticOffsets(), slice.getOffsets(), slice.getContext());
    TensorBox source{{}, {}, box.rowAxis, box.colAxis};
    SmallVector<int64_t> sourceAxes;
    for (auto [axis, offset] : llvm::enumerate(offsets)) {
      bool isDropped = llvm::is_contained(slice.getDropped(), int64_t(axis));
      Place start = placeOf(offset);
      size_t kept = sourceAxes.size();
      source.start.push_back(isDropped ? start : add(start, box.start[kept], 1));
      source.extent.push_back(isDropped ? 1 : box.extent[kept]);
      if (!isDropped)
        sourceAxes.push_back(axis);
    }
    box = std::move(source);
    permute(sourceAxes);
    return true;
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(view)) {
    TensorBox source = box;
    for (auto [axis, from] : llvm::enumerate(transpose.getPermutation())) {
      source.start[from] = box.start[axis];
      source.extent[from] = box.extent[axis];
    }
    box = std::move(source);
    permute(transpose.getPermutation());
    return true;
  }
  return false;
}

std::optional<TensorBox> boxOf(const tile::TensorAccess &access) {
  if (!access.hasBox())
    return std::nullopt;
  TensorBox box;
  for (OpFoldResult index : access.indices) {
    box.start.push_back(placeOf(index));
    box.extent.push_back(1);
  }
  if (access.tile) {
    auto tile = cast<tile::TileType>(access.tile.getType());
    int rank = box.start.size();
    // A vector is a tile of one row or of one column.
    box.rowAxis = rank > 1 ? rank - 2 : tile.getCols() == 1 ? 0 : -1;
    box.colAxis = rank > 1 ? rank - 1 : tile.getCols() == 1 ? -1 : 0;
    if (box.rowAxis >= 0)
      box.extent[box.rowAxis] = tile.getRows();
    if (box.colAxis >= 0)
      box.extent[box.colAxis] = tile.getCols();
  }
  for (Value tensor = access.tensor; tensor != ir::rootOf(tensor);
       tensor = tensor.getDefiningOp()->getOperand(0))
    if (!moveToSource(box, tensor.getDefiningOp()))
      return std::nullopt;
  return box;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// How far the second start may be behind the first: `first + any multiple of stride`, with first
/// from 0 to less than stride; only `first` if the stride is 0.
namespace {
struct Distances {
  int64_t first, stride;
};
} // namespace

static Distances distances(const Place &from, const Place &to) {
  Place difference = add(to, from, -1);
  for (auto [value, coefficient] : difference.terms)
    difference.stride = std::gcd(difference.stride, coefficient);
  int64_t stride = difference.stride;
  return {stride == 0 ? difference.constant : llvm::mod(difference.constant, stride), stride};
}

static bool areApart(const TensorBox &a, const TensorBox &b, unsigned axis) {
  Distances distance = distances(a.start[axis], b.start[axis]);
  if (distance.stride == 0)
    return distance.first >= a.extent[axis] || -distance.first >= b.extent[axis];
  return distance.first >= a.extent[axis] && distance.stride - distance.first >= b.extent[axis];
}

bool areDisjoint(const TensorBox &a, const TensorBox &b) {
  for (unsigned axis = 0; axis < a.start.size(); ++axis)
    if (areApart(a, b, axis))
      return true;
  return false;
}

bool areSameOrApart(const TensorBox &a, const TensorBox &b, unsigned axis) {
  Distances distance = distances(a.start[axis], b.start[axis]);
  return areApart(a, b, axis) || (a.extent[axis] == b.extent[axis] && distance.first == 0 &&
                                  (distance.stride == 0 || distance.stride >= a.extent[axis]));
}

} // namespace kiln
