#include "GroupMerger.h"

using namespace mlir;

namespace kiln {
namespace {

/// A loop, a branch or the function that a member is inside of.
struct Scope {
  Block *block;         ///< Null: a branch without this side.
  Block::iterator next; ///< What has not been copied yet.
  // Of a loop:
  int64_t step = 0;
  Value index = {}, upper = {};                 ///< Of the next iteration, and the bound.
  SmallVector<SmallVector<Value>> carried = {}; ///< What it is given, by lane.
};

struct Member {
  SmallVector<IRMapping, 2> lanes; ///< From its values to those of the group.
  SmallVector<Scope> scopes;
};

/// What one push has put into a pipe: tiles by lane.
using Message = SmallVector<SmallVector<Value>, 2>;

struct State {
  std::vector<Member> members;
  std::vector<std::deque<Message>> pipes;
};

/// The values that the end of a path passes on.
using Results = llvm::function_ref<SmallVector<Value>(State &)>;

class GroupMerger {
public:
  explicit GroupMerger(ir::FuncOp group) : Group(group), B(group.getContext()) {}
  void merge(const ScheduleSteps &schedule);

private:
  SmallVector<Value> emit(const ScheduleSteps &steps, State &state, Results results);
  void emitStep(const ScheduleStep &step, State &state);
  SmallVector<Value> emitSplit(const ScheduleStep &step, State &state, Results results);
  void emitRounds(const ScheduleStep &step, State &state);
  void makeEvent(Operation *op, unsigned member, State &state);
  void copyUntil(Member &member, Operation *end);
  void enterLoop(Member &member, scf::ForOp loop, int64_t step);
  void leave(Member &member, Operation *op, ArrayRef<SmallVector<Value>> results);

  SmallVector<Value> received(const Message &message, tile::PopOp pop, unsigned lane,
                              unsigned lanes);
  Value cast(Value tile, tile::TileType type);
  unsigned pipeOf(const Member &member, Value pipe) {
    return PipeNumbers.lookup(member.lanes.front().lookup(pipe));
  }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(B, Loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(B, Loc, a, b); }
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, constant(b)); }
  Value scaled(Value a, int64_t factor) {
    return factor == 1 ? a : Value(arith::MulIOp::create(B, Loc, a, constant(factor)));
  }
  Value remaining(const Scope &loop);

  ir::FuncOp Group;
  OpBuilder B;
  Location Loc = UnknownLoc::get(Group.getContext());
  DenseMap<Value, unsigned> PipeNumbers;
};

//===----------------------------------------------------------------------===//
// One member
//===----------------------------------------------------------------------===//

/// Copies what a member does in front of `end`, lane by lane.
void GroupMerger::copyUntil(Member &member, Operation *end) {
  Scope &scope = member.scopes.back();
  for (auto [lane, values] : llvm::enumerate(member.lanes))
    for (Operation &op : llvm::make_range(scope.next, end->getIterator())) {
      Operation *copy = B.clone(op, values);
      copy->walk([&](tile::LaneOp inner) {
        OpBuilder::InsertionGuard guard(B);
        B.setInsertionPoint(inner);
        Value number = arith::ConstantIndexOp::create(B, inner.getLoc(), lane);
        if (inner == copy)
          values.map(op.getResult(0), number);
        inner.replaceAllUsesWith(number);
        inner.erase();
      });
    }
  scope.next = end->getIterator();
}

void GroupMerger::enterLoop(Member &member, scf::ForOp loop, int64_t step) {
  copyUntil(member, loop);
  member.scopes.back().next = std::next(loop->getIterator());
  const IRMapping &first = member.lanes.front(); // bounds are the same for all lanes
  Scope scope{loop.getBody(), loop.getBody()->begin(), step, first.lookup(loop.getLowerBound()),
              first.lookup(loop.getUpperBound())};
  for (IRMapping &values : member.lanes) {
    SmallVector<Value> &carried = scope.carried.emplace_back();
    for (Value init : loop.getInitArgs())
      carried.push_back(values.lookup(init));
  }
  member.scopes.push_back(std::move(scope));
}

