#include "ShadowMemory.h"

#include "llvm/Support/MemAlloc.h"

namespace kiln::simulator {

ShadowMemory::ShadowMemory(const Order &order)
    : Happens(order), Records(kBeforeTheRun + 1), Lists(1) {}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

ShadowMemory::Allocations::iterator ShadowMemory::allocationAt(const std::byte *address) {
  auto next = Known.upper_bound(address);
  if (next == Known.begin() || std::prev(next)->second.end <= address)
    return Known.end();
  return std::prev(next);
}

static const std::byte *beginOf(const Tensor &tensor) {
  return static_cast<const std::byte *>(tensor.buffer()->data());
}

void ShadowMemory::addAllocation(const Tensor &tensor) {
  const std::byte *begin = beginOf(tensor), *end = begin + tensor.buffer()->bytes();
  // What lay here before has been returned.
  for (auto old = Known.lower_bound(begin); old != Known.end() && old->first < end;)
    old = Known.erase(old);
  if (auto old = allocationAt(begin); old != Known.end())
    Known.erase(old);
  merge(begin, end, sizeOf(tensor.dtype()));
}

ShadowMemory::Cells ShadowMemory::untouchedCells(size_t count) {
  static_assert(kNobody == 0 && std::is_trivially_copyable_v<Cell>, "zeros are untouched cells");
  return Cells(static_cast<Cell *>(llvm::safe_calloc(count, sizeof(Cell))));
}

ShadowMemory::Allocations::iterator ShadowMemory::merge(const std::byte *begin,
                                                        const std::byte *end, int64_t granule) {
  std::vector<Allocations::node_type> parts;
  auto overlap = [&] {
    auto it = allocationAt(begin);
    return it != Known.end() ? it : Known.lower_bound(begin);
  };
  for (auto it = overlap(); it != Known.end() && it->first < end; it = overlap()) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second.end);
    granule = std::min(granule, it->second.granule);
    parts.push_back(Known.extract(it));
  }
  size_t count = (end - begin) / granule;
  Allocation merged{end, granule, count, untouchedCells(count)};
  for (const Allocations::node_type &part : parts) {
    const Allocation &old = part.mapped();
    int64_t first = (part.key() - begin) / granule, perCell = old.granule / granule;
    for (size_t i = 0; i < old.count; ++i)
      std::fill_n(&merged.cells[first + i * perCell], perCell, old.cells[i]);
  }
  return Known.emplace(begin, std::move(merged)).first;
}

void ShadowMemory::addArgument(const Tensor &tensor, Content content) {
  if (tensor.numElements() == 0)
    return;
  const std::byte *begin = beginOf(tensor);
  int64_t size = sizeOf(tensor.dtype());
  auto it = merge(begin, begin + tensor.buffer()->bytes(), size);
  if (content == Content::Nothing)
    return;
  RecordId writer = content == Content::Values ? kBeforeTheRun : kUndeclared;
  Allocation &allocation = it->second;
  auto markAsWritten = [&](int64_t element, int64_t count) {
    int64_t at = tensor.dataAs<std::byte>() + element * size - it->first;
    std::fill_n(&allocation.cells[at / allocation.granule], count * size / allocation.granule,
                Cell{writer, 0});
  };
  if (tensor.isContiguous())
    return markAsWritten(0, tensor.numElements());
  // Element by element; once along an axis that is broadcast, however long it is.
  auto extent = [&](int axis) { return tensor.stride(axis) == 0 ? 1 : tensor.extent(axis); };
  std::vector<int64_t> index(tensor.rank(), 0);
  for (int axis = 0; axis >= 0;) {
    int64_t element = 0;
    for (int i = 0; i < tensor.rank(); ++i)
      element += index[i] * tensor.stride(i);
    markAsWritten(element, 1);
    for (axis = tensor.rank() - 1; axis >= 0 && ++index[axis] == extent(axis); --axis)
      index[axis] = 0;
  }
}

bool ShadowMemory::isWritten(const std::byte *at) {
  auto it = allocationAt(at);
  if (it == Known.end())
    return true;
  return isWritten(it->second.cells[(at - it->first) / it->second.granule]);
}

