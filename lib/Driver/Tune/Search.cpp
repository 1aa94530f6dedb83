#include "Tune/Search.h"

#include "Terminal.h"
#include "Tune/PlayOff.h"

#include <cmath>
#include <thread>

using namespace mlir;

namespace kiln {

/// Who was not so many times as slow as the fastest may be it; who was so many times as slow is
/// not, whatever disturbed the look.
static constexpr double kHopeful = 1.5, kHopeless = 3;

//===----------------------------------------------------------------------===//
// One candidate
//===----------------------------------------------------------------------===//

std::string Search::record(Attempt &attempt) const {
  ConfigValues values = Offered.valuesOf(attempt.candidate->trial);
  values.insert(Given.begin(), Given.end());
  kiln_config config{.values = values};
  Expected<WrittenProgram::Recorded> program = Written.record(config);
  if (std::vector<std::string> wrong = config.errors(); !wrong.empty())
    return wrong.front();
  if (!program)
    return program.status().message();
  if (const std::vector<Status> &errors = errorsOf(program->get()); !errors.empty())
    return errors.front().message();
  attempt.program = std::move(*program);
  return "";
}

/// On any thread; what it finds is the attempt's, not yet the candidate's.
void Search::build(Attempt &attempt) {
  Budget::Clock::time_point start = Budget::Clock::now();
  Expected<Compiled> compiled = Calls.compile(attempt.program->get(), Target.name());
  Status bad = compiled ? compiled->compileOnly(Bed.forCalls()) : compiled.status();
  attempt.seconds = Budget::secondsSince(start);
  if (bad.isOk())
    attempt.compiled = std::move(*compiled);
  else
    attempt.refusal = bad.message();
}

/// Checks it and has a first look, or says why not.
void Search::tryOut(Attempt attempt) {
  Candidate &candidate = *attempt.candidate;
  candidate.compileSeconds = attempt.seconds;
  candidate.refusal = attempt.refusal.empty() ? Bed.check(*attempt.compiled) : attempt.refusal;
  if (!candidate.refusal.empty())
    return;
  candidate.compiled = std::make_shared<Compiled>(std::move(*attempt.compiled));
  look(candidate);
}

double Search::stretch(Candidate &candidate) const {
  Expected<double> time = Bed.stretch(*candidate.compiled);
  if (!time)
    candidate.refusal = time.status().message();
  return time ? *time : INFINITY;
}

void Search::visit(Candidate &candidate) const {
  Expected<double> time = Bed.visit(*candidate.compiled);
  if (time)
    candidate.times.push_back(*time);
  else
    candidate.refusal = time.status().message();
}

/// In turns with the usual choice, which tells whether others use the cores just now. Then it looks
/// again, and at last takes the look that was disturbed least, less what disturbed it.
void Search::look(Candidate &candidate) {
  constexpr double shortest = 0.004, quiet = 1.1;
  bool isBeside = &candidate != &usual() && !Bed.runsElsewhere() && usual().best() < shortest;
  double least = INFINITY; // by which the usual choice was slower than it can be
  for (int looks = 0; looks < 3 && least > quiet; ++looks) {
    double own = INFINITY, beside = INFINITY;
    Budget::Clock::time_point start = Budget::Clock::now();
    for (int turns = 0; Budget::secondsSince(start) < shortest ||
                        (turns < 3 && own < kHopeless * std::min(Fastest, own));
         ++turns) {
      own = std::min(own, stretch(candidate));
      beside = isBeside ? std::min(beside, stretch(usual())) : FastestOfUsual;
      if (!candidate.refusal.empty() || !usual().refusal.empty())
        return;
    }
    Fastest = std::min(Fastest, own);
    FastestOfUsual = std::min(FastestOfUsual, &candidate == &usual() ? own : beside);
    double slower = &candidate == &usual() ? 1 : beside / FastestOfUsual;
    if (slower < least) {
      least = slower;
      candidate.times = {own / slower};
    }
    if (own > kHopeless * Fastest)
      return; // so much no disturbance makes of it
  }
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

Candidate *Search::find(const Trial &trial) {
  auto known = llvm::find_if(Tried, [&](const auto &each) { return each->trial == trial; });
  return known == Tried.end() ? nullptr : known->get();
}

void Search::tryAll(NextTrial next, StringRef what, uint64_t count, double share) {
  Progress progress(what.str(), count);
  Builders builders([this](Attempt &attempt) {
    if (attempt.refusal.empty())
      build(attempt);
  });
  size_t cores = std::max(1U, std::thread::hardware_concurrency());
  size_t atOnce = Bed.runsElsewhere() && cores > 1 ? cores - 1 : cores; // one launches the calls
  uint64_t done = 0;
  bool isAll = false;
  std::vector<Attempt> ready;
  auto goesOn = [&] { return !isAll && (Tried.empty() || !Time.isUp(share)) && !isInterrupted(); };
  while (true) {
    while (builders.running() < atOnce && goesOn()) {
      std::optional<Trial> trial = next();
      isAll = !trial;
      if (!trial || find(*trial))
        continue;
      Spending spending(Time.compiling);
      Attempt attempt{Tried.emplace_back(std::make_unique<Candidate>()).get()};
      attempt.candidate->trial = *trial;
      attempt.candidate->counts = Bed.runsElsewhere() ? Counts::Median : Counts::Fastest;
      attempt.refusal = record(attempt);
      builders.start(std::move(attempt));
    }
    if (builders.running() == 0)
      return;
    do {
      Spending spending(Time.compiling);
      ready.push_back(builders.take());
    } while (!Bed.runsElsewhere() && builders.running() > 0);
    // What the usual choice computes is what others are held against, so they wait for it.
    auto isUsual = [&](const Attempt &attempt) { return attempt.candidate == &usual(); };
    std::ranges::stable_partition(ready, isUsual);
    if (!usual().isMeasured() && !isUsual(ready.front()))
      continue;
    for (Attempt &attempt : ready) {
      progress.show(done++, Offered.words(attempt.candidate->trial));
      tryOut(std::move(attempt));
      isAll |= !usual().isMeasured();
      if (!usual().isMeasured())
        break;
    }
    ready.clear();
  }
}

void Search::tryAll(ArrayRef<Trial> trials, StringRef what, double share) {
  auto next = [&]() -> std::optional<Trial> {
    if (trials.empty())
      return std::nullopt;
    Trial first = trials.front();
    trials = trials.drop_front();
    return first;
  };
  tryAll(next, what, trials.size(), share);
}

void Search::run(const std::optional<Trial> &kept) {
  std::vector<Trial> first = {Offered.usual()};
  if (kept)
    first.push_back(*kept);
  llvm::append_range(first, Offered.withOneChange());
  tryAll(first, "trying one change at a time", 0.4);
  if (isInterrupted() || !usual().isMeasured())
    return;
  tryPromising();
  if (usual().isMeasured())
    tryCompiler();
  if (!Bed.runsElsewhere())
    lookAgain();
}

/// Now and then a system leaves both threads of a call on one core for longer than a first look
/// takes, though nobody else wants one. Then even the fastest is not among the hopefuls.
void Search::lookAgain() {
  constexpr double share = 0.8;
  for (const std::unique_ptr<Candidate> &candidate : Tried) {
    if (!candidate->isMeasured() || candidate->best() < kHopeful * Fastest ||
        candidate->best() > kHopeless * Fastest)
      continue;
    if (Time.isUp(share) || isInterrupted())
      return;
    double before = candidate->best();
    look(*candidate);
    if (candidate->isMeasured())
      candidate->times = {std::min(before, candidate->best())};
  }
}

/// What the compiler chooses by itself says how long a choice of the program takes.
SpeedModel Search::learn() const {
  std::vector<SpeedModel::Point> points;
  std::vector<double> logarithms;
  for (const std::unique_ptr<Candidate> &candidate : Tried)
    if (candidate->trial.told.empty() && candidate->isMeasured()) {
      points.push_back(Offered.pointOf(candidate->trial));
      logarithms.push_back(std::log(candidate->best()));
    }
  return {std::move(points), logarithms};
}

/// Of all combinations, one after the other, the one that might be the fastest by what is measured
/// until then; those that can hardly be faster than the best are not tried.
void Search::tryPromising() {
  std::vector<Trial> untried;
  std::vector<SpeedModel::Point> points; // where they lie
  constexpr uint64_t most = 100'000;
  for (Trial &trial : Offered.all(most))
    if (!find(trial)) {
      points.push_back(Offered.pointOf(trial));
      untried.push_back(std::move(trial));
    }
  std::optional<SpeedModel> model;
  size_t known = 0; // of those that were tried, when the model was made
  auto next = [&]() -> std::optional<Trial> {
    if (untried.empty())
      return std::nullopt;
    if (!model || Tried.size() > known + known / 16) {
      model = learn();
      known = Tried.size();
    }
    double below = Time.isUnlimited() ? INFINITY : std::log(Fastest * kGain);
    std::optional<size_t> best = model->mostPromising(points, below);
    if (!best)
      return std::nullopt;
    Trial trial = std::move(untried[*best]);
    untried.erase(untried.begin() + ptrdiff_t(*best));
    points.erase(points.begin() + ptrdiff_t(*best));
    return trial;
  };
  bool isOnlyTheProgram = Offered.ofTheCompiler().empty();
  tryAll(next, "trying what may be faster", 0, isOnlyTheProgram ? 0.7 : 0.6);
}

/// What passes choose by themselves, with the values of the two best: each thing alone, and then
/// together what was faster.
void Search::tryCompiler() {
  constexpr double share = 0.75, noise = 0.99;
  StringRef what = "trying other choices of the compiler";
  std::vector<Candidate *> best = ranking();
  best.resize(std::min<size_t>(best.size(), 2));
  std::vector<Trial> alone, together;
  for (const Candidate *base : best)
    for (const ir::CompilerChoice &thing : Offered.ofTheCompiler())
      for (const std::string &value : thing.values)
        alone.emplace_back(base->trial).told[thing.name] = value;
  tryAll(alone, what, share);
  for (const Candidate *base : best) {
    Trial &all = together.emplace_back(base->trial);
    for (const ir::CompilerChoice &thing : Offered.ofTheCompiler()) {
      double fastest = base->best() * noise;
      for (const std::string &value : thing.values) {
        Trial told = base->trial;
        told.told[thing.name] = value;
        if (Candidate *candidate = find(told);
            candidate && candidate->isMeasured() && candidate->best() < fastest) {
          fastest = candidate->best();
          all.told[thing.name] = value;
        }
      }
    }
  }
  tryAll(together, what, share);
}

std::vector<Candidate *> Search::ranking() {
  std::vector<Candidate *> list;
  for (const std::unique_ptr<Candidate> &candidate : Tried)
    if (candidate->isMeasured())
      list.push_back(candidate.get());
  std::ranges::stable_sort(
      list, {}, [](Candidate *each) { return std::pair(!each->isFinalist, each->seconds()); });
  return list;
}

/// A first look may be wrong, by much where others use the cores; so some are taken in any case.
std::vector<Candidate *> Search::hopefuls() {
  constexpr size_t inAnyCase = 16;
  std::vector<Candidate *> list = ranking();
  size_t near = llvm::count_if(
      list, [&](const Candidate *each) { return each->best() < Fastest * kHopeful; });
  list.resize(std::min(list.size(), std::max(near, inAnyCase)));
  return list;
}

} // namespace kiln
