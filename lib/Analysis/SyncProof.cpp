#include "kiln/Analysis/SyncProof.h"

#include "kiln/Dialect/Sync/SyncDialect.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <array>

using namespace mlir;

namespace kiln {
namespace {

/// How many instructions of each unit have finished, as somebody knows it.
using Clock = std::array<int64_t, numUnits>;

void learn(Clock &clock, const Clock &other) {
  for (unsigned unit = 0; unit < numUnits; ++unit)
    clock[unit] = std::max(clock[unit], other[unit]);
}

/// A flag that is set: what its setter knew, itself included.
struct Token {
  Clock clock;
  Operation *setter;
};

struct Issued {
  const Instruction *instruction;
  int64_t number; ///< Among those of its unit.
};

/// One execution, up to some point.
struct Execution {
  Clock issued = {};
  std::array<Clock, numUnits> known = {}; ///< To each unit, before it begins anything more.
  std::map<std::array<int64_t, 3>, Token> flags;
  std::vector<Issued> log;
};

class Replay {
public:
  Replay(ir::FuncOp func, const Machine &machine, const llvm::DenseSet<Operation *> &without)
      : Func(func), Target(machine), Facts(*hardwareOf(machine)), Without(without) {}

  std::optional<SyncFault> run() {
    std::vector<Execution> ends = execute(Func.getBody().front(), {Execution()});
    for (Execution &end : ends)
      finish(end);
    return Fault;
  }

  /// Which operations set what which others waited for.
  llvm::EquivalenceClasses<Operation *> Matches;

private:
  void report(Operation *at, const Twine &message, Operation *other = nullptr) {
    if (!Fault)
      Fault = SyncFault{at, message.str(), other};
  }

  std::vector<Execution> execute(Block &block, std::vector<Execution> states) {
    for (Operation &op : block) {
      if (Fault)
        break;
      if (auto branch = dyn_cast<scf::IfOp>(op))
        states = executeIf(branch, states);
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        states = executeFor(loop, states);
      else if (op.getNumRegions() > 0)
        report(&op, "cannot be followed: only for loops and branches can");
      else
        for (Execution &state : states)
          step(&op, state);
      if (states.size() > kMost) {
        report(&op, "has more ways before it than are followed");
        break;
      }
    }
    return states;
  }

  std::vector<Execution> executeIf(scf::IfOp branch, const std::vector<Execution> &states) {
    std::vector<Execution> taken = execute(*branch.thenBlock(), states);
    std::vector<Execution> other =
        branch.elseBlock() ? execute(*branch.elseBlock(), states) : states;
    llvm::append_range(taken, other);
    return taken;
  }

  std::vector<Execution> executeFor(scf::ForOp loop, const std::vector<Execution> &states) {
    std::vector<Execution> once = execute(*loop.getBody(), states);
    std::vector<Execution> twice = execute(*loop.getBody(), once);
    std::vector<Execution> all = states;
    llvm::append_range(all, once);
    llvm::append_range(all, twice);
    return all;
  }

  void step(Operation *op, Execution &state) {
    if (Without.contains(op))
      return;
    if (auto set = dyn_cast<sync::SetOp>(op))
      return setFlag(set, state);
    if (auto wait = dyn_cast<sync::WaitOp>(op))
      return waitForFlag(wait, state);
    if (auto barrier = dyn_cast<sync::BarrierOp>(op))
      return passBarrier(barrier, state);
    auto found = Known.find(op);
    if (found == Known.end())
      found = Known.try_emplace(op, instructionOf(op, Target)).first;
    if (found->second)
      issue(*found->second, state);
  }

  template <typename Flag> std::array<int64_t, 3> keyOf(Flag op) {
    if (int64_t(op.getId()) >= Facts.events)
      report(op, "uses flag " + Twine(op.getId()) + "; there are " + Twine(Facts.events) +
                     " between two units");
    return {int64_t(op.getFrom()), int64_t(op.getTo()), int64_t(op.getId())};
  }