template <typename Visit> void ShadowMemory::forEachCell(const Tensor &tensor, Visit visit) {
  auto it = tensor.numElements() == 0 ? Known.end() : allocationAt(tensor.dataAs<std::byte>());
  if (it == Known.end())
    return;
  // Along the last axis both addresses move on by the same distance: outputs have many elements.
  int64_t size = sizeOf(tensor.dtype()), granule = it->second.granule;
  int last = tensor.rank() - 1;
  int64_t length = last < 0 ? 1 : tensor.extent(last), step = last < 0 ? 0 : tensor.stride(last);
  std::vector<int64_t> index(tensor.rank(), 0);
  for (int axis = 0; axis >= 0;) {
    int64_t element = 0;
    for (int i = 0; i < last; ++i)
      element += index[i] * tensor.stride(i);
    const std::byte *at = tensor.dataAs<std::byte>() + element * size;
    const Cell *cell = &it->second.cells[(at - it->first) / granule];
    for (int64_t i = 0; i < length; ++i) {
      if (last >= 0)
        index[last] = i;
      visit(index, at + i * step * size, cell[i * step * (size / granule)]);
    }
    for (axis = last - 1; axis >= 0 && ++index[axis] == tensor.extent(axis); --axis)
      index[axis] = 0;
  }
}

std::optional<ShadowMemory::Unwritten> ShadowMemory::findUnwritten(const Tensor &tensor) {
  Unwritten found;
  forEachCell(tensor, [&](const std::vector<int64_t> &index, const std::byte *, const Cell &cell) {
    if (isWritten(cell))
      return;
    if (found.count++ == 0) {
      found.first = found.begin = index;
      found.end.assign(index.size(), 0);
    }
    for (size_t axis = 0; axis < index.size(); ++axis) {
      found.begin[axis] = std::min(found.begin[axis], index[axis]);
      found.end[axis] = std::max(found.end[axis], index[axis] + 1);
    }
  });
  return found.count > 0 ? std::optional(found) : std::nullopt;
}

void ShadowMemory::forEachWritten(
    const Tensor &tensor,
    llvm::function_ref<void(llvm::ArrayRef<int64_t>, const std::byte *)> visit) {
  auto visitWritten = [&](const std::vector<int64_t> &indices, const std::byte *at,
                          const Cell &cell) {
    if (isWritten(cell))
      visit(indices, at);
  };
  forEachCell(tensor, visitWritten);
}

