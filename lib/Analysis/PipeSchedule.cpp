//===- PipeSchedule.cpp - an order in which one function can run all members of a group -===//
//
// Executes the events of all members like the proof does, and writes down what it did. The choices
// are the proof's: who moves first does not matter, loops with as many iterations to go run round
// by round, iterations left over run by themselves. What differs is what comes out of a loop: the
// proof may follow many rounds, code has one body, so every round has to begin as the one before
// did: with as many messages in the pipes and everybody else where they were.
//
//===----------------------------------------------------------------------------===//
#include "kiln/Analysis/PipeSchedule.h"

#include "PipeFacts.h"
#include "PipeSearch.h"

#include "kiln/Program/Signature.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace kiln {
namespace pipes {
namespace {

/// The most iterations of one member in a round, and after the last one.
constexpr int64_t kMaxStride = 8, kMaxLeftover = 8;
/// Iterations that may be run ahead of the rounds on one path.
constexpr int kMaxPeels = 4;
/// What looking for a schedule may cost, and how long it may be: steps.
constexpr int kMaxTried = 50000, kMaxSteps = 2000;

using Kind = ScheduleStep::Kind;

/// A sequence that a member is in the middle of.
struct Position {
  const Sequence *sequence;
  size_t next = 0;
  const Loop *loop = nullptr;
  const Branch *branch = nullptr;
  bool atHead = false;
  Expr remaining = 0, index = 0; ///< Iterations not begun, as if a negative number were one.
  int64_t stride = 0, made = 0;  ///< In rounds: iterations in each, and in this one so far.
};

struct State {
  struct Counts {
    int64_t full = 0, taken = 0;
    bool operator==(const Counts &) const = default;
  };
  std::vector<std::vector<Position>> members;
  std::vector<Counts> pipes;
  Env env;
  Facts facts;
  std::map<Expr, bool> chosen = {}; ///< Conditions that were split on.
  unsigned depth = 0;               ///< Of rounds.
  int peels = 0;
};

/// Where a path ends: everybody done with empty pipes, or `members` at the end of a round that
/// leaves the pipes as they were.
struct Goal {
  std::vector<unsigned> members = {};
  std::vector<State::Counts> pipes = {};
  bool isRound() const { return !members.empty(); }
  bool concerns(unsigned member) const { return !isRound() || llvm::is_contained(members, member); }
};

/// How loops run round by round.
struct Rounds {
  Expr count;
  std::vector<ScheduleStep::Share> shares;
  bool hasLeftovers() const {
    return llvm::any_of(shares, [](const auto &share) { return share.leftover > 0; });
  }
};

enum class Stop { Done, AtEvent, AtBranch, AtLoop, Arrived };

class Planner {
public:
  explicit Planner(GroupModel &model) : Model(model), Scalars(model.scalars) {}

  /// Finds the steps from a state to the goal.
  bool plan(State state, const Goal &goal, ScheduleSteps &steps);
  bool isExhausted() const { return Tried >= kMaxTried; }

private:
  Stop advance(State &state, unsigned member, ScheduleSteps &steps);
  void begin(State &state, unsigned member, ScheduleSteps &steps);
  void enter(State &state, unsigned member, bool condition, ScheduleSteps &steps);
  bool canMake(const State &state, unsigned member) const;
  void make(State &state, unsigned member, ScheduleSteps &steps);
  bool runEvents(State &state, const Goal &goal, std::vector<Stop> &stops, ScheduleSteps &steps);

  bool splitAtBranch(const State &state, unsigned member, const Goal &goal, ScheduleSteps &steps);
  bool splitAtTrips(const State &state, const Rounds &rounds, int64_t missing, const Goal &goal,
                    ScheduleSteps &steps);
  bool runTogether(const State &state, ArrayRef<unsigned> members, const Goal &goal,
                   ScheduleSteps &steps);
  bool runAhead(const State &state, unsigned member, const Goal &goal, ScheduleSteps &steps);
  std::optional<Rounds> findRounds(const State &state, ArrayRef<unsigned> members) const;

  const Event &pending(const State &state, unsigned member) const {
    const Position &at = state.members[member].back();
    return std::get<Event>((*at.sequence)[at.next]);
  }
  std::optional<bool> decide(const State &state, const Expr &condition) const {
    auto known = state.chosen.find(condition);
    return known != state.chosen.end() ? known->second : state.facts.decide(condition);
  }
  void record(ScheduleSteps &steps, ScheduleStep step) {
    ++Tried;
    steps.push_back(std::move(step));
  }

