//===- PipeSearch.cpp - looks for a proof that holds for all trip counts ----------------===//
//
// Executes the group with its parameters left open. A condition that is not known splits the path
// in two. Loops whose trip counts are not known are run together, as a *joint loop*: several
// members stand at loop heads with as many iterations to go (up to a constant); every round runs
// one iteration of each (or a fixed number, where one member makes twice as many). Back at the
// heads the path splits: another round, or out. A state at the head that was seen before needs no
// second visit: whatever can follow was followed then. Since occupancy is bounded and the round is
// a symbol from the fifth on, that happens soon, and it proves all trip counts at once.
//
// Which members form a joint loop is ours to choose, because the order in which members move does
// not matter; if one choice gets stuck, the next is tried. So is running one iteration of a loop
// ahead of time.
//
//===----------------------------------------------------------------------------===//
#include "PipeSearch.h"

#include "PipeRequirements.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>
#include <unordered_set>

using namespace mlir;

namespace kiln::pipes {
namespace {

/// Rounds of a joint loop that are told apart: the first few are often special.
constexpr int64_t kFirstRounds = 4;
/// Constant loops of up to so many iterations just run.
constexpr int64_t kUnrolled = 16;
/// Iterations that may be run ahead of a joint loop on one path.
constexpr int kMaxPeels = 4;
/// The most iterations of one member in a round.
constexpr int64_t kMaxStride = 8;
/// What a search may cost: states, and steps of one path. Most proofs take less than a hundred
/// states.
constexpr int kMaxStates = 1500;
/// The most remainders of divided parameters that are told apart.
constexpr int64_t kMaxRests = 24;
constexpr int64_t kMaxSteps = 20000;

/// Loops of several members that run side by side.
struct JointLoop {
  struct Share {
    unsigned member;
    Expr start;       ///< The index at the first round.
    int64_t stride;   ///< Iterations in each round.
    int64_t leftover; ///< Iterations after the last round.
  };
  std::vector<Share> shares;
  Expr rounds;
  Expr round;                 ///< The current one: a constant, or the loop's counter.
  std::optional<Facts> known; ///< When the round began; nothing if all that is learnt is kept.
};

/// A point on one path of the search.
struct State {
  Execution run;
  Facts facts;
  std::vector<JointLoop> joint = {}; ///< Outermost first.
  /// Decisions about one iteration, and the indices of loops they depend on.
  std::map<Expr, std::vector<Atom>> passing = {};
  int peels = 0; ///< Iterations run ahead of a joint loop.
};

class Search {
public:
  /// Gives up when so many steps have been spent. `forgets` what a round of a loop taught about
  /// what it computed: less is known then, and states that differ in nothing else are one.
  Search(GroupModel &model, int64_t limit, bool forgets)
      : Scalars(model.scalars), Limit(limit), Forgets(forgets) {}

  /// Each of these follows every path from a state; true if all of them end well.
  bool prove(State state);

private:
  bool settle(State &state, std::vector<Stop> &stops, bool &result);
  std::optional<bool> proveSimpler(State state, ArrayRef<unsigned> waiting);
  bool settleChoice(State &state, Atom atom, const Expr &operand);
  bool proveHead(State state);
  bool proveAnotherRound(State state);
  bool proveExit(State state);
  bool proveJointly(const State &state, ArrayRef<unsigned> members);
  bool proveWithoutRounds(const State &state, const JointLoop &loop);
  bool proveAhead(const State &state, unsigned member);

  std::optional<JointLoop> formJointLoop(State &state, ArrayRef<unsigned> members);
  void beginRound(State &state);
  std::vector<State> splitAt(const State &state, const Expr &condition);
  void forgetRound(State &state);
  Atom counterOf(const State &state) { return Scalars.counter(state.joint.size()); }
  /// Forgets what was seen since `mark`, on a path that came to nothing.
  bool forget(size_t mark) {
    for (; Order.size() > mark; Order.pop_back())
      Seen.erase(Order.back());
    return false;
  }

