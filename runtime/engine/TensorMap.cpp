#include "engine/TensorMap.h"

#include <algorithm>

using namespace kiln;

TensorMap::Group &TensorMap::groupOf(const Tensor &tensor) {
  auto begin = reinterpret_cast<uintptr_t>(tensor.buffer()->data());
  uintptr_t end = begin + tensor.buffer()->bytes();
  auto it = Groups.upper_bound(begin);
  if (it != Groups.begin() && std::prev(it)->second.end > begin)
    --it;

  Group merged;
  auto first = it;
  for (; it != Groups.end() && it->first < end; ++it) {
    Group &group = it->second;
    std::erase_if(group.accesses, [&](const Access &access) { return Tasks.isRetired(access); });
    if (it->first == begin && group.end == end && merged.accesses.empty())
      return group; // the usual case: the allocation is known
    if (group.accesses.empty())
      continue; // of an allocation long gone: do not inherit its range
    begin = std::min(begin, it->first);
    end = std::max(end, group.end);
    if (merged.accesses.empty())
      merged.accesses = std::move(group.accesses);
    else
      merged.accesses.insert(merged.accesses.end(), group.accesses.begin(), group.accesses.end());
  }
  Groups.erase(first, it);
  merged.end = end;
  return Groups.emplace(begin, std::move(merged)).first->second;
}

void TensorMap::findOverlaps(const Tensor &tensor, const Region &region,
                             std::vector<const Access *> &found) {
  if (region.isEmpty())
    return;
  size_t before = found.size();
  for (const Access &access : groupOf(tensor).accesses)
    if (mayOverlap(access.region, region))
      found.push_back(&access);
  // Merged groups are concatenated, not interleaved; the trace should not depend on addresses.
  std::stable_sort(found.begin() + static_cast<ptrdiff_t>(before), found.end(),
                   [](const Access *a, const Access *b) { return a->task < b->task; });
}
