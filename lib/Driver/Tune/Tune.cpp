#include "Tune/Tune.h"

#include "Terminal.h"
#include "Tune/PlayOff.h"
#include "Tune/Report.h"

using namespace mlir;

namespace kiln {
namespace {

/// What is known before anything is tried.
struct Subject {
  kiln_config config; ///< With what the program declares.
  // Its context outlives what was compiled in it.
  std::optional<WrittenProgram::Recorded> program; ///< With the usual choice.
  std::optional<CompiledProgram> compiled;
  std::string name, key;
  Choices choices;
  std::optional<TuneStore> store;
  std::unique_ptr<TestBed> bed;
};

} // namespace

/// Fills `subject`; the exit code.
static int prepare(const WrittenProgram &written, const ConfigValues &given,
                   const RunSettings &options, const TuneSettings &settings, Budget &budget,
                   Subject &subject) {
  Spending spending(budget.preparing);
  kiln_config &config = subject.config;
  config.values = given;
  int exitCode = kGood;
  subject.program = written.recordOrPrint(config, exitCode);
  if (!subject.program)
    return exitCode;
  ModuleOp module = moduleOf(subject.program->get());
  Source source{module.getSymName().value_or("").str(), module, &written.intent, &config};
  subject.name = source.name;
  for (const std::string &name : settings.vary)
    if (llvm::none_of(config.declared, [&](const auto &param) { return param.name == name; }))
      return badInput("--vary " + name + ": the program has no such parameter");
  subject.choices = Choices(config, given, settings.vary, options.platform->machine());
  if (subject.choices.isEmpty())
    return badInput("there is nothing to tune: " + subject.name +
                    " declares no list of integers that is not given; --vary NAME also varies "
                    "words, if all of them mean the same result");
  int status = kBadInput;
  subject.compiled = compile(source, {.entry = options.entry}, status);
  if (!subject.compiled)
    return status;
  Expected<std::unique_ptr<TestBed>> bed =
      TestBed::make(source, subject.compiled->entry, options, budget);
  if (!bed)
    return badInput(bed.status());
  subject.bed = std::move(*bed);
  std::optional<std::string> key = tuneKey(tuneSubjectOf(source, options));
  if (!key)
    return badInput("the sizes of the arguments are not known before the run; give them with --arg "
                    "NAME=SHAPE");
  subject.key = *key;
  Expected<TuneStore> store = TuneStore::fromEnvironment();
  if (!store)
    return badInput(store.status().message());
  subject.store = std::move(*store);
  return kGood;
}

/// Null if the usual choice failed while it was measured.
static Candidate *findFastest(Search &search, const Subject &subject,
                              const std::optional<Trial> &kept, const Budget &budget) {
  std::vector<Candidate *> stay = {&search.usual()};
  // One bad look is not enough against an earlier search.
  if (Candidate *earlier = kept ? search.find(*kept) : nullptr;
      earlier && earlier != stay.front() && earlier->isMeasured())
    stay.push_back(earlier);
  Progress progress("measuring in turns", 0);
  uint64_t done = 0;
  PlayOff playOff;
  playOff.visit = [&](Candidate &candidate) {
    progress.show(done++, subject.choices.words(candidate.trial));
    search.visit(candidate);
  };
  playOff.secondsLeft = [&] { return budget.left(); };
  playOff.rounds = (subject.bed->runsElsewhere() ? 4 : 8) * (budget.isUnlimited() ? 2 : 1);
  return playOff.run(search.hopefuls(), stay);
}

int tuneCommand(const WrittenProgram &written, const ConfigValues &given,
                const RunSettings &options, const TuneSettings &settings) {
  if (Status missing = options.platform->usableHere(); !missing.isOk())
    return badInput(missing);
  Budget budget(settings.seconds, settings.isExhaustive);
  Subject subject;
  if (int status = prepare(written, given, options, settings, budget, subject))
    return status;
  std::optional<ConfigValues> values = subject.store->find(subject.key);
  std::optional<Trial> kept = values ? subject.choices.trialOf(*values) : std::nullopt;
  Search search(written, given, *options.platform, subject.choices, *subject.bed, budget);
  search.run(kept);
  if (isInterrupted())
    return badInput(interruption());
  if (!search.usual().isMeasured())
    return badInput("the program does not run with its own defaults: " + search.usual().refusal);
  Candidate *winner = findFastest(search, subject, kept, budget);
  if (isInterrupted())
    return badInput(interruption());
  if (!winner)
    return badInput("the program with its own defaults failed while it was measured: " +
                    search.usual().refusal);
  return reportAndKeep(
      {subject.name, options.platform->name(), subject.choices, budget, search, winner},
      *subject.store, subject.key, options.json);
}

} // namespace kiln
