//===- Run.cpp - `kiln run`: execute, compare, report --------------------------------===//
#include "Record.h"
#include "Terminal.h"
#include "Unwritten.h"
#include "VerifyEach.h"

#include "abi/JsonOutput.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/npy.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

using namespace mlir;

namespace kiln {

RunRequest RunSettings::requestOf(ModuleOp module, ir::FuncOp entryFunction,
                                  const std::string &program) const {
  RunRequest request{module, entryFunction, {}, program};
  request.seed = seed;
  request.workers = workers;
  request.maxSteps = steps;
  request.timeout = timeout;
  request.dump = {dumpLevel, out};
  request.timeline = timeline;
  request.text = textOptions();
  request.isPersistent = isPersistent;
  return request;
}

namespace {

/// One comparison of one output.
struct Check {
  std::string output, against;
  Difference difference;
};

struct Outcome {
  std::vector<Check> checks;
  std::vector<std::string> skipped;
  std::optional<CheckReport> findings; ///< If schedules were checked.
  std::vector<UnwrittenElements> unwritten;
  double seconds = 0;        ///< Of the run alone.
  double compileSeconds = 0; ///< Where something is compiled.
  bool isFromCache = false;  ///< It was compiled by an earlier run.
  bool dump = false;         ///< One was written.
  bool timeline = false;     ///< One was written.
  std::string summary;       ///< Of the timeline.
  bool ok() const {
    return !(findings && findings->hasErrors()) && unwritten.empty() &&
           llvm::all_of(checks, [](const Check &check) { return check.difference.ok; });
  }
};

/// Without torch there is no formula and no reference. Who names a Python wants them, though.
bool canBeSkipped(const Status &failed) {
  return failed.code() == StatusCode::NotFound && !std::getenv("KILN_PYTHON");
}

Expected<FormulaResult> runFormula(const Source &source, ir::FuncOp entry,
                                   std::span<const Argument> args) {
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (!worker)
    return worker.status();
  return evaluateFormula(source.example->formula, source.config, entry, args, **worker);
}

/// Simulates under several seeds with all checks.
Status checkSchedules(ModuleOp module, ir::FuncOp entry, const Source &source,
                      const RunSettings &options, std::span<const Argument> args,
                      std::optional<CheckReport> &findings) {
  CheckOptions check;
  check.firstSeed = options.seed;
  check.seeds = options.seeds;
  check.nan = options.nan;
  check.undeclared = undeclaredParameters(source, options);
  check.machine = options.platform->machine();
  check.maxSteps = options.steps;
  check.schedules = options.record;
  check.dump = {options.dumpLevel, options.out};
  check.program = source.name;
  check.platform = options.platform->name();
  Expected<CheckReport> report = checkProgram(module, entry, args, check);
  if (!report)
    return report.status();
  if (report->outOfSteps)
    return *report->outOfSteps;
  // What is not shown to be wrong is for `kiln check` to say.
  llvm::erase_if(report->findings, [](const Finding &finding) { return !finding.isError(); });
  findings = std::move(*report);
  return Status::ok();
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Writes what was recorded of a run, if it began. `ran` is how the run itself ended.
Status writeRecord(Status ran, const Source &source, const RunSettings &options,
                   const RunReport &report, Outcome &outcome) {
  if (!report.timeline.isRecorded())
    return ran;
  Status written = writeTimeline(options.out, source.name + " on " + options.platform->name(),
                                 report.timeline, report.trace);
  outcome.timeline = written.isOk();
  outcome.summary = summarize(report.timeline, report.trace);
  return ran.isOk() ? written : ran;
}

Status execute(ModuleOp module, ir::FuncOp entry, const Source &source, const RunSettings &options,
               std::span<const Argument> args, Outcome &outcome) {
  if (options.seeds > 0)
    return checkSchedules(module, entry, source, options, args, outcome.findings);
  RunRequest request = options.requestOf(module, entry, source.name);
  request.args = args;
  if (!options.orchestration.empty()) {
    Expected<Orchestrate> loaded =
        loadOrchestration(options.orchestration, module, entry, source, *options.platform);
    if (!loaded)
      return loaded.status();
    request.orchestrate = *loaded;
  }
  RunReport report;
  Status ran = options.platform->run(request, report);
  outcome.compileSeconds = report.compileSeconds;
  outcome.isFromCache = report.isFromCache;
  return writeRecord(ran, source, options, report, outcome);
}

/// Compares what the entry wrote with what the formula says of it.
void checkFormula(Outcome &outcome, ir::FuncOp entry, std::span<const Argument> args,
                  const FormulaResult &formula) {
  std::vector<std::string> names = parameterNames(entry);
  for (const auto &[index, want] : formula.outputs)
    outcome.checks.push_back(
        {names[index], "formula",
         compareWithFormula(std::get<Tensor>(args[index]), want, formula.accumulates)});
}

/// Compares every tensor the entry writes with what the reference made of it.
void checkReference(Outcome &outcome, ir::FuncOp entry, std::span<const Argument> args,
                    std::span<const Argument> reference) {
  std::vector<std::string> names = parameterNames(entry);
  for (auto [index, arg] : llvm::enumerate(args))
    if (auto *tensor = std::get_if<Tensor>(&arg);
        tensor && entry.getArgDirection(index) != ir::Direction::In)
      outcome.checks.push_back({names[index], defaultPlatform(Capability::Reference).name(),
                                compareWithReference(*tensor, std::get<Tensor>(reference[index]))});
}

void reportFindings(const CheckReport &report, const RunSettings &options) {
  std::fflush(stdout);
  std::fputs(highlighted(stderr, toText(report, options.command)).c_str(), stderr);
  size_t number = report.findings.size();
  std::printf("  checked %llu schedule%s from seed %llu on: %zu finding%s\n",
              (unsigned long long)report.seeds, report.seeds == 1 ? "" : "s",
              (unsigned long long)report.firstSeed, number, number == 1 ? "" : "s");
}

Json toJson(const Check &check) {
  Json json{{"output", check.output}, {"against", check.against}, {"ok", check.difference.ok}};
  if (std::isfinite(check.difference.largest))
    json["max_error"] = check.difference.largest;
  else
    json["max_error"] = nullptr;
  if (!check.difference.ok)
    json["worst"] = check.difference.where();
  if (check.difference.nanInBoth > 0)
    json["nan_in_both"] = check.difference.nanInBoth;
  return json;
}

Json toJson(const Source &source, const RunSettings &options, const Outcome &outcome) {
  Json json{{"program", source.name},
            {"platform", options.platform->name()},
            {"seed", options.seed},
            {"seconds", outcome.seconds},
            {"ok", outcome.ok()}};
  if (outcome.compileSeconds > 0) {
    json["compile_seconds"] = outcome.compileSeconds;
    json["from_cache"] = outcome.isFromCache;
  }
  if (!options.tuned.empty())
    json["tuned"] = options.tuned;
  json["checks"] = Json::array();
  for (const Check &check : outcome.checks)
    json["checks"].push_back(toJson(check));
  for (const UnwrittenElements &left : outcome.unwritten)
    json["unwritten"].push_back({{"output", left.output},
                                 {"elements", left.count},
                                 {"of", left.of},
                                 {"first", left.first}});
  json["skipped"] = outcome.skipped;
  if (outcome.findings)
    json["check"] = parseJson(toJson(*outcome.findings, options.command));
  if (outcome.dump)
    json["dump"] = options.out + "/tensor_dump";
  if (outcome.timeline)
    json["timeline"] = options.out + "/timeline.json";
  if (options.record)
    json["record"] = options.out;
  return json;
}

void print(const Check &check) {
  std::printf("  %-8s  against %-8s  max |error| %-10.3g  %s\n", check.output.c_str(),
              check.against.c_str(), check.difference.largest,
              check.difference.ok ? "ok" : "WRONG");
  if (!check.difference.ok)
    std::printf("            %s\n", check.difference.where().c_str());
  if (check.difference.nanInBoth > 0)
    std::printf("            %zu elements are NaN in both: not written, or computed so\n",
                check.difference.nanInBoth);
}

void reportText(const Source &source, const RunSettings &options, const Outcome &outcome) {
  std::printf("%s on %s: %.3f s", source.name.c_str(), options.platform->name().c_str(),
              outcome.seconds);
  if (outcome.compileSeconds > 0)
    std::printf(outcome.isFromCache ? " (from the cache in %.3f s)" : " (compiled in %.3f s)",
                outcome.compileSeconds);
  std::printf("\n");
  if (!options.tuned.empty()) {
    std::string values;
    for (const auto &[name, value] : options.tuned)
      values += " " + name + "=" + value;
    std::printf("  tuned:%s (--untuned runs the defaults)\n", values.c_str());
  }
  if (outcome.findings)
    reportFindings(*outcome.findings, options);
  for (const Check &check : outcome.checks)
    print(check);
  for (const UnwrittenElements &left : outcome.unwritten)
    std::printf("  %-8s  %s\n", left.output.c_str(), left.words().c_str());
  for (const std::string &reason : outcome.skipped)
    std::printf("  skipped: %s\n", reason.c_str());
  if (outcome.dump)
    std::printf("  dump: %s/tensor_dump (look into it with: kiln dump %s)\n", options.out.c_str(),
                options.out.c_str());
  if (outcome.timeline)
    std::printf("  timeline: %s/timeline.json (open it in ui.perfetto.dev), graph: %s/graph.json, "
                "graph.dot\n%s",
                options.out.c_str(), options.out.c_str(), outcome.summary.c_str());
  if (options.record)
    std::printf("  record: %s (look at it with: kiln view %s)\n", options.out.c_str(),
                options.out.c_str());
  std::string word = !outcome.ok()            ? "FAIL"
                     : outcome.checks.empty() ? "RAN (nothing to compare with)"
                                              : "PASS";
  std::printf("%s\n", verdict(stdout, word, outcome.ok()).c_str());
}

void report(const Source &source, const RunSettings &options, const Outcome &outcome) {
  if (options.json)
    printJson(toJson(source, options, outcome));
  else
    reportText(source, options, outcome);
}

} // namespace

llvm::BitVector undeclaredParameters(const Source &source, const CompileSettings &options) {
  llvm::BitVector undeclared;
  if (Expected<ir::FuncOp> entry = findEntry(source.module, options.entry))
    for (unsigned number = 0; number < entry->getNumArguments(); ++number)
      undeclared.push_back(!entry->getArgDirection(number));
  return undeclared;
}

ArgSpecs specsOf(const Source &source, const RunSettings &options) {
  ArgSpecs specs = options.args;
  if (source.example)
    for (const auto &[name, spec] : source.example->args)
      specs.try_emplace(name, spec);
  return specs;
}

Expected<std::vector<Argument>> argumentsOf(const Source &source, ir::FuncOp entry,
                                            const RunSettings &options) {
  return makeArguments(entry, specsOf(source, options), options.dataSeed);
}

/// The platforms that run programs and cannot do this, as the command line names them.
static std::string flagsOfOthers(Capability capability) {
  std::vector<std::string> flags;
  for (const auto &platform : platforms())
    if (platform->can(Capability::Run) && !platform->can(capability))
      flags.push_back("-p " + platform->name());
  return llvm::join(flags, ", ");
}

/// What the options ask for and the platform, or the other options, do not allow; empty if nothing.
static std::string findConflict(const RunSettings &options) {
  const Platform &platform = *options.platform;
  std::string who = "the " + platform.name() + " platform ";
  if (options.seeds > 0 && !platform.can(Capability::Seeds))
    return who + "runs one schedule and checks none; use " + platformNames(Capability::Seeds);
  if (!options.orchestration.empty() &&
      (!platform.can(Capability::Orchestration) || options.seeds > 0))
    return "--orchestration runs one schedule of a simulator; leave out " +
           flagsOfOthers(Capability::Orchestration) + ", --seeds and --nan";
  if (options.timeline && !platform.can(Capability::Timeline))
    return who + "has no timeline; use " + platformNames(Capability::Timeline);
  if (options.dumpLevel > 0 && !platform.can(Capability::Dump))
    return who + "writes no dump; use " + platformNames(Capability::Dump);
  if (options.timeline && options.seeds > 0)
    return "a timeline shows one schedule; leave out --seeds and --nan";
  return "";
}

namespace {

/// A run from end to end, in steps. Each returns kGood to go on, or the exit code of the command.
class ProgramRun {
public:
  ProgramRun(const Source &source, const RunSettings &options)
      : From(source), Options(options), About(source, options) {}

