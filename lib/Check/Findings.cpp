#include "Findings.h"

#include "kiln/Program/Signature.h"

namespace kiln::simulator {

Finding *Findings::add(FindingKind kind, mlir::Operation *op, mlir::Operation *other,
                       unsigned number) {
  // Which side of a race comes second depends on the schedule; it is the same race.
  auto [first, second] = std::minmax(op, other);
  auto [known, isNew] = Told.try_emplace({kind, first, second, number}, List.size());
  if (!isNew) {
    ++List[known->second].count;
    return nullptr;
  }
  Finding &finding = List.emplace_back();
  finding.kind = kind;
  finding.location = sourceLocOf(op->getLoc());
  finding.seed = seed;
  if (schedule)
    finding.schedule = schedule->steps();
  return &finding;
}

void Findings::addFailure(const Status &failure) {
  bool isDeadlock = failure.code() == StatusCode::Deadlock;
  FindingKind kind = isDeadlock ? FindingKind::Deadlock : FindingKind::Fault;
  for (Finding &finding : List)
    if (finding.kind == kind && finding.location == failure.location()) {
      ++finding.count;
      return;
    }
  Finding &finding = List.emplace_back();
  finding.kind = kind;
  finding.message = failure.message();
  finding.location = failure.location();
  finding.seed = seed;
  if (schedule)
    finding.schedule = schedule->steps();
}

} // namespace kiln::simulator