  void setFlag(sync::SetOp set, Execution &state) {
    auto unit = unsigned(set.getFrom());
    Token token{state.known[unit], set};
    token.clock[unit] = std::max(token.clock[unit], state.issued[unit]);
    auto [flag, isNew] = state.flags.try_emplace(keyOf(set), token);
    if (!isNew)
      report(set, kFlagIsSetAlready, flag->second.setter);
  }

  void waitForFlag(sync::WaitOp wait, Execution &state) {
    auto flag = state.flags.find(keyOf(wait));
    if (flag == state.flags.end())
      return report(wait, kFlagIsNotSet);
    Matches.unionSets(wait.getOperation(), flag->second.setter);
    // The scalar unit hands out all instructions, so what it waits for all others wait for.
    for (unsigned unit = 0; unit < numUnits; ++unit)
      if (wait.getTo() == sync::UnitKind::S || unit == unsigned(wait.getTo()))
        learn(state.known[unit], flag->second.clock);
    state.flags.erase(flag);
  }

  static void passBarrier(sync::BarrierOp barrier, Execution &state) {
    if (barrier.getUnit() != sync::UnitKind::All) {
      auto unit = unsigned(barrier.getUnit());
      state.known[unit][unit] = state.issued[unit];
      return;
    }
    for (Clock &clock : state.known)
      clock = state.issued;
    state.log.clear();
  }

  void issue(const Instruction &instruction, Execution &state) {
    auto unit = unsigned(instruction.unit);
    for (const Issued &earlier : state.log) {
      auto of = unsigned(earlier.instruction->unit);
      if (state.known[unit][of] < earlier.number && mustWait(*earlier.instruction, instruction))
        return report(instruction.op, outOfOrderText(instruction.unit, earlier.instruction->unit),
                      earlier.instruction->op);
    }
    int64_t number = ++state.issued[unit];
    if (instruction.unit == Unit::S) { // it has finished when anything else is handed out
      for (Clock &clock : state.known)
        clock[unit] = number;
      return;
    }
    state.log.push_back({&instruction, number});
  }

  void finish(const Execution &end) {
    for (const auto &[key, token] : end.flags)
      report(token.setter, kFlagIsNotWaitedFor);
    for (const Issued &issued : end.log)
      for (const Clock &clock : end.known)
        if (clock[unsigned(issued.instruction->unit)] < issued.number)
          report(issued.instruction->op, kMayNotHaveFinished);
  }

  static constexpr size_t kMost = 4096;

  ir::FuncOp Func;
  const Machine &Target;
  const Hardware &Facts;
  const llvm::DenseSet<Operation *> &Without;
  std::map<Operation *, std::optional<Instruction>> Known;
  std::optional<SyncFault> Fault;
};

} // namespace

std::optional<SyncFault> findSyncFault(ir::FuncOp func, const Machine &machine,
                                       const llvm::DenseSet<Operation *> &without) {
  return Replay(func, machine, without).run();
}

std::vector<llvm::DenseSet<Operation *>> syncMutants(ir::FuncOp func, const Machine &machine) {
  llvm::DenseSet<Operation *> nothing;
  Replay whole(func, machine, nothing);
  whole.run();
  std::vector<llvm::DenseSet<Operation *>> mutants;
  llvm::DenseMap<Operation *, size_t> flags; // by the one that stands for its class
  func.walk([&](Operation *op) {
    if (isa<sync::BarrierOp>(op)) {
      mutants.push_back({op});
    } else if (isa<sync::SetOp, sync::WaitOp>(op)) {
      mutants.push_back({op});
      Operation *leader = whole.Matches.getOrInsertLeaderValue(op);
      auto [at, isNew] = flags.try_emplace(leader, mutants.size());
      if (isNew)
        mutants.emplace_back();
      mutants[at->second].insert(op);
    }
  });
  return mutants;
}

} // namespace kiln
