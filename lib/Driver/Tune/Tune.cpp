#include "Tune/Tune.h"
#include "abi/JsonOutput.h"

#include "Terminal.h"
#include "Tune/Candidates.h"
#include "Tune/SpeedModel.h"

#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Jit/Jit.h"
#include "kiln/Program/Signature.h"

#include <chrono>
#include <cmath>
#include <thread>

using namespace mlir;

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

/// Who takes more than this share of another's time is not faster.
constexpr double kGain = 0.98;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Adds the time until its end to a sum of seconds.
class Spending {
public:
  explicit Spending(double &sum) : Sum(sum) {}
  ~Spending() { Sum += secondsSince(Begin); }
  Spending(const Spending &) = delete;
  Spending &operator=(const Spending &) = delete;

private:
  double &Sum;
  Clock::time_point Begin = Clock::now();
};

class Tuner {
public:
  Tuner(const WrittenProgram &written, const ConfigValues &given, const RunSettings &options,
        const TuneSettings &settings)
      : Written(written), Given(given), Options(options), Settings(settings) {}

  int run();

private:
  int prepare();
  void findAxes(const kiln_config &config);
  uint64_t numChoices() const;
  size_t numTold() const;

  ConfigValues valuesOf(const Trial &trial) const;
  std::string words(const Trial &trial) const;
  std::optional<Trial> trialOf(const ConfigValues &values) const;
  Candidate *find(const Trial &trial);
  /// What comes next, by what is known when that is asked; none: that was all.
  using NextTrial = llvm::function_ref<std::optional<Trial>()>;
  /// Has them compiled at the same time, and checks and measures each, or refuses it, until this
  /// share of the time is used. Where calls need the cores, measuring waits for compiling.
  void tryAll(NextTrial next, StringRef what, uint64_t count, double share);
  void tryAll(ArrayRef<Trial> trials, StringRef what, double share);
  std::string record(Attempt &attempt) const;
  void build(Attempt &attempt);
  std::string check(const Compiled &compiled);
  void tryOut(Attempt attempt);
  std::string findDifference(std::span<const Argument> args) const;
  void measure(Candidate &candidate, double seconds);

  /// What an earlier search found, if it still fits.
  std::optional<Trial> keptTrial() const;
  std::vector<Trial> firstTrials() const;
  SpeedModel::Point pointOf(const Trial &trial) const;
  SpeedModel learn() const;
  void tryPromising();
  void tryCompiler();
  void playOff();
  /// Whether what is measured leaves the cores of this machine alone.
  bool runsElsewhere() const { return Options.platform->memory() == TensorMemory::Gpu; }
  bool isTimeUp(double share = 1) const {
    return !Settings.isExhaustive && !Tried.empty() &&
           secondsSince(Start) > Settings.seconds * share;
  }

  Candidate &usual() { return *Tried.front(); }
  /// Those that can be used, the fastest first.
  std::vector<Candidate *> ranking();
  /// What was tried, in this order, for who reads the file and for who reads the screen.
  Json describe(ArrayRef<Candidate *> list);
  void print(ArrayRef<Candidate *> list);
  int report();

  const WrittenProgram &Written;
  const ConfigValues &Given;
  const RunSettings &Options;
  const TuneSettings &Settings;
  Clock::time_point Start = Clock::now();
  Jit Calls;
  std::string Name, Key;
  std::optional<TuneStore> Store;
  std::vector<Axis> Axes;
  std::vector<ir::CompilerChoice> Tellable; ///< What the compiler can be told.
  // Its context outlives what was compiled in it.
  std::optional<WrittenProgram::Recorded> Program; ///< With the usual choice.
  std::optional<CompiledProgram> AsWritten;
  ir::FuncOp Entry;
  std::vector<Argument> Inputs, Results; ///< The second: what the usual choice makes.
  std::optional<FormulaResult> Formula;
  std::unique_ptr<PlacedArguments> Args; ///< Which all candidates are called with.
  std::vector<CallArg> Call;
  std::vector<std::unique_ptr<Candidate>> Tried; ///< The first has the usual choice.
  double Fastest = INFINITY;                     ///< At a first look.
  Candidate *Winner = nullptr;
  struct {
    double preparing = 0, compiling = 0, checking = 0, measuring = 0;
  } Seconds;
};

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Integers that are listed are sizes of tiles and the like; what words mean nobody knows, so they
/// are varied only if they are named.
void Tuner::findAxes(const kiln_config &config) {
  for (const kiln_config::Declared &param : config.declared) {
    int64_t number;
    bool isList = param.choices.size() > 1 && llvm::all_of(param.choices, [&](StringRef word) {
                    return !word.getAsInteger(10, number);
                  });
    bool isNamed = llvm::is_contained(Settings.vary, param.name) && param.choices.size() > 1;
    auto usual = llvm::find(param.choices, param.value);
    if ((isList || isNamed) && !Given.contains(param.name) && usual != param.choices.end())
      Axes.push_back({param.name, param.choices, size_t(usual - param.choices.begin())});
  }
}