  GroupModel &Model;
  ScalarTable &Scalars;
  int Tried = 0;
};

//===----------------------------------------------------------------------===//
// One member
//===----------------------------------------------------------------------===//

void Planner::begin(State &state, unsigned member, ScheduleSteps &steps) {
  Position &at = state.members[member].back();
  state.env[at.loop->index] = at.index;
  at.next = 0;
  at.atHead = false;
  record(steps, {Kind::BeginIteration, member, at.loop->op});
}

void Planner::enter(State &state, unsigned member, bool condition, ScheduleSteps &steps) {
  Position &at = state.members[member].back();
  const auto &branch = std::get<Branch>((*at.sequence)[at.next++]);
  record(steps, {Kind::EnterBranch, member, branch.op, condition});
  state.members[member].push_back(
      {.sequence = condition ? &branch.then : &branch.otherwise, .branch = &branch});
}

/// Goes on to the next event, or to where a member does not go on by itself.
Stop Planner::advance(State &state, unsigned member, ScheduleSteps &steps) {
  std::vector<Position> &stack = state.members[member];
  while (!stack.empty()) {
    Position &at = stack.back();
    if (at.atHead) {
      bool isConstant = at.remaining.isConstant();
      if (at.stride != 0 && at.made == at.stride)
        return Stop::Arrived;
      if (at.stride == 0 && !(isConstant && at.remaining.constant() <= 1))
        return Stop::AtLoop;
      if (at.stride != 0 || at.remaining.constant() == 1) {
        begin(state, member, steps);
        continue;
      }
      record(steps, {Kind::LeaveLoop, member, at.loop->op});
      state.env.erase(at.loop->index);
      stack.pop_back();
    } else if (at.next == at.sequence->size()) {
      if (at.loop) {
        record(steps, {Kind::EndIteration, member, at.loop->op});
        at.index = at.index + at.loop->step;
        at.remaining = at.remaining - 1;
        ++at.made;
        at.atHead = true;
        continue;
      }
      record(steps, {at.branch ? Kind::LeaveBranch : Kind::Finish, member,
                     at.branch ? at.branch->op : nullptr});
      stack.pop_back();
    } else if (std::holds_alternative<Event>((*at.sequence)[at.next])) {
      return Stop::AtEvent;
    } else if (auto *loop = std::get_if<Loop>(&(*at.sequence)[at.next])) {
      ++at.next;
      record(steps, {Kind::EnterLoop, member, loop->op, loop->step.constant()});
      stack.push_back({.sequence = &loop->body,
                       .loop = loop,
                       .atHead = true,
                       .remaining = Scalars.substitute(loop->trips, state.env),
                       .index = Scalars.substitute(loop->lower, state.env)});
    } else {
      const auto &branch = std::get<Branch>((*at.sequence)[at.next]);
      std::optional<bool> condition =
          decide(state, Scalars.substitute(branch.condition, state.env));
      if (!condition)
        return Stop::AtBranch;
      enter(state, member, *condition, steps);
    }
  }
  return Stop::Done;
}

bool Planner::canMake(const State &state, unsigned member) const {
  const Event &event = pending(state, member);
  const State::Counts &pipe = state.pipes[event.pipe];
  switch (event.kind) {
  case Event::Kind::Push:
    return pipe.full + pipe.taken < Model.pipes[event.pipe].slots;
  case Event::Kind::Pop:
    return pipe.full > 0;
  case Event::Kind::Free:
    return pipe.taken > 0;
  }
  return false;
}

void Planner::make(State &state, unsigned member, ScheduleSteps &steps) {
  const Event &event = pending(state, member);
  State::Counts &pipe = state.pipes[event.pipe];
  pipe.full += event.kind == Event::Kind::Push ? 1 : event.kind == Event::Kind::Pop ? -1 : 0;
  pipe.taken += event.kind == Event::Kind::Pop ? 1 : event.kind == Event::Kind::Free ? -1 : 0;
  record(steps, {Kind::Event, member, event.op});
  ++state.members[member].back().next;
}

//===----------------------------------------------------------------------===//
// All members
//===----------------------------------------------------------------------===//

/// Runs until nobody can make an event. Who can pop goes before who can push, so that as few
/// messages as possible wait in pipes. False if somebody moves whom a round does not concern.
bool Planner::runEvents(State &state, const Goal &goal, std::vector<Stop> &stops,
                        ScheduleSteps &steps) {
  while (!isExhausted()) {
    std::optional<unsigned> next;
    for (unsigned member = 0; member < stops.size(); ++member) {
      stops[member] = advance(state, member, steps);
      if (stops[member] != Stop::AtEvent || !canMake(state, member))
        continue;
      if (!goal.concerns(member))
        return false;
      bool pushes = pending(state, member).kind == Event::Kind::Push;
      if (!next || (!pushes && pending(state, *next).kind == Event::Kind::Push))
        next = member;
    }
    if (!next)
      return true;
    while (stops[*next] == Stop::AtEvent && canMake(state, *next) && !isExhausted()) {
      make(state, *next, steps);
      stops[*next] = advance(state, *next, steps);
    }
  }
  return false;
}

bool Planner::plan(State state, const Goal &goal, ScheduleSteps &steps) {
  std::vector<Stop> stops(Model.members.size());
  if (!runEvents(state, goal, stops, steps))
    return false;
  std::vector<unsigned> atLoops;
  bool isOver = true;
  for (unsigned member = 0; member < stops.size(); ++member) {
    if (!goal.concerns(member))
      continue;
    if (stops[member] == Stop::AtBranch)
      return splitAtBranch(state, member, goal, steps);
    if (stops[member] == Stop::AtLoop)
      atLoops.push_back(member);
    isOver &= stops[member] == (goal.isRound() ? Stop::Arrived : Stop::Done);
  }
  if (isOver)
    return state.pipes ==
           (goal.isRound() ? goal.pipes : std::vector<State::Counts>(state.pipes.size()));

  // Larger groups first: who takes part in a loop usually has to.
  std::vector<std::vector<unsigned>> groups;
  for (unsigned set = 1; set < 1u << std::min<size_t>(atLoops.size(), 8); ++set) {
    groups.emplace_back();
    for (unsigned i = 0; i < atLoops.size(); ++i)
      if (set >> i & 1)
        groups.back().push_back(atLoops[i]);
  }
  llvm::stable_sort(groups, [](auto &a, auto &b) { return a.size() > b.size(); });
  auto attempt = [&](auto &&way) {
    ScheduleSteps more;
    if (isExhausted() || !way(more))
      return false;
    steps.insert(steps.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
    return true;
  };
  return llvm::any_of(groups,
                      [&](const std::vector<unsigned> &members) {
                        return attempt([&](ScheduleSteps &more) {
                          return runTogether(state, members, goal, more);
                        });
                      }) ||
         llvm::any_of(atLoops, [&](unsigned member) {
           return attempt([&](ScheduleSteps &more) { return runAhead(state, member, goal, more); });
         });
}

//===----------------------------------------------------------------------===//
// What only the run knows
//===----------------------------------------------------------------------===//

bool Planner::splitAtBranch(const State &state, unsigned member, const Goal &goal,
                            ScheduleSteps &steps) {
  const Position &at = state.members[member].back();
  const auto &branch = std::get<Branch>((*at.sequence)[at.next]);
  Expr condition = Scalars.substitute(branch.condition, state.env);
  ScheduleStep split{Kind::Split, member, branch.op};
  for (bool holds : {true, false}) {
    State path = state;
    path.chosen[condition] = holds;
    // What follows for other conditions, if it is one thing.
    std::vector<Facts> cases = state.facts.split(condition);
    llvm::erase_if(cases, [&](const Facts &facts) { return facts.decide(condition) != holds; });
    if (cases.size() == 1)
      path.facts = std::move(cases.front());
    if (!plan(std::move(path), goal, split.parts.emplace_back()))
      return false;
  }
  record(steps, std::move(split));
  return true;
}

/// Some members make more iterations than others; tells apart whether all rounds can be made, or
/// how many, `missing` or more, cannot: then what is left for each of them is a constant.
bool Planner::splitAtTrips(const State &state, const Rounds &rounds, int64_t missing,
                           const Goal &goal, ScheduleSteps &steps) {
  auto left = [&](const ScheduleStep::Share &share) {
    return share.leftover - share.stride * missing;
  };
  auto witness = llvm::find_if(rounds.shares, [&](const auto &share) { return left(share) > 0; });
  State path = state;
  if (witness == rounds.shares.end()) {
    for (const auto &share : rounds.shares)
      path.members[share.member].back().remaining = 0;
    return plan(std::move(path), goal, steps);
  }
  ScheduleStep split{Kind::Split, witness->member, path.members[witness->member].back().loop->op,
                     left(*witness)};
  split.parts.resize(2);
  State other = state;
  if (missing > 0)
    for (const auto &share : rounds.shares)
      path.members[share.member].back().remaining = std::max<int64_t>(left(share), 0);
  if (!path.facts.assume(rounds.count + missing) ||
      !plan(std::move(path), goal, split.parts.front()))
    return false;
  if (other.facts.assume(-rounds.count - missing - 1) &&
      !splitAtTrips(other, rounds, missing + 1, goal, split.parts.back()))
    return false;
  record(steps, std::move(split));
  return true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// An expression as stride * base + offset, where base has no common factor and no constant.
struct Multiple {
  int64_t stride;
  Expr base;
  int64_t offset;
};

Multiple takeApart(const Expr &expr) {
  int64_t stride = 0;
  for (auto [atom, coefficient] : expr.terms())
    stride = std::gcd(stride, coefficient);
  Expr base;
  for (auto [atom, coefficient] : expr.terms())
    base = base + Expr::of(atom) * (coefficient / stride);
  return {stride, base, expr.constant()};
}

std::optional<Rounds> Planner::findRounds(const State &state, ArrayRef<unsigned> members) const {
  std::vector<Multiple> parts;
  int64_t divisor = 0, most = 0, fewest = INT64_MAX;
  for (unsigned member : members) {
    const Expr &remaining = state.members[member].back().remaining;
    parts.push_back(takeApart(remaining));
    divisor = std::gcd(divisor, remaining.constant());
    most = std::max(most, remaining.constant());
    fewest = std::min(fewest, remaining.constant());
  }
  if (!llvm::all_equal(llvm::map_range(parts, [](const Multiple &part) { return part.base; })))
    return std::nullopt;
  Expr base = parts.front().base;
  if (parts.front().stride == 0) { // constants: as many rounds as possible
    base = most - fewest <= kMaxLeftover ? fewest : divisor;
    for (Multiple &part : parts) {
      part.stride = most - fewest <= kMaxLeftover ? 1 : part.offset / divisor;
      part.offset -= part.stride * base.constant();
    }
  }
  int64_t least = INT64_MAX;
  for (const Multiple &part : parts)
    least = std::min(least, llvm::divideFloorSigned(part.offset, part.stride));
  Rounds rounds{base + least, {}};
  const Position &leader = state.members[members.front()].back();
  for (auto [member, part] : llvm::zip_equal(members, parts)) {
    const Position &at = state.members[member].back();
    int64_t leftover = part.offset - part.stride * least;
    if (part.stride > kMaxStride || leftover > kMaxLeftover)
      return std::nullopt;
    std::optional<int64_t> distance;
    Expr apart = at.index - leader.index;
    bool keepsApart = apart.isConstant() &&
                      at.loop->step * part.stride == leader.loop->step * parts.front().stride;
    if (keepsApart)
      distance = apart.constant();
    rounds.shares.push_back({member, part.stride, leftover, distance});
  }
  return rounds;
}

bool Planner::runTogether(const State &state, ArrayRef<unsigned> members, const Goal &goal,
                          ScheduleSteps &steps) {
  std::optional<Rounds> rounds = findRounds(state, members);
  if (!rounds)
    return false;
  if (rounds->hasLeftovers() && !state.facts.implies(rounds->count))
    return splitAtTrips(state, *rounds, 0, goal, steps);

  State round = state, after = state;
  Expr counter = Expr::of(Scalars.counter(round.depth++));
  bool mayRun = round.facts.assume(counter) && round.facts.assume(rounds->count - 1 - counter);
  for (const ScheduleStep::Share &share : rounds->shares) {
    Position &inside = round.members[share.member].back(),
             &behind = after.members[share.member].back();
    int64_t perRound = share.stride * inside.loop->step.constant();
    inside.stride = share.stride;
    inside.made = 0;
    inside.index = inside.index + counter * perRound;
    behind.index = behind.index + rounds->count * perRound;
    behind.remaining = share.leftover;
  }
  ScheduleStep loop{Kind::Rounds, members.front(), nullptr, 0, rounds->shares};
  if (mayRun && !plan(std::move(round), {members.vec(), state.pipes}, loop.parts.emplace_back()))
    return false;
  if (mayRun)
    record(steps, std::move(loop));
  return plan(std::move(after), goal, steps);
}

/// Runs one iteration of a loop by itself, if it has one.
bool Planner::runAhead(const State &state, unsigned member, const Goal &goal,
                       ScheduleSteps &steps) {
  if (state.peels == kMaxPeels)
    return false;
  State more = state, none = state;
  more.peels = none.peels = state.peels + 1;
  const Position &at = state.members[member].back();
  if (state.facts.implies(at.remaining - 1)) {
    begin(more, member, steps);
    return plan(std::move(more), goal, steps);
  }
  ScheduleStep split{Kind::Split, member, at.loop->op, 1};
  split.parts.resize(2);
  none.members[member].back().remaining = 0;
  begin(more, member, split.parts[0]);
  if (!more.facts.assume(at.remaining - 1) || !none.facts.assume(-at.remaining) ||
      !plan(std::move(more), goal, split.parts[0]) || !plan(std::move(none), goal, split.parts[1]))
    return false;
  record(steps, std::move(split));
  return true;
}

int64_t countSteps(const ScheduleSteps &steps) {
  int64_t count = steps.size();
  for (const ScheduleStep &step : steps)
    for (const ScheduleSteps &part : step.parts)
      count += countSteps(part);
  return count;
}

} // namespace
} // namespace pipes

/// The parameters that decide how often something runs and are taken for counts, as the proof
/// takes them.
static SmallVector<BlockArgument> findCounts(pipes::GroupModel &model, ir::FuncOp group) {
  SmallVector<std::string> names;
  auto visit = [&](const pipes::Expr &expr) {
    model.scalars.forEachAtom(expr, [&](pipes::Atom atom) {
      if (model.scalars.info(atom).isCount)
        names.push_back(model.scalars.str(atom));
    });
  };
  pipes::forEachControl(model, visit);
  SmallVector<BlockArgument> counts;
  for (auto [argument, name] : llvm::zip_equal(group.getArguments(), parameterNames(group)))
    if (llvm::is_contained(names, name))
      counts.push_back(argument);
  return counts;
}

std::optional<PipeSchedule> schedulePipes(ir::FuncOp group, int64_t defaultSlots,
                                          std::string &reason) {
  pipes::GroupModel model = pipes::modelGroup(group, defaultSlots, {}, /*joinsLoops=*/false);
  if (!model.findings.empty() || !model.unknowns.empty()) {
    reason =
        model.findings.empty() ? model.unknowns.front().text : model.findings.front().what.text;
    return std::nullopt;
  }
  bool hasWhile = false;
  for (const pipes::Member &member : model.members)
    pipes::forEachStep(member.body, [&](const pipes::Step &step) {
      auto *loop = std::get_if<pipes::Loop>(&step);
      hasWhile |= loop && isa<scf::WhileOp>(loop->op);
    });
  if (hasWhile) {
    reason = "pipe operations in scf.while are not merged";
    return std::nullopt;
  }
  // Most orders hold whatever the parameters are; others need what is assumed or required of them.
  PipeSchedule schedule;
  bool isExhausted = false;
  auto plan = [&](ArrayRef<BlockArgument> counts, ArrayRef<pipes::Expr> required) {
    pipes::State start{{}, {}, {}, pipes::knownBounds(model, {}, required)};
    for (BlockArgument count : counts)
      (void)start.facts.assume(
          model.scalars.index(parameterNames(group)[count.getArgNumber()], true));
    for (const pipes::Expr &condition : required)
      (void)start.facts.assumeHolds(condition);
    start.pipes.resize(model.pipes.size());
    for (const pipes::Member &member : model.members)
      start.members.push_back({{.sequence = &member.body}});
    pipes::Planner planner(model);
    schedule.steps.clear();
    bool isFound = planner.plan(std::move(start), {}, schedule.steps);
    isExhausted |= planner.isExhausted();
    return isFound;
  };
  if (!plan({}, {}) && (model.required.empty() || !plan({}, model.required))) {
    schedule.counts = findCounts(model, group);
    if (schedule.counts.empty() || !plan(schedule.counts, model.required)) {
      reason = isExhausted ? "there are too many cases to tell apart"
                           : "no order of its members was found that is the same for all trip "
                             "counts";
      return std::nullopt;
    }
  }
  if (pipes::countSteps(schedule.steps) > pipes::kMaxSteps) {
    reason = "its code would be too long";
    return std::nullopt;
  }
  return schedule;
}

} // namespace kiln
