#include "Tune/Tune.h"

#include "Terminal.h"
#include "abi/Parallel.h"

#include "kiln/Jit/Jit.h"
#include "kiln/Program/Signature.h"

#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

using namespace mlir;

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A parameter that is varied.
struct Axis {
  std::string name;
  std::vector<std::string> choices;
  size_t usual = 0; ///< The choice that the program makes by itself.
};

/// One choice for each axis.
using Choice = std::vector<size_t>;

/// The program with one choice, and what is known of it.
struct Candidate {
  Choice choice;
  double compileSeconds = 0;
  std::string refusal;       ///< Why it cannot be used; empty if it can.
  std::vector<double> times; ///< Of a call, in each round.
  bool isFinalist = false;   ///< Measured in turns with others, not only once.
  // For as long as it is measured.
  std::shared_ptr<Compiled> compiled;
  std::unique_ptr<PlacedArguments> args;

  double best() const { return *std::min_element(times.begin(), times.end()); }
  double median() const {
    std::vector<double> sorted = times;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  bool isMeasured() const { return refusal.empty() && !times.empty(); }
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

  ConfigValues valuesOf(const Choice &choice) const;
  std::string words(const Choice &choice) const;
  /// Those that have not been tried, compiled at the same time; each is checked and measured once,
  /// or refused. The others wait meanwhile.
  void add(ArrayRef<Choice> choices);
  struct Attempt;
  std::string record(Attempt &attempt);
  std::string build(Attempt &attempt);
  std::string tryOut(Attempt &attempt);
  /// All these choices, as many at a time as there are cores, until `isEnough` says so.
  void addInTurn(ArrayRef<Choice> choices, StringRef what, function_ref<bool()> isEnough);
  std::string findDifference(std::span<const Argument> args) const;
  void measure(Candidate &candidate, double seconds) const;

  void tryNeighbours();
  void tryPredicted();
  void playOff();
  bool isTimeUp(double share = 1) const {
    return !Settings.isExhaustive && secondsSince(Start) > Settings.seconds * share;
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
  std::vector<Axis> Axes;
  // Its context outlives what was compiled in it.
  std::optional<WrittenProgram::Recorded> Program; ///< With the usual choice.
  std::optional<CompiledProgram> AsWritten;
  ir::FuncOp Entry;
  std::vector<Argument> Inputs, Results; ///< The second: what the usual choice makes.
  std::optional<FormulaResult> Formula;
  std::vector<std::unique_ptr<Candidate>> Tried; ///< The first has the usual choice.
  Candidate *Winner = nullptr;
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

ConfigValues Tuner::valuesOf(const Choice &choice) const {
  ConfigValues values;
  for (auto [axis, which] : llvm::zip_equal(Axes, choice))
    values[axis.name] = axis.choices[which];
  return values;
}

std::string Tuner::words(const Choice &choice) const {
  std::string text;
  for (auto [axis, which] : llvm::zip_equal(Axes, choice))
    text += (text.empty() ? "" : " ") + axis.name + "=" + axis.choices[which];
  return text;
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
  if (Axes.empty())
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

/// Calls for at least so long; one more time of a call, in seconds. Where calls only launch, it
/// waits after each of the first and then after more and more, so that waiting does not count.
void Tuner::measure(Candidate &candidate, double seconds) const {
  std::vector<CallArg> args = candidate.args->forCalls();
  Clock::time_point start = Clock::now();
  unsigned calls = 0;
  do {
    for (unsigned more = std::clamp(calls, 1u, 64u); more > 0; --more, ++calls)
      (void)candidate.compiled->call(args);
    (void)candidate.args->wait();
  } while (secondsSince(start) < seconds);
  candidate.times.push_back(secondsSince(start) / calls);
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

/// A candidate on its way to being measured.
struct Tuner::Attempt {
  Candidate *candidate;
  std::optional<WrittenProgram::Recorded> program;
  std::optional<Compiled> compiled;
};

std::string Tuner::record(Attempt &attempt) {
  ConfigValues values = valuesOf(attempt.candidate->choice);
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
  Expected<std::unique_ptr<PlacedArguments>> args = Options.platform->place(Inputs);
  if (!args)
    return args.status().message();
  attempt.candidate->args = std::move(*args);
  return "";
}

std::string Tuner::build(Attempt &attempt) {
  Clock::time_point start = Clock::now();
  Expected<Compiled> compiled = Calls.compile(attempt.program->get(), Options.platform->name());
  if (!compiled)
    return compiled.status().message();
  if (Status bad = compiled->compileOnly(attempt.candidate->args->forCalls()); !bad.isOk())
    return bad.message();
  attempt.candidate->compileSeconds = secondsSince(start);
  attempt.compiled = std::move(*compiled);
  return "";
}

std::string Tuner::tryOut(Attempt &attempt) {
  Candidate &candidate = *attempt.candidate;
  if (Status bad = attempt.compiled->call(candidate.args->forCalls()); !bad.isOk())
    return bad.message();
  Expected<std::vector<Argument>> made = candidate.args->read();
  if (!made)
    return made.status().message();
  if (std::string wrong = findDifference(*made); !wrong.empty())
    return wrong;
  if (Results.empty()) { // before more calls add to it
    Expected<std::vector<Argument>> results = copyArguments(*made);
    if (!results)
      return results.status().message();
    Results = std::move(*results);
  }
  candidate.compiled = std::make_shared<Compiled>(std::move(*attempt.compiled));
  for (int look = 0; look < 3; ++look) // one of them may be disturbed
    measure(candidate, 0.002);
  return "";
}

void Tuner::add(ArrayRef<Choice> choices) {
  std::vector<Attempt> attempts;
  for (const Choice &choice : choices) {
    if (llvm::any_of(Tried, [&](const auto &known) { return known->choice == choice; }))
      continue;
    Candidate &candidate = *Tried.emplace_back(std::make_unique<Candidate>());
    candidate.choice = choice;
    candidate.refusal = record(attempts.emplace_back(Attempt{&candidate, {}, {}}));
  }
  auto canGoOn = [](const Attempt &attempt) { return attempt.candidate->refusal.empty(); };
  parallelFor(attempts.size(), 0, [&](size_t i) {
    if (canGoOn(attempts[i]))
      attempts[i].candidate->refusal = build(attempts[i]);
  });
  for (Attempt &attempt : attempts)
    if (canGoOn(attempt))
      attempt.candidate->refusal = tryOut(attempt);
}

void Tuner::addInTurn(ArrayRef<Choice> choices, StringRef what, function_ref<bool()> isEnough) {
  size_t atATime = std::max(1U, std::thread::hardware_concurrency());
  Progress progress(what.str(), choices.size());
  for (size_t done = 0; done < choices.size() && !isEnough() && !isInterrupted(); done += atATime) {
    progress.show(done, words(choices[done]));
    add(choices.slice(done, std::min(atATime, choices.size() - done)));
  }
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

/// The usual choice with one parameter changed, for each value of each: what the model is made of.
void Tuner::tryNeighbours() {
  std::vector<Choice> neighbours;
  for (size_t axis = 0; axis < Axes.size(); ++axis)
    for (size_t which = 0; which < Axes[axis].choices.size(); ++which)
      if (which != Axes[axis].usual) {
        Choice &choice = neighbours.emplace_back(usual().choice);
        choice[axis] = which;
      }
  addInTurn(neighbours, "trying one change at a time", [&] { return isTimeUp(0.4); });
}

/// The model: each parameter makes the program slower or faster by a factor of its own. It ranks
/// what has not been tried; who is predicted to be much slower than the best is not.
void Tuner::tryPredicted() {
  std::vector<std::vector<double>> factors;
  for (size_t axis = 0; axis < Axes.size(); ++axis) {
    std::vector<double> &of = factors.emplace_back(Axes[axis].choices.size(), 0.0);
    for (const std::unique_ptr<Candidate> &candidate : Tried) {
      Choice changed = usual().choice;
      changed[axis] = candidate->choice[axis];
      if (changed == candidate->choice) // nothing else is
        of[changed[axis]] =
            candidate->isMeasured() ? std::log(candidate->best() / usual().best()) : INFINITY;
    }
  }
  std::vector<std::pair<double, Choice>> rest;
  constexpr uint64_t most = 100'000;
  for (uint64_t number = 0; number < std::min(numChoices(), most); ++number) {
    Choice choice;
    double predicted = 0;
    for (uint64_t left = number; const Axis &axis : Axes) {
      choice.push_back(left % axis.choices.size());
      predicted += factors[choice.size() - 1][choice.back()];
      left /= axis.choices.size();
    }
    rest.emplace_back(predicted, std::move(choice));
  }
  std::ranges::stable_sort(rest, {}, [](const auto &each) { return each.first; });
  constexpr double slower = 0.7; // twice as slow; the model is no better than that
  std::vector<Choice> promising;
  for (const auto &[predicted, choice] : rest)
    if (Settings.isExhaustive || predicted < rest.front().first + slower)
      promising.push_back(choice);
  addInTurn(promising, "trying the best by the model", [&] { return isTimeUp(0.7); });
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
/// each the slower half goes, and the rest is measured twice as often. The usual choice stays: the
/// winner has to be better than it under the same conditions.
void Tuner::playOff() {
  std::vector<Candidate *> left = ranking();
  size_t first = Settings.isExhaustive ? left.size() : 8;
  left.resize(std::min(left.size(), first));
  if (!llvm::is_contained(left, &usual()))
    left.push_back(&usual());
  for (Candidate *candidate : left) {
    candidate->times.clear();
    candidate->isFinalist = true;
  }
  Progress progress("measuring in turns", 0);
  uint64_t done = 0;
  for (unsigned rounds = 3;; rounds *= 2) {
    for (unsigned round = 0; round < rounds && !(round > 0 && isTimeUp(1.1)); ++round)
      for (Candidate *candidate : left) {
        progress.show(done++, words(candidate->choice));
        measure(*candidate, 0.01);
      }
    std::ranges::stable_sort(left, {}, [](Candidate *each) { return each->median(); });
    constexpr unsigned enough = 12, most = 96;
    size_t next = (left.size() + 1) / 2;
    bool isDecided = left.size() <= 3; // the default, and one or two others
    if ((isDecided && rounds >= enough) || rounds >= most || isTimeUp() || isInterrupted())
      break;
    left.resize(next);
    if (!llvm::is_contained(left, &usual()))
      left.push_back(&usual());
  }
  constexpr double noise = 0.99; // less is no gain
  Winner = left.front()->median() < usual().median() * noise ? left.front() : &usual();
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

Json Tuner::describe(ArrayRef<Candidate *> list) {
  Json tried = Json::array();
  for (Candidate *candidate : list) {
    Json row{{"values", valuesOf(candidate->choice)}};
    if (candidate->isMeasured()) {
      row["compile_seconds"] = candidate->compileSeconds;
      row["seconds"] = candidate->median();
      row["rounds"] = candidate->times.size();
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
          {"tried", std::move(tried)}};
}

void Tuner::print(ArrayRef<Candidate *> list) {
  std::printf("%s on %s: %zu of %llu choices tried in %.1f s\n", Name.c_str(),
              Options.platform->name().c_str(), Tried.size(), (unsigned long long)numChoices(),
              secondsSince(Start));
  for (Candidate *candidate : list) {
    if (!candidate->isMeasured()) {
      std::printf("  %-32s  refused: %s\n", words(candidate->choice).c_str(),
                  candidate->refusal.c_str());
      continue;
    }
    const char *remark = candidate == Winner      ? "  <- winner"
                         : candidate == &usual()  ? "  (default)"
                         : !candidate->isFinalist ? "  (first look)"
                                                  : "";
    std::printf("  %-32s  %10.3f ms  %5.2f x the default's speed%s\n",
                words(candidate->choice).c_str(), candidate->median() * 1e3,
                usual().median() / candidate->median(), remark);
  }
}

int Tuner::report() {
  Expected<TuneStore> store = TuneStore::fromEnvironment();
  if (!store)
    return badInput(store.status().message());
  std::vector<Candidate *> list = ranking();
  for (std::unique_ptr<Candidate> &candidate : Tried)
    if (!candidate->isMeasured())
      list.push_back(candidate.get());
  ConfigValues values = valuesOf(Winner->choice);
  Json about = describe(list);
  Status kept = store->isEnabled() ? store->put(Key, values, about) : Status::ok();
  bool isKept = store->isEnabled() && kept.isOk();
  if (Options.json) {
    Json json{{"winner", values}};
    json.update(about);
    if (isKept)
      json["file"] = store->pathOf(Key);
    std::printf("%s\n", jsonText(json).c_str());
  } else {
    print(list);
    if (!store->isEnabled())
      std::printf("not kept: there is no cache (KILN_CACHE, KILN_CACHE_DIR)\n");
    else if (isKept)
      std::printf("kept in %s\n", store->pathOf(Key).c_str());
  }
  if (!kept.isOk())
    printErrors({kept.withPrefix("the winner could not be kept")});
  return kept.isOk() ? kGood : kWrong;
}

int Tuner::run() {
  if (Status missing = Options.platform->usableHere(); !missing.isOk())
    return badInput(missing);
  if (int status = prepare())
    return status;
  Choice choice;
  for (const Axis &axis : Axes)
    choice.push_back(axis.usual);
  add(choice);
  if (!usual().isMeasured())
    return badInput("the program does not run with its own defaults: " + usual().refusal);
  tryNeighbours();
  tryPredicted();
  if (!isInterrupted())
    playOff();
  return isInterrupted() ? kWrong : report();
}

} // namespace

int tuneCommand(const WrittenProgram &written, const ConfigValues &given,
                const RunSettings &options, const TuneSettings &settings) {
  return Tuner(written, given, options, settings).run();
}

} // namespace kiln