uint64_t Tuner::numChoices() const {
  uint64_t product = 1;
  for (const Axis &axis : Axes)
    product *= axis.choices.size();
  return product;
}

ConfigValues Tuner::valuesOf(const Trial &trial) const {
  ConfigValues values = trial.told;
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice))
    values[axis.name] = axis.choices[which];
  return values;
}

std::string Tuner::words(const Trial &trial) const {
  std::string text;
  auto add = [&](const std::string &name, const std::string &value) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  };
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice))
    add(axis.name, axis.choices[which]);
  for (const auto &[name, value] : trial.told)
    add(name, value);
  return text;
}

/// What has these values, as they were kept; none if they are not of this program any more.
std::optional<Trial> Tuner::trialOf(const ConfigValues &values) const {
  Trial trial{std::vector<size_t>(Axes.size())};
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice)) {
    auto given = values.find(axis.name);
    auto found =
        given == values.end() ? axis.choices.end() : llvm::find(axis.choices, given->second);
    if (found == axis.choices.end())
      return std::nullopt;
    which = found - axis.choices.begin();
  }
  for (const auto &[name, value] : values)
    if (StringRef(name).starts_with(ir::kCompilerPrefix))
      trial.told[name] = value;
  return trial;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

int Tuner::prepare() {
  kiln_config config{.values = Given};
  int exitCode = kGood;
  Program = Written.recordOrPrint(config, exitCode);
  if (!Program)
    return exitCode;
  ModuleOp module = moduleOf(Program->get());
  Source source{module.getSymName().value_or("").str(), module, &Written.intent, &config};
  Name = source.name;
  for (const std::string &name : Settings.vary)
    if (llvm::none_of(config.declared, [&](const auto &param) { return param.name == name; }))
      return badInput("--vary " + name + ": the program has no such parameter");
  findAxes(config);
  if (const Machine *machine = Options.platform->machine())
    for (ir::CompilerChoice &choice : ir::compilerChoices(*machine))
      if (!Given.contains(choice.name))
        Tellable.push_back(std::move(choice));
  if (Axes.empty() && Tellable.empty())
    return badInput("there is nothing to tune: " + Name +
                    " declares no list of integers that is not given; --vary NAME also varies "
                    "words, if all of them mean the same result");
  int status = kBadInput;
  AsWritten = compile(source, {.entry = Options.entry}, status);
  if (!AsWritten)
    return status;
  Entry = AsWritten->entry;
  Expected<std::vector<Argument>> args = argumentsOf(source, Entry, Options);
  if (!args)
    return badInput(args.status());
  Inputs = std::move(*args);
  std::optional<std::string> key = tuneKey(tuneSubjectOf(source, Options));
  if (!key)
    return badInput("the sizes of the arguments are not known before the run; give them with --arg "
                    "NAME=SHAPE");
  Key = *key;
  Expected<TuneStore> store = TuneStore::fromEnvironment();
  if (!store)
    return badInput(store.status().message());
  Store = std::move(*store);
  std::vector<bool> isWritten;
  for (size_t index = 0; index < Inputs.size(); ++index)
    isWritten.push_back(Entry.getArgDirection(index) != ir::Direction::In);
  Expected<std::unique_ptr<PlacedArguments>> placed = Options.platform->place(Inputs, isWritten);
  if (!placed)
    return badInput(placed.status());
  Args = std::move(*placed);
  Call = Args->forCalls();
  if (Written.intent.formula.empty() || Options.noFormula)
    return kGood;
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (!worker)
    return kGood; // then the usual choice is what others are held against
  Expected<FormulaResult> formula =
      evaluateFormula(Written.intent.formula, &config, Entry, Inputs, **worker);
  if (!formula)
    return badInput(formula.status().message());
  Formula = std::move(*formula);
  return kGood;
}

