#include "Tune/PlayOff.h"

#include "kiln/runtime/interrupt.h"

namespace kiln {

/// How many of the best go on: none that was not once as fast as the best usually is. Where the
/// machine is not quiet, so that in most rounds the best was slower than it can be, others may not
/// have had their chance.
static size_t numberThatGoesOn(const std::vector<Candidate *> &sorted) {
  const Candidate &best = *sorted.front();
  constexpr double quiet = 1.05, alike = 1.02;
  bool isQuiet = best.median() < best.best() * quiet;
  size_t most = isQuiet ? (sorted.size() + 1) / 2 : (3 * sorted.size() + 3) / 4;
  size_t near = llvm::count_if(
      sorted, [&](const Candidate *each) { return each->best() <= best.median() * alike; });
  return std::min(most, near);
}

/// How often the number is halved until there is nothing more to halve, and once more.
static unsigned stagesFor(size_t count, size_t least) {
  unsigned stages = 1;
  for (; count > least; count = (count + 1) / 2)
    ++stages;
  return stages;
}

Candidate *PlayOff::run(std::vector<Candidate *> left, const std::vector<Candidate *> &stay) const {
  auto alsoTakeThoseThatStay = [&] {
    for (Candidate *candidate : stay)
      if (candidate->isMeasured() && !llvm::is_contained(left, candidate))
        left.push_back(candidate);
  };
  alsoTakeThoseThatStay();
  for (Candidate *candidate : left) {
    candidate->times.clear();
    candidate->isFinalist = true;
  }
  Candidate *usual = stay.front();
  const unsigned enough = 8 * rounds, most = 16 * rounds;
  unsigned done = 0; // rounds, of those that are left
  for (unsigned goal = rounds;; goal = std::min(2 * goal, most)) {
    // Each stage has the same share of the time.
    double now = secondsLeft();
    double end = now - now / stagesFor(left.size(), stay.size() + 1);
    for (bool isFirst = true; done < goal && (isFirst || secondsLeft() > end) && !isInterrupted();
         ++done, isFirst = false)
      for (Candidate *candidate : left)
        if (candidate->refusal.empty())
          visit(*candidate);
    llvm::erase_if(left, [](Candidate *each) { return !each->isMeasured(); });
    if (!usual->isMeasured()) // which stands beside all others
      return nullptr;
    std::ranges::stable_sort(left, {}, [](Candidate *each) { return each->seconds(); });
    bool isDecided = left.size() <= stay.size() + 1; // those that stay, and one other
    if ((isDecided && done >= enough) || done >= most || secondsLeft() <= 0 || isInterrupted())
      return left.front()->seconds() < usual->seconds() * kGain ? left.front() : usual;
    left.resize(numberThatGoesOn(left));
    alsoTakeThoseThatStay();
  }
}

} // namespace kiln
