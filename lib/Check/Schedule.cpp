#include "Schedule.h"

#include "Checker.h"
#include "Simulator/Interpreter.h"

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Program/Signature.h"

namespace kiln::simulator {

static FindingStep stepOf(const Agent &agent, FindingStep::Kind kind) {
  FindingStep step;
  step.kind = kind;
  step.task = agent.task;
  step.block = agent.block;
  step.instance = agent.name;
  return step;
}

void Schedule::add(const Agent &agent, Kind kind, mlir::Operation *op, std::string what) {
  FindingStep words = stepOf(agent, kind);
  words.what = std::move(what);
  Steps.push_back({agent.number, kind, op, std::move(words)});
  if (Steps.size() > most)
    Steps.pop_front();
}

void Schedule::addAccess(const Access &access, const Footprint &at, AccessKind kind) {
  Kind step = kind == AccessKind::Read    ? Kind::Read
              : kind == AccessKind::Write ? Kind::Write
                                          : Kind::AtomicAdd;
  std::string where;
  for (size_t axis = 0; axis < access.indices.size(); ++axis) {
    bool isRow = at.rowAxis == static_cast<int>(axis), isCol = at.colAxis == static_cast<int>(axis);
    int64_t begin = access.indices[axis] + (isRow ? at.top : isCol ? at.left : 0);
    int64_t count = isRow ? at.rows : isCol ? at.cols : 1;
    where += (axis ? ", " : "") + std::to_string(begin) +
             (count > 1 ? ":" + std::to_string(begin + count) : "");
  }
  add(*access.agent, step, access.op,
      std::string(verb(kind)) + " [" + where + "] of " + describe(access.name, access.tensor));
}

void Schedule::addPipe(const Agent &agent, mlir::Operation *op, const std::string &pipe,
                       uint64_t used, int64_t slots) {
  bool isPush = llvm::isa<tile::PushOp>(op), isPop = llvm::isa<tile::PopOp>(op);
  add(agent,
      isPush  ? Kind::Push
      : isPop ? Kind::Pop
              : Kind::Free,
      op,
      std::string(isPush  ? "pushes into '"
                  : isPop ? "pops from '"
                          : "frees a slot of '") +
          pipe + "' (" + std::to_string(used) + " of " + std::to_string(slots) +
          (slots == 1 ? " slot" : " slots") + " in use)");
}

std::vector<FindingStep> Schedule::steps(const Agent *other, mlir::Operation *otherOp) const {
  std::vector<FindingStep> list;
  bool hasOther = !other;
  for (const Step &step : Steps) {
    hasOther |= other && step.agent == other->number && step.op == otherOp;
    list.push_back(step.words);
    if (step.op)
      list.back().location = sourceLocOf(step.op->getLoc());
  }
  if (hasOther)
    return list;
  FindingStep first = stepOf(*other, Kind::Write);
  first.what = "accesses the same element, more than " + std::to_string(most) + " steps before";
  first.location = sourceLocOf(otherOp->getLoc());
  list.insert(list.begin(), std::move(first));
  return list;
}

} // namespace kiln::simulator
