//===- PipeProof.cpp - decides about a group: proved, refuted or undecided --------------===//
#include "kiln/Analysis/PipeProof.h"

#include "PipeReport.h"
#include "PipeSearch.h"

using namespace mlir;

namespace kiln {
namespace pipes {
namespace {

/// What memory holds is tried in so many ways.
constexpr uint64_t kMemorySeeds = 4;

class Prover {
public:
  explicit Prover(GroupModel &model) : Model(model), Open(openValues(model)) {
    for (const Pipe &pipe : model.pipes)
      Slots.push_back(pipe.slots);
    Samples = samplesOf(model, Open);
  }

  PipeProof prove() {
    bool allRan = true;
    std::optional<Counterexample> crossed;
    for (const Sample &sample : Samples) {
      std::optional<Trial> failed = findFailure(Slots, sample);
      if (!failed)
        continue;
      if (failed->isExhausted()) {
        allRan = false;
        break; // larger values take longer still
      }
      // A loop whose bounds cross, such as one over n - 1 iterations where n is 0, shows that the
      // author takes n for larger. That becomes a condition.
      if (countOnly(Model, sample).run.hasCrossedBounds()) {
        if (!crossed)
          crossed = Counterexample{sample, std::move(*failed)};
        continue;
      }
      Counterexample example{sample, std::move(*failed)};
      PipeProof proof{.verdict = PipeProof::Verdict::Refuted};
      proof.findings = explain(Model, example, [&](const auto &slots) { return works(slots); });
      return proof;
    }
    bool isDecidedByTrial = allRan && Open.integers.empty() && !Open.readsMemory;
    if (!crossed && (isDecidedByTrial || holdsForAll(Model, Slots, {})))
      return {};
    if (crossed)
      if (std::optional<std::string> condition = findCondition())
        return {.condition = *condition};
    return {.verdict = PipeProof::Verdict::Undecided, .reasons = {sayWhyNot(crossed)}};
  }

private:
  /// How a sample fails, whatever memory holds; none if it does not.
  std::optional<Trial> findFailure(const std::vector<int64_t> &slots, const Sample &sample) {
    std::optional<Trial> failed;
    for (uint64_t seed = 0; seed < (Open.readsMemory ? kMemorySeeds : 1); ++seed) {
      failed = tryOut(Model, slots, sample, seed);
      if (failed->isGood())
        return std::nullopt;
    }
    return failed;
  }

  bool works(const std::vector<int64_t> &slots) {
    for (const Sample &sample : Samples)
      if (findFailure(slots, sample) && !countOnly(Model, sample).run.hasCrossedBounds())
        return false;
    return (Open.integers.empty() && !Open.readsMemory) || holdsForAll(Model, slots, {});
  }

  /// The weakest condition under which the group was proved: that one loop's bounds do not cross,
  /// or that none do.
  std::optional<std::string> findCondition() {
    std::vector<Expr> tripCounts;
    for (const Member &member : Model.members)
      for (const Step &step : member.body)
        if (auto *loop = std::get_if<Loop>(&step); loop && !loop->trips.isConstant())
          if (!llvm::is_contained(tripCounts, loop->trips))
            tripCounts.push_back(loop->trips);
    for (const Expr &trips : tripCounts)
      if (holdsForAll(Model, Slots, {trips}))
        return sayAtLeastZero(trips);
    if (!holdsForAll(Model, Slots, tripCounts))
      return std::nullopt;
    std::string text;
    for (const Expr &trips : tripCounts)
      text += (text.empty() ? "" : " and ") + sayAtLeastZero(trips);
    return text;
  }

  std::string sayAtLeastZero(const Expr &expr) const {
    return Model.scalars.str(expr - expr.constant()) + " >= " + std::to_string(-expr.constant());
  }

  PipeMessage sayWhyNot(const std::optional<Counterexample> &crossed) const {
    std::string text;
    if (crossed)
      text = "it fails with " + describe(Model, crossed->sample) + ", and ";
    text += Open.readsMemory ? "no proof was found for all that memory may hold"
                             : "no proof was found for all trip counts";
    Location loc = Model.pipes.front().op.getLoc();
    if (!Samples.empty() && !Open.integers.empty())
      text += " (" + std::to_string(Samples.size()) + " sets of values were tried, up to " +
              describe(Model, Samples.back()) + ")";
    return {loc, text};
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
  return pipes::Prover(model).prove();
}

} // namespace kiln
