#include "kiln/Analysis/TensorBox.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace kiln {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Whether a value is computed once in a kernel, outside all loops.
static bool isInvariant(Value value) {
  for (Operation *around = value.getParentBlock()->getParentOp(); !isa<ir::FuncOp>(around);
       around = around->getParentOp())
    if (!isa<scf::IfOp>(around))
      return false;
  return true;
}

/// Where an axis starts. What is not the same throughout the kernel adds some multiple.
static IndexForm placeOf(OpFoldResult index) {
  IndexForm form = formOf(index);
  Affine<Value> invariant = form.sum.constant();
  for (auto [value, factor] : form.sum.terms()) {
    if (isInvariant(value))
      invariant = invariant + Affine<Value>::of(value) * factor;
    else
      form.stride = std::gcd(form.stride, factor);
  }
  form.sum = invariant;
  return form;
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
      IndexForm start = placeOf(offset);
      size_t kept = sourceAxes.size();
      source.start.push_back(isDropped ? start : start + box.start[kept]);
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

static Distances distances(const IndexForm &from, const IndexForm &to) {
  IndexForm difference = to - from;
  int64_t stride = difference.stride, constant = difference.sum.constant();
  for (auto [value, factor] : difference.sum.terms())
    stride = std::gcd(stride, factor);
  return {stride == 0 ? constant : llvm::mod(constant, stride), stride};
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

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

bool shareLoop(Operation *a, Operation *b) {
  for (Operation *around = a->getParentOp(); around && !isa<ir::FuncOp>(around);
       around = around->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(around) && around->isAncestor(b))
      return true;
  return false;
}

bool areAlternatives(Operation *a, Operation *b) {
  return !shareLoop(a, b) && insideMutuallyExclusiveRegions(a, b);
}

} // namespace kiln
