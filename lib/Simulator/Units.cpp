#include "Units.h"

#include "Interpreter.h"

using namespace mlir;

namespace kiln::simulator {

bool hasSync(ir::FuncOp func) {
  return func
      .walk([](Operation *op) {
        return isa_and_nonnull<sync::SyncDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

Units::Units(const Machine &machine, Agent &scalar, Watcher &watcher)
    : Target(machine), Watch(watcher) {
  Agents.fill(&scalar);
  for (unsigned unit = 0; unit < numUnits; ++unit) {
    if (static_cast<Unit>(unit) == Unit::S)
      continue;
    Agents[unit] = &watcher.addAgent(scalar.name + " (unit " +
                                     std::string(toString(static_cast<Unit>(unit))) + ")");
    Agents[unit]->core = scalar.number;
  }
}

static uint32_t entryOf(const Clock &clock, const Agent &agent) {
  return agent.instance < clock.entries.size() ? clock.entries[agent.instance] : 0;
}

void Units::learn(Unit unit, const Clock &other) {
  // Others may have waited for this unit, which does not wait for itself.
  uint32_t &finished = Finished[static_cast<size_t>(unit)];
  finished = std::max(finished, entryOf(other, agentOf(unit)));
  agentOf(unit).acquire(other);
}

const Instruction *Units::instructionFor(Operation *op) {
  auto [found, isNew] = Instructions.try_emplace(op);
  if (isNew)
    found->second = instructionOf(op, Target);
  return found->second ? &*found->second : nullptr;
}

Agent &Units::begin(Operation *op) {
  const Instruction *instruction = instructionFor(op);
  if (!instruction)
    return agentOf(Unit::S);
  Agent &agent = agentOf(instruction->unit);
  if (instruction->unit != Unit::S)
    learn(instruction->unit, agentOf(Unit::S).release());
  checkOrder(*instruction);
  if (instruction->unit != Unit::S) { // the scalar unit has finished before it hands out more
    Log.erase(op);
    Log.insert({op, {instruction, agent.epoch()}});
  }
  return agent;
}

bool Units::isFinished(const Issued &earlier, Unit to) const {
  Unit unit = earlier.instruction->unit;
  uint32_t known = unit == to ? Finished[static_cast<size_t>(unit)]
                              : entryOf(Agents[static_cast<size_t>(to)]->clock,
                                        *Agents[static_cast<size_t>(unit)]);
  return known >= earlier.epoch;
}

void Units::checkOrder(const Instruction &instruction) {
  for (const auto &[op, earlier] : Log)
    if (!isFinished(earlier, instruction.unit) &&
        collideInCore(*earlier.instruction, instruction)) {
      Watch.unitsAreOutOfOrder(agentOf(instruction.unit), instruction.op,
                               outOfOrderText(instruction.unit, earlier.instruction->unit), op);
      return;
    }
}

template <typename Op> std::array<unsigned, 3> Units::keyOf(Op op) const {
  return {unsigned(op.getFrom()), unsigned(op.getTo()), unsigned(op.getId())};
}

void Units::set(sync::SetOp op) {
  Agent &scalar = agentOf(Unit::S);
  auto from = static_cast<Unit>(op.getFrom());
  if (from != Unit::S)
    learn(from, scalar.release());
  auto [flag, isNew] = Flags.try_emplace(keyOf(op), Flag{agentOf(from).release(), op});
  if (!isNew)
    Watch.unitsAreOutOfOrder(scalar, op, kFlagIsSetAlready, flag->second.setter);
}

Status Units::wait(sync::WaitOp op) {
  auto flag = Flags.find(keyOf(op));
  if (flag == Flags.end())
    return fault(kFlagIsNotSet);
  learn(static_cast<Unit>(op.getTo()), flag->second.before);
  Flags.erase(flag);
  return Status::ok();
}

void Units::pass(sync::BarrierOp op) {
  if (op.getUnit() != sync::UnitKind::All) {
    auto unit = static_cast<Unit>(op.getUnit());
    Finished[static_cast<size_t>(unit)] = agentOf(unit).release().entries[agentOf(unit).instance];
    return;
  }
  // The scalar unit waits for all, and everything it hands out later comes after that.
  for (unsigned unit = 0; unit < numUnits; ++unit)
    if (static_cast<Unit>(unit) != Unit::S)
      learn(Unit::S, Agents[unit]->release());
  Log.clear();
}

void Units::finish() {
  for (const auto &[key, flag] : Flags)
    Watch.unitsAreOutOfOrder(agentOf(Unit::S), flag.setter, kFlagIsNotWaitedFor, nullptr);
  for (const auto &[op, issued] : Log)
    if (!isFinished(issued, Unit::S))
      Watch.unitsAreOutOfOrder(agentOf(issued.instruction->unit), op, kMayNotHaveFinished, nullptr);
}

//===----------------------------------------------------------------------===//
// Flags and barriers as operations
//===----------------------------------------------------------------------===//

// Where nobody watches, operations run one after the other and there is nothing to wait for.
static Status runSet(Interpreter &in, sync::SetOp op) {
  if (Units *units = in.units())
    units->set(op);
  return Status::ok();
}

static Status runWait(Interpreter &in, sync::WaitOp op) {
  Units *units = in.units();
  return units ? units->wait(op) : Status::ok();
}

static Status runBarrier(Interpreter &in, sync::BarrierOp op) {
  if (Units *units = in.units())
    units->pass(op);
  return Status::ok();
}

void addUnitOps(OpTable &table) {
  table.add<sync::SetOp, runSet>();
  table.add<sync::WaitOp, runWait>();
  table.add<sync::BarrierOp, runBarrier>();
}

} // namespace kiln::simulator
