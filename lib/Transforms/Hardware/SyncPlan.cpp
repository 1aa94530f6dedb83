#include "SyncPlan.h"

#include "kiln/Dialect/Sync/SyncDialect.h"

using namespace mlir;

namespace kiln {

SyncPlan::SyncPlan(ir::FuncOp func, const Machine &machine) : Func(func), Target(machine) {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (std::optional<Instruction> instruction = instructionOf(op, machine))
      Instructions.insert({op, std::move(*instruction)});
  });
}

LogicalResult SyncPlan::make() {
  WalkResult walked = Func.walk([&](Operation *op) {
    if (op != Func && op->getNumRegions() > 0 && !isa<scf::ForOp, scf::IfOp>(op)) {
      op->emitOpError("cannot be compiled for ")
          << Target.platform << ": its units can be kept in order in for loops and branches only";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  while (!follow(/*stopsAtFirst=*/false)) {
    OldFlags = Flags.size();
    OldBarriers = Barriers.size();
    for (const Missing &missing : Found)
      add(missing);
  }
  do
    leaveOutSuperfluous();
  while (!number());
  return success();
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

/// Whether nothing is missing; what is, is in `Found`.
bool SyncPlan::follow(bool stopsAtFirst) {
  Instances.clear();
  Found.clear();
  Iterations.clear();
  StopsAtFirst = stopsAtFirst;
  State state;
  follow(Func.getBody().front(), state);
  return Found.empty();
}

void SyncPlan::follow(Block &block, State &state) {
  for (Operation &op : block) {
    if (StopsAtFirst && !Found.empty())
      return;
    for (const Flag &flag : Flags)
      if (flag.loop == &op)
        set(flag, state);
    for (const Flag &flag : Flags)
      if (flag.before == &op)
        wait(flag, state);
    for (const Barrier &barrier : Barriers)
      if (barrier.before == &op)
        pass(barrier, state);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      followFor(loop, state);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      followIf(branch, state);
    else if (auto found = Instructions.find(&op); found != Instructions.end())
      issue(found->second, state);
    for (const Flag &flag : Flags)
      if (flag.loop == &op)
        wait(flag, state);
    for (const Flag &flag : Flags)
      if (flag.after == &op)
        set(flag, state);
  }
}

void SyncPlan::followFor(scf::ForOp loop, State &state) {
  State before = state;
  for (int iteration : {0, 1}) {
    Iterations.push_back({loop, iteration});
    follow(*loop.getBody(), state);
    Iterations.pop_back();
    if (iteration == 0)
      join(before, state);
  }
  join(state, before);
}

void SyncPlan::followIf(scf::IfOp branch, State &state) {
  State other = state;
  follow(*branch.thenBlock(), state);
  if (branch.elseBlock())
    follow(*branch.elseBlock(), other);
  join(state, other);
}

static bool has(const llvm::BitVector &set, unsigned index) {
  return index < set.size() && set.test(index);
}
static void put(llvm::BitVector &set, unsigned index) {
  if (set.size() <= index)
    set.resize(index + 1);
  set.set(index);
}

void SyncPlan::issue(const Instruction &instruction, State &state) {
  auto unit = unsigned(instruction.unit);
  auto instance = std::make_unique<Instance>(Instance{&instruction, Iterations});
  // Of several of one unit the last is enough: what came before it has finished by then.
  std::array<const Instance *, numUnits> last = {};
  for (unsigned index : state.unknown[unit].set_bits()) {
    const Instance &earlier = *Instances[index];
    if (mustWait(*earlier.instruction, instruction))
      last[unsigned(earlier.instruction->unit)] = &earlier;
  }
  for (const Instance *earlier : last)
    if (earlier) {
      Found.push_back({earlier, *instance});
      for (unsigned index : state.unknown[unit].set_bits()) // as if the flag were there
        if (Instances[index]->instruction->unit == earlier->instruction->unit)
          state.unknown[unit].reset(index);
    }
  unsigned index = Instances.size();
  Instances.push_back(std::move(instance));
  put(state.executed, index);
  if (instruction.unit != Unit::S) // the scalar unit goes on when it has finished
    for (llvm::BitVector &unknown : state.unknown)
      put(unknown, index);
}

void SyncPlan::set(const Flag &flag, State &state) {
  llvm::BitVector told = state.executed;
  for (unsigned index : state.executed.set_bits())
    if (has(state.unknown[unsigned(flag.from)], index) &&
        Instances[index]->instruction->unit != flag.from)
      told.reset(index);
  state.finished[&flag] = std::move(told);
}

void SyncPlan::wait(const Flag &flag, State &state) {
  auto told = state.finished.find(&flag);
  if (told == state.finished.end())
    return;
  for (unsigned unit = 0; unit < numUnits; ++unit)
    if (flag.to == Unit::S || unit == unsigned(flag.to))
      state.unknown[unit].reset(told->second);
  state.finished.erase(told);
}

void SyncPlan::pass(const Barrier &barrier, State &state) {
  if (!barrier.unit) {
    for (llvm::BitVector &unknown : state.unknown)
      unknown.reset();
    return;
  }
  llvm::BitVector &unknown = state.unknown[unsigned(*barrier.unit)];
  for (unsigned index : unknown.set_bits())
    if (Instances[index]->instruction->unit == *barrier.unit)
      unknown.reset(index);
}

void SyncPlan::join(State &into, const State &other) {
  for (unsigned unit = 0; unit < numUnits; ++unit)
    into.unknown[unit] |= other.unknown[unit];
  // A flag tells of an instruction that one way did not execute as if it had finished there.
  for (auto &[flag, told] : into.finished) {
    auto theirs = other.finished.find(flag);
    unsigned size = std::max(into.executed.size(), other.executed.size());
    llvm::BitVector both(size);
    for (unsigned index = 0; index < size; ++index)
      if ((has(told, index) || !has(into.executed, index)) && theirs != other.finished.end() &&
          (has(theirs->second, index) || !has(other.executed, index)))
        both.set(index);
    told = std::move(both);
  }
  into.executed |= other.executed;
}

//===----------------------------------------------------------------------===//
// Flags and barriers
//===----------------------------------------------------------------------===//

/// The operation of `block` that an operation is or lies in; null if it is elsewhere.
static Operation *inBlock(Block *block, Operation *op) { return block->findAncestorOpInBlock(*op); }

void SyncPlan::add(const Missing &missing) {
  Operation *first = missing.first->instruction->op, *second = missing.second.instruction->op;
  Unit from = missing.first->instruction->unit, to = missing.second.instruction->unit;
  // One that has been there and did not help cannot happen; a barrier of all units is right anyway.
  auto addBarrier = [&](std::optional<Unit> unit, Operation *before) {
    auto found = llvm::find(Barriers, Barrier{unit, before});
    if (found == Barriers.end())
      Barriers.push_back({unit, before});
    else if (unit && found - Barriers.begin() < OldBarriers)
      Barriers.push_back({std::nullopt, before});
  };
  if (from == to)
    return addBarrier(from, second);
  // The outermost loop that lies between the two: they are in different iterations of it.
  scf::ForOp between;
  for (auto [one, other] : llvm::zip(missing.first->iterations, missing.second.iterations)) {
    if (one.first != other.first)
      break;
    if (one.second != other.second) {
      between = cast<scf::ForOp>(one.first);
      break;
    }
  }
  Block *block = between ? between.getBody() : first->getBlock();
  while (!inBlock(block, second) || !inBlock(block, first))
    block = block->getParentOp()->getBlock();
  Operation *after = inBlock(block, first), *before = inBlock(block, second);
  bool isForward = after != before && after->isBeforeInBlock(before);
  if (!between && !isForward)
    return addBarrier(std::nullopt, second); // both inside one operation, one way only
  Flag flag{from, to, after, before, isForward ? scf::ForOp() : between, 0};
  auto found = llvm::find(Flags, flag);
  if (found == Flags.end())
    Flags.push_back(flag);
  else if (found - Flags.begin() < OldFlags)
    addBarrier(std::nullopt, before);
}

void SyncPlan::leaveOutSuperfluous() {
  // Flags between iterations first: a loop does without them more often than one would think.
  llvm::stable_sort(Flags,
                    [](const Flag &a, const Flag &b) { return bool(a.loop) > bool(b.loop); });
  auto leaveOut = [&](auto &list) {
    for (size_t i = 0; i < list.size();) {
      auto kept = list[i];
      list.erase(list.begin() + i);
      if (follow(/*stopsAtFirst=*/true))
        continue;
      list.insert(list.begin() + i, kept);
      ++i;
    }
  };
  leaveOut(Flags);
  leaveOut(Barriers);
}

/// Gives flags that are set at the same time different numbers. Those for which there is none left
/// become barriers of all units, and it returns false: others may be superfluous then.
bool SyncPlan::number() {
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> moments;
  int64_t next = 0;
  auto visit = [&](auto &self, Block &block) -> void {
    for (Operation &op : block) {
      moments[&op].first = next++;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          self(self, inner);
      moments[&op].second = next++;
    }
  };
  visit(visit, Func.getBody().front());
  struct Span {
    int64_t from, to;
  };
  auto spanOf = [&](const Flag &flag) {
    return flag.loop ? Span{moments[flag.loop].first - 1, moments[flag.loop].second + 1}
                     : Span{moments[flag.after].second, moments[flag.before].first};
  };
  int64_t most = hardwareOf(Target)->events;
  std::vector<Flag> numbered;
  for (Flag flag : Flags) {
    Span span = spanOf(flag);
    auto isFree = [&](int64_t id) {
      return llvm::none_of(numbered, [&](const Flag &other) {
        Span theirs = spanOf(other);
        return other.from == flag.from && other.to == flag.to && other.id == id &&
               span.from <= theirs.to && theirs.from <= span.to;
      });
    };
    while (flag.id < most && !isFree(flag.id))
      ++flag.id;
    if (flag.id < most)
      numbered.push_back(flag);
    else
      Barriers.push_back({std::nullopt, flag.before});
  }
  bool areAll = numbered.size() == Flags.size();
  Flags = std::move(numbered);
  return areAll;
}

void SyncPlan::write() {
  OpBuilder builder(Func.getContext());
  auto create = [&]<typename Op>(Op *, Location loc, const Flag &flag) {
    Op::create(builder, loc, sync::kindOf(flag.from), sync::kindOf(flag.to), flag.id);
  };
  using Set = sync::SetOp;
  using Wait = sync::WaitOp;
  // Where several stand at one place: what follows an operation is set first, then what a loop
  // starts with, and only then does anybody wait.
  for (const Flag &flag : llvm::reverse(Flags)) {
    builder.setInsertionPointAfter(flag.after);
    create((Set *)nullptr, flag.after->getLoc(), flag);
  }
  for (Flag &flag : Flags)
    if (flag.loop) {
      builder.setInsertionPointAfter(flag.loop);
      create((Wait *)nullptr, flag.loop.getLoc(), flag);
      builder.setInsertionPoint(flag.loop);
      create((Set *)nullptr, flag.loop.getLoc(), flag);
    }
  for (const Flag &flag : Flags) {
    builder.setInsertionPoint(flag.before);
    create((Wait *)nullptr, flag.before->getLoc(), flag);
  }
  for (const Barrier &barrier : Barriers) {
    builder.setInsertionPoint(barrier.before);
    sync::BarrierOp::create(builder, barrier.before->getLoc(),
                            barrier.unit ? sync::kindOf(*barrier.unit) : sync::UnitKind::All);
  }
  builder.setInsertionPoint(Func.getBody().front().getTerminator());
  sync::BarrierOp::create(builder, Func.getLoc(), sync::UnitKind::All);
}

} // namespace kiln