  int prepare();
  int evaluateFormula();
  int execute();
  int saveOutputs();
  int findUnwritten();
  int compareWithFormula();
  int compareWithReference();
  int finish();
  /// Writes down how it ended; the exit code.
  int record(int status);

private:
  /// Prints an error and keeps it for the record.
  int fail(const Status &error, int status) {
    printErrors({error});
    Errors.push_back(error);
    return status;
  }
  /// Why something could not be recorded: the first such reason is told.
  void recordFailed(const Status &failed) {
    if (RecordStatus.isOk())
      RecordStatus = failed;
  }
  Status runOnce(const RunSettings &options, std::span<const Argument> args, Outcome &outcome) {
    return kiln::execute(*Compiled->module, Compiled->entry, From, options, args, outcome);
  }

  const Source &From;
  const RunSettings &Options;
  std::optional<CompiledProgram> Compiled;
  /// The reference is what the program says, not what the passes made of it.
  std::optional<CompiledProgram> AsWritten;
  std::vector<Argument> Args, ForTorch; ///< The second are copies: a run changes its arguments.
  std::optional<FormulaResult> Formula;
  std::optional<UnwrittenSearch> Unwritten;
  Outcome Result;
  RunRecord About;
  CodeRecord Code;
  std::vector<Status> Errors; ///< That were printed.
  Status RecordStatus;        ///< Why the record of the run is not complete.
  bool IsFinished = false;
};

int ProgramRun::prepare() {
  int status = kBadInput;
  CompileSettings settings = Options;
  settings.prove = false; // what hangs is worth a run: the report and the dump show where
  settings.errors = &Errors;
  if (About.isOn())
    recordFailed(About.begin());
  std::unique_ptr<PassInstrumentation> watcher;
  if (Options.record && RecordStatus.isOk()) {
    settings.memoryMap = Options.out + "/memory.json";
    Code.addStage("as written", From.module);
    watcher = Code.instrumentation();
  }
  Compiled = compile(From, settings, status, std::move(watcher));
  if (!Compiled)
    return status;
  if (Options.record)
    Code.addEmitted(*Compiled, From, Options);
  AsWritten = compile(From, {.entry = Options.entry, .errors = &Errors}, status);
  if (!AsWritten)
    return status;
  Expected<std::vector<Argument>> args = argumentsOf(From, AsWritten->entry, Options);
  if (!args)
    return fail(args.status(), kBadInput);
  Args = std::move(*args);
  About.setArguments(AsWritten->entry, Args, specsOf(From, Options));
  Expected<std::vector<Argument>> copies = copyArguments(Args);
  if (!copies)
    return fail(copies.status(), kBadInput);
  ForTorch = std::move(*copies);
  return kGood;
}

int ProgramRun::evaluateFormula() {
  if (!From.example || From.example->formula.empty() || Options.noFormula)
    return kGood;
  Expected<FormulaResult> result = runFormula(From, AsWritten->entry, Args);
  if (result)
    Formula = *result;
  else if (canBeSkipped(result.status()))
    Result.skipped.push_back("comparison with the formula (" + result.status().message() + ")");
  else
    return fail(result.status(), kBadInput);
  return kGood;
}

int ProgramRun::execute() {
  Expected<UnwrittenSearch> search = UnwrittenSearch::begin(From, Options, AsWritten->entry, Args);
  if (!search)
    return badInput(search.status().message());
  Unwritten = std::move(*search);
  auto start = std::chrono::steady_clock::now();
  Status failed = runOnce(Options, Args, Result);
  // A record of the run that could not be written does not stop it; it is reported with the result.
  if ((Options.dumpLevel > 0 || Options.timeline) && failed.code() == StatusCode::IoError)
    recordFailed(std::exchange(failed, Status::ok()));
  if (!failed.isOk()) {
    bool isBadInput = failed.code() == StatusCode::InvalidArgument ||
                      failed.code() == StatusCode::NotFound ||
                      failed.code() == StatusCode::Unsupported;
    return fail(failed, isBadInput ? kBadInput : kWrong);
  }
  Result.seconds = secondsSince(start) - Result.compileSeconds;
  if (!Result.findings || !Result.findings->hasErrors())
    return kGood;
  report(From, Options, Result); // there is no result to compare
  IsFinished = true;
  return kWrong;
}

int ProgramRun::saveOutputs() {
  if (Options.save.empty())
    return kGood;
  std::error_code error;
  std::filesystem::create_directories(Options.save, error);
  if (error)
    return badInput("cannot make " + Options.save + ": " + error.message());
  std::vector<std::string> names = parameterNames(AsWritten->entry);
  for (auto [index, arg] : llvm::enumerate(Args)) {
    auto *tensor = std::get_if<Tensor>(&arg);
    if (!tensor || AsWritten->entry.getArgDirection(index) == ir::Direction::In)
      continue;
    if (names[index].find('/') != std::string::npos)
      return badInput("the output '" + names[index] +
                      "' has a path for a name, and --save makes "
                      "file names of names; give the parameter a name without '/'");
    if (Status failed = writeNpy(Options.save + "/" + names[index] + ".npy", *tensor);
        !failed.isOk())
      return badInput(failed.message());
  }
  return kGood;
}

int ProgramRun::findUnwritten() {
  RunSettings silent = Options;
  silent.dumpLevel = 0;
  silent.timeline = false;
  silent.seeds = 0;
  Expected<std::vector<UnwrittenElements>> left =
      Unwritten->find(Args, [&](std::span<const Argument> others) {
        Outcome second;
        return runOnce(silent, others, second);
      });
  if (!left)
    return fail(left.status(), kWrong);
  Result.unwritten = std::move(*left);
  return kGood;
}

int ProgramRun::compareWithFormula() {
  if (Formula)
    checkFormula(Result, AsWritten->entry, Args, *Formula);
  return kGood;
}

int ProgramRun::compareWithReference() {
  if (Options.platform->can(Capability::Reference) || Options.noReference)
    return kGood;
  Status failed =
      runReference(*AsWritten->module, AsWritten->entry, Options.textOptions(), ForTorch);
  if (canBeSkipped(failed)) {
    Result.skipped.push_back("comparison with the PyTorch reference (" + failed.message() + ")");
  } else if (failed.code() == StatusCode::NotFound) {
    return fail(failed, kBadInput);
  } else if (!failed.isOk()) {
    return fail(failed.withPrefix("the PyTorch reference failed"), kWrong);
  } else {
    checkReference(Result, AsWritten->entry, Args, ForTorch);
  }
  return kGood;
}

int ProgramRun::finish() {
  Result.dump = Options.dumpLevel > 0 && RecordStatus.isOk();
  report(From, Options, Result);
  IsFinished = true;
  return Result.ok() ? kGood : kWrong;
}

int ProgramRun::record(int status) {
  if (About.isOn() && RecordStatus.isOk()) {
    About.setReport(toJson(From, Options, Result));
    if (Result.findings)
      About.setFindings(*Result.findings);
    recordFailed(About.finish(!IsFinished             ? "error"
                              : !Result.ok()          ? "fail"
                              : Result.checks.empty() ? "ran"
                                                      : "pass",
                              Errors));
    if (Options.record)
      recordFailed(Code.write(Options.out));
  }
  if (RecordStatus.isOk())
    return status;
  printErrors({IsFinished
                   ? RecordStatus.withPrefix("the run is complete but the record of it is not")
                   : RecordStatus});
  return worseOf(status, kWrong);
}

} // namespace

int runCommand(const Source &source, const RunSettings &options) {
  TorchWorker::setTimeLimit(options.timeout);
  if (std::optional<int> code = runOnRanks(source, options))
    return *code;
  if (std::string conflict = findConflict(options); !conflict.empty())
    return badInput(conflict);
  if (options.verifyEach)
    if (int status = verifyEachPass(source, options))
      return status;
  ProgramRun run(source, options);
  for (auto step : {&ProgramRun::prepare, &ProgramRun::evaluateFormula, &ProgramRun::execute,
                    &ProgramRun::saveOutputs, &ProgramRun::findUnwritten,
                    &ProgramRun::compareWithFormula, &ProgramRun::compareWithReference})
    if (int status = (run.*step)())
      return run.record(status);
  return run.record(run.finish());
}

} // namespace kiln