/// Calls for at least so long; one more time of a call, in seconds, unless a call fails: then it is
/// refused, and what an error took is no time. Where calls only launch, it waits after each of the
/// first and then after more and more, so that waiting does not count.
void Tuner::measure(Candidate &candidate, double seconds) {
  Spending spending(Seconds.measuring);
  Clock::time_point start = Clock::now();
  unsigned calls = 0;
  Status state;
  do {
    for (unsigned more = std::clamp(calls, 1u, 64u); more > 0 && state.isOk(); --more, ++calls)
      state = candidate.compiled->call(Call);
    if (state.isOk())
      state = Args->wait();
  } while (state.isOk() && secondsSince(start) < seconds);
  if (state.isOk())
    candidate.times.push_back(secondsSince(start) / calls);
  else
    candidate.refusal = state.message();
}

/// How outputs differ from what they should be; empty if they do not.
std::string Tuner::findDifference(std::span<const Argument> args) const {
  std::vector<std::string> names = parameterNames(Entry);
  if (Formula)
    for (const auto &[index, want] : Formula->outputs)
      if (Difference difference =
              compareWithFormula(std::get<Tensor>(args[index]), want, Formula->accumulates);
          !difference.ok)
        return names[index] + " is not what the formula says: " + difference.where();
  for (auto [index, want] : llvm::enumerate(Results))
    if (auto *tensor = std::get_if<Tensor>(&want);
        tensor && !(Formula && Formula->outputs.contains(index)) &&
        ir::FuncOp(Entry).getArgDirection(index) != ir::Direction::In)
      if (Difference difference = compareWithReference(std::get<Tensor>(args[index]), *tensor);
          !difference.ok)
        return names[index] + " is not what the defaults compute: " + difference.where();
  return "";
}

