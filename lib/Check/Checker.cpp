#include "Checker.h"

#include "kiln/Target/Signature/Signature.h"

namespace kiln::sim {

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void Checker::taskIsSubmitted(std::optional<Access> predicate) {
  Happens.taskIsSubmitted();
  if (predicate)
    Predicates[Submitted] = {predicate->op, predicate->name, predicate->tensor,
                             std::move(predicate->indices)};
  ++Submitted;
}

void Checker::taskStarts(uint64_t task, const Trace &trace) {
  Happens.update(trace);
  CurrentTask = task;
  auto predicate = Predicates.find(task);
  if (predicate == Predicates.end())
    return;
  const auto &[op, name, tensor, indices] = predicate->second;
  Happens.beginBlock(task, {0, 0, 0});
  Agent &agent = Happens.addAgent("the predicate");
  agent.phase = 0; // before any block
  Access access{op, name, tensor, indices, &agent};
  check(access, footprintOf(access), AccessKind::Read, agent);
  Predicates.erase(predicate);
}

void Checker::orchestrationReads(const Access &access, const Trace &trace) {
  std::vector<int64_t> ones(access.indices.size(), 1);
  Happens.orchestrationReads(*access.tensor.slice(access.indices, ones), trace);
  if (!Shadow.isWritten(addressOf(access)))
    tellUnwritten(access, nullptr);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Checker::memoryIsAccessed(const Access &access, const Footprint &at, AccessKind kind) {
  if (access.agent)
    check(access, at, kind, *access.agent);
}

/// "[0, 5]": where a row and column of a footprint lie in the tensor.
static std::vector<int64_t> indicesOf(const Access &access, const Footprint &at, int64_t row,
                                      int64_t col) {
  std::vector<int64_t> indices = access.indices;
  if (at.rowAxis >= 0)
    indices[at.rowAxis] += at.top + row;
  if (at.colAxis >= 0)
    indices[at.colAxis] += at.left + col;
  return indices;
}

void Checker::check(const Access &access, const Footprint &at, AccessKind kind,
                    const Agent &agent) {
  for (const ShadowMemory::Problem &problem : Shadow.access(at, kind, agent, access.op)) {
    Access element{access.op, access.name, access.tensor,
                   indicesOf(access, at, problem.row, problem.col)};
    if (problem.other)
      tellRace(element, kind, agent, *problem.other);
    else
      tellUnwritten(element, &agent);
  }
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static void setPlace(Finding &finding, const Agent &agent) {
  finding.task = agent.task;
  finding.block = agent.block;
  finding.instance = agent.name;
}

static std::string describeBlock(const Agent &agent) {
  return "block " + toString(Dims(std::span(agent.block)));
}

/// Two agents by what tells them apart, and what would order them.
struct Rivals {
  std::string one, other, remedy;
};

static Rivals describe(const Agent &one, const Agent &other) {
  auto task = [](const Agent &agent) {
    return "task " + std::to_string(agent.task) + " (@" + agent.name + ")";
  };
  if (one.task != other.task)
    return {task(one), task(other),
            "give the later submit deps(...) on the earlier, or take both out of the manual scope"};
  if (one.blockRun != other.blockRun)
    return {describeBlock(one), describeBlock(other) + " of the same launch",
            "the blocks of a launch run in any order: let each have elements of its own, or add "
            "with tile.store ... atomic(add)"};
  return {one.name, other.name,
          "the instances of a group run side by side: let each have elements of its own "
          "(tile.lane), or order them with a pipe"};
}

static const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
    return "reads";
  case AccessKind::Write:
    return "writes";
  case AccessKind::AtomicAdd:
    return "adds to";
  }
  return "accesses";
}

/// "element [0, 5] of 'x' (f32[4, 8])"
static std::string describeElement(const Access &access) {
  return "element " + toString(Dims(access.indices)) + " of " +
         describe(access.name, access.tensor);
}

static std::string valueAt(const Access &access) {
  DType dtype = access.tensor.dtype();
  if (!isFloat(dtype))
    return std::to_string(loadElementInt(dtype, addressOf(access)));
  char text[32];
  std::snprintf(text, sizeof text, "%g", loadElement(dtype, addressOf(access)));
  return text;
}

void Checker::tellRace(const Access &element, AccessKind kind, const Agent &agent,
                       const ShadowMemory::Record &other) {
  Finding *finding = Found.add(FindingKind::Race, element.op, other.op);
  if (!finding)
    return;
  setPlace(*finding, agent);
  const Agent &rival = Happens.agent(other.moment.agent);
  auto [one, two, remedy] = describe(agent, rival);
  finding->message = "race: " + one + " " + verb(kind) + " " + describeElement(element) +
                     ", which " + two + " " + verb(other.kind) +
                     ", and nothing orders the two; it holds " + valueAt(element);
  finding->notes.push_back({two + " " + verb(other.kind) + " it here (in " + rival.name + ", " +
                                describeBlock(rival) + " of task " + std::to_string(rival.task) +
                                ")",
                            sourceLocOf(other.op->getLoc())});
  finding->notes.push_back({remedy, {}});
}

void Checker::tellUnwritten(const Access &element, const Agent *agent) {
  Finding *finding = Found.add(FindingKind::UnwrittenRead, element.op);
  if (!finding)
    return;
  if (agent)
    setPlace(*finding, *agent);
  finding->message = "reads " + describeElement(element) + ", which nobody has written";
  mlir::Value root = ir::rootOf(element.name);
  if (mlir::Operation *alloc = root.getDefiningOp())
    finding->notes.push_back({"allocated here", sourceLocOf(alloc->getLoc())});
}

} // namespace kiln::sim
