#include "PipeReport.h"

#include "kiln/runtime/pipe_slots.h"

using namespace mlir;

namespace kiln::pipes {
namespace {

/// The most slots that are suggested.
constexpr int64_t kMaxSuggested = 64;

std::string plural(int64_t count, const std::string &what) {
  StringRef ending = count == 1 ? "" : StringRef(what).ends_with("sh") ? "es" : "s";
  return std::to_string(count) + " " + what + ending.str();
}

/// How often an event of a pipe happens, if that can be said in one expression.
std::optional<Expr> countOf(const Sequence &sequence, unsigned pipe, Event::Kind kind) {
  Expr total;
  for (const Step &step : sequence) {
    std::optional<Expr> count;
    if (auto *event = std::get_if<Event>(&step)) {
      count = event->pipe == pipe && event->kind == kind;
    } else if (auto *loop = std::get_if<Loop>(&step)) {
      std::optional<Expr> each = countOf(loop->body, pipe, kind);
      if (each && each->isConstant())
        count = loop->trips * each->constant();
    } else {
      const Branch &branch = std::get<Branch>(step);
      std::optional<Expr> then = countOf(branch.then, pipe, kind);
      if (then == countOf(branch.otherwise, pipe, kind))
        count = then;
    }
    if (!count)
      return std::nullopt;
    total = total + *count;
  }
  return total;
}

class Reporter {
public:
  Reporter(GroupModel &model, const Counterexample &example)
      : Model(model), Example(example), Values(describe(model, example.sample)) {}

  /// Unequal numbers of pushes and pops, or of pops and frees.
  std::vector<PipeFinding> explainCounts() {
    std::vector<PipeFinding> findings;
    Trial all = countOnly(Model, Example.sample, Budget);
    if (all.isExhausted())
      return findings;
    for (unsigned pipe = 0; pipe < Model.pipes.size(); ++pipe) {
      Execution::Counts counts = all.run.counts(pipe);
      if (counts.pushed != counts.popped)
        findings.push_back(explainUnequal(pipe, counts));
      else if (counts.popped != counts.freed)
        findings.push_back(explainFrees(pipe, counts));
    }
    return findings;
  }

  PipeFinding explainBadFree(unsigned member) {
    const Event &free = Example.trial.run.pending(member);
    const Execution::Counts &counts = Example.trial.run.counts(free.pipe);
    return {{free.op->getLoc(), "tile.free of pipe '" + nameOf(free.pipe) +
                                    "' when every popped slot is free already (" +
                                    plural(counts.popped, "pop") + " so far)" + with() +
                                    "; move it behind the pop it belongs to"}};
  }

  PipeFinding explainDeadlock(WorksWithSlots works) {
    std::vector<unsigned> blocked;
    for (auto [member, stop] : llvm::enumerate(Example.trial.stops))
      if (stop == Stop::Blocked)
        blocked.push_back(member);
    PipeFinding finding{{pending(blocked.front()).op->getLoc(),
                         "deadlock" + with() + ": " + describeWait(blocked.front())}};
    for (unsigned member : llvm::drop_begin(blocked))
      finding.notes.push_back({pending(member).op->getLoc(), describeWait(member)});
    finding.notes.push_back(
        {pending(blocked.front()).op->getLoc(), describeCycle(blocked.front())});
    finding.notes.push_back(adviseSlots(blocked, works));
    return finding;
  }

private:
  const Event &pending(unsigned member) const { return Example.trial.run.pending(member); }
  const std::string &nameOf(unsigned pipe) const { return Model.pipes[pipe].name; }
  std::string with() const { return Values.empty() ? "" : " with " + Values; }

  /// The first operation of this kind on a pipe; null if there is none.
  Operation *findOp(unsigned pipe, Event::Kind kind) const {
    Operation *found = nullptr;
    for (const Member &member : Model.members)
      forEachStep(member.body, [&](const Step &step) {
        auto *event = std::get_if<Event>(&step);
        if (event && event->pipe == pipe && event->kind == kind && !found)
          found = event->op;
      });
    return found;
  }

  /// " (n against n - 1)": two counts as expressions; empty if that says nothing new, or if they
  /// hold only where no loop ends before it begins.
  std::string symbolicCounts(unsigned pipe, Event::Kind one, int64_t oneCount, Event::Kind other,
                             int64_t otherCount) {
    auto total = [&](Event::Kind kind) {
      std::optional<Expr> sum = Expr();
      for (const Member &member : Model.members) {
        std::optional<Expr> count = countOf(member.body, pipe, kind);
        sum = sum && count ? std::optional(*sum + *count) : std::nullopt;
      }
      return sum;
    };
    std::optional<Expr> first = total(one), second = total(other);
    auto is = [&](const std::optional<Expr> &expr, int64_t count) {
      return expr && Model.scalars.valueOf(*expr, Example.sample) == count;
    };
    if (!is(first, oneCount) || !is(second, otherCount) ||
        (first->isConstant() && second->isConstant()))
      return "";
    return " (" + Model.scalars.str(*first) + " against " + Model.scalars.str(*second) + ")";
  }