std::string Tuner::record(Attempt &attempt) const {
  ConfigValues values = valuesOf(attempt.candidate->trial);
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
void Tuner::build(Attempt &attempt) {
  Clock::time_point start = Clock::now();
  Expected<Compiled> compiled = Calls.compile(attempt.program->get(), Options.platform->name());
  Status bad = compiled ? compiled->compileOnly(Call) : compiled.status();
  attempt.seconds = secondsSince(start);
  if (bad.isOk())
    attempt.compiled = std::move(*compiled);
  else
    attempt.refusal = bad.message();
}

/// Calls it once, with the arguments as they were at first, and looks at all that it wrote.
std::string Tuner::check(const Compiled &compiled) {
  Spending spending(Seconds.checking);
  Status bad = Args->restore();
  bad = bad.isOk() ? compiled.call(Call) : bad;
  if (!bad.isOk())
    return bad.message();
  Expected<std::vector<Argument>> made = Args->read();
  if (!made)
    return made.status().message();
  if (std::string wrong = findDifference(*made); !wrong.empty())
    return wrong;
  if (Results.empty()) { // which later calls write to
    Expected<std::vector<Argument>> results = copyArguments(*made);
    if (!results)
      return results.status().message();
    Results = std::move(*results);
  }
  return "";
}

/// A first look, or why there is none.
void Tuner::tryOut(Attempt attempt) {
  Candidate &candidate = *attempt.candidate;
  candidate.compileSeconds = attempt.seconds;
  candidate.refusal = attempt.refusal.empty() ? check(*attempt.compiled) : attempt.refusal;
  if (!candidate.refusal.empty())
    return;
  candidate.compiled = std::make_shared<Compiled>(std::move(*attempt.compiled));
  constexpr double hopeless = 3; // so much no disturbance makes of it
  for (int look = 0; look < 3 && candidate.refusal.empty(); ++look) { // one may be disturbed
    measure(candidate, 0.002);
    if (candidate.isMeasured() && candidate.best() > hopeless * Fastest)
      break;
  }
  if (candidate.isMeasured())
    Fastest = std::min(Fastest, candidate.best());
}

/// Null if it was not tried.
Candidate *Tuner::find(const Trial &trial) {
  auto known = llvm::find_if(Tried, [&](const auto &each) { return each->trial == trial; });
  return known == Tried.end() ? nullptr : known->get();
}

void Tuner::tryAll(NextTrial next, StringRef what, uint64_t count, double share) {
  Progress progress(what.str(), count);
  Builders builders([this](Attempt &attempt) {
    if (attempt.refusal.empty())
      build(attempt);
  });
  size_t cores = std::max(1U, std::thread::hardware_concurrency());
  size_t atOnce = runsElsewhere() && cores > 1 ? cores - 1 : cores; // one launches the calls
  uint64_t done = 0;
  bool isAll = false;
  std::vector<Attempt> ready;
  while (true) {
    while (!isAll && builders.running() < atOnce && !isTimeUp(share) && !isInterrupted()) {
      std::optional<Trial> trial = next();
      isAll = !trial;
      if (!trial || find(*trial))
        continue;
      Spending spending(Seconds.compiling);
      Attempt attempt{Tried.emplace_back(std::make_unique<Candidate>()).get()};
      attempt.candidate->trial = *trial;
      attempt.refusal = record(attempt);
      builders.start(std::move(attempt));
    }
    if (builders.running() == 0)
      return;
    do {
      Spending spending(Seconds.compiling);
      ready.push_back(builders.take());
    } while (!runsElsewhere() && builders.running() > 0);
    // What the usual choice computes is what others are held against, so they wait for it.
    auto isUsual = [&](const Attempt &attempt) { return attempt.candidate == &usual(); };
    std::ranges::stable_partition(ready, isUsual);
    if (!usual().isMeasured() && !isUsual(ready.front()))
      continue;
    for (Attempt &attempt : ready) {
      progress.show(done++, words(attempt.candidate->trial));
      tryOut(std::move(attempt));
      isAll |= !usual().isMeasured();
      if (!usual().isMeasured())
        break;
    }
    ready.clear();
  }
}

void Tuner::tryAll(ArrayRef<Trial> trials, StringRef what, double share) {
  auto next = [&]() -> std::optional<Trial> {
    if (trials.empty())
      return std::nullopt;
    Trial first = trials.front();
    trials = trials.drop_front();
    return first;
  };
  tryAll(next, what, trials.size(), share);
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

std::optional<Trial> Tuner::keptTrial() const {
  std::optional<ConfigValues> kept = Store->find(Key);
  return kept ? trialOf(*kept) : std::nullopt;
}

/// The usual choice, what an earlier search found, which is not lost where this one has less time,
/// and the usual choice with one parameter changed, for each value of each.
std::vector<Trial> Tuner::firstTrials() const {
  Trial asItIs;
  for (const Axis &axis : Axes)
    asItIs.choice.push_back(axis.usual);
  std::vector<Trial> trials = {asItIs};
  if (std::optional<Trial> kept = keptTrial())
    trials.push_back(std::move(*kept));
  for (size_t axis = 0; axis < Axes.size(); ++axis)
    for (size_t which = 0; which < Axes[axis].choices.size(); ++which)
      if (which != Axes[axis].usual)
        trials.emplace_back(asItIs).choice[axis] = which;
  return trials;
}

SpeedModel::Point Tuner::pointOf(const Trial &trial) const {
  SpeedModel::Point point;
  for (auto [axis, which] : llvm::zip_equal(Axes, trial.choice))
    point.push_back(axis.position(which));
  return point;
}

/// What the compiler chooses by itself says how long a choice of the program takes.
SpeedModel Tuner::learn() const {
  std::vector<SpeedModel::Point> points;
  std::vector<double> logarithms;
  for (const std::unique_ptr<Candidate> &candidate : Tried)
    if (candidate->trial.told.empty() && candidate->isMeasured()) {
      points.push_back(pointOf(candidate->trial));
      logarithms.push_back(std::log(candidate->best()));
    }
  return {std::move(points), logarithms};
}

/// Of all combinations, one after the other, the one that might be the fastest by what is measured
/// until then; those that can hardly be faster than the best are not tried.
void Tuner::tryPromising() {
  std::vector<Trial> untried;
  std::vector<SpeedModel::Point> points; // where they lie
  constexpr uint64_t most = 100'000;
  for (uint64_t number = 0; number < std::min(numChoices(), most); ++number) {
    Trial trial;
    for (uint64_t left = number; const Axis &axis : Axes) {
      trial.choice.push_back(left % axis.choices.size());
      left /= axis.choices.size();
    }
    if (find(trial))
      continue;
    points.push_back(pointOf(trial));
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
    size_t best = model->mostPromising(points);
    if (!Settings.isExhaustive && model->guess(points[best]).least() > std::log(Fastest * kGain))
      return std::nullopt;
    Trial trial = std::move(untried[best]);
    untried.erase(untried.begin() + ptrdiff_t(best));
    points.erase(points.begin() + ptrdiff_t(best));
    return trial;
  };
  tryAll(next, "trying what may be faster", 0, Tellable.empty() ? 0.7 : 0.6);
}

/// What passes choose by themselves, with the values of the two best: each thing alone, and then
/// together what was faster.
void Tuner::tryCompiler() {
  constexpr double share = 0.75, noise = 0.99;
  StringRef what = "trying other choices of the compiler";
  std::vector<Candidate *> best = ranking();
  best.resize(std::min<size_t>(best.size(), 2));
  std::vector<Trial> alone, together;
  for (const Candidate *base : best)
    for (const ir::CompilerChoice &thing : Tellable)
      for (const std::string &value : thing.values)
        alone.emplace_back(base->trial).told[thing.name] = value;
  tryAll(alone, what, share);
  for (const Candidate *base : best) {
    Trial &all = together.emplace_back(base->trial);
    for (const ir::CompilerChoice &thing : Tellable) {
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

std::vector<Candidate *> Tuner::ranking() {
  std::vector<Candidate *> list;
  for (std::unique_ptr<Candidate> &candidate : Tried)
    if (candidate->isMeasured())
      list.push_back(candidate.get());
  std::ranges::stable_sort(
      list, {}, [](Candidate *each) { return std::pair(!each->isFinalist, each->median()); });
  return list;
}

/// Rounds in which each is measured in turn, so that what disturbs the machine disturbs all; after
/// each the slower half goes, and who is far behind, and the rest is measured twice as often. The
/// usual choice stays: the winner has to be better than it under the same conditions.
void Tuner::playOff() {
  std::vector<Candidate *> left = ranking();
  constexpr double hopeless = 1.5; // by so much no first look is wrong
  size_t first = Settings.isExhaustive ? left.size() : 8;
  double fastest = left.front()->best();
  left.resize(std::min(left.size(), first));
  llvm::erase_if(left, [&](Candidate *each) { return each->best() > fastest * hopeless; });
  auto alsoTake = [&](Candidate *candidate) {
    if (candidate && candidate->isMeasured() && !llvm::is_contained(left, candidate))
      left.push_back(candidate);
  };
  alsoTake(&usual());
  std::optional<Trial> kept = keptTrial(); // one bad look is not enough against an earlier search
  alsoTake(kept ? find(*kept) : nullptr);
  for (Candidate *candidate : left) {
    candidate->times.clear();
    candidate->isFinalist = true;
  }
  Progress progress("measuring in turns", 0);
  uint64_t done = 0;
  for (unsigned rounds = 3;; rounds *= 2) {
    for (unsigned round = 0; round < rounds && !(round > 0 && isTimeUp(1.1)); ++round)
      for (Candidate *candidate : left)
        if (candidate->refusal.empty()) {
          progress.show(done++, words(candidate->trial));
          measure(*candidate, runsElsewhere() ? 0.005 : 0.01);
        }
    llvm::erase_if(left, [](Candidate *each) { return !each->isMeasured(); });
    if (!usual().isMeasured()) // which stands beside all others
      return;
    std::ranges::stable_sort(left, {}, [](Candidate *each) { return each->median(); });
    constexpr unsigned enough = 12, most = 96;
    constexpr double farBehind = 1.1;
    size_t near = llvm::count_if(
        left, [&](Candidate *each) { return each->median() < left.front()->median() * farBehind; });
    bool isDecided = left.size() <= 3; // the default, and one or two others
    if ((isDecided && rounds >= enough) || rounds >= most || isTimeUp() || isInterrupted())
      break;
    left.resize(std::min((left.size() + 1) / 2, near));
    alsoTake(&usual());
  }
  Winner = left.front()->median() < usual().median() * kGain ? left.front() : &usual();
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

/// How many were tried that differ from another in what the compiler was told.
size_t Tuner::numTold() const {
  return llvm::count_if(Tried, [](const auto &each) { return !each->trial.told.empty(); });
}

Json Tuner::describe(ArrayRef<Candidate *> list) {
  Json tried = Json::array();
  for (Candidate *candidate : list) {
    Json row{{"values", valuesOf(candidate->trial)}};
    if (candidate->isMeasured()) {
      row["compile_seconds"] = candidate->compileSeconds;
      row["seconds"] = candidate->median();
      row["rounds"] = candidate->times.size();
      row["in_turns"] = candidate->isFinalist;
    } else {
      row["refused"] = candidate->refusal;
    }
    tried.push_back(std::move(row));
  }
  return {{"program", Name},
          {"platform", Options.platform->name()},
          {"default_seconds", usual().median()},
          {"seconds", Winner->median()},
          {"tuned_in_seconds", secondsSince(Start)},
          {"choices", numChoices()},
          {"choices_tried", Tried.size() - numTold()},
          {"spent",
           {{"preparing", Seconds.preparing},
            {"compiling", Seconds.compiling},
            {"checking", Seconds.checking},
            {"measuring", Seconds.measuring}}},
          {"tried", std::move(tried)}};
}

void Tuner::print(ArrayRef<Candidate *> list) {
  std::printf("%s on %s: %zu of %llu choices", Name.c_str(), Options.platform->name().c_str(),
              Tried.size() - numTold(), (unsigned long long)numChoices());
  if (size_t told = numTold())
    std::printf(" and %zu of the compiler's", told);
  std::printf(" tried in %.1f s (%.1f preparing, %.1f compiling, %.1f checking, %.1f measuring)\n",
              secondsSince(Start), Seconds.preparing, Seconds.compiling, Seconds.checking,
              Seconds.measuring);
  for (Candidate *candidate : list) {
    if (!candidate->isMeasured()) {
      std::printf("  %-32s  refused: %s\n", words(candidate->trial).c_str(),
                  candidate->refusal.c_str());
      continue;
    }
    const char *remark = candidate == Winner      ? "  <- winner"
                         : candidate == &usual()  ? "  (default)"
                         : !candidate->isFinalist ? "  (first look)"
                                                  : "";
    std::printf("  %-32s  %10.3f ms  %5.2f x the default's speed%s\n",
                words(candidate->trial).c_str(), candidate->median() * 1e3,
                usual().median() / candidate->median(), remark);
  }
}

int Tuner::report() {
  std::vector<Candidate *> list = ranking();
  for (std::unique_ptr<Candidate> &candidate : Tried)
    if (!candidate->isMeasured())
      list.push_back(candidate.get());
  ConfigValues values = valuesOf(Winner->trial);
  Json about = describe(list);
  Status kept = Store->isEnabled() ? Store->put(Key, values, about) : Status::ok();
  bool isKept = Store->isEnabled() && kept.isOk();
  if (Options.json) {
    Json json{{"winner", values}};
    json.update(about);
    if (isKept)
      json["file"] = Store->pathOf(Key);
    printJson(json);
  } else {
    print(list);
    if (!Store->isEnabled())
      std::printf("not kept: there is no cache (KILN_CACHE, KILN_CACHE_DIR)\n");
    else if (isKept)
      std::printf("kept in %s\n", Store->pathOf(Key).c_str());
  }
  if (!kept.isOk())
    printErrors({kept.withPrefix("the winner could not be kept")});
  return kept.isOk() ? kGood : kWrong;
}

int Tuner::run() {
  if (Status missing = Options.platform->usableHere(); !missing.isOk())
    return badInput(missing);
  {
    Spending spending(Seconds.preparing);
    if (int status = prepare())
      return status;
  }
  tryAll(firstTrials(), "trying one change at a time", 0.4);
  if (isInterrupted())
    return badInput(interruption());
  if (!usual().isMeasured())
    return badInput("the program does not run with its own defaults: " + usual().refusal);
  tryPromising();
  tryCompiler();
  if (!isInterrupted())
    playOff();
  if (!isInterrupted() && !Winner)
    return badInput("the program with its own defaults failed while it was measured: " +
                    usual().refusal);
  return isInterrupted() ? badInput(interruption()) : report();
}

} // namespace

int tuneCommand(const WrittenProgram &written, const ConfigValues &given,
                const RunSettings &options, const TuneSettings &settings) {
  return Tuner(written, given, options, settings).run();
}

} // namespace kiln
