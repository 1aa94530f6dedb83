#include "Aims.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {
namespace {

/// How far from a number that would take a side one is looked for that is allowed, too.
constexpr int64_t kMostDistance = 512;
/// Up to here numbers are tried where nothing else is found: one, or each of two.
constexpr int64_t kMostScanned = 4096, kMostScannedOfTwo = 64;
/// For all decisions together.
constexpr uint64_t kMostTries = 100000;
/// Cases for one side of a decision, at limits, and in which two things come together.
constexpr size_t kMostForSide = 3, kMostAtLimits = 40, kMostTogether = 60;
/// Sides of decisions that are brought together.
constexpr size_t kMostWays = 64;

} // namespace

bool Aims::isGood(const Decisions::Decision &decision, unsigned side, const Choice &choice) const {
  return Tries++ < kMostTries && Arguments.isAllowed(choice) &&
         Made.mayTake(decision.op, side, [&](Leaf leaf) { return Arguments.value(leaf, choice); });
}

std::optional<Choice> Aims::adjust(const Decisions::Decision &decision, unsigned side,
                                   const Choice &choice) const {
  if (isGood(decision, side, choice))
    return choice;
  for (auto [leaf, value] : choice) {
    if (leaf.axis == Leaf::kData)
      continue;
    Choice near = choice;
    for (int64_t distance = 1; distance <= kMostDistance; ++distance)
      for (int64_t sign : {1, -1}) {
        near[leaf] = value + sign * distance;
        if (near[leaf] >= 0 && isGood(decision, side, near))
          return near;
      }
  }
  return std::nullopt;
}

std::optional<Choice> Aims::scan(const Decisions::Decision &decision, unsigned side) const {
  if (isGood(decision, side, {})) // blocks, iterations or memory decide it, of which nobody knows
    return std::nullopt;
  std::vector<Leaf> leaves;
  for (Leaf leaf : decision.leaves)
    if (leaf.axis != Leaf::kData)
      leaves.push_back(leaf);
  for (Leaf leaf : leaves)
    for (int64_t value = 0; value <= kMostScanned; ++value)
      if (Choice choice{{leaf, value}}; isGood(decision, side, choice))
        return choice;
  for (size_t i = 0; i < leaves.size(); ++i)
    for (size_t j = i + 1; j < leaves.size(); ++j)
      for (int64_t one = 0; one <= kMostScannedOfTwo; ++one)
        for (int64_t other = 0; other <= kMostScannedOfTwo; ++other)
          if (Choice choice{{leaves[i], one}, {leaves[j], other}}; isGood(decision, side, choice))
            return choice;
  return std::nullopt;
}

std::vector<Choice> Aims::search(const Decisions::Decision &decision, unsigned side) const {
  std::vector<Choice> found;
  auto now = [&](Leaf leaf) { return Arguments.value(leaf, {}); };
  for (const Choice &choice : Made.choicesFor(decision.op, side, now))
    if (std::optional<Choice> good = adjust(decision, side, choice);
        good && found.size() < kMostForSide)
      found.push_back(*good);
  if (found.empty())
    if (std::optional<Choice> good = scan(decision, side))
      found.push_back(*good);
  return found;
}

void Aims::add(const Choice &choice, std::vector<CheckCase> &cases) {
  if (Tried.insert(choice).second)
    cases.push_back(Arguments.caseWith(choice));
}

std::vector<CheckCase> Aims::limits() {
  std::vector<CheckCase> cases;
  auto now = [&](Leaf leaf) { return Arguments.value(leaf, {}); };
  for (const Choice &choice : Made.choicesForLimits(now))
    if (cases.size() < kMostAtLimits && Arguments.isAllowed(choice))
      add(choice, cases);
  return cases;
}

std::vector<CheckCase> Aims::next(const TakenSides &taken) {
  std::vector<CheckCase> cases;
  for (const Decisions::Decision &decision : Made.all())
    for (unsigned side : {1u, 2u})
      if (!(taken.lookup(decision.op) & side))
        for (const Choice &choice : search(decision, side))
          add(choice, cases);
  return cases;
}

std::vector<Aims::Way> Aims::findWays() const {
  std::vector<Way> ways;
  for (const Decisions::Decision &decision : Made.all()) {
    if (!Decisions::isBranch(decision.op) || decision.leaves.empty() || ways.size() >= kMostWays)
      continue;
    // Where the value of a float or of memory decides it, nothing tells which way it goes now.
    bool isKnown = llvm::all_of(decision.leaves,
                                [&](Leaf leaf) { return Arguments.value(leaf, {}).has_value(); });
    for (unsigned side : {1u, 2u}) {
      if (isKnown && isGood(decision, side, {})) {
        ways.push_back({decision, side, {}});
        continue;
      }
      std::vector<Choice> found = search(decision, side);
      if (!found.empty())
        ways.push_back({decision, side, found.front()});
    }
  }
  return ways;
}

void Aims::addBoth(const Way &way, const Choice &other, std::vector<CheckCase> &cases) {
  std::optional<Choice> both = join(way.choice, other);
  if (both && !both->empty() && cases.size() < kMostTogether &&
      isGood(way.decision, way.side, *both))
    add(*both, cases);
}

std::vector<CheckCase> Aims::together() {
  std::vector<CheckCase> cases;
  std::vector<Way> ways = findWays();
  std::vector<Choice> ragged = Arguments.raggedChoices();
  for (const Way &way : ways)
    for (const Choice &extents : ragged)
      addBoth(way, extents, cases);
  for (size_t i = 0; i < ways.size(); ++i)
    for (size_t j = i + 1; j < ways.size(); ++j)
      if (&ways[i].decision != &ways[j].decision)
        if (std::optional<Choice> both = join(ways[i].choice, ways[j].choice);
            both && !both->empty() && isGood(ways[j].decision, ways[j].side, *both))
          addBoth(ways[i], *both, cases);
  return cases;
}

std::vector<Gap> Aims::untaken(const TakenSides &taken) const {
  std::vector<Gap> gaps;
  for (const Decisions::Decision &decision : Made.all())
    for (unsigned side : {1u, 2u}) {
      uint8_t seen = taken.lookup(decision.op);
      // What was not reached at all lies behind something else that was not taken.
      if (seen == 0 || (seen & side) || !Decisions::mustTake(decision.op, side))
        continue;
      if (!Made.canTake(decision.op, side, [&](Leaf leaf) { return Arguments.range(leaf); }))
        continue;
      std::vector<std::string> names;
      for (Leaf leaf : decision.leaves)
        names.push_back(Arguments.name(leaf));
      if (decision.usesMemory)
        names.push_back("what tasks have computed");
      std::string remedy = "it depends on " + llvm::join(names, " and ") + "; " +
                           (decision.leaves.empty() ? ""
                                                    : "give " + Arguments.flags(decision.leaves) +
                                                          " with which it is otherwise, or ") +
                           "exclude the other side with a require, or leave it out";
      gaps.push_back({Decisions::describeUntaken(decision.op, side),
                      sourceLocOf(decision.op->getLoc()), remedy, "untaken"});
    }
  return gaps;
}

} // namespace kiln
