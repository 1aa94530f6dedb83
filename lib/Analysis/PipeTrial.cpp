#include "PipeTrial.h"

using namespace mlir;

namespace kiln::pipes {

//===----------------------------------------------------------------------===//
// Open values
//===----------------------------------------------------------------------===//

OpenValues openValues(const GroupModel &model) {
  OpenValues open;
  auto visit = [&](const Expr &expr) {
    model.scalars.forEachAtom(expr, [&](Atom atom) {
      const AtomInfo &info = model.scalars.info(atom);
      if (info.kind == AtomInfo::Kind::Free && !llvm::is_contained(open.integers, atom))
        open.integers.push_back(atom);
      if (info.kind != AtomInfo::Kind::Operation)
        return;
      bool isMemory = isa<ir::ReadOp, ir::SliceOp, ir::TransposeOp, ir::ReshapeOp>(info.op);
      std::vector<int64_t> ones(info.operands.size(), 1);
      open.readsMemory |= isMemory;
      open.isComputable &= isMemory || evaluate(info.op, ones).has_value();
    });
  };
  forEachControl(model, visit);
  llvm::for_each(model.required, visit);
  return open;
}

std::string describe(const GroupModel &model, const Sample &sample) {
  std::string text;
  for (const auto &[atom, value] : sample)
    text += (text.empty() ? "" : ", ") + model.scalars.str(atom) + " = " + model.scalars.str(value);
  return text;
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

static Trial runAll(Execution run) {
  std::vector<Stop> stops(run.model().members.size(), Stop::Done);
  for (int64_t made = -1; made != run.eventsMade();) {
    made = run.eventsMade();
    for (unsigned member = 0; member < stops.size(); ++member) {
      stops[member] = run.run(member);
      if (stops[member] == Stop::BadFree || stops[member] == Stop::Exhausted)
        return {std::move(run), std::move(stops)};
    }
  }
  return {std::move(run), std::move(stops)};
}

static Trial runWithin(Execution run, const Sample &sample, TrialBudget &budget) {
  run.env() = sample;
  int64_t before = run.stepsLeft();
  Trial trial = runAll(std::move(run));
  budget.left -= before - trial.run.stepsLeft();
  return trial;
}

Trial tryOut(GroupModel &model, const std::vector<int64_t> &slots, const Sample &sample,
             TrialBudget &budget) {
  int64_t steps = std::min(budget.left, TrialBudget::perTrial);
  return runWithin(Execution(model, slots, INT64_MAX, steps), sample, budget);
}

Trial countOnly(GroupModel &model, const Sample &sample, TrialBudget &budget) {
  Execution run(model, std::vector<int64_t>(model.pipes.size(), 1), INT64_MAX,
                TrialBudget::perTrial);
  run.ignoreWaits();
  return runWithin(std::move(run), sample, budget);
}

} // namespace kiln::pipes
