#include "ParallelLoop.h"

using namespace mlir;

namespace kiln::simulator {

void ParallelLoop::Users::add(uint64_t iteration, Operation *by) {
  if (one == kNone)
    one = iteration;
  else if (one != iteration && two == kNone)
    two = iteration;
  op = by;
}

std::optional<uint64_t> ParallelLoop::Users::otherThan(uint64_t iteration) const {
  if (one != kNone && one != iteration)
    return one;
  if (two != kNone && two != iteration)
    return two;
  return std::nullopt;
}

/// Whether two iterations may do this to one element: both read, or both add.
static bool areFine(AccessKind one, AccessKind other) {
  return one == other && one != AccessKind::Write;
}

std::optional<ParallelLoop::Conflict> ParallelLoop::access(const Footprint &at, AccessKind kind,
                                                           uint64_t iteration, Operation *op) {
  std::optional<Conflict> found;
  for (int64_t row = 0; row < at.rows; ++row)
    for (int64_t col = 0; col < at.cols; ++col) {
      Cell &cell = Cells[at.origin + row * at.rowStride + col * at.colStride];
      for (AccessKind other : {AccessKind::Write, AccessKind::Read, AccessKind::AtomicAdd}) {
        const Users &users = cell[static_cast<size_t>(other)];
        std::optional<uint64_t> rival = users.otherThan(iteration);
        if (rival && !found && !areFine(kind, other))
          found = Conflict{users.op, *rival, other, row, col};
      }
      cell[static_cast<size_t>(kind)].add(iteration, op);
    }
  return found;
}

void ParallelLoop::forget(const std::byte *begin, const std::byte *end) {
  Cells.erase(Cells.lower_bound(begin), Cells.lower_bound(end));
}

} // namespace kiln::simulator
