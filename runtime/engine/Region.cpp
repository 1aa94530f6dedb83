#include "engine/Region.h"

#include <algorithm>

using namespace kiln;

namespace {

// Sums of two 63-bit spans and their differences need more than 64 bits.
using Wide = __int128;

Wide floorDiv(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }
Wide ceilDiv(Wide a, Wide b) { return -floorDiv(-a, b); }

/// Largest stride first. Insertion: there are a handful of axes, and this runs for every tensor of
/// every task.
template <typename Axis> void sortByStride(Axis *axes, int count) {
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && axes[j - 1].stride < axes[j].stride; --j)
      std::swap(axes[j - 1], axes[j]);
}

enum class Answer { No, Yes, Unknown };

/// Is there a vector u with lo <= u <= hi (per axis) and sum(u * stride) == target? Axes go from
/// the largest stride to the smallest: after fixing one coordinate the rest can only reach a
/// certain distance, which for layouts that nest (all that occur in practice) leaves one or two
/// candidates an axis.
class BoundedEquation {
public:
  struct Axis {
    Wide stride, lo, hi;
  };

  void add(Axis axis) { Axes[Count++] = axis; }

  Answer solve(Wide target) {
    sortByStride(Axes.data(), Count);
    ReachLo[Count] = ReachHi[Count] = 0;
    for (int i = Count; i-- > 0;) {
      ReachLo[i] = ReachLo[i + 1] + Axes[i].lo * Axes[i].stride;
      ReachHi[i] = ReachHi[i + 1] + Axes[i].hi * Axes[i].stride;
    }
    Budget = 2000;
    return solveFrom(0, target);
  }

private:
  Answer solveFrom(int k, Wide target) {
    if (target < ReachLo[k] || target > ReachHi[k])
      return Answer::No;
    if (k == Count)
      return Answer::Yes; // target is 0: both reaches are
    const Axis &axis = Axes[k];
    Wide first = std::max(axis.lo, ceilDiv(target - ReachHi[k + 1], axis.stride));
    Wide last = std::min(axis.hi, floorDiv(target - ReachLo[k + 1], axis.stride));
    for (Wide u = first; u <= last; ++u) {
      if (--Budget < 0)
        return Answer::Unknown;
      if (Answer answer = solveFrom(k + 1, target - u * axis.stride); answer != Answer::No)
        return answer;
    }
    return Answer::No;
  }

  static constexpr int maxAxes = 2 * (KILN_MAX_RANK + 1);
  std::array<Axis, maxAxes> Axes;
  std::array<Wide, maxAxes + 1> ReachLo, ReachHi;
  int Count = 0;
  int Budget = 0;
};

} // namespace

void Region::setStrided(const Tensor &tensor) {
  begin = end = reinterpret_cast<uintptr_t>(tensor.data());
  numAxes = 0;
  int64_t size = sizeOf(tensor.dtype()), span = size;
  std::array<Axis, KILN_MAX_RANK + 1> steps;
  int count = 0;
  for (int i = 0; i < tensor.rank(); ++i) {
    int64_t extent = tensor.extent(i), stride = tensor.stride(i) * size;
    if (extent == 0)
      return;
    if (extent == 1 || stride == 0)
      continue;
    steps[count++] = {extent, stride};
    span += (extent - 1) * stride;
  }
  steps[count++] = {size, 1};
  end += static_cast<uint64_t>(span);
  sortByStride(steps.data(), count);

  // From the innermost out: merge what continues the run so far.
  std::array<Axis, KILN_MAX_RANK + 1> merged;
  int numMerged = 0;
  for (int i = count; i-- > 0;) {
    Axis *inner = numMerged ? &merged[numMerged - 1] : nullptr;
    if (inner && steps[i].stride == inner->stride) // i*s + j*s covers the multiples up to the sum
      inner->extent += steps[i].extent - 1;
    else if (inner && steps[i].stride == inner->stride * inner->extent)
      inner->extent *= steps[i].extent;
    else
      merged[numMerged++] = steps[i];
  }
  numAxes = numMerged;
  std::reverse_copy(merged.begin(), merged.begin() + numMerged, axes.begin());
}

bool kiln::mayOverlap(const Region &a, const Region &b) {
  if (a.isEmpty() || b.isEmpty() || a.begin >= b.end || b.begin >= a.end)
    return false;
  // A shared byte is begin_a + sum(i*s) == begin_b + sum(j*t). Axes of equal stride join into one
  // unknown i - j, which is what keeps the search narrow.
  BoundedEquation equation;
  int i = 0, j = 0;
  while (i < a.numAxes || j < b.numAxes) {
    int64_t strideA = i < a.numAxes ? a.axes[i].stride : 0;
    int64_t strideB = j < b.numAxes ? b.axes[j].stride : 0;
    BoundedEquation::Axis axis{std::max(strideA, strideB), 0, 0};
    if (strideA >= strideB)
      axis.hi = a.axes[i++].extent - 1;
    if (strideB >= strideA)
      axis.lo = -(b.axes[j++].extent - 1);
    equation.add(axis);
  }
  Wide distance = static_cast<Wide>(b.begin) - static_cast<Wide>(a.begin);
  return equation.solve(distance) != Answer::No;
}

bool kiln::covers(const Region &outer, const Region &inner) {
  if (inner.isEmpty())
    return true;
  if (outer.numAxes == 1) // one run of bytes
    return outer.begin <= inner.begin && inner.end <= outer.end;
  return outer == inner;
}

bool kiln::overlapsItself(const Tensor &tensor) {
  if (tensor.numElements() == 0)
    return false;
  std::array<Region::Axis, KILN_MAX_RANK> axes;
  int count = 0;
  for (int i = 0; i < tensor.rank(); ++i)
    if (tensor.extent(i) > 1)
      axes[count++] = {tensor.extent(i), tensor.stride(i)};
  sortByStride(axes.data(), count);
  Wide reach = 0; // of the axes inside the current one
  for (int k = count; k-- > 0;) {
    const Region::Axis &axis = axes[k];
    if (axis.stride <= reach || axis.stride == 0) {
      // Two elements whose outermost difference is on this axis, by u >= 1 steps, may meet.
      BoundedEquation equation;
      equation.add({axis.stride, 1, axis.extent - 1});
      for (int j = k + 1; j < count; ++j)
        equation.add({axes[j].stride, -(axes[j].extent - 1), axes[j].extent - 1});
      if (axis.stride == 0 || equation.solve(0) == Answer::Yes)
        return true;
    }
    reach += static_cast<Wide>(axis.extent - 1) * axis.stride;
  }
  return false;
}