void GroupMerger::leave(Member &member, Operation *op, ArrayRef<SmallVector<Value>> results) {
  for (auto [values, lane] : llvm::zip_equal(member.lanes, results))
    values.map(op->getResults(), lane);
  member.scopes.pop_back();
}

static SmallVector<SmallVector<Value>> yieldedBy(Block *block, Member &member) {
  SmallVector<SmallVector<Value>> yielded(member.lanes.size());
  for (auto [values, lane] : llvm::zip_equal(yielded, member.lanes))
    for (Value value : block ? block->getTerminator()->getOperands() : ValueRange())
      values.push_back(lane.lookup(value));
  return yielded;
}

/// How many iterations of a loop are left; negative where its bounds cross.
Value GroupMerger::remaining(const Scope &loop) {
  Value distance = arith::SubIOp::create(B, Loc, loop.upper, loop.index);
  return loop.step == 1 ? distance
                        : Value(arith::CeilDivSIOp::create(B, Loc, distance, constant(loop.step)));
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

Value GroupMerger::cast(Value tile, tile::TileType type) {
  return tile.getType() == type ? tile : Value(tile::MoveOp::create(B, Loc, type, tile));
}

/// What a lane pops of a message.
SmallVector<Value> GroupMerger::received(const Message &message, tile::PopOp pop, unsigned lane,
                                         unsigned lanes) {
  tile::PipeType pipe = pop.getPipe().getType();
  SmallVector<Value> tiles;
  for (auto [number, result] : llvm::enumerate(pop.getTiles())) {
    auto type = llvm::cast<tile::TileType>(result.getType());
    if (message.size() == lanes) { // alike: one lane, or each its own
      tiles.push_back(cast(message[lane][number], type));
    } else if (message.size() > 1) { // lanes to one: join their parts
      SmallVector<Value> parts;
      for (const SmallVector<Value> &sent : message)
        parts.push_back(sent[number]);
      auto part = llvm::cast<tile::TileType>(parts.front().getType());
      tile::TileType joined = part.withShape(type.getRows(), type.getCols());
      tiles.push_back(cast(
          tile::ConcatOp::create(B, Loc, joined, parts, pipe.getSplitAxis()).getResult(), type));
    } else if (pipe.getSplit() == tile::Split::None) { // one to all
      tiles.push_back(cast(message.front()[number], type));
    } else { // one to lanes: take a part
      auto whole = llvm::cast<tile::TileType>(message.front()[number].getType());
      SmallVector<int64_t> at(2, 0);
      at[pipe.getSplitAxis()] = lane * type.getExtent(pipe.getSplitAxis());
      tile::TileType part = whole.withShape(type.getRows(), type.getCols());
      tiles.push_back(cast(tile::ExtractOp::create(B, Loc, part, message.front()[number],
                                                   ValueRange(), B.getDenseI64ArrayAttr(at))
                               .getResult(),
                           type));
    }
  }
  return tiles;
}

void GroupMerger::makeEvent(Operation *op, unsigned number, State &state) {
  Member &member = state.members[number];
  copyUntil(member, op);
  ++member.scopes.back().next;
  if (auto push = dyn_cast<tile::PushOp>(op)) {
    Message &message = state.pipes[pipeOf(member, push.getPipe())].emplace_back();
    for (IRMapping &values : member.lanes) {
      SmallVector<Value> &sent = message.emplace_back();
      for (Value tile : push.getTiles())
        sent.push_back(values.lookup(tile));
    }
  } else if (auto pop = dyn_cast<tile::PopOp>(op)) {
    std::deque<Message> &pipe = state.pipes[pipeOf(member, pop.getPipe())];
    for (auto [lane, values] : llvm::enumerate(member.lanes))
      values.map(pop.getTiles(), received(pipe.front(), pop, lane, member.lanes.size()));
    pipe.pop_front();
  } // a free only tells others to go on: the schedule did
}

//===----------------------------------------------------------------------===//
// All members
//===----------------------------------------------------------------------===//

void GroupMerger::emitStep(const ScheduleStep &step, State &state) {
  Member &member = state.members[step.member];
  Scope &scope = member.scopes.back();
  if (step.op)
    Loc = step.op->getLoc();
  switch (step.kind) {
  case ScheduleStep::Kind::Event:
    return makeEvent(step.op, step.member, state);
  case ScheduleStep::Kind::EnterLoop:
    return enterLoop(member, llvm::cast<scf::ForOp>(step.op), step.number);
  case ScheduleStep::Kind::BeginIteration: {
    auto loop = llvm::cast<scf::ForOp>(step.op);
    scope.next = scope.block->begin();
    for (auto [values, carried] : llvm::zip_equal(member.lanes, scope.carried)) {
      values.map(loop.getInductionVar(), scope.index);
      values.map(loop.getRegionIterArgs(), carried);
    }
    return;
  }
  case ScheduleStep::Kind::EndIteration:
    copyUntil(member, scope.block->getTerminator());
    scope.carried = yieldedBy(scope.block, member);
    scope.index = add(scope.index, scope.step);
    return;
  case ScheduleStep::Kind::LeaveLoop:
    return leave(member, step.op, SmallVector<SmallVector<Value>>(scope.carried));
  case ScheduleStep::Kind::EnterBranch: {
    copyUntil(member, step.op);
    scope.next = std::next(step.op->getIterator());
    auto branch = llvm::cast<scf::IfOp>(step.op);
    Block *block = step.number ? branch.thenBlock() : branch.elseBlock();
    member.scopes.push_back({block, block ? block->begin() : Block::iterator()});
    return;
  }
  case ScheduleStep::Kind::LeaveBranch:
    if (scope.block)
      copyUntil(member, scope.block->getTerminator());
    return leave(member, step.op, yieldedBy(scope.block, member));
  case ScheduleStep::Kind::Finish:
    return copyUntil(member, scope.block->getTerminator());
  case ScheduleStep::Kind::Rounds:
    return emitRounds(step, state);
  case ScheduleStep::Kind::Split:
    llvm_unreachable("the last step of a path");
  }
}

SmallVector<Value> GroupMerger::emit(const ScheduleSteps &steps, State &state, Results results) {
  for (const ScheduleStep &step : steps) {
    if (step.kind == ScheduleStep::Kind::Split)
      return emitSplit(step, state, results);
    emitStep(step, state);
  }
  return results(state);
}

SmallVector<Value> GroupMerger::emitSplit(const ScheduleStep &step, State &state, Results results) {
  Member &member = state.members[step.member];
  Loc = step.op->getLoc();
  Value condition;
  if (auto branch = dyn_cast<scf::IfOp>(step.op)) {
    copyUntil(member, branch);
    condition = member.lanes.front().lookup(branch.getCondition());
  } else {
    condition = arith::CmpIOp::create(B, Loc, arith::CmpIPredicate::sge,
                                      remaining(member.scopes.back()), constant(step.number));
  }
  auto emitPart = [&](unsigned part) {
    return [&, part](OpBuilder &builder, Location loc) {
      State path = state;
      OpBuilder::InsertionGuard guard(B);
      B.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
      SmallVector<Value> values = emit(step.parts[part], path, results);
      scf::YieldOp::create(B, loc, values);
    };
  };
  auto branch = scf::IfOp::create(B, Loc, condition, emitPart(0), emitPart(1));
  return SmallVector<Value>(branch.getResults());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Everything that changes from round to round: what the loops of the members carry, and the
/// messages that wait in pipes.
static SmallVector<Value> carriedBy(State &state, const ScheduleStep &rounds) {
  SmallVector<Value> values;
  for (const ScheduleStep::Share &share : rounds.shares)
    for (const SmallVector<Value> &lane : state.members[share.member].scopes.back().carried)
      llvm::append_range(values, lane);
  for (const std::deque<Message> &pipe : state.pipes)
    for (const Message &message : pipe)
      for (const SmallVector<Value> &lane : message)
        llvm::append_range(values, lane);
  return values;
}

/// The same places, filled anew.
static void setCarried(State &state, const ScheduleStep &rounds, ValueRange values) {
  auto next = values.begin();
  auto fill = [&](SmallVector<Value> &lane) {
    for (Value &value : lane)
      value = *next++;
  };
  for (const ScheduleStep::Share &share : rounds.shares)
    llvm::for_each(state.members[share.member].scopes.back().carried, fill);
  for (std::deque<Message> &pipe : state.pipes)
    for (Message &message : pipe)
      llvm::for_each(message, fill);
}

void GroupMerger::emitRounds(const ScheduleStep &step, State &state) {
  // The loop counts as the first share does.
  const ScheduleStep::Share &first = step.shares.front();
  Scope leader = state.members[first.member].scopes.back();
  Loc = leader.block->getParentOp()->getLoc();
  auto endOf = [&](const ScheduleStep::Share &share, const Scope &loop) {
    return add(loop.index, scaled(add(remaining(loop), -share.leftover), loop.step));
  };
  Value upper = first.leftover == 0 ? leader.upper : endOf(first, leader);
  int64_t perRound = leader.step * first.stride;
  auto emitBody = [&](OpBuilder &builder, Location loc, Value index, ValueRange carried) {
    State inside = state;
    OpBuilder::InsertionGuard guard(B);
    B.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
    for (const ScheduleStep::Share &share : step.shares) {
      Scope &scope = inside.members[share.member].scopes.back();
      if (share.distance) {
        scope.index = add(index, *share.distance);
      } else {
        Value past = arith::SubIOp::create(B, loc, index, leader.index);
        Value round = arith::DivSIOp::create(B, loc, past, constant(perRound));
        scope.index = add(scope.index, scaled(round, scope.step * share.stride));
      }
    }
    setCarried(inside, step, carried);
    SmallVector<Value> results =
        emit(step.parts.front(), inside, [&](State &end) { return carriedBy(end, step); });
    scf::YieldOp::create(B, loc, results);
  };
  auto loop = scf::ForOp::create(B, Loc, leader.index, upper, constant(perRound),
                                 carriedBy(state, step), emitBody);
  for (const ScheduleStep::Share &share : step.shares) {
    Scope &scope = state.members[share.member].scopes.back();
    if (share.leftover > 0)
      scope.index = endOf(share, scope);
  }
  setCarried(state, step, loop.getResults());
}

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

void GroupMerger::merge(const ScheduleSteps &schedule) {
  Block &body = Group.getBody().front();
  State state;
  SmallVector<Operation *> old;
  SmallVector<Attribute> names;
  for (Operation &op : body)
    if (auto pipe = dyn_cast<tile::PipeOp>(op)) {
      PipeNumbers[pipe.getPipe()] = state.pipes.size();
      state.pipes.emplace_back();
      old.push_back(pipe);
    }
  for (auto call : body.getOps<ir::CallOp>()) {
    auto func = SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(Group, call.getCalleeAttr());
    Member &member = state.members.emplace_back();
    member.lanes.resize(Group.getLanesOf(*func.getRole()));
    for (IRMapping &values : member.lanes)
      values.map(func.getArguments(), call.getArgs());
    Block &code = func.getBody().front();
    member.scopes.push_back({&code, code.begin()});
    names.push_back(call.getCalleeAttr().getAttr());
    old.insert(old.begin(), call);
  }
  B.setInsertionPoint(body.getTerminator());
  emit(schedule, state, [](State &) { return SmallVector<Value>(); });
  for (Operation *op : old)
    op->erase();
  Group.setKind(ir::FuncKind::Incore);
  Group.removeLanesAttr();
  Group.removeSplitAttr();
  Group->setAttr(ir::kMembersAttr, B.getArrayAttr(names));
}

} // namespace

void mergeGroup(ir::FuncOp group, const ScheduleSteps &schedule) {
  GroupMerger(group).merge(schedule);
}

} // namespace kiln
