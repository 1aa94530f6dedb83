#include "PipeTrial.h"

#include <numeric>

using namespace mlir;

namespace kiln::pipes {

/// More steps than any program needs that runs its pipes a few thousand times.
static constexpr int64_t kTrialSteps = 200'000;
static constexpr size_t kMaxSamples = 200;

//===----------------------------------------------------------------------===//
// Open values and samples
//===----------------------------------------------------------------------===//

OpenValues openValues(const GroupModel &model) {
  OpenValues open;
  forEachControl(model, [&](const Expr &expr) {
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
  });
  return open;
}

/// Values of one atom worth trying.
static std::vector<int64_t> candidates(const GroupModel &model, Atom wanted) {
  std::set<int64_t> values;
  int64_t unit = 1;
  forEachControl(model, [&](const Expr &expr) {
    model.scalars.forEachAtom(expr, [&](Atom atom) {
      const AtomInfo &info = model.scalars.info(atom);
      if (!llvm::any_of(info.operands,
                        [&](auto &in) { return model.scalars.mentions(in, wanted); }))
        return;
      for (const Expr &operand : info.operands) {
        // Divided by the size of a tile, or compared with a constant.
        if (operand.isConstant() && info.kind == AtomInfo::Kind::CeilDiv)
          unit = std::max(unit, operand.constant());
        else if (int64_t edge = std::abs(operand.constant()); edge > 0 && edge < 1 << 20)
          values.insert({edge - 1, edge, edge + 1});
      }
    });
  });
  for (int64_t count = 0; count <= 6; ++count)
    values.insert(count * unit);
  values.insert({1, unit + 1});
  const AtomInfo &info = model.scalars.info(wanted);
  // Where arithmetic of few bits wraps.
  if (info.most <= INT16_MAX)
    values.insert({info.least, info.most});
  std::erase_if(values, [&](int64_t value) { return value < info.least || value > info.most; });
  return {values.begin(), values.end()};
}

/// Whether the first few values already say that the group is not called with such values.
static bool isRuledOut(GroupModel &model, const OpenValues &open, ArrayRef<int64_t> point) {
  Sample sample;
  for (auto [atom, value] : llvm::zip(open.integers, point))
    sample[atom] = value;
  return llvm::any_of(model.requirements, [&](const Expr &requirement) {
    Expr value = model.scalars.substitute(requirement, sample);
    return value.isConstant() && value.constant() == 0;
  });
}

std::vector<Sample> samplesOf(GroupModel &model, const OpenValues &open) {
  std::vector<std::vector<int64_t>> points{{}};
  for (Atom atom : open.integers) {
    std::vector<std::vector<int64_t>> extended;
    for (const std::vector<int64_t> &point : points)
      for (int64_t value : candidates(model, atom)) {
        extended.push_back(point);
        extended.back().push_back(value);
        if (isRuledOut(model, open, extended.back()))
          extended.pop_back();
      }
    auto sum = [](const std::vector<int64_t> &point) {
      return std::accumulate(point.begin(), point.end(), int64_t(0));
    };
    llvm::stable_sort(extended, [&](auto &a, auto &b) { return sum(a) < sum(b); });
    if (extended.size() > kMaxSamples)
      extended.resize(kMaxSamples);
    points = std::move(extended);
  }
  std::vector<Sample> samples;
  for (const std::vector<int64_t> &point : points) {
    samples.emplace_back();
    for (auto [atom, value] : llvm::zip_equal(open.integers, point))
      samples.back()[atom] = value;
  }
  // A block is one of those there are.
  std::erase_if(samples, [&](const Sample &sample) {
    return llvm::any_of(sample, [&](const auto &entry) {
      std::optional<Atom> below = model.scalars.info(entry.first).below;
      auto bound = below ? sample.find(*below) : sample.end();
      return bound != sample.end() && entry.second.constant() >= bound->second.constant();
    });
  });
  return samples;
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

Trial tryOut(GroupModel &model, const std::vector<int64_t> &slots, const Sample &sample) {
  Execution run(model, slots, INT64_MAX, kTrialSteps);
  run.env() = sample;
  return runAll(std::move(run));
}

Trial countOnly(GroupModel &model, const Sample &sample) {
  Execution run(model, std::vector<int64_t>(model.pipes.size(), 1), INT64_MAX, kTrialSteps);
  run.env() = sample;
  run.ignoreWaits();
  return runAll(std::move(run));
}

} // namespace kiln::pipes