  PipeFinding explainUnequal(unsigned pipe, const Execution::Counts &counts) {
    tile::PipeOp op = Model.pipes[pipe].op;
    tile::PipeType type = op.getPipe().getType();
    bool leaves = counts.pushed > counts.popped;
    std::string text =
        plural(counts.pushed, "push") + " into pipe '" + nameOf(pipe) + "' but " +
        plural(counts.popped, "pop") +
        symbolicCounts(pipe, Event::Kind::Push, counts.pushed, Event::Kind::Pop, counts.popped) +
        with() + ": ";
    text += leaves ? plural(counts.pushed - counts.popped, "tile") + " left in the pipe at the end"
                   : "the last pop waits forever";
    Event::Kind surplus = leaves ? Event::Kind::Push : Event::Kind::Pop;
    PipeFinding finding{{findSurplus(pipe, surplus)->getLoc(), text}};
    StringRef otherRole = leaves ? type.getTo() : type.getFrom();
    std::string verb = leaves ? "pops" : "pushes";
    if (Operation *other = findOp(pipe, leaves ? Event::Kind::Pop : Event::Kind::Push))
      finding.notes.push_back({other->getLoc(), "role " + otherRole.str() + " " + verb + " here"});
    else if (Model.memberOf(otherRole))
      finding.notes.push_back({op.getLoc(), "role " + otherRole.str() + " never " + verb});
    else
      finding.notes.push_back({op.getLoc(), "the group calls no function of role " +
                                                otherRole.str() + ", which " + verb});
    addBranch(pipe, finding);
    return finding;
  }

  /// Names a branch around the operations of one end that the other end does not have.
  void addBranch(unsigned pipe, PipeFinding &finding) {
    tile::PipeOp op = Model.pipes[pipe].op;
    tile::PipeType type = op.getPipe().getType();
    Branches pushing = branchesAround(pipe, Event::Kind::Push),
             popping = branchesAround(pipe, Event::Kind::Pop);
    auto tell = [&](const Branches &here, const Branches &there, StringRef role, StringRef verb,
                    StringRef otherRole, StringRef otherVerb) {
      for (const auto &[condition, branch] : here)
        if (!there.contains(condition)) {
          finding.notes.push_back(
              {branch->getLoc(), "how often role " + role.str() + " " + verb.str() +
                                     " depends on this condition; role " + otherRole.str() + " " +
                                     otherVerb.str() + " whether it holds or not"});
          return true;
        }
      return false;
    };
    if (!tell(pushing, popping, type.getFrom(), "pushes", type.getTo(), "pops"))
      tell(popping, pushing, type.getTo(), "pops", type.getFrom(), "pushes");
  }

  /// Branches of which only one side has an operation of a pipe, or more of them, by condition.
  /// Conditions are compared as if loops at the same depth were one.
  using Branches = std::map<Expr, Operation *>;
  Branches branchesAround(unsigned pipe, Event::Kind kind) {
    Branches found;
    for (const Member &member : Model.members)
      collectBranches(member.body, pipe, kind, {}, found);
    return found;
  }
  void collectBranches(const Sequence &sequence, unsigned pipe, Event::Kind kind, Env indices,
                       Branches &found) {
    for (const Step &step : sequence) {
      if (auto *loop = std::get_if<Loop>(&step)) {
        Env inside = indices;
        inside[loop->index] = Expr::of(Model.scalars.counter(indices.size()));
        collectBranches(loop->body, pipe, kind, inside, found);
      } else if (auto *branch = std::get_if<Branch>(&step)) {
        std::optional<Expr> then = countOf(branch->then, pipe, kind),
                            otherwise = countOf(branch->otherwise, pipe, kind);
        if (then != otherwise)
          found.try_emplace(Model.scalars.substitute(branch->condition, indices), branch->op);
        collectBranches(branch->then, pipe, kind, indices, found);
        collectBranches(branch->otherwise, pipe, kind, indices, found);
      }
    }
  }

  /// The push or pop that has no counterpart: the one that waits, or else the last push.
  Operation *findSurplus(unsigned pipe, Event::Kind kind) const {
    for (auto [member, stop] : llvm::enumerate(Example.trial.stops))
      if (stop == Stop::Blocked && pending(member).pipe == pipe && pending(member).kind == kind)
        return pending(member).op;
    Operation *lastPush = Example.trial.run.counts(pipe).lastPush;
    return kind == Event::Kind::Push && lastPush ? lastPush : findOp(pipe, kind);
  }

  PipeFinding explainFrees(unsigned pipe, const Execution::Counts &counts) {
    Operation *pop = findOp(pipe, Event::Kind::Pop), *free = findOp(pipe, Event::Kind::Free);
    std::string text =
        plural(counts.popped, "pop") + " from pipe '" + nameOf(pipe) + "' but " +
        plural(counts.freed, "free") +
        symbolicCounts(pipe, Event::Kind::Pop, counts.popped, Event::Kind::Free, counts.freed) +
        with() +
        "; write one tile.free for each pop, or none in the whole function and the "
        "compiler places them";
    if (counts.popped < counts.freed || !pop)
      return {{free->getLoc(), text}};
    PipeFinding finding{{pop->getLoc(), text}};
    for (auto [member, stop] : llvm::enumerate(Example.trial.stops))
      if (stop == Stop::Blocked && pending(member).pipe == pipe &&
          pending(member).kind == Event::Kind::Push)
        finding.notes.push_back({pending(member).op->getLoc(), describeWait(member)});
    if (free)
      finding.notes.push_back({free->getLoc(), "a free that is written is here"});
    return finding;
  }

