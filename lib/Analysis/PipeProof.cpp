//===- PipeProof.cpp - decides about a group: proved, refuted or undecided --------------===//
#include "kiln/Analysis/PipeProof.h"

#include "PipeReport.h"
#include "PipeSearch.h"

using namespace mlir;

namespace kiln {
namespace pipes {
namespace {

class Prover {
public:
  explicit Prover(GroupModel &model) : Model(model), Open(openValues(model)) {
    for (const Pipe &pipe : model.pipes)
      Slots.push_back(pipe.slots);
    // A trial with numbers that cannot be right shows nothing.
    if (Open.isComputable)
      Samples = samplesOf(model, Open);
  }

  PipeProof prove() {
    bool allRan = true;
    std::optional<Sample> crossed;
    for (const Sample &sample : Samples) {
      std::optional<Trial> failed = findFailure(Slots, sample);
      if (!failed)
        continue;
      if (failed->isExhausted()) {
        allRan = false;
        break; // larger values take longer still
      }
      if (!isExcused(sample))
        return refute({sample, std::move(*failed)});
      if (!crossed)
        crossed = sample;
    }
    if (allRan && isClosed())
      return {};
    if (std::optional<std::string> condition = findCondition(Slots))
      return {.condition = *condition};
    return {.verdict = PipeProof::Verdict::Undecided, .reasons = {sayWhyNot(crossed)}};
  }

private:
  /// Whether one trial decides.
  bool isClosed() const { return Open.integers.empty() && !Open.readsMemory && Open.isComputable; }

  /// How a sample fails, whatever memory holds; none if it does not.
  std::optional<Trial> findFailure(const std::vector<int64_t> &slots, const Sample &sample) {
    Trial trial = tryOut(Model, slots, sample);
    return trial.isGood() || trial.isOpen() ? std::nullopt : std::optional(std::move(trial));
  }

  /// A loop whose bounds cross, such as one over n - 1 iterations where n is 0, shows that the
  /// author takes n for larger. A failure then becomes a condition of the proof.
  bool isExcused(const Sample &sample) {
    return !isClosed() && countOnly(Model, sample).run.hasCrossedBounds();
  }

  PipeProof refute(Counterexample example) {
    auto works = [&](const std::vector<int64_t> &slots) {
      bool passes = llvm::all_of(Samples, [&](const Sample &sample) {
        return !findFailure(slots, sample) || isExcused(sample);
      });
      return passes && (isClosed() || findCondition(slots));
    };
    PipeProof proof{.verdict = PipeProof::Verdict::Refuted};
    proof.findings = explain(Model, example, works);
    return proof;
  }

  /// Under which condition a proof was found; empty if under none, nothing if no proof was found.
  /// Conditions are that parameters are not negative and that the bounds of loops do not cross: one
  /// of them if one is enough, else all.
  std::optional<std::string> findCondition(const std::vector<int64_t> &slots) {
    if (holdsForAll(Model, slots, {}))
      return "";
    std::vector<Expr> candidates;
    for (Atom atom : Open.integers)
      if (Model.scalars.info(atom).least < 0)
        candidates.push_back(Expr::of(atom));
    // Only loops of the outermost level: the trip counts of others depend on indices.
    for (const Member &member : Model.members)
      for (const Step &step : member.body)
        if (auto *loop = std::get_if<Loop>(&step); loop && !loop->trips.isConstant())
          if (!llvm::is_contained(candidates, loop->trips))
            candidates.push_back(loop->trips);
    for (const Expr &candidate : candidates)
      if (holdsForAll(Model, slots, {candidate}))
        return sayAtLeastZero(candidate);
    if (!holdsForAll(Model, slots, candidates))
      return std::nullopt;
    std::string text;
    for (const Expr &candidate : candidates)
      text += (text.empty() ? "" : " and ") + sayAtLeastZero(candidate);
    return text;
  }

  std::string sayAtLeastZero(const Expr &expr) const {
    return Model.scalars.str(expr - expr.constant()) + " >= " + std::to_string(-expr.constant());
  }

  PipeMessage sayWhyNot(const std::optional<Sample> &crossed) const {
    std::string text;
    if (crossed)
      text = "it fails with " + describe(Model, *crossed) + ", and ";
    text += Open.readsMemory ? "no proof was found for all that memory may hold"
                             : "no proof was found for all trip counts";
    if (!Open.integers.empty() && !Samples.empty())
      text += " (" + std::to_string(Samples.size()) + " sets of values were tried, up to " +
              describe(Model, Samples.back()) + ")";
    return {Model.pipes.front().op.getLoc(), text};
  }

  GroupModel &Model;
  OpenValues Open;
  std::vector<int64_t> Slots;
  std::vector<Sample> Samples;
};

} // namespace
} // namespace pipes

PipeProof provePipes(ir::FuncOp group, int64_t defaultSlots) {
  pipes::GroupModel model = pipes::modelGroup(group, defaultSlots);
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

} // namespace kiln
