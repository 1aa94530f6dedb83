//===- PipeProof.cpp - decides about a group: proved, refuted or undecided --------------===//
#include "kiln/Analysis/PipeProof.h"

#include "PipeReport.h"
#include "PipeSearch.h"

using namespace mlir;

namespace kiln {
namespace pipes {
namespace {

/// What deciding about one group may cost: steps of all trials, of those that look for a number of
/// slots to suggest, and of all searches for a proof. The same on every machine.
constexpr int64_t kTrialSteps = 6'000'000, kAdviceSteps = 3'000'000, kProofSteps = 8'000'000;

class Prover {
public:
  explicit Prover(GroupModel &model)
      : Model(model), Open(openValues(model)), Samples(samplesOf(model, Open)) {
    for (const Pipe &pipe : model.pipes)
      Slots.push_back(pipe.slots);
    for (Atom atom : Open.integers)
      if (Model.scalars.info(atom).isCount)
        Counts.push_back(Expr::of(atom));
    // Extents that nobody related may well be equal, so a failure where they are says more.
    std::ranges::stable_partition(Samples,
                                  [&](const Sample &sample) { return hasEqualExtents(sample); });
  }

  PipeProof prove() {
    if (std::optional<Counterexample> example = findCounterexample())
      return refute(std::move(*example));
    if (isClosed() && Passed == Samples.size()) // one trial, which ran to its end
      return {};
    int64_t end = Model.scalars.spent() + kProofSteps;
    if (std::optional<std::string> condition = Apart ? relateExtents(end) : findCondition(end))
      return {.condition = *condition};
    return {.verdict = PipeProof::Verdict::Undecided,
            .reasons = {sayWhyNot(Model.scalars.spent() >= end)}};
  }

private:
  /// Whether one trial decides.
  bool isClosed() const { return Open.integers.empty() && !Open.readsMemory && Open.isComputable; }

  bool hasEqualExtents(const Sample &sample) const {
    std::optional<Expr> first;
    return llvm::all_of(sample, [&](const auto &entry) {
      if (!Model.scalars.info(entry.first).isExtent)
        return true;
      if (!first)
        first = entry.second;
      return *first == entry.second;
    });
  }

  /// Tries samples until one fails. One that fails only because extents differ is noted instead:
  /// nobody said that they may.
  std::optional<Counterexample> findCounterexample() {
    TrialBudget budget{kTrialSteps};
    for (const Sample &sample : Samples) {
      if (Apart && !hasEqualExtents(sample))
        continue;
      Trial trial = tryOut(Model, Slots, sample, budget);
      if (trial.isExhausted()) {
        if (!Unfinished)
          Unfinished = sample;
      } else if (fails(trial)) {
        if (hasEqualExtents(sample))
          return Counterexample{sample, std::move(trial)};
        Apart = sample;
      } else if (trial.isGood()) {
        ++Passed;
      }
      if (budget.left <= 0)
        break;
    }
    return std::nullopt;
  }

  /// Whether a trial went wrong, whatever memory holds.
  static bool fails(const Trial &trial) { return !trial.isGood() && !trial.isOpen(); }

  PipeProof refute(Counterexample example) {
    TrialBudget budget{kAdviceSteps};
    int64_t end = Model.scalars.spent() + kProofSteps;
    auto works = [&](const std::vector<int64_t> &slots) {
      auto passes = [&](const Sample &sample) {
        if (budget.left <= 0)
          return false;
        Trial trial = tryOut(Model, slots, sample, budget);
        return isClosed() ? trial.isGood() : !fails(trial);
      };
      return llvm::all_of(Samples, passes) && (isClosed() || holds(slots, {Counts}, end));
    };
    PipeProof proof{.verdict = PipeProof::Verdict::Refuted};
    proof.findings = explain(Model, example, works);
    return proof;
  }

  bool holds(const std::vector<int64_t> &slots, const Assumptions &assumed, int64_t end) {
    // Half of what is left: another try may need the rest.
    return holdsForAll(Model, slots, assumed, (end - Model.scalars.spent()) / 2);
  }