  ScalarTable &Scalars;
  std::unordered_set<std::string> Seen;
  std::vector<std::string> Order; ///< Of entering Seen.
  int StatesLeft = kMaxStates;
  int64_t Limit;
  bool Forgets;
};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Everything that decides how a state goes on.
std::string keyOf(const State &state) {
  std::string key;
  llvm::raw_string_ostream os(key);
  GroupModel &model = state.run.model();
  for (unsigned member = 0; member < model.members.size(); ++member) {
    for (const Frame &frame : state.run.stack(member)) {
      os << frame.sequence << ',' << frame.next << ',' << frame.atHead << ',' << frame.stride << ','
         << frame.made << ',';
      writeKey(os, frame.remaining);
      writeKey(os, frame.index);
    }
    os << '\n';
  }
  for (unsigned pipe = 0; pipe < model.pipes.size(); ++pipe)
    os << state.run.counts(pipe).full() << ',' << state.run.counts(pipe).taken() << ';';
  for (const auto &[atom, value] : state.run.env())
    writeKey(os << atom << '=', value);
  for (const Expr &fact : state.facts.inequalities())
    writeKey(os << '>', fact);
  for (const auto &[condition, value] : state.facts.decisions())
    writeKey(os << value << '?', condition);
  for (const JointLoop &loop : state.joint)
    writeKey(os << '@', loop.round);
  return key;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Runs everybody as far as it goes. False if the path split or failed on the way; `result` then
/// says whether it was proved.
bool Search::settle(State &state, std::vector<Stop> &stops, bool &result) {
  stops.assign(state.run.model().members.size(), Stop::Done);
  for (int64_t made = -1; made != state.run.eventsMade();) {
    made = state.run.eventsMade();
    for (unsigned member = 0; member < stops.size(); ++member) {
      Stop stop = state.run.run(member);
      while (stop == Stop::AtBranch) {
        Expr condition = state.run.evaluate(state.run.pendingBranch(member).condition);
        std::optional<bool> value = state.facts.decide(condition);
        if (!value) {
          result = llvm::all_of(splitAt(state, state.run.pendingBranch(member).condition),
                                [&](State &path) { return prove(std::move(path)); });
          return false;
        }
        state.run.choose(member, *value);
        stop = state.run.run(member);
      }
      stops[member] = stop;
      result = false;
      if (stop == Stop::BadFree || stop == Stop::Exhausted)
        return false;
    }
  }
  return true;
}

/// One path for each thing that may be the case about an undecided condition.
std::vector<State> Search::splitAt(const State &state, const Expr &condition) {
  std::vector<Atom> indices;
  Scalars.forEachAtom(condition, [&](Atom atom) {
    if (state.run.env().contains(atom))
      indices.push_back(atom);
  });
  std::vector<State> paths;
  for (Facts &facts : state.facts.split(Scalars.substitute(condition, state.run.env()))) {
    State path = state;
    path.facts = std::move(facts);
    for (const auto &[decided, value] : path.facts.decisions())
      if (!indices.empty() && !state.facts.decisions().contains(decided))
        path.passing[decided] = indices;
    paths.push_back(std::move(path));
  }
  return paths;
}

/// Forgets what was decided about the round that ended: nobody in the loop comes back to it, and
/// states that differ in nothing else would be followed one by one.
void Search::forgetRound(State &state) {
  if (const std::optional<Facts> &known = state.joint.back().known)
    state.facts.forgetComputed(*known);
  for (const JointLoop::Share &share : state.joint.back().shares)
    std::erase_if(state.passing, [&](const auto &entry) {
      bool isOver = llvm::is_contained(entry.second, state.run.top(share.member).loop->index);
      if (isOver)
        state.facts.forget(entry.first);
      return isOver;
    });
}

bool Search::prove(State state) {
  if (StatesLeft-- <= 0 || Scalars.spent() > Limit)
    return false;
  std::vector<Stop> stops;
  if (bool result; !settle(state, stops, result))
    return result;
  auto stoppedAt = [&](Stop stop) {
    std::vector<unsigned> members;
    for (unsigned member = 0; member < stops.size(); ++member)
      if (stops[member] == stop)
        members.push_back(member);
    return members;
  };
  if (stoppedAt(Stop::Done).size() == stops.size())
    return state.run.isBalanced();
  if (!state.joint.empty() && llvm::all_of(state.joint.back().shares, [&](const auto &share) {
        return stops[share.member] == Stop::Arrived;
      }))
    return proveHead(std::move(state));

  std::vector<unsigned> waiting = stoppedAt(Stop::AtLoop);
  // Trip counts that are alike as they are need not be looked into.
  bool areAlike = !waiting.empty() && formJointLoop(state, waiting).has_value();
  if (!areAlike)
    if (std::optional<bool> result = proveSimpler(state, waiting))
      return *result;
  // Larger groups first: who takes part in a loop usually has to.
  std::vector<std::vector<unsigned>> groups;
  for (unsigned set = 1; set < 1u << std::min<size_t>(waiting.size(), 8); ++set) {
    groups.emplace_back();
    for (unsigned i = 0; i < waiting.size(); ++i)
      if (set >> i & 1)
        groups.back().push_back(waiting[i]);
  }
  llvm::stable_sort(groups, [](auto &a, auto &b) { return a.size() > b.size(); });
  size_t mark = Order.size();
  for (const std::vector<unsigned> &group : groups)
    if (proveJointly(state, group) || forget(mark))
      return true;
  for (unsigned member : waiting)
    if (proveAhead(state, member) || forget(mark))
      return true;
  return areAlike && proveSimpler(state, waiting).value_or(false);
}

/// Says everywhere what a minimum, maximum or selection is; false if that contradicts what is
/// known.
bool Search::settleChoice(State &state, Atom atom, const Expr &operand) {
  state.run.replace(atom, operand);
  bool dependsOnRound = false;
  Scalars.forEachAtom(Expr::of(atom), [&](Atom part) {
    AtomInfo::Kind kind = Scalars.info(part).kind;
    dependsOnRound |= kind == AtomInfo::Kind::Counter || kind == AtomInfo::Kind::Index;
  });
  if (!dependsOnRound) // it is computed again later, and is the same then
    state.run.env()[atom] = operand;
  return state.facts.replace(atom, operand);
}

/// Goes on with the trip counts that members wait at made simpler: with choices in them decided, in
/// every case where they are not, and with one expression for those that are equal. Nothing if they
/// are simple already.
std::optional<bool> Search::proveSimpler(State state, ArrayRef<unsigned> waiting) {
  for (unsigned member : waiting) {
    Expr &remaining = state.run.top(member).remaining;
    Env decided = state.facts.decideChoices(remaining);
    if (!decided.empty())
      return !settleChoice(state, decided.begin()->first, decided.begin()->second) ||
             prove(std::move(state));
    const Expr &first = state.run.top(waiting.front()).remaining;
    if (Expr difference = remaining - first; !difference.isConstant() &&
                                             state.facts.implies(difference) &&
                                             state.facts.implies(-difference)) {
      remaining = first;
      return prove(std::move(state));
    }
  }
  for (unsigned member : waiting) {
    std::vector<Facts> cases = state.facts.splitChoice(state.run.top(member).remaining);
    if (!cases.empty())
      return llvm::all_of(cases, [&](Facts &facts) {
        State path = state;
        path.facts = std::move(facts);
        return prove(std::move(path));
      });
  }
  return std::nullopt;
}

/// Runs one iteration of a loop by itself, if it has one.
bool Search::proveAhead(const State &state, unsigned member) {
  if (state.peels == kMaxPeels)
    return false;
  State more = state, none = state;
  more.peels = none.peels = state.peels + 1;
  Expr remaining = more.run.top(member).remaining;
  if (more.facts.assume(remaining - 1)) {
    more.run.beginIteration(more.run.top(member));
    if (!prove(std::move(more)))
      return false;
  }
  if (none.facts.assume(-remaining)) {
    none.run.top(member).remaining = 0;
    return prove(std::move(none));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Joint loops
//===----------------------------------------------------------------------===//

/// The iterations a member has to go as stride * base + offset.
struct Multiple {
  int64_t stride;
  Expr base;
  int64_t offset;
};

Multiple takeApart(const Expr &remaining, int64_t commonDivisor) {
  if (remaining.isConstant())
    return {remaining.constant() / commonDivisor, Expr(commonDivisor), 0};
  int64_t stride = 0;
  for (auto [atom, coefficient] : remaining.terms())
    stride = std::gcd(stride, coefficient);
  Expr base;
  for (auto [atom, coefficient] : remaining.terms())
    base = base + Expr::of(atom) * (coefficient / stride);
  return {stride, base, remaining.constant()};
}

std::optional<JointLoop> Search::formJointLoop(State &state, ArrayRef<unsigned> members) {
  int64_t divisor = 0;
  for (unsigned member : members)
    divisor = std::gcd(divisor, state.run.top(member).remaining.constant());
  JointLoop loop;
  std::vector<Multiple> parts;
  for (unsigned member : members) {
    parts.push_back(takeApart(state.run.top(member).remaining, divisor));
    if (parts.back().base != parts.front().base || parts.back().stride > kMaxStride)
      return std::nullopt;
  }
  int64_t least = INT64_MAX;
  for (const Multiple &part : parts)
    least = std::min(least, llvm::divideFloorSigned(part.offset, part.stride));
  for (auto [member, part] : llvm::zip_equal(members, parts))
    loop.shares.push_back(
        {member, state.run.top(member).index, part.stride, part.offset - part.stride * least});
  loop.rounds = parts.front().base + least;
  return loop;
}

void Search::beginRound(State &state) {
  JointLoop &loop = state.joint.back();
  if (Forgets)
    loop.known = state.facts;
  for (const JointLoop::Share &share : loop.shares) {
    Frame &frame = state.run.top(share.member);
    Expr iterations = loop.round * share.stride;
    frame.stride = share.stride;
    frame.made = 0;
    frame.index = share.start + iterations * frame.loop->step.constant();
    state.run.beginIteration(frame);
  }
}

bool Search::proveJointly(const State &state, ArrayRef<unsigned> members) {
  State path = state;
  std::optional<JointLoop> loop = formJointLoop(path, members);
  if (!loop || !proveWithoutRounds(state, *loop))
    return false;
  if (!path.facts.assume(loop->rounds - 1))
    return true;
  path.joint.push_back(std::move(*loop));
  beginRound(path);
  return prove(std::move(path));
}

/// The cases in which somebody has no whole round to go: what is left for the others is a constant.
bool Search::proveWithoutRounds(const State &state, const JointLoop &loop) {
  bool anyLeft = true;
  for (int64_t missing = 0; anyLeft; ++missing) {
    State path = state;
    anyLeft = false;
    for (const JointLoop::Share &share : loop.shares) {
      int64_t left = share.leftover - share.stride * missing;
      path.run.top(share.member).remaining = left;
      anyLeft |= left > 0;
    }
    Expr shortfall = -loop.rounds - missing;
    bool possible = anyLeft ? path.facts.assumeZero(shortfall) : path.facts.assume(shortfall);
    if (possible && !prove(std::move(path)))
      return false;
  }
  return true;
}

bool Search::proveHead(State state) {
  forgetRound(state);
  std::string key = keyOf(state);
  if (!Seen.insert(key).second)
    return true;
  Order.push_back(key);
  return proveExit(state) && proveAnotherRound(std::move(state));
}

bool Search::proveExit(State state) {
  JointLoop loop = std::move(state.joint.back());
  state.joint.pop_back();
  if (!state.facts.assumeZero(loop.rounds - 1 - loop.round))
    return true;
  for (const JointLoop::Share &share : loop.shares) {
    Frame &frame = state.run.top(share.member);
    frame.stride = 0;
    frame.remaining = share.leftover;
    frame.index = share.start + loop.rounds * (share.stride * frame.loop->step.constant());
  }
  if (std::optional<Atom> counter = loop.round.asSymbol()) {
    state.run.replace(*counter, loop.rounds - 1);
    if (!state.facts.replace(*counter, loop.rounds - 1))
      return true;
  }
  return prove(std::move(state));
}

bool Search::proveAnotherRound(State state) {
  JointLoop &loop = state.joint.back();
  if (!state.facts.assume(loop.rounds - 2 - loop.round))
    return true;
  Expr next = loop.round + 1;
  Atom counter = counterOf(state);
  if (next.isConstant() && next.constant() < kFirstRounds) {
    loop.round = next;
  } else if (next.isConstant()) {
    loop.round = Expr::of(counter);
    if (!state.facts.startCounting(counter, next.constant(), loop.rounds))
      return true;
  } else if (!state.facts.advance(counter, loop.rounds)) {
    return true;
  }
  beginRound(state);
  return prove(std::move(state));
}

} // namespace

Facts knownBounds(GroupModel &model, const Env &values, ArrayRef<Expr> required) {
  Facts facts(model.scalars);
  auto assumeBounds = [&](const Expr &expr) {
    model.scalars.forEachAtom(model.scalars.substitute(expr, values), [&](Atom atom) {
      const AtomInfo &info = model.scalars.info(atom);
      // What is read from memory to decide how often something runs is a count, as parameters are.
      if (isa_and_nonnull<ir::ReadOp>(info.op))
        (void)facts.assume(Expr::of(atom));
      if (info.kind != AtomInfo::Kind::Free && info.kind != AtomInfo::Kind::WhileTrips)
        return;
      if (info.least != INT64_MIN)
        (void)facts.assume(Expr::of(atom) - info.least);
      if (info.most != INT64_MAX)
        (void)facts.assume(Expr(info.most) - Expr::of(atom));
      if (info.below)
        (void)facts.assume(Expr::of(*info.below) - Expr::of(atom) - 1);
    });
  };
  forEachControl(model, assumeBounds);
  llvm::for_each(required, assumeBounds);
  return facts;
}

/// Proves it with `values` of some parameters given as expressions of others.
static bool holdsWith(GroupModel &model, const std::vector<int64_t> &slots,
                      const Assumptions &assumed, ArrayRef<Expr> required, Env values,
                      int64_t limit) {
  for (const auto &[atom, value] : assumed.values)
    values[atom] = model.scalars.substitute(value, values);
  Facts facts = knownBounds(model, values, required);
  for (const Expr &expr : assumed.atLeastZero)
    if (!facts.assume(model.scalars.substitute(expr, values)))
      return true;
  for (const Expr &condition : required)
    if (!facts.assumeHolds(model.scalars.substitute(condition, values)))
      return true;
  State start{Execution(model, slots, kUnrolled, kMaxSteps), std::move(facts)};
  start.run.env() = values;
  int64_t half = (limit - model.scalars.spent()) / 2;
  return Search(model, limit - half, /*forgets=*/false).prove(start) ||
         Search(model, limit, /*forgets=*/true).prove(std::move(start));
}

/// By which small constants the numbers that decide trip counts are to be divided: because the
/// program does, or because it divides the index of a loop that they bound.
static std::map<Atom, int64_t> findDivided(const GroupModel &model) {
  const ScalarTable &scalars = model.scalars;
  std::map<Atom, const Loop *> loops;
  std::map<Atom, int64_t> divisors;
  int64_t cases = 1;
  auto divide = [&](Atom atom, int64_t divisor) {
    int64_t &known = divisors.try_emplace(atom, 1).first->second;
    int64_t both = std::lcm(known, divisor);
    if (divisor > kMaxStride || cases / known * both > kMaxRests)
      return;
    cases = cases / known * both;
    known = both;
  };
  auto visit = [&](const Expr &expr) {
    scalars.forEachAtom(expr, [&](Atom atom) {
      const AtomInfo &info = scalars.info(atom);
      if (info.kind != AtomInfo::Kind::CeilDiv || !info.operands[1].isConstant())
        return;
      for (auto [divided, coefficient] : info.operands[0].terms()) {
        if (scalars.info(divided).kind == AtomInfo::Kind::Free)
          divide(divided, info.operands[1].constant());
        if (auto loop = loops.find(divided); loop != loops.end())
          for (auto [bound, factor] : loop->second->trips.terms())
            divide(bound, info.operands[1].constant());
      }
    });
  };
  for (const Member &member : model.members)
    forEachStep(member.body, [&](const Step &step) {
      if (auto *loop = std::get_if<Loop>(&step)) {
        loops[loop->index] = loop;
        visit(loop->trips);
      }
      if (auto *branch = std::get_if<Branch>(&step))
        visit(branch->condition);
    });
  std::erase_if(divisors, [](const auto &entry) { return entry.second == 1; });
  return divisors;
}

/// The same, given that `required` holds, by which some parameters have `known` values.
static bool holdsGiven(GroupModel &model, const std::vector<int64_t> &slots,
                       const Assumptions &assumed, ArrayRef<Expr> required, const Env &known,
                       int64_t effort) {
  int64_t limit = model.scalars.spent() + effort;
  if (holdsWith(model, slots, assumed, required, known, model.scalars.spent() + effort / 2))
    return true;
  // n and n / 2 have no more to do with each other than two parameters, until n is 2q or 2q + 1.
  std::vector<Env> cases{known};
  for (auto [atom, divisor] : findDivided(model)) {
    if (known.contains(atom))
      continue;
    const AtomInfo &info = model.scalars.info(atom);
    Expr quotient = model.scalars.free("quotient of " + model.scalars.str(atom),
                                       info.least < 0 ? INT64_MIN : 0);
    std::vector<Env> more;
    for (const Env &values : cases)
      for (int64_t rest = 0; rest < divisor; ++rest) {
        more.push_back(values);
        setValue(model, atom, quotient * divisor + rest, more.back());
      }
    cases = std::move(more);
  }
  return cases.size() > 1 && llvm::all_of(cases, [&](const Env &values) {
           return holdsWith(model, slots, assumed, required, values, limit);
         });
}

bool holdsForAll(GroupModel &model, const std::vector<int64_t> &slots, const Assumptions &assumed,
                 int64_t effort) {
  // Most groups need nothing that is required, and facts that do not matter make a search long.
  return holdsGiven(model, slots, assumed, {}, {}, effort) ||
         (!model.required.empty() &&
          holdsGiven(model, slots, assumed, model.required, requiredValues(model), effort));
}

} // namespace kiln::pipes