  std::string describeWait(unsigned member) const {
    const Event &event = pending(member);
    const Execution::Counts &counts = Example.trial.run.counts(event.pipe);
    std::string text = Model.members[member].name;
    text += event.kind == Event::Kind::Push ? " waits to push into '" : " waits to pop from '";
    return text + nameOf(event.pipe) + "' (" +
           describeSlots(counts.full(), counts.taken(), Example.trial.run.slots(event.pipe)) + ")";
  }

  /// Follows the waits until they come back, or end at somebody who will not move again.
  std::string describeCycle(unsigned first) const {
    SmallVector<unsigned> path{first};
    while (true) {
      const Event &event = pending(path.back());
      tile::PipeOp pipe = Model.pipes[event.pipe].op;
      tile::PipeType type = pipe.getPipe().getType();
      StringRef role = event.kind == Event::Kind::Push ? type.getTo() : type.getFrom();
      std::optional<unsigned> next = Model.memberOf(role);
      const std::string &waiter = Model.members[path.back()].name;
      if (!next)
        return waiter + " waits for role " + role.str() + ", which the group does not call";
      if (Example.trial.run.isDone(*next))
        return waiter + " waits for " + Model.members[*next].name + ", which has ended";
      auto *again = llvm::find(path, *next);
      path.push_back(*next);
      if (again == path.end() - 1)
        continue;
      std::string text = "cycle of waits: ";
      for (unsigned member : ArrayRef(path).drop_front(again - path.begin()))
        text += Model.members[member].name + " -> ";
      return StringRef(text).drop_back(4).str();
    }
  }

  /// Whether more slots would help, how many, and where.
  PipeMessage adviseSlots(ArrayRef<unsigned> blocked, WorksWithSlots works) {
    std::vector<int64_t> slots;
    for (unsigned pipe = 0; pipe < Model.pipes.size(); ++pipe)
      slots.push_back(Example.trial.run.slots(pipe));
    std::vector<int64_t> unlimited(slots.size(), INT64_MAX);
    Location here = pending(blocked.front()).op->getLoc();
    if (!tryOut(Model, unlimited, Example.sample, Budget).isGood())
      return {here, "no number of slots helps: the order of pushes and pops has to change"};
    for (unsigned member : blocked) {
      unsigned pipe = pending(member).pipe;
      if (pending(member).kind == Event::Kind::Push)
        if (std::optional<int64_t> enough = leastSlots(slots, {pipe}, works))
          return {Model.pipes[pipe].op.getLoc(),
                  "slots(" + std::to_string(*enough) + ") on this pipe would be enough"};
    }
    auto everyPipe = llvm::to_vector(llvm::seq<unsigned>(0, slots.size()));
    if (std::optional<int64_t> enough = leastSlots(slots, everyPipe, works))
      return {here, "slots(" + std::to_string(*enough) + ") on every pipe would be enough"};
    return {here, Values.empty()
                      ? "more than " + std::to_string(kMaxSuggested) +
                            " slots would be needed; pop in between"
                      : "more slots help for these values; no number is known that helps for all"};
  }

  /// The least number of slots for `pipes` with which the example runs, if all others then do too.
  std::optional<int64_t> leastSlots(std::vector<int64_t> slots, ArrayRef<unsigned> pipes,
                                    WorksWithSlots works) {
    int64_t from = INT64_MAX;
    for (unsigned pipe : pipes)
      from = std::min(from, slots[pipe]);
    for (int64_t count = from + 1, tries = 0; count <= kMaxSuggested && tries < 3; ++count) {
      for (unsigned pipe : pipes)
        slots[pipe] = std::max(slots[pipe], count);
      if (!tryOut(Model, slots, Example.sample, Budget).isGood())
        continue;
      // The next few may be enough for more values than those of the example.
      ++tries;
      if (works(slots))
        return count;
    }
    return std::nullopt;
  }

  GroupModel &Model;
  const Counterexample &Example;
  std::string Values;
  TrialBudget Budget{4 * TrialBudget::perTrial};
};

} // namespace

std::vector<PipeFinding> explain(GroupModel &model, const Counterexample &example,
                                 WorksWithSlots works) {
  Reporter reporter(model, example);
  std::vector<PipeFinding> findings = reporter.explainCounts();
  if (!findings.empty())
    return findings;
  for (auto [member, stop] : llvm::enumerate(example.trial.stops))
    if (stop == Stop::BadFree)
      return {reporter.explainBadFree(member)};
  return {reporter.explainDeadlock(works)};
}

} // namespace kiln::pipes