  /// Under which condition a proof was found; empty if under none, nothing if no proof was found.
  /// Conditions are that a number is not negative: one of them if one is enough, else all.
  std::optional<std::string> findCondition(int64_t end) {
    if (holds(Slots, {Counts}, end))
      return "";
    std::vector<Expr> candidates;
    for (Atom atom : Open.integers)
      if (const AtomInfo &info = Model.scalars.info(atom); info.least < 0 && !info.isCount)
        candidates.push_back(Expr::of(atom));
    // Only loops of the outermost level: the trip counts of others depend on indices.
    for (const Member &member : Model.members)
      for (const Step &step : member.body)
        if (auto *loop = std::get_if<Loop>(&step); loop && !loop->trips.isConstant())
          if (!llvm::is_contained(candidates, loop->trips))
            candidates.push_back(loop->trips);
    auto assuming = [&](ArrayRef<Expr> more) {
      Assumptions assumed{Counts};
      llvm::append_range(assumed.atLeastZero, more);
      return assumed;
    };
    for (const Expr &candidate : candidates)
      if (holds(Slots, assuming(candidate), end))
        return sayAtLeastZero(candidate);
    if (candidates.empty() || !holds(Slots, assuming(candidates), end))
      return std::nullopt;
    std::string text;
    for (const Expr &candidate : candidates)
      text += (text.empty() ? "" : " and ") + sayAtLeastZero(candidate);
    return text;
  }

  /// As findCondition, where a sample fails because extents differ: that two of them are equal, or
  /// all.
  std::optional<std::string> relateExtents(int64_t end) {
    std::vector<Atom> extents;
    for (Atom atom : Open.integers)
      if (Model.scalars.info(atom).isExtent)
        extents.push_back(atom);
    auto sayEqual = [&](Atom a, Atom b) {
      return Model.scalars.str(a) + " = " + Model.scalars.str(b);
    };
    for (size_t i = 0; i < extents.size(); ++i)
      for (size_t k = i + 1; k < extents.size(); ++k)
        if (holds(Slots, {Counts, {{extents[k], Expr::of(extents[i])}}}, end))
          return sayEqual(extents[i], extents[k]);
    Env all;
    std::string text;
    for (Atom atom : llvm::drop_begin(extents)) {
      all[atom] = Expr::of(extents.front());
      text += (text.empty() ? "" : " and ") + sayEqual(extents.front(), atom);
    }
    return holds(Slots, {Counts, all}, end) ? std::optional(text) : std::nullopt;
  }

  std::string sayAtLeastZero(const Expr &expr) const {
    return Model.scalars.str(expr - expr.constant()) + " >= " + std::to_string(-expr.constant());
  }

  PipeMessage sayWhyNot(bool isSpent) const {
    std::string text;
    if (Apart)
      text = "it fails with " + describe(Model, *Apart) +
             ", where nothing says that these extents are equal, and ";
    text += Open.readsMemory ? "no proof was found for all that memory may hold"
                             : "no proof was found for all trip counts";
    if (isSpent)
      text += " within " + std::to_string(kProofSteps) + " steps";
    if (Passed > 0 && !Open.integers.empty())
      text += "; " + std::to_string(Passed) + " sets of values were tried and are fine";
    if (Unfinished)
      text += "; " + describe(Model, *Unfinished) + " takes more steps than a trial may";
    return {Model.pipes.front().op.getLoc(), text};
  }

  GroupModel &Model;
  OpenValues Open;
  std::vector<Sample> Samples;
  std::vector<int64_t> Slots;
  std::vector<Expr> Counts; ///< Parameters that are never negative.
  std::optional<Sample> Unfinished, Apart;
  size_t Passed = 0;
};

} // namespace
} // namespace pipes

static PipeProof provePipes(ir::FuncOp group, pipes::GroupModel &model) {
  if (!model.findings.empty())
    return {.verdict = PipeProof::Verdict::Refuted, .findings = std::move(model.findings)};
  if (!model.unknowns.empty())
    return {.verdict = PipeProof::Verdict::Undecided, .reasons = std::move(model.unknowns)};
  if (model.pipes.empty() || model.members.empty())
    return {};
  PipeProof proof = pipes::Prover(model).prove();
  // Who waits at a barrier neither pushes nor pops. That can only make things worse, so what is
  // refuted stays refuted.
  Operation *barrier = ir::findBarrier(group);
  if (barrier && proof.verdict == PipeProof::Verdict::Proved)
    return {.verdict = PipeProof::Verdict::Undecided,
            .reasons = {{barrier->getLoc(), "when all members come to the barrier is known only "
                                            "when the program runs"}}};
  return proof;
}

PipeProof provePipes(ir::FuncOp group, int64_t defaultSlots, ValueRange required) {
  // Roles that have the parts of a loop alike are followed part by part. Where only one has parts
  // they are one loop again.
  pipes::GroupModel apart = pipes::modelGroup(group, defaultSlots, required, /*joinsLoops=*/false);
  PipeProof proof = provePipes(group, apart);
  if (proof.verdict == PipeProof::Verdict::Proved)
    return proof;
  pipes::GroupModel joined = pipes::modelGroup(group, defaultSlots, required, /*joinsLoops=*/true);
  return joined.hasJoined ? provePipes(group, joined) : proof;
}

} // namespace kiln