std::optional<ShadowMemory::Record> ShadowMemory::lastWriteTo(const Tensor &tensor) {
  RecordId last = kBeforeTheRun;
  forEachCell(tensor, [&](const std::vector<int64_t> &, const std::byte *, const Cell &cell) {
    ListId update = firstUpdate(cell.since);
    last = std::max({last, cell.write, update != 0 ? Lists[update].access : kNobody});
  });
  return last > kBeforeTheRun ? std::optional(Records[last]) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Records and lists
//===----------------------------------------------------------------------===//

ShadowMemory::RecordId ShadowMemory::recordOf(AccessKind kind, const Agent &agent,
                                              mlir::Operation *op) {
  RecordId &latest = Latest[{agent.number, op}];
  Moment now{agent.number, agent.epoch(), agent.phase()};
  const Record &last = Records[latest];
  if (latest == kNobody || last.kind != kind || last.moment.epoch != now.epoch ||
      last.moment.phase != now.phase) {
    latest = static_cast<RecordId>(Records.size());
    Records.push_back({op, now, kind});
  }
  return latest;
}

ShadowMemory::ListId ShadowMemory::prepend(RecordId access, ListId list, const Agent &agent) {
  if (list != 0 && Lists[list].access == access)
    return list;
  AccessKind kind = Records[access].kind;
  auto kindOf = [&](ListId node) { return Records[Lists[node].access].kind; };
  // Whatever comes after this access comes after those that came before it: they need no longer be
  // remembered, unless their kind races with something that this one does not.
  while (list != 0 && kindOf(list) == kind &&
         Happens.isBefore(Records[Lists[list].access].moment, agent))
    list = Lists[list].below;
  ListId otherKind = list == 0 || kindOf(list) != kind ? list : Lists[list].otherKind;
  Lists.push_back({access, list, otherKind});
  return static_cast<ListId>(Lists.size() - 1);
}

ShadowMemory::ListId ShadowMemory::firstUpdate(ListId list) const {
  bool isRead = list != 0 && Records[Lists[list].access].kind == AccessKind::Read;
  return isRead ? Lists[list].otherKind : list;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// What one access does to the cells it touches. The outcome depends on the old cell alone, so
/// it is worked out once for each different one.
class ShadowMemory::Transition {
public:
  Transition(ShadowMemory &shadow, AccessKind kind, const Agent &agent, mlir::Operation *op)
      : Shadow(shadow), Kind(kind), Who(agent), Me(shadow.recordOf(kind, agent, op)) {}

  void apply(Cell *cells, int64_t count, int64_t row, int64_t col, int64_t cellsPerColumn) {
    for (int64_t i = 0; i < count; ++i) {
      if (!(cells[i] == Old)) {
        Old = cells[i];
        New = next(row, col + i / cellsPerColumn);
      }
      cells[i] = New;
    }
  }

  llvm::SmallVector<Problem, 0> problems;

private:
  Cell next(int64_t row, int64_t col) {
    auto [known, isNew] = Outcomes.try_emplace({Old.write, Old.since});
    if (isNew)
      known->second = decide(row, col);
    return known->second;
  }

  Cell decide(int64_t row, int64_t col) {
    if (Old.write > kBeforeTheRun)
      check(Old.write, row, col);
    bool isRead = Kind == AccessKind::Read;
    ListId first = Old.since;
    bool isFirst = Shadow.firstUpdate(first) == 0;
    if (Kind != AccessKind::Write && Old.write == kNobody && isFirst)
      problems.push_back({std::nullopt, row, col});
    if (Kind == AccessKind::AtomicAdd && Old.write == kUndeclared && isFirst)
      problems.push_back({std::nullopt, row, col, /*isUndeclared=*/true});
    if (Kind == AccessKind::Write) { // races with every access, atomic or not
      for (ListId node = first; node != 0; node = Shadow.Lists[node].below)
        check(Shadow.Lists[node].access, row, col);
      return {Me, 0};
    }
    // Reads race with updates only, and updates with reads only: skip runs of the same kind.
    AccessKind rival = isRead ? AccessKind::AtomicAdd : AccessKind::Read;
    for (ListId node = first; node != 0;) {
      bool isRival = isKind(node, rival);
      if (isRival)
        check(Shadow.Lists[node].access, row, col);
      node = isRival ? Shadow.Lists[node].below : Shadow.Lists[node].otherKind;
    }
    return {Old.write, Shadow.prepend(Me, first, Who)};
  }

  bool isKind(ListId node, AccessKind kind) const {
    return Shadow.Records[Shadow.Lists[node].access].kind == kind;
  }

  void check(RecordId other, int64_t row, int64_t col) {
    const Record &record = Shadow.Records[other];
    if (other != Me && !Shadow.Happens.isBefore(record.moment, Who))
      problems.push_back({record, row, col});
  }

  ShadowMemory &Shadow;
  AccessKind Kind;
  const Agent &Who;
  RecordId Me;
  Cell Old{UINT32_MAX, UINT32_MAX}, New;
  llvm::SmallDenseMap<std::pair<RecordId, ListId>, Cell, 4> Outcomes;
};

llvm::SmallVector<ShadowMemory::Problem, 0> ShadowMemory::access(const Footprint &at,
                                                                 AccessKind kind,
                                                                 const Agent &agent,
                                                                 mlir::Operation *op) {
  auto it = at.rows > 0 && at.cols > 0 ? allocationAt(at.origin) : Known.end();
  if (it == Known.end())
    return {};
  Allocation &allocation = it->second;
  int64_t perElement = at.elementSize / allocation.granule;
  auto cellAt = [&](int64_t row, int64_t col) {
    const std::byte *address = at.origin + row * at.rowStride + col * at.colStride;
    return &allocation.cells[(address - it->first) / allocation.granule];
  };
  Transition transition(*this, kind, agent, op);
  bool hasRuns = at.colStride == at.elementSize; // a row is one run of cells
  for (int64_t row = 0; row < at.rows; ++row)
    for (int64_t col = 0; col < (hasRuns ? 1 : at.cols); ++col)
      transition.apply(cellAt(row, col), hasRuns ? at.cols * perElement : perElement, row, col,
                       perElement);
  return std::move(transition.problems);
}

} // namespace kiln::simulator
